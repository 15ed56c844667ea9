"""What only this site has: cards, bars, results, buttons, heads of pages, pages for translators."""

from typing import Any

from sphinx.application import Sphinx

from recipe_gallery import Priority, __version__


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the parts of the site; the engine must be there already."""
    from recipe_gallery.project import digest_package

    from . import alternates, buttons, figures, head, redirects, root_pages, translators

    app.setup_extension("recipe_gallery")
    app.add_config_value("second_call_content_security_policy", "", "html", str)
    app.add_config_value("second_call_unused_assets", [], "html", list)
    figures.setup(app)
    translators.setup(app)
    app.connect("doctree-resolved", buttons.add_buttons, priority=Priority.ADD_LINKS)
    app.connect("env-check-consistency", redirects.check_redirects)
    app.connect("html-page-context", alternates.add_alternates)
    app.connect("html-page-context", head.describe_page, priority=Priority.DESCRIBE_HEAD)
    app.connect("build-finished", alternates.write_sitemap)
    app.connect("build-finished", alternates.write_style)
    app.connect("build-finished", root_pages.write_root_pages)
    app.add_css_file("language.css", priority=900)
    return {
        "version": __version__,
        "env_version": int.from_bytes(digest_package(__name__)[:6], "big"),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }

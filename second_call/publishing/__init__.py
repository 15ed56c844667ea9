"""What browsers, search engines and previews of links are told, and the addresses of pages."""

from sphinx.application import Sphinx

from recipe_gallery import Priority


def setup(app: Sphinx) -> None:
    """Add what fills the heads of pages, and the files beside and above them."""
    from . import alternates, description, policy, redirects, root_pages

    app.add_config_value("second_call_content_security_policy", "", "html", str)
    app.add_config_value("second_call_unused_assets", [], "html", list)
    app.add_config_value("second_call_preview", "", "html", str)
    app.connect("env-check-consistency", redirects.check_redirects)
    app.connect("html-page-context", alternates.add_alternates)
    app.connect("html-page-context", description.describe)
    app.connect("html-page-context", policy.apply_policy, priority=Priority.DESCRIBE_HEAD)
    app.connect("build-finished", alternates.write_sitemap)
    app.connect("build-finished", root_pages.write_root_pages)

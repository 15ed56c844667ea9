"""What browsers, search engines and previews of links are told, and the addresses of pages."""

from sphinx.application import Sphinx

from recipe_gallery import Priority


def setup(app: Sphinx) -> None:
    """Add what fills the heads of pages, and the files beside and above them."""
    from . import addresses, head, root_pages

    app.add_config_value("second_call_content_security_policy", "", "html", str)
    app.add_config_value("second_call_unused_assets", [], "html", list)
    app.add_config_value("second_call_preview", "", "html", str)
    app.connect("env-check-consistency", addresses.check_redirects)
    app.connect("html-page-context", head.describe_page)
    app.connect("html-page-context", head.apply_policy, priority=Priority.DESCRIBE_HEAD)
    app.connect("build-finished", addresses.write_sitemap)
    app.connect("build-finished", root_pages.write_root_pages)

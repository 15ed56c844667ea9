"""The sitemap of a language, and a check of the redirects of moved pages."""

import posixpath
from xml.sax.saxutils import escape

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from recipe_gallery.languages import current_language

from .head import short_address

logger = logging.getLogger(__name__)


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write ``sitemap.xml``: all pages of this language; each names the other languages itself."""
    site_url = app.config.recipe_gallery_site_url
    if exception or app.builder.format != "html" or not site_url:
        return
    language = current_language(app.config)
    pages = []
    for docname in sorted(app.env.found_docs):
        uri = short_address(app.builder.get_target_uri(docname))
        pages.append(f"<url><loc>{escape(language.address(site_url, uri))}</loc></url>")
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        *pages,
        "</urlset>",
    ]
    (app.outdir / "sitemap.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_redirects(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of a redirect from a page that exists, or to one that does not.

    sphinx-reredirects writes them; its setting is ``redirects``.
    """
    pages = env.found_docs | app.config.html_additional_pages.keys()
    for source, target in getattr(app.config, "redirects", {}).items():
        to_page = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        name = to_page.partition("#")[0].removesuffix(".html")
        if source in env.found_docs:
            _warn(f"{source!r} is a page; remove its redirect or rename the page")
        if "://" not in target and name not in pages:  # `make links` asks other sites
            _warn(f"{source!r} leads to {target!r}, which is no page; correct its target")


def _warn(text: str) -> None:
    logger.warning("conf.py: redirects: %s", text, type="recipe_gallery", subtype="redirect")

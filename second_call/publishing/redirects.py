"""Redirects of moved pages lead somewhere; sphinx-reredirects writes them (``conf.py``)."""

import posixpath

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)


def check_redirects(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of a redirect from a page that exists, or to one that does not."""
    for source, target in getattr(app.config, "redirects", {}).items():
        if source in env.found_docs:
            _warn(f"{source!r} is a page; remove its redirect or rename the page")
        if "://" in target:
            continue  # another site; `make links` asks it
        page = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        name = page.partition("#")[0].removesuffix(".html")
        if name not in env.found_docs and name not in app.config.html_additional_pages:
            _warn(f"{source!r} leads to {target!r}, which is no page; correct its target")


def _warn(text: str) -> None:
    logger.warning("conf.py: redirects: %s", text, type="recipe_gallery", subtype="redirect")

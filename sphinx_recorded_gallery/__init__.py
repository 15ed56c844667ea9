"""Recorded recipes: a Sphinx extension that renders galleries from recordings, and a command line.

Name ``sphinx_recorded_gallery`` in the ``extensions`` of a Sphinx-Gallery project; ``using.rst``
tells how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx

__version__ = "1.0.0"


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the parts of the engine."""
    # Imported here so that the command line works where Sphinx's HTML part does not.
    from . import finished_builds, pages, planted_links, search, store, translate
    from .project import SETTINGS, code_digest

    app.setup_extension("sphinx_gallery.gen_gallery")
    for name, (default, rebuild, kind) in SETTINGS.items():
        app.add_config_value(name, default, rebuild, kind)  # type: ignore[arg-type]
    planted_links.setup(app)
    finished_builds.setup(app)
    store.setup(app)
    translate.setup(app)
    pages.setup(app)
    search.setup(app)
    return {
        "version": __version__,
        # Pages made by other code than this are read again.
        "env_version": int.from_bytes(code_digest()[:6], "big"),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }

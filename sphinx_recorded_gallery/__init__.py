"""Recorded galleries: a Sphinx extension that renders examples from recordings, and a command line.

This is the core: recipes, recording, pages, notebooks and scripts. The package has three more
extensions, which are only active if ``extensions`` names them: ``measurements``, ``translate`` and
``search``. README.md shows how to begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the core."""
    # Imported here so that the command line works even if Sphinx's HTML part does not.
    from . import (
        engine_labels,
        finished_builds,
        languages,
        old_titles,
        pages,
        planted_links,
        similar_names,
        store,
    )
    from .hooks import Priority
    from .project import CORE, add_extension

    description = add_extension(app, CORE)
    app.setup_extension("sphinx_gallery.gen_gallery")
    planted_links.setup(app)
    finished_builds.setup(app)
    app.add_config_value("recorded_gallery_languages", {}, "env", dict)  # from languages.toml
    app.connect("config-inited", languages.read_languages, priority=Priority.READ_LANGUAGES)
    app.connect(
        "config-inited", engine_labels.load_shipped_labels, priority=Priority.READ_LANGUAGES
    )
    store.setup(app)
    old_titles.setup(app)
    similar_names.setup(app)
    pages.setup(app)
    return description

"""What this site does otherwise than its theme: weight, colours of code, menus."""

import os
from pathlib import Path

from sphinx.application import Sphinx

from recipe_gallery import Priority


def setup(app: Sphinx) -> None:
    """Add what changes pages; conf.py names the theme itself."""
    from . import code, navigation

    for name in ("python", "Python"):  # Sphinx-Gallery writes the second
        app.add_lexer(name, code.FewColours)
    app.connect("env-updated", navigation.note_neighbours, priority=Priority.NOTE_LINKS)
    app.connect("html-page-context", navigation.describe_navigation)
    app.connect("build-finished", _tidy_up, priority=Priority.TIDY_UP)


def _tidy_up(app: Sphinx, exception: Exception | None) -> None:
    """Publish only what pages load."""
    config, static = app.config, Path(app.outdir, "_static")
    if exception or app.builder.name != "html":
        return
    for pattern in config.second_call_unused_assets:
        for path in static.glob(pattern):
            path.unlink()
    for folder, _folders, _files in os.walk(app.outdir, topdown=False):
        if not os.listdir(folder):
            os.rmdir(folder)

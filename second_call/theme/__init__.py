"""What this site does otherwise than its theme: weight, colours of code, menus."""

import os
from pathlib import Path

from sphinx.application import Sphinx

from recipe_gallery import Priority


def setup(app: Sphinx) -> None:
    """Add what changes pages; conf.py names the theme itself."""
    from . import code, navigation

    app.add_config_value("second_call_theme_style", "", "html", str)
    app.add_config_value("second_call_few_colours", False, "html", bool)
    app.connect("builder-inited", code.colour_few)
    app.connect("env-updated", navigation.note_neighbours, priority=Priority.NOTE_LINKS)
    app.connect("html-page-context", navigation.describe_navigation)
    app.connect("build-finished", _tidy_up, priority=Priority.TIDY_UP)


def _tidy_up(app: Sphinx, exception: Exception | None) -> None:
    """Publish only what pages load: no file that none of them names, no rule that none needs.

    A preview of one language is for whoever edits it, and leaves all as it is.
    """
    config, static = app.config, Path(app.outdir, "_static")
    if exception or app.builder.name != "html":
        return
    for pattern in config.second_call_unused_assets:
        for path in static.glob(pattern):
            path.unlink()
    for folder, _folders, _files in os.walk(app.outdir, topdown=False):
        if not os.listdir(folder):
            os.rmdir(folder)
    style = static / config.second_call_theme_style
    if style.is_file():
        from .purge import purge_file

        purge_file(Path(app.outdir), style, Path(app.doctreedir, "words.json"))

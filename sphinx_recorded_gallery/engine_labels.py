"""The engine's own labels, such as the names of links, in the language of a build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polib

if TYPE_CHECKING:  # slow to import, and the command line imports this module
    from sphinx.application import Sphinx
    from sphinx.config import Config

ENGINE = "sphinx_recorded_gallery"  # name of the catalogs that hold them
_FOLDER = "translate/locale"
ENGINE_LOCALE = Path(__file__).parent / _FOLDER
LOCALE_IN_REPOSITORY = Path(__package__, _FOLDER)  # the same, from the root of the repository


def shipped_labels(code: str) -> Path | None:
    """Return the catalog of a language such as pt_BR, or else that of pt; None without either."""
    for language in (code, code.partition("_")[0]):
        path = ENGINE_LOCALE / language / "LC_MESSAGES" / f"{ENGINE}.po"
        if path.exists():
            return path
    return None


def load_shipped_labels(app: Sphinx, config: Config) -> None:
    """Install the labels of this build's language, also where no catalogs are translated.

    They are shipped as text. Sphinx reads compiled catalogs, so one is written beside the doctrees.
    """
    catalog = shipped_labels(config.language)
    if catalog is None:
        return
    folder = Path(app.doctreedir, "labels")
    compiled = folder / config.language / "LC_MESSAGES" / f"{ENGINE}.mo"
    compiled.parent.mkdir(parents=True, exist_ok=True)
    polib.pofile(str(catalog), encoding="utf-8").save_as_mofile(str(compiled))
    app.add_message_catalog(ENGINE, str(folder))

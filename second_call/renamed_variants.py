"""What English readers call cases and variants whose names in recipes are older.

A recipe's own words are parts of keys, so another word needs a new recording. Translations have
their words from the catalogs.
"""

from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import Language

_NAMES = {
    "blocks compiled": "compiled blocks",
    "blocks compiled, graph by hand": "compiled blocks, manual graph",
    "blocks compiled, one graph": "compiled blocks, one graph",
    "channels_last, not compiled": "channels_last, eager",
    "graph by hand": "manual graph",
    "growing": "growing cache",
    "inference, by hand": "inference, captured manually",
    "not compiled": "eager",
    "not compiled, in a CUDA graph": "eager, in a CUDA graph",
    "static": "static cache",
    "training, by hand": "training, captured manually",
    "without compiling": "eager",
}


def name_in_english(app: Sphinx, _docname: str, kind: str, word: str) -> str | None:
    """Return the English name of a case or variant; None leaves the recipe's own word."""
    is_english = Language.current(app.config) == Language.source(app.config)
    if kind != "name" or not is_english:
        return None
    return _NAMES.get(word)

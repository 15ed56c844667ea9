"""Checks of style: what a translation may get wrong though its page is whole. All of it is advice.

What a language asks for follows from its script, which CLDR knows; the engine knows no language.
"""

from . import (  # noqa: F401 (they add the checks)
    characters,
    content,
    names,
    numbers,
    order,
    punctuation,
    words,
)

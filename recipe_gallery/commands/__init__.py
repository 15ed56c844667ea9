"""What each command of the command line does; ``__main__.py`` calls them."""

from . import building, new_language, recording
from .declare import PARSER

__all__ = ["PARSER", "building", "new_language", "recording"]

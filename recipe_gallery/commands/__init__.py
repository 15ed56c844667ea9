"""What each command of the command line does; ``__main__.py`` calls them."""

from . import catalogs, new_language, recording, site
from .declare import PARSER

__all__ = ["PARSER", "catalogs", "new_language", "recording", "site"]

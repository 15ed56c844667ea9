"""What each command of the command line does; ``__main__.py`` calls them."""

from . import catalogs, new_language, record, serve, site
from .arguments import PARSER, parse_arguments

__all__ = ["PARSER", "catalogs", "new_language", "parse_arguments", "record", "serve", "site"]

"""The commands of the command line, which ``__main__.py`` runs."""

from . import catalogs, new_language, record, serve, site
from .arguments import PARSER, parse_arguments

__all__ = ["PARSER", "catalogs", "new_language", "parse_arguments", "record", "serve", "site"]

"""Declaration of commands, and the arguments that several of them share."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..project import Project
from ..version import __version__

# Takes the project and the arguments; returns False if there is something to correct.
Run = Callable[[Project, argparse.Namespace], bool | None]
Argument = tuple[tuple[str, ...], dict[str, Any]]

PARSER = argparse.ArgumentParser(
    prog="recorded-gallery", description="Record the examples of a gallery, and render it."
)
PARSER.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
PARSER.add_argument("-v", "--verbose", action="store_true", help="show where an error arose")
_COMMANDS = PARSER.add_subparsers(required=True, metavar="command")


def argument(*names: str, **options: Any) -> Argument:
    """Describe one argument as for ``argparse``."""
    return names, options


def command(
    name: str, *arguments: Argument, takes_sphinx_options: bool = False
) -> Callable[[Run], Run]:
    """Make a function a command; the first line of its docstring is the help."""

    def register(run: Run) -> Run:
        text = (run.__doc__ or "").partition("\n")[0].rstrip(".")
        parser = _COMMANDS.add_parser(name, help=text, description=text)
        for names, options in (ROOT, *arguments):
            parser.add_argument(*names, **options)
        if takes_sphinx_options:
            parser.usage = f"{parser.format_usage().removeprefix('usage: ').strip()} [-- ...]"
            parser.epilog = "Options after -- are passed to sphinx-build, for example: -- -W -q"
        parser.set_defaults(run=run, takes_sphinx_options=takes_sphinx_options)
        return run

    return register


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments; ``sphinx_options`` are those after ``--``.

    For commands without such options, names that begin with ``-`` may follow there. Invalid
    arguments end the process with a message, as ``argparse`` does.
    """
    own, sphinx_options = list(arguments), []
    if "--" in own:
        position = own.index("--")
        own, sphinx_options = own[:position], own[position + 1 :]
    options = PARSER.parse_args(own)
    if sphinx_options and not options.takes_sphinx_options:
        return PARSER.parse_args(list(arguments))  # names that look like options
    options.sphinx_options = sphinx_options
    return options


def count(text: str) -> int:
    """Return a number from 1 to 1,000; ``argparse`` reports anything else."""
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1,000")


ROOT = argument("--root", type=Path, default=Path(), help="folder of conf.py")
LANGUAGES = argument("languages", nargs="*", help="codes such as ko; by default all")
TEMPLATES = argument(
    "--templates", type=Path, default=Path("_build/gettext"), help="folder for the templates"
)
RECIPES = argument("recipes", nargs="*", help="names of examples; by default all")
RECORDINGS = argument(
    "--recordings-folder", type=Path, help="folder of another machine's recordings"
)

"""How commands of the command line are declared, and what many of them take."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..project import Project

# Takes the project and the arguments; False if there is something to mend.
Run = Callable[[Project, argparse.Namespace], bool | None]
Argument = tuple[tuple[str, ...], dict[str, Any]]

PARSER = argparse.ArgumentParser(prog="recorded-gallery", description="Recorded recipes.")
_COMMANDS = PARSER.add_subparsers(required=True, metavar="command")


def argument(*names: str, **options: Any) -> Argument:
    """Describe one argument as ``argparse`` takes it."""
    return names, options


def command(name: str, *arguments: Argument) -> Callable[[Run], Run]:
    """Make a function a command; the first line of its docstring is the help."""

    def register(run: Run) -> Run:
        text = (run.__doc__ or "").partition("\n")[0].rstrip(".")
        parser = _COMMANDS.add_parser(name, help=text, description=text)
        for names, options in (ROOT, *arguments):
            parser.add_argument(*names, **options)
        parser.set_defaults(run=run)
        return run

    return register


def count(text: str) -> int:
    """Return a number from 1 to 1,000; ``argparse`` tells what is none."""
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1,000")


ROOT = argument("--root", type=Path, default=Path(), help="folder of conf.py")
LANGUAGES = argument("languages", nargs="*", help="codes such as ko; all if none")
TEMPLATES = argument(
    "--templates", type=Path, default=Path("_build/gettext"), help="folder for the templates"
)
RECIPES = argument("recipes", nargs="*", help="names of recipes; all if none")
RECORDINGS = argument(
    "--recordings-folder", type=Path, help="folder of another machine's recordings"
)

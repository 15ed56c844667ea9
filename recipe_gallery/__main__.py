"""Command line: ``recipe-gallery --help``.

Here every error of a command becomes one line and an exit status: 0 fine, 1 something to mend,
130 interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .commands import COMMANDS
from .project import describe_error, load_project


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _make_parser().parse_args(arguments)
    try:
        status = int(options.run(load_project(options.root), options))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads, such as head, has enough; Python would complain once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was finished is kept", file=sys.stderr)
        return 130
    except Exception as error:
        print(f"error: {describe_error(error)}", file=sys.stderr)
        return 1
    return status


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="recipe-gallery", description="Recorded recipes.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for each in COMMANDS:
        text = (each.run.__doc__ or "").partition("\n")[0].rstrip(".")
        made = commands.add_parser(each.name, help=text, description=text)
        made.add_argument("--root", type=Path, default=Path(), help="folder of conf.py")
        for names, settings in each.arguments:
            made.add_argument(*names, **settings)
        made.set_defaults(run=each.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())

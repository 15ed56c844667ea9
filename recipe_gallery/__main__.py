"""Command line: ``recipe-gallery --help``.

Here every error of a command becomes one line and an exit status: 0 fine, 1 something to mend,
130 interrupted.
"""

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from .commands import COMMANDS
from .project import explain, load_project


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
        known = explain(error)
        line = known.describe(Path.cwd()) if known else _keep_report(error)
        print(f"error: {line}", file=sys.stderr)
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


def _keep_report(error: Exception) -> str:
    """Write the traceback of a defect to a file; return the line that tells of it."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="recipe-gallery-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        traceback.print_exception(error, file=file)
    said = str(error).strip().splitlines() or ["no message"]
    kind = type(error).__name__
    return f"{kind}: {said[0]}; this is a defect of recipe-gallery, please report {file.name}"


if __name__ == "__main__":
    sys.exit(main())

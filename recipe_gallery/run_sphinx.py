"""Sphinx as the commands run it, in a process of its own: one line for an error."""

import gc
import sys
from collections.abc import Sequence
from typing import Any

from sphinx._cli.util import errors
from sphinx.cmd.build import build_main

from .errors import describe_error


def main(arguments: Sequence[str]) -> int:
    """Run Sphinx as ``sphinx-build`` does, but tell an error in one line."""
    gc.set_threshold(200_000)  # nodes are many and stay: looking after 700 takes a sixth of a build
    errors.handle_exception = _tell
    # without colours: the command that starts it reads what it says
    status = build_main(["--no-color", *arguments])
    gc.freeze()  # the process ends: looking for waste in a large environment takes a second
    return status


def _tell(error: BaseException, /, *, stderr: Any = sys.stderr, **_unused: Any) -> None:
    line = "interrupted" if isinstance(error, KeyboardInterrupt) else describe_error(error)
    print(f"error: {line}", file=stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

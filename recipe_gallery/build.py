"""Sphinx as the commands run it, in a process of its own: one line for an error."""

import gc
import sys
from typing import TextIO

from sphinx._cli.util import errors
from sphinx.cmd.build import build_main

from .errors import describe_error


def main() -> int:
    """Run Sphinx as ``sphinx-build`` does, but tell an error in one line."""

    def tell(error: BaseException, *, stderr: TextIO, **_unused: object) -> None:
        line = describe_error(error) if isinstance(error, Exception) else "interrupted"
        print(f"error: {line}", file=stderr)

    # Sphinx's own writes a report of 30 lines.
    errors.handle_exception = tell  # type: ignore[assignment]
    status = build_main(sys.argv[1:])
    gc.freeze()  # the process ends: looking for waste in a large environment takes a second
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Command line: ``recipe-gallery --help``.

Here every error of a command becomes one line and an exit status: 0 fine, 1 something to mend,
130 interrupted.
"""

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        # Whoever reads, such as head, has enough; Python would complain once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was finished is kept", file=sys.stderr)
        return 130
    except Exception as error:
        from .errors import describe_error

        print(f"error: {describe_error(error)}", file=sys.stderr)
        return 1


def _run(arguments: Sequence[str] | None) -> int:
    # Imported here: it takes half a second, in which Ctrl-C is told in a line as later.
    from .commands import PARSER
    from .project import load_project

    options = PARSER.parse_args(arguments)
    os.environ["RECIPE_GALLERY_ROOT"] = str(options.root)  # for what messages suggest
    done = options.run(load_project(options.root), options)
    sys.stdout.flush()
    return int(done is False)


if __name__ == "__main__":
    sys.exit(main())

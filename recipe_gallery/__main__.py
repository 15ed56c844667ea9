"""Command line: ``recipe-gallery --help``.

Here every error of a command becomes one line and an exit status: 0 fine, 1 something to mend,
130 interrupted.
"""

import os
import sys
from collections.abc import Sequence

from .commands import PARSER
from .errors import describe_error
from .project import load_project


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = PARSER.parse_args(arguments)
    os.environ["RECIPE_GALLERY_ROOT"] = str(options.root)  # for what messages suggest
    try:
        status = int(options.run(load_project(options.root), options) is False)
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


if __name__ == "__main__":
    sys.exit(main())

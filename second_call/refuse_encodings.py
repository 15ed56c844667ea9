"""Refuse recipes that are not UTF-8, before tools that name neither the byte nor its line.

``make record`` runs ``python -m second_call.refuse_encodings FOLDER`` first.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError, not_utf8


def find_wrong_bytes(folder: Path) -> Iterator[GalleryError]:
    """Yield the error of each Python file in a folder that is not UTF-8."""
    for path in sorted(folder.glob("*.py")):
        error = not_utf8(path, path.read_bytes())
        if error:
            yield error


if __name__ == "__main__":
    problems = list(find_wrong_bytes(Path(sys.argv[1])))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(bool(problems))

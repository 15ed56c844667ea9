"""Refuse recipes that are not UTF-8, before tools that name neither the byte nor its line.

``make record`` looks for them before it records.
"""

from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError, not_utf8


def find_wrong_bytes(folder: Path) -> Iterator[GalleryError]:
    """Yield the error of each Python file in a folder that is not UTF-8."""
    for path in sorted(folder.glob("*.py")):
        error = not_utf8(path, path.read_bytes())
        if error:
            yield error

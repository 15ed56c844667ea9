"""Pictures of recordings as files, where Sphinx-Gallery looks for those of its own runs.

A page names them, and Sphinx-Gallery makes thumbnails of them. They are written before it runs.
"""

import glob
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..recipes.gallery import GalleryFile
from ..recipes.pictures import SUFFIXES, decode_picture
from ..recorded_page import RecordedPage, Unrecorded


def picture_kind(data: dict[str, Any]) -> str | None:
    """Return the MIME type of the picture that a page shows of one output, if it shows one."""
    return next((mime for mime in SUFFIXES if mime in data and "text/html" not in data), None)


def find_pictures(docname: str, page: RecordedPage) -> Iterator[tuple[int, str, bytes]]:
    """Yield the pictures that a page shows: number of the cell, file in the sources, content.

    A cell that is hidden, or has changed since it was recorded, shows none.
    """
    folder, _slash, stem = docname.rpartition("/")
    number = 0
    for cell in page.recipe.cells:
        recorded = page.comparison.recorded.get(cell.number)
        for output in recorded.outputs if recorded and cell.source else ():
            data = output.get("data", {})
            if kind := picture_kind(data):
                number += 1
                name = f"{folder}/images/sphx_glr_{stem}_{number:03}{SUFFIXES[kind]}"
                yield cell.number, name, decode_picture(kind, data[kind])


def write_pictures(root: Path, file: GalleryFile, page: RecordedPage | Unrecorded) -> bool:
    """Write the pictures of a page and remove older ones; tell whether any changed.

    Then its thumbnail is removed, too: Sphinx-Gallery keeps one of a picture that is gone.
    """
    pictures: dict[Path, bytes] = {}
    if isinstance(page, RecordedPage):
        found = find_pictures(file.docname, page)
        pictures = {root / name: content for _cell, name, content in found}
        # Of a recipe that does not run, Sphinx-Gallery counts from the end as if it had no picture.
        number = page.recipe.settings.get("thumbnail_number", 1)
        if -len(pictures) <= number < 0:
            last = [*pictures][number]
            alias = f"sphx_glr_{file.path.stem}_{number + 1:03}{last.suffix}"
            pictures[last.with_name(alias)] = pictures[last]
    folder, stem = (root / file.docname).parent / "images", f"sphx_glr_{file.path.stem}"
    pattern = re.compile(rf"{re.escape(stem)}_(?:-\d\d|\d{{3,}})(?:_\d+_\d+x)?\.\w+")
    old = {path for path in folder.glob("*.*") if pattern.fullmatch(path.name)} - pictures.keys()
    new = {path for path in pictures if not path.exists() or path.read_bytes() != pictures[path]}
    if not old and not new:
        return False
    for thumbnail in (folder / "thumb").glob(f"{glob.escape(stem)}_thumb.*"):
        thumbnail.unlink()
    for path in old:
        path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for path in new:
        path.write_bytes(pictures[path])
    return True

"""Which recipes a project has, and which page and recording each becomes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sphinx.config import Config

from ..project import gallery_folders

_HEADERS = ("GALLERY_HEADER.*", "README.*", "readme.*", "index.rst")


@dataclass(frozen=True, kw_only=True)
class GalleryFile:
    """One recipe of a project.

    ``name`` is its path below the folder of its gallery, without ``.py``; where a project has
    several galleries, the folder of pages stands before it. The recording is ``<name>.ipynb``.
    """

    name: str
    docname: str  # of its page
    path: Path


def list_files(config: Config, root: Path) -> list[GalleryFile]:
    """Return all recipes of the project in the folder ``root``, in order."""
    return [
        _describe(config, pages, path.relative_to(folder).as_posix().removesuffix(".py"), path)
        for pages, examples in gallery_folders(config)
        for folder in [Path(root, examples)]
        for path in find_recipes(folder, ignore_pattern(config))
    ]


def find_file(config: Config, root: Path, docname: str) -> GalleryFile | None:
    """Return the recipe that Sphinx-Gallery makes the page ``docname`` from, or None."""
    for pages, examples in gallery_folders(config):
        if docname.startswith(f"{pages}/"):
            below = docname.removeprefix(f"{pages}/")
            path = Path(root, examples, f"{below}.py")
            if path.is_file():
                return _describe(config, pages, below, path)
    return None


def find_source(config: Config, srcdir: Path, docname: str) -> Path | None:
    """Return the file of the recipe that the page ``docname`` is made from, or None."""
    found = find_file(config, srcdir, docname)
    return found.path if found else None


def find_recipes(folder: Path, ignore: str = r"^_") -> list[Path]:
    """Return the recipes of a gallery and its sub-galleries, in order.

    Files whose names the regular expression ``ignore`` finds are none.
    """
    return [
        path
        for each in (folder, *_sub_galleries(folder))
        for path in sorted(each.glob("*.py"))
        if not re.search(ignore, path.name)
    ]


def ignore_pattern(config: Config) -> str:
    """Return which file names are no recipes': Sphinx-Gallery's setting, and a leading ``_``."""
    own = config.sphinx_gallery_conf.get("ignore_pattern", "")
    return f"(?:{own})|^_" if own else "^_"


def gallery_pages(config: Config, srcdir: Path) -> list[tuple[str, Path]]:
    """Return page name and source of every recipe, in order."""
    return [(file.docname, file.path) for file in list_files(config, srcdir)]


def _sub_galleries(folder: Path) -> Iterator[Path]:
    """Yield the folders in which Sphinx-Gallery sees a part of a gallery."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and any(any(path.glob(header)) for header in _HEADERS):
            yield path


def _describe(config: Config, pages: str, below: str, path: Path) -> GalleryFile:
    docname = f"{pages}/{below}"
    several = len(gallery_folders(config)) > 1
    return GalleryFile(name=docname if several else below, docname=docname, path=path)

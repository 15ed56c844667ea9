"""Comments of modules that recipes inline: messages of one catalog a module, not of each page.

It is named as if the module were a page: ``recipes/_module``. All pages that show the module
share it.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from sphinx.config import Config

from ..errors import GalleryError
from ..recipes.gallery import list_files
from ..recipes.recipe import load_recipe
from .comments import find_comments


def name_module(docname: str, path: Path) -> str:
    """Return the name of the catalog of the module at ``path``, which page ``docname`` shows."""
    return str(PurePosixPath(docname).with_name(path.stem))


def find_module_comments(config: Config, root: Path) -> Iterator[tuple[str, str, Path, int]]:
    """Yield the comments of modules that pages show: name of the catalog, text, file and line."""
    seen: set[Path] = set()
    for file in list_files(config, root):
        try:
            recipe = load_recipe(file.path, file.name)
        except GalleryError:  # its page tells it
            continue
        for cell in recipe.cells:
            module = cell.inlined
            if module is None or module.path in seen or not cell.source:
                continue
            seen.add(module.path)
            name = name_module(file.docname, module.path)
            for comment in find_comments(module.source, is_module=True):
                yield name, comment.text, module.path, module.line + comment.first

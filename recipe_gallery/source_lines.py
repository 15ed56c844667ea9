"""Where something stands in a recipe, for messages and warnings that know its page only.

Sphinx-Gallery writes the page of a recipe, and docutils counts its lines. Nobody edits that page.
"""

import contextlib
import logging
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import NAMESPACE, WarningLogRecordTranslator

from . import Priority, add_transform
from .cell_numbers import BOUNDARY
from .errors import GalleryError
from .recipes.find_recipes import GalleryFile, find_file
from .recipes.recipe import load_recipe

_PLACE = re.compile(r"(.+\.rst):(\d+)(:<.*)?")


def setup(app: Sphinx) -> None:
    """Let all that names a place name that in the recipe."""
    add_transform(app, locate_in_recipes, Priority.LOCATE_MESSAGES)
    app.connect("builder-inited", _name_recipes)
    app.connect("env-before-read-docs", _name_what_is_no_text)


def _name_what_is_no_text(_app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Refuse a page that is not UTF-8; Python would name neither the file nor the line."""
    for path in (Path(env.doc2path(docname)) for docname in docnames):
        content = path.read_bytes()
        try:
            content.decode()
        except UnicodeDecodeError as error:
            text = f"byte 0x{content[error.start]:02x} is no text in UTF-8"
            line = content.count(b"\n", 0, error.start) + 1
            raise GalleryError(text, path=path, line=line, remedy="save the file so") from None


def _name_recipes(app: Sphinx) -> None:
    for handler in logging.getLogger(NAMESPACE).handlers:
        # behind the filter that finds out which place a warning names
        if any(isinstance(each, WarningLogRecordTranslator) for each in handler.filters):
            handler.addFilter(partial(_name_recipe, app))


def _name_recipe(app: Sphinx, record: logging.LogRecord) -> bool:
    """Let a warning of a recipe's page name the recipe, as docutils cannot; keep each."""
    place = _PLACE.fullmatch(str(getattr(record, "location", "")))
    docname = app.env.path2doc(place[1]) if place else None
    file = find_file(app.config, Path(app.srcdir), docname) if docname else None
    if place and file:
        with contextlib.suppress(GalleryError, OSError, ValueError):  # its own report tells it
            line = lines_of_recipe(file, Path(place[1]))(int(place[2]))
            record.location = f"{file.path}:{line}{place[3] or ''}"
    return True


def locate_in_recipes(env: BuildEnvironment, document: nodes.document) -> None:
    """Let messages and warnings name the recipe and its line, not the page made from it."""
    file = find_file(env.config, Path(env.srcdir), env.docname)
    if file is None:
        return
    page, line = document["source"], 1
    with contextlib.suppress(GalleryError, OSError, ValueError):  # its own report tells it
        find = lines_of_recipe(file, Path(page))
        for node in document.findall(nodes.Element):
            # docutils tells that of a title of the line below it
            line = (node.line or line) - isinstance(node, nodes.title)
            if node.source == page:
                node.source, node.line = node.get("recipe_module", (str(file.path), find(line)))


def lines_of_recipe(file: GalleryFile, page: Path) -> Callable[[int], int]:
    """Return what finds the line of a recipe that a line of its page was made from, from 1 on.

    Of code, and what it put out, that is where its block begins.
    """
    recipe = load_recipe(file.path, file.name)
    text = page.read_text(encoding="utf-8").splitlines()
    parts = {block.lineno: (block, cell) for block, cell in recipe.parts[1:]}

    @cache
    def find(number: int) -> int:
        for above in range(min(number, len(text)), 0, -1):
            match = BOUNDARY.fullmatch(text[above - 1].removeprefix(".. "))
            if match and (part := parts.get(int(match[1]))):
                block, cell = part
                # an empty line is between
                return cell.line if cell else block.lineno + max(number - above - 2, 0)
        source = recipe.path.read_text(encoding="utf-8").splitlines()
        start = next((row for row, line in enumerate(source, 1) if recipe.title in line), 1)
        return start + max(number - 1 - text.index(recipe.title), 0)

    return find

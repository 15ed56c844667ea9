"""What a recipe printed and drew, put on its page behind the code."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from ..cell_marks import OUTPUT_CLASS, code_of_cells
from ..errors import suggest
from ..recipes.gallery import find_file
from ..recipes.recipe import Cell
from ..recipes.rows import Row
from ..recorded_page import RecordedPage, Unrecorded, load_page
from ..store import watch
from .measurements.tables import find_rows, make_table
from .pictures import find_pictures, picture_kind

if TYPE_CHECKING:
    from nbformat import NotebookNode

logger = logging.getLogger(__name__)

_HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)


def add_outputs(env: BuildEnvironment, document: nodes.document) -> None:
    """Put recorded outputs behind the code of a recipe's page, whose cells are marked."""
    page = load_page(env, env.docname)
    if page is None:
        return
    _watch_sources(env, page)
    _tell_state(env, page)
    if isinstance(page, Unrecorded):
        return
    pictures: dict[int, list[str]] = {}
    for number, name, _content in find_pictures(env.docname, page):
        pictures.setdefault(number, []).append(f"/{name}")
    cells = {cell.number: cell for cell in page.recipe.cells}
    # As Sphinx-Gallery has it: a page of one block first shows what it draws.
    behind = len(page.recipe.blocks) > 2
    for code in code_of_cells(document):
        cell = cells[code["recipe_cell"]]
        # A cell that changed has none: an old result beside new code would mislead.
        recorded = page.comparison.recorded.get(cell.number)
        outputs = recorded.outputs if recorded else []
        if shown := [*_show(cell, outputs, pictures.get(cell.number, []), page.source.stem)]:
            box = nodes.container("", *shown, classes=[OUTPUT_CLASS])
            for node in box.findall(nodes.Element):
                node.source, node.line = code.source, code.line
            code.parent.insert(code.parent.index(code) + behind, box)
            if env.config.recipe_gallery_alt_required:
                _require_alt(env, page, cell, box)


def _watch_sources(env: BuildEnvironment, page: RecordedPage | Unrecorded) -> None:
    """Let Sphinx read a page again when its recording, its recipe or a file of that is another.

    ``env.note_dependency`` would go by times, read a page in every build where a file is missing,
    and let templates of messages depend on recordings.
    """
    file = find_file(env.config, Path(env.srcdir), env.docname)
    assert file
    recording = file.recording(Path(env.srcdir, env.config.recipe_gallery_recordings))
    for path in (recording, *(page.recipe.files if page.recipe else [page.source])):
        watch(env, _content_of, str(path))


def _content_of(_env: BuildEnvironment, name: str) -> bytes | list[str] | None:
    """Return a hash of a file, the modules in a folder, or None if there is neither."""
    path = Path(name)
    if path.is_dir():
        return sorted(each.name for each in path.glob("*.py"))
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).digest()
    return None


def _tell_state(env: BuildEnvironment, page: RecordedPage | Unrecorded) -> None:
    """Warn of a recording that is missing, damaged or of other code."""
    if isinstance(page, Unrecorded):
        place = "" if page.recipe is None else f"{_relative(page.source)}: "
        kind = "recipe" if page.recipe is None else "recording"
        _warn(env, kind, f"{place}{page.error}")
    elif not page.comparison.is_current:
        told = f"{_relative(page.source)}: stale recording: {page.comparison.describe()}"
        _warn(env, "stale", f"{told}; run: {suggest('record', page.recipe.name)}")


def _show(
    cell: Cell, outputs: "list[NotebookNode]", pictures: list[str], name: str
) -> Iterator[nodes.Node]:
    """Yield the richest form of each output that a page can show."""
    names, alts = iter(pictures), iter(cell.alt)
    rows: list[Row] = []  # published since the last table
    for output in outputs:
        if output.output_type == "stream":
            yield from _text(output.text)
        elif output.output_type == "error":
            yield from _text("\n".join(output.traceback))
        else:
            data = output.data
            rows += find_rows(data)
            if "text/html" in data:
                yield make_table(data["text/html"], _html(data["text/html"]), rows)
                rows = []
            elif picture_kind(data):
                alt = next(alts, None)
                if alt is None:  # as Sphinx-Gallery has it: the titles of a figure, or the file
                    kind = picture_kind(data) or ""
                    alt = output.metadata.get(kind, {}).get("alt") or name.replace("_", " ")
                yield nodes.image(uri=next(names), alt=alt, classes=["sphx-glr-single-img"])
            else:  # as they were written
                kinds = ("text/markdown", "text/latex", "text/plain")
                yield from _text(next((data[kind] for kind in kinds if kind in data), ""))


def _text(text: str) -> Iterator[nodes.Node]:
    """Yield printed text as Sphinx-Gallery's output block."""
    text = text.expandtabs().strip("\n")
    if text.strip():
        yield nodes.literal_block(text, text, language="none", classes=["sphx-glr-script-out"])


def _html(html: str) -> nodes.Node:
    """Return HTML in a box that scrolls by itself, and with the keyboard."""
    # Above the index pandas writes a heading without words, which screen readers would announce.
    html = html.replace("<th></th>", "<td></td>")
    html = _HEAD.sub(lambda head: head[0].replace("<th>", '<th scope="col">'), html)
    if "<thead" in html:
        html = html.replace("<th>", '<th scope="row">')
    html = f'<div class="recorded-html" tabindex="0">\n{html.strip()}\n</div>'
    return nodes.raw(html, html, format="html")


def _require_alt(
    env: BuildEnvironment, page: RecordedPage, cell: Cell, box: nodes.container
) -> None:
    for _image in list(box.findall(nodes.image))[len(cell.alt) :]:
        told = f"the figure of cell {cell.number} has no text for those who cannot see it"
        remedy = 'add a line to the cell: # sphinx_gallery_alt = "..."'
        _warn(env, "alt", f"{_relative(page.source)}:{cell.line}: {told}; {remedy}")


def _warn(env: BuildEnvironment, kind: str, message: str) -> None:
    """Warn in this build and, as the page is read again, in each until it is mended."""
    logger.warning("%s", message, type="recipe_gallery", subtype=kind)
    env.note_reread()


def _relative(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

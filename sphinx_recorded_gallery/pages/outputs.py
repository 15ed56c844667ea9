"""What a recipe printed and drew, put on its page behind the code.

Its pictures are files where Sphinx-Gallery looks for those of its own runs, to make thumbnails of
them; they are written before it runs.
"""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from ..errors import GalleryError, suggest_record
from ..page_nodes import NOT_IN_HTML, OUTPUT_CLASS, code_of_cells
from ..recipes.find_recipes import GalleryFile
from ..recipes.mime_types import PUBLISHED_MIME
from ..recipes.pictures import SUFFIXES, decode_picture
from ..recipes.recipe import Cell
from ..recipes.recorded_recipe import RecipePage, RecordedPage, Unrecorded
from ..store import hash_file, watch
from .formulas_and_images import can_convert

logger = logging.getLogger(__name__)

_HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)


def picture_kind(data: Mapping[str, Any]) -> str:
    """Return the MIME type of the picture that a page shows of one output, empty without one."""
    return next((mime for mime in SUFFIXES if mime in data and "text/html" not in data), "")


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


def add_outputs(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put recorded outputs behind the code of a recipe's page, whose cells are marked."""
    # `env.note_dependency` would go by times, read a page in every build where a file is missing,
    # and let templates of messages depend on recordings.
    recording = page.path if isinstance(page, Unrecorded) else page.recording.path
    for path in (recording, *page.recipe.files):
        watch(env, hash_file, str(path))
    if isinstance(page, Unrecorded):
        _warn(env, page, "recording", str(page.error))
        return
    if not page.comparison.is_current:
        told = f"stale recording: {page.comparison.describe()}"
        command = suggest_record(page.recipe.name, on_gpu=page.recording.on_gpu)
        _warn(env, page, "stale", told, remedy=f"run: {command}")
    pictures: dict[int, list[str]] = {}
    for number, name, _content in find_pictures(env.docname, page):
        pictures.setdefault(number, []).append(f"/{name}")
    cells = {cell.number: cell for cell in page.recipe.cells}
    for code in code_of_cells(document):
        cell = cells[code["recipe_cell"]]
        # A cell that changed has none: an old result beside new code would mislead.
        recorded = page.comparison.recorded.get(cell.number)
        outputs = recorded.outputs if recorded else []
        of_cell = pictures.get(cell.number, [])
        if shown := [*_show(env, cell, outputs, of_cell, page.recipe.path.stem)]:
            box = insert_outputs(page, code, shown)
            images = list(box.findall(nodes.image))[len(cell.alt) :]
            for _image in images if env.config.recorded_gallery_alt_required else ():
                told = f"the figure of cell {cell.number} has no text for those who cannot see it"
                remedy = 'add a line to the cell: # sphinx_gallery_alt = "..."'
                _warn(env, page, "alt", told, line=cell.line, remedy=remedy)


def insert_outputs(
    page: RecordedPage, code: nodes.Element, shown: Sequence[nodes.Node]
) -> nodes.container:
    """Put what a cell has shown behind its code and return the box around it."""
    number = code["recipe_cell"]
    box = nodes.container("", *shown, classes=[OUTPUT_CLASS], recipe_outputs=number)
    for node in box.findall(nodes.Element):
        node.source, node.line = code.source, code.line
    # As Sphinx-Gallery has it: a page of one block first shows what it draws.
    behind = 1 if len(page.recipe.blocks) > 2 else 0
    code.parent.insert(code.parent.index(code) + behind, box)
    return box


def _show(
    env: BuildEnvironment, cell: Cell, outputs: Sequence[Any], pictures: list[str], name: str
) -> Iterator[nodes.Node]:
    """Yield the richest form of each output that a page can show."""
    names, alts = iter(pictures), iter(cell.alt)
    for is_printed, group in groupby(outputs, lambda output: output.output_type == "stream"):
        if is_printed:  # output and errors stand in one box, as they were printed
            yield from _text(_join_printed(output.text for output in group))
            continue
        yield from _show_values(env, group, names, alts, name)


def _join_printed(texts: Iterable[str]) -> str:
    """Return what was printed to several streams, each beginning on a line of its own."""
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts)


def _show_values(
    env: BuildEnvironment,
    outputs: Iterable[Any],
    names: Iterator[str],
    alts: Iterator[str],
    name: str,
) -> Iterator[nodes.Node]:
    """Yield what is shown of values, figures and errors."""
    for output in outputs:
        if output.output_type == "error":
            yield from _text("\n".join(output.traceback))
        else:
            data = output.data
            if "text/html" in data:
                yield _html(data["text/html"])
                is_published = any(mime.startswith(PUBLISHED_MIME) for mime in data)
                if not is_published:  # else its table is made of nodes
                    yield from _without_html(data.get("text/plain", ""))
            elif kind := picture_kind(data):
                # as Sphinx-Gallery has it: the titles of a figure, or the file
                titles = output.metadata.get(kind, {}).get("alt") or name.replace("_", " ")
                alt = next(alts, titles)
                yield nodes.image(uri=next(names), alt=alt, classes=["sphx-glr-single-img"])
            else:
                yield from _formatted(env, data) or _text(_plain(data))


def _formatted(env: BuildEnvironment, data: Mapping[str, str]) -> list[nodes.Node]:
    """Return Markdown or LaTeX as Jupyter formats it; nothing if that cannot be done.

    Where recordings are not trusted, or browsers draw formulas, their commands have to be known:
    MathJax and LaTeX would obey others, such as links.
    """
    if not {"text/markdown", "text/latex"} & data.keys():
        return []
    from .output_text import parse_latex, parse_markdown  # slow to import, for few outputs

    trusted = env.config.recorded_gallery_trust_outputs
    if "text/markdown" in data:
        shown = parse_markdown(data["text/markdown"], trusted=trusted)
    else:
        shown = parse_latex(data["text/latex"])
    box = nodes.container("", *shown, classes=["recorded-text"])
    are_limited = not trusted or env.config.html_math_renderer == "mathml"
    if are_limited and not all(can_convert(formula) for formula in box.findall(_is_formula)):
        return []
    for formula in box.findall(nodes.math_block):
        formula["docname"] = env.docname
    return [box] if shown else []


def _plain(data: Mapping[str, str]) -> str:
    """Return the words of an output without a form that could be shown better.

    Of a text that was displayed as such, IPython's plain form names the type alone.
    """
    plain = data.get("text/plain", "")
    if plain and not plain.startswith("<IPython.core.display."):
        return plain
    return data.get("text/markdown") or data.get("text/latex") or plain


def _is_formula(node: nodes.Node) -> bool:
    return isinstance(node, nodes.math | nodes.math_block)


def _text(text: str) -> Iterator[nodes.literal_block]:
    """Yield printed text as Sphinx-Gallery's output block."""
    text = text.expandtabs().strip("\n")
    if text.strip():
        yield nodes.literal_block(text, text, language="none", classes=["sphx-glr-script-out"])


def _without_html(text: str) -> Iterator[nodes.Node]:
    """Yield what formats without HTML have in its place, such as a table in characters."""
    for block in _text(text):
        block[NOT_IN_HTML] = True
        yield block


def _html(html: str) -> nodes.Node:
    """Return HTML in a box that scrolls by itself, and with the keyboard."""
    # Above the index pandas writes a heading without words, which screen readers would announce.
    html = html.replace("<th></th>", "<td></td>")
    html = _HEAD.sub(lambda head: head[0].replace("<th>", '<th scope="col">'), html)
    if "<thead" in html:
        html = html.replace("<th>", '<th scope="row">')
    html = f'<div class="recorded-html" tabindex="0">\n{html.strip()}\n</div>'
    return nodes.raw(html, html, format="html")


def _warn(
    env: BuildEnvironment, page: RecordedPage | Unrecorded, kind: str, text: str, **more: Any
) -> None:
    """Warn in this build and, as the page is read again, in each until it is mended."""
    error = GalleryError(text, path=page.recipe.path.resolve(), **more)
    logger.warning("%s", error.describe(Path.cwd()), type="recorded_gallery", subtype=kind)
    env.note_reread()

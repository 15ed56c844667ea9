"""Put the outputs of a recipe on its page, after the code.

Pictures are written before Sphinx-Gallery runs, to the files where it expects pictures of its own.
So it makes thumbnails of them.
"""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from ..errors import GalleryError, suggest_recording_again
from ..page_nodes import NOT_IN_HTML, OUTPUT_CLASS, PRINT_CLASS, code_of_cells
from ..recipes.find_recipes import GalleryFile
from ..recipes.latex import Formula, split_latex
from ..recipes.mime_types import PICTURES, PUBLISHED_MIME
from ..recipes.pictures import decode_picture
from ..recipes.recipe import Cell
from ..recipes.recorded_recipe import RecipePage, RecordedPage, Unrecorded
from ..store import hash_file, watch
from .formulas_and_images import can_convert

logger = logging.getLogger(__name__)

LONGEST_TITLE = 200  # characters; galleries of others have titles of up to about a hundred
_WIDEST = 10_000  # pixels of a picture, if an output says how wide it is to be shown
_HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)


def picture_kind(data: Mapping[str, Any]) -> str:
    """Return the MIME type of the picture that a page shows for one output; "" if there is none."""
    if "text/html" in data or _is_formula(data.get("text/latex", "")):
        return ""
    for mime in PICTURES:
        if mime in data:
            return mime
    return ""


def _is_formula(latex: str) -> bool:
    """Return whether LaTeX is formulas alone, which Jupyter, too, prefers to a picture of them."""
    pieces = split_latex(latex.strip())
    return bool(pieces) and all(isinstance(piece, Formula) for piece in pieces)


def find_pictures(docname: str, page: RecordedPage) -> Iterator[tuple[int, str, bytes]]:
    """Yield the pictures of a page: number of the cell, file in the sources, content.

    Hidden cells, and cells that changed since they were recorded, have none.
    """
    folder, _slash, stem = docname.rpartition("/")
    number = 0
    for cell in page.recipe.cells:
        recorded_cell = page.comparison.recorded.get(cell.number)
        if recorded_cell is None or not cell.source:
            continue
        for output in recorded_cell.outputs:
            data = output.get("data", {})
            kind = picture_kind(data)
            if kind:
                number += 1
                name = f"{folder}/images/sphx_glr_{stem}_{number:03}{PICTURES[kind]}"
                yield cell.number, name, decode_picture(kind, data[kind])


def write_pictures(root: Path, file: GalleryFile, page: RecordedPage | Unrecorded) -> bool:
    """Write the pictures of a page and remove older ones; return whether any changed.

    A change also removes the thumbnail, as Sphinx-Gallery would keep that of an older picture.
    """
    pictures = _name_pictures(root, file, page)
    folder = (root / file.docname).parent / "images"
    stem = f"sphx_glr_{file.path.stem}"
    number = r"(?:-\d\d|\d{3,})"  # negative if it is counted from the last picture
    density = r"(?:_\d+_\d+x)?"  # of a picture for sharper screens, as Sphinx-Gallery has them
    name = re.compile(rf"{re.escape(stem)}_{number}{density}\.\w+")
    existing = {path for path in folder.glob("*.*") if name.fullmatch(path.name)}
    outdated = existing - pictures.keys()
    changed = {}
    for path, content in pictures.items():
        if not path.exists() or path.read_bytes() != content:
            changed[path] = content
    if not outdated and not changed:
        return False
    for thumbnail in (folder / "thumb").glob(f"{glob.escape(stem)}_thumb.*"):
        thumbnail.unlink()
    for path in outdated:
        path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in changed.items():
        path.write_bytes(content)
    return True


def _name_pictures(
    root: Path, file: GalleryFile, page: RecordedPage | Unrecorded
) -> dict[Path, bytes]:
    """Return the contents of the pictures of a page by their files."""
    if isinstance(page, Unrecorded):
        return {}
    pictures = {}
    for _cell, name, content in find_pictures(file.docname, page):
        pictures[root / name] = content
    number = page.recipe.settings.get("thumbnail_number", 1)
    is_counted_from_last = -len(pictures) <= number < 0
    if is_counted_from_last:
        # Sphinx-Gallery, which does not run the recipe, looks for the number that such a picture
        # has where there are no pictures; so the file gets that name, too.
        files = list(pictures)
        thumbnail = files[number]
        alias = f"sphx_glr_{file.path.stem}_{number + 1:03}{thumbnail.suffix}"
        pictures[thumbnail.with_name(alias)] = pictures[thumbnail]
    return pictures


def add_outputs(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put recorded outputs after the code on a recipe's page, whose cells are marked.

    Warns of a recording that is missing, damaged or stale.
    """
    # `env.note_dependency` would compare times, read a page in every build while a file is missing,
    # and make templates of messages depend on recordings.
    recording = page.path if isinstance(page, Unrecorded) else page.recording.path
    for path in (recording, *page.recipe.files):
        watch(env, hash_file, str(path))
    _warn_of_long_title(env, page)
    if isinstance(page, Unrecorded):
        _warn(env, page, "recording", str(page.error))
        return
    if not page.comparison.is_current:
        text = page.comparison.describe_as_stale()
        remedy = suggest_recording_again(page.recipe.name, on_gpu=page.recording.on_gpu)
        _warn(env, page, "stale", text, remedy=remedy)
    pictures: dict[int, list[str]] = {}
    for number, name, _content in find_pictures(env.docname, page):
        pictures.setdefault(number, []).append(f"/{name}")
    cells = {cell.number: cell for cell in page.recipe.cells}
    for code in code_of_cells(document):
        cell = cells[code["recipe_cell"]]
        # Changed cells have none: an old result beside new code would mislead.
        recorded_cell = page.comparison.recorded.get(cell.number)
        if recorded_cell is None:
            continue
        cell_pictures = pictures.get(cell.number, [])
        name = page.recipe.path.stem
        content = list(_show(env, cell, recorded_cell.outputs, cell_pictures, name))
        if content:
            box = insert_outputs(page, code, content)
            if env.config.recorded_gallery_alt_required:
                _warn_of_missing_alts(env, page, cell, box)


def _warn_of_long_title(env: BuildEnvironment, page: RecipePage) -> None:
    """Warn of a title that menus, search results and the tab of a browser cannot show."""
    title = page.recipe.title
    if len(title) <= LONGEST_TITLE:
        return
    lines = page.recipe.path.read_text(encoding="utf-8", errors="replace").splitlines()
    places = (number for number, line in enumerate(lines, 1) if title in line)
    text = f"the title has {len(title)} characters"
    remedy = f"write one of at most {LONGEST_TITLE}, and the rest below its underline"
    _warn(env, page, "title", text, line=next(places, 1), remedy=remedy)


def _warn_of_missing_alts(
    env: BuildEnvironment, page: RecordedPage, cell: Cell, box: nodes.container
) -> None:
    """Warn of each picture of a cell that its settings do not describe."""
    pictures = list(box.findall(nodes.image))
    for _picture in pictures[len(cell.settings.alt) :]:
        text = f"the figure of cell {cell.number} has no alternative text"
        remedy = 'add a line to the cell: # sphinx_gallery_alt = "..."'
        _warn(env, page, "alt", text, line=cell.line, remedy=remedy)


def insert_outputs(
    page: RecordedPage, code: nodes.Element, content: Sequence[nodes.Node]
) -> nodes.container:
    """Put the outputs of a cell after its code, and return the box around them."""
    number = code["recipe_cell"]
    box = nodes.container("", *content, classes=[OUTPUT_CLASS], recipe_outputs=number)
    for node in box.findall(nodes.Element):
        node.source = code.source
        node.line = code.line
    index = code.parent.index(code)
    # As in Sphinx-Gallery, a page with a single block of code shows its outputs above it.
    if len(page.recipe.blocks) > 2:
        index += 1
    code.parent.insert(index, box)
    return box


def _show(
    env: BuildEnvironment, cell: Cell, outputs: Sequence[Any], pictures: list[str], name: str
) -> Iterator[nodes.Node]:
    """Yield the richest form of each output that a page can show.

    ``pictures`` are the files of the cell's pictures in order; ``name`` is that of the recipe.
    """
    images = _make_images(cell, outputs, pictures, name)
    printed: list[str] = []  # stdout and stderr share a box, in the order of printing
    for number, output in enumerate(outputs):
        if output.output_type == "stream":
            printed.append(output.text)
            continue
        yield from _text(_join_printed(printed))
        printed = []
        if number in images:
            yield images[number]
        else:
            yield from _show_value(env, output)
    yield from _text(_join_printed(printed))


def _make_images(
    cell: Cell, outputs: Sequence[Any], files: Sequence[str], recipe_name: str
) -> dict[int, nodes.image]:
    """Return the pictures of a cell, each by the number of its output."""
    images: dict[int, nodes.image] = {}
    for number, output in enumerate(outputs):
        kind = picture_kind(output.get("data", {}))
        if not kind:
            continue
        place = len(images)  # among the pictures of the cell
        if place < len(cell.settings.alt):
            alt = cell.settings.alt[place]
        else:  # as in Sphinx-Gallery: the titles of a figure, or else the recipe's name
            titles = output.metadata.get(kind, {}).get("alt")
            alt = titles or re.sub("[-,_]", " ", recipe_name)
        image = nodes.image(uri=files[place], alt=alt, classes=["sphx-glr-single-img"])
        width = output.metadata.get(kind, {}).get("width", 0)
        if 0 < width <= _WIDEST:  # as in Jupyter
            image["width"] = f"{round(width)}px"
        images[number] = image
    return images


def _join_printed(texts: Iterable[str]) -> str:
    """Return the printed texts of streams, each beginning on a new line."""
    lines = []
    for text in texts:
        lines.append(text if text.endswith("\n") else f"{text}\n")
    return "".join(lines)


def _show_value(env: BuildEnvironment, output: Any) -> Iterator[nodes.Node]:
    """Yield the nodes of a value that is not a picture, or of an error."""
    if output.output_type == "error":
        yield from _text("\n".join(output.traceback))
        return
    data = output.data
    if "text/html" in data:
        yield _html(data["text/html"])
        is_published = any(mime.startswith(PUBLISHED_MIME) for mime in data)
        if not is_published:  # a published table has nodes for all formats
            yield from _without_html(data.get("text/plain", ""))
        return
    formatted = _make_formatted_text(env, data)
    if formatted:
        yield from formatted
    else:
        yield from _text(_choose_plain_text(data))


def _make_formatted_text(env: BuildEnvironment, data: Mapping[str, str]) -> list[nodes.Node]:
    """Return formatted Markdown or LaTeX, as in Jupyter; nothing if that is not possible.

    Formulas with unknown commands are not formatted if recordings are not trusted, since MathJax
    and LaTeX have harmful commands, such as links; nor if the page shows formulas as MathML.
    """
    if not {"text/markdown", "text/latex"} & data.keys():
        return []
    from .output_text import parse_latex, parse_markdown  # slow to import, for few outputs

    trusted = env.config.recorded_gallery_trust_outputs
    if "text/markdown" in data:
        content = parse_markdown(data["text/markdown"], trusted=trusted)
    else:
        content = parse_latex(data["text/latex"])
    if not content:
        return []
    box = nodes.container("", *content, classes=["recorded-text"])
    needs_known_commands = not trusted or env.config.html_math_renderer == "mathml"
    if needs_known_commands:
        formulas = box.findall(_is_math)
        if not all(can_convert(formula) for formula in formulas):
            return []
    for formula in box.findall(nodes.math_block):
        formula["docname"] = env.docname
    return [box]


def _choose_plain_text(data: Mapping[str, str]) -> str:
    """Return the plain text of an output, or else the source of its Markdown or LaTeX.

    The plain text of IPython's own display objects only names their type, so it is the last resort.
    """
    plain = data.get("text/plain", "")
    if plain and not plain.startswith("<IPython.core.display."):
        return plain
    return data.get("text/markdown") or data.get("text/latex") or plain


def _is_math(node: nodes.Node) -> bool:
    return isinstance(node, nodes.math | nodes.math_block)


def _text(text: str) -> Iterator[nodes.literal_block]:
    """Yield printed text as Sphinx-Gallery's output block."""
    text = text.expandtabs().strip("\n")
    if text.strip():
        yield nodes.literal_block(text, text, language="none", classes=[PRINT_CLASS])


def _without_html(text: str) -> Iterator[nodes.Node]:
    """Yield the plain text for formats other than HTML."""
    for block in _text(text):
        block[NOT_IN_HTML] = True
        yield block


def _html(html: str) -> nodes.Node:
    """Return HTML in a box that scrolls, also with the keyboard."""
    # pandas writes an empty heading above the index, which screen readers would announce.
    html = html.replace("<th></th>", "<td></td>")
    # Headings in the head are of columns; what is left afterwards are those of rows.
    html = _HEAD.sub(lambda head: head[0].replace("<th>", '<th scope="col">'), html)
    if "<thead" in html:
        html = html.replace("<th>", '<th scope="row">')
    html = f'<div class="recorded-html" tabindex="0">\n{html.strip()}\n</div>'
    return nodes.raw(html, html, format="html")


def _warn(
    env: BuildEnvironment, page: RecordedPage | Unrecorded, kind: str, text: str, **place: Any
) -> None:
    """Warn in this build and in each later one until the problem is solved.

    ``kind`` is the subtype of the warning; ``place`` has further arguments of ``GalleryError``.
    """
    error = GalleryError(text, path=page.recipe.path.resolve(), **place)
    logger.warning("%s", error.describe(Path.cwd()), type="recorded_gallery", subtype=kind)
    env.note_reread()

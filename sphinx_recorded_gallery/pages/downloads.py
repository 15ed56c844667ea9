"""Write each recipe's page as a notebook and a script, which must do what the recipe does.

Text becomes Markdown cells; code blocks become code cells, with the outputs of the recording. Both
come from the same resolved doctree as the HTML page, at the moment that page is written, so that
the three cannot disagree.
"""

import ast
import re
import shutil
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx_gallery._doctree_links import code_links_block

from ..atomic_files import atomic_write
from ..errors import GalleryError
from ..languages import is_translated
from ..page_nodes import MEASURED_TABLE_CLASS, OUTPUT_CLASS, folded_cell
from ..recipes.comment_safety import find_instruction
from ..recipes.fingerprint import find_tokens
from ..recipes.mime_types import PUBLISHED_MIME
from ..recipes.recipe import Recipe
from ..recipes.recorded_recipe import RecordedPage, Unrecorded, load_page
from ..recipes.sanitize import sanitize_for_notebook
from .markdown import (
    MarkdownPage,
    bold_line,
    escape,
    plain_code,
    show_emphasis_by_signs,
)
from .outputs import picture_kind
from .reader_cells import add_fold_title, has_examples, hide_code, write_pieces, write_text
from .script_text import tidy_markdown

_ = get_translation("sphinx_recorded_gallery")
logger = logging.getLogger(__name__)

_UTF_8 = "# coding: utf-8\n"
_NAMES_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")  # as PEP 263 has it
# Readers' programs obey these fields, so they are never taken from a recording.
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_PYTHON = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "pygments_lexer": "ipython3",
}


def write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write ``<page>.ipynb`` and ``<page>.py`` of a recipe's page, and copy inputs.

    Raises ``GalleryError`` if the code on the page is not the recipe's.
    """
    page = load_page(app.env, docname)
    if page is None:
        return
    recipe = page.recipe
    trusted = app.config.recorded_gallery_trust_outputs
    markdown_page = MarkdownPage(app.builder, docname)
    notebook = make_notebook(page, recipe, doctree, markdown_page, trusted=trusted)
    notebook.metadata["language"] = app.config.language
    if isinstance(page, RecordedPage) and page.recording.on_gpu:
        notebook.metadata["accelerator"] = "GPU"  # services that run notebooks then provide one
    script = make_script(notebook)
    translated = is_translated(app.config)
    if translated:
        script = _remove_obeyed_text(script, notebook, recipe)
    page_sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    if translated or page_sources != _cell_sources(recipe):
        check_program(script.encode(), recipe)
    _show_to_reader(notebook, recipe, doctree, markdown_page)
    _add_cells_of_settings(notebook, app.config.sphinx_gallery_conf)
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not with_suffix: the name of a recipe may hold a dot.
    text = nbformat.v4.writes_json(notebook) + "\n"
    atomic_write(target.with_name(f"{target.name}.ipynb"), text.encode())
    atomic_write(target.with_name(f"{target.name}.py"), script.encode())
    for name in recipe.hash_inputs():
        copy = target.parent / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(recipe.path.parent / name, copy)


def _cell_sources(recipe: Recipe) -> list[str]:
    """Return the source of each code cell of a recipe, in order."""
    return [cell.source for _block, cell in recipe.parts if cell]


def _show_to_reader(
    notebook: NotebookNode, recipe: Recipe, document: nodes.document, markdown_page: MarkdownPage
) -> None:
    """Make cells of the examples in the text, and fold code in Colab, too."""
    cells = {cell.id: [cell] for cell in notebook.cells}
    blocks = _divide(document, recipe)
    for number, ((_block, cell), block) in enumerate(zip(recipe.parts, blocks, strict=True), 1):
        if cell is None and has_examples(block):
            pieces = write_pieces(block, markdown_page)
            cells[f"text-{number}"] = [
                _make_cell(kind, source, f"text-{number}-{place}")
                for place, (kind, source) in enumerate(pieces, 1)
            ]
        for element in _find_elements(block):
            if cell and isinstance(element, folded_cell):
                [folded] = cells[f"cell-{cell.number}"]
                add_fold_title(folded, element["summary"], is_module=bool(cell.inlined))
    notebook.cells = [cell for group in cells.values() for cell in group]


def _add_cells_of_settings(notebook: NotebookNode, gallery_conf: Mapping[str, Any]) -> None:
    """Add the first and last cell that Sphinx-Gallery's settings ask for; the first is folded."""
    first_code = gallery_conf["first_notebook_cell"]
    if first_code:
        first_cell = _make_cell("code", first_code.strip("\n"), "first-cell")
        hide_code(first_cell)
        first_cell.metadata["cellView"] = "form"
        notebook.cells.insert(1, first_cell)  # behind the title
    last_code = gallery_conf["last_notebook_cell"]
    if last_code:
        notebook.cells.append(_make_cell("code", last_code.strip("\n"), "last-cell"))


def make_notebook(
    page: RecordedPage | Unrecorded,
    recipe: Recipe,
    document: nodes.document,
    markdown_page: MarkdownPage,
    *,
    trusted: bool,
) -> NotebookNode:
    """Return the notebook of a page, with the code as the page shows it.

    Recorded outputs are sanitized unless they are ``trusted``. Raises ``GalleryError`` if the page
    does not have the blocks of the recipe.
    """
    metadata: dict[str, Any] = {"kernelspec": _KERNEL}
    recorded_cells: dict[int, NotebookNode] = {}
    if isinstance(page, RecordedPage):
        recorded_cells = page.comparison.recorded
        facts = page.recording.facts
        language = {"name": "python", "version": facts["versions"].get("python", "3")}
        metadata["language_info"] = language | _PYTHON
        metadata["recording"] = facts
    notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(metadata))
    blocks = _divide(document, recipe)
    for number, ((_block, cell), block) in enumerate(zip(recipe.parts, blocks, strict=True), 1):
        if cell is None:
            text = write_text(block, markdown_page)
            if text:
                notebook.cells.append(_make_cell("markdown", text, f"text-{number}"))
            continue
        elements = _find_elements(block)
        code_cell = _make_cell("code", _find_code(elements, recipe), f"cell-{cell.number}")
        for element in elements:
            if isinstance(element, folded_cell):
                label = bold_line(escape(element["summary"]))
                notebook.cells.append(_make_cell("markdown", label, f"fold-{number}"))
                hide_code(code_cell)
        recorded_cell = recorded_cells.get(cell.number)
        if recorded_cell:
            code_cell.execution_count = recorded_cell.execution_count
            code_cell.outputs = _make_outputs(recorded_cell, elements, trusted=trusted)
        notebook.cells.append(code_cell)
    return notebook


def _find_elements(block: list[tuple[int, nodes.Node]]) -> list[nodes.Element]:
    """Return all elements of a block, including nested ones."""
    elements: list[nodes.Element] = []
    for _level, node in block:
        elements += node.findall(nodes.Element)
    return elements


def _find_code(elements: list[nodes.Element], recipe: Recipe) -> str:
    """Return the code of a cell; raise ``GalleryError`` if its block shows none."""
    for element in elements:
        # Sphinx-Gallery replaces marked blocks by its own with links.
        if isinstance(element, code_links_block) or "recipe_cell" in element:
            return plain_code(element)
    raise _page_error(recipe, "a block without its code")


def _make_outputs(
    recorded_cell: NotebookNode, elements: list[nodes.Element], *, trusted: bool
) -> list[NotebookNode]:
    """Return the outputs of a code cell, from its recording and the elements of its block."""
    alts: list[str] = []
    tables: list[nodes.table] = []
    for element in elements:
        if OUTPUT_CLASS in element["classes"]:
            alts += [picture.get("alt", "") for picture in element.findall(nodes.image)]
            tables += element.findall(nodes.table)
    outputs = _clean_outputs(recorded_cell.outputs, alts, trusted=trusted)
    page_has_medians = any(MEASURED_TABLE_CLASS in table["classes"] for table in tables)
    notebook_has_html = any("text/html" in output.get("data", {}) for output in outputs)
    if page_has_medians and notebook_has_html:
        outputs.append(_note_on_tables())
    return outputs


def _make_cell(kind: str, source: str, name: str) -> NotebookNode:
    """Return a cell of a notebook.

    ``nbformat``'s own function would be slower: it checks each cell against a schema.
    """
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return nbformat.from_dict(cell)


def _divide(document: nodes.document, recipe: Recipe) -> list[list[tuple[int, nodes.Node]]]:
    """Return the nodes of each block on a recipe's page, with the levels of their sections.

    A block may hold several sections, and a section several blocks. Raises ``GalleryError`` if the
    page does not have as many blocks as the recipe.
    """
    blocks: list[list[tuple[int, nodes.Node]]] = [[]]  # the first one holds the title

    def divide(parent: nodes.Element, level: int) -> None:
        for node in parent.children:
            if "recipe_block" in getattr(node, "attributes", ()):
                blocks.append([])
            elif isinstance(node, nodes.section) and node.get("notebook", True):
                divide(node, level + 1)
            else:
                blocks[-1].append((level, node))

    for parent in document.findall(nodes.Element):
        for child in parent.children:  # a theme's transforms may leave none
            child.parent = parent
    divide(document, 0)
    if len(blocks) != len(recipe.parts):
        raise _page_error(recipe, f"{len(blocks)} blocks, the example {len(recipe.parts)}")
    return blocks


def _page_error(recipe: Recipe, text: str) -> GalleryError:
    remedy = "remove the page and build again"
    return GalleryError(f"its page has {text}", path=recipe.path, remedy=remedy)


def _clean_outputs(
    recorded_outputs: list[NotebookNode], alts: Iterable[str], *, trusted: bool
) -> list[NotebookNode]:
    """Return a cell's outputs for a reader's notebook.

    ``alts`` describe its pictures, in order. Outputs are sanitized unless they are ``trusted``.
    """
    remaining_alts = list(alts)
    outputs = []
    for output in nbformat.from_dict(recorded_outputs):
        if "data" not in output:
            outputs.append(output)
            continue
        if any(mime.startswith(PUBLISHED_MIME) for mime in output.data):
            continue  # for programs; some notebook viewers would complain about it
        kind = picture_kind(output.data)
        if not trusted:
            sanitize_for_notebook(output.data)
            picture_metadata = output.metadata.get(kind, {})
            sizes = {}
            for name in ("width", "height"):
                if name in picture_metadata:
                    sizes[name] = picture_metadata[name]
            metadata = {kind: sizes} if sizes else {}
            output.metadata = nbformat.from_dict(metadata)
        if kind and remaining_alts:
            alt = remaining_alts.pop(0)
            output.metadata[kind] = {**output.metadata.get(kind, {}), "alt": alt}
        if output.data:
            outputs.append(output)
    return outputs


def _note_on_tables() -> NotebookNode:
    """Return an output which says that one run measured the numbers of the tables above it."""
    text = str(_("These numbers are from one run. The page shows medians over all machines."))
    return nbformat.v4.new_output("display_data", {"text/markdown": text, "text/plain": text})


def make_script(notebook: NotebookNode) -> str:
    """Return the notebook as a script in the percent format, without Jupyter's metadata."""
    import jupytext  # slow to import, and not needed where no page changed

    settings = {
        "notebook_metadata_filter": "-all",
        "cell_metadata_filter": "-all",
        "comment_magics": False,  # recipes have no magics, but code may look like one
    }
    plain = nbformat.from_dict({**notebook, "metadata": {"jupytext": settings}})
    for cell in plain.cells:
        if cell.cell_type == "code":
            cell.source = _keep_comments(cell.source)
        else:
            cell.source = tidy_markdown(show_emphasis_by_signs(cell.source))
    script = str(jupytext.writes(plain, fmt="py:percent"))
    # Python may take words of a title for the name of an encoding.
    first_lines = script.split("\n", 2)[:2]
    if any(_NAMES_ENCODING.match(line) for line in first_lines):
        return f"{_UTF_8}{script}"
    return script


def _keep_comments(source: str) -> str:
    """Return code for a script in which Jupyter turns no comment into a command.

    jupytext removes one ``#`` from lines such as ``# !pip install``, so they get a second one.
    """
    from jupytext.magics import is_magic

    lines = source.split("\n")
    for token in find_tokens(source):
        if token.type != tokenize.COMMENT:
            continue
        row, column = token.start
        line = lines[row - 1]
        if not line[:column].strip() and is_magic(line, "python", explicitly_code=True):
            lines[row - 1] = f"{line[:column]}# {token.string}"
    return "\n".join(lines)


def _remove_obeyed_text(script: str, notebook: NotebookNode, recipe: Recipe) -> str:
    """Return a translated script, without its texts if one of them is an instruction to a tool.

    An instruction to a linter is an example. A warning names it.
    """
    plain = nbformat.from_dict(notebook)
    code_cells = [cell for cell in plain.cells if cell.cell_type == "code"]
    for cell in plain.cells:
        cell.source = "Text"
    # Whether the page has all cells is checked with the program.
    for cell, source in zip(code_cells, _cell_sources(recipe), strict=False):
        cell.source = source
    textless_script = make_script(plain)
    original = textless_script.removeprefix(_UTF_8)
    if script.startswith(_UTF_8):
        original = _UTF_8 + original
    harm = find_instruction(original, script)
    if not harm:
        return script
    warning = GalleryError(
        f"its translated script would hold {harm}; texts are left out", path=recipe.path
    )
    logger.warning("%s", warning, type="recorded_gallery", subtype="catalog")
    return textless_script


def check_program(script: bytes, recipe: Recipe) -> None:
    """Raise ``GalleryError`` if a script is not the same program as its recipe.

    It does not rely on how comments were translated, which ``translate/code_comments.py`` checks as
    text: what is compared here is what Python reads.
    """
    code = "\n".join(_cell_sources(recipe))
    try:
        is_same = _read_program(script) == _read_program(code)
    except (SyntaxError, ValueError) as error:
        raise _script_error(recipe, f"is not valid Python: {error}") from error
    if not is_same:
        raise _script_error(recipe, "is another program than the example")


def _script_error(recipe: Recipe, problem: str) -> GalleryError:
    text = f"its script {problem}"
    return GalleryError(text, path=recipe.path, remedy="a translation must not change code")


def _read_program(source: str | bytes) -> str:
    """Return the syntax tree of a program as text, without line numbers, comments and docstrings.

    The encoding of bytes is the one that they name themselves.
    """
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    program = compile(source, "<script>", "exec", flags, dont_inherit=True)
    for node in ast.walk(program):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                text.value = ""
    return ast.dump(program)

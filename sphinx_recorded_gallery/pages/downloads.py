"""Write each recipe's page as a notebook and a script, which must do what the recipe does.

Text becomes Markdown cells; code blocks become code cells, with the outputs of the recording. Both
come from the same resolved doctree as the HTML page, at the moment that page is written, so that
the three cannot disagree.
"""

import ast
import re
import shutil
import tokenize
from collections.abc import Iterable
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
from .markdown import Page, bold_line, escape, join_blocks, plain_code, write_block, write_heading
from .outputs import picture_kind
from .page_header import page_links, provenance

_ = get_translation("sphinx_recorded_gallery")
logger = logging.getLogger(__name__)

_UTF_8 = "# coding: utf-8\n"
_NAMES_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")  # as PEP 263 has it
# What readers' programs obey is written here, whatever a recording says of itself.
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
    shown, trusted = Page(app.builder, docname), app.config.recorded_gallery_trust_outputs
    notebook = make_notebook(page, recipe, doctree, shown, trusted=trusted)
    notebook.metadata["language"] = app.config.language
    if isinstance(page, RecordedPage) and page.recording.on_gpu:
        notebook.metadata["accelerator"] = "GPU"  # which hosts of notebooks then take
    script = make_script(notebook)
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    if is_translated(app.config):
        script = _harmless(script, notebook, recipe)
    if is_translated(app.config) or codes != [cell.source for _block, cell in recipe.parts if cell]:
        check_program(script.encode(), recipe)
    if code := app.config.sphinx_gallery_conf["first_notebook_cell"]:
        first = _make_cell("code", code.strip("\n"), "first-cell")
        notebook.cells.insert(1, first)  # behind the title
    if code := app.config.sphinx_gallery_conf["last_notebook_cell"]:
        notebook.cells.append(_make_cell("code", code.strip("\n"), "last-cell"))
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not with_suffix: the name of a recipe may hold a dot.
    text = nbformat.v4.writes_json(notebook) + "\n"
    atomic_write(target.with_name(f"{target.name}.ipynb"), text.encode())
    atomic_write(target.with_name(f"{target.name}.py"), script.encode())
    for name in recipe.inputs:
        copy = target.parent / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(recipe.path.parent / name, copy)


def make_notebook(
    page: RecordedPage | Unrecorded,
    recipe: Recipe,
    document: nodes.document,
    shown: Page,
    *,
    trusted: bool,
) -> NotebookNode:
    """Return the notebook of a page, whose code cells are as the page shows them.

    What its recording holds is shown as it is where it is ``trusted``.
    """
    metadata: dict[str, Any] = {"kernelspec": _KERNEL}
    recorded: dict[int, NotebookNode] = {}
    if isinstance(page, RecordedPage):
        facts, recorded = page.recording.facts, page.comparison.recorded
        language = {"name": "python", "version": facts["versions"].get("python", "3")}
        metadata |= {"language_info": language | _PYTHON, "recording": facts}
    notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(metadata))
    blocks = _divide(document, recipe)
    for number, ((_block, cell), parts) in enumerate(zip(recipe.parts, blocks, strict=True), 1):
        if cell is None:
            texts = [
                write_heading(node, level, shown)
                if isinstance(node, nodes.title)
                else join_blocks([node], shown)
                for level, node in parts
            ]
            if text := "\n\n".join(filter(None, texts)):
                notebook.cells.append(_make_cell("markdown", text, f"text-{number}"))
            continue
        inside = [each for _level, part in parts for each in part.findall(nodes.Element)]
        # Sphinx-Gallery's blocks with links take the place of those that were marked.
        codes = (
            each for each in inside if isinstance(each, code_links_block) or "recipe_cell" in each
        )
        code = next(codes, None)
        if code is None:
            raise _other_page(recipe, "a block without its code")
        new = _make_cell("code", plain_code(code), f"cell-{cell.number}")
        for folded in (node for node in inside if isinstance(node, folded_cell)):
            label = bold_line(escape(folded["summary"]))
            notebook.cells.append(_make_cell("markdown", label, f"fold-{number}"))
            new.metadata["jupyter"] = {"source_hidden": True}
            new.metadata["tags"] = ["hide-input"]  # for programs that show notebooks as pages
        if before := recorded.get(cell.number):
            outputs = [node for node in inside if OUTPUT_CLASS in node["classes"]]
            pictures = [each for node in outputs for each in node.findall(nodes.image)]
            new.execution_count = before.execution_count
            alts = [picture.get("alt", "") for picture in pictures]
            new.outputs = _outputs(before.outputs, alts, trusted=trusted)
            tables = [table for node in outputs for table in node.findall(nodes.table)]
            is_drawn = any(MEASURED_TABLE_CLASS in table["classes"] for table in tables)
            if is_drawn and any("text/html" in output.get("data", {}) for output in new.outputs):
                new.outputs.append(_note_on_tables())
        notebook.cells.append(new)
    return notebook


def _make_cell(kind: str, source: str, name: str) -> NotebookNode:
    """Return a cell, which nbformat would check against its schema each time."""
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return nbformat.from_dict(cell)


def _divide(document: nodes.document, recipe: Recipe) -> list[list[tuple[int, nodes.Node]]]:
    """Return what each block of a recipe has on its page, with the levels of its sections.

    A block may hold several sections, and a section several blocks.
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
        raise _other_page(recipe, f"{len(blocks)} blocks, the recipe {len(recipe.parts)}")
    return blocks


def _other_page(recipe: Recipe, text: str) -> GalleryError:
    remedy = "remove the page and build again"
    return GalleryError(f"its page has {text}", path=recipe.path, remedy=remedy)


def _outputs(
    recorded: list[NotebookNode], alts: Iterable[str], *, trusted: bool
) -> list[NotebookNode]:
    """Return a cell's outputs as a reader's notebook needs them, ``alts`` with its figures."""
    remaining = iter(alts)
    outputs = []
    for output in nbformat.from_dict(recorded):
        if "data" not in output:
            outputs.append(output)
            continue
        if any(mime.startswith(PUBLISHED_MIME) for mime in output.data):
            continue  # for programs; some notebook viewers would complain about it
        shown = picture_kind(output.data)
        if not trusted:
            sanitize_for_notebook(output.data)
            sizes = output.metadata.get(shown, {})
            known = {name: sizes[name] for name in ("width", "height") if name in sizes}
            output.metadata = nbformat.from_dict({shown: known} if known else {})
        if shown and (alt := next(remaining, None)) is not None:
            output.metadata[shown] = {**output.metadata.get(shown, {}), "alt": alt}
        if output.data:
            outputs.append(output)
    return outputs


def _note_on_tables() -> NotebookNode:
    """Return an output that says of which processes the tables above it are."""
    text = str(_("One run measured these numbers. The page shows the medians of all processes."))
    return nbformat.v4.new_output("display_data", {"text/markdown": text, "text/plain": text})


def make_script(notebook: NotebookNode) -> str:
    """Return the notebook as a script in the percent format, without Jupyter's metadata."""
    import jupytext  # slow to import, and not needed where no page changed

    settings = {
        "notebook_metadata_filter": "-all",
        "cell_metadata_filter": "-all",
        "comment_magics": False,  # a recipe has none, and code may look like one
    }
    plain = nbformat.from_dict({**notebook, "metadata": {"jupytext": settings}})
    for cell in plain.cells:
        if cell.cell_type == "code":
            cell.source = _keep_comments(cell.source)
    script = str(jupytext.writes(plain, fmt="py:percent"))
    # Words of a title may look to Python like the name of an encoding.
    named = any(map(_NAMES_ENCODING.match, script.split("\n", 2)[:2]))
    return f"{_UTF_8}{script}" if named else script


def _keep_comments(source: str) -> str:
    """Return code for a script in which no comment becomes a command when Jupyter opens it.

    jupytext takes a sign of comments away from lines such as ``# !pip install``, so there is one
    more.
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


def _harmless(script: str, notebook: NotebookNode, recipe: Recipe) -> str:
    """Return a script, or one without its text if a tool would obey a translation in there."""
    codes = iter([cell.source for _block, cell in recipe.parts if cell])
    plain = nbformat.from_dict(notebook)
    for cell in plain.cells:
        cell.source = next(codes) if cell.cell_type == "code" else "Text"
    english = make_script(plain)
    coding = _UTF_8 if script.startswith(_UTF_8) else ""
    if not (harm := find_instruction(coding + english.removeprefix(_UTF_8), script)):
        return script
    told = GalleryError(f"its translated script is {harm}; it has no text", path=recipe.path)
    logger.warning("%s", told, type="recorded_gallery", subtype="catalog")
    return english


def check_program(script: bytes, recipe: Recipe) -> None:
    """Raise ``GalleryError`` if a script, as Python reads it, does not do what its recipe does."""
    code = "\n".join(cell.source for _block, cell in recipe.parts if cell)
    try:
        problem = "" if _read_program(script) == _read_program(code) else "does something else than"
    except (SyntaxError, ValueError) as error:
        problem = f"is no Python ({error}), unlike"
    if problem:
        text = f"its script {problem} the recipe"
        raise GalleryError(text, path=recipe.path, remedy="a translation must not change code")


def _read_program(source: str | bytes) -> str:
    """Return what Python reads, without lines, comments and docstrings; bytes may name a coding."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    program = compile(source, "<script>", "exec", flags, dont_inherit=True)
    for node in ast.walk(program):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                text.value = ""
    return ast.dump(program)


write_block.register(page_links, lambda _node, _page: "")  # they stand beside the page
# Its summary; the facts are in the metadata.
write_block.register(provenance, lambda node, page: write_block(node[0], page))

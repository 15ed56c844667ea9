"""Write each recipe's page as a notebook and a script, which must do what the recipe does.

Text becomes Markdown cells; code blocks become code cells, with the outputs of the recording. Both
come from the same resolved doctree as the HTML page, at the moment that page is written, so that
the three cannot disagree.
"""

import ast
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_gallery._doctree_links import code_links_block

from ..cell_marks import OUTPUT_CLASS, folded_cell
from ..errors import GalleryError
from ..gate import find_harm
from ..languages import is_translated
from ..recipes.pictures import SUFFIXES
from ..recipes.recipe import Recipe
from ..recipes.recording import PUBLISHED_MIME
from ..recorded_page import RecordedPage, Unrecorded, load_page
from .header import page_links, provenance
from .markdown import Page, bold_line, join_blocks, plain_code, write_block, write_heading
from .markdown_text import escape

logger = logging.getLogger(__name__)

_UTF_8 = "# coding: utf-8\n"
_NAMES_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")  # as PEP 263 has it
_FOLDED = "hide-input"  # the tag that programs know which show notebooks as pages
# of a notebook that was not recorded
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


Downloads = tuple[RecordedPage | Unrecorded, Recipe, "_Parts"]


def read_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> Downloads | None:
    """Return what the downloads of a page need, None if it is not that of a usable recipe."""
    page = load_page(app.env, docname)
    if page is None or page.recipe is None:
        return None
    return page, page.recipe, _Parts(doctree, page.recipe, Page(app.builder, docname))


def write_downloads(app: Sphinx, docname: str, found: Downloads) -> None:
    """Write ``<page>.ipynb`` and ``<page>.py``, and copy inputs.

    Raises ``GalleryError`` if the code on the page is not the recipe's.
    """
    page, recipe, parts = found
    notebook = make_notebook(page, parts)
    notebook.metadata["language"] = app.config.language
    if isinstance(page, RecordedPage) and page.recording.on_gpu:
        notebook.metadata["accelerator"] = "GPU"  # of the machine that Colab takes
    text = make_script(notebook)
    script = (_harmless(text, notebook, recipe) if is_translated(app.config) else text).encode()
    check_program(script, recipe)
    add_first_cell(notebook, app.config.sphinx_gallery_conf["first_notebook_cell"])
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not with_suffix: the name of a recipe may hold a dot.
    text = nbformat.v4.writes_json(notebook) + "\n"
    target.with_name(f"{target.name}.ipynb").write_text(text, encoding="utf-8")
    target.with_name(f"{target.name}.py").write_bytes(script)
    for name in recipe.inputs:
        copy = target.parent / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page.source.parent / name, copy)


def make_notebook(page: RecordedPage | Unrecorded, parts: "_Parts") -> NotebookNode:
    """Return the notebook of a page; ``check_program`` tells whether its code is the recipe's."""
    assert page.recipe
    metadata, recorded = {"kernelspec": _KERNEL}, {}
    if isinstance(page, RecordedPage):
        metadata, recorded = page.recording.notebook.metadata, page.comparison.recorded
    notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(metadata))
    pairs = zip(page.recipe.parts, parts.texts, strict=True)
    for number, ((_block, cell), texts) in enumerate(pairs, 1):
        if cell is None:
            if text := "\n\n".join(filter(None, texts)):
                notebook.cells.append(nbformat.v4.new_markdown_cell(text, id=f"text-{number}"))
            continue
        new = nbformat.v4.new_code_cell(parts.codes[cell.number], id=f"cell-{cell.number}")
        tags = ["raises-exception"] if cell.raises else []
        if summary := parts.summaries.get(cell.number):
            label = bold_line(escape(summary))
            notebook.cells.append(nbformat.v4.new_markdown_cell(label, id=f"fold-{number}"))
            new.metadata["jupyter"] = {"source_hidden": True}
            tags.append(_FOLDED)
        if tags:
            new.metadata["tags"] = tags
        if before := recorded.get(cell.number):
            new.execution_count = before.execution_count
            new.outputs = _outputs(before.outputs, parts.alts.get(cell.number, []))
        notebook.cells.append(new)
    return notebook


def add_first_cell(notebook: NotebookNode, code: str | None) -> None:
    """Put what Sphinx-Gallery's ``first_notebook_cell`` says before all other code."""
    if code:
        kinds = [cell.cell_type for cell in notebook.cells]
        place = kinds.index("markdown") + 1 if "markdown" in kinds else 0  # behind the title
        notebook.cells.insert(place, nbformat.v4.new_code_cell(code.strip("\n"), id="first-cell"))


def _outputs(recorded: list[NotebookNode], alts: Iterable[str]) -> list[NotebookNode]:
    """Return a cell's outputs as a reader's notebook needs them, ``alts`` with its figures."""
    remaining = iter(alts)
    outputs = []
    for output in nbformat.from_dict(recorded):
        data = output.get("data", {})
        if any(mime.startswith(PUBLISHED_MIME) for mime in data):
            continue  # for programs; some notebook viewers would complain about it
        shown = next((mime for mime in SUFFIXES if mime in data), None)
        if shown and "text/html" not in data:  # what the page shows as a figure
            alt = next(remaining, None)
            if alt is not None:
                output.metadata[shown] = {"alt": alt}
        outputs.append(output)
    return outputs


def make_script(notebook: NotebookNode) -> str:
    """Return the notebook as a script in the percent format, without Jupyter's metadata."""
    import jupytext  # slow to import, and not needed where no page changed

    settings = {
        "notebook_metadata_filter": "-all",
        "cell_metadata_filter": "tags,-all",
        "comment_magics": False,  # a recipe has none, and code may look like one
    }
    plain = nbformat.from_dict({**notebook, "metadata": {"jupytext": settings}})
    for cell in plain.cells:
        tags = [tag for tag in cell.metadata.pop("tags", ()) if tag != _FOLDED]  # no script folds
        if tags:
            cell.metadata["tags"] = tags
    script = str(jupytext.writes(plain, fmt="py:percent"))
    # Words of a title may look to Python like the name of an encoding.
    named = any(map(_NAMES_ENCODING.match, script.split("\n", 2)[:2]))
    return f"{_UTF_8}{script}" if named else script


def _harmless(script: str, notebook: NotebookNode, recipe: Recipe) -> str:
    """Return a script, or one without its text if a tool would obey a translation in there."""
    codes = iter([cell.source for _block, cell in recipe.parts if cell])
    plain = nbformat.from_dict(notebook)
    for cell in plain.cells:
        cell.source = next(codes) if cell.cell_type == "code" else "Text"
    english = make_script(plain)
    coding = _UTF_8 if script.startswith(_UTF_8) else ""
    if not (harm := find_harm(coding + english.removeprefix(_UTF_8), script)):
        return script
    told = GalleryError(f"its translated script is {harm}; it has no text", path=recipe.path)
    logger.warning("%s", told, type="recipe_gallery", subtype="catalog")
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


class _Parts:
    """The blocks of a page: text as Markdown, code, and the texts of the figures below it."""

    def __init__(self, document: nodes.document, recipe: Recipe, page: Page) -> None:
        self.texts: list[list[str]] = [[] for _part in recipe.parts]
        self.codes: dict[int, str] = {}  # by the number of the cell
        self.alts: dict[int, list[str]] = {}  # likewise
        self.summaries: dict[int, str] = {}  # likewise, of those that are folded
        self._page = page
        self._cells = [cell for _block, cell in recipe.parts]
        self._block = 0  # at hand; the first one holds the title
        for parent in document.findall(nodes.Element):
            for child in parent.children:  # pydata's short links know of none
                child.parent = parent
        self._read(document, 0)
        blocks = len(recipe.blocks) - 1
        shown = sum(block.type == "code" for block in recipe.blocks)
        if self._block != blocks or len(self.codes) != shown:
            raise GalleryError(
                f"its page has {self._block} blocks after the title and {len(self.codes)} of code, "
                f"the recipe {blocks} and {shown}",
                path=recipe.path,
                remedy="remove the page and build again",
            )

    def _read(self, parent: nodes.Element, level: int) -> None:
        """Read the parts of a section; a block may hold several, and a section several blocks."""
        texts: list[nodes.Node] = []

        def finish() -> None:
            self.texts[self._block].append(join_blocks(texts, self._page))
            texts.clear()

        for node in parent.children:
            if "recipe_block" in getattr(node, "attributes", ()):
                finish()
                self._block = node["recipe_block"]
            elif isinstance(node, nodes.section) and node.get("notebook", True):
                finish()
                self._read(node, level + 1)
            elif cell := self._cells[self._block]:
                self._read_cell(node, cell.number)
            elif isinstance(node, nodes.title):
                self.texts[self._block].append(write_heading(node, level, self._page))
            else:
                texts.append(node)
        finish()

    def _read_cell(self, node: nodes.Node, number: int) -> None:
        if isinstance(node, nodes.container) and OUTPUT_CLASS in node["classes"]:
            self.alts[number] = [image.get("alt", "") for image in node.findall(nodes.image)]
        # Sphinx-Gallery's blocks with links take the place of those that were marked.
        elif isinstance(node, code_links_block) or "recipe_cell" in getattr(node, "attributes", ()):
            self.codes[number] = plain_code(node)
        else:
            if isinstance(node, folded_cell):
                self.summaries[number] = node["summary"]
            for child in node.children:
                self._read_cell(child, number)


write_block.register(page_links, lambda _node, _page: "")  # they stand beside the page
# Its summary; the facts are in the metadata.
write_block.register(provenance, lambda node, page: write_block(node[0], page))

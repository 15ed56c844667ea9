"""Write each recipe's page as a notebook and a script beside it.

Text becomes Markdown cells; code blocks become code cells, with the outputs of the recording. Both
come from the same resolved doctree as the HTML page, at the moment that page is written, so that
the three cannot disagree.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx_gallery._doctree_links import code_links_block

from ..project import GalleryError
from ..recipes.cells import OUTPUT_CLASS
from ..recipes.fingerprint import fingerprint_code
from ..recipes.page import RecordedPage, load_page
from ..recipes.recipe import Recipe
from ..recipes.recording import PUBLISHED_MIME, Comparison
from .header import provenance
from .links import page_links
from .markdown import plain_code, write_markdown
from .replay import IMAGE_SUFFIXES

_MARKER = "recipe block"
# of a notebook that was not recorded
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write ``<page>.ipynb`` and ``<page>.py`` if ``docname`` is the page of a usable recipe.

    Raises ``GalleryError`` if the code on the page is not the recipe's.
    """
    page = load_page(app.env, docname)
    if page is None or page.recipe is None:
        return
    texts = _TextOnly(doctree, page.recipe)
    _make_links_absolute(app, texts.document, docname)
    notebook = make_notebook(page.recipe, texts, write_markdown(texts.document, app.builder))
    notebook.metadata = nbformat.from_dict({"kernelspec": _KERNEL})
    if isinstance(page, RecordedPage):
        add_outputs(notebook, page.comparison, texts.alts)
        notebook.metadata = nbformat.from_dict(page.recording.notebook.metadata)
    notebook.metadata["language"] = app.config.language
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not with_suffix: the name of a recipe may hold a dot.
    text = nbformat.v4.writes_json(notebook) + "\n"
    target.with_name(f"{target.name}.ipynb").write_text(text, encoding="utf-8")
    target.with_name(f"{target.name}.py").write_text(make_script(notebook), encoding="utf-8")
    for name in page.recipe.inputs:
        copy = target.parent / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page.source.parent / name, copy)


def make_notebook(recipe: Recipe, page: "_TextOnly", markdown: str) -> NotebookNode:
    """Return the notebook without outputs; raise ``GalleryError`` if its code is not the recipe's.

    ``markdown`` holds the texts of all blocks, a marker before each but the first.
    """
    texts = re.split(rf"<!-- {_MARKER} \d+ -->", markdown)
    notebook = nbformat.v4.new_notebook()
    cells = iter(recipe.cells)
    for number, (block, text) in enumerate(zip(recipe.blocks, texts, strict=True), 1):
        if block.type == "code":
            cell = next(cells)
            code = page.codes[cell.number]
            if code != cell.source and fingerprint_code(code) != fingerprint_code(cell.source):
                raise GalleryError(
                    f"the page's code is not the recipe's in cell {cell.number}",
                    path=recipe.path,
                    line=cell.line,
                    remedy="a translated comment must not change code",
                )
            metadata = {"tags": ["raises-exception"]} if cell.raises else {}
            cell_id = f"cell-{cell.number}"
            new = nbformat.v4.new_code_cell(code, id=cell_id, metadata=metadata)
            notebook.cells.append(new)
        elif text.strip():
            new = nbformat.v4.new_markdown_cell(text.strip(), id=f"text-{number}")
            notebook.cells.append(new)
    return notebook


def add_outputs(
    notebook: NotebookNode, comparison: Comparison, alts: Mapping[int, Sequence[str]]
) -> None:
    """Put recorded outputs into the cells of a notebook.

    ``alts`` holds the texts of the figures of each cell, by its number.
    """
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(codes, 1):
        if recorded := comparison.recorded.get(number):
            cell.execution_count = recorded.execution_count
            cell.outputs = _outputs(recorded.outputs, alts.get(number, []))


def make_script(notebook: NotebookNode) -> str:
    """Return the notebook as a script in the percent format, without Jupyter's metadata."""
    plain = nbformat.from_dict(notebook)
    plain.metadata = nbformat.from_dict(
        {
            "jupytext": {
                "notebook_metadata_filter": "-all",
                "cell_metadata_filter": "tags,-all",
                "comment_magics": False,  # a recipe has none, and code may look like one
            }
        }
    )
    import jupytext  # slow to import, and not needed where no page changed

    script: str = jupytext.writes(plain, fmt="py:percent")
    return script


class _TextOnly:
    """A copy of a page's doctree without code and outputs, blocks marked where they start.

    Highlighted code is by far the largest part of a doctree, so it is left out while copying.
    """

    def __init__(self, page: nodes.document, recipe: Recipe) -> None:
        self.codes: dict[int, str] = {}  # by the number of the cell
        self.alts: dict[int, list[str]] = {}  # texts of the figures, likewise
        cells = iter(recipe.cells)
        # The cell that each block is; the first block holds the title.
        self._cells = [next(cells) if each.type == "code" else None for each in recipe.blocks]
        self._block = 0  # at hand
        self.document = page.copy()
        self._copy_children(page, self.document)
        if self._block != len(recipe.blocks) - 1 or len(self.codes) != len(recipe.cells):
            raise GalleryError(
                f"its page has {self._block} blocks after the title and {len(self.codes)} of code, "
                f"the recipe {len(recipe.blocks) - 1} and {len(recipe.cells)}",
                path=recipe.path,
                remedy="remove the page and build again",
            )

    def _copy_children(self, source: nodes.Element, target: nodes.Element) -> None:
        for child in source.children:
            copied = self._copy(child)
            if copied is not None:
                target.append(copied)

    def _copy(self, node: nodes.Node) -> nodes.Node | None:
        if isinstance(node, nodes.Text):
            return node
        if isinstance(node, provenance):
            return node[0].deepcopy()  # its summary; the facts are in the notebook's metadata
        if isinstance(node, page_links) or not node.get("notebook", True):
            return None  # links beside the page, and what a notebook has in another form
        if isinstance(node, nodes.comment):
            if "recipe_block" not in node:
                return None
            self._block = node["recipe_block"]
            return nodes.comment("", f"{_MARKER} {self._block}")
        if cell := self._cells[self._block]:
            self._take(node, cell.number)
            return None
        copied = node.copy()
        self._copy_children(node, copied)
        return copied

    def _take(self, node: nodes.Element, number: int) -> None:
        """Keep what a node between this boundary and the next holds: code, or outputs."""
        if isinstance(node, nodes.container) and OUTPUT_CLASS in node["classes"]:
            self.alts[number] = [image.get("alt", "") for image in node.findall(nodes.image)]
        # Sphinx-Gallery's blocks with links take the place of those that were marked.
        elif "recipe_cell" in node or isinstance(node, code_links_block):
            self.codes[number] = plain_code(node)


def _make_links_absolute(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Point links and pictures at the published site: a notebook is read anywhere.

    Of a site whose address is not known (``html_baseurl``), links become plain text.
    """
    base = app.config.html_baseurl
    page = urljoin(base, app.builder.get_target_uri(docname))
    for link in list(document.findall(addnodes.download_reference)):
        address = f"/_downloads/{link['filename']}" if "filename" in link else ""
        address = link.get("refuri") or (base and address and urljoin(base, address[1:]))
        _replace_by(link, nodes.reference("", "", *link.children, refuri=address))
    for link in list(document.findall(nodes.reference)):
        if "refid" in link:
            link["refuri"] = f"{page}#{link.attributes.pop('refid')}"
        elif "refuri" in link:
            link["refuri"] = urljoin(page, link["refuri"])
        link["internal"] = False
        if not urlsplit(link.get("refuri", "")).scheme:
            _replace_by(link, *link.children)
    for image in list(document.findall(nodes.image)):
        if image["uri"] in app.env.images:
            name = app.env.images[image["uri"]][1]
            image["uri"] = urljoin(base, f"_images/{name}")
            if not base:
                _replace_by(image, nodes.Text(image.get("alt", "")))


def _replace_by(node: nodes.Element, *others: nodes.Node) -> None:
    index = node.parent.index(node)
    node.parent[index : index + 1] = others


def _outputs(recorded: list[NotebookNode], alts: Sequence[str]) -> list[NotebookNode]:
    """Return a cell's outputs as a reader's notebook needs them."""
    remaining = list(alts)
    outputs = []
    for output in recorded:
        output = nbformat.from_dict(output)
        data = output.get("data", {})
        if any(mime.startswith(PUBLISHED_MIME) for mime in data):
            continue  # for programs; some notebook viewers would complain about it
        shown = next((mime for mime in IMAGE_SUFFIXES if mime in data), None)
        if shown and "text/html" not in data and remaining:  # what the page shows as a figure
            output.metadata[shown] = {"alt": remaining.pop(0)}
        outputs.append(output)
    return outputs

"""Write each recipe's page as a notebook and a script beside it.

Text becomes Markdown cells; code blocks become code cells, with the outputs of the recording. Both
come from the same resolved doctree as the HTML page, at the moment that page is written, so that
the three cannot disagree.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx_gallery._doctree_links import code_links_block

from ..errors import GalleryError
from ..recipes.cell_marks import OUTPUT_CLASS
from ..recipes.fingerprint import fingerprint_code
from ..recipes.recipe import Recipe
from ..recipes.recorded_page import RecordedPage, Unrecorded, load_page
from ..recipes.recording import PUBLISHED_MIME
from .header import page_links, provenance
from .markdown import plain_code, write_markdown
from .outputs_rst import IMAGE_SUFFIXES

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
    notebook = make_notebook(page, texts, write_markdown(texts.document, app.builder))
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


def make_notebook(
    page: RecordedPage | Unrecorded, texts: "_TextOnly", markdown: str
) -> NotebookNode:
    """Return the notebook of a page; raise ``GalleryError`` if its code is not the recipe's.

    ``markdown`` holds the texts of all blocks, a marker before each but the first.
    """
    assert page.recipe
    metadata, recorded = {"kernelspec": _KERNEL}, {}
    if isinstance(page, RecordedPage):
        metadata, recorded = page.recording.notebook.metadata, page.comparison.recorded
    notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(metadata))
    sources = re.split(rf"<!-- {_MARKER} \d+ -->", markdown)
    parts = zip(page.recipe.parts, sources, strict=True)
    for number, ((_block, cell), text) in enumerate(parts, 1):
        if cell is None:
            if text.strip():
                new = nbformat.v4.new_markdown_cell(text.strip(), id=f"text-{number}")
                notebook.cells.append(new)
            continue
        code = texts.codes[cell.number]
        if code != cell.source and fingerprint_code(code) != fingerprint_code(cell.source):
            raise GalleryError(
                f"the page's code is not the recipe's in cell {cell.number}",
                path=page.source,
                line=cell.line,
                remedy="a translated comment must not change code",
            )
        new = nbformat.v4.new_code_cell(code, id=f"cell-{cell.number}")
        if cell.raises:
            new.metadata["tags"] = ["raises-exception"]
        if before := recorded.get(cell.number):
            new.execution_count = before.execution_count
            new.outputs = _outputs(before.outputs, texts.alts.get(cell.number, []))
        notebook.cells.append(new)
    return notebook


def _outputs(recorded: list[NotebookNode], alts: Iterable[str]) -> list[NotebookNode]:
    """Return a cell's outputs as a reader's notebook needs them, ``alts`` with its figures."""
    remaining = iter(alts)
    outputs = []
    for output in nbformat.from_dict(recorded):
        data = output.get("data", {})
        if any(mime.startswith(PUBLISHED_MIME) for mime in data):
            continue  # for programs; some notebook viewers would complain about it
        shown = next((mime for mime in IMAGE_SUFFIXES if mime in data), None)
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
    return str(jupytext.writes(plain, fmt="py:percent"))


class _TextOnly:
    """A copy of a page's doctree without code and outputs, blocks marked where they start.

    Highlighted code is by far the largest part of a doctree, so it is left out while copying.
    """

    def __init__(self, page: nodes.document, recipe: Recipe) -> None:
        self.codes: dict[int, str] = {}  # by the number of the cell
        self.alts: dict[int, list[str]] = {}  # texts of the figures, likewise
        self._cells = [cell for _block, cell in recipe.parts]
        self._block = 0  # at hand; the first one holds the title
        self.document: nodes.document
        [self.document] = self._copy(page)
        if self._block != len(recipe.blocks) - 1 or len(self.codes) != len(recipe.cells):
            raise GalleryError(
                f"its page has {self._block} blocks after the title and {len(self.codes)} of code, "
                f"the recipe {len(recipe.blocks) - 1} and {len(recipe.cells)}",
                path=recipe.path,
                remedy="remove the page and build again",
            )

    def _copy(self, node: nodes.Node) -> list[nodes.Node]:
        """Return what a notebook has of a node: itself, or nothing."""
        if isinstance(node, nodes.Text):
            return [node]
        if isinstance(node, provenance):
            return [node[0].deepcopy()]  # its summary; the facts are in the notebook's metadata
        if isinstance(node, page_links) or not node.get("notebook", True):
            return []  # links beside the page, and what a notebook has in another form
        if isinstance(node, nodes.comment):
            if "recipe_block" not in node:
                return []
            self._block = node["recipe_block"]
            return [nodes.comment("", f"{_MARKER} {self._block}")]
        if cell := self._cells[self._block]:
            if isinstance(node, nodes.container) and OUTPUT_CLASS in node["classes"]:
                images = node.findall(nodes.image)
                self.alts[cell.number] = [image.get("alt", "") for image in images]
            # Sphinx-Gallery's blocks with links take the place of those that were marked.
            elif "recipe_cell" in node or isinstance(node, code_links_block):
                self.codes[cell.number] = plain_code(node)
            return []
        copied = node.copy()
        for child in node.children:
            copied += self._copy(child)
        return [copied]


def _make_links_absolute(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Point links and pictures at the published site: a notebook is read anywhere.

    Of a site whose address is not known (``html_baseurl``), links become plain text.
    """
    folder = app.config.html_baseurl  # with a slash at its end or without
    base = f"{folder.rstrip('/')}/" if folder else ""
    page = urljoin(base, app.builder.get_target_uri(docname))
    for link in list(document.findall(addnodes.download_reference)):
        address = link.get("refuri", "")
        if base and "filename" in link:
            address = urljoin(base, f"_downloads/{link['filename']}")
        link.parent.replace(link, nodes.reference("", "", *link.children, refuri=address))
    for link in list(document.findall(nodes.reference)):
        if "refid" in link:
            link["refuri"] = f"{page}#{link.attributes.pop('refid')}"
        elif "refuri" in link:
            link["refuri"] = urljoin(page, link["refuri"])
        link["internal"] = False
        if not urlsplit(link.get("refuri", "")).scheme:
            link.parent.replace(link, link.children)
    for image in list(document.findall(nodes.image)):
        if image["uri"] in app.env.images:
            name = app.env.images[image["uri"]][1]
            image["uri"] = urljoin(base, f"_images/{name}")
            if not base:
                image.parent.replace(image, nodes.Text(image.get("alt", "")))

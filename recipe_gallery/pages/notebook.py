"""Write each recipe's page as a notebook and a script beside it.

Text becomes Markdown cells, by the translator of sphinx-markdown-builder; code blocks become code
cells, with the outputs of the recording. Both come from the same resolved doctree as the HTML page,
at the moment that page is written, so that the three cannot disagree.
"""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.locale import admonitionlabels
from sphinx_gallery._doctree_links import code_links_block
from sphinx_markdown_builder.contexts import (
    IndentContext,
    SubContext,
    SubContextParams,
    WrappedContext,
)
from sphinx_markdown_builder.translator import MarkdownTranslator

from ..project import GalleryError
from ..recipes.cells import OUTPUT_CLASS, is_boundary
from ..recipes.fingerprint import fingerprint_code
from ..recipes.gallery import find_source
from ..recipes.recipe import Cell, Recipe, load_recipe
from ..recipes.recording import PUBLISHED_MIME, Comparison, Recording, compare, read_recording
from .links import page_links
from .provenance import provenance
from .replay import IMAGE_SUFFIXES

_MARKER = "recipe block"


class _Emphasis(WrappedContext):
    """Adds no space before a letter of any script; the translator knows the Latin ones only."""

    def make(self) -> str:
        content = SubContext.make(self)
        return f"*{content}*" if content[:1].isalpha() else str(super().make())


class NotebookTranslator(MarkdownTranslator):
    """Markdown as notebooks show it best: admonitions as labelled quotes, not as headings."""

    def visit_labelled_quote(self, node: nodes.Element) -> None:
        """Open a quote that starts with the admonition's name in bold."""
        self._push_context(IndentContext("> ", empty=True, params=SubContextParams(2, 2)))
        self.add(f"**{admonitionlabels[node.tagname]}**", suffix_eol=2)

    def visit_emphasis(self, node: nodes.Element) -> None:
        """Open emphasis."""
        self._push_context(_Emphasis("*"))

    def depart_emphasis(self, node: nodes.Element) -> None:
        """Close emphasis."""
        self._pop_context(node)

    def visit_target(self, node: nodes.Element) -> None:
        """Write no anchor: links into the page lead to the site."""

    def visit_code_links_block(self, node: nodes.Element) -> None:
        """Write a block that Sphinx-Gallery has put links into as the plain code it was."""
        self.add(f"```{node['lang']}\n{node.astext().strip()}\n```", prefix_eol=2, suffix_eol=2)
        raise nodes.SkipNode

    def depart_labelled_quote(self, node: nodes.Element) -> None:
        """Close the quote."""
        self._pop_context(node)


for _kind in admonitionlabels:
    setattr(NotebookTranslator, f"visit_{_kind}", NotebookTranslator.visit_labelled_quote)
    setattr(NotebookTranslator, f"depart_{_kind}", NotebookTranslator.depart_labelled_quote)


def write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write ``<page>.ipynb`` and ``<page>.py`` if ``docname`` is a recipe's page."""
    source = find_source(app.config, Path(app.srcdir), docname)
    if source is None:
        return
    try:
        recipe = load_recipe(source)
        inputs = recipe.inputs
    except GalleryError:
        return  # replaying has said what is wrong
    recording: Recording | None = None
    comparison: Comparison | None = None
    try:
        recording = read_recording(
            Path(app.srcdir, app.config.recipe_gallery_recordings, f"{recipe.name}.ipynb")
        )
        comparison = compare(recipe, recording)
    except GalleryError:
        pass  # likewise; the notebook is then one without outputs
    notebook = make_notebook(app, doctree, docname, recipe, comparison)
    notebook.metadata = _metadata(app, recording)
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = nbformat.v4.writes_json(notebook) + "\n"
    target.with_suffix(".ipynb").write_text(text, encoding="utf-8")
    target.with_suffix(".py").write_text(make_script(notebook), encoding="utf-8")
    for name in inputs:
        copy = target.parent / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.parent / name, copy)


def make_notebook(
    app: Sphinx,
    doctree: nodes.document,
    docname: str,
    recipe: Recipe,
    comparison: Comparison | None,
) -> NotebookNode:
    """Return the page as a notebook; raise ``ExtensionError`` if its code is not the recipe's."""
    page = _TextOnly(doctree, recipe)
    _make_links_absolute(app, page.document, docname)
    translator = NotebookTranslator(page.document, app.builder)
    page.document.walkabout(translator)
    texts = re.split(rf"<!-- {_MARKER} \d+ -->", translator.astext())
    notebook = nbformat.v4.new_notebook()
    cells = iter(recipe.cells)
    for number, (block, text) in enumerate(zip(recipe.blocks, texts, strict=True)):
        if block.type == "code":
            cell = next(cells)
            code = page.codes[number]
            if code != cell.source and fingerprint_code(code) != fingerprint_code(cell.source):
                raise ExtensionError(
                    f"{recipe.path}:{cell.line}: the page's code is not the recipe's in cell "
                    f"{cell.number}; a translated comment must not change code"
                )
            recorded = comparison.recorded.get(cell.number) if comparison else None
            notebook.cells.append(_code_cell(cell, code, recorded, page.alts.get(number, [])))
        elif text.strip():
            cell_id = f"text-{number + 1}"
            notebook.cells.append(
                {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": _tidy(text)}
            )
    return nbformat.from_dict(notebook)


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


def _metadata(app: Sphinx, recording: Recording | None) -> NotebookNode:
    language = app.config.language
    if recording is None:
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        return nbformat.from_dict({"kernelspec": kernel, "language": language})
    metadata = nbformat.from_dict(recording.notebook.metadata)
    metadata["language"] = language
    return metadata


class _TextOnly:
    """A copy of a page's doctree without code and outputs, blocks marked where they start.

    Highlighted code is by far the largest part of a doctree, so it is left out while copying.
    """

    def __init__(self, page: nodes.document, recipe: Recipe) -> None:
        self.codes: dict[int, str] = {}  # by the number of the block
        self.alts: dict[int, list[str]] = {}  # texts of the figures, likewise
        self._kinds = [block.type for block in recipe.blocks]
        self._number = 0  # of the block; 0 is the text that holds the title
        boundaries = sum(is_boundary(node) for node in page.findall(nodes.comment))
        if boundaries != len(recipe.blocks) - 1:
            raise ExtensionError(
                f"{recipe.path}: the page has {boundaries} blocks after its title, the recipe "
                f"{len(recipe.blocks) - 1}; remove its page and build again"
            )
        self.document = page.copy()
        self._copy_children(page, self.document)

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
            if not is_boundary(node):
                return None
            self._number += 1
            return nodes.comment("", f"{_MARKER} {self._number}")
        if isinstance(node, nodes.container) and OUTPUT_CLASS in node["classes"]:
            self.alts[self._number] = [image.get("alt", "") for image in node.findall(nodes.image)]
            return None
        if (
            isinstance(node, nodes.literal_block | code_links_block)
            and self._kinds[self._number] == "code"
            and self._number not in self.codes
        ):
            self.codes[self._number] = node.astext().strip("\n")
            return None
        copied = node.copy()
        self._copy_children(node, copied)
        return copied


def _make_links_absolute(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Point links and pictures at the published site: a notebook is read anywhere."""
    page = urljoin(app.config.html_baseurl, app.builder.get_target_uri(docname))
    for link in document.findall(nodes.reference):
        if "refid" in link:
            link["refuri"] = f"{page}#{link.attributes.pop('refid')}"
        elif "refuri" in link:
            link["refuri"] = urljoin(page, link["refuri"])
        link["internal"] = False
    for image in document.findall(nodes.image):
        if image["uri"] in app.env.images:
            name = app.env.images[image["uri"]][1]
            image["uri"] = urljoin(app.config.html_baseurl, f"_images/{name}")


def _code_cell(
    cell: Cell, code: str, recorded: NotebookNode | None, alts: list[str]
) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"cell-{cell.number}",
        "metadata": {"tags": ["raises-exception"]} if cell.raises else {},
        "source": code,
        "execution_count": recorded.execution_count if recorded else None,
        "outputs": _outputs(recorded.outputs, alts) if recorded else [],
    }


def _outputs(recorded: list[NotebookNode], alts: list[str]) -> list[NotebookNode]:
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


def _tidy(markdown: str) -> str:
    markdown = re.sub(r"^> $", ">", markdown, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", markdown).strip()

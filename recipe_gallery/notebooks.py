"""Write each recipe's page as a notebook and a script beside it.

Text becomes Markdown cells, by the translator of sphinx-markdown-builder; code blocks become code
cells, with the outputs of the recording. Both come from the same resolved doctree as the HTML page,
at the moment that page is written, so that the three cannot disagree.
"""

import re
import shutil
from pathlib import Path
from urllib.parse import urljoin

import jupytext
import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.locale import admonitionlabels
from sphinx_gallery._doctree_links import code_links_block
from sphinx_markdown_builder.contexts import IndentContext, SubContextParams
from sphinx_markdown_builder.translator import MarkdownTranslator

from .errors import GalleryError
from .fingerprint import fingerprint_code
from .provenance import provenance, recipe_actions
from .recipes import Recipe, find_source, load_recipe
from .recordings import HEADLINE_MIME, Comparison, Recording, compare, read_recording
from .replay import OUTPUT_CLASS

_BOUNDARY = re.compile(r"GENERATED FROM PYTHON SOURCE LINES \d+-\d+")
_MARKER = "recipe block"


class NotebookTranslator(MarkdownTranslator):
    """Markdown as notebooks show it best: admonitions as labelled quotes, not as headings."""

    def visit_labelled_quote(self, node: nodes.Element) -> None:
        """Open a quote that starts with the admonition's name in bold."""
        self._push_context(IndentContext("> ", empty=True, params=SubContextParams(2, 2)))
        self.add(f"**{admonitionlabels[node.tagname]}**", suffix_eol=2)

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
    except GalleryError:
        return  # replaying has said what is wrong
    recording: Recording | None = None
    comparison: Comparison | None = None
    try:
        recording = read_recording(
            Path(app.srcdir, app.config.recordings_dir, f"{recipe.name}.ipynb")
        )
        comparison = compare(recipe, recording)
    except GalleryError:
        pass  # likewise; the notebook is then one without outputs
    notebook = make_notebook(app, doctree, docname, recipe, comparison)
    notebook.metadata = _metadata(app, recording)
    target = Path(app.outdir, docname)
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target.with_suffix(".ipynb"))
    target.with_suffix(".py").write_text(make_script(notebook), encoding="utf-8")
    for name in recipe.inputs:
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
    document: nodes.document = doctree.deepcopy()
    _make_links_absolute(app, document, docname)
    codes, alts = _cut_at_blocks(document, recipe)
    translator = NotebookTranslator(document, app.builder)
    document.walkabout(translator)
    texts = re.split(rf"<!-- {_MARKER} \d+ -->", translator.astext())
    notebook = nbformat.v4.new_notebook()
    cells = iter(recipe.cells)
    for number, (block, text) in enumerate(zip(recipe.blocks, texts, strict=True)):
        if block.type == "code":
            cell = next(cells)
            code = codes[number]
            if fingerprint_code(code) != cell.fingerprint:
                raise ExtensionError(
                    f"{recipe.path}:{cell.line}: the page's code is not the recipe's in cell "
                    f"{cell.number}; a translated comment must not change code"
                )
            node = nbformat.v4.new_code_cell(code, id=f"cell-{cell.number}")
            if cell.raises:
                node.metadata["tags"] = ["raises-exception"]
            recorded = comparison.recorded.get(cell.number) if comparison else None
            if recorded is not None:
                node.execution_count = recorded.execution_count
                node.outputs = _outputs(recorded.outputs, alts.get(number, []))
            notebook.cells.append(node)
        elif text.strip():
            notebook.cells.append(
                nbformat.v4.new_markdown_cell(_tidy(text), id=f"text-{number + 1}")
            )
    nbformat.validate(notebook)
    return notebook


def make_script(notebook: NotebookNode) -> str:
    """Return the notebook as a script in the percent format, without Jupyter's metadata."""
    plain = nbformat.from_dict(notebook)
    plain.metadata = nbformat.from_dict(
        {"jupytext": {"notebook_metadata_filter": "-all", "cell_metadata_filter": "tags,-all"}}
    )
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


def _cut_at_blocks(
    document: nodes.document, recipe: Recipe
) -> tuple[dict[int, str], dict[int, list[str]]]:
    """Mark where each block of the recipe starts and take code and outputs out of the document.

    Returns the code and the alternative texts of the figures, by the number of the block.
    """
    for header in list(document.findall(recipe_actions)):
        header.parent.remove(header)
    for box in list(document.findall(provenance)):
        box.replace_self(box[0])
    boundaries = [node for node in document.findall(nodes.comment) if _is_boundary(node)]
    if len(boundaries) != len(recipe.blocks) - 1:
        raise ExtensionError(
            f"{recipe.path}: the page has {len(boundaries)} blocks after its title, the recipe "
            f"{len(recipe.blocks) - 1}; remove its page and build again"
        )
    codes: dict[int, str] = {}
    alts: dict[int, list[str]] = {}
    removed: set[int] = set()  # what lies in an output that was taken out
    number = 0  # of the block; 0 is the text that holds the title
    for node in list(document.findall()):
        if isinstance(node, nodes.comment):
            if _is_boundary(node):
                number += 1
                node.replace_self(nodes.comment("", f"{_MARKER} {number}"))
            else:
                node.parent.remove(node)
        elif isinstance(node, nodes.container) and OUTPUT_CLASS in node["classes"]:
            alts[number] = [image.get("alt", "") for image in node.findall(nodes.image)]
            node.parent.remove(node)
            removed.update(map(id, node.findall()))
        elif (
            isinstance(node, nodes.literal_block | code_links_block)
            and id(node) not in removed
            and recipe.blocks[number].type == "code"
            and number not in codes
        ):
            codes[number] = node.astext().strip("\n")
            node.parent.remove(node)
    return codes, alts


def _is_boundary(node: nodes.comment) -> bool:
    return _BOUNDARY.fullmatch(node.astext()) is not None


def _outputs(recorded: list[NotebookNode], alts: list[str]) -> list[NotebookNode]:
    """Return a cell's outputs as a reader's notebook needs them."""
    remaining = list(alts)
    outputs = []
    for output in recorded:
        output = nbformat.from_dict(output)
        data = output.get("data", {})
        if HEADLINE_MIME in data:
            continue  # for the site alone; some notebook viewers would complain about it
        for mime in data:
            if mime.startswith("image/") and remaining:
                output.metadata[mime] = {"alt": remaining.pop(0)}
        outputs.append(output)
    return outputs


def _tidy(markdown: str) -> str:
    markdown = re.sub(r"^> $", ">", markdown, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", markdown).strip()

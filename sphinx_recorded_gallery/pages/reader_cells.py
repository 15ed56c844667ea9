"""What only a reader's notebook has: examples that run, and code that is folded.

The script and the check of its program know neither, because both are about the recipe's own code.
"""

from docutils import nodes
from nbformat import NotebookNode
from sphinx.locale import get_translation

from ..page_nodes import NOTEBOOK_HEAD, NOTEBOOK_NOTE
from .markdown import MarkdownPage, join_blocks, plain_code, write_heading

_ = get_translation("sphinx_recorded_gallery")

# What a page's text is in a notebook: a kind of cell and its source
Piece = tuple[str, str]


def has_examples(block: list[tuple[int, nodes.Node]]) -> bool:
    """Tell whether a block of text has code that a notebook shows as cells."""
    return any(_contains_example(node) for _level, node in block)


def write_pieces(block: list[tuple[int, nodes.Node]], page: MarkdownPage) -> list[Piece]:
    """Return a block of text as cells, with a cell of code for each of its examples."""
    pieces: list[Piece] = []
    waiting: list[tuple[int, nodes.Node]] = []

    def end_text() -> None:
        text = write_text(waiting, page)
        if text:
            pieces.append(("markdown", text))
        waiting.clear()

    def add(level: int, node: nodes.Node) -> None:
        if _is_example(node):
            assert isinstance(node, nodes.literal_block)
            if NOTEBOOK_NOTE in node:
                note = nodes.paragraph("", "", nodes.Text(node[NOTEBOOK_NOTE]))
                waiting.append((level, note))
            end_text()
            pieces.append(("code", f"{node[NOTEBOOK_HEAD]}\n{plain_code(node)}"))
        elif _contains_example(node):
            for child in node.children:
                add(level, child)
        else:
            waiting.append((level, node))

    for level, node in block:
        add(level, node)
    end_text()
    return pieces


def write_text(block: list[tuple[int, nodes.Node]], page: MarkdownPage) -> str:
    """Return a block of text as Markdown; headings have the level of their section."""
    texts = []
    for level, node in block:
        if isinstance(node, nodes.title):
            text = write_heading(node, level, page)
        else:
            text = join_blocks([node], page)
        if text:
            texts.append(text)
    return "\n\n".join(texts)


def _is_example(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal_block) and NOTEBOOK_HEAD in node


def _contains_example(node: nodes.Node) -> bool:
    return any(NOTEBOOK_HEAD in block for block in node.findall(nodes.literal_block))


def hide_code(cell: NotebookNode) -> None:
    """Hide the code of a cell in JupyterLab, and in programs that show notebooks as pages."""
    cell.metadata["jupyter"] = {"source_hidden": True}
    cell.metadata["tags"] = ["hide-input"]


def add_fold_title(cell: NotebookNode, summary: str, *, is_module: bool) -> None:
    """Hide the code of a cell in Colab, too, which shows the title in its place.

    Nobody has to read a module, such as what measures all recipes: its title says so.
    """
    title = _("Run and skip: %s") % summary if is_module else summary
    cell.metadata["cellView"] = "form"
    cell.source = f"# @title {title}\n{cell.source}"

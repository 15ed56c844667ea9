"""Markdown and LaTeX that a cell showed, as nodes of its page: Jupyter shows them formatted, too.

Nodes are written in all formats of Sphinx, and draw formulas as the rest of the page does.
"""

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from docutils import nodes
from docutils.utils import column_width
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin

from ..recipes.latex import Formula, Words, split_latex, without_style

_SCHEMES = {"http", "https", "mailto"}


def parse_latex(latex: str) -> list[nodes.Node]:
    """Return text with formulas; nothing if it holds no formula or is a table in LaTeX."""
    pieces = split_latex(latex.strip())
    formulas = [piece for piece in pieces if isinstance(piece, Formula)]
    if not formulas or "\\begin{tabular}" in latex:
        return []
    if len(pieces) == 1:  # on a line of its own, as in Jupyter
        return [_math_block(formulas[0].tex, has_environment=formulas[0].has_environment)]
    blocks: list[nodes.Node] = []
    paragraph = nodes.paragraph(translatable=False)
    for piece in pieces:
        if isinstance(piece, Words):
            paragraph += nodes.Text(piece.text)
        elif piece.is_block:
            block = _math_block(piece.tex, has_environment=piece.has_environment)
            blocks += [paragraph, block]
            paragraph = nodes.paragraph(translatable=False)
        else:
            paragraph += nodes.math("", piece.tex)
    return [block for block in (*blocks, paragraph) if block.astext().strip()]


def _math_block(tex: str, *, has_environment: bool = False) -> nodes.math_block:
    block = nodes.math_block(tex, tex, translatable=False, docname="", number=None, label=None)
    block["no-wrap"] = block["nowrap"] = has_environment
    return block


def parse_markdown(text: str, *, trusted: bool) -> list[nodes.Node]:
    """Return Markdown as nodes.

    HTML in it is shown as it is where recordings are ``trusted``, otherwise as text. Pictures from
    other addresses are shown on the same condition; otherwise their words stand there.
    """
    parser = MarkdownIt("commonmark", {"html": trusted}).enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, allow_digits=False)  # "$5 and $10" are prices
    return _Converter(trusted=trusted).convert_all(SyntaxTreeNode(parser.parse(text)))


class _Converter:
    """Makes nodes of Markdown's elements."""

    def __init__(self, *, trusted: bool) -> None:
        self._trusted = trusted

    def convert_all(self, parent: SyntaxTreeNode) -> list[nodes.Node]:
        """Return the nodes of all children of an element."""
        converted: list[nodes.Node] = []
        for child in parent.children:
            converted += self._convert(child)
        return converted

    def _convert(self, element: SyntaxTreeNode) -> Iterator[nodes.Node]:
        """Yield what an element of Markdown becomes on a page."""
        wrapper = _WRAPPERS.get(element.type)
        if wrapper:
            yield self._wrap(wrapper(), element)
            return
        match element.type:
            case "inline" | "root" | "s":
                yield from self.convert_all(element)
            case "text":
                yield nodes.Text(element.content)
            case "softbreak":
                yield nodes.Text("\n")
            case "hardbreak":
                yield nodes.raw("", "<br>", format="html")
                yield nodes.Text("\n")
            case "code_inline":
                yield nodes.literal("", element.content)
            case "code_block" | "fence":
                yield _convert_code(element)
            case "math_inline":
                yield nodes.math("", element.content.strip())
            case "math_inline_double" | "math_block":
                yield _math_block(without_style(element.content))
            case "heading":  # a section would stand among those of the page
                yield self._wrap(nodes.rubric(), element)
            case "hr":
                yield nodes.paragraph("", "—", translatable=False)
            case "html_inline" | "html_block":
                yield nodes.raw("", element.content, format="html")
            case "link":
                yield from self._convert_link(element)
            case "image":
                yield self._convert_image(element)
            case "table":
                yield self._convert_table(element)
            case _:
                yield from self.convert_all(element)

    def _wrap(self, node: nodes.Element, element: SyntaxTreeNode) -> nodes.Element:
        if isinstance(node, nodes.TextElement):
            node["translatable"] = False
        if element.type == "ordered_list":
            node.attributes.update(enumtype="arabic", prefix="", suffix=".")
            node["start"] = int(element.attrs.get("start", 1))
        node += self.convert_all(element)
        return node

    def _convert_link(self, element: SyntaxTreeNode) -> Iterator[nodes.Node]:
        words = self.convert_all(element)
        address = str(element.attrs.get("href", ""))
        if urlsplit(address).scheme in _SCHEMES:
            yield nodes.reference("", "", *words, refuri=address)
        else:  # nobody knows where it leads from a page
            yield from words

    def _convert_image(self, element: SyntaxTreeNode) -> nodes.Node:
        address = str(element.attrs.get("src", ""))
        words = element.content
        if self._trusted and urlsplit(address).scheme in ("http", "https"):
            return nodes.image(uri=address, alt=words)
        return nodes.Text(words)

    def _convert_table(self, element: SyntaxTreeNode) -> nodes.table:
        """Return a table; the parser gives rows in a head and, if there are any more, in a body."""
        parts = {part.type: part.children for part in element.children}
        head = parts.get("thead", [])
        body = parts.get("tbody", [])
        count = len(head[0].children)
        group = nodes.tgroup(cols=count)
        # Formats without proportional widths wrap the words of a column at this many characters.
        for column in zip(*(row.children for row in (*head, *body)), strict=True):
            width = max(max(map(_source_width, column)), 1)
            group += nodes.colspec(colwidth=width)
        group += nodes.thead("", *self._convert_rows(head))
        if body:
            group += nodes.tbody("", *self._convert_rows(body))
        return nodes.table("", group)

    def _convert_rows(self, rows: Sequence[SyntaxTreeNode]) -> Iterator[nodes.row]:
        for row in rows:
            cells = []
            for cell in row.children:
                words = nodes.paragraph("", "", *self.convert_all(cell), translatable=False)
                cells.append(nodes.entry("", words, classes=_alignment(cell)))
            yield nodes.row("", *cells)


def _source_width(cell: SyntaxTreeNode) -> int:
    """Return the number of columns of a terminal that the text of a cell takes in Markdown."""
    return sum(column_width(child.content) for child in cell.children)


def _alignment(cell: SyntaxTreeNode) -> list[str]:
    """Return the class of Sphinx's style sheets for the alignment of a cell, if it has one."""
    side = str(cell.attrs.get("style", "")).removeprefix("text-align:")
    return [f"align-{side}"] if side else []


def _convert_code(element: SyntaxTreeNode) -> nodes.literal_block:
    """Return a block of code, in the language that the first word behind its fence names."""
    language, *_options = element.info.split() or ["none"]
    code = element.content.rstrip("\n")
    return nodes.literal_block(code, code, language=language)


_WRAPPERS: dict[str, Callable[[], nodes.Element]] = {
    "blockquote": nodes.block_quote,
    "bullet_list": nodes.bullet_list,
    "em": nodes.emphasis,
    "list_item": nodes.list_item,
    "ordered_list": nodes.enumerated_list,
    "paragraph": nodes.paragraph,
    "strong": nodes.strong,
}

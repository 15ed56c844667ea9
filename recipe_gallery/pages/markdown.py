"""Text of a page as Markdown for a notebook, by the translator of sphinx-markdown-builder.

This module adds what a notebook shows better or that translator does not know, and keeps plain
text from being taken for Markdown, HTML or a formula.
"""

import re
from collections.abc import Callable
from functools import partial, partialmethod

from docutils import nodes
from sphinx import addnodes
from sphinx.builders import Builder
from sphinx.locale import admonitionlabels
from sphinx_gallery._doctree_links import code_links_block
from sphinx_markdown_builder.contexts import (
    IndentContext,
    SubContext,
    SubContextParams,
    TableContext,
    WrappedContext,
)
from sphinx_markdown_builder.escape import escape_markdown_chars
from sphinx_markdown_builder.translator import MarkdownTranslator
from tabulate import tabulate


def write_markdown(document: nodes.document, builder: Builder) -> str:
    """Return a document as Markdown; its tables are changed in place."""
    for group in document.findall(lambda node: isinstance(node, nodes.thead | nodes.tbody)):
        fill_spans(group)
    translator = _NotebookTranslator(document, builder)
    document.walkabout(translator)
    text = re.sub(r"^> $", ">", translator.astext(), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text)


def fill_spans(rows: nodes.Element) -> None:
    """Put empty cells where a cell covers further columns or rows: Markdown has no such cells."""
    covered: dict[int, int] = {}  # how many further rows a cell above covers, by column
    for row in rows.children:
        cells: list[nodes.Node] = []
        own = list(row.children)
        while own or covered.get(len(cells)):
            column = len(cells)
            if covered.get(column):
                covered[column] -= 1
                cells.append(nodes.entry())
                continue
            cell = own.pop(0)
            width = cell.get("morecols", 0) + 1
            cells += [cell, *(nodes.entry() for _further in range(width - 1))]
            covered |= dict.fromkeys(range(column, column + width), cell.get("morerows", 0))
        row.children = []
        row += cells


def escape(text: str) -> str:
    """Return text in which nothing means anything to Markdown, HTML or MathJax."""
    text = escape_markdown_chars(text)
    text = re.sub(r"[<$]|&(?=#?\w+;)|\](?=\()", r"\\\g<0>", text)
    # A line that would start a list, a heading or a quote
    return re.sub(r"(?<=\n)(\d*)([#>+-]|(?<=\d)[.)])(?=\s)", r"\1\\\2", text)


def plain_code(block: nodes.Element) -> str:
    """Return the code of a block, without the numbers of lines that Sphinx-Gallery puts in."""
    parts = (
        part.astext()
        for part in block.children
        if not (isinstance(part, nodes.Element) and "linenos" in part["classes"])
    )
    return "".join(parts).strip("\n")


class _Emphasis(WrappedContext):
    """Adds no space before a letter of any script; the translator knows the Latin ones only."""

    def make(self) -> str:
        content = SubContext.make(self)
        return f"*{content}*" if content[:1].isalpha() else str(super().make())


class _Table(TableContext):
    """Leaves numbers as they are written, and a ``|`` inside a cell inside of it."""

    def make(self) -> str:
        header, *rows = (
            [re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in self.make_row(row)]
            for row in (*self.headers, *self.body)
        )
        table = tabulate(rows, headers=header, tablefmt="github", disable_numparse=True)
        title = self.internal_context.make()
        return f"{title}\n\n{table}" if title else str(table)


_APART = SubContextParams(2, 2)  # an empty line before and after


def _paragraph(start: str = "") -> SubContext:
    paragraph = SubContext(_APART)
    paragraph.add(start)
    return paragraph


def _bold_line() -> SubContext:
    return WrappedContext("**", params=_APART)


def _quote(label: str = "") -> SubContext:
    """Return a quote that starts with a label; as a heading it would cut the page in pieces."""
    quote = IndentContext("> ", empty=True, params=_APART)
    if label:
        quote.add(f"**{label}**", suffix_eol=2)
    return quote


# What holds the text of a node, by the name of its class
_CONTEXTS: dict[str, Callable[[], SubContext]] = {
    **{name: partial(_quote, label) for name, label in admonitionlabels.items()},
    "admonition": _quote,  # its title is the label
    "attribution": lambda: _paragraph("— "),
    "block_quote": _quote,
    "caption": _paragraph,
    "centered": _bold_line,
    "classifier": lambda: WrappedContext(" : *", "*"),
    "emphasis": lambda: _Emphasis("*"),
    "sidebar": _quote,
    "subtitle": _bold_line,  # of a sidebar; others become titles
    "superscript": lambda: WrappedContext("<sup>", "</sup>"),
    "table": lambda: _Table(params=SubContextParams(2, 1)),
}


class _NotebookTranslator(MarkdownTranslator):
    # The text of what there is no method for is written: readers need it, whatever it stands in.
    unknown_visit = unknown_departure = MarkdownTranslator._pass
    # The text of a note on versions says what it is; links into the page lead to the site.
    visit_target = visit_versionmodified = MarkdownTranslator._pass
    visit_decoration = visit_meta = visit_pending = visit_system_message = MarkdownTranslator._skip
    visit_option_list = MarkdownTranslator.visit_field_list
    depart_option_list = MarkdownTranslator.depart_field_list
    visit_option_list_item = MarkdownTranslator.visit_field
    depart_option_list_item = depart_title = MarkdownTranslator._pop_context
    visit_citation = MarkdownTranslator.visit_footnote

    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802 (docutils names it so)
        text = node.astext().replace("\r", "")
        self.add(escape(text) if self.status.escape_text else text)

    def visit_literal(self, node: nodes.literal) -> None:
        """Write code between more backticks than it holds."""
        code = node.astext()
        fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
        pad = " " if code.startswith("`") or code.endswith("`") else ""
        self.add(f"{fence}{pad}{code}{pad}{fence}")
        raise nodes.SkipNode

    def visit_math(self, node: nodes.math) -> None:
        """Write a formula; in a table without the sign that divides cells."""
        tex = node.astext()
        if any(isinstance(context, TableContext) for context in self._ctx_queue):
            tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        self.add(f"${tex}$")
        raise nodes.SkipNode

    def visit_raw(self, node: nodes.raw) -> None:
        """Write HTML, which Markdown may hold, and nothing meant for other formats."""
        if "html" in node.get("format", "").split():
            apart = 0 if isinstance(node.parent, nodes.TextElement) else 2
            self.add(node.astext(), prefix_eol=apart, suffix_eol=apart)
        raise nodes.SkipNode

    def visit_title(self, node: nodes.title) -> None:
        if isinstance(node.parent, nodes.admonition | nodes.sidebar):
            self._push_context(_bold_line())
        else:
            super().visit_title(node)

    def depart_abbreviation(self, node: nodes.abbreviation) -> None:
        """Add what an abbreviation stands for, which a page shows on request."""
        if node.get("explanation"):
            self.add(f" ({escape(node['explanation'])})")

    def visit_productionlist(self, node: addnodes.productionlist) -> None:
        self._add_code("", "\n".join(production.astext().rstrip() for production in node))

    def visit_code_links_block(self, node: code_links_block) -> None:
        """Write a block that Sphinx-Gallery has put links into as the plain code it was."""
        self._add_code(node["lang"], plain_code(node))

    def visit_option_group(self, node: nodes.option_group) -> None:
        """Write an option's spellings before what it does."""
        spellings = ", ".join(option.astext() for option in node)
        self.add(f"`{spellings}`:", suffix_eol=1)
        raise nodes.SkipNode

    def _add_code(self, language: str, code: str) -> None:
        self.add(f"```{language}\n{code}\n```", prefix_eol=2, suffix_eol=2)
        raise nodes.SkipNode


for _name, _make in _CONTEXTS.items():
    _visit = partialmethod(lambda self, make, _node: self._push_context(make()), _make)
    setattr(_NotebookTranslator, f"visit_{_name}", _visit)
    setattr(_NotebookTranslator, f"depart_{_name}", MarkdownTranslator._pop_context)

"""Text of a page as Markdown for a notebook, by the translator of sphinx-markdown-builder.

This module adds what a notebook shows better or that translator does not know, and keeps plain
text from being taken for Markdown, HTML or a formula.
"""

import re
from collections.abc import Callable

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
    translator = NotebookTranslator(document, builder)
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
        rows = [
            [re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in self.make_row(row)]
            for row in (*self.headers, *self.body)
        ]
        table = tabulate(
            rows[1:], headers=rows[:1] and rows[0], tablefmt="github", disable_numparse=True
        )
        title = self.internal_context.make()
        return f"{title}\n\n{table}" if title else str(table)


class NotebookTranslator(MarkdownTranslator):
    """Markdown as notebooks show it best: admonitions as labelled quotes, not as headings."""

    def unknown_visit(self, node: nodes.Node) -> None:
        """Write the text of what no method is for: readers need it, whatever it stands in."""

    def unknown_departure(self, node: nodes.Node) -> None:
        """Do nothing, as ``unknown_visit`` did."""

    def depart_context(self, node: nodes.Element) -> None:
        """Close what a visit has opened with ``_push_context``."""
        self._pop_context(node)

    def leave_out(self, node: nodes.Element) -> None:
        """Write nothing."""
        raise nodes.SkipNode

    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802 (docutils names it so)
        """Write text that means itself."""
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

    def visit_labelled_quote(self, node: nodes.Element) -> None:
        """Open a quote that starts with the admonition's name, or its own title, in bold."""
        self._push_context(_quote())
        if node.tagname in admonitionlabels:
            self.add(f"**{admonitionlabels[node.tagname]}**", suffix_eol=2)

    def visit_title(self, node: nodes.title) -> None:
        """Open a heading, or the first line of a quote."""
        if isinstance(node.parent, nodes.admonition | nodes.sidebar):
            self._push_context(_bold_line())
        else:
            super().visit_title(node)

    visit_subtitle = visit_title  # of a sidebar; others become titles

    def visit_attribution(self, node: nodes.attribution) -> None:
        """Open the line that tells who said what is quoted."""
        self._push_context(_paragraph())
        self.add("— ")

    def visit_classifier(self, node: nodes.classifier) -> None:
        """Open what is said of a term beside it."""
        self.add(" : ")
        self._push_context(_Emphasis("*"))

    def depart_abbreviation(self, node: nodes.abbreviation) -> None:
        """Add what an abbreviation stands for, which a page shows on request."""
        if node.get("explanation"):
            self.add(f" ({escape(node['explanation'])})")

    def visit_productionlist(self, node: addnodes.productionlist) -> None:
        """Write a grammar as it was typed."""
        lines = "\n".join(production.astext().rstrip() for production in node)
        self._add_code("", lines)

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

    visit_option_list = MarkdownTranslator.visit_field_list
    depart_option_list = MarkdownTranslator.depart_field_list
    visit_option_list_item = MarkdownTranslator.visit_field
    visit_citation = MarkdownTranslator.visit_footnote


def _paragraph() -> SubContext:
    return SubContext(SubContextParams(2, 2))


def _bold_line() -> SubContext:
    return WrappedContext("**", params=SubContextParams(2, 2))


def _quote() -> SubContext:
    return IndentContext("> ", empty=True, params=SubContextParams(2, 2))


_CONTEXTS: dict[str, Callable[[], SubContext]] = {
    "block_quote": _quote,
    "caption": _paragraph,
    "centered": _bold_line,
    "emphasis": lambda: _Emphasis("*"),
    "superscript": lambda: WrappedContext("<sup>", "</sup>"),
    "table": lambda: _Table(params=SubContextParams(2, 1)),
}
_QUOTES = (*admonitionlabels, "admonition", "sidebar")


def _add_methods() -> None:
    def set_method(name: str, *kinds: str, method: Callable[..., None]) -> None:
        for kind in kinds:
            setattr(NotebookTranslator, f"{name}_{kind}", method)

    for kind, make in _CONTEXTS.items():
        set_method("visit", kind, method=lambda self, node, make=make: self._push_context(make()))
    set_method("visit", *_QUOTES, method=NotebookTranslator.visit_labelled_quote)
    closed = ("attribution", "classifier", "option_list_item", "subtitle", "title")
    set_method("depart", *_CONTEXTS, *_QUOTES, *closed, method=NotebookTranslator.depart_context)
    left_out = ("decoration", "meta", "pending", "system_message")
    set_method("visit", *left_out, method=NotebookTranslator.leave_out)
    # The text of a note on versions says what it is; links into the page lead to the site.
    plain = ("target", "versionmodified")
    set_method("visit", *plain, method=NotebookTranslator.unknown_visit)
    set_method("depart", *plain, method=NotebookTranslator.unknown_departure)


_add_methods()

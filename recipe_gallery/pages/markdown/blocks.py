"""Paragraphs, quotes, notes, code and formulas as Markdown."""

import re
from collections.abc import Iterable
from functools import singledispatch
from textwrap import indent

from docutils import nodes
from sphinx import addnodes
from sphinx.environment.adapters.toctree import TocTree
from sphinx.locale import admonitionlabels
from sphinx_gallery._doctree_links import code_links_block

from ..media import displayed_tex
from .escape import code_block, emphasize, escape, protect_lines
from .inline import INVISIBLE, join_inline, write_inline
from .page import Page

# What holds blocks and shows nothing of its own
_TRANSPARENT = (
    nodes.compound,
    nodes.container,
    nodes.document,
    nodes.figure,
    nodes.legend,
    addnodes.acks,
    addnodes.glossary,
    addnodes.only,
    addnodes.versionmodified,
)
_LIST = re.compile(r"[*+-](?=\s|$)|\d+(?=\.(?:\s|$))")
# What cannot stand in an environment for several equations, being one
_EQUATIONS = re.compile(
    r"\\begin\{(?:align|alignat|eqnarray|equation|flalign|gather|multline|split)\*?\}"
)
# HTML that Markdown leaves alone up to the next empty line; comments and code end before
_HTML_BLOCK = re.compile(
    r"</?(?:article|aside|blockquote|center|details|dialog|div|dl|figure|footer|form|h[1-6]|"
    r"header|hr|iframe|main|nav|ol|p|section|summary|table|ul)\b",
    re.IGNORECASE,
)


@singledispatch
def write_block(node: nodes.Node, page: Page) -> str:
    """Return a block of a page as Markdown; of what is not known, its words."""
    if isinstance(node, (nodes.Inline, nodes.Text, *INVISIBLE)):
        return write_inline(node, page)
    if isinstance(node, nodes.Admonition):
        return _note(node, page)
    page.warn_of_unknown(node)
    return join_blocks(node.children, page)


def join_blocks(children: Iterable[nodes.Node], page: Page) -> str:
    """Return blocks as Markdown, an empty line between them."""
    texts: list[str] = []
    for node in children:
        if isinstance(node, nodes.Element) and not node.get("notebook", True):
            continue  # what a notebook has in another form
        text = write_block(node, page).strip("\n")
        if text and texts and _list_kind(text) == _list_kind(texts[-1]) != "":
            texts.append("<!-- -->")  # else the two lists would be one
        if text:
            texts.append(text)
    return "\n\n".join(texts)


def _list_kind(text: str) -> str:
    """Return the sign of the points of a list, or nothing."""
    match = _LIST.match(text)
    return "1" if match and match[0].isdigit() else match[0] if match else ""


def quote(text: str) -> str:
    """Return blocks as a quote."""
    return indent(text, "> ", lambda _line: True).replace("> \n", ">\n")


def bold_line(text: str) -> str:
    """Return words as a paragraph in bold."""
    return emphasize(" ".join(text.split("\n")), "**", "strong")


def plain_code(block: nodes.Element) -> str:
    """Return the code of a block, without the numbers of lines that Sphinx-Gallery puts in."""
    parts = (
        part.astext()
        for part in block.children
        if not (isinstance(part, nodes.Element) and "linenos" in part["classes"])
    )
    return "".join(parts).strip("\n")


def write_heading(title: nodes.title, level: int, page: Page) -> str:
    """Return the title of a section."""
    words = page.section_number(title.parent) + join_inline(title, page).replace("\n", " ")
    if words.endswith("#"):  # else Markdown takes it for an end of the heading
        words = f"{words[:-1]}\\#"
    return f"{'#' * min(level, 6)} {words}"


for _kind in _TRANSPARENT:
    write_block.register(_kind, lambda node, page: join_blocks(node.children, page))
for _kind in (nodes.block_quote, nodes.sidebar, nodes.topic):
    write_block.register(_kind, lambda node, page: quote(join_blocks(node.children, page)))
for _kind in (nodes.rubric, nodes.subtitle, nodes.title, addnodes.centered):
    write_block.register(_kind, lambda node, page: bold_line(join_inline(node, page)))
write_block.register(nodes.paragraph, lambda node, page: protect_lines(join_inline(node, page)))
write_block.register(nodes.attribution, lambda node, page: f"— {join_inline(node, page)}")
write_block.register(nodes.transition, lambda _node, _page: "---")
write_block.register(nodes.doctest_block, lambda node, _page: code_block(node.astext(), "pycon"))


@write_block.register(nodes.caption)
def _caption(node: nodes.caption, page: Page) -> str:
    return protect_lines(escape(page.number(node.parent)) + join_inline(node, page))


def _note(node: nodes.Element, page: Page) -> str:
    """Return a note as a quote with its label; a heading would cut the page in pieces."""
    label = escape(str(admonitionlabels.get(node.tagname, "")))
    return quote(f"{bold_line(label)}\n\n{join_blocks(node.children, page)}".strip("\n"))


@write_block.register(nodes.footnote)
@write_block.register(nodes.citation)
def _footnote(node: nodes.Element, page: Page) -> str:
    label, *body = node.children
    text = join_blocks(body, page)
    between = " " if body and isinstance(body[0], nodes.paragraph) else "\n\n"
    return f"**[{join_inline(label, page)}]**{between}{text}"


@write_block.register(nodes.line_block)
def _lines(node: nodes.line_block, page: Page) -> str:
    lines = [*_each_line(node, page, 0)]
    while lines and not lines[-1]:
        lines.pop()  # the line break before it would be shown as a backslash
    return protect_lines("\\\n".join(lines))


def _each_line(block: nodes.line_block, page: Page, depth: int) -> Iterable[str]:
    for child in block.children:
        if isinstance(child, nodes.line_block):
            yield from _each_line(child, page, depth + 1)
        else:
            yield "&emsp;" * depth + join_inline(child, page).replace("\n", " ")


@write_block.register(nodes.literal_block)
@write_block.register(code_links_block)  # Sphinx-Gallery's, of code that it has put links into
def _code(node: nodes.Element, _page: Page) -> str:
    language = node.get("language") or node.get("lang", "")
    return code_block(plain_code(node), "" if language in ("default", "none") else language)


@write_block.register(addnodes.productionlist)
def _grammar(node: addnodes.productionlist, _page: Page) -> str:
    return code_block("\n".join(each.astext().rstrip() for each in node), "")


@write_block.register(addnodes.desc)
def _description(node: addnodes.desc, page: Page) -> str:
    *signatures, content = node.children
    names = [code_block(each.astext(), "") for each in signatures]
    return "\n\n".join([*names, quote(join_blocks(content.children, page))]).rstrip()


@write_block.register(nodes.math_block)
def _formula(node: nodes.math_block, _page: Page) -> str:
    tex = displayed_tex(node)
    if r"\\" in tex and not _EQUATIONS.match(tex):  # as Sphinx does for pages
        tex = f"\\begin{{split}}\n{tex}\n\\end{{split}}"
    if node.get("number"):
        tex += f"\n\\tag{{{node['number']}}}"
    return f"$$\n{tex}\n$$"


@write_block.register(addnodes.toctree)
def _contents(node: addnodes.toctree, page: Page) -> str:
    resolved = TocTree(page.builder.env).resolve(page.docname, page.builder, node)
    return join_blocks(resolved.children, page) if resolved else ""  # it may be hidden


@write_block.register(nodes.raw)
def _raw(node: nodes.raw, page: Page) -> str:
    html = write_inline(node, page).strip()
    if not html:
        return ""
    if not _HTML_BLOCK.match(html):
        html = f"<div>\n{html}\n</div>"
    html = re.sub(r"\$(?=[^<>]*(?:<|$))", "<span>&#36;</span>", html)  # no formula with another one
    return re.sub(r"\n(?:[ \t]*\n)+", "\n", html)  # after an empty line would be Markdown

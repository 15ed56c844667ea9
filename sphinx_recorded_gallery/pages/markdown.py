"""Text of a page as Markdown, for the notebook and the script.

Where Markdown has no form for something, such as a superscript, HTML is written that Jupyter shows.
Of what is not known here the words are kept, and it is told.

``write_block`` is asked for each node. An extension that brings nodes of its own says with
``write_block.register(its_node, function)`` what a notebook has of them.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch
from itertools import zip_longest
from textwrap import indent
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx import addnodes
from sphinx.builders import Builder
from sphinx.locale import admonitionlabels
from sphinx.util import logging
from sphinx.util.nodes import traverse_parent
from sphinx_gallery._doctree_links import code_links_block
from tabulate import tabulate

from .formulas_and_images import displayed_tex

logger = logging.getLogger(__name__)

_EMPHASIS = (nodes.emphasis, nodes.title_reference, addnodes.manpage)
# What cannot stand in an environment for several equations, being one
_EQUATIONS = re.compile(
    r"\\begin\{(?:align|alignat|eqnarray|equation|flalign|gather|multline|split)\*?\}"
)

# Wherever they stand: what starts code, emphasis, HTML, a character reference, or ends the text of
# a link; and addresses, of which Jupyter makes links though no markup says so. An underscore inside
# a word means nothing, and so does a tilde that can end nothing.
_SIGNS = re.compile(
    r"[\\`*]|(?<![^\W_])_|_(?![^\W_])|<(?! )|&(?=#?\w+;)|\](?=[(:\[])|(?<!\s)~"
    r"|:(?=//)|(?<=[wW]{3})\.|(?<=[\w.+-])@(?=\w)"
)
# At the start of a line: a list, a task, a heading, a quote, a line under a heading or a table;
# and what begins a cell in the comments of a script
_LINE_STARTS = re.compile(
    r"^(?:(?=[-+](?:\s|$)|#{1,6}(?:\s|$)|>|\[[ xX]\]|[-=|:][-=|: ]*$|%%)"
    r"|(\d{1,9}(?=[.)](?:\s|$))|In *(?=\[)))",
    re.MULTILINE,
)
# MathJax looks for formulas in what a paragraph shows, after Markdown has taken backslashes away.
# It looks into each element by itself.
_APART = r"<span>\{}</span>"
_MATH_START = re.compile(r"\\(?:[()\[\]]|begin|end)")


@dataclass(frozen=True)
class Page:
    """The page that is being written as Markdown."""

    builder: Builder
    docname: str

    def address(self, node: nodes.Element) -> str:
        """Return where a link or a picture leads, from anywhere; empty if that is not known."""
        site: str = self.builder.config.html_baseurl
        site = f"{site.rstrip('/')}/" if site else ""
        here = urljoin(site, self.builder.get_target_uri(self.docname))
        images = self.builder.env.images
        if "filename" in node:  # a file to download
            found = urljoin(site, f"_downloads/{node['filename']}")
        elif node.get("uri") in images:
            found = urljoin(site, f"_images/{images[node['uri']][1]}")
        elif "refid" in node:
            found = f"{here}#{node['refid']}"
        else:
            found = node.get("refuri") or node.get("uri") or ""
        try:
            found = urljoin(here, found)
            return found if urlsplit(found).scheme else ""
        except ValueError:  # no address, such as https://[a
            return ""

    def warn_of_unknown(self, node: nodes.Node) -> None:
        """Tell that no more than the words of a node are in the notebook."""
        # The node of a directive may know no line.
        place = next((each for each in node.findall(nodes.Element) if each.line), node)
        logger.warning(
            "%s: notebook and script hold its words alone; say it with other markup, or accept it: "
            'suppress_warnings = ["recorded_gallery.notebook"]',
            type(node).__name__,
            location=place,
            type="recorded_gallery",
            subtype="notebook",
        )


@singledispatch
def write_block(node: nodes.Node, page: Page) -> str:
    """Return a part of a page as Markdown; of what is not known, its words."""
    page.warn_of_unknown(node)
    is_text = isinstance(node, nodes.Inline | nodes.TextElement)
    return join_inline(node, page) if is_text else join_blocks(node.children, page)


# Words of a paragraph


def join_inline(parent: nodes.Element, page: Page) -> str:
    """Return the words of a node as Markdown."""
    text = ""
    for node, following in zip_longest(parent.children, parent.children[1:]):
        if isinstance(node, (nodes.strong, *_EMPHASIS)):
            sign, tag = ("**", "strong") if isinstance(node, nodes.strong) else ("*", "em")
            after = following.astext()[:1] if following else ""
            after = "*" if isinstance(following, (nodes.strong, *_EMPHASIS)) else after
            piece = emphasize(join_inline(node, page), sign, tag, text[-1:], after)
        else:
            piece = write_block(node, page)
        if text.endswith("!") and piece.startswith("["):
            text = f"{text[:-1]}\\!"  # else the link would be a picture
        elif text.endswith("`") and piece.startswith("`"):
            text += "<span></span>"  # else the two pieces of code would be one
        text += piece
    return text


# What a page marks by its looks alone: its words are all there is.
for _kind in (nodes.abbreviation, nodes.inline, nodes.generated, nodes.label, nodes.target):
    write_block.register(_kind, join_inline)
for _kind in (nodes.problematic, addnodes.pending_xref, addnodes.pending_xref_condition):
    write_block.register(_kind, join_inline)
for _kind in (nodes.footnote_reference, nodes.citation_reference):
    write_block.register(_kind, lambda node, page: f"<sup>[{join_inline(node, page)}]</sup>")
write_block.register(nodes.subscript, lambda node, page: f"<sub>{join_inline(node, page)}</sub>")
write_block.register(nodes.superscript, lambda node, page: f"<sup>{join_inline(node, page)}</sup>")


@write_block.register
def _literal(node: nodes.literal, _page: Page) -> str:
    """Return code between more backticks than it holds."""
    code = " ".join(node.astext().splitlines())
    fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{fence}{pad}{code}{pad}{fence}"


@write_block.register(nodes.Text)
def _text(node: nodes.Text, _page: Page) -> str:
    block = node.parent
    while isinstance(block.parent, nodes.TextElement):
        block = block.parent
    dollars = block.astext().count("$") + len(list(block.findall(nodes.math)))
    in_link = any(traverse_parent(node.parent, (nodes.reference, addnodes.download_reference)))
    return escape(node.astext().replace("\r", ""), apart=dollars > 1, in_link=in_link)


@write_block.register(nodes.math)
def _math(node: nodes.math, _page: Page) -> str:
    tex = " ".join(node.astext().split())
    if any(traverse_parent(node.parent, nodes.entry)):  # a sign that divides the cells of a table
        tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    return f"${formula(tex)}$"


@write_block.register(nodes.reference | addnodes.download_reference)
def _link(node: nodes.Element, page: Page) -> str:
    text, address = join_inline(node, page), page.address(node)
    if not address or not text:
        return text  # of a site whose address is not known
    return f"<{address}>" if node.astext() == address else link(f"[{text}]", address)


@write_block.register(nodes.image)
def _image(node: nodes.image, page: Page) -> str:
    address = page.address(node)
    alt = " ".join(node.get("alt", "").split())
    return link(f"![{escape(alt, in_link=True)}]", address) if address else escape(alt)


# Paragraphs, quotes, notes, code and formulas


def join_blocks(children: Iterable[nodes.Node], page: Page) -> str:
    """Return blocks as Markdown, an empty line between them."""
    texts = [
        write_block(node, page).strip("\n")
        for node in children
        # else a notebook has it in another form
        if not isinstance(node, nodes.Element) or node.get("notebook", True)
    ]
    return "\n\n".join(filter(None, texts))


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
    words = join_inline(title, page).replace("\n", " ")
    if words.endswith("#"):  # else Markdown takes it for an end of the heading
        words = f"{words[:-1]}\\#"
    return f"{'#' * min(level, 6)} {words}"


# What holds blocks and shows nothing of its own
for _kind in (nodes.compound, nodes.container, nodes.document, nodes.figure, nodes.legend):
    write_block.register(_kind, lambda node, page: join_blocks(node.children, page))
for _kind in (addnodes.glossary, addnodes.only, addnodes.versionmodified):
    write_block.register(_kind, lambda node, page: join_blocks(node.children, page))
# What a page does not show, or shows elsewhere
_HIDDEN = nodes.Invisible | nodes.decoration | nodes.meta | nodes.system_message
_HIDDEN |= addnodes.highlightlang | addnodes.tabular_col_spec
write_block.register(_HIDDEN, lambda _node, _page: "")
for _kind in (nodes.block_quote, nodes.sidebar, nodes.topic):
    write_block.register(_kind, lambda node, page: quote(join_blocks(node.children, page)))
for _kind in (nodes.rubric, nodes.subtitle, nodes.title, nodes.term, addnodes.centered):
    write_block.register(_kind, lambda node, page: bold_line(join_inline(node, page)))
for _kind in (nodes.paragraph, nodes.caption):
    write_block.register(_kind, lambda node, page: protect_lines(join_inline(node, page)))
write_block.register(nodes.classifier, lambda node, page: f": *{join_inline(node, page)}*")
write_block.register(nodes.attribution, lambda node, page: f"— {join_inline(node, page)}")
write_block.register(nodes.transition, lambda _node, _page: "---")


@write_block.register(nodes.Admonition)
def _note(node: nodes.Element, page: Page) -> str:
    """Return a quote with its label; a heading would cut the page in pieces."""
    label = bold_line(escape(str(admonitionlabels.get(node.tagname, ""))))
    return quote(f"{label}\n\n{join_blocks(node.children, page)}".strip("\n"))


@write_block.register(nodes.footnote | nodes.citation)
def _footnote(node: nodes.Element, page: Page) -> str:
    label, *body = node.children
    return f"**[{join_inline(label, page)}]** {join_blocks(body, page)}"


# the last is of Sphinx-Gallery, with links
@write_block.register(nodes.literal_block | nodes.doctest_block | code_links_block)
def _code(node: nodes.Element, _page: Page) -> str:
    """Return code on lines of its own, between more backticks than it holds."""
    default = "pycon" if isinstance(node, nodes.doctest_block) else "none"
    language = node.get("language") or node.get("lang", default)
    code = plain_code(node)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`{3,}", code)), default=0))
    return f"{fence}{'' if language in ('default', 'none') else language}\n{code}\n{fence}"


@write_block.register(nodes.math_block)
def _formula(node: nodes.math_block, _page: Page) -> str:
    tex = displayed_tex(node)
    if r"\\" in tex and not _EQUATIONS.match(tex):  # as Sphinx does for pages
        tex = f"\\begin{{split}}\n{tex}\n\\end{{split}}"
    if node.get("number"):
        tex += f"\n\\tag{{{node['number']}}}"
    return f"$$\n{formula(tex)}\n$$"


@write_block.register(nodes.raw)
def _raw(node: nodes.raw, _page: Page) -> str:
    """Return HTML as its author wrote it, who is trusted."""
    html = node.astext() if "html" in node.get("format", "").split() else ""
    if isinstance(node.parent, nodes.TextElement):
        return html
    # an element that Markdown leaves alone, up to the next empty line
    html = f"<div>\n{html.strip()}\n</div>" if html.strip() else ""
    html = re.sub(r"\$(?=[^<>]*(?:<|$))", "<span>&#36;</span>", html)  # no formula with another one
    return re.sub(r"\n(?:[ \t]*\n)+", "\n", html)


# Lists


def _join_points(points: Iterable[tuple[str, str]]) -> str:
    """Return a list of markers and texts; one of short points has no empty lines between them."""
    items = [
        f"{sign} {indent(text, ' ' * (len(sign) + 1)).lstrip()}".rstrip() for sign, text in points
    ]
    return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items)


@write_block.register(nodes.bullet_list | nodes.enumerated_list)
def _list(node: nodes.Element, page: Page) -> str:
    if node.get("enumtype", "arabic") != "arabic":  # Markdown counts in numbers alone
        page.warn_of_unknown(node)
    sign = node.get("bullet", "*")
    sign = sign if sign in "*+-" else "*"  # docutils takes others, too
    points = []
    for number, item in enumerate(node, node.get("start", 1)):
        marker = sign if isinstance(node, nodes.bullet_list) else f"{number}."
        points.append((marker, join_blocks(item.children, page)))
    return _join_points(points)


@write_block.register(nodes.definition_list)
def _definitions(node: nodes.definition_list, page: Page) -> str:
    points = []
    for item in node:
        *heads, body = item.children
        head = "\\\n".join(write_block(each, page) for each in heads)
        points.append(("*", f"{head}\n\n{join_blocks(body.children, page)}".rstrip()))
    return _join_points(points)


@write_block.register(nodes.table)
def _table(table: nodes.table, page: Page) -> str:
    """Return a table of lines; Markdown has none whose cells cover others or hold blocks."""
    cells = [*table.findall(nodes.entry)]
    hold = {tuple(map(type, cell)) for cell in cells} - {(), (nodes.paragraph,)}
    if hold or any(cell.get("morecols") or cell.get("morerows") for cell in cells):
        page.warn_of_unknown(table)
    titles = [protect_lines(join_inline(each, page)) for each in table.findall(nodes.title)]
    texts = [[join_blocks(cell.children, page) for cell in row] for row in table.findall(nodes.row)]
    rows = [[text.replace("\n", " ").replace("|", r"\|") for text in row] for row in texts]
    # Markdown has no table without a header, but an empty one.
    header = rows.pop(0) if any(table.findall(nodes.thead)) else [""] * len(rows[0])
    grid = tabulate(rows, headers=header, tablefmt="github", disable_numparse=True)
    return "\n\n".join([*titles, str(grid)])


# What keeps plain text from being taken for Markdown, HTML or a formula


def escape(text: str, *, apart: bool = False, in_link: bool = False) -> str:
    """Return text in which nothing means anything inside a paragraph.

    ``apart`` keeps a dollar sign from making a formula with another one of its paragraph;
    ``in_link`` keeps brackets from ending the text of a link.
    """

    def escape_one(match: re.Match[str]) -> str:
        starts_math = _MATH_START.match(text, match.start())
        return _APART.format("\\") if starts_math else f"\\{match[0]}"

    escaped = _SIGNS.sub(escape_one, text)
    if in_link:
        escaped = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", escaped)
    return escaped.replace("$", _APART.format("$") if apart else r"\$")


def formula(tex: str) -> str:
    """Return a formula in which no link, picture or HTML begins where formulas are not known.

    A space means nothing in TeX, but for words inside of it.
    """
    return re.sub(r"\](?=[(\[:])|<(?=\S)", r"\g<0> ", re.sub(r"(?<!\\)\$", r"\\$", tex))


def protect_lines(text: str) -> str:
    """Return the Markdown of a paragraph in which no line starts something else."""
    return _LINE_STARTS.sub(r"\1\\", text)


def emphasize(text: str, sign: str, tag: str, before: str = "", after: str = "") -> str:
    """Return Markdown between signs, or in an HTML element where signs would not be understood.

    ``before`` and ``after`` are the characters beside it. Between a letter and punctuation,
    Markdown takes an asterisk for itself: a matter of languages without spaces around words.
    """
    if not text:
        return ""
    starts = not _is_sign(text[0]) or not before or _is_sign(before) or before.isspace()
    ends = not _is_sign(text[-1]) or not after or _is_sign(after) or after.isspace()
    if starts and ends and "*" not in (before, after) and not (text[0] + text[-1]).isspace():
        return f"{sign}{text}{sign}"
    return f"<{tag}>{text}</{tag}>"


def quote(text: str) -> str:
    """Return blocks as a quote."""
    return indent(text, "> ", lambda _line: True).replace("> \n", ">\n")


def link(text: str, address: str) -> str:
    """Return a link, or a picture if ``text`` starts with ``!``."""
    address = re.sub(r"[\s()<>$\\|]", lambda match: f"%{ord(match[0]):02X}", address)
    return f"{text}({address})"


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"

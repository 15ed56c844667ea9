"""Text of a page as Markdown, for the notebook and the script.

What Markdown cannot express, such as a superscript, is written as HTML that Jupyter shows. Of an
unknown node only the words are written, with a warning.

``write_block`` writes each node. An extension registers a function for nodes of its own with
``write_block.register(its_node, function)``.
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
# Environments of several equations, which cannot be nested in another one
_EQUATIONS = re.compile(
    r"\\begin\{(?:align|alignat|eqnarray|equation|flalign|gather|multline|split)\*?\}"
)

# Characters anywhere that start code, emphasis, HTML or a character reference, or end the text of a
# link; and addresses, which Jupyter turns into links without markup. An underscore inside a word
# and a tilde after a blank have no meaning.
_SIGNS = re.compile(
    r"[\\`*]|(?<![^\W_])_|_(?![^\W_])|<(?! )|&(?=#?\w+;)|\](?=[(:\[])|(?<!\s)~"
    r"|:(?=//)|(?<=[wW]{3})\.|(?<=[\w.+-])@(?=\w)"
)
# Starts of lines: a list, a task, a heading, a quote, a line under a heading or a table; and the
# start of a cell in the comments of a script
_LINE_STARTS = re.compile(
    r"^(?:(?=[-+](?:\s|$)|#{1,6}(?:\s|$)|>|\[[ xX]\]|[-=|:][-=|: ]*$|%%)"
    r"|(\d{1,9}(?=[.)](?:\s|$))|In *(?=\[)))",
    re.MULTILINE,
)
_MATH_START = re.compile(r"\\(?:[()\[\]]|begin|end)")
_DOLLAR_OUTSIDE_TAG = re.compile(r"\$(?=[^<>]*(?:<|$))")  # where no > comes before the next <


@dataclass(frozen=True)
class MarkdownPage:
    """The page that is being written as Markdown, for its notebook and its script."""

    builder: Builder
    docname: str

    def address(self, node: nodes.Element) -> str:
        """Return the absolute address of a link or a picture; empty if it is unknown."""
        site: str = self.builder.config.html_baseurl
        if site:
            site = f"{site.rstrip('/')}/"
        page_address = urljoin(site, self.builder.get_target_uri(self.docname))
        images = self.builder.env.images
        if "filename" in node:  # a file to download
            target = urljoin(site, f"_downloads/{node['filename']}")
        elif node.get("uri") in images:
            target = urljoin(site, f"_images/{images[node['uri']][1]}")
        elif "refid" in node:
            target = f"{page_address}#{node['refid']}"
        else:
            target = node.get("refuri") or node.get("uri") or ""
        try:
            address = urljoin(page_address, target)
            has_scheme = bool(urlsplit(address).scheme)
        except ValueError:  # not an address, such as https://[a
            return ""
        if not has_scheme:
            return ""
        return address

    def warn_of_loss(self, node: nodes.Node, kept: str = "have only its words") -> None:
        """Warn that Markdown lacks the form of a node; ``kept`` says what notebook and script do.

        The node is unknown, or has a form such as cells that span others.
        """
        # The node of a directive may know no line.
        elements_with_line = (element for element in node.findall(nodes.Element) if element.line)
        logger.warning(
            "%s: notebook and script %s; use other markup, or accept this: "
            'suppress_warnings = ["recorded_gallery.notebook"]',
            type(node).__name__,
            kept,
            location=next(elements_with_line, node),
            type="recorded_gallery",
            subtype="notebook",
        )


@singledispatch
def write_block(node: nodes.Node, page: MarkdownPage) -> str:
    """Return a part of a page as Markdown; only its words, with a warning, if its kind is unknown.

    A site writes nodes of its own by a function with the same arguments that it registers:
    ``write_block.register(my_node, function)``.
    """
    page.warn_of_loss(node)
    if isinstance(node, nodes.Inline | nodes.TextElement):
        return join_inline(node, page)
    return join_blocks(node.children, page)


# Words of a paragraph


def join_inline(parent: nodes.Element, page: MarkdownPage) -> str:
    """Return the words of a node as Markdown."""
    text = ""
    for node, following in zip_longest(parent.children, parent.children[1:]):
        before, after = text[-1:], _first_character(following)
        if isinstance(node, nodes.strong):
            piece = emphasize(join_inline(node, page), "**", "strong", before, after)
        elif isinstance(node, _EMPHASIS):
            piece = emphasize(join_inline(node, page), "*", "em", before, after)
        else:
            piece = write_block(node, page)
        if text.endswith("!") and piece.startswith("["):
            text = f"{text[:-1]}\\!"  # else the link would be a picture
        elif text.endswith("`") and piece.startswith("`"):
            text += "<span></span>"  # else the two pieces of code would be one
        text += piece
    return text


def _first_character(node: nodes.Node | None) -> str:
    """Return the character with which the Markdown of a node begins; empty without a node."""
    if node is None:
        return ""
    if isinstance(node, (nodes.strong, *_EMPHASIS)):
        return "*"
    return node.astext()[:1]


# Pages only style these, so Markdown has just their words.
for _kind in (nodes.abbreviation, nodes.inline, nodes.generated, nodes.label, nodes.target):
    write_block.register(_kind, join_inline)
for _kind in (nodes.problematic, addnodes.pending_xref, addnodes.pending_xref_condition):
    write_block.register(_kind, join_inline)
for _kind in (nodes.footnote_reference, nodes.citation_reference):
    write_block.register(_kind, lambda node, page: f"<sup>[{join_inline(node, page)}]</sup>")
write_block.register(nodes.subscript, lambda node, page: f"<sub>{join_inline(node, page)}</sub>")
write_block.register(nodes.superscript, lambda node, page: f"<sup>{join_inline(node, page)}</sup>")


@write_block.register
def _literal(node: nodes.literal, _page: MarkdownPage) -> str:
    """Return code between more backticks than it holds."""
    code = " ".join(node.astext().splitlines())
    fence = _make_fence(code, least=1)
    if code.startswith("`") or code.endswith("`"):  # which would be part of the fence
        code = f" {code} "
    return f"{fence}{code}{fence}"


def _make_fence(code: str, *, least: int) -> str:
    """Return more backticks than code holds side by side, but at ``least`` so many."""
    longest = 0
    for backticks in re.findall("`+", code):
        longest = max(longest, len(backticks))
    return "`" * max(longest + 1, least)


@write_block.register(nodes.Text)
def _text(node: nodes.Text, _page: MarkdownPage) -> str:
    """Return plain text, with dollar signs kept from making a formula in their paragraph."""
    block = node.parent
    while isinstance(block.parent, nodes.TextElement):
        block = block.parent
    dollars = block.astext().count("$") + len(list(block.findall(nodes.math)))
    in_link = any(traverse_parent(node.parent, (nodes.reference, addnodes.download_reference)))
    return escape(node.astext().replace("\r", ""), apart=dollars > 1, in_link=in_link)


@write_block.register(nodes.math)
def _math(node: nodes.math, _page: MarkdownPage) -> str:
    tex = " ".join(node.astext().split())
    if any(traverse_parent(node.parent, nodes.entry)):  # the sign divides cells in Markdown
        tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    return f"${formula(tex)}$"


@write_block.register(nodes.reference | addnodes.download_reference)
def _link(node: nodes.Element, page: MarkdownPage) -> str:
    text = join_inline(node, page)
    address = page.address(node)
    if not address or not text:
        return text  # the site's address may not be known
    if node.astext() == address:
        return f"<{address}>"
    return link(f"[{text}]", address)


@write_block.register(nodes.image)
def _image(node: nodes.image, page: MarkdownPage) -> str:
    address = page.address(node)
    alt = " ".join(node.get("alt", "").split())
    if not address:
        return escape(alt)
    return link(f"![{escape(alt, in_link=True)}]", address)


# Paragraphs, quotes, notes, code and formulas


def join_blocks(children: Iterable[nodes.Node], page: MarkdownPage) -> str:
    """Return blocks as Markdown, an empty line between them."""
    texts = []
    for node in children:
        if isinstance(node, nodes.Element) and not node.get("notebook", True):
            continue  # notebooks have it in another form
        text = write_block(node, page).strip("\n")
        if text:
            texts.append(text)
    return "\n\n".join(texts)


def bold_line(text: str) -> str:
    """Return words as a paragraph in bold."""
    return emphasize(" ".join(text.split("\n")), "**", "strong")


def plain_code(block: nodes.Element) -> str:
    """Return the code of a block without the line numbers that Sphinx-Gallery adds."""
    texts = []
    for part in block.children:
        is_number = isinstance(part, nodes.Element) and "linenos" in part["classes"]
        if not is_number:
            texts.append(part.astext())
    return "".join(texts).strip("\n")


def write_heading(title: nodes.title, level: int, page: MarkdownPage) -> str:
    """Return the title of a section."""
    words = join_inline(title, page).replace("\n", " ")
    if words.endswith("#"):  # which Markdown would take for the end of the heading
        words = f"{words[:-1]}\\#"
    return f"{'#' * min(level, 6)} {words}"


# Nodes that only hold other blocks
for _kind in (nodes.compound, nodes.container, nodes.document, nodes.figure, nodes.legend):
    write_block.register(_kind, lambda node, page: join_blocks(node.children, page))
for _kind in (addnodes.glossary, addnodes.only, addnodes.versionmodified):
    write_block.register(_kind, lambda node, page: join_blocks(node.children, page))
# Nodes that a page does not show, or shows elsewhere
for _kind in (nodes.Invisible, nodes.decoration, nodes.meta, nodes.system_message):
    write_block.register(_kind, lambda _node, _page: "")
for _kind in (addnodes.highlightlang, addnodes.tabular_col_spec):
    write_block.register(_kind, lambda _node, _page: "")
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
def _note(node: nodes.Element, page: MarkdownPage) -> str:
    """Return a quote with its label; a heading would divide the page."""
    label = bold_line(escape(str(admonitionlabels.get(node.tagname, ""))))
    return quote(f"{label}\n\n{join_blocks(node.children, page)}".strip("\n"))


@write_block.register(nodes.footnote | nodes.citation)
def _footnote(node: nodes.Element, page: MarkdownPage) -> str:
    label, *body = node.children
    return f"**[{join_inline(label, page)}]** {join_blocks(body, page)}"


# Sphinx-Gallery uses code_links_block for code with links.
@write_block.register(nodes.literal_block | nodes.doctest_block | code_links_block)
def _code(node: nodes.Element, _page: MarkdownPage) -> str:
    """Return code on lines of its own, between more backticks than it holds."""
    default = "pycon" if isinstance(node, nodes.doctest_block) else "none"
    language = node.get("language") or node.get("lang", default)
    if language in ("default", "none"):
        language = ""
    code = plain_code(node)
    fence = _make_fence(code, least=3)
    return f"{fence}{language}\n{code}\n{fence}"


@write_block.register(nodes.math_block)
def _formula(node: nodes.math_block, _page: MarkdownPage) -> str:
    tex = displayed_tex(node)
    if r"\\" in tex and not _EQUATIONS.match(tex):  # as Sphinx does for pages
        tex = f"\\begin{{split}}\n{tex}\n\\end{{split}}"
    if node.get("number"):
        tex += f"\n\\tag{{{node['number']}}}"
    return f"$$\n{formula(tex)}\n$$"


@write_block.register(nodes.raw)
def _raw(node: nodes.raw, _page: MarkdownPage) -> str:
    """Return HTML unchanged, since its author is trusted; nothing of other formats."""
    if "html" not in node.get("format", "").split():
        return ""
    html = node.astext()
    if isinstance(node.parent, nodes.TextElement):
        return html
    if not html.strip():
        return ""
    # Markdown leaves an element unchanged up to the next empty line.
    html = f"<div>\n{html.strip()}\n</div>"
    html = _DOLLAR_OUTSIDE_TAG.sub("<span>&#36;</span>", html)  # no pair makes a formula
    return re.sub(r"\n(?:[ \t]*\n)+", "\n", html)


# Lists


def _join_points(points: Iterable[tuple[str, str]]) -> str:
    """Return a list of markers and texts; short points have no empty lines between them."""
    items = []
    for marker, text in points:
        margin = " " * (len(marker) + 1)
        items.append(f"{marker} {indent(text, margin).lstrip()}".rstrip())
    has_empty_lines = any("\n\n" in item for item in items)
    if has_empty_lines:
        return "\n\n".join(items)
    return "\n".join(items)


@write_block.register(nodes.bullet_list | nodes.enumerated_list)
def _list(node: nodes.Element, page: MarkdownPage) -> str:
    if node.get("enumtype", "arabic") != "arabic":  # Markdown only has numbers
        page.warn_of_loss(node, kept="number its points 1, 2, 3")
    bullet = node.get("bullet", "*")
    if bullet not in "*+-":  # docutils also allows others
        bullet = "*"
    points = []
    for number, item in enumerate(node, node.get("start", 1)):
        marker = bullet
        if isinstance(node, nodes.enumerated_list):
            marker = f"{number}."
        points.append((marker, join_blocks(item.children, page)))
    return _join_points(points)


@write_block.register(nodes.definition_list)
def _definitions(node: nodes.definition_list, page: MarkdownPage) -> str:
    points = []
    for item in node:
        *terms, body = item.children
        head = "\\\n".join(write_block(term, page) for term in terms)
        points.append(("*", f"{head}\n\n{join_blocks(body.children, page)}".rstrip()))
    return _join_points(points)


@write_block.register(nodes.table)
def _table(table: nodes.table, page: MarkdownPage) -> str:
    """Return a table in which each row is one line.

    Markdown has no cells that span several columns or rows, or that hold more than a paragraph.
    """
    if not all(_fits_in_markdown(cell) for cell in table.findall(nodes.entry)):
        page.warn_of_loss(table)
    titles = [protect_lines(join_inline(title, page)) for title in table.findall(nodes.title)]
    rows = []
    for row in table.findall(nodes.row):
        texts = [join_blocks(cell.children, page) for cell in row]
        rows.append([text.replace("\n", " ").replace("|", r"\|") for text in texts])
    # A Markdown table always has a header, which may be empty.
    header = [""] * len(rows[0])
    if any(table.findall(nodes.thead)):
        header = rows.pop(0)
    grid = tabulate(rows, headers=header, tablefmt="github", disable_numparse=True)
    return "\n\n".join([*titles, str(grid)])


def _fits_in_markdown(cell: nodes.Element) -> bool:
    """Return whether a cell of a table is a single one and holds at most one paragraph."""
    if cell.get("morecols") or cell.get("morerows"):
        return False
    if not cell.children:
        return True
    return len(cell.children) == 1 and type(cell[0]) is nodes.paragraph


# Escaping: keep plain text from becoming Markdown, HTML or a formula


def escape(text: str, *, apart: bool = False, in_link: bool = False) -> str:
    """Return text in which no character is markup inside a paragraph.

    ``apart`` keeps dollar signs of one paragraph from making a formula; ``in_link`` keeps brackets
    from ending the text of a link.
    """

    def escape_one(match: re.Match[str]) -> str:
        if _MATH_START.match(text, match.start()):
            return _set_apart("\\")
        return f"\\{match[0]}"

    escaped = _SIGNS.sub(escape_one, text)
    if in_link:
        escaped = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", escaped)
    if apart:
        return escaped.replace("$", _set_apart("$"))
    return escaped.replace("$", r"\$")


def _set_apart(sign: str) -> str:
    """Return a sign that cannot begin a formula, in an element of its own.

    MathJax looks for formulas in the visible text of a paragraph, in which Markdown has removed
    backslashes already. It looks into each element separately.
    """
    return f"<span>\\{sign}</span>"


def formula(tex: str) -> str:
    """Return a formula that cannot be read as a link, a picture or HTML.

    The additional spaces have no meaning in TeX, except in words of a formula.
    """
    escaped = re.sub(r"(?<!\\)\$", r"\\$", tex)
    return re.sub(r"\](?=[(\[:])|<(?=\S)", r"\g<0> ", escaped)


def protect_lines(text: str) -> str:
    """Return the Markdown of a paragraph in which no line starts something else."""
    return _LINE_STARTS.sub(_add_backslash, text)


def _add_backslash(start: re.Match[str]) -> str:
    """Return the start of a line with a backslash behind its number or word, if it has one."""
    number_or_word = start[1] or ""
    return f"{number_or_word}\\"


def emphasize(text: str, sign: str, tag: str, before: str = "", after: str = "") -> str:
    """Return Markdown between signs, or in an HTML element where signs would not work.

    ``before`` and ``after`` are the adjacent characters. Between a letter and punctuation, Markdown
    shows an asterisk as it is, which matters in languages without spaces around words.
    """
    if not text:
        return ""
    touches_asterisk = "*" in (before, after)
    is_padded = text[0].isspace() or text[-1].isspace()  # beside which signs have no meaning
    if touches_asterisk or is_padded:
        return f"<{tag}>{text}</{tag}>"
    if _is_understood(text[0], before) and _is_understood(text[-1], after):
        return f"{sign}{text}{sign}"
    return f"<{tag}>{text}</{tag}>"


_CODE_OR_TAG = re.compile(
    r"(?P<code>(`+).*?(?<!`)\2(?!`))|(?<!\\)</?(?P<tag>strong|em)>", re.DOTALL
)


def show_emphasis_by_signs(text: str) -> str:
    """Return Markdown in which the elements that ``emphasize`` wrote are signs again.

    In a script, Markdown is a comment: people read it as it is, and tags are only in their way.
    """

    def replace(match: re.Match[str]) -> str:
        if match["code"]:
            return match["code"]
        if match["tag"] == "strong":
            return "**"
        return "*"

    return _CODE_OR_TAG.sub(replace, text)


def _is_understood(inside: str, outside: str) -> bool:
    """Return whether Markdown takes a sign between two characters as emphasis.

    ``outside`` is empty at the beginning or end of a text.
    """
    if not _is_sign(inside) or not outside:
        return True
    return _is_sign(outside) or outside.isspace()


def quote(text: str) -> str:
    """Return blocks as a quote."""
    return indent(text, "> ", lambda _line: True).replace("> \n", ">\n")


def link(text: str, address: str) -> str:
    """Return a link, or a picture if ``text`` starts with ``!``."""
    address = re.sub(r"[\s()<>$\\|]", lambda match: f"%{ord(match[0]):02X}", address)
    return f"{text}({address})"


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"

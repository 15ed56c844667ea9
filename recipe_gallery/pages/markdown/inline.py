"""Words of a paragraph as Markdown."""

from functools import singledispatch
from itertools import zip_longest

from docutils import nodes
from sphinx import addnodes

from .escape import attributes, code_span, emphasize, escape, link
from .page import ACCEPT, Page, is_inside
from .raw_html import find_unsafe

# What a page marks by its looks alone: its words are all there is.
_TRANSPARENT = (
    nodes.inline,
    nodes.generated,
    nodes.label,
    nodes.problematic,
    nodes.target,
    addnodes.pending_xref,
    addnodes.pending_xref_condition,
)
# What a page does not show, or shows elsewhere
INVISIBLE = (
    nodes.comment,
    nodes.decoration,
    nodes.meta,
    nodes.pending,
    nodes.substitution_definition,
    nodes.system_message,
    addnodes.highlightlang,
    addnodes.index,
    addnodes.tabular_col_spec,
)
_EMPHASIS = (nodes.emphasis, nodes.title_reference, addnodes.manpage)


@singledispatch
def write_inline(node: nodes.Node, page: Page) -> str:
    """Return a part of a paragraph as Markdown; of what is not known, its words."""
    page.warn_of_unknown(node)
    return join_inline(node, page)


def join_inline(parent: nodes.Element, page: Page) -> str:
    """Return the words of a node as Markdown."""
    text = ""
    for node, following in zip_longest(parent.children, parent.children[1:]):
        if isinstance(node, (nodes.strong, *_EMPHASIS)):
            sign, tag = ("**", "strong") if isinstance(node, nodes.strong) else ("*", "em")
            beside = text[-1:], _first_sign(following)
            piece = emphasize(join_inline(node, page), sign, tag, *beside)
        else:
            piece = write_inline(node, page)
        if text.endswith("!") and piece.startswith("["):
            text = f"{text[:-1]}\\!"  # else the link would be a picture
        elif text.endswith("`") and piece.startswith("`"):
            text += "<span></span>"  # else the two pieces of code would be one
        text += piece
    return text


def _first_sign(node: nodes.Node | None) -> str:
    """Return the character with which a node will begin; of markup, one that is no letter."""
    while isinstance(node, _TRANSPARENT) and node.children:
        node = node.children[0]
    if isinstance(node, (nodes.strong, *_EMPHASIS)):
        return "*"
    if isinstance(node, nodes.Text):
        return str(node)[:1]
    return "`" if node else ""


for _kind in _TRANSPARENT:
    write_inline.register(_kind, join_inline)
for _kind in INVISIBLE:
    write_inline.register(_kind, lambda _node, _page: "")
for _kind in (nodes.footnote_reference, nodes.citation_reference):
    write_inline.register(_kind, lambda node, page: f"<sup>[{join_inline(node, page)}]</sup>")
write_inline.register(nodes.literal, lambda node, _page: code_span(node.astext()))


@write_inline.register(nodes.Text)
def _text(node: nodes.Text, _page: Page) -> str:
    block = node.parent
    while isinstance(block.parent, nodes.TextElement):
        block = block.parent
    dollars = block.astext().count("$") + len(list(block.findall(nodes.math)))
    in_link = is_inside(node, nodes.reference, addnodes.download_reference)
    return escape(node.astext().replace("\r", ""), apart=dollars > 1, in_link=in_link)


@write_inline.register(nodes.subscript)
@write_inline.register(nodes.superscript)
def _raised(node: nodes.Element, page: Page) -> str:
    tag = "sub" if isinstance(node, nodes.subscript) else "sup"
    return f"<{tag}>{join_inline(node, page)}</{tag}>"


@write_inline.register(nodes.abbreviation)
def _abbreviation(node: nodes.abbreviation, page: Page) -> str:
    title = attributes({"title": node.get("explanation", "")})
    return f"<abbr {title}>{join_inline(node, page)}</abbr>"


@write_inline.register(nodes.math)
def _math(node: nodes.math, _page: Page) -> str:
    tex = " ".join(node.astext().split())
    if is_inside(node, nodes.entry):  # a sign that divides the cells of a table
        tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    return f"${tex}$"


@write_inline.register(nodes.reference)
@write_inline.register(addnodes.download_reference)
def _link(node: nodes.Element, page: Page) -> str:
    text, address = join_inline(node, page), page.address(node)
    if node.get("secnumber"):
        text = page.dotted(node["secnumber"]) + text
    if not address or not text:
        return text  # of a site whose address is not known
    if node.astext() == address:
        return f"<{address}>"
    return link(f"[{text}]", address)


@write_inline.register(nodes.image)
def _image(node: nodes.image, page: Page) -> str:
    address = page.address(node)
    alt = " ".join(node.get("alt", "").split())
    if not address:
        return escape(alt)
    sizes = {
        name: str(node[name]).removesuffix("px") for name in ("width", "height") if name in node
    }
    if sizes:
        return f"<img {attributes({'src': address, 'alt': alt, **sizes})}>"
    return link(f"![{escape(alt, in_link=True)}]", address)


@write_inline.register(nodes.raw)
def _raw(node: nodes.raw, page: Page) -> str:
    """Return HTML as its author wrote it, who is trusted, and tell what may go wrong with it."""
    if "html" not in node.get("format", "").split():
        return ""
    html = node.astext()
    if unsafe := find_unsafe(html):
        page.warn(
            node,
            f"raw HTML with {', '.join(unsafe)}: a notebook leaves it out, or asks another host; "
            f"say it in reStructuredText, or {ACCEPT}",
        )
    return html

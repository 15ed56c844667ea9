"""Lists as Markdown: of points, numbers, terms, fields and options."""

from collections.abc import Sequence
from textwrap import indent

from docutils import nodes
from sphinx import addnodes

from .blocks import bold_line, join_blocks, write_block
from .escape import code_span
from .inline import join_inline
from .page import Page

# What HTML calls the ways to count that Markdown does not have
_HTML_TYPES = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}


def _point(marker: str, text: str) -> str:
    """Return one point of a list."""
    return f"{marker} {indent(text, ' ' * (len(marker) + 1)).lstrip()}".rstrip()


def _join(points: Sequence[str]) -> str:
    """Return a list; one of short points has no empty lines between them."""
    return ("\n\n" if any("\n\n" in point for point in points) else "\n").join(points)


def _item(node: nodes.Element, page: Page) -> str:
    """Return what stands in a point; a short list below a paragraph follows it at once."""
    blocks = list(node.children)
    text = join_blocks(blocks, page)
    if [type(each) for each in blocks] == [nodes.paragraph, nodes.bullet_list]:
        head, _, rest = text.partition("\n\n")
        if "\n\n" not in rest:
            return f"{head}\n{rest}"
    return text


@write_block.register(nodes.bullet_list)
def _bullets(node: nodes.bullet_list, page: Page) -> str:
    bullet = node.get("bullet", "*")  # docutils takes others, too
    bullet = bullet if bullet in "*+-" else "*"
    return _join([_point(bullet, _item(item, page)) for item in node])


@write_block.register(addnodes.hlist)
def _columns(node: addnodes.hlist, page: Page) -> str:
    items = [item for column in node for points in column for item in points]
    return _join([_point("*", _item(item, page)) for item in items])


@write_block.register(nodes.enumerated_list)
def _numbers(node: nodes.enumerated_list, page: Page) -> str:
    first = node.get("start", 1)
    items = [_item(item, page) for item in node]
    if kind := _HTML_TYPES.get(node.get("enumtype", "")):
        start = f' start="{first}"' if first != 1 else ""
        points = "\n".join(f"<li>\n\n{item}\n\n</li>" for item in items)
        return f'<ol type="{kind}"{start}>\n{points}\n</ol>'
    return _join([_point(f"{number}.", item) for number, item in enumerate(items, first)])


def _entry(head: str, body: Sequence[nodes.Node], page: Page, between: str = "\n\n") -> str:
    return _point("*", f"{head}{between}{join_blocks(body, page)}".rstrip())


@write_block.register(nodes.definition_list)
def _definitions(node: nodes.definition_list, page: Page) -> str:
    points = []
    for item in node:
        heads: list[str] = []
        body: list[nodes.Node] = []
        for child in item:
            if isinstance(child, nodes.term):
                heads.append(bold_line(join_inline(child, page)))
            elif isinstance(child, nodes.classifier):
                heads[-1] += f" : *{join_inline(child, page)}*"
            else:
                body += child.children
        points.append(_entry("\\\n".join(heads), body, page))
    return _join(points)


@write_block.register(nodes.field_list)
def _fields(node: nodes.field_list, page: Page) -> str:
    points = []
    for name, body in node:
        starts = body.children and isinstance(body.children[0], nodes.paragraph)
        between = " " if starts else "\n\n"
        points.append(
            _entry(f"{bold_line(join_inline(name, page))}:", body.children, page, between)
        )
    return _join(points)


@write_block.register(nodes.option_list)
def _options(node: nodes.option_list, page: Page) -> str:
    points = []
    for group, description in node:
        spellings = code_span(", ".join(option.astext() for option in group))
        points.append(_entry(spellings, description.children, page))
    return _join(points)

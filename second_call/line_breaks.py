"""Where lines break: not within short words with a hyphen, nor before a middle dot.

Browsers break after any hyphen, so that a title on a phone ends in "speed-" and a chart calls a
variant "reduce-". No style sheet forbids that without all other breaks, so words are marked. Long
names in code may break behind a dot or an underscore, or a browser would break them within a word.
So may names in a table of measurements, where they would leave no room for figures on a phone.
"""

import re
from collections.abc import Sequence

from docutils import nodes
from markupsafe import Markup, escape
from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import MEASURED_TABLE_CLASS

_CSS_CLASS = "unbroken"
_MOST_CHARACTERS = 22  # of a word; a longer one would stand out of a narrow column
_MOST_ON_PHONE = 36  # of code in a line of a phone; shorter code moves to the next line as a whole
_HEADINGS = nodes.title, nodes.rubric  # of sections, and of parts that are no section
_VERBATIM = nodes.FixedTextElement, nodes.raw
_HYPHENATED = re.compile(r"(?<!\S)(\S+-\S+)(?!\S)")
_PART_OF_NAME = re.compile(r"(?<=\w[._])(?=[^\W\d])")
_DOT = " \N{MIDDLE DOT} "
_DOT_AFTER_WORD = "\N{NO-BREAK SPACE}\N{MIDDLE DOT} "


def keep_words_whole(text: str) -> Markup:
    """Return a text as HTML whose short words with a hyphen stay on a line."""
    parts = []
    for part in _split(text):
        html = escape(part)
        if _is_hyphenated(part):
            html = Markup('<span class="{}">{}</span>').format(_CSS_CLASS, part)
        parts.append(html)
    return Markup().join(parts)


def keep_together(app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Mark words of titles and code that stay on a line, and let no line begin with a dot.

    It changes pages of HTML alone: downloads and the search have read their texts before.
    """
    if app.builder.format != "html":
        return
    for text in list(doctree.findall(nodes.Text)):
        parent = text.parent
        if isinstance(parent, nodes.literal):
            if _is_hyphenated(text):
                parent["classes"] = [*parent["classes"], _CSS_CLASS]
            elif len(text) > _MOST_ON_PHONE:
                parent.replace(text, _let_break(_PART_OF_NAME.split(text)))
            continue
        if isinstance(parent, _VERBATIM):
            continue
        if _is_name_in_table(parent):
            parent.replace(text, _let_break(re.split("(?<=_)", text)))
        elif _is_of_heading(parent):
            parent.replace(text, _mark_words(text))
        elif _DOT in text:
            parent.replace(text, nodes.Text(text.replace(_DOT, _DOT_AFTER_WORD)))


def _is_of_heading(node: nodes.Node | None) -> bool:
    """Tell whether a node is a heading, or a link or marked words within one."""
    while isinstance(node, nodes.Inline):
        node = node.parent
    return isinstance(node, _HEADINGS) or _is_gains_line(node) or _is_head_of_table(node)


def _is_gains_line(node: nodes.Node | None) -> bool:
    """Tell whether a node is a line of the answer, which is as large as a title on a phone."""
    return isinstance(node, nodes.paragraph) and "gains-line" in node["classes"]


def _is_head_of_table(node: nodes.Node | None) -> bool:
    """Tell whether a node is in a heading of a column of measurements, or among their names."""
    cell = _find_measured_cell(node)
    return cell is not None and isinstance(cell.parent.parent, nodes.thead)


def _is_name_in_table(node: nodes.Node | None) -> bool:
    """Tell whether a node is in the name of a line of measurements."""
    cell = _find_measured_cell(node)
    if cell is None or isinstance(cell.parent.parent, nodes.thead):
        return False
    columns = list(cell.parent.parent.parent.findall(nodes.colspec))
    return bool(columns[cell.parent.index(cell)].get("stub"))


def _find_measured_cell(node: nodes.Node | None) -> nodes.entry | None:
    """Return the cell of a table of measurements in which a node is; None outside of them."""
    while node is not None and not isinstance(node, nodes.entry):
        node = node.parent
    if node is None:
        return None
    table = node.parent.parent.parent.parent
    return node if MEASURED_TABLE_CLASS in table["classes"] else None


def _let_break(parts: Sequence[str]) -> list[nodes.Node]:
    """Return the parts of a name as nodes, between which a line may break."""
    first, *others = parts
    breaking: list[nodes.Node] = [nodes.Text(first)]
    for other in others:
        breaking += [nodes.raw("", "<wbr>", format="html"), nodes.Text(other)]
    return breaking


def _mark_words(text: str) -> list[nodes.Node]:
    """Return a text of a title in parts, those that stay on a line as nodes of their own."""
    parts: list[nodes.Node] = []
    for part in _split(text):
        if _is_hyphenated(part):
            parts.append(nodes.inline("", part, classes=[_CSS_CLASS]))
        else:
            parts.append(nodes.Text(part))
    return parts


def _split(text: str) -> list[str]:
    """Return the parts of a text, words with a hyphen apart from what stands between them."""
    # Its group lets ``split`` return the words themselves, too.
    parts = _HYPHENATED.split(text.replace(_DOT, _DOT_AFTER_WORD))
    return [part for part in parts if part]


def _is_hyphenated(part: str) -> bool:
    return len(part) <= _MOST_CHARACTERS and _HYPHENATED.fullmatch(part) is not None

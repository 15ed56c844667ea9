"""The last look at what is finished: nothing that a tool or a browser obeys came by a translation.

Comments and text of a program are translated. Python does not read them, but other tools do: what
they would take for an instruction, and the English program has not, is refused, however it came. Of
a page the same holds for addresses, files, HTML and kinds of elements.
"""

import re
from collections.abc import Iterator

from docutils import nodes

_EXAMPLE = re.compile(r"(?m)^(?![ \t]*#).*>>>")
_METADATA = re.compile(r"(?m)^#[ \t]*///")  # PEP 723: `uv run` installs what it names


def find_harm(english: str, finished: str) -> str:
    """Return what a tool would make of a finished program and not of the English one, or nothing.

    Both are Python, whole scripts in the percent format or the code of one cell.
    """
    import jupytext  # slow to import, and not needed where no page changed

    if len(_METADATA.findall(finished)) > len(_METADATA.findall(english)):
        return "metadata of a script (PEP 723), by which programs install packages"
    if len(_EXAMPLE.findall(finished)) > len(_EXAMPLE.findall(english)):
        return "an example that doctest would run"
    try:
        wanted, found = (
            jupytext.reads(each, fmt="py:percent").cells for each in (english, finished)
        )
    except ValueError:  # it reads UTF-8 alone
        return "the name of an encoding"
    if [cell.cell_type for cell in wanted] != [cell.cell_type for cell in found]:
        return "a mark that begins another cell where the script is opened as a notebook"
    code = [line for cell in found if cell.cell_type == "code" for line in cell.source.split("\n")]
    if set(code) - set(finished.split("\n")):  # jupytext takes the # away from magics
        return "a command that is run where the script is opened as a notebook"
    return ""


def acts_of(node: nodes.Element) -> set[tuple[str, str]]:
    """Return what a browser makes of an element beside its words: its kind, addresses and HTML."""
    names = ("refuri", "uri", "reftarget", "refname", "filename")
    found = {("kind", node.tagname), *((name, str(node[name])) for name in names if name in node)}
    return found | ({("html", node.astext())} if isinstance(node, nodes.raw) else set())


def take_out(document: nodes.document, known: set[tuple[str, str]]) -> Iterator[str]:
    """Put words in the place of what acts in a way that is not ``known``; yield these words."""
    for node in list(document.findall(nodes.Element)):
        if node.parent is not None and not acts_of(node) <= known:
            words = nodes.Text(node.astext())
            is_inline = isinstance(node.parent, nodes.TextElement)
            node.parent.replace(node, words if is_inline else nodes.paragraph("", "", words))
            yield str(words)

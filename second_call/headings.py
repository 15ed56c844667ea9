"""Bold lines on top of a recipe's page, such as "What you need", as headings of sections."""

from docutils import nodes
from sphinx.environment import BuildEnvironment

from recipe_gallery.recorded_page import load_page

_MARK = "heading_id"


def mark_headings(env: BuildEnvironment, document: nodes.document) -> None:
    """Give each of these lines the anchor that its English text makes, in every language.

    It is an attribute, which a translation keeps.
    """
    if load_page(env, env.docname) is None:
        return
    title = next(iter(document.findall(nodes.title)), None)
    for line in title.parent.children if title else ():
        if isinstance(line, nodes.section):
            break
        if isinstance(line, nodes.paragraph) and _is_bold(line):
            line[_MARK] = nodes.make_id(line.astext())


def make_headings(_env: BuildEnvironment, document: nodes.document) -> None:
    """Put each line and what stands below it into a section of its own, after translation."""
    lines = [each for each in document.findall(nodes.paragraph) if each.get(_MARK)]
    for line in lines:
        parent = line.parent
        start = parent.index(line)
        below = parent.children[start + 1 :]
        ends = (nodes.section, nodes.container, nodes.transition)
        found = (at for at, each in enumerate(below) if isinstance(each, ends) or each in lines)
        count = next(found, len(below))
        section = nodes.section(ids=[line[_MARK]], names=[line[_MARK]])
        # A translation may have a sign beside the bold words.
        words = line[0].children if _is_bold(line) else line.children
        section += nodes.title("", "", *words)
        section += below[:count]
        parent[start : start + 1 + count] = [section]


def _is_bold(line: nodes.paragraph) -> bool:
    return len(line) == 1 and isinstance(line[0], nodes.strong)

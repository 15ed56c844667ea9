"""Bold lines on top of a recipe's page, such as "What you need", as headings of sections."""

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from recipe_gallery import Priority
from recipe_gallery.recipes.recorded_page import load_page

_MARK = "heading_id"


class MarkHeadings(SphinxTransform):
    """Give each of these lines the anchor that its English text makes, in every language."""

    default_priority = Priority.ADD_TO_PAGE

    def apply(self, **kwargs: Any) -> None:
        """Change paragraphs in place; a translation keeps their attributes."""
        if load_page(self.env, self.env.docname) is None:
            return
        title = next(iter(self.document.findall(nodes.title)), None)
        for line in title.parent.children if title else ():
            if isinstance(line, nodes.section):
                break
            if isinstance(line, nodes.paragraph) and _is_bold(line):
                line[_MARK] = nodes.make_id(line.astext())


class MakeHeadings(SphinxTransform):
    """Put each line and what stands below it into a section of its own, after translation."""

    default_priority = Priority.MAKE_HEADINGS

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place."""
        lines = [each for each in self.document.findall(nodes.paragraph) if each.get(_MARK)]
        for line in lines:
            parent = line.parent
            start = parent.index(line)
            below = parent.children[start + 1 :]
            ends = (nodes.section, nodes.container, nodes.transition)
            count = next(
                (at for at, each in enumerate(below) if isinstance(each, ends) or each in lines),
                len(below),
            )
            section = nodes.section(ids=[line[_MARK]], names=[line[_MARK]])
            # A translation may have a sign beside the bold words.
            words = line[0].children if _is_bold(line) else line.children
            section += nodes.title("", "", *words)
            section += below[:count]
            parent[start : start + 1 + count] = [section]


def _is_bold(line: nodes.paragraph) -> bool:
    return len(line) == 1 and isinstance(line[0], nodes.strong)

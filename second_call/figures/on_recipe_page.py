"""Headline figures as bars at the top of a recipe's page."""

from typing import Any

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

from recipe_gallery import Priority
from recipe_gallery.languages import current_language
from recipe_gallery.recipes.recorded_page import RecordedPage, load_page

from .bars import make_bars
from .headline import headline

_ = get_translation("second_call")


class AddOutcome(SphinxTransform):
    """Put the headline figures of a recipe on top of its page, before its first section."""

    default_priority = Priority.ADD_TO_PAGE

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place if it is that of a recipe with a current recording."""
        page = load_page(self.env, self.env.docname)
        title = next(iter(self.document.findall(nodes.title)), None)
        if title is None or not isinstance(page, RecordedPage) or not page.comparison.is_current:
            return
        if rows := headline(page.recording):
            section = title.parent
            first = section.first_child_matching_class(nodes.section)
            heading = nodes.title("", _("What came out"), translatable=False)
            bars = make_bars(rows, current_language(self.config).locale)
            outcome = nodes.section("", heading, *bars, classes=["recipe-results"])
            outcome["ids"].append("what-came-out")
            outcome["notebook"] = False  # the notebook has them as outputs
            section.insert(len(section) if first is None else first, outcome)

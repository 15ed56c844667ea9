"""What came out, on a recipe's page before the text that explains it."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

from recipe_gallery import Priority
from recipe_gallery.languages import current_language
from recipe_gallery.pages.header import read_recorded
from recipe_gallery.recipes.gallery import find_source

from .bars import make_bars
from .headline import headline

_ = get_translation("second_call")


class AddSummary(SphinxTransform):
    """Put the headline figures of a recipe on top of its page, before its first section."""

    default_priority = Priority.ADD_TO_PAGE

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place if it is a recipe's."""
        source = find_source(self.config, Path(self.env.srcdir), self.env.docname)
        title = next(iter(self.document.findall(nodes.title)), None)
        if source is None or title is None:
            return
        section = title.parent
        path = Path(self.env.srcdir, self.config.recipe_gallery_recordings, f"{source.stem}.ipynb")
        recording, note = read_recorded(source, path)
        rows = headline(recording) if recording and not note else ()
        if rows:
            first = section.first_child_matching_class(nodes.section)
            index = len(section) if first is None else first
            heading = nodes.paragraph("", "", nodes.strong("", _("What came out")))
            bars = make_bars(rows, current_language(self.config).locale)
            results = nodes.container("", heading, *bars, classes=["recipe-results"])
            results["notebook"] = False  # the notebook has them as outputs
            section.insert(index, results)

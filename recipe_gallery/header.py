"""The head of a recipe's page: buttons, where and when it was recorded, and what came out."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

from .actions import recipe_actions
from .bars import make_bars
from .errors import GalleryError
from .provenance import make_box
from .recipes import find_source, load_recipe
from .recordings import Recording, compare, read_recording
from .translation import current_language

_ = get_translation("recipe_gallery")

# What Sphinx-Gallery adds to every page and the buttons replace: its texts differ from page to
# page, so each would be a message of its own for translators.
_REPLACED_CLASSES = {"sphx-glr-footer", "sphx-glr-download-link-note", "sphx-glr-signature"}


class recipe_results(nodes.container):  # noqa: N801 (docutils names nodes so)
    """The headline figures of a page."""


class AddRecipeHeader(SphinxTransform):
    """Put buttons and provenance under a recipe's title, and its headline figures on top."""

    default_priority = 4  # before anything that looks at texts to translate

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place if it is a recipe's."""
        source = find_source(self.config, Path(self.env.srcdir), self.env.docname)
        if source is None:
            return
        for only in list(self.document.findall(addnodes.only)):
            if any(
                _REPLACED_CLASSES & set(child["classes"]) for child in only.findall(nodes.Element)
            ):
                only.parent.remove(only)
        title = next(iter(self.document.findall(nodes.title)), None)
        if title is None:
            return
        section = title.parent
        locale = current_language(self.config).locale
        path = Path(self.env.srcdir, self.config.recordings_dir, f"{source.stem}.ipynb")
        recording, note = _read(source, path)
        head = [recipe_actions(), *note]
        if recording:
            head.append(make_box(recording, locale))
        index = section.index(title) + 1
        section[index:index] = head
        if recording and not note and recording.headline:
            first = section.first_child_matching_class(nodes.section)
            index = len(section) if first is None else first
            # what came out, before the text that explains it
            heading = nodes.paragraph("", "", nodes.strong("", _("What came out")))
            bars = make_bars(recording.headline, locale)
            section.insert(index, recipe_results("", heading, *bars, classes=["recipe-results"]))


def _read(source: Path, path: Path) -> tuple[Recording | None, list[nodes.Node]]:
    """Return a recipe's recording, and a visible note if there is something wrong with it."""
    try:
        recording = read_recording(path)
        comparison = compare(load_recipe(source), recording)
    except GalleryError:
        text = _("This recipe has not been recorded yet: its results are missing here.")
        return None, [_note(text)]
    if comparison.is_current:
        return recording, []
    numbers = ", ".join(str(cell.number) for cell in comparison.changed) or "-"
    text = _(
        "The code of this page changed after it was recorded (code blocks: %s). "
        "Changed blocks show no result, and results of others may differ by now."
    )
    return recording, [_note(text % numbers)]


def _note(text: str) -> nodes.note:
    return nodes.note("", nodes.paragraph("", text), classes=["recording-note"])

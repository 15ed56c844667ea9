"""The head of a recipe's page: links to downloads, and where and when it was recorded."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

from .. import Priority
from ..languages import current_language
from ..project import GalleryError
from ..recipes.gallery import find_source
from ..recipes.recipe import load_recipe
from ..recipes.recording import Recording, compare, read_recording
from .links import page_links
from .provenance import make_box

_ = get_translation("recipe_gallery")

# What Sphinx-Gallery adds to every page and the links replace: its texts differ from page to
# page, so each would be a message of its own for translators.
_REPLACED_CLASSES = {"sphx-glr-footer", "sphx-glr-download-link-note", "sphx-glr-signature"}


class AddRecipeHeader(SphinxTransform):
    """Put links and provenance under a recipe's title."""

    default_priority = Priority.ADD_TO_PAGE

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
        path = Path(self.env.srcdir, self.config.recipe_gallery_recordings, f"{source.stem}.ipynb")
        recording, note = read_recorded(source, path)
        head = [page_links(), *note]
        if recording:
            head.append(make_box(recording, locale))
        index = section.index(title) + 1
        section[index:index] = head


def read_recorded(source: Path, path: Path) -> tuple[Recording | None, list[nodes.Node]]:
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

"""The directive ``recorded-results``: headline figures of all recordings, as tables and bars.

``recordings/<recipe>.ipynb`` is the recording a page shows. Recordings of the same recipe on
other machines lie in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add columns.
"""

from collections.abc import Sequence
from pathlib import Path

from babel import Locale
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.languages import (
    current_language,
    format_date,
    format_number,
    format_percent,
    format_times,
)
from recipe_gallery.pages.header import describe_versions
from recipe_gallery.pages.reuse import recordings_folder, state_of_recordings, watch_recordings
from recipe_gallery.project import GalleryError
from recipe_gallery.recipes.cells import DATA_CLASS
from recipe_gallery.recipes.gallery import gallery_pages
from recipe_gallery.recipes.recipe import Recipe, load_recipe
from recipe_gallery.recipes.recording import Recording, compare, read_recording

from ..nodes import link_to_page, make_table
from .bars import make_bars
from .cards import translated_nodes
from .headline import Figure, headline

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

FIGURES = ("speedup", "share_of_limit", "break_even_calls")


class RecordedResults(SphinxDirective):
    """Write a section for each recipe that publishes headline figures."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of the gallery."""
        watch_recordings(self.env)
        sections = []
        for docname, source in gallery_pages(self.config, Path(self.env.srcdir)):
            self.env.note_dependency(str(source))  # for its title
            try:
                recipe = load_recipe(source)
            except GalleryError:
                continue  # replaying has said what is wrong
            recordings = _recordings_of(recordings_folder(self.env), recipe)
            if any(headline(recording) for recording in recordings):
                sections.append(self._section(docname, recipe, recordings))
        return sections

    def _section(
        self, docname: str, recipe: Recipe, recordings: Sequence[Recording]
    ) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(recipe.name)], names=[recipe.name])
        texts = translated_nodes(self.env, docname, recipe.title)
        section += nodes.title("", "", *texts, translatable=False)  # a message of the recipe
        link = link_to_page(self.env, docname, nodes.Text(_("Read the recipe")))
        section += nodes.paragraph("", "", link)
        locale = current_language(self.config).locale
        names = self.config.recipe_gallery_package_names
        for recording in recordings:
            section += nodes.paragraph(
                "", _describe(recording, locale, names), classes=["results-origin"]
            )
        section += _table(recordings, locale)
        for recording in recordings:
            if rows := headline(recording):
                section += make_bars(rows, locale)
        return section


def outdated_pages(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Return the pages with figures of recordings that have changed since."""
    state = state_of_recordings(env)
    return [
        docname
        for docname, metadata in env.metadata.items()
        if metadata.get("recordings", state) != state
    ]


def _table(recordings: Sequence[Recording], locale: Locale) -> nodes.table:
    """Return a table with a row for each case and three columns for each machine."""
    cases: dict[tuple[str, str], None] = {}
    for recording in recordings:
        cases |= {(row.case, row.baseline): None for row in headline(recording)}
    header = [_("Case"), _("Compared with")]
    for recording in recordings:
        where = f" ({recording.device_name})" if len(recordings) > 1 else ""
        header += [
            _("Speed-up") + where,
            _("Share of the limit") + where,
            _("Break-even (calls)") + where,
        ]
    rows = []
    for case, baseline in cases:
        # What a recipe publishes is data, in the language of its code.
        cells: list[nodes.Node] = [
            nodes.inline("", text, classes=[DATA_CLASS]) for text in (case, baseline)
        ]
        for recording in recordings:
            found = next(
                (r for r in headline(recording) if (r.case, r.baseline) == (case, baseline)), None
            )
            cells += [nodes.Text(_format(n, getattr(found, n, None), locale)) for n in FIGURES]
        rows.append(cells)
    return make_table(header, rows, classes=["results-table"])


def _format(name: str, figure: Figure | None, locale: Locale) -> str:
    """Return a figure with its spread."""
    if figure is None:
        return "–"
    value, low, high = figure.value, figure.low, figure.high
    if name == "speedup":
        spread = f"{format_times(low, locale, unit='')}–{format_times(high, locale, unit='')}"
        return f"{format_times(value, locale)} ({spread})"
    if name == "share_of_limit":
        spread = f"{format_number(100 * low, locale, 1)}–{format_number(100 * high, locale, 1)}"
        return f"{format_percent(value, locale, 1)} ({spread})"
    spread = f"{format_number(low, locale)}–{format_number(high, locale)}"
    return f"{format_number(value, locale)} ({spread})"


def _describe(recording: Recording, locale: Locale, names: dict[str, str]) -> str:
    return _("%(device)s; %(versions)s; %(date)s") % {
        "device": recording.device_name,
        "versions": describe_versions(recording, names),
        "date": format_date(recording.recorded, locale),
    }


def _recordings_of(folder: Path, recipe: Recipe) -> list[Recording]:
    """Return a recipe's current recordings: the one its page shows, then other machines'.

    Replaying has warned of the first one if it is stale or damaged; the others are told here.
    """
    own = folder / f"{recipe.name}.ipynb"
    recordings = []
    for path in (own, *sorted(folder.glob(f"*/{recipe.name}.ipynb"))):
        try:
            recording = read_recording(path)
            comparison = compare(recipe, recording)
            if not comparison.is_current:
                raise GalleryError(f"{path}: stale recording: {comparison.describe()}")
        except GalleryError as error:
            if path != own:
                logger.warning("%s", error, type="recipe_gallery", subtype="recording")
        else:
            recordings.append(recording)
    return recordings

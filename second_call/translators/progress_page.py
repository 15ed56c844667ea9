"""The directive ``translation-status``: how far each page is translated, as charts and tables."""

from pathlib import Path

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.cell_marks import DATA_CLASS
from recipe_gallery.languages import (
    Language,
    current_language,
    format_date,
    format_number,
    format_percent,
    locale_dirs,
    translated_languages,
    typeset,
)
from recipe_gallery.project import Project
from recipe_gallery.store import keep, watch
from recipe_gallery.translate.status import CatalogStatus, Progress, add_up, language_status
from recipe_gallery.translate.translations import edit_address

from ..nodes import html_element, link_to_page, make_table, render

_ = get_translation("second_call")


class TranslationStatus(SphinxDirective):
    """Write a section for each translated language: a chart, and a table of its pages."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of ``languages.toml``."""
        return [self._section(language) for language in translated_languages(self.config)]

    def _section(self, language: Language) -> nodes.section:
        own = current_language(self.config)
        statuses = watch(self.env, measure_catalogs, language.code)
        total = add_up(statuses)
        section = nodes.section(ids=[nodes.make_id(language.tag)], names=[language.code])
        section += nodes.title("", language.name, translatable=False)
        section += draw_progress(total, own, language)
        people = sorted({name for status in statuses for name in status.translators})
        if people:
            names = nodes.inline("", ", ".join(people), classes=[DATA_CLASS])
            label = nodes.Text(typeset(_("Translators") + ": ", own.locale))
            section += nodes.paragraph("", "", label, names, translatable=False)
        complete = [
            each
            for each in statuses
            if each.is_readable and not (each.progress.words_left or each.progress.fuzzy)
        ]
        if len(complete) < len(statuses):
            rest = [each for each in statuses if each not in complete]
            section += self._table(rest, own.locale, complete=False)
        if complete:
            label = _("Complete catalogs: %s") % format_number(len(complete), own.locale)
            summary = html_element("", nodes.Text(label), tag="summary", classes=[])
            table = self._table(complete, own.locale, complete=True)
            section += html_element("", summary, table, tag="details", classes=["status-details"])
        return section

    def _table(self, statuses: list[CatalogStatus], locale: Locale, complete: bool) -> nodes.table:
        measured = [] if complete else [_("Translated"), _("Words left"), _("To revise")]
        header = [_("Page"), *measured, _("Last change"), _("Catalog")]
        rows = [self._row(status, locale, complete) for status in statuses]
        return make_table(header, rows, classes=["status-table"])

    def _row(self, status: CatalogStatus, locale: Locale, complete: bool) -> list[nodes.Node]:
        page: nodes.Node = link_to_page(self.env, status.domain)
        if status.is_label:
            page = nodes.Text(_("Labels of the site: %s") % status.domain)
        elif status.domain not in self.env.found_docs:  # of a module that recipes share
            page = nodes.inline("", status.domain, classes=[DATA_CLASS])
        catalog: nodes.Node = nodes.inline("", f"{status.domain}.po", classes=[DATA_CLASS])
        if address := edit_address(self.env, status.path):
            catalog = nodes.reference("", "", catalog, refuri=address)
        progress = status.progress
        measured = [
            format_percent(progress.percent / 100, locale),
            format_number(progress.words_left, locale),
            format_number(progress.fuzzy, locale),
        ]
        revised = format_date(status.revised, locale, "medium") if status.revised else "–"
        if not status.is_readable:
            measured, revised = [_("cannot be read"), "–", "–"], "–"
        texts = [revised] if complete else [*measured, revised]
        return [page, *map(nodes.Text, texts), catalog]


def measure_catalogs(env: BuildEnvironment, code: str) -> list[CatalogStatus]:
    """Measure a language's catalogs; while all are as they were, none is read again."""
    root, config = Path(env.srcdir), env.config
    locale = locale_dirs(config, root)[0]
    project = Project(root=root, galleries=(), recordings=root, locale=locale, config=config)
    files = sorted(locale.rglob("*.po*"))  # and the templates
    status: list[CatalogStatus] = keep(
        env, ("catalogs", code), files, lambda: ([], language_status(project, code))
    )
    return status


def draw_progress(progress: Progress, own: Language, language: Language) -> nodes.Node:
    """Return a bar of what is translated and what waits to be revised."""
    percent = format_percent(progress.percent / 100, own.locale)
    label = _("%(percent)s of %(language)s translated") % {
        "percent": percent,
        "language": language.name,
    }
    words = max(progress.words, 1)
    return render(
        "progress_bar.html",
        label=label,
        percent=percent,
        done=100 * (progress.words - progress.words_left) / words,
        waiting=100 * progress.words_fuzzy / words,
    )

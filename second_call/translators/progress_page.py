"""The directive ``translation-status``: how far each page is translated, as charts and tables."""

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.environment import store_of, watch
from recipe_gallery.languages import (
    Language,
    current_language,
    format_date,
    format_number,
    format_percent,
    locale_dirs,
    translated_languages,
)
from recipe_gallery.recipes.cells import DATA_CLASS
from recipe_gallery.translate.catalogs import Progress, label_domains, locale_folders
from recipe_gallery.translate.report import CatalogStatus, add_up, language_status

from ..nodes import link_to_page, make_table

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
        section += nodes.raw("", _draw_progress(total, own, language), format="html")
        section += make_table(
            [
                _("Page"),
                _("Translated"),
                _("Words left"),
                _("To revise"),
                _("Last change"),
                _("Translators"),
                _("Catalog"),
            ],
            [self._row(language, status, own) for status in statuses],
            classes=["status-table"],
        )
        return section

    def _row(self, language: Language, status: CatalogStatus, own: Language) -> list[nodes.Node]:
        locale = own.locale
        path = status.path.relative_to(self.env.srcdir).as_posix()
        if status.is_label:
            page: nodes.Node = nodes.Text(_("Labels of the site: %s") % status.domain)
        else:
            page = link_to_page(self.env, status.domain)
        edit: nodes.Node = nodes.inline("", f"{status.domain}.po", classes=[DATA_CLASS])
        if self.config.recipe_gallery_repository_url:
            branch = self.config.recipe_gallery_repository_branch
            address = f"{self.config.recipe_gallery_repository_url}/edit/{branch}/{path}"
            edit = nodes.reference("", "", edit, refuri=address)
        progress = status.progress
        if progress is None:
            return [
                page,
                nodes.Text(_("cannot be read")),
                *(nodes.Text("–") for _column in range(4)),
                edit,
            ]
        return [
            page,
            nodes.Text(format_percent(progress.percent / 100, locale)),
            nodes.Text(format_number(progress.words_left, locale)),
            nodes.Text(format_number(progress.fuzzy, locale)),
            nodes.Text(format_date(status.revised, locale, "medium") if status.revised else "–"),
            nodes.inline("", ", ".join(status.translators) or "–", classes=[DATA_CLASS]),
            edit,
        ]


def measure_catalogs(env: BuildEnvironment, code: str) -> list[CatalogStatus]:
    """Measure a language's catalogs.

    A catalog that has not changed is not read again, also not in later builds.
    """
    kept = store_of(env).kept["catalogs"]
    srcdir = Path(env.srcdir)
    folders = locale_folders(srcdir, locale_dirs(env.config, srcdir)[0])
    return language_status(folders, code, label_domains(env.config), kept)


def _draw_progress(progress: Progress, own: Language, language: Language) -> str:
    """Return a bar of what is translated and what waits to be revised, as inline SVG."""
    percent = format_percent(progress.percent / 100, own.locale)
    label = _("%(percent)s of %(language)s translated") % {
        "percent": percent,
        "language": language.name,
    }
    words = max(progress.words, 1)
    share = 100 * (progress.words - progress.words_left) / words
    waiting = 100 * progress.words_fuzzy / words
    return (
        f'<div class="status-bar"><svg role="img" aria-label="{escape(label)}" viewBox="0 0 100 4" '
        'preserveAspectRatio="none"><rect class="rest" width="100" height="4"/>'
        f'<rect class="done" width="{share:.2f}" height="4"/>'
        f'<rect class="waiting" x="{share:.2f}" width="{waiting:.2f}" height="4"/></svg>'
        f"<span>{percent}</span></div>"
    )

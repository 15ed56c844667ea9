"""Directives for translators: ``translation-status`` and ``translation-glossary``."""

import contextlib
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.languages import (
    Language,
    current_language,
    format_date,
    format_number,
    format_percent,
    is_translated,
    source_language,
    translated_languages,
)
from recipe_gallery.project import GalleryError
from recipe_gallery.recipes.cells import DATA_CLASS
from recipe_gallery.translate.catalogs import Progress, catalog_folder, find_catalogs
from recipe_gallery.translate.glossary import FILE_NAME, load_glossary
from recipe_gallery.translate.glossary_files import write_glossaries
from recipe_gallery.translate.status import CatalogStatus, add_up, catalog_status

from ..nodes import link_to_page, make_table

_ = get_translation("second_call")
logger = logging.getLogger(__name__)


class TranslationStatus(SphinxDirective):
    """Write a section for each translated language: a chart, and a table of its pages."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of ``languages.toml``."""
        self.env.metadata[self.env.docname]["catalogs"] = _state(self.env)
        return [self._section(language) for language in translated_languages(self.config)]

    def _section(self, language: Language) -> nodes.section:
        own = current_language(self.config)
        statuses = _measured(self.env, language)
        total = add_up(statuses)
        section = nodes.section(ids=[nodes.make_id(language.tag)], names=[language.code])
        section += nodes.title("", language.name, translatable=False)
        section += nodes.raw("", _draw_bar(total, own, language), format="html")
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
        path = catalog_folder(Path("locale"), language.code).as_posix() + f"/{status.domain}.po"
        if status.is_interface:
            page: nodes.Node = nodes.Text(_("Labels of the site: %s") % status.domain)
        else:
            page = link_to_page(self.env, status.domain)
        edit: nodes.Node = nodes.inline("", f"{status.domain}.po", classes=[DATA_CLASS])
        if self.config.recipe_gallery_repository_url:
            address = f"{self.config.recipe_gallery_repository_url}/edit/main/{path}"
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


class TranslationGlossary(SphinxDirective):
    """Write the glossary as a table: all languages in English, otherwise the page's own."""

    def run(self) -> list[nodes.Node]:
        """Return the table, and links to the forms that translation tools import."""
        path = Path(self.env.srcdir, self.config.locale_dirs[0], FILE_NAME)
        self.env.note_dependency(str(path))
        try:
            glossary = load_glossary(path.parent)
        except GalleryError as error:
            logger.warning("%s", error, type="recipe_gallery", subtype="glossary")
            return []
        source = source_language(self.config)
        languages = (
            [current_language(self.config)]
            if is_translated(self.config)
            else translated_languages(self.config)
        )
        rows: list[list[nodes.Node]] = [
            [
                _in_language(term.name, source),
                *(
                    _in_language(term.translations.get(each.code, ("–",))[0], each)
                    for each in languages
                ),
                nodes.inline("", term.note, classes=[DATA_CLASS]),
            ]
            for term in glossary.terms
        ]
        names = [
            nodes.inline("", each.name, classes=["name-of-language"])
            for each in (source, *languages)
        ]
        header = [*names, _("Remark")]
        links = nodes.paragraph("", translatable=False)
        for each in languages:
            for suffix in ("csv", "tbx"):
                name = f"glossary.{each.code}.{suffix}"
                file = nodes.inline("", name, classes=[DATA_CLASS])
                links += [nodes.reference("", "", file, refuri=name), nodes.Text(" ")]
        label = nodes.paragraph("", _("For translation tools:"), translatable=False)
        return [make_table(header, rows, classes=["glossary-table"]), label, links]


def _in_language(text: str, language: Language) -> nodes.Node:
    return nodes.inline("", text, classes=[f"language-{language.tag}"])


def outdated_pages(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Return the pages that tell the status of catalogs which have changed since."""
    pages = {name: each["catalogs"] for name, each in env.metadata.items() if "catalogs" in each}
    state = _state(env) if pages else None
    return [name for name, known in pages.items() if known != state]


def write_glossary_files(app: Sphinx, exception: Exception | None) -> None:
    """Write what the glossary's page links to."""
    locale = Path(app.srcdir, app.config.locale_dirs[0]) if app.config.locale_dirs else None
    if exception or app.builder.format != "html" or not locale:
        return
    with contextlib.suppress(GalleryError):  # the page has said what is wrong
        glossary = load_glossary(locale)
        languages = translated_languages(app.config)
        if glossary.terms:
            write_glossaries(glossary, source_language(app.config), languages, Path(app.outdir))


def _state(env: BuildEnvironment) -> dict[str, int]:
    """Return the catalogs of all languages with their times."""
    locale = Path(env.srcdir, env.config.locale_dirs[0])
    return {
        str(path): path.stat().st_mtime_ns
        for code in env.config.recipe_gallery_languages
        for path in find_catalogs(locale, code)
    }


def _measured(env: BuildEnvironment, language: Language) -> list[CatalogStatus]:
    """Measure a language's catalogs; those that have not changed are remembered."""
    known: dict[str, tuple[int, CatalogStatus]]
    known = env.__dict__.setdefault("recipe_gallery_status", {})
    locale = Path(env.srcdir, env.config.locale_dirs[0])
    folder = catalog_folder(locale, language.code)
    statuses = []
    for path in find_catalogs(locale, language.code):
        time = path.stat().st_mtime_ns
        if known.get(str(path), (0, None))[0] != time:
            domain = path.relative_to(folder).with_suffix("").as_posix()
            known[str(path)] = (time, catalog_status(path, domain))
        statuses.append(known[str(path)][1])
    return statuses


def _draw_bar(progress: Progress, own: Language, language: Language) -> str:
    """Return a bar of what is translated and what waits to be revised, as inline SVG."""
    percent = format_percent(progress.percent / 100, own.locale)
    label = _("%(percent)s of %(language)s translated") % {
        "percent": percent,
        "language": language.name,
    }
    share = 100 * (progress.words - progress.words_left) / max(progress.words, 1)
    waiting = (100 - share) * progress.fuzzy / max(progress.total - progress.translated, 1)
    return (
        f'<div class="status-bar"><svg role="img" aria-label="{escape(label)}" viewBox="0 0 100 4" '
        'preserveAspectRatio="none"><rect class="rest" width="100" height="4"/>'
        f'<rect class="done" width="{share:.2f}" height="4"/>'
        f'<rect class="waiting" x="{share:.2f}" width="{waiting:.2f}" height="4"/></svg>'
        f"<span>{percent}</span></div>"
    )

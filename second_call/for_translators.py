"""What translators find on pages: how far translations are, the glossary, links to improve one."""

from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    DATA_CLASS,
    CatalogStatus,
    GalleryError,
    Language,
    Translations,
    Typography,
    repository_address,
)

from .labels import _
from .make_nodes import link_to_page, make_element, make_table, render

logger = logging.getLogger(__name__)

SITE_BUILDERS = ("html", "dirhtml")  # a book has no page to improve
SCRIPT = "improve-translation.js"  # puts the selected sentence into the report


def setup(app: Sphinx) -> None:
    """Add the directives of the progress and of the glossary, and the links below pages."""
    app.add_directive("translation-status", TranslationStatus)
    app.add_directive("translation-glossary", TranslationGlossary)
    app.connect("html-page-context", add_improve_links)


def list_translated_languages(config: Config) -> list[Language]:
    """Return the published languages that the sources are translated into."""
    source = Language.source(config)
    languages = []
    for language in config.recorded_gallery_languages.values():
        if language.published and language != source:
            languages.append(language)
    return languages


class TranslationStatus(SphinxDirective):
    """Write a section for each translated language: a chart, and a table of its pages."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of ``languages.toml``."""
        sections: list[nodes.Node] = []
        for language in list_translated_languages(self.config):
            sections.append(self._make_section(language))
        return sections

    def _make_section(self, language: Language) -> nodes.section:
        typography = Typography.of(self.config)
        status = Translations(self.env).load_status(language.code)
        section = nodes.section(ids=[nodes.make_id(language.tag)], names=[language.code])
        section += nodes.title("", language.name, translatable=False)
        section += draw_progress(status.total, typography, language)
        if status.translators:
            names = nodes.inline("", ", ".join(status.translators), classes=[DATA_CLASS])
            label = nodes.Text(typography.typeset(_("Translators") + ": "))
            section += nodes.paragraph("", "", label, names, translatable=False)
        incomplete = [catalog for catalog in status.catalogs if catalog.words_left]
        if incomplete:
            section += self._table_of_incomplete(incomplete)
        complete = [catalog for catalog in status.catalogs if not catalog.words_left]
        if complete:
            label = _("Complete catalogs: %s") % typography.format_number(len(complete))
            summary = make_element("summary", nodes.Text(label))
            table = self._table_of_complete(complete)
            section += make_element("details", summary, table, css_class="status-details")
        return section

    def _table_of_incomplete(self, statuses: list[CatalogStatus]) -> nodes.table:
        """Return a table of catalogs with what is left to do in each."""
        typography = Typography.of(self.config)
        headings = [_("Page"), _("Translated"), _("Words left"), _("To revise"), _("Catalog")]
        rows: list[list[nodes.Node]] = []
        for status in statuses:
            row = [
                self._name_page(status),
                nodes.Text(typography.format_percent(status.percent / 100)),
                nodes.Text(typography.format_number(status.words_left)),
                nodes.Text(typography.format_number(status.words_fuzzy)),
                self._name_catalog(status),
            ]
            rows.append(row)
        return make_table(headings, rows, classes=["status-table"])

    def _table_of_complete(self, statuses: list[CatalogStatus]) -> nodes.table:
        """Return a table of catalogs in which nothing is left to do."""
        headings = [_("Page"), _("Catalog")]
        rows = [[self._name_page(status), self._name_catalog(status)] for status in statuses]
        return make_table(headings, rows, classes=["status-table"])

    def _name_page(self, status: CatalogStatus) -> nodes.Node:
        """Return a link to the page of a catalog, or its name if there is no such page."""
        if status.is_of_labels:
            return nodes.Text(_("Labels of the site: %s") % status.domain)
        if status.domain not in self.env.found_docs:  # the page was removed
            return nodes.inline("", status.domain, classes=[DATA_CLASS])
        return link_to_page(self.env, status.domain)

    def _name_catalog(self, status: CatalogStatus) -> nodes.Node:
        """Return the file name of a catalog, with a link if the site has a repository."""
        name = nodes.inline("", f"{status.domain}.po", classes=[DATA_CLASS])
        address = repository_address(self.env, status.path)
        if not address:
            return name
        return nodes.reference("", "", name, refuri=address)


def draw_progress(
    progress: CatalogStatus, typography: Typography, language: Language
) -> nodes.Node:
    """Return a bar that shows which shares of the words are translated and to be revised."""
    percent = typography.format_percent(progress.percent / 100)
    facts = {"percent": percent, "language": language.name}
    label = _("%(percent)s of %(language)s translated") % facts
    words = max(progress.words, 1)
    words_done = progress.words - progress.words_left
    return render(
        "progress_bar.html",
        label=label,
        percent=percent,
        done=100 * words_done / words,
        waiting=100 * progress.words_fuzzy / words,
    )


class TranslationGlossary(SphinxDirective):
    """Write the glossary as a table."""

    def run(self) -> list[nodes.Node]:
        """Return the table; nothing, with a warning, if the glossary is damaged."""
        try:
            glossary = Translations(self.env).load_glossary()
        except GalleryError as error:
            logger.warning("%s", error, type="recorded_gallery", subtype="glossary")
            return []
        languages = self._list_languages()
        source = Language.source(self.config)
        rows: list[list[nodes.Node]] = []
        for term in glossary.terms:
            row: list[nodes.Node] = [_inline(term.name, f"language-{source.tag}")]
            for language in languages:
                translation = term.translation(language.code) or "–"
                row.append(_inline(translation, f"language-{language.tag}"))
            row.append(self._make_remark(term.note))
            rows.append(row)
        return [make_table(self._make_headings(languages), rows, classes=["glossary-table"])]

    def _list_languages(self) -> list[Language]:
        """Return the language of the page; for the page in the source language, all others."""
        current = Language.current(self.config)
        if current == Language.source(self.config):
            return list_translated_languages(self.config)
        return [current]

    def _make_headings(self, languages: list[Language]) -> list[str | nodes.Node]:
        headings: list[str | nodes.Node] = []
        for language in (Language.source(self.config), *languages):
            headings.append(_inline(language.name, "name-of-language"))
        headings.append(_("Remark"))
        return headings

    def _make_remark(self, note: str) -> nodes.paragraph:
        """Return a remark, which is a message of the page."""
        remark = nodes.paragraph(note, note)
        self.set_source_info(remark)
        return remark


def _inline(text: str, css_class: str) -> nodes.inline:
    return nodes.inline("", text, classes=[css_class])


def add_improve_links(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Add links to improve a page's translation, if the site has a repository."""
    config = app.config
    repository = config.recorded_gallery_repository_url.rstrip("/")
    language = Language.current(config)
    if not repository or language == Language.source(config):
        return
    if not doctree or app.builder.name not in SITE_BUILDERS:
        return
    uri = app.builder.get_target_uri(pagename)
    # Fields of .github/ISSUE_TEMPLATE/translation.yml
    fields = {"template": "translation.yml", "language": language.name}
    address = language.address(config.recorded_gallery_site_url, uri)
    if address:
        fields["page"] = address
    form = f"{repository}/issues/new?{urlencode(fields)}"
    catalog = Translations(app.env).find_catalog(pagename)
    edit = repository_address(app.env, catalog)
    links = render("improve_translation.html", form=form, edit=edit)
    context["body"] += links.astext()
    app.add_js_file(SCRIPT, loading_method="defer")

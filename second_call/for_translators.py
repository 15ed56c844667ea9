"""What translators find on pages: how far translations are, the glossary, links to improve one."""

from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    DATA_CLASS,
    GalleryError,
    Language,
    Status,
    add_up,
    catalog_path,
    catalog_status,
    current_language,
    format_number,
    format_percent,
    has_downloads,
    is_translated,
    label_domains,
    repository_address,
    source_language,
    translated_languages,
    typeset,
    watch,
    watch_glossary,
)

from .make_nodes import html_element, link_to_page, make_table, render

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

SCRIPT = "improve-translation.js"  # puts the selected sentence into the report


def setup(app: Sphinx) -> None:
    """Add the directives of the progress and of the glossary, and the links below pages."""
    app.add_directive("translation-status", TranslationStatus)
    app.add_directive("translation-glossary", TranslationGlossary)
    app.connect("html-page-context", add_improve_links)


class TranslationStatus(SphinxDirective):
    """Write a section for each translated language: a chart, and a table of its pages."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of ``languages.toml``."""
        return [self._section(language) for language in translated_languages(self.config)]

    def _section(self, language: Language) -> nodes.section:
        own = current_language(self.config)
        statuses = watch(self.env, catalog_status, language.code)
        section = nodes.section(ids=[nodes.make_id(language.tag)], names=[language.code])
        section += nodes.title("", language.name, translatable=False)
        section += draw_progress(add_up(statuses), own, language)
        translators: set[str] = set()
        for status in statuses:
            translators.update(status.translators)
        if translators:
            names = nodes.inline("", ", ".join(sorted(translators)), classes=[DATA_CLASS])
            label = nodes.Text(typeset(_("Translators") + ": ", own.locale))
            section += nodes.paragraph("", "", label, names, translatable=False)
        incomplete = [status for status in statuses if status.words_left]
        if incomplete:
            section += self._table_of_incomplete(incomplete)
        complete = [status for status in statuses if not status.words_left]
        if complete:
            label = _("Complete catalogs: %s") % format_number(len(complete), own.locale)
            summary = html_element("", nodes.Text(label), tag="summary", classes=[])
            table = self._table_of_complete(complete)
            section += html_element("", summary, table, tag="details", classes=["status-details"])
        return section

    def _table_of_incomplete(self, statuses: list[Status]) -> nodes.table:
        """Return a table of catalogs with what is left to do in each."""
        locale = current_language(self.config).locale
        headings = [_("Page"), _("Translated"), _("Words left"), _("To revise"), _("Catalog")]
        rows: list[list[nodes.Node]] = []
        for status in statuses:
            percent = nodes.Text(format_percent(status.percent / 100, locale))
            words_left = nodes.Text(format_number(status.words_left, locale))
            words_fuzzy = nodes.Text(format_number(status.words_fuzzy, locale))
            page = self._name_page(status)
            rows.append([page, percent, words_left, words_fuzzy, self._name_catalog(status)])
        return make_table(headings, rows, classes=["status-table"])

    def _table_of_complete(self, statuses: list[Status]) -> nodes.table:
        """Return a table of catalogs in which nothing is left to do."""
        headings = [_("Page"), _("Catalog")]
        rows = [[self._name_page(status), self._name_catalog(status)] for status in statuses]
        return make_table(headings, rows, classes=["status-table"])

    def _name_page(self, status: Status) -> nodes.Node:
        """Return a link to the page of a catalog, or its name if there is no such page."""
        if status.domain in label_domains(self.config):
            return nodes.Text(_("Labels of the site: %s") % status.domain)
        if status.domain not in self.env.found_docs:  # the page was removed
            return nodes.inline("", status.domain, classes=[DATA_CLASS])
        return link_to_page(self.env, status.domain)

    def _name_catalog(self, status: Status) -> nodes.Node:
        """Return the file name of a catalog, with a link if the site has a repository."""
        name = nodes.inline("", f"{status.domain}.po", classes=[DATA_CLASS])
        if address := repository_address(self.env, status.path):
            return nodes.reference("", "", name, refuri=address)
        return name


def draw_progress(progress: Status, own: Language, language: Language) -> nodes.Node:
    """Return a bar that shows which shares of the words are translated and to be revised."""
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


class TranslationGlossary(SphinxDirective):
    """Write the glossary as a table."""

    def run(self) -> list[nodes.Node]:
        """Return the table; nothing, with a warning, if the glossary is damaged."""
        try:
            glossary = watch_glossary(self.env)
        except GalleryError as error:
            logger.warning("%s", error, type="recorded_gallery", subtype="glossary")
            return []
        source = source_language(self.config)
        if is_translated(self.config):
            languages = [current_language(self.config)]
        else:  # the page in English shows all languages
            languages = translated_languages(self.config)
        headings: list[str | nodes.Node] = [_inline(source.name, "name-of-language")]
        headings += [_inline(language.name, "name-of-language") for language in languages]
        headings.append(_("Remark"))
        rows: list[list[nodes.Node]] = []
        for term in glossary.terms:
            row: list[nodes.Node] = [_inline(term.name, f"language-{source.tag}")]
            for language in languages:
                translation = term.translation(language.code) or "–"
                row.append(_inline(translation, f"language-{language.tag}"))
            note = nodes.paragraph(term.note, term.note)  # a message of the page
            self.set_source_info(note)
            row.append(note)
            rows.append(row)
        return [make_table(headings, rows, classes=["glossary-table"])]


def _inline(text: str, css_class: str) -> nodes.inline:
    return nodes.inline("", text, classes=[css_class])


def add_improve_links(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Add links to improve a page's translation, if the site has a repository."""
    config = app.config
    repository = config.recorded_gallery_repository_url.rstrip("/")
    if not (repository and doctree and is_translated(config) and has_downloads(app)):
        return
    language = current_language(config)
    uri = app.builder.get_target_uri(pagename)
    # Fields of .github/ISSUE_TEMPLATE/translation.yml
    fields = {"template": "translation.yml", "language": language.name}
    if address := language.address(config.recorded_gallery_site_url, uri):
        fields["page"] = address
    form = f"{repository}/issues/new?{urlencode(fields)}"
    links = render(
        "improve_translation.html",
        form=form,
        edit=repository_address(app.env, catalog_path(app.env, pagename)),
    )
    context["body"] += links.astext()
    app.add_js_file(SCRIPT, loading_method="defer")

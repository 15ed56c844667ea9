"""What translators find on pages: how far translations are, the glossary, how to improve a page."""

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

SCRIPT = "improve-translation.js"  # adds the selected sentence


def setup(app: Sphinx) -> None:
    """Add the directives that show how far translations are, and the glossary."""
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
        if people := sorted({name for status in statuses for name in status.translators}):
            names = nodes.inline("", ", ".join(people), classes=[DATA_CLASS])
            label = nodes.Text(typeset(_("Translators") + ": ", own.locale))
            section += nodes.paragraph("", "", label, names, translatable=False)
        if rest := [status for status in statuses if status.words_left]:
            section += self._table(rest, _("Translated"), _("Words left"), _("To revise"))
        if complete := [status for status in statuses if not status.words_left]:
            label = _("Complete catalogs: %s") % format_number(len(complete), own.locale)
            summary = html_element("", nodes.Text(label), tag="summary", classes=[])
            table = self._table(complete)
            section += html_element("", summary, table, tag="details", classes=["status-details"])
        return section

    def _table(self, statuses: list[Status], *measured: str) -> nodes.table:
        """Return a table of catalogs; ``measured`` are headings of how far they are, if shown."""
        locale, rows = current_language(self.config).locale, []
        for status in statuses:
            page: nodes.Node = link_to_page(self.env, status.domain)
            if status.domain in label_domains(self.config):
                page = nodes.Text(_("Labels of the site: %s") % status.domain)
            elif status.domain not in self.env.found_docs:  # of a page that is gone
                page = nodes.inline("", status.domain, classes=[DATA_CLASS])
            catalog: nodes.Node = nodes.inline("", f"{status.domain}.po", classes=[DATA_CLASS])
            if address := repository_address(self.env, status.path):
                catalog = nodes.reference("", "", catalog, refuri=address)
            counts = (format_number(n, locale) for n in (status.words_left, status.words_fuzzy))
            far = map(nodes.Text, [format_percent(status.percent / 100, locale), *counts])
            rows.append([page, *(far if measured else ()), catalog])
        return make_table([_("Page"), *measured, _("Catalog")], rows, classes=["status-table"])


def draw_progress(progress: Status, own: Language, language: Language) -> nodes.Node:
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


class TranslationGlossary(SphinxDirective):
    """Write the glossary as a table."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        try:
            glossary = watch_glossary(self.env)
        except GalleryError as error:
            logger.warning("%s", error, type="recorded_gallery", subtype="glossary")
            return []
        source, languages = source_language(self.config), translated_languages(self.config)
        if is_translated(self.config):  # in English, the words of all languages
            languages = [current_language(self.config)]
        names = (_inline(each.name, "name-of-language") for each in (source, *languages))
        rows: list[list[nodes.Node]] = []
        for term in glossary.terms:
            words = {each.tag: term.translation(each.code) or "–" for each in languages}
            words = {source.tag: term.name} | words
            note = nodes.paragraph(term.note, term.note)  # a message of the page
            self.set_source_info(note)
            rows.append([*(_inline(words[tag], f"language-{tag}") for tag in words), note])
        return [make_table([*names, _("Remark")], rows, classes=["glossary-table"])]


def _inline(text: str, name: str) -> nodes.inline:
    return nodes.inline("", text, classes=[name])


def add_improve_links(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Add the links to a page, if the site has a repository to which they can lead."""
    config = app.config
    repository = config.recorded_gallery_repository_url.rstrip("/")
    if not (repository and doctree and is_translated(config) and has_downloads(app)):
        return
    language = current_language(config)
    uri = app.builder.get_target_uri(pagename)
    # what .github/ISSUE_TEMPLATE/translation.yml asks for
    known = {"template": "translation.yml", "language": language.name}
    if address := language.address(config.recorded_gallery_site_url, uri):
        known["page"] = address
    form = f"{repository}/issues/new?{urlencode(known)}"
    links = render(
        "improve_translation.html",
        form=form,
        edit=repository_address(app.env, catalog_path(app.env, pagename)),
    )
    context["body"] += links.astext()
    app.add_js_file(SCRIPT, loading_method="defer")

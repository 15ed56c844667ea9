"""The directive ``translation-glossary``."""

from docutils import nodes
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.errors import GalleryError
from recipe_gallery.languages import (
    Language,
    current_language,
    is_translated,
    locale_dirs,
    source_language,
    translated_languages,
)
from recipe_gallery.translate.glossary import find_glossaries, load_glossary

from ..nodes import make_table

_ = get_translation("second_call")
logger = logging.getLogger(__name__)


def _languages(config: Config) -> list[Language]:
    """Return the languages of which a page shows the glossary: in English of all others."""
    return [current_language(config)] if is_translated(config) else translated_languages(config)


class TranslationGlossary(SphinxDirective):
    """Write the glossary as a table."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        locale = locale_dirs(self.config, self.env.srcdir)[0]
        for path in find_glossaries(locale):
            self.env.note_dependency(str(path))
        try:
            glossary = load_glossary(locale)
        except GalleryError as error:
            logger.warning("%s", error, type="recipe_gallery", subtype="glossary")
            return []
        source, languages = source_language(self.config), _languages(self.config)
        header = [
            *(_inline(each.name, "name-of-language") for each in (source, *languages)),
            _("Remark"),
        ]
        rows: list[list[nodes.Node]] = [
            [
                _inline(term.name, f"language-{source.tag}"),
                *(
                    _inline(term.translation(each.code) or "–", f"language-{each.tag}")
                    for each in languages
                ),
                self._note(term.note),
            ]
            for term in glossary.terms
        ]
        return [make_table(header, rows, classes=["glossary-table"])]

    def _note(self, text: str) -> nodes.paragraph:
        """Return a remark, which is a message of the page."""
        note = nodes.paragraph(text, text)
        self.set_source_info(note)
        return note


def _inline(text: str, name: str) -> nodes.inline:
    return nodes.inline("", text, classes=[name])

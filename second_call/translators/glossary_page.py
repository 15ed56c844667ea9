"""The directive ``translation-glossary``, and the files for translation tools that it links to."""

import contextlib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.errors import GalleryError
from recipe_gallery.languages import (
    Language,
    current_language,
    is_translated,
    source_language,
    translated_languages,
)
from recipe_gallery.recipes.cell_marks import DATA_CLASS
from recipe_gallery.translate.glossary import FILE_NAME, load_glossary, write_glossaries

from ..nodes import make_table

_ = get_translation("second_call")
logger = logging.getLogger(__name__)


def _languages(config: Config) -> list[Language]:
    """Return the languages of which a page shows the glossary: in English of all others."""
    return [current_language(config)] if is_translated(config) else translated_languages(config)


class TranslationGlossary(SphinxDirective):
    """Write the glossary as a table."""

    def run(self) -> list[nodes.Node]:
        """Return the table, and links to the forms that translation tools import."""
        path = Path(self.env.srcdir, self.config.locale_dirs[0], FILE_NAME)
        self.env.note_dependency(str(path))
        try:
            glossary = load_glossary(path.parent)
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
        label = nodes.paragraph("", _("For translation tools:"), translatable=False)
        links = nodes.paragraph("", translatable=False)
        for each in languages:
            name = f"glossary.{each.code}.csv"
            file = _inline(name, DATA_CLASS)
            links += [nodes.reference("", "", file, refuri=name), nodes.Text(" ")]
        return [make_table(header, rows, classes=["glossary-table"]), label, links]

    def _note(self, text: str) -> nodes.paragraph:
        """Return a remark, which is a message of the page."""
        note = nodes.paragraph(text, text)
        self.set_source_info(note)
        return note


def _inline(text: str, name: str) -> nodes.inline:
    return nodes.inline("", text, classes=[name])


def write_glossary_files(app: Sphinx, exception: Exception | None) -> None:
    """Write what the glossary's page links to."""
    if exception or app.builder.format != "html" or not app.config.locale_dirs:
        return
    with contextlib.suppress(GalleryError):  # the page has said what is wrong
        glossary = load_glossary(Path(app.srcdir, app.config.locale_dirs[0]))
        if glossary.terms:
            write_glossaries(glossary, _languages(app.config), Path(app.outdir))

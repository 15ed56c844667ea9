"""Pages for translators."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Add the directives that show how far translations are, and the glossary."""
    from . import glossary_page, improve, progress_page

    app.add_directive("translation-status", progress_page.TranslationStatus)
    app.add_directive("translation-glossary", glossary_page.TranslationGlossary)
    app.connect("html-page-context", improve.add_improve_links)

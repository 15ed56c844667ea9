"""Pages for translators."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Add the directives that show how far translations are, and the glossary."""
    from . import pages

    app.add_directive("translation-status", pages.TranslationStatus)
    app.add_directive("translation-glossary", pages.TranslationGlossary)
    app.connect("env-get-outdated", pages.outdated_pages)
    app.connect("build-finished", pages.write_glossary_files)

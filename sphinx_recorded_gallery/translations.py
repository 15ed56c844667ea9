"""The catalogs of a build, as the pages of a site ask for them."""

from collections.abc import Collection
from pathlib import Path

from sphinx.environment import BuildEnvironment

from .languages import Language, locale_folder
from .store import watch
from .translate.catalogs import Kind, label_domains
from .translate.glossary import Glossary, find_glossaries, load_glossary
from .translate.loading import catalog_path, find_messages
from .translate.status import TranslationStatus, load_status


class Translations:
    """The translations of a build: messages, how many there are, and the glossary.

    A language is called by its code in ``languages.toml``, such as ``zh_CN``.
    """

    def __init__(self, env: BuildEnvironment) -> None:
        self.env = env

    def translate(self, catalog: str, texts: Collection[str], language: Language) -> dict[str, str]:
        """Return the translations of texts into any language of the project, by the texts.

        ``catalog`` names where the texts stand: a page, if they are its prose, or a catalog of
        labels, which is called like its package. The result lacks texts without a translation, and
        those whose translation would spoil a page. A catalog is read once in a build.
        """
        kind = Kind.PROSE
        if catalog in label_domains(self.env.config):
            kind = Kind.LABEL
        return find_messages(self.env, catalog, texts, language, kind)

    def load_status(self, code: str) -> TranslationStatus:
        """Return how much of a language is translated.

        The status has a :class:`CatalogStatus` for each of its ``catalogs``, the ``total`` of all,
        and the names of the ``translators``. In a catalog that cannot be read, nothing counts as
        translated. The page at hand is read again when the status changes. Raises ``GalleryError``
        for a damaged template.
        """
        return watch(self.env, load_status, code)

    def load_glossary(self) -> Glossary:
        """Return the glossary; the page at hand is read again when a file of it changes.

        Each of its ``terms`` has a ``name``, a ``translation(code)`` and a ``note``. Raises
        ``GalleryError`` if a file of it is damaged.
        """
        locale = locale_folder(self.env.config, Path(self.env.srcdir))
        for path in find_glossaries(locale):
            self.env.note_dependency(str(path))
        return load_glossary(locale)

    def find_catalog(self, docname: str) -> Path:
        """Return where the catalog of a page lies, or would lie, in the language of the build."""
        return catalog_path(self.env, docname)

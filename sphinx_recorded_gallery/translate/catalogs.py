"""Gettext catalogs of a project: their paths, reading and writing, and kinds of messages.

There is one catalog for each page and language, ``<locale>/<language>/LC_MESSAGES/<page>.po``, and
some for labels: ``sphinx_recorded_gallery.po`` for the engine, one for each package in the setting
``recorded_gallery_label_packages``, and ``sphinx.po`` for the project's templates and for what
Sphinx and the theme leave untranslated. Their templates are ``<locale>/templates/<page>.pot``.
"""

import re
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import polib
from sphinx.config import Config

from ..atomic_files import atomic_write, ensure_regular_file
from ..engine_labels import ENGINE, LOCALE_IN_REPOSITORY
from ..errors import GalleryError
from ..project import Project
from .po_syntax import PoSyntaxError, parse_po

WIDTH = 79
_WORD = re.compile(r"[^\W\d_]{2}")


class Kind(Enum):
    """The kind of a message; its value begins the comment for translators.

    It is decided from nodes in ``transforms._kind_of``, written into templates by ``pot._COMMENTS``
    and read from catalogs by ``kind_of``.
    """

    PROSE = ""
    COMMENT = "Comment in code"
    FORMULA = "Formula"
    NAME = "Name of a case, a variant or a size, as tables and charts show it"
    LABEL = "Label"  # in a catalog of labels, where no comment is needed


def label_domains(config: Config) -> tuple[str, ...]:
    """Return the names of the catalogs that hold labels; all others are named after a page."""
    return (ENGINE, *config.recorded_gallery_label_packages, "sphinx")


def catalog_folder(locale: Path, language: str) -> Path:
    """Return the folder of a language's catalogs."""
    return locale / language / "LC_MESSAGES"


def locale_folders(project: Project) -> list[Path]:
    """Return the folders whose catalogs are translated in a project.

    In the repository of the engine, the folder of the engine's labels is one of them.
    """
    folders = [project.locale]
    engine_locale = _engine_locale(project)
    if engine_locale:
        folders.append(engine_locale)
    return folders


def _engine_locale(project: Project) -> Path | None:
    """Return the folder of the engine's labels in its repository; None in other projects."""
    folder = project.root / LOCALE_IN_REPOSITORY
    return folder if folder.is_dir() else None


def catalog_of(project: Project, domain: str, language: str) -> Path:
    """Return the path of a catalog of a project, which may not exist."""
    locale = project.locale
    if domain == ENGINE:
        locale = _engine_locale(project) or project.locale
    return catalog_folder(locale, language) / f"{domain}.po"


def find_catalogs(project: Project, language: str, domains: Iterable[str] = ()) -> dict[str, Path]:
    """Return the paths of a language's catalogs by name: existing ones and those of ``domains``.

    The name of a catalog is its path below ``LC_MESSAGES`` without the suffix.
    """
    catalogs = {domain: catalog_of(project, domain, language) for domain in domains}
    for locale in locale_folders(project):
        folder = catalog_folder(locale, language)
        for path in folder.rglob("*.po"):
            # Locks and copies of editors start with a dot.
            if not path.name.startswith(".") and path.is_file():
                domain = path.relative_to(folder).with_suffix("").as_posix()
                catalogs[domain] = path
    # As the paths of the files, whose suffix counts: a/b.po is before a.po.
    in_order = sorted(catalogs, key=lambda domain: f"{domain}.po".split("/"))
    return {domain: catalogs[domain] for domain in in_order}


def read_catalog(path: Path) -> polib.POFile:
    """Return a catalog in UTF-8, parsed as GNU gettext does.

    Raises ``GalleryError`` with path and line if it is not a catalog.
    """
    text = _read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    try:
        catalog = parse_po(text.removeprefix("\ufeff"))
    except PoSyntaxError as error:
        raise GalleryError(error.problem, path=path, line=error.line, remedy=error.remedy) from None
    catalog.fpath = str(path)
    catalog.wrapwidth = WIDTH
    for entry in catalog:  # some tools write a context, which messages here do not have
        entry.msgctxt = None  # type: ignore[assignment]
    return catalog


def _read_text(path: Path) -> str:
    """Return the text of a file in UTF-8; raise ``GalleryError`` for another encoding."""
    try:
        ensure_regular_file(path)
        content = path.read_bytes()
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None

    def encoding_error(problem: str, position: int) -> GalleryError:
        line = content[:position].count(b"\n") + 1
        return GalleryError(problem, path=path, line=line, remedy="save the file as UTF-8")

    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise encoding_error("a character that is not UTF-8", error.start) from None
    if "\0" in text:
        raise encoding_error("a zero byte", content.find(b"\0"))
    return text


def write_catalog(path: Path, catalog: polib.POFile) -> bool:
    """Write a catalog if that changes the file; return whether it did."""
    content = str(catalog).rstrip("\n").encode() + b"\n"
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, content)
    return True


def kind_of(entry: polib.POEntry, *, label: bool) -> Kind:
    """Return the kind of a message; ``label`` is true in a catalog of labels.

    If a tool drops the comments starting with ``#.``, comments and formulas count as prose until
    the next update of the catalogs.
    """
    if label:
        return Kind.LABEL
    description = entry.comment.partition(":")[0].strip()
    kinds = {kind.value: kind for kind in (Kind.COMMENT, Kind.FORMULA, Kind.NAME)}
    return kinds.get(description, Kind.PROSE)


def is_of_module(entry: polib.POEntry, domain: str) -> bool:
    """Return whether a message is a comment of a module that its page, ``domain``, shows folded."""
    if kind_of(entry, label=False) is not Kind.COMMENT or not entry.occurrences:
        return False
    page = domain.rpartition("/")[2]
    return all(Path(file).stem != page for file, _line in entry.occurrences)


def line_of(entry: polib.POEntry) -> int:
    """Return the line where an entry starts in its catalog."""
    return int(entry.linenum or 1)


def shorten(text: str) -> str:
    """Return the start of a text on one line, in quotes."""
    line = " ".join(text.split())
    if len(line) >= 60:
        line = f"{line[:57]}..."
    return repr(line)


def is_wordless(text: str) -> bool:
    """Return whether a message has nothing to translate: only literals, formulas or page names."""
    text = re.sub(r"``.*?``|:[\w:+-]+:`[^`<]*`", " ", text)
    if "\\text{" in text:
        text = re.sub(r"\\(text|mathrm)\{([^}]*)\}", r" \2 ", text)
    if "\\" in text:  # a formula
        text = re.sub(r"\\[A-Za-z]+|[_^]\{?\w*\}?|\b\w\b", " ", text)
    return not _WORD.search(text)


def count_words(text: str) -> int:
    """Return the number of words of a source text."""
    return len(text.split())


def percent_done(words: int, words_left: int) -> int:
    """Return whole percents; 100 only if nothing is left."""
    if not words_left:
        return 100
    return 100 * (words - words_left) // words

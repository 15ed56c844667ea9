"""Gettext catalogs of a project: where they lie, how they are read and written, what messages are.

There is one catalog for each page and language, ``<locale>/<language>/LC_MESSAGES/<page>.po``, and
some of labels: ``sphinx_recorded_gallery.po`` for the engine, one for each package in the setting
``recorded_gallery_label_packages``, and ``sphinx.po`` for the project's templates and for what
Sphinx and the theme leave untranslated. Their messages stand in ``<locale>/templates/<page>.pot``.
"""

import re
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import polib
from sphinx.config import Config

from ..atomic_files import atomic_write, ensure_regular_file
from ..errors import GalleryError
from ..labels import ENGINE, ENGINE_LOCALE
from ..project import Project
from .po_syntax import PoSyntaxError, parse_po

WIDTH = 79
_CHARSET = re.compile(rb"charset=([^\\\"\r\n]*)")
_WORD = re.compile(r"[^\W\d_]{2}")


class Kind(Enum):
    """What a message is; its value begins the comment that tells translators so."""

    PROSE = ""
    COMMENT = "Comment in code"
    FORMULA = "Formula"
    NAME = "Name of a case, a variant or a size, as tables and charts show it"
    LABEL = "Label"  # in a catalog of labels, of which no comment is needed


def label_domains(config: Config) -> tuple[str, ...]:
    """Return the names of the catalogs that hold labels; all others are named after a page."""
    return (ENGINE, *config.recorded_gallery_label_packages, "sphinx")


def catalog_folder(locale: Path, language: str) -> Path:
    """Return the folder of a language's catalogs."""
    return locale / language / "LC_MESSAGES"


def locale_folders(project: Project) -> list[Path]:
    """Return the folders whose catalogs are translated in a project.

    These are its own, and in the repository of the engine that of the engine's labels.
    """
    engine = project.root / ENGINE_LOCALE.relative_to(ENGINE_LOCALE.parents[2])
    return [project.locale, engine] if engine.is_dir() else [project.locale]


def catalog_of(project: Project, domain: str, language: str) -> Path:
    """Return where a catalog of a project lies, or would lie."""
    locale = locale_folders(project)[-1] if domain == ENGINE else project.locale
    return catalog_folder(locale, language) / f"{domain}.po"


def find_catalogs(project: Project, language: str, domains: Iterable[str] = ()) -> dict[str, Path]:
    """Return a language's catalogs by name: those that there are, and where others would lie.

    The name of a catalog is its path below ``LC_MESSAGES`` without the suffix.
    """
    catalogs = {domain: catalog_of(project, domain, language) for domain in domains}
    for locale in locale_folders(project):
        folder = catalog_folder(locale, language)
        for path in folder.rglob("*.po"):
            # Editors keep locks and copies in files that start with a dot.
            if not path.name.startswith(".") and path.is_file():
                domain = path.relative_to(folder).with_suffix("").as_posix()
                catalogs[domain] = path
    in_order = sorted(catalogs, key=lambda domain: f"{domain}.po".split("/"))
    return {domain: catalogs[domain] for domain in in_order}


def read_catalog(path: Path) -> polib.POFile:
    """Read a catalog in UTF-8 as GNU gettext does.

    Raises ``GalleryError`` with path and line if it is none.
    """
    text = _read_text(path).replace("\r\n", "\n").replace("\r", "\n")
    try:
        catalog = parse_po(text.removeprefix("\ufeff"))
    except PoSyntaxError as error:
        line, remedy = error.line, error.remedy
        raise GalleryError(error.problem, path=path, line=line, remedy=remedy) from None
    catalog.fpath, catalog.wrapwidth = str(path), WIDTH
    for entry in catalog:  # some tools write a context, which no message has
        entry.msgctxt = None  # type: ignore[assignment]
    return catalog


def _read_text(path: Path) -> str:
    """Return the text of a file that is in UTF-8 and says so, if it names an encoding."""
    try:
        ensure_regular_file(path)
        content = path.read_bytes()
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None

    def refuse(problem: str, place: int) -> GalleryError:
        line = content[:place].count(b"\n") + 1
        return GalleryError(problem, path=path, line=line, remedy="save the file as UTF-8")

    declared = _CHARSET.search(content)
    if declared and declared[1].lower().replace(b"-", b"") not in (b"utf8", b"usascii", b"ascii"):
        # Programs that obey it would read another text than reviewers see.
        name = declared[1].decode(errors="replace")
        raise refuse(f"the charset {name}, which not all programs read", declared.start())
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise refuse("a character that is not UTF-8", error.start) from None
    if "\0" in text:
        raise refuse("a zero byte", content.find(b"\0"))
    return text


def write_catalog(path: Path, catalog: polib.POFile) -> bool:
    """Write a catalog if that changes the file; tell whether it did."""
    content = str(catalog).rstrip("\n").encode() + b"\n"
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, content)
    return True


def kind_of(entry: polib.POEntry, *, label: bool) -> Kind:
    """Return what a message is; ``label`` tells that its catalog holds labels.

    A tool that drops the comments starting with ``#.`` makes comments and formulas look like prose
    until the next update of the catalogs.
    """
    if label:
        return Kind.LABEL
    description = entry.comment.partition(":")[0].strip()
    kinds = {kind.value: kind for kind in (Kind.COMMENT, Kind.FORMULA, Kind.NAME)}
    return kinds.get(description, Kind.PROSE)


def is_of_module(entry: polib.POEntry, domain: str) -> bool:
    """Tell whether a message is a comment of a module that its page, ``domain``, shows folded."""
    page = domain.rpartition("/")[2]
    files = [Path(file).stem for file, _line in entry.occurrences]
    return kind_of(entry, label=False) is Kind.COMMENT and bool(files) and page not in files


def line_of(entry: polib.POEntry) -> int:
    """Return the line where an entry starts in its catalog."""
    return int(entry.linenum or 1)


def shorten(text: str) -> str:
    """Return the start of a text on one line, in quotes."""
    flat = " ".join(text.split())
    return repr(flat if len(flat) < 60 else f"{flat[:57]}...")


def is_wordless(text: str) -> bool:
    """Tell a message that has nothing to translate: literals, formulas, links that name a page."""
    text = re.sub(r"``.*?``|:[\w:+-]+:`[^`<]*`", " ", text)
    text = re.sub(r"\\(text|mathrm)\{([^}]*)\}", r" \2 ", text) if "\\text{" in text else text
    if "\\" in text:  # a formula
        text = re.sub(r"\\[A-Za-z]+|[_^]\{?\w*\}?|\b\w\b", " ", text)
    return not _WORD.search(text)


def count_words(text: str) -> int:
    """Return how many words a source text has."""
    return len(text.split())


def percent_done(words: int, words_left: int) -> int:
    """Return whole percents, 100 only if nothing is left."""
    return 100 * (words - words_left) // words if words_left else 100

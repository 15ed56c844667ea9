"""Gettext catalogs of a project: where they lie, read, written and measured.

There is one catalog for each page and language, ``<locale>/<language>/LC_MESSAGES/<page>.po``, one
for each module whose source recipes show (``recipes/_module.po``), and some of labels:
``recipe_gallery.po`` for the engine, one for each package in the setting
``recipe_gallery_label_packages``, and ``sphinx.po`` for the project's templates and for what Sphinx
and the theme leave untranslated.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import polib
from sphinx.config import Config

from ..errors import GalleryError

WIDTH = 79
TEMPLATES = "templates"  # folder beside those of the languages
ENGINE = "recipe_gallery"  # name of the catalogs that hold the engine's labels
ENGINE_LOCALE = Path(__file__).parent / "locale"
_QUOTED = re.compile(r"(?:#~ ?)?(?:msg(?:id|id_plural|str|ctxt)\b|\")")
_WELL_QUOTED = re.compile(
    r'(?:#~ ?)?(?:msg(?:id|id_plural|str|ctxt)(?:\[\d+\])?\s+)?"(?:[^"\\]|\\.)*"\s*'
)
# What a charset of catalogs leaves as it is; utf-7, punycode or unicode_escape do not
_PROBE = bytes(range(0x20, 0x7F)) + rb"\n\u0041+AGE-a-9"
_FIELD = re.compile(r"(?:#~ ?)?(msgctxt|msgid|msgstr)\b")
_WORD = re.compile(r"[^\W\d_]{2}")


class Kind(Enum):
    """What a message is; its value begins the comment that tells translators so."""

    PROSE = ""
    COMMENT = "Comment in code"
    FORMULA = "Formula"
    LABEL = "Label"  # in a catalog of labels, of which no comment is needed


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How much of a catalog is translated, in words of the source."""

    words: int
    words_left: int
    words_fuzzy: int  # of those left, the ones whose translation waits to be revised
    fuzzy: int  # messages

    @property
    def percent(self) -> int:
        """Whole percents of the words, 100 only if nothing is left."""
        return percent_done(self.words, self.words_left)


def percent_done(words: int, words_left: int) -> int:
    """Return whole percents, 100 only if nothing is left."""
    return 100 * (words - words_left) // words if words_left else 100


def label_domains(config: Config) -> tuple[str, ...]:
    """Return the names of the catalogs that hold labels; all others are named after a page."""
    return (ENGINE, *config.recipe_gallery_label_packages, "sphinx")


def catalog_folder(locale: Path, language: str) -> Path:
    """Return the folder of a language's catalogs."""
    return locale / language / "LC_MESSAGES"


def locale_folders(root: Path, locale: Path) -> list[Path]:
    """Return the folders whose catalogs are translated in the project at ``root``.

    These are its own, ``locale``, and in the repository of the engine that of the engine's labels.
    """
    engine = root / ENGINE_LOCALE.relative_to(ENGINE_LOCALE.parents[2])
    return [locale, engine] if engine.is_dir() else [locale]


def shipped_labels(code: str) -> Path | None:
    """Return the catalog of the engine's labels for a language such as pt_BR, or else for pt."""
    paths = (
        catalog_folder(ENGINE_LOCALE, each) / f"{ENGINE}.po"
        for each in (code, code.partition("_")[0])
    )
    return next((path for path in paths if path.exists()), None)


def has_templates(locale: Path) -> bool:
    """Tell whether the messages of pages are kept beside the catalogs, as ``update-po`` does it."""
    return (locale / TEMPLATES).is_dir()


def find_catalogs(locale: Path, language: str) -> list[Path]:
    """Return a language's catalogs in the order of their paths."""
    found = catalog_folder(locale, language).rglob("*.po")
    # Editors keep locks and copies in files that start with a dot.
    return sorted(path for path in found if not path.name.startswith(".") and path.is_file())


def split_path(path: Path) -> tuple[Path, str, str]:
    """Return the folder of all languages, the language and the name of a catalog."""
    folder, _, domain = os.path.abspath(path).removesuffix(path.suffix).rpartition("/LC_MESSAGES/")
    return Path(os.path.dirname(folder)), os.path.basename(folder), domain


def domain_of(path: Path) -> str:
    """Return the name of a catalog: its path below ``LC_MESSAGES`` without the suffix."""
    return split_path(path)[2]


def read_catalog(path: Path) -> polib.POFile:
    """Read a catalog; raise ``GalleryError`` with path and line if it is none."""
    text = _read_text(path)
    _check_rows(path, text)
    try:
        # The newline keeps polib from taking the text for the name of a file.
        return polib.pofile(_Lines(text.lstrip("\ufeff") + "\n"), wrapwidth=WIDTH)
    except (OSError, ValueError, IndexError, AttributeError, UnicodeError) as error:
        line = int(found[1]) if (found := re.search(r"line (\d+)", str(error))) else 1
        problem, remedy = "not a catalog from here on", "compare with the lines above"
        raise GalleryError(problem, path=path, line=line, remedy=remedy) from None


class _Lines(str):
    """A text whose lines end at line feeds alone, as those of a catalog do."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        """Return the lines; U+2028 and the like are characters of one."""
        return self.split("\n")


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None
    declared = re.search(rb"charset=([-\w]+)", content)
    charset = declared[1].decode() if declared else "utf-8"
    try:
        if _PROBE.decode(charset, "replace") != _PROBE.decode():
            raise LookupError  # bytes would say one thing to reviewers and another one here
        text = content.decode(charset)
    except LookupError:
        problem, place = f"unknown charset {charset!r}", declared.start() if declared else 0
    except UnicodeError as error:
        problem, place = f"not {charset}, which the header names", getattr(error, "start", 0)
    else:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "\0" not in text:
            return text
        problem, place = "a zero byte", content.index(b"\0")
    line = content[:place].count(b"\n") + 1
    raise GalleryError(problem, path=path, line=line, remedy="save the file as UTF-8")


def _check_rows(path: Path, text: str) -> None:
    """Raise ``GalleryError`` for what polib would read wrongly without a word."""
    waiting = 0  # line of a message whose msgstr has not come yet
    for line, row in enumerate(text.split("\n"), start=1):
        if row.startswith(("<<<<<<< ", ">>>>>>> ")):
            problem, remedy = "a conflict that git left here", "keep one side and no line of git's"
            raise GalleryError(problem, path=path, line=line, remedy=remedy)
        if _QUOTED.match(row) and not _WELL_QUOTED.fullmatch(row):
            problem = "the text has to stand between two quotes"
            raise GalleryError(problem, path=path, line=line, remedy='write \\" for one inside')
        field = _FIELD.match(row)
        if field and field[1] == "msgid" and not waiting:
            waiting = line
        elif field and field[1] == "msgstr":
            waiting = 0
        elif field and waiting:
            break
    if waiting:
        raise GalleryError("no msgstr follows", path=path, line=waiting, remedy='add: msgstr ""')


def write_catalog(path: Path, catalog: polib.POFile) -> bool:
    """Write a catalog if that changes the file; tell whether it did."""
    text = str(catalog)
    text = text if text.endswith("\n") else text + "\n"
    if path.exists() and path.read_bytes() == text.encode():
        return False
    replace_file(path, text.encode())
    return True


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that whoever reads it meanwhile sees the old one or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.write_bytes(content)
    partial.replace(path)


def kind_of(entry: polib.POEntry, *, label: bool) -> Kind:
    """Return what a message is; ``label`` tells that its catalog holds labels.

    A tool that drops the comments starting with ``#.`` makes comments and formulas look like prose
    until the next update of the catalogs.
    """
    if label:
        return Kind.LABEL
    said = entry.comment.partition(":")[0].strip()
    return next((kind for kind in (Kind.COMMENT, Kind.FORMULA) if kind.value == said), Kind.PROSE)


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


def measure(catalog: polib.POFile, texts: Collection[str] | None = None) -> Progress:
    """Count what is translated, of the messages ``texts`` if it is known which there are."""
    live = {e.msgid: e for e in catalog if not (e.obsolete or e.msgctxt or e.msgid_plural)}
    wanted = live.keys() if texts is None else texts
    left = [
        text
        for text in wanted
        if (not live[text].translated() if text in live else not is_wordless(text))
    ]
    fuzzy = [text for text in left if text in live and live[text].fuzzy]
    words, words_left, words_fuzzy = (sum(map(count_words, part)) for part in (wanted, left, fuzzy))
    return Progress(words=words, words_left=words_left, words_fuzzy=words_fuzzy, fuzzy=len(fuzzy))


def count_words(text: str) -> int:
    """Return how many words a source text has."""
    return len(text.split())

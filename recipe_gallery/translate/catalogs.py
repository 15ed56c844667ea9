"""Gettext catalogs: read, write, measure, and update from the sources.

One catalog for each page and language, ``locale/<language>/LC_MESSAGES/<page>.po``, and two for the
interface: ``recipe_gallery.po`` holds the texts of this package, ``sphinx.po`` those of the
templates and what Sphinx and the theme leave untranslated.
"""

import difflib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polib

from ..project import GalleryError

WIDTH = 79
INTERFACE = ("recipe_gallery", "second_call", "sphinx")
# How alike an old and a new source text have to be for the old translation to be offered.
_ALIKE = 0.6
_QUOTED = re.compile(r"(?:#~ ?)?(?:msg(?:id|id_plural|str|ctxt)\b|\")")
_WELL_QUOTED = re.compile(
    r'(?:#~ ?)?(?:msg(?:id|id_plural|str|ctxt)(?:\[\d+\])?\s+)?"(?:[^"\\]|\\.)*"\s*'
)
_WORD = re.compile(r"[^\W\d_]{2}")


_Key = tuple[str | None, str]  # context and text of a message


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How much of a catalog is translated, in messages and words of the source."""

    total: int
    translated: int
    fuzzy: int
    words: int
    words_left: int

    @property
    def percent(self) -> int:
        """Whole percents of the words, 100 only if nothing is left."""
        return percent_done(self.words, self.words_left)


def percent_done(words: int, words_left: int) -> int:
    """Return whole percents, 100 only if nothing is left."""
    if not words_left:
        return 100
    return min(99, 100 * (words - words_left) // max(words, 1))


def catalog_folder(locale: Path, language: str) -> Path:
    """Return the folder of a language's catalogs."""
    return locale / language / "LC_MESSAGES"


def find_catalogs(locale: Path, language: str) -> list[Path]:
    """Return a language's catalogs in the order of their paths."""
    found = catalog_folder(locale, language).rglob("*.po")
    # Editors keep locks and copies in files that start with a dot.
    return sorted(path for path in found if not path.name.startswith(".") and path.is_file())


def read_catalog(path: Path) -> polib.POFile:
    """Read a catalog; raise ``GalleryError`` that names file and line if it is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise GalleryError(f"{path}: cannot be read: {error.strerror}") from None
    declared = re.search(rb"charset=([-\w]+)", content)
    charset = declared[1].decode() if declared else "utf-8"
    try:
        text = content.decode(charset)
    except LookupError:
        line = content[: declared.start()].count(b"\n") + 1 if declared else 1
        raise GalleryError(
            f"{path}:{line}: unknown charset {charset!r}; save the file as UTF-8"
        ) from None
    except UnicodeError as error:
        line = content[: getattr(error, "start", 0)].count(b"\n") + 1
        raise GalleryError(
            f"{path}:{line}: not {charset}, which the header names; save the file as UTF-8"
        ) from None
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise GalleryError(f"{path}:{line}: a zero byte; remove it")
    for line, row in enumerate(text.splitlines(), start=1):
        if _QUOTED.match(row) and not _WELL_QUOTED.fullmatch(row):
            # polib would drop the last character without a word.
            raise GalleryError(
                f'{path}:{line}: the text has to stand between two quotes; write \\" for one inside'
            )
    try:
        # The newline keeps polib from taking the text for the name of a file.
        return polib.pofile(text.lstrip("\ufeff") + "\n", wrapwidth=WIDTH)
    except (OSError, ValueError, IndexError, AttributeError, UnicodeError) as error:
        line = _line_of(error)
        raise GalleryError(
            f"{path}:{line}: not a catalog from here on; compare with the lines above"
        ) from None


def _line_of(error: Exception) -> int:
    found = re.search(r"line (\d+)", str(error))
    return int(found[1]) if found else 1


def write_catalog(path: Path, catalog: polib.POFile) -> bool:
    """Write a catalog if that changes the file; tell whether it did."""
    text = str(catalog)
    text = text if text.endswith("\n") else text + "\n"
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode())
    return True


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that whoever reads it meanwhile sees the old one or the new one, whole."""
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.write_bytes(content)
    partial.replace(path)


def is_wordless(text: str) -> bool:
    """Tell a message that has nothing to translate: literals, formulas, links that name a page."""
    text = re.sub(r"``.*?``|:[\w:+-]+:`[^`<]*`", " ", text)
    text = re.sub(r"\\(text|mathrm)\{([^}]*)\}", r" \2 ", text) if "\\text{" in text else text
    if "\\" in text:  # a formula
        text = re.sub(r"\\[A-Za-z]+|[_^]\{?\w*\}?|\b\w\b", " ", text)
    return not _WORD.search(text)


def measure(catalog: polib.POFile) -> Progress:
    """Count what is translated."""
    live = [entry for entry in catalog if not entry.obsolete]
    left = [entry for entry in live if not entry.translated()]
    return Progress(
        total=len(live),
        translated=len(live) - len(left),
        fuzzy=sum(entry.fuzzy for entry in live),
        words=sum(count_words(entry.msgid) for entry in live),
        words_left=sum(count_words(entry.msgid) for entry in left),
    )


def count_words(text: str) -> int:
    """Return how many words a source text has."""
    return len(text.split())


def update_catalog(
    old: polib.POFile | None, template: polib.POFile, *, language: str
) -> polib.POFile:
    """Return a catalog with the messages of ``template`` and the translations of ``old``.

    A message whose text changed keeps its translation as fuzzy, with the old text beside it. One
    that was removed is kept as obsolete, and revived if its text comes back.
    """
    new = polib.POFile(wrapwidth=WIDTH)
    new.header = old.header if old else ""
    new.metadata = _header(old, template, language)
    before: dict[_Key, polib.POEntry] = {}
    # A merge may leave a message twice: the one that is in use and translated goes first.
    for entry in sorted(old or (), key=lambda e: (bool(e.obsolete), e.fuzzy, not e.msgstr)):
        before.setdefault((entry.msgctxt, entry.msgid), entry)
    known: set[_Key] = {(entry.msgctxt, entry.msgid) for entry in template}
    gone = {key: entry for key, entry in before.items() if key not in known and entry.msgstr}
    for entry in template:
        key = (entry.msgctxt, entry.msgid)
        made = polib.POEntry(
            msgid=entry.msgid,
            msgctxt=entry.msgctxt,
            msgid_plural=entry.msgid_plural,
            comment=entry.comment,
            flags=[flag for flag in entry.flags if flag != "fuzzy"],
            # No line numbers: they would change with every edit above.
            occurrences=[(file, "") for file in dict.fromkeys(f for f, _ in entry.occurrences)],
        )
        if found := before.get(key):
            _take_over(made, found)
        elif is_wordless(entry.msgid) and not entry.msgid_plural:
            made.msgstr = entry.msgid
        elif similar := _find_similar(entry.msgid, gone):
            _take_over(made, gone[similar])
            made.flags = ["fuzzy", *(flag for flag in made.flags if flag != "fuzzy")]
            # A text that changed twice: the translation is still that of the first.
            was = gone[similar].previous_msgid if gone[similar].fuzzy else None
            made.previous_msgid = was or gone[similar].msgid
            if made.previous_msgid == made.msgid:  # and this is the first one again
                made.previous_msgid = None
                made.flags.remove("fuzzy")
            del before[similar], gone[similar]
        new.append(made)
    for old_key, entry in before.items():
        if old_key not in known and (entry.msgstr or entry.tcomment):
            entry.obsolete = True
            entry.previous_msgid = None  # it would not be read back
            entry.occurrences = []
            new.append(entry)
    return new


def _take_over(made: polib.POEntry, found: polib.POEntry) -> None:
    made.msgstr = found.msgstr
    made.msgstr_plural = dict(found.msgstr_plural)
    made.tcomment = found.tcomment
    made.previous_msgid = found.previous_msgid
    if found.fuzzy:
        made.flags = ["fuzzy", *made.flags]


def _find_similar(text: str, gone: dict[_Key, polib.POEntry]) -> _Key | None:
    by_text = {key[1]: key for key in gone}
    matches = difflib.get_close_matches(text, by_text, n=1, cutoff=_ALIKE)
    return by_text[matches[0]] if matches else None


def _header(old: polib.POFile | None, template: polib.POFile, language: str) -> dict[str, str]:
    project = template.metadata.get("Project-Id-Version", "").strip() or "PACKAGE"
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M+0000")
    fields = {
        "Project-Id-Version": project,
        "PO-Revision-Date": now,
        "Last-Translator": f"The {project} authors",
        "Language-Team": "none",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    if old:
        # Its date changes with every template, which makes every update a change.
        kept = {name: value.strip() for name, value in old.metadata.items()}
        kept.pop("POT-Creation-Date", None)
        fields = {**kept, **{name: kept.get(name, value) for name, value in fields.items()}}
        fields["Content-Type"] = "text/plain; charset=UTF-8"  # it is written so
    return fields

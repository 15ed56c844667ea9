"""Parse the text of a catalog as GNU gettext does.

polib reads only one layout of ``.po`` files; other tools write others. As in GNU gettext, blanks
and line breaks may stand between any two words here, and a comment may follow its sign at once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import polib

_BLANKS = " \t\f\v"
_WORD = re.compile(
    r"\s*(?:(?P<keyword>msgid_plural|msgid|msgctxt|msgstr(?:\s*\[\s*\d{1,3}\s*\])?|domain)(?![A-Za-z_])"
    r'|"(?P<text>(?:[^"\\]|\\.)*)")'
)
_PLURAL = re.compile(r"msgstr\[(?P<number>\d+)\]")
_BEGINS_AS_FIELD = re.compile(r'\s*(?:msgid|msgctxt|msgstr|domain|")')
_COMMENT_BEHIND = re.compile(r"[ \t\f\v]*#(.*)", re.DOTALL)
_COMMENT = re.compile(r"#(?P<sign>~\||[~|.:,=]?)(?P<text>.*)", re.DOTALL)
_NUMBER = r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2})"  # of a byte, in an escape
_ESCAPE = re.compile(rf'\\(?P<letter>[abfnrtv\\"])|(?:{_NUMBER})+')
_CHARSET = re.compile(r"charset=([^\s;]*)")
_UTF8 = ("utf8", "usascii", "ascii", "charset")  # the last is the placeholder of new templates
_ESCAPED = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
}
# Names of files with blanks stand between isolates
_REFERENCE = re.compile(r"\u2068[^\u2069]*\u2069\S*|\S+")


class PoSyntaxError(ValueError):
    """A text that is not a catalog: the line, the problem and a remedy."""

    def __init__(self, line: int, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem
        self.remedy = remedy


@dataclass(kw_only=True)
class _Draft:
    """A message that is being read: pieces of its fields and of its comments."""

    line: int  # where it begins, including its comments
    fields: dict[str, list[str]] = field(default_factory=dict)  # by keyword
    comments: dict[str, list[str]] = field(default_factory=dict)  # by the sign after the #
    previous: dict[str, list[str]] = field(default_factory=dict)  # the former fields, after #|
    line_of_text: int = 0
    is_obsolete: bool = False

    @property
    def is_translated(self) -> bool:
        """Whether its msgstr has begun."""
        return any(keyword.startswith("msgstr") for keyword in self.fields)


_OTHER_QUOTES = re.compile(r"\s*[“”„‟«»‘’‚'`＂「『]")


def parse_po(text: str) -> polib.POFile:
    """Return the catalog of a text; each entry has the line where it begins.

    Raises ``PoSyntaxError`` for a text that GNU gettext would not read either.
    """
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), start=1):
        reader.read_line(number, line.strip(_BLANKS))
    reader.finish_message()
    return reader.catalog


class _Reader:
    """Reads a catalog line by line."""

    def __init__(self) -> None:
        self.catalog = polib.POFile()
        self.draft: _Draft | None = None
        self.pieces: list[str] | None = None  # of the current field
        self.next = _Draft(line=0)  # comments of the next message

    def read_line(self, number: int, line: str) -> None:
        """Read a line without the blanks around it."""
        if line.startswith(("<<<<<<< ", ">>>>>>> ")) or line == "=======":
            problem = "an unresolved merge conflict"
            raise PoSyntaxError(number, problem, "keep one side and remove the lines of git")
        comment = _COMMENT.fullmatch(line)
        if not comment:
            self._read_fields(number, line, is_obsolete=False)
        elif comment["sign"] == "~":
            self._read_fields(number, comment["text"], is_obsolete=True)
        elif comment["sign"] == "|":
            self._read_previous(number, comment["text"])
        elif comment["sign"] != "~|":
            sign = comment["sign"]
            if sign == "=":  # sticky flags, as GNU gettext calls them, are flags, too
                sign = ","
            self._begin_next(number).comments.setdefault(sign, []).append(comment["text"])

    def finish_message(self) -> None:
        """Add the current message to the catalog."""
        draft = self.draft
        self.draft = None
        self.pieces = None
        if draft is None:
            return
        if not draft.is_translated:
            raise PoSyntaxError(draft.line_of_text, "no msgstr follows", 'add: msgstr ""')
        entry = _make_entry(draft)
        if entry.msgid or entry.msgctxt:
            self.catalog.append(entry)
            return
        _require_utf8(draft.line_of_text, entry.msgstr)
        is_first = not (self.catalog.metadata or entry.obsolete)
        if is_first:  # files that were joined have several headers
            self.catalog.header = entry.tcomment
            self.catalog.metadata = _read_metadata(entry.msgstr)
            self.catalog.metadata_is_fuzzy = "fuzzy" in entry.flags

    def _begin_next(self, number: int) -> _Draft:
        """Return the next message, which begins in this line unless it has begun before."""
        self.next.line = self.next.line or number
        return self.next

    def _read_previous(self, number: int, text: str) -> None:
        """Read fields of the former message, which stand after #|."""
        draft = self._begin_next(number)
        pieces: list[str] | None = None  # of the last keyword, which may be on a line before
        if draft.previous:
            last_keyword = next(reversed(draft.previous))
            pieces = draft.previous[last_keyword]
        for keyword, piece in _split_words(number, text):
            if keyword and keyword != "#":
                pieces = draft.previous[keyword] = []
            elif pieces is None:
                raise _syntax_error(number)
            else:
                pieces.append(piece)

    def _read_fields(self, number: int, text: str, *, is_obsolete: bool) -> None:
        """Read fields, several in a line or one in several lines."""
        for keyword, piece in _split_words(number, text):
            if keyword == "#":
                self._begin_next(number).comments.setdefault("", []).append(piece)
            elif keyword == "domain":  # each file of a project is one domain
                self.finish_message()
                self.pieces = []
            elif keyword:
                self._begin_field(number, keyword, is_obsolete=is_obsolete)
            elif self.pieces is None:
                raise _syntax_error(number)
            else:
                self.pieces.append(piece)

    def _begin_field(self, number: int, keyword: str, *, is_obsolete: bool) -> None:
        """Begin a field, and a message if it is its first; raise an error for a wrong order."""
        is_start = keyword in ("msgctxt", "msgid")
        if is_start and (self.draft is None or self.draft.is_translated):
            self.finish_message()
            self.draft = self._begin_next(number)
            self.draft.is_obsolete = is_obsolete
            self.next = _Draft(line=0)
        draft = self.draft
        if draft is None:
            raise _syntax_error(number)
        if is_start and "msgid" in draft.fields:
            raise PoSyntaxError(draft.line_of_text, "no msgstr follows", 'add: msgstr ""')
        if keyword in draft.fields:
            problem = f"a second {keyword}"
            raise PoSyntaxError(number, problem, "keep one and remove the lines of the other")
        if keyword == "msgid":
            draft.line_of_text = number
        elif "msgid" not in draft.fields and keyword != "msgctxt":
            raise _syntax_error(number)
        self.pieces = draft.fields.setdefault(keyword, [])


def _split_words(number: int, text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a line: a keyword and "", or "" and a text.

    A comment after them is yielded as ``#`` and its text.
    """
    end = 0
    text = text.rstrip(_BLANKS)
    while end < len(text):
        comment = _COMMENT_BEHIND.match(text, end)
        if comment:
            yield "#", comment[1]
            return
        word = _WORD.match(text, end)
        if not word:
            raise _syntax_error(number, text[end:])
        end = word.end()
        if word["keyword"]:
            yield re.sub(r"\s", "", word["keyword"]), ""
        else:
            yield "", _ESCAPE.sub(_unescape, word["text"])


def _syntax_error(number: int, text: str = "") -> PoSyntaxError:
    if _BEGINS_AS_FIELD.match(text) or '"' in text:
        problem = "the text has to stand between two quotes"
        return PoSyntaxError(number, problem, 'write \\" for a quote inside')
    if _OTHER_QUOTES.match(text):
        problem = f"the text stands in {text.strip()[0]}, and not in straight quotes"
        return PoSyntaxError(number, problem, 'write " before it and behind it')
    return PoSyntaxError(number, "not a catalog from here on", "compare with the lines above")


def _unescape(escape: re.Match[str]) -> str:
    """Return the characters of an escape, or of bytes in a row; bytes that are no UTF-8 stay."""
    if escape["letter"]:
        return _ESCAPED[escape["letter"]]
    codes = []
    for number in re.findall(_NUMBER, escape[0]):
        digits = number[1:]
        codes.append(int(digits[1:], 16) if digits.startswith("x") else int(digits, 8))
    try:
        return bytes(codes).decode()
    except ValueError:  # also of a number above 255
        return escape[0]


def _require_utf8(line: int, header: str) -> None:
    """Raise ``PoSyntaxError`` for a header that names another encoding than UTF-8.

    Programs that obey it would read another text than the one that reviewers see.
    """
    for charset in _CHARSET.findall(header):
        if charset.lower().replace("-", "") not in _UTF8:
            problem = f"the charset is {charset}, not UTF-8"
            remedy = "write charset=UTF-8 there, and save the file as UTF-8"
            raise PoSyntaxError(line, problem, remedy)


def _make_entry(draft: _Draft) -> polib.POEntry:
    texts = {keyword: "".join(pieces) for keyword, pieces in draft.fields.items()}
    previous = {keyword: "".join(pieces) for keyword, pieces in draft.previous.items()}
    comments = {}
    for sign, lines in draft.comments.items():
        comments[sign] = "\n".join(line.removeprefix(" ") for line in lines)
    plural_forms = {}
    for keyword, text in texts.items():
        plural = _PLURAL.fullmatch(keyword)
        if plural:
            plural_forms[int(plural["number"])] = text
    flags: dict[str, None] = {}
    for flag in comments.get(",", "").replace("\n", ",").split(","):
        if flag.strip():
            flags[flag.strip()] = None
    return polib.POEntry(
        msgid=texts["msgid"],
        msgstr=texts.get("msgstr", ""),
        msgid_plural=texts.get("msgid_plural", ""),
        msgstr_plural=plural_forms,
        msgctxt=texts.get("msgctxt"),
        tcomment=comments.get("", ""),
        comment=comments.get(".", ""),
        occurrences=_read_references(comments.get(":", "")),
        flags=list(flags),
        previous_msgid=previous.get("msgid"),
        previous_msgid_plural=previous.get("msgid_plural"),
        previous_msgctxt=previous.get("msgctxt"),
        obsolete=draft.is_obsolete,
        linenum=draft.line,
    )


def _read_references(text: str) -> list[tuple[str, str]]:
    """Return names of files with lines; the line is empty if a reference has none."""
    references = []
    for reference in _REFERENCE.findall(text):
        file, _colon, line = reference.rpartition(":")
        if file and line.isdigit():
            references.append((file, line))
        else:
            references.append((reference, ""))
    return references


def _read_metadata(text: str) -> dict[str, str]:
    """Return the fields of a header; a line without a colon goes on with the field before."""
    metadata: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        before, colon, value = line.partition(":")
        if colon:
            name = before
            metadata[name] = value.strip()
        elif name:
            metadata[name] += f"\n{line}"
    return metadata

"""Checks of translations, and the messages that they check.

A check is a generator that yields the problems of one message. The table ``BREAKING`` lists those
that protect pages, each with the kinds of messages it applies to; ``style_checks.py`` has those
that advise. What needs the entry of a catalog, not only its texts, stands inside ``examine`` and
protects pages, too: ``duplicate``, ``plural`` and ``size``. Cases for all checks are in
tests/engine/translate/messages.jsonl. A translator excuses advice with a comment at the message,
with a reason::

    # check-po: allow glossary (here "layer" is a layer of abstraction)
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from unicodedata import normalize

import polib

from ..errors import GalleryError, suggest
from ..languages import Language
from .catalogs import Kind, is_wordless, line_of, shorten
from .code_comments import find_problem
from .equivalents import Differences, Part, find_differences, is_same_page
from .glossary import Glossary
from .hidden_characters import find_hidden
from .markup import (
    TOUCHES,
    Markup,
    count_new_glued,
    find_lost_backticks,
    parse,
    shield_names,
)

PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-#0+]*[\d.]*[hlL]?[diouxXeEfFgGcrsa%]|\{[\w.]*(?:![rsa])?(?::[^{}]*)?\}"
)
# HTML without doubt: the end of an element, a tag with attributes, a comment, an entity
_CERTAIN_TAG = re.compile(
    r"</[a-zA-Z][^<>]*>|<(?!https?://)[a-zA-Z][^<>]*(?:=[^<>]*|/)>|<!--|&(?:[a-zA-Z]+|#\d+);"
)
# In prose, < and > may enclose a word (<package>); it is a tag if a browser knows the element
_WORD_IN_BRACKETS = re.compile(r"<([a-zA-Z]+\d?)>")
TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-zA-Z]+|#\d+);")
_DATE_CODE = re.compile(r"%-?[aAbBcdeHIjmMpSuwxXyYZ]")
ADDRESS = re.compile(r"https?://[^\s<>\"'`)]+")
# Parts that only look like words: tags, addresses, placeholders and names in backticks
NO_WORDS = re.compile(f"{TAG.pattern}|{ADDRESS.pattern}|{PLACEHOLDER.pattern}|`[^`]+`")

# Elements that a browser knows
_ELEMENT = re.compile(
    r"a|abbr|acronym|address|applet|area|article|aside|audio|b|base|bdi|bdo|big|"
    r"blink|blockquote|body|br|button|canvas|caption|center|cite|code|col|colgroup|"
    r"data|datalist|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|fieldset|"
    r"figcaption|figure|font|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|"
    r"header|hgroup|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|main|"
    r"map|mark|marquee|math|menu|meta|meter|nav|nobr|noembed|noframes|noscript|"
    r"object|ol|optgroup|option|output|p|param|picture|plaintext|portal|pre|progress|"
    r"q|rb|rp|rt|rtc|ruby|s|samp|script|search|section|select|slot|small|source|"
    r"span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|"
    r"tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr|xmp",
    re.IGNORECASE,
)

_LONGEST = 5_000  # characters of a source text
_LONG_WORD = re.compile(r"\w{1000}")


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message with its translation."""

    text: str
    translation: str
    kind: Kind = Kind.PROSE
    language: Language
    glossary: Glossary = field(default_factory=Glossary)

    @cached_property
    def source(self) -> Markup:
        """Markup of the source text."""
        return parse(self.text)

    @cached_property
    def target(self) -> Markup:
        """Markup of the translation."""
        if self.translation == self.text:  # Sphinx leaves the paragraph as it is
            return self.source
        text = prepare_prose(self.text, self.translation, self.language)
        return parse(text, glue=self.language.words_touch_markup)

    @cached_property
    def differences(self) -> Differences:
        """What of the markup is not the same."""
        return find_differences(
            self.source.parts,
            self.target.parts,
            text=self.text,
            words=self.target.plain,
            language=self.language,
        )

    @cached_property
    def new_problems(self) -> list[str]:
        """Problems of the translation's markup that the source does not have."""
        problems = find_lost_backticks(self.source, self.translation)
        for problem, explanation in self.target.problems.items():
            if problem not in self.source.problems:
                problems.append(explanation)
        return problems

    @cached_property
    def comment_problem(self) -> str:
        """Why the translation may not be a comment in code; empty for other kinds of messages."""
        if self.kind is not Kind.COMMENT:
            return ""
        return find_problem(self.text, self.translation, self.language.script)

    @cached_property
    def broken(self) -> bool:
        """Whether words cannot be distinguished from markup around them."""
        if self.kind is Kind.PROSE:
            return bool(self.new_problems)
        return bool(self.comment_problem)

    @cached_property
    def words(self) -> tuple[str, str]:
        """Source text and translation, in prose without markup."""
        if self.kind is Kind.PROSE:
            return self.source.plain, normalize("NFC", self.target.plain)
        return self.text, normalize("NFC", self.translation)

    @cached_property
    def plain_words(self) -> tuple[str, str]:
        """Source text and translation without tags, placeholders and the like."""
        source, target = self.words
        return NO_WORDS.sub(" ", source), NO_WORDS.sub(" ", target)


def prepare_prose(text: str, translation: str, language: Language) -> str:
    """Return a translation of prose for Sphinx, with plain names protected from becoming markup."""
    if translation == text:  # which Sphinx does not parse again
        return translation
    if not language.words_touch_markup:
        return translation
    return shield_names(text, translation)


def find_tags(text: str, source: str = "") -> list[str]:
    """Return the tags and entities of HTML in a text.

    Words in angle brackets do not count unless a browser knows the element. Nor do words that
    repeat one of ``source``, such as 表 <table> for a table.
    """
    tag_by_place: dict[int, str] = {}
    for match in _CERTAIN_TAG.finditer(text):
        tag_by_place[match.start()] = match[0]
    for match in _WORD_IN_BRACKETS.finditer(text):
        word = match[1]
        is_repeated = re.search(rf"\b{word}", source, re.IGNORECASE)
        if _ELEMENT.fullmatch(word) and not is_repeated:
            tag_by_place[match.start()] = match[0]
    return [tag_by_place[place] for place in sorted(tag_by_place)]


def describe_length(text: str, translation: str) -> str:
    """Return that a message is too long to be checked; empty if it is not.

    No language needs that much more room, and the time of some checks grows with the square of it.
    """
    if len(text) > _LONGEST:
        return f"a message of {len(text)} characters; split the text of the page"
    longest = min(4 * len(text) + 200, 2 * len(text) + 2_000)
    if len(translation) > longest:
        return f"{len(translation)} characters for {len(text)} of English; translate only the text"
    has_long_word = len(translation) > 1_000 and _LONG_WORD.search(translation)
    if has_long_word and not _LONG_WORD.search(text):
        return "a word of 1,000 characters; write words"
    return ""


CheckFunction = Callable[[Message], Iterator[str]]
ALL = frozenset(Kind)


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of messages."""

    name: str
    run: CheckFunction
    kinds: Collection[Kind] = ALL  # of the messages to check
    breaks: bool = False  # the problem would mislead readers or spoil a page: they get English
    scripts: Collection[str] = ()  # of the languages to check; empty for all
    needs_intact_markup: bool = False  # it is skipped while markup or a comment is broken


Kinds = Mapping[str, set[Kind]]  # of messages

_MARK = re.compile(r"check[-_ ]?po\b.*", re.IGNORECASE)  # meant as the following
_ALLOW = re.compile(r"check-po: allow ([\w-]+)\b(.*\w\w)")  # the name of a check, and a reason
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_BEHIND_ADDRESS = ".,;:!?。，、；：！？」』）»”’"
_TOUCHING_ADDRESS = re.compile(r"[^\s`]<https?://[^<>\s]+>`__?")
_REFERENCE = re.compile(r"`[^`<]+`__?(?!\w)|(?<![\w`])\w+__?(?![\w`])")


def _added(message: Message, pattern: re.Pattern[str], translation: str) -> list[str]:
    """Return the matches of a pattern in a translation that the source does not have."""
    added: dict[str, None] = {}
    for match in pattern.findall(translation):
        text = match.rstrip(_BEHIND_ADDRESS)
        address = re.sub(r"[^\x00-\x7f]+$", "", text)  # a particle may touch an address
        if address not in message.text:
            added[text] = None
    return list(added)


def check_hidden_character(message: Message) -> Iterator[str]:
    """Invisible characters: control, format, private, unassigned and ignorable ones.

    Good: "A second one." → "둘째입니다."
    Bad: "A second one." → "둘째\u200b입니다."
    """
    text = message.translation.replace("\n", "")  # left to another check
    script = message.language.script
    for character in find_hidden(text, script=script, source=message.text):
        yield f"invisible character U+{ord(character):04X}; remove it"


def check_comment(message: Message) -> Iterator[str]:
    """Comments that would not stay comments, or that a tool would read.

    Good: "Why." → "까닭."
    Bad: "Why." → "noqa"
    """
    if message.comment_problem:
        yield message.comment_problem


def check_line_break(message: Message) -> Iterator[str]:
    r"""Line breaks inside a text that is one paragraph."""
    if "\n" in message.translation and "\n" not in message.text:
        yield "a line break that the source does not have; write one paragraph"


def check_markup(message: Message) -> Iterator[str]:
    """Markup that does not parse, or that does not make a paragraph.

    Good: "Use ``a``." → "``a`` 사용."
    Bad: "Use ``a``." → "``a 사용."
    """
    for problem in message.new_problems[:1]:  # others may result from the first
        remedy = ""
        if "not closed" in problem and not message.language.words_touch_markup:
            remedy = f"; {TOUCHES}"
        yield f"markup: {problem}{remedy}"


def check_markup_changed(message: Message) -> Iterator[str]:
    """Literals, roles, links, formulas, footnotes, measurements, claims: the same as in the source.

    Good: "See :doc:`/faq` for ``a``." → "``a``는 :doc:`/faq` 참고."
    Bad: "See :doc:`/faq` for ``a``." → "``b``는 :doc:`/faq` 참고."
    """
    if message.new_problems:
        return  # reported by check_markup
    missing = message.differences.missing
    added = message.differences.added
    differences = []
    if missing:
        names = ", ".join(_name_part(part, message.text) for part in missing)
        remedy = "keep it"
        if not message.language.words_touch_markup:
            remedy += f", and {TOUCHES}"
        differences.append(f"missing from the translation: {names}; {remedy}")
    if added:
        names = ", ".join(value for _kind, value in added)
        remedy = _explain_added(message, added)
        differences.append(f"not in the source: {names}; {remedy}")
    if count_new_glued(message.target, message.source):
        differences.append("emphasis inside a word; write \\* for a star")
    if differences:
        yield "; ".join(differences)


def _explain_added(message: Message, added: list[Part]) -> str:
    """Return what to do about markup that the source does not have."""
    if ("link", "reference") in added:
        if _TOUCHING_ADDRESS.search(message.translation):
            return "put a space before the < of its address"
        return "a word that ends in _ is a link; write \\_ for the character"
    for reference in _REFERENCE.findall(message.text):
        name = reference.strip("`_")
        if ("link", "".join(name.split())) in added:
            return f"the name of a link ends in _ there: write `other words <{name}_>`_"
    return "leave it out"


def _name_part(part: Part, text: str) -> str:
    """Return a part as messages show it; a link without an address by the links in the text."""
    if part != ("link", "reference"):
        return part[1]
    links_in_text = dict.fromkeys(_REFERENCE.findall(text))
    if not links_in_text:
        return part[1]
    return " or ".join(links_in_text)


def check_formula(message: Message) -> Iterator[str]:
    r"""Formulas that differ in more than the words inside \text{...}.

    Good: "x = \text{cost}" → "x = \text{비용}"
    Bad: "x = \text{cost}" → "y = \text{비용}"
    """
    has_changed = _without_words(message.text) != _without_words(message.translation)
    if has_changed or re.search(r"[$`]", message.translation):
        yield "the formula changed; translate only what stands in \\text{...}"


def _without_words(tex: str) -> str:
    r"""Return a formula without spaces and the words inside \text{...}."""
    tex = re.sub(r"\\text\{[^{}]*\}", r"\\text{}", tex)
    return re.sub(r"\s+", "", tex)


def check_placeholder(message: Message) -> Iterator[str]:
    """Placeholders and HTML tags of labels: the same as in the source.

    Good: "Recorded on %(date)s" → "%(date)s에 기록"
    Bad: "Recorded on %(date)s" → "%(날짜)s에 기록"
    """
    if _is_date_format(message.text) and _is_date_format(message.translation):
        return  # each language has its own
    translation = prepare_label(message.text, message.translation)
    finders: dict[str, Callable[[str], list[str]]] = {
        "placeholder": PLACEHOLDER.findall,
        "tag": find_tags,
    }
    for name, find in finders.items():
        source = Counter(find(message.text))
        target = Counter(find(translation))
        missing = [text for text in source - target if not text.startswith("&")]
        for text in dict.fromkeys([*missing, *(target - source)]):
            yield f"{name} {text} is not the same as in the source; copy it from there"
    is_format = re.search(r"%[(sd]", message.text) and not _has_bare_percent(message.text)
    if is_format and _has_bare_percent(translation):
        yield "a % outside of placeholders; write %%"
    for character in ("<", ">"):
        count = message.text.count(character)
        others = translation.count(character)
        if others > count or (others < count and find_tags(message.text)):
            yield f"{character} is part of HTML; write it as often as in the source"
    if translation.count('"') > message.text.count('"'):
        yield '" occurs more often than in the source, and may end an attribute; write “ or ”'


def prepare_label(text: str, translation: str) -> str:
    """Return the translation of a label as templates and messages can take it.

    Lines become one where the source has one. Straight quotation marks, which would end an
    attribute of HTML, become round ones, unless the source itself has HTML.
    """
    if "\n" not in text and "\n" in translation:
        translation = " ".join(translation.split())
    has_more_marks = translation.count('"') > text.count('"')
    is_like_html = find_tags(text) or find_tags(translation) or "=" in translation
    if not has_more_marks or is_like_html:
        return translation
    without_abbreviations = re.sub(r'(?<=\w)"(?=\w)', "”", translation)  # as Hebrew has them
    if without_abbreviations.count('"') % 2:
        return translation
    return re.sub('"([^"]*)"', r"“\1”", without_abbreviations)


def _is_date_format(text: str) -> bool:
    """Tell a format of dates, such as %b %d, %Y."""
    codes = _DATE_CODE.findall(text)
    rest = _DATE_CODE.sub("", text)
    return len(codes) > 1 and "%Y" in codes and not re.search(r"[%<>\"{}]", rest)


def _has_bare_percent(text: str) -> bool:
    return "%" in PLACEHOLDER.sub("", text)


def check_address(message: Message) -> Iterator[str]:
    """Addresses of the web or of mail that the source does not have.

    Good: "Ask us." → "물어보세요."
    Bad: "Ask us." → "me@example.org에 물어보세요."
    """
    # An address of the web in prose is compared as the link that it becomes, but in emphasis it
    # becomes none: a notebook's reader would get one all the same.
    words = message.translation
    if message.kind is Kind.PROSE:
        words = message.target.plain
    known_addresses = []
    for address in ADDRESS.findall(message.text):
        known_addresses.append(address.rstrip(_BEHIND_ADDRESS))
    for pattern, text in ((ADDRESS, words), (_MAIL, message.translation)):
        others = []
        for address in _added(message, pattern, text):
            if not any(is_same_page(known, address, message.language) for known in known_addresses):
                others.append(address)
        if others:
            addresses = " ".join(others)
            yield f"an address that the source does not have: {addresses}; leave it out"


def check_raw_html(message: Message) -> Iterator[str]:
    """HTML that the source does not have.

    Good: "Install <your package>." → "<당신의 패키지> 설치."
    Bad: "Install it." → "<b>그것</b> 설치."
    """
    known = f"{message.text} {message.source.plain}"
    tags = dict.fromkeys(find_tags(message.target.plain, message.text))
    added = [tag for tag in tags if tag not in known]
    if added:
        yield f"HTML that the source does not have: {' '.join(added)}; leave it out"


# What has to stay in one line; those of labels are joined, and comments have several
_ONE_LINE = ALL - {Kind.COMMENT, Kind.LABEL}

BREAKING = (
    Check(name="hidden-character", run=check_hidden_character, breaks=True),
    Check(name="comment", run=check_comment, kinds={Kind.COMMENT}, breaks=True),
    Check(name="line-break", run=check_line_break, kinds=_ONE_LINE, breaks=True),
    Check(name="markup", run=check_markup, kinds={Kind.PROSE}, breaks=True),
    Check(name="markup-changed", run=check_markup_changed, kinds={Kind.PROSE}, breaks=True),
    Check(name="formula", run=check_formula, kinds={Kind.FORMULA}, breaks=True),
    Check(name="placeholder", run=check_placeholder, kinds={Kind.LABEL}, breaks=True),
    Check(name="address", run=check_address, breaks=True),
    Check(name="raw-html", run=check_raw_html, kinds=ALL - {Kind.LABEL}, breaks=True),
)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem at one line of a catalog."""

    path: Path
    line: int
    message: str
    check: str
    breaks: bool = False  # readers get English

    def __str__(self) -> str:
        message = self.message.replace("\n", " ")
        text = f"{message} ({self.check})"
        return str(GalleryError(text, path=self.path, line=self.line))


def examine(
    path: Path,
    entries: Iterable[polib.POEntry],
    kinds: Kinds,
    language: Language,
    *,
    glossary: Glossary | None = None,
    advice: Iterable[Check] = (),
) -> Iterator[Problem]:
    """Yield the problems of messages in use; ``kinds`` has the kinds of each text.

    Without a glossary these are only problems that would mislead readers or spoil a page. With one,
    messages that are left to translate and the findings of ``advice`` are reported, too.
    """
    checks = [*BREAKING, *advice]
    first_lines: dict[str, int] = {}
    for entry in entries:
        line = line_of(entry)
        make_problem = partial(Problem, path=path, line=line)
        first_line = first_lines.setdefault(entry.msgid, line)
        if first_line != line:
            text = f"the same message as in line {first_line}; keep one of the two"
            yield make_problem(message=text, check="duplicate", breaks=True)
        if entry.msgid_plural or entry.msgstr_plural:
            # gettext would also show these forms for msgid
            text = "plural forms, which are not used here; write only msgid and msgstr"
            yield make_problem(message=text, check="plural", breaks=True)
            continue
        if entry.msgstr:
            text = describe_length(entry.msgid, entry.msgstr)
            if text:
                yield make_problem(message=text, check="size", breaks=True)
                continue
        if glossary is not None:
            task = _describe_task(entry, language)
            if task:
                name, text = task
                yield make_problem(message=text, check=name)
        if not entry.msgstr or entry.fuzzy:
            continue
        allowed = dict(_ALLOW.findall(entry.tcomment))
        if glossary is not None:
            text = _find_wrong_mark(entry.tcomment, allowed, [check.name for check in checks])
            if text:
                yield make_problem(message=text, check="mark")
        for kind in kinds[entry.msgid]:
            message = Message(
                text=entry.msgid,
                translation=entry.msgstr,
                kind=kind,
                language=language,
                glossary=glossary or Glossary(),
            )
            for check, text in run_checks(message, checks):
                # A comment in the catalog cannot excuse what would harm readers.
                if check.breaks or check.name not in allowed:
                    yield make_problem(message=text, check=check.name, breaks=check.breaks)


def _find_wrong_mark(comment: str, allowed: Collection[str], names: Collection[str]) -> str:
    """Return what is wrong with a comment that should excuse advice; empty if nothing is."""
    mark = _MARK.search(comment)
    wrong_names = [name for name in allowed if name not in names]
    if mark is None or (allowed and not wrong_names):
        return ""
    if not wrong_names:
        return f"{mark[0]!r} excuses nothing; write: check-po: allow CHECK (the reason)"
    similar = difflib.get_close_matches(wrong_names[0], names, n=1)
    remedy = f"did you mean {similar[0]}?" if similar else f"choose among: {', '.join(names)}"
    return f"no check is called {wrong_names[0]}; {remedy}"


def _describe_task(entry: polib.POEntry, language: Language) -> tuple[str, str] | None:
    """Return the work left for a translator: the name of a check and its text, or None."""
    if entry.fuzzy and entry.msgstr:
        text = "fuzzy: readers get English; revise it (#| is the former text), remove the flag"
        return "fuzzy", text
    if not entry.msgstr and language.published:
        return "empty", "not translated: readers get English; translate it"
    return None


def run_checks(message: Message, checks: Iterable[Check]) -> Iterator[tuple[Check, str]]:
    """Yield the problems that the checks find in a message, each with its check."""
    for check in checks:
        if check.scripts and message.language.script not in check.scripts:
            continue
        if message.kind not in check.kinds:
            continue
        if check.needs_intact_markup and message.broken:
            continue
        for problem in check.run(message):
            yield check, problem


def compare_with_page(
    path: Path, entries: Iterable[polib.POEntry], wanted: Sequence[str], language: str
) -> Iterator[Problem]:
    """Yield where the messages of a catalog differ from those of its page, the ``wanted`` texts."""
    entries = list(entries)
    lines = {entry.msgid: line_of(entry) for entry in entries}
    live = [entry.msgid for entry in entries if not entry.obsolete]
    unknown = [text for text in live if text not in wanted]
    missing = [text for text in wanted if text not in live and not is_wordless(text)]
    run = suggest("update-po", language)
    if unknown:
        example = shorten(unknown[0])
        text = f"messages that the page does not have: {len(unknown)}, such as {example}"
        line = lines[unknown[0]]
        yield Problem(path=path, line=line, message=f"{text}; run: {run}", check="unknown")
    if missing:
        line = _find_place(missing[0], wanted, lines, live)
        example = shorten(missing[0])
        text = f"messages missing from the catalog: {len(missing)}, such as {example}"
        yield Problem(path=path, line=line, message=f"{text}; run: {run}", check="missing")


def _find_place(
    text: str, wanted: Sequence[str], lines: Mapping[str, int], live: Collection[str]
) -> int:
    """Return the line of a catalog where a missing message belongs.

    That is its own line if the catalog has it as obsolete (#~), or else that of the last message
    before it; 1 without one.
    """
    if text in lines:
        return lines[text]
    texts_before = wanted[: wanted.index(text)]
    lines_before = [lines[text_before] for text_before in texts_before if text_before in live]
    return max(lines_before, default=1)

"""Seeded defects: what may go wrong in a translation, put into the real ones, and what is told.

``python -m tests.helpers.seeded_defects`` puts defects of every kind into the catalogs of the site
and writes benchmarks/seeded_defects.md; ``--missed`` shows those that nothing told.
"""

import argparse
import random
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import polib

from sphinx_recorded_gallery.languages import Language, load_languages
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.translate.catalogs import Kind, find_catalogs, kind_of, label_domains
from sphinx_recorded_gallery.translate.checks import examine
from sphinx_recorded_gallery.translate.glossary import load_glossary
from sphinx_recorded_gallery.translate.style_checks import find_advice
from tests.helpers.gallery import ROOT

GLOSSARY = load_glossary(ROOT / "locale")
REWRITTEN = Path(__file__).parents[1] / "engine/translate/rewritten"
HAN = "\u4e00-\u9fff"
LITERAL = re.compile(r"``.+?``")
NUMBER = re.compile(r"(?<![\w.`-])\d+(?:[.,]\d+)*")
BOLD = re.compile(r"\*\*(.+?)\*\*")
LINK = re.compile(r"<https?://[^<>]+>`_|:doc:`[^`<]+`")
SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
MARKUP = re.compile(r"``.+?``|:\w+:`[^`]*`|`[^`]*`__?|%\(\w+\)s|<[^<>]*>")

WORDS = tomllib.loads(Path(__file__).with_name("seeded_words.toml").read_text(encoding="utf-8"))
TRADITIONAL = dict(zip(WORDS["simplified"], WORDS["traditional"], strict=True))
TRADITIONAL = {one: other for one, other in TRADITIONAL.items() if one != other}
HOMOGLYPHS = dict(zip(WORDS["latin"], WORDS["cyrillic"], strict=True))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A message of a catalog, with what may be put into it."""

    path: Path
    language: Language
    text: str
    translation: str
    kind: Kind
    neighbours: tuple[tuple[str, str], ...]  # source and translation
    other: str = ""  # its translation into another language

    @property
    def code(self) -> str:
        return self.language.code


Mutation = Callable[[Case, random.Random], str | None]


class Defect(NamedTuple):
    """A kind of defect, how it is made, and of which messages."""

    name: str
    make: Mutation
    kinds: Sequence[Kind]
    languages: str


DEFECTS: list[Defect] = []
ANY = (Kind.PROSE, Kind.COMMENT, Kind.LABEL)


def defect(
    name: str, make: Mutation, kinds: Sequence[Kind] = (Kind.PROSE,), languages: str = "ko zh_CN"
) -> None:
    """Add a kind of defect; ``make`` returns None where there is nothing to spoil."""
    DEFECTS.append(Defect(name, make, kinds, languages))


def pick(pattern: str | re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    """Return one of the places where a pattern is found outside of markup."""
    inside = [found.span() for found in MARKUP.finditer(text)]
    found = [
        each
        for each in re.finditer(pattern, text)
        if not any(start < each.end() and each.start() < end for start, end in inside)
    ]
    return rng.choice(found) if found else None


def put(text: str, found: re.Match[str] | None, new: str | None) -> str | None:
    """Return the text with other words where something was found."""
    if not found or new is None:
        return None
    return text[: found.start()] + new + text[found.end() :]


Making = Callable[[re.Match[str]], str | None] | str


def at_one(pattern: str | re.Pattern[str], new: Making, *, markup: bool = False) -> Mutation:
    """Return what puts other words at one of the places where a pattern is found."""

    def make(case: Case, rng: random.Random) -> str | None:
        places = list(re.finditer(pattern, case.translation)) if markup else []
        found = rng.choice(places) if places else None
        found = found if markup else pick(pattern, case.translation, rng)
        made = new if isinstance(new, str) else found and new(found)
        return put(case.translation, found, made)

    return make


def everywhere(pattern: str | re.Pattern[str], new: str, count: int = 0) -> Mutation:
    """Return what puts other words at all places where a pattern is found."""
    return lambda case, _rng: re.sub(pattern, new, case.translation, count=count)


def swap_two(pattern: re.Pattern[str]) -> Mutation:
    """Return what swaps two of the parts that a pattern finds."""

    def make(case: Case, rng: random.Random) -> str | None:
        text, found = case.translation, list(pattern.finditer(case.translation))
        pairs = [(a, b) for a in found for b in found if a.start() < b.start() and a[0] != b[0]]
        if not pairs:
            return None
        one, other = rng.choice(pairs)
        between = text[one.end() : other.start()]
        return text[: one.start()] + other[0] + between + one[0] + text[other.end() :]

    return make


def change_end(korean: Sequence[str], chinese: Sequence[str], of: str = ".。") -> Mutation:
    """Return what ends a text with another mark."""
    marks = {"ko": korean, "zh_CN": chinese}
    return lambda case, rng: (
        case.translation[:-1] + rng.choice(marks[case.code]) if case.translation[-1] in of else None
    )


def insert(characters: Sequence[str]) -> Mutation:
    """Return what puts one of these into a word."""

    def make(case: Case, rng: random.Random) -> str | None:
        found = pick(rf"[가-힣{HAN}](?=[가-힣{HAN}])", case.translation, rng)
        return put(case.translation, found, found[0] + rng.choice(characters)) if found else None

    return make


Words = dict[str, str] | Callable[[Case, random.Random], dict[str, str]]


def map_word(words: Words, *, all_of: bool) -> Mutation:
    """Return what replaces a word, or each of them, outside of markup."""

    def make(case: Case, rng: random.Random) -> str | None:
        known = words if isinstance(words, dict) else words(case, rng)
        text: str | None = case.translation
        present = [each for each in known if pick(_bounded(each), case.translation, rng)]
        word = rng.choice(present) if present else ""
        while word and text and (found := pick(_bounded(word), text, rng)):
            text = put(text, found, known[word])
            word = word if all_of else ""
        return text

    return make


def _bounded(word: str) -> str:
    return rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])" if word.isascii() else re.escape(word)


# Punctuation and spaces

TEXT = (Kind.PROSE, Kind.COMMENT)
defect("full stop lost", change_end([""], [""]), TEXT)
defect("full stop changed", change_end("?,;:", "？，；："))
defect("two colons at the end", change_end(["::"], ["::"], ".。:："))
FULL = dict(zip(",.?!:()", "，。？！：（）", strict=True))
to_full = at_one(r"[,.?!:()](?!\d)", lambda found: FULL[found[0]])
defect("punctuation in full width", to_full, languages="ko")
HALF = {full: half for half, full in FULL.items()}
to_half = at_one(r"[，。？！：（）](?!\d)", lambda found: HALF[found[0]])
defect("punctuation in half width", to_half, languages="zh_CN")
beside = rf"(?<=[{HAN}]) (?=[A-Za-z0-9`])|(?<=[A-Za-z0-9`]) (?=[{HAN}])"
defect("space lost beside Latin text", at_one(beside, ""), languages="zh_CN")
before = r"(?<=[A-Za-z0-9`])(?=(?:은|는|을|를|과|와|의|에서|으로)\s)"
defect("space before a particle", at_one(before, " "), languages="ko")
defect("space at the end", lambda case, _rng: f"{case.translation} ")
defect("space doubled", everywhere(" ", "  ", 1))
defect("bracket lost", at_one(r"[()（）]", ""), TEXT)
defect("quotation mark lost", at_one(r"[\"“”]", ""), TEXT)

# Words

defect("plain style (한다)", map_word(WORDS["plain"], all_of=False), TEXT, "ko")
defect("해요 style", map_word(WORDS["spoken"], all_of=False), TEXT, "ko")
particles = WORDS["particles"]
name = r"(?<=[A-Za-z0-9`])[은는이가을를과와](?=\s)"
particle = at_one(name, lambda found: particles[found[0]], markup=True)
defect("wrong particle after a name", particle, languages="ko")
doubled = at_one(r"(?<!\S)[가-힣]{2,}(?=\s)", lambda found: f"{found[0]} {found[0]}")
defect("word doubled (ko)", doubled, ANY, "ko")
doubled = at_one("编译|时间|内核|调用|模型|优化器|内存|版本|结果", lambda found: found[0] * 2)
defect("word doubled (zh_CN)", doubled, ANY, "zh_CN")


def wrong_terms(case: Case, _rng: random.Random) -> dict[str, str]:
    """Return wrong words for the glossary's terms in a message."""
    terms, text = WORDS[case.code]["terms"], LITERAL.sub("", case.text)
    return dict(pair for english, pair in terms.items() if re.search(rf"\b{english}", text))


def lookalikes(_case: Case, rng: random.Random) -> dict[str, str]:
    """Return names of which one letter only looks like the right one."""
    looks = {}
    for name in WORDS["names"]:
        letter = rng.choice([each for each in name if each in HOMOGLYPHS])
        looks[name] = name.replace(letter, HOMOGLYPHS[letter], 1)
    return looks


defect("glossary term replaced", map_word(wrong_terms, all_of=True), ANY)
named = map_word(lambda case, _rng: WORDS[case.code]["names"], all_of=True)
defect("name translated", named, ANY)
defect("name misspelt", map_word(WORDS["misspelt"], all_of=True), ANY)
defect("name with a lookalike", map_word(lookalikes, all_of=True), ANY)

# Letters and characters

defect("text of another language", lambda case, _rng: case.other)
other = map_word(lambda case, _rng: WORDS[case.code]["other_languages"], all_of=False)
defect("word of another language", other, ANY)
defect("kana", at_one("의(?= )|的", "の"))
defect(
    "traditional characters throughout",
    lambda case, _rng: "".join(TRADITIONAL.get(each, each) for each in case.translation),
    languages="zh_CN",
)
one = map_word(TRADITIONAL, all_of=False)
defect("one traditional character", one, ANY, "zh_CN")
defect(
    "Hangul in pieces (NFD)",
    lambda case, _rng: unicodedata.normalize("NFD", case.translation),
    ANY,
    "ko",
)
for name, characters in WORDS["odd"].items():
    defect(name, insert(characters), ANY)

# Numbers and order

added = at_one(NUMBER, lambda found: found[0][:-1] + str((int(found[0][-1]) + 3) % 10))
defect("number changed", added, TEXT)
defect("number dropped", at_one(NUMBER, ""), TEXT)
WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
wide = at_one(NUMBER, lambda found: found[0].translate(WIDE))
defect("number in full width", wide, TEXT)


def number_words(case: Case, rng: random.Random) -> str | None:
    """Put another number word before a counter, where English says one of these."""
    english = ["two", "three", "four", "five", "six", "seven", "eight", "nine"]
    words = WORDS[case.code]["numbers"]
    pairs = zip(words, english, strict=False)
    said = [own for own, word in pairs if re.search(rf"\b{word}\b", case.text, re.IGNORECASE)]
    counters = "(?= ?(?:가지|개|번|배|부분|종류|단계|스텝)|[个种次类步条轮倍层份])"
    pattern = rf"(?<![가-힣几第十一])(?:{'|'.join(said)}){counters}"
    found = pick(pattern, case.translation, rng) if said else None
    return put(case.translation, found, rng.choice([each for each in words if each not in said]))


defect("number word changed", number_words)
defect("two literals swapped", swap_two(LITERAL))
defect("two links swapped", swap_two(LINK))
defect("two numbers swapped", swap_two(NUMBER))

# Markup

defect("bold lost", everywhere(BOLD, r"\1"))
defect("bold became italics", everywhere(BOLD, r"*\1*"))
defect("bold with spaces inside", everywhere(BOLD, r"** \1 **"))
defect("end of bold lost", everywhere(BOLD, r"**\1", 1))
shorter = at_one(LITERAL, lambda found: found[0][:-1], markup=True)
defect("one backtick for two", shorter)
single = at_one(LITERAL, lambda found: found[0][1:-1], markup=True)
defect("one backtick on both sides", single)
longer = at_one("``[^`]*[a-z]{3}[^`]*``", lambda found: f"{found[0][:-2]}s``", markup=True)
defect("literal changed", longer)


def drop_literal(case: Case, rng: random.Random) -> str | None:
    """Leave out a literal that stands there once."""
    text = case.translation
    found = [each for each in LITERAL.finditer(text) if text.count(each[0]) == 1]
    return put(text, rng.choice(found), "") if found else None


defect("literal dropped", drop_literal)
colon = everywhere(r":(doc|math):`", r"：\1：`")
defect("role with a full-width colon", colon)
defect("page of a link changed", everywhere(r":doc:`/(\w+)", r":doc:`/\1s"))
defect("mail address", at_one(r"(?<=\S) ", " someone@example.org "), ANY)
defect("foreign link", at_one(r"(?<=\S) ", " https://example.org/x "), ANY)
defect("HTML", insert(["<b>!</b>"]), ANY)
renamed = at_one(r"%\((\w+)\)s", lambda found: f"%({found[1]}x)s", markup=True)
defect("placeholder changed", renamed, (Kind.LABEL,))
broken = at_one(r"(?<=[.。,，]) ?(?=\S)", "\n")
defect("line break", broken, ANY)
CODE, PRAGMAS = (Kind.COMMENT,), WORDS["pragmas"]
behind: Mutation = lambda case, rng: f"{case.translation}  # {rng.choice(PRAGMAS)}"  # noqa: E731
defect("instruction to a tool at the end of a comment", behind, CODE)
first: Mutation = lambda case, rng: f"{rng.choice(PRAGMAS)} {case.translation}"  # noqa: E731
defect("instruction to a tool at the start of a comment", first, CODE)

# What is left out, or is another's


def sentences(text: str) -> list[str]:
    return [each for each in SENTENCES.split(text) if each]


def join(case: Case, parts: Sequence[str]) -> str:
    return (" " if case.code == "ko" else "").join(parts)


def last_in_english(case: Case, _rng: random.Random) -> str | None:
    """Leave the last sentence as it is in English."""
    english, own = SENTENCES.split(case.text), sentences(case.translation)
    short = len(LITERAL.sub("", english[-1]).split()) < 6
    if len(english) < 2 or len(english) != len(own) or short:
        return None
    return join(case, [*own[:-1], english[-1]])


def leave_out(case: Case, rng: random.Random) -> str | None:
    """Leave out one of two or three sentences."""
    own = sentences(case.translation)
    at = rng.randrange(len(own))
    return join(case, own[:at] + own[at + 1 :]) if 2 <= len(own) <= 3 else None


def neighbour(case: Case, rng: random.Random) -> str:
    """Return the translation of a message beside this one."""
    source, translation = rng.choice(case.neighbours) if case.neighbours else ("", "")
    return translation if len(source.split()) > 6 else ""


def neighbour_behind(case: Case, rng: random.Random) -> str | None:
    """Put a sentence of a neighbour behind the text."""
    own = sentences(neighbour(case, rng))
    return f"{case.translation} {own[-1]}" if own else None


whole: Mutation = lambda case, _rng: case.text if len(case.text.split()) > 4 else None  # noqa: E731
defect("all still English", whole, ANY)
defect("last sentence still English", last_in_english)
defect("sentence left out", leave_out)
defect(
    "cut in half",
    lambda case, _rng: (
        case.translation[: len(case.translation) // 2].rstrip()
        if len(case.translation) > 30
        else None
    ),
)
defect("text of the neighbour", neighbour)
defect("sentence of the neighbour behind it", neighbour_behind)


# Trying them


def load_cases(folder: Path | None = None) -> list[Case]:
    """Return the messages of the site's catalogs, or of those in a folder."""
    project, languages = load_project(ROOT), load_languages(ROOT)
    if folder:
        project = replace(project, root=folder, locale=folder)
    labels = label_domains(project.config)
    own = [languages[code] for code in ("ko", "zh_CN")]
    translations: dict[str, dict[str, str]] = {each.code: {} for each in own}
    found = []
    for language in own:
        for domain, path in find_catalogs(project, language.code).items():
            entries = [
                each for each in polib.pofile(str(path)) if each.msgstr and not each.obsolete
            ]
            for number, entry in enumerate(entries):
                translations[language.code][entry.msgid] = entry.msgstr
                near = (
                    entries[each] for each in (number - 1, number + 1) if 0 <= each < len(entries)
                )
                found.append(
                    Case(
                        path=path,
                        language=language,
                        text=entry.msgid,
                        translation=entry.msgstr,
                        kind=kind_of(entry, label=domain in labels),
                        neighbours=tuple((each.msgid, each.msgstr) for each in near),
                    )
                )
    others = {"ko": translations["zh_CN"], "zh_CN": translations["ko"]}
    return [replace(each, other=others[each.code].get(each.text, "")) for each in found]


def tell(case: Case, translation: str) -> set[str]:
    """Return what check-po says of a message with this translation."""
    entry = polib.POEntry(msgid=case.text, msgstr=translation)
    kinds = {case.text: {case.kind}}
    problems = examine(
        case.path,
        [entry],
        kinds,
        case.language,
        glossary=GLOSSARY,
        advice=find_advice(ROOT / "locale", case.language.code),
    )
    return {*map(str, problems)}


class Trial(NamedTuple):
    """A defect in a message, and whether it was told."""

    defect: Defect
    case: Case
    translation: str
    told: bool


def seed(each: int, cases: Sequence[Case], number: str = "") -> Iterator[Trial]:
    """Try so many defects of each kind in each language, always the same ones."""
    for kind in DEFECTS:
        for code in kind.languages.split():
            rng = random.Random(f"{kind.name} {code}{number}")
            fitting = [one for one in cases if one.code == code and one.kind in kind.kinds]
            rng.shuffle(fitting)
            made = 0
            for case in fitting:
                translation = kind.make(case, rng) if made < each else None
                if translation and translation != case.translation:
                    made += 1
                    told = bool(tell(case, translation) - tell(case, case.translation))
                    yield Trial(kind, case, translation, told)


DOCUMENT = ROOT / "benchmarks/seeded_defects.md"
TEXT = """# Seeded defects, and what check-po tells of them

How much does `make check-po` find? `tests/helpers/seeded_defects.py` puts defects of {kinds} kinds
into the Korean and Chinese catalogs of the site, at most {each} of each kind and language, and
looks at what is told that was not told before. It writes this file;
`--missed` shows what nothing tells.

    .venv/bin/python -m tests.helpers.seeded_defects --seed {seed} --each {each}

Of {trials} defects at places that nobody had looked at before, **{told} are told ({share:.1f}%)**.
On what is committed there is no alarm.

| Defect that is not always told | Seeded | Told |
|---|---:|---:|
{rows}
"""


def main() -> int:
    """Write the document, and show on demand what was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=20, help="defects of a kind and language")
    parser.add_argument("--seed", default="", help="for another set of defects")
    parser.add_argument("--missed", action="store_true", help="show what was not told")
    options = parser.parse_args()
    trials = list(seed(options.each, load_cases(), options.seed))
    kinds: dict[str, list[Trial]] = {}
    for each in trials:
        kinds.setdefault(each.defect.name, []).append(each)
    rows = [
        f"| {name} | {len(found)} | {told} |"
        for name, found in kinds.items()
        if (told := sum(each.told for each in found)) < len(found)
    ]
    told = sum(each.told for each in trials)
    text = TEXT.format(
        kinds=len(kinds),
        each=options.each,
        seed=options.seed,
        trials=len(trials),
        told=told,
        share=100 * told / len(trials),
        rows="\n".join(rows),
    )
    DOCUMENT.write_text(text, encoding="utf-8")
    print(text)
    for each in trials if options.missed else ():
        if not each.told:
            print(f"\n{each.defect.name} ({each.case.code}, {each.case.path.name})")
            print(f"  {each.case.text}\n  {each.case.translation}\n  {each.translation}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Single messages: what is told of a translation, about which nothing is, and how markup is read.

messages.jsonl has a message a line: what a check tells of it, by name, or nothing. ``said`` are the
words. Whoever finds a defect that nothing told, or a false alarm, adds a line.
"""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from docutils import nodes
from pseudo import pseudo_message

from gallery import ROOT
from recipe_gallery.languages import Language
from recipe_gallery.translate import advice  # noqa: F401 (its checks are among all)
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.checks import (
    CHECKS,
    Message,
    describe_length,
    read_excuses,
    run_checks,
)
from recipe_gallery.translate.glossary import load_glossary
from recipe_gallery.translate.markup import _machinery, inline_nodes, parse
from seeded import REWRITTEN, load_cases, seed, tell

GLOSSARY = load_glossary(ROOT / "locale")
TABLE = Path(__file__).with_name("messages.jsonl").read_text(encoding="utf-8")
ROWS = [json.loads(line) for line in TABLE.splitlines()]
# What keeps a translation from readers, who would be misled or see a broken page: no catalog says
# otherwise. The rest is advice; where it is wrong, a translator says so with a reason.
BREAKING = (
    "hidden-character comment line-break markup markup-changed formula placeholder address raw-html"
)
KOREAN = Language(code="ko", name="한국어", glue=True)


def said_of(row: dict[str, str]) -> list[tuple[str, str]]:
    code = row["language"]
    glue = True if code in ("ko", "zh_CN") else None
    message = Message(
        text=row["text"],
        translation=row["translation"],
        kind=Kind[row["kind"].upper()],
        language=Language(code=code, name=code, glue=glue),
        glossary=GLOSSARY,
    )
    return [(check.name, said) for check, said in run_checks(message, CHECKS)]


def test_what_is_wrong_is_told_and_what_is_right_is_not() -> None:
    wrong = [row for row in ROWS if sorted({name for name, _ in said_of(row)}) != row["told"]]
    assert wrong == []


def test_what_is_told_says_what_to_do() -> None:
    for row in ROWS:
        said = {f"{name}: {words}" for name, words in said_of(row)}
        assert set(row.get("said", ())) <= said, row


def test_every_check_has_examples_in_the_languages_of_the_site() -> None:
    count = Counter((name, row["language"]) for row in ROWS for name in row["told"])
    scripts = defaultdict(set)
    for check in CHECKS:
        scripts[check.name] |= set(check.scripts) or {"Kore", "Hans"}
    for check in CHECKS:
        codes = [
            {"Kore": "ko", "Hans": "zh_CN"}[each] for each in scripts[check.name] & {"Kore", "Hans"}
        ]
        if check.name not in ("glossary", "fuzzy", "order"):  # have tests of their own
            assert all(count[check.name, code] >= 3 for code in codes), check.name


def test_what_breaks_a_page_is_kept_from_it_and_style_is_not() -> None:
    assert " ".join(check.name for check in CHECKS if check.breaks) == BREAKING


@pytest.mark.parametrize(
    ("code", "text", "translation"),
    [
        ("de", "It takes 1.5 ms for 1,000 calls.", "Für 1.000 Aufrufe dauert es 1,5 ms."),
        ("de", 'Say "it" in PyTorch 2.11.', "Sage „es“ in PyTorch 2.11."),
        ("fr", 'In 1.5 ms, 1,000 calls: "go".', "En 1,5\u202fms, 1\u202f000 appels : « go »."),
        ("ja", 'In 1.5 ms, 1,000 calls: "go" (wall time).', "1.5 msで1,000回の「go」(経過時間)。"),
    ],
)
def test_a_language_writes_numbers_and_quotes_by_its_own_rules(
    code: str, text: str, translation: str
) -> None:
    row = {"language": code, "kind": "prose", "text": text, "translation": translation}
    assert said_of(row) == []
    assert said_of(row | {"translation": translation.replace("1", "7", 1)})


@pytest.mark.parametrize(
    ("code", "swapped", "right"),
    [
        ("ko", ":claim:`{a.b}에서 {c.d}로 줄어듦 <x>`", ":claim:`{c.d}에서 {a.b}로 줄어듦 <x>`"),
        ("zh_CN", ":claim:`从 {a.b} 降到 {c.d} <x>`", ":claim:`从 {c.d} 降到 {a.b} <x>`"),
        ("de", ":claim:`von {a.b} auf {c.d} <x>`", ":claim:`von {c.d} auf {a.b} <x>`"),
    ],
)
def test_swapped_figures_are_told(code: str, swapped: str, right: str) -> None:
    source = ":claim:`in {a.b} instead of {c.d} <x>`"
    assert len(said_by("order", code, source, swapped)) == 1
    assert said_by("order", code, source, right) == []


def test_advice_waits_until_markup_is_mended() -> None:
    row = {"language": "ko", "kind": "prose", "text": "**Note** ``it``."}
    told = said_of(row | {"translation": "**주의 ``it``, 빠르다。"})
    assert {name for name, _said in told} == {"markup"}


def test_an_excuse_that_is_none_is_told() -> None:
    assert read_excuses("check-po: allow width (a quotation)") == ({"width"}, [])
    assert read_excuses("a remark") == (set(), [])
    reasons = [read_excuses(f"check-po: allow width ({reason})")[0] for reason in ("", "a!", "ok")]
    assert reasons == [set(), set(), {"width"}]
    allowed, (said,) = read_excuses("check-po: allow markup (it looks better)")
    assert allowed == set()
    assert said == "markup cannot be allowed, because readers would be harmed; mend the translation"


# Of real translations: those that somebody wrote anew, and those that something was put into


@pytest.mark.parametrize("code", ["ko", "zh_CN"])
def test_good_translations_written_anew_are_not_told(code: str, tmp_path: Path) -> None:
    cases = [each for each in load_cases(REWRITTEN) if each.code == code]
    assert len(cases) == 50
    alone = [replace(each, neighbours=()) for each in cases]
    told = [said for case in alone if (said := tell(case, case.translation, tmp_path))]
    assert len(told) <= 1, told  # 2 %


def test_seeded_defects_are_told(tmp_path: Path) -> None:
    trials = list(seed(2, tmp_path, load_cases()))
    missed = [(each.defect.name, each.translation) for each in trials if not each.told]
    assert len(trials) > 100
    assert len(missed) <= len(trials) // 10, missed  # all of them: tests/seeded.py


def said_by(check: str, code: str, text: str, translation: str) -> list[str]:
    message = Message(text=text, translation=translation, language=Language(code=code, name=code))
    return [said for each, said in run_checks(message, CHECKS) if each.name == check]


@pytest.mark.parametrize(
    ("text", "kind", "pseudo"),
    [
        ("Read ``code`` and :doc:`/faq`.", "PROSE", "Ŕéåđ ``code`` åñđ :doc:`/faq`. ~~~~~~~"),
        ("See `here <a.html>`__.", "PROSE", "Šéé `ĥéŕé <a.html>`__. ~~~~~"),
        (
            "On %(device)s, %s &nbsp; <b>x</b>",
            "LABEL",
            "Öñ %(device)s, %s &nbsp; <b>ẋ</b> ~~~~~~~~",
        ),
        ("Why this", "COMMENT", "Ŵĥý ţĥîš ~~"),
        ("\\frac{\\text{cost}}{2}", "FORMULA", "\\frac{\\text{çöšţ}}{2}"),
        ("``x``", "PROSE", "``x``"),
        ("ab", "LABEL", "åƀ ~"),
        (
            "Now :claim:`it is {a.b, number} {{x}} <c-d>`.",
            "PROSE",
            "Ñöŵ :claim:`îţ îš {a.b, number} {{ẋ}} <c-d>`. ~~~~~~~~~~~",
        ),
    ],
)
def test_a_pseudo_translation_leaves_what_is_no_word(text: str, kind: str, pseudo: str) -> None:
    assert pseudo_message(text, Kind[kind]) == pseudo


def test_a_text_is_shown_with_its_literals_and_the_titles_of_its_links() -> None:
    text = "Use ``a``, :doc:`the page </faq>`, `here <https://a.example>`__ and [1]_."
    found = inline_nodes(text)
    assert "".join(node.astext() for node in found) == "Use a, the page, here and 1."
    assert [node.astext() for node in found if isinstance(node, nodes.literal)] == ["a"]
    assert all(isinstance(node, nodes.Text | nodes.literal) for node in found)
    assert [node.astext() for node in inline_nodes("``a``를", glue=True)] == ["a", "를"]

    def make(role: str, text: str) -> nodes.Node | None:
        return nodes.emphasis("", f"{role} {text}") if role == "measured" else None

    made = inline_nodes(":measured:`a.b` :doc:`c`", make=make)
    assert [(type(node), node.astext()) for node in made] == [
        (nodes.emphasis, "measured a.b"),
        (nodes.Text, " "),
        (nodes.Text, "c"),
    ]
    # without it, words that touch markup are words
    assert "".join(node.astext() for node in inline_nodes("``a``를")) == "``a``를"


BLOCKS = [
    *("- a", "* a", "+ a", "• a", "‣ a", "⁃ a", "-", "1. a", "(12) a", "3) a", "a. b", "#. a"),
    *("iv) a", "(C) a", ".. a", ">>> a", "__ a", "| a", "|", ":a: b", ":a b:", "+-", "===", "---"),
    *(" a", "\ta", "\u3000a"),
]
PARAGRAPHS = [
    *("-a", "1.5 s", "e.g. a", "3rd. a", "...a", ">> a", "_a", "|a|", ":a : b", ": a: b", "a - b"),
    *(":doc:`/faq` a", "a: b: c", "==", "--", "+1", "vowed) a", "(1 of 2) a"),
]


@pytest.mark.parametrize("text", BLOCKS)
def test_what_starts_another_block_is_told(text: str) -> None:
    start = "a space" if text[0].isspace() else repr(text.split()[0])
    (said,) = [each for each in parse(text).problems if "another block" in each]
    assert said.startswith(f"begins with {start}, which starts a list or another block")
    assert text[0].isspace() or parse(f"\\{text}").problems == ()  # as it says


@pytest.mark.parametrize("text", PARAGRAPHS)
def test_what_only_looks_like_the_start_of_a_block_is_a_paragraph(text: str) -> None:
    assert not any("another block" in problem for problem in parse(text).problems)


def test_the_words_of_a_message_are_what_is_left_without_markup() -> None:
    text = (
        "Use ``a``, *two* **words**, :doc:`the page </faq>`, :doc:`/faq`, :math:`x^2`, |b|, [1]_, "
        "`here <https://a.example>`__, https://b.example and :measured:`a.b.time`."
    )
    found = parse(text)
    assert found.problems == ()
    assert found.plain == "Use  , two words, the page,  ,  , , , here,   and  ."
    assert dict(found.parts) == {
        ("literal", "``a``"): 1,
        ("role", ":doc:`/faq`"): 2,
        ("role", ":math:`x^2`"): 1,
        ("substitution", "b"): 1,
        ("footnote", "1"): 1,
        ("link", "https://a.example"): 1,
        ("link", "https://b.example"): 1,
        ("figure", ":measured:`a.b.time`"): 1,
    }
    assert (found.emphasized, found.strong) == (2, 1)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (":guilabel:`Save`", ("role", ":guilabel:")),
        (":menuselection:`File --> Save`", ("role", ":menuselection:")),
        (":abbr:`GPU (a processor)`", ("role", ":abbr:")),
        (":math:`\\mathrm{cost} + \\text{time}_1`", ("role", ":math:`\\mathrm{} + \\text{}_1`")),
        ("`title`", ("role", ":`:`title`")),
        ("`a b`_", ("link", "reference")),
        ("`here <other_>`_", ("link", "reference")),
        ("`here <https://a.example>`_", ("link", "https://a.example")),
        ("_`a place`", ("target", "_`a place`")),
        ("[#note]_", ("footnote", "[#note]_")),
        ("[Name2026]_", ("footnote", "Name2026")),
    ],
)
def test_of_a_part_that_is_for_readers_only_the_rest_is_compared(
    text: str, part: tuple[str, str]
) -> None:
    found = parse(f"See {text} here.")
    assert dict(found.parts) == {part: 1}
    assert found.plain.startswith("See ")
    assert found.plain.endswith(" here.")


@pytest.mark.parametrize(
    ("translation", "said"),
    [
        ("**가", "is not closed; close it with two stars, without a space before them"),
        ("*가", "is not closed; close it with a star, or write \\* for one to be seen"),
        ("|가", "is not closed; close it with |, or write \\| for one to be seen"),
        ("_`가", "is not closed; write \\_ if it is no target"),
        (":a:`b`:c:", "has a role on both sides; keep the one of the source"),
        (":a:`b`_", "is a role and a link at once; write it as in the source"),
        (
            "`가",
            "is not closed; close a name with two backticks, a link with `__ and a role with one",
        ),
        ("``" + "가" * 30, "is not closed; close it with two backticks"),
    ],
)
def test_markup_that_does_not_parse_is_explained(translation: str, said: str) -> None:
    place = repr(translation[:30])  # no more of a text shows where it is
    assert said_by("markup", "ko", "A b.", translation) == [f"markup: {place} {said}"]


@pytest.mark.parametrize(
    ("code", "translation", "touches"),
    [("en", "*a*b c", True), ("en", "``a``b", True), ("ko", "*a b", False)],
)
def test_a_word_that_touches_markup_is_told_to_keep_away(
    code: str, translation: str, touches: bool
) -> None:
    language = Language(code=code, name=code, glue=code == "ko")
    message = Message(text="A b.", translation=translation, language=language)
    (said,) = [said for check, said in run_checks(message, CHECKS) if check.name == "markup"]
    away = (
        "; where a word touches markup, put a space between, or a backslash and a space, "
        "which show none"
    )
    assert said.startswith(f"markup: {translation[:6]!r}"[:-1])
    assert said.endswith(away) == touches


def test_a_literal_in_the_middle_of_a_word_is_told_to_keep_away() -> None:
    (said,) = said_by("markup-changed", "de", "The ``a`` mode.", "Der``a``-Modus.")
    assert said.startswith("missing from the translation: ``a``; where a word touches markup, ")


@pytest.mark.parametrize(
    "role", ["math", "code", "raw", "literal", "samp", "kbd", "file", "command"]
)
def test_a_role_that_leads_nowhere_may_be_repeated_and_has_no_title(role: str) -> None:
    part = f":{role}:`x <y>`"
    assert said_by("markup-changed", "ko", f"{part} and {part}.", part) == []
    assert dict(parse(part).parts) == {("role", part): 1}


@pytest.mark.parametrize(
    ("text", "translation", "said"),
    [
        ("a " * 2_500, "나", ""),
        ("a " * 2_500 + "a", "나", "a message of 5001 characters; split the text of the page"),
        ("a" * 10, "나 " * 120, ""),
        ("a" * 10, "나" * 241, "241 characters for 10 of English; translate that alone"),
        ("a " * 500, "나 " * 2_000, ""),
        ("a " * 500, "나" * 4_001, "4001 characters for 1000 of English; translate that alone"),
        ("a " * 500, "나" * 1_000, ""),
        ("a " * 500, "나" * 999 + " 다", ""),
        ("a " * 500, "나" * 1_001, "a word of 1,000 characters; write words"),
        ("a" * 1_000, "나" * 1_001, ""),
    ],
)
def test_a_message_that_is_too_long_is_not_looked_at(
    text: str, translation: str, said: str
) -> None:
    assert describe_length(text, translation) == said


def test_what_only_looks_like_words_is_left_out_of_them() -> None:
    korean = Language(code="ko", name="한국어", glue=True)
    label = Message(text="%(a)s b", translation="%(a)s 나", kind=Kind.LABEL, language=korean)
    assert label.wording == ("  b", "  나")
    parts = ["%(a)s", "{b}", "{c:,}", "`d`", "<e>", "&amp;", "</f>", "<!--", "https://g.example/h"]
    for part in parts:
        mixed = Message(text=f"x {part} y", translation="-", kind=Kind.LABEL, language=korean)
        assert mixed.wording[0] == "x   y", part
    as_the_source = Message(text="Hand it *args.", translation="*args 전달", language=korean)
    assert as_the_source.new_problems == []


def test_a_figure_is_compared_by_its_name_and_what_is_none_as_it_stands() -> None:
    for text, name in ((":measured:`a.b, number`", ":measured:`a.b`"), *(2 * (each,) for each in (
        ":measured:`no key`", ":claim:`no key`"))):  # fmt: skip
        found = parse(text)
        assert (found.plain, dict(found.parts)) == (" ", {("figure", name): 1})


def test_words_of_a_formula_are_words() -> None:
    assert parse("So :math:`\\text{cost} + \\mathrm{time}` is.").plain == "So  cost time  is."
    assert parse("See _`a place`.").plain == "See a place."


def test_what_does_not_parse_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    _machinery.cache_clear()
    assert parse("``not yet parsed").problems
    assert capfd.readouterr() == ("", "")


def test_the_words_of_a_claim_are_read_without_its_escapes() -> None:
    found = parse(":claim:`a \\< {a.time} <a.fast>`")
    assert (found.plain, dict(found.parts)) == (
        "a <  ",
        {("figure", ":claim:`{a.time} <a.fast>`"): 1},
    )
    found = parse(":claim:`a \\< {a.time} <a.fast < b.fast>`")
    assert dict(found.parts) == {("figure", ":claim:`{a.time} <a.fast < b.fast>`"): 1}


def test_what_of_a_message_does_not_parse_is_told() -> None:
    (problem,) = parse("An ``open literal").problems
    assert "Inline literal start-string without end-string" in problem
    assert parse("``a``b").problems
    assert parse("``a``b", glue=True).problems == ()

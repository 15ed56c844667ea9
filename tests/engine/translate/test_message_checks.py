"""Single messages: right ones that look wrong, and wrong ones that look right."""

import gettext
import re
from collections.abc import Iterator

import pytest
from docutils import nodes

from gallery import ROOT
from recipe_gallery.languages import Language
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.checks import rules  # noqa: F401 (it adds the checks)
from recipe_gallery.translate.checks.markup import _machinery, inline_nodes, parse
from recipe_gallery.translate.checks.message import (
    ALL,
    CHECKS,
    Check,
    Message,
    advice,
    check,
    describe_length,
    run_checks,
)
from recipe_gallery.translate.checks.page import Kinds, drop_unfit, kind_of_node
from recipe_gallery.translate.checks.style.number_words import may_say
from recipe_gallery.translate.glossary import load_glossary
from recipe_gallery.translate.mo import loaded_messages
from recipe_gallery.translate.pseudo import pseudo_message

# Which words a number may stand for
NUMBER_WORDS = {
    "0": "zero none",
    "1": "one once first half third quarter tenth hundredth thousandth January",
    "2": "two twice second both half doubles doubled pair February",
    "3": "three third triples March",
    "4": "four quarter April",
    "5": "five fifth May",
    "6": "six sixth June",
    "7": "seven seventh July",
    "8": "eight eighth August",
    "9": "nine ninth September",
    "10": "ten tenth October billion",
    "11": "eleven November",
    "12": "twelve dozen December",
    "20": "twenty",
    "50": "fifty half",
    "100": "hundred million",
    "1000": "thousand",
}
RIGHT = [
    ("prose", "Note: for example, ``torch.compile``.", "注：例如：``torch.compile``。"),
    ("label", "100 % of this page is translated", "이 페이지의 100 %가 번역됨"),
    ("label", "100% free", "100% 무료"),
    ("label", "Results of %(recipe)s", "%(recipe)s의 결과"),
    ("prose", "Use |release|.", "|release|를 씁니다."),
    ("prose", "If a < b and c > d.", "a<b이고 c>d이면"),
    ("prose", ":math:`\\text{limit}` is.", ":math:`\\text{한계}` 입니다."),
    ("prose", ":guilabel:`Save` it.", ":guilabel:`저장` 하세요."),
    ("prose", "As of March 2026.", "2026년 3월 기준입니다."),
    ("prose", "A third of the time.", "시간의 3분의 1입니다."),
    ("prose", "It doubles the time.", "시간이 2배가 됩니다."),
    *(
        ("prose", f"It takes {word} days.", f"{number}일이 걸립니다.")
        for number, words in NUMBER_WORDS.items()
        for word in words.split()
    ),
    ("prose", "A million calls.", "100만 번 호출합니다."),
    ("prose", "On two H200s it is faster.", "H200 2개에서는 더 빠릅니다."),
    ("prose", "In the 1990s", "1990년대"),
    ("prose", "Inductor, Triton, cuBLAS", "Inductor, Triton, cuBLAS"),
    ("comment", "Set `mode` as before.", "앞과 같이 `mode`를 설정합니다."),
]
WRONG = [
    ("hidden-character", "prose", "It is fast.", "빠\u3164릅니다."),
    ("comment", "comment", "Why", "# 왜"),
    ("line-break", "prose", "One.", "하나.\n둘."),
    ("markup", "prose", "A b.", "``가"),
    ("figures", "prose", "It is :measured:`a.b`.", "빠릅니다."),
    ("formula", "formula", "\\text{a}", "\\text{$b$}"),
    ("markup-changed", "prose", "Set a*b*c to one.", "a*b*c를 1로 둡니다."),
    ("address", "comment", "Random", "난수 https://spam.example/x"),
    ("address", "label", "Open the page", "https://evil.example 열기"),
    ("raw-html", "prose", "It is fast.", "<!-- 검토 --> 빠릅니다."),
    ("raw-html", "prose", "A fast thing.", "빠른&nbsp;것입니다."),
    ("full-width-markup", "prose", "A b.", "：doc：`/faq` 글"),
    ("full-width-markup", "prose", "A b.", "：doc:`/faq` 글"),
    ("full-width-markup", "prose", "A b.", ":doc：`/faq` 글"),
    ("numbers", "prose", "It is 4.8 TB here.", "여기는 4.8 TB/s입니다."),
    ("placeholder", "label", "{count:,} messages", "메시지 개"),
    ("spaces", "prose", "It is fast.", "빠릅니다.\u00a0"),
]


def told(kind: str, text: str, translation: str) -> list[tuple[str, str]]:
    message = Message(
        text=text,
        translation=translation,
        kind=Kind[kind.upper()],
        language=Language(code="ko", name="한국어", glue=True),
        glossary=load_glossary(ROOT / "locale"),
    )
    checks = [
        each
        for each in CHECKS
        if each.applies(message.kind, message.language) and each.name not in STYLE.split()
    ]
    return [(check.name, said) for check, said in run_checks(message, checks)]


def alarms(kind: str, text: str, translation: str) -> list[str]:
    return [name for name, _said in told(kind, text, translation)]


@pytest.mark.parametrize(("kind", "text", "translation"), RIGHT)
def test_a_right_translation_raises_no_alarm(kind: str, text: str, translation: str) -> None:
    assert alarms(kind, text, translation) == []


@pytest.mark.parametrize(("check", "kind", "text", "translation"), WRONG)
def test_a_wrong_translation_is_found(check: str, kind: str, text: str, translation: str) -> None:
    assert check in alarms(kind, text, translation)
    (found,) = [each for each in CHECKS if each.name == check]
    assert found.breaks == (check in BREAKING.split())
    assert (not found.breaks) == (check in f"{EXCUSABLE} {STYLE}".split())


# What keeps a translation from readers, who would be misled or see a broken page: no catalog says
# otherwise. The rest is advice; where it is wrong, a translator says so with a reason.
BREAKING = (
    "hidden-character comment line-break markup markup-changed figures full-width-markup formula "
    "placeholder address raw-html"
)
EXCUSABLE = "glossary fuzzy untranslated numbers spaces"
# How to write well is shown in test_style_checks.py; here texts are too short for it.
STYLE = (
    "script character length emphasis leftover names order final-punctuation width spacing pairs "
    "doubled-word register particle"
)


def test_what_breaks_a_page_is_kept_from_it_and_style_is_not() -> None:
    assert " ".join(check.name for check in CHECKS if check.breaks) == BREAKING
    excusable = {check.name for check in CHECKS if not check.breaks}
    assert excusable == {*EXCUSABLE.split(), *STYLE.split()}


def test_a_function_becomes_a_check_under_its_own_name() -> None:
    before = list(CHECKS)

    @check(of={Kind.LABEL}, scripts={"Kore"})
    def check_two_words(message: Message) -> Iterator[str]:
        yield message.text

    @advice(scripts={"Hans"})
    def check_more(message: Message) -> Iterator[str]:
        yield message.text

    (one, other), CHECKS[:] = CHECKS[len(before) :], before
    assert one == Check(
        name="two-words",
        run=check_two_words,
        of={Kind.LABEL},
        breaks=False,
        scripts={"Kore"},
        whole=False,
    )
    assert (other.name, other.run, other.breaks, other.whole) == ("more", check_more, False, True)
    assert (other.of, other.scripts) == (ALL - {Kind.FORMULA}, {"Hans"})


def test_a_translation_of_another_text_is_told_as_such() -> None:
    korean = Language(code="ko", name="한국어", glue=True)
    for fuzzy in (True, False):
        message = Message(text="A b.", translation="글", fuzzy=fuzzy, language=korean)
        said = [text for check, text in run_checks(message, CHECKS) if check.name == "fuzzy"]
        assert (
            said
            == ["fuzzy: readers get English; revise it (#| is the former text) and remove the flag"]
            * fuzzy
        )


@pytest.mark.parametrize(
    "unit",
    [
        "%",
        "°C",
        "kB",
        "MB",
        "GB",
        "TB",
        "kB/s",
        "GiB",
        "MiB/s",
        "GB/s",
        "s",
        "ms",
        "µs",
        "ns",
        "Hz",
        "kHz",
        "MHz",
        "GHz",
        "FLOPS",
        "TFLOPS",
        "GFLOPS",
        "W",
    ],
)
def test_a_unit_stays_at_its_number(unit: str) -> None:
    source = f"It takes 4.5 {unit} here."
    assert alarms("prose", source, f"여기서는 4.5 {unit} 걸립니다.") == []
    assert alarms("prose", source, f"여기서는 4.5{unit} 걸립니다.") == []
    (said,) = told("prose", source, "여기서는 4.5 걸립니다.")
    assert said == ("numbers", f"4.5 {unit}: the unit is missing or another; keep it")


@pytest.mark.parametrize("text", ["3 books", "3 Wizards", "4 sheets", "A100 GB", "v1.2 s"])
def test_what_only_looks_like_a_unit_may_be_translated(text: str) -> None:
    numbers = " ".join(re.findall(r"[\d.]+", text))
    assert alarms("prose", f"It has {text}.", f"가 {numbers} 나") == []


def test_a_number_may_stand_for_a_word() -> None:
    for number, words in NUMBER_WORDS.items():
        assert all(may_say(number, {word.lower()}) for word in words.split()), number
    for word in ("several", "few", "couple", "some"):
        said = [number for number in ("1", "2", "9", "10", "12") if may_say(number, {word})]
        assert said == ["2", "9"]
    assert not may_say("7", {"two", "days"})


HTML = "is not as often there as in the source; it is part of HTML"
SAID = [
    (
        *("prose", "It is :measured:`a.b`.", "빠릅니다."),
        {
            "figures: missing from the translation: :measured:`a.b`; copy the keys from the source",
        },
    ),
    (
        *("prose", ":claim:`It is {b}, {a} <c>`.", ":claim:`{b} {b} {a}입니다 <c>`."),
        {
            "figures: missing from the translation: :claim:`{a} {b} <c>`; "
            "copy the keys from the source",
        },
    ),
    (
        *("prose", "It is fast.", ":measured:`a.b` 빠릅니다."),
        {"figures: not in the source: :measured:`a.b`; copy the keys from there"},
    ),
    ("prose", "It is.", "빠\u3164", {"hidden-character: invisible character U+3164; remove it"}),
    ("comment", "Why", "# 왜", {"comment: leave out the #, it is put in front of the translation"}),
    (
        *("prose", "One.", "하나.\n둘."),
        {"line-break: a line break that the source does not have; write one paragraph"},
    ),
    (
        *("prose", "Use ``a``.", "``b`` 씁니다."),
        {
            "markup-changed: missing from the translation: ``a``; keep it; "
            "not in the source: ``b``; leave it out"
        },
    ),
    (
        *("prose", "Use ``b`` and ``a``.", "씁니다."),
        {"markup-changed: missing from the translation: ``a``, ``b``; keep it"},
    ),
    (
        *("prose", "A paragraph.", "a_ 문단"),
        {
            "markup-changed: not in the source: reference; "
            "a word that ends in _ is a link; write \\_ for the character"
        },
    ),
    (
        *("prose", "A b.", "*가*"),
        {"markup-changed: emphasis that the source does not have; write \\* for a star"},
    ),
    (
        *("prose", "See a_ and `b c`_.", "`나 다`_ 참고"),
        {"markup-changed: missing from the translation: a_ or `b c`_; keep it"},
    ),
    (
        *("prose", "Use ``a``.", "```a`` 씁니다."),
        {"markup-changed: '```a``' is not closed; close it with two backticks"},
    ),
    ("prose", "*A* b.", "**가**", set()),
    ("prose", "Hand it *args.", "*args 전달", set()),  # as the source has it, it is meant so
    *(
        (
            "prose",
            f"{part} and {part}.",
            part,
            {f"markup-changed: missing from the translation: {part.strip('[]_|')}; keep it"},
        )
        for part in (":doc:`/faq`", "[1]_", "|a|")
    ),
    # "it" may be told by its name, and the name by "it"
    *(("prose", f"{part} and {part}.", part, set()) for part in ("``a``", ":math:`x`")),
    *(("prose", part, f"{part} {part}", set()) for part in ("``a``", ":math:`x`")),
    (
        *("prose", "`a <https://a.example>`__ b", "`가 <https://b.example>`__ b"),
        {
            "markup-changed: missing from the translation: https://a.example; keep it; "
            "not in the source: https://b.example; leave it out"
        },
    ),
    (
        "prose",
        ":abbr:`GPU (a processor)` or :doc:`faq </faq>`",
        ":abbr:`GPU (처리기)` :doc:`질문 </faq>`",
        set(),
    ),
    (
        *("prose", "Use `a`__ b", "a_ `b`_ 글"),
        {
            "markup-changed: not in the source: reference; "
            "a word that ends in _ is a link; write \\_ for the character"
        },
    ),
    (
        *("prose", ":measured:`b.time` and :measured:`a.time`", "값 둘"),
        {
            "figures: missing from the translation: :measured:`a.time`, :measured:`b.time`; "
            "copy the keys from the source"
        },
    ),
    (
        *("prose", "A b.", "값 :measured:`a.time` 하나"),
        {"figures: not in the source: :measured:`a.time`; copy the keys from there"},
    ),
    (
        *("prose", ":claim:`takes {a.time} <a.fast>`", ":claim:`{a.time} 걸립니다 <a.slow>`"),
        {
            "figures: missing from the translation: :claim:`{a.time} <a.fast>`; "
            "copy the keys from the source"
        },
    ),
    ("prose", ":claim:`a \\< {a.time} <a.fast>`", ":claim:`{a.time} \\> a <a.fast>`", set()),
    ("label", "An X", "X 하나, XX", set()),
    (
        *("prose", "A ｀b｀ and b.", "A｀b｀ ｀c｀"),
        set(),
    ),
    (
        *("prose", "A b.", "``가"),
        {
            "markup: markup: '``가' is not closed; close it with two backticks",
        },
    ),
    (
        *("prose", "A b.", "``가 `나 *다"),
        {
            "markup: markup: '``가 `나 *다' is not closed; close it with two backticks",
            "markup: markup: '*다' is not closed; "
            "close it with a star, or write \\* for one to be seen",
        },
    ),
    (
        *("prose", "A b.", "*가 *나 |다"),
        {
            "markup: markup: '*가 *나 |다' is not closed; "
            "close it with a star, or write \\* for one to be seen",
            "markup: markup: '|다' is not closed; close it with |, or write \\| for one to be seen",
        },
    ),
    (
        *("prose", "A b.", "글 # noqa"),
        {"markup: # noqa at the end is for Sphinx and not for readers; leave it out"},
    ),
    (
        *("prose", "`a <https://a.example>`__ b", "`가<https://a.example>`__ b"),
        {
            "markup-changed: no space before < in a link; "
            "put one between its title and its address",
        },
    ),
    (
        *("label", "Ask us", "a@b.example 문의"),
        {"address: an address that the source does not have: a@b.example; leave it out"},
    ),
    (
        *("comment", "Why", ":doc:`/a` :doc:`/b` 왜"),
        {"comment: not in the source: :doc:`/a`, :doc:`/b`; a comment is plain text"},
    ),
    (
        *("prose", "See `a < b`_.", "참고."),
        {"markup-changed: missing from the translation: reference; keep it"},
    ),
    (
        *("prose", "A b.", "``a`` ``b`` 글"),
        {"markup-changed: not in the source: ``a``, ``b``; leave it out"},
    ),
    (
        *("prose", "See a_.", "a_ ``b`` 참고."),
        {"markup-changed: not in the source: ``b``; leave it out"},
    ),
    (
        *("prose", "It is :measured:`a.b`.", ":measured:`a.b` :measured:`c.d`입니다."),
        {"figures: not in the source: :measured:`c.d`; copy the keys from there"},
    ),
    (
        *("prose", "A b.", "A｀b｀"),
        {"full-width-markup: full-width character in markup: ｀; use the half-width one"},
    ),
    (
        *("formula", "\\frac{a}{b}", "\\frac{b}{a}"),
        {"formula: the formula changed; translate only what stands in \\text{...}"},
    ),
    ("formula", "\\text{cost} + x", "\\text{비용}+x", set()),
    (
        *("formula", "x", "$x$"),
        {"formula: the formula changed; translate only what stands in \\text{...}"},
    ),
    (
        *("label", "%(date)s", "%(일)s"),
        {
            f"placeholder: placeholder %({name})s is not the same as in the source; "
            "copy it from there"
            for name in ("date", "일")
        },
    ),
    (
        "label",
        "%s free",
        "%s 무료 %",
        {"placeholder: a % that belongs to no placeholder; write %%"},
    ),
    (
        *("label", "a <b>", "가"),
        {
            "placeholder: tag <b> is not the same as in the source; copy it from there",
            f"placeholder: < {HTML}",
            f"placeholder: > {HTML}",
        },
    ),
    ("label", "Download", '"', {f'placeholder: " {HTML}'}),
    (
        *("comment", "Random", "난수 https://a.example/x http://b.example"),
        {
            "address: an address that the source does not have: "
            "https://a.example/x http://b.example; leave it out"
        },
    ),
    (
        *("prose", "It.", "<b>그</b>"),
        {"raw-html: HTML that the source does not have: <b> </b>; leave it out"},
    ),
    (
        *("prose", "It is 4.8 TB and 3.", "5 4.8 TB/s"),
        {
            "numbers: the number 3 is missing; numbers stay as they are",
            "numbers: the number 5 is not in the source; numbers stay as they are",
            "numbers: 4.8 TB: the unit is missing or another; keep it",
        },
    ),
    ("prose", "It costs 1,000 or 1.5.", "1000 또는 1.5입니다.", set()),
    (
        "prose",
        "It is 3, 4 and 4.",
        "3, 4입니다.",
        {"numbers: the number 4 is missing; numbers stay as they are"},
    ),
    (
        *("prose", "Measure your own inputs.", " Measure your own inputs."),
        {
            "untranslated: the translation is the English text; translate it",
            "spaces: space at the start; remove it",
            "markup: markup: begins with a space, which starts a list or another block",
        },
    ),
    ("prose", "Two words", "Two words", set()),
    (
        "prose",
        "Three more words",
        "Three more words",
        {"untranslated: the translation is the English text; translate it"},
    ),
    (
        "label",
        "One.",
        "하나.  둘 ",
        {"spaces: space at the end; remove it", "spaces: space doubled; remove it"},
    ),
    (
        *("label", "One\n", "하나"),
        {"spaces: source and translation do not both end with \\n; add or remove it"},
    ),
    ("label", "One\ntwo", "하나\n둘", set()),
    ("prose", "A kernel", "핵", {"glossary: 'kernel' is '커널' in the glossary; use that term"}),
]


@pytest.mark.parametrize(("kind", "text", "translation", "expected"), SAID)
def test_what_is_wrong_is_said_with_what_to_do(
    kind: str, text: str, translation: str, expected: set[str]
) -> None:
    said = [f"{name}: {what}" for name, what in told(kind, text, translation)]
    assert set(said) == expected
    assert len(said) == len(expected)


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


def test_a_pseudo_translation_can_run_from_right_to_left() -> None:
    assert pseudo_message("Read ``x``", Kind.PROSE, "ar_XB") == "\u200fرعاد ``x`` ~~"
    assert pseudo_message("On %s", Kind.LABEL, "ar_XB") == "\u200fون %s\u200f ~"
    assert pseudo_message("``x``", Kind.PROSE, "ar_XB") == "``x``"
    assert pseudo_message("A._b", Kind.PROSE, "ar_XB") == "\u200fا.\\_ب ~"  # no link to "A."


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
    said = f"begins with {start}, which starts a list or another block"
    assert said in parse(text).problems


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
    }
    assert dict(found.figures) == {":measured:`a.b.time`": 1}
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
    assert told("prose", "A b.", translation) == [("markup", f"markup: {place} {said}")]


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


def said_by(check: str, code: str, text: str, translation: str) -> list[str]:
    message = Message(text=text, translation=translation, language=Language(code=code, name=code))
    return [said for each, said in run_checks(message, CHECKS) if each.name == check]


def test_a_literal_in_the_middle_of_a_word_is_told_to_keep_away() -> None:
    (said,) = said_by("markup-changed", "de", "The ``a`` mode.", "Der``a``-Modus.")
    assert said.startswith("missing from the translation: ``a``; where a word touches markup, ")


def test_what_a_script_needs_is_no_hidden_character() -> None:
    said = [said_by("hidden-character", code, "I want.", "می\u200eخواهم.") for code in ("fa", "de")]
    assert said == [[], ["invisible character U+200E; remove it"]]


@pytest.mark.parametrize(
    "role", ["math", "code", "raw", "literal", "samp", "kbd", "file", "command"]
)
def test_a_role_that_leads_nowhere_may_be_repeated_and_has_no_title(role: str) -> None:
    part = f":{role}:`x <y>`"
    assert told("prose", f"{part} and {part}.", part) == []
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


def test_a_loaded_message_that_is_too_long_is_dropped() -> None:
    catalog = gettext.GNUTranslations()
    catalog._catalog = {"a" * 10: "나" * 241, "b": "나"}  # type: ignore[attr-defined]
    kinds: Kinds = {text: {Kind.PROSE} for text in ("c", "b", "a" * 10)}
    korean = Language(code="ko", name="한국어", glue=True)
    said = "241 characters for 10 of English; translate that alone (size)"
    assert list(drop_unfit(catalog, kinds, korean)) == [("a" * 10, said)]
    assert loaded_messages(catalog) == {"b": "나"}


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


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (nodes.paragraph(), Kind.PROSE),
        (nodes.title(), Kind.PROSE),
        (nodes.image(alt="a text"), Kind.PROSE),
        (nodes.image(uri="a text"), None),  # its file, which no catalog may name
        (nodes.raw(), None),
        (nodes.math_block(), Kind.FORMULA),
        (nodes.literal_block(), Kind.LABEL),
        (nodes.doctest_block(), Kind.LABEL),
    ],
)
def test_what_a_message_is_its_place_on_the_page_says(
    node: nodes.Element, kind: Kind | None
) -> None:
    assert kind_of_node(node, "a text") is kind


def test_a_figure_is_compared_by_its_name_and_what_is_none_as_it_stands() -> None:
    for text, name in ((":measured:`a.b, number`", ":measured:`a.b`"), *(2 * (each,) for each in (
        ":measured:`no key`", ":claim:`no key`"))):  # fmt: skip
        found = parse(text)
        assert (found.plain, dict(found.figures), found.parts) == (" ", {name: 1}, {})


def test_words_of_a_formula_are_words() -> None:
    assert parse("So :math:`\\text{cost} + \\mathrm{time}` is.").plain == "So  cost time  is."
    assert parse("See _`a place`.").plain == "See a place."


def test_what_does_not_parse_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    _machinery.cache_clear()
    assert parse("``not yet parsed").problems
    assert capfd.readouterr() == ("", "")


def test_the_words_of_a_claim_are_read_without_its_escapes() -> None:
    found = parse(":claim:`a \\< {a.time} <a.fast>`")
    assert (found.plain, dict(found.figures)) == ("a <  ", {":claim:`{a.time} <a.fast>`": 1})


def test_what_of_a_message_does_not_parse_is_told() -> None:
    (problem,) = parse("An ``open literal").problems
    assert "Inline literal start-string without end-string" in problem
    assert parse("``a``b").problems
    assert parse("``a``b", glue=True).problems == ()

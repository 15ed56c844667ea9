"""Single messages: what is told of a translation, about which nothing is, and how markup is read.

messages.jsonl has a message a line: what a check tells of it, by name, or nothing. ``said`` are the
words. Whoever finds a defect that nothing told, or a false alarm, adds a line.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from sphinx_recorded_gallery.languages import Language, Mirror
from sphinx_recorded_gallery.translate.catalogs import Kind
from sphinx_recorded_gallery.translate.checks import BREAKING, Check, Message, run_checks
from sphinx_recorded_gallery.translate.style_checks import ADVICE, find_advice
from tests.helpers.gallery import ROOT
from tests.helpers.seeded_defects import GLOSSARY, REWRITTEN, load_cases, seed, tell

TABLE = Path(__file__).with_name("messages.jsonl").read_text(encoding="utf-8")
ROWS = [json.loads(line) for line in TABLE.splitlines()]


def said_of(row: dict[str, str]) -> list[tuple[str, str]]:
    code = row["language"]
    message = Message(
        text=row["text"],
        translation=row["translation"],
        kind=Kind[row["kind"].upper()],
        language=Language(code=code, name=code),
        glossary=GLOSSARY,
    )
    checks = [*BREAKING, *find_advice(ROOT / "locale", code)]
    return [(check.name, said) for check, said in run_checks(message, checks)]


def test_what_is_wrong_is_told_and_what_is_right_is_not() -> None:
    wrong = [row for row in ROWS if sorted({name for name, _ in said_of(row)}) != row["told"]]
    assert wrong == []


def test_what_is_told_says_what_to_do() -> None:
    for row in ROWS:
        said = {f"{name}: {words}" for name, words in said_of(row)}
        assert set(row.get("said", ())) <= said, row


EXAMPLE = re.compile(r'(Good|Bad)(?: \((\w+)\))?: "(.*)" → "(.*)"')
EXAMPLES = [
    (check, *example)
    for check in [*BREAKING, *ADVICE]
    for example in EXAMPLE.findall(check.run.__doc__ or "")
]


@pytest.mark.parametrize(("check", "verdict", "code", "text", "translation"), EXAMPLES)
def test_the_examples_of_checks_are_true(
    check: Check, verdict: str, code: str, text: str, translation: str
) -> None:
    message = Message(
        text=text,
        translation=translation,
        kind=Kind.PROSE
        if Kind.PROSE in check.kinds
        else min(check.kinds, key=lambda kind: kind.name),
        language=Language(code=code or "ko", name=""),
        glossary=GLOSSARY,
    )
    assert bool([*check.run(message)]) == (verdict == "Bad")


@pytest.mark.parametrize(
    ("address", "is_refused"),
    [
        ("https://docs.example.kr/guide/caching.html", False),
        ("https://docs.example.org/tutorials/guide/caching.html", False),  # the original
        ("https://docs.example.kr/guide/other.html", True),
        ("https://docs.example.kr/guide/caching.html?next=evil.example", True),
        ("https://docs.example.kr.evil.example/guide/caching.html", True),
        ("https://evil.example/guide/caching.html", True),
    ],
)
def test_a_link_may_lead_to_the_same_page_of_a_mirror(address: str, is_refused: bool) -> None:
    mirror = Mirror(
        original="https://docs.example.org/tutorials/", translated="https://docs.example.kr/"
    )
    message = Message(
        text="`Caching <https://docs.example.org/tutorials/guide/caching.html>`__",
        translation=f"`캐싱 <{address}>`__",
        kind=Kind.PROSE,
        language=Language(code="ko", name="한국어", mirrors=(mirror,)),
    )
    assert bool([*run_checks(message, BREAKING)]) == is_refused
    if not is_refused:
        assert [*run_checks(message, ADVICE)] == []


@pytest.mark.parametrize(
    ("source", "target", "is_refused"),
    [
        ("pip install pkg", "pip install pako", False),
        ("pkg.func", "pako.func", False),
        ("pkg-1.0.zip", "pako-1.0.zip", False),
        ("pip install pkg", "pip install paki", True),
        ("pip install pkgs", "pip install pakos", True),
        ("pip install my-pkg", "pip install my-pako", True),
        ("pip install pkg-tool", "pip install pako-tool", True),
        ("run --pkg", "run --pako", True),
        ("pip install pkg", "pip install pako evil", True),
        ("pip install pako", "pip install pkg", True),
    ],
)
def test_a_name_that_stands_for_others_may_be_replaced(
    source: str, target: str, is_refused: bool
) -> None:
    def tell(checks: Sequence[Check], pairs: tuple[tuple[str, str], ...]) -> bool:
        message = Message(
            text=f"Run ``{source}``.",
            translation=f"Rulu ``{target}``.",
            kind=Kind.PROSE,
            language=Language(code="eo", name="Esperanto", stand_ins=pairs),
        )
        return bool([*run_checks(message, checks)])

    pairs = (("pkg", "pako"), ("func", "funk"))
    assert tell(BREAKING, pairs) == is_refused
    assert tell(BREAKING, ())  # unless the project names it
    if not is_refused:
        assert not tell(ADVICE, pairs)


# Of real translations: those that somebody wrote anew, and those that something was put into


@pytest.mark.parametrize("code", ["ko", "zh_CN"])
def test_good_translations_written_anew_are_not_told(code: str) -> None:
    cases = [each for each in load_cases(REWRITTEN) if each.code == code]
    assert len(cases) == 50
    told = [said for case in cases if (said := tell(case, case.translation))]
    assert len(told) <= 1, told  # 2 %


@pytest.mark.slow
def test_seeded_defects_are_told() -> None:
    trials = list(seed(2, load_cases()))
    missed = [(each.defect.name, each.translation) for each in trials if not each.told]
    assert len(trials) > 100
    assert len(missed) <= len(trials) // 10, missed  # all of them: tests/helpers/seeded_defects.py

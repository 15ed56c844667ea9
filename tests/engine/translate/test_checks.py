"""Single messages: what is told of a translation, about which nothing is, and how markup is read.

messages.jsonl has a message a line: what a check tells of it, by name, or nothing. ``said`` are the
words. Whoever finds a defect that nothing told, or a false alarm, adds a line.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gallery import ROOT
from recipe_gallery.languages import Language
from recipe_gallery.translate import advice  # noqa: F401 (its checks are among all)
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.checks import (
    CHECKS,
    Message,
    run_checks,
)
from recipe_gallery.translate.glossary import load_glossary
from recipe_gallery.translate.markup import _machinery, parse
from seeded import REWRITTEN, load_cases, seed, tell

GLOSSARY = load_glossary(ROOT / "locale")
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
    return [(check.name, said) for check, said in run_checks(message, CHECKS)]


def test_what_is_wrong_is_told_and_what_is_right_is_not() -> None:
    wrong = [row for row in ROWS if sorted({name for name, _ in said_of(row)}) != row["told"]]
    assert wrong == []


def test_what_is_told_says_what_to_do() -> None:
    for row in ROWS:
        said = {f"{name}: {words}" for name, words in said_of(row)}
        assert set(row.get("said", ())) <= said, row


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
        (
            "ko",
            ":claim:`{a.b}에서 {c.d}로 줄어듦 <x<y>`",
            ":claim:`{c.d}에서 {a.b}로 줄어듦 <x<y>`",
        ),
        ("zh_CN", ":claim:`从 {a.b} 降到 {c.d} <x<y>`", ":claim:`从 {c.d} 降到 {a.b} <x<y>`"),
        ("de", ":claim:`von {a.b} auf {c.d} <x<y>`", ":claim:`von {c.d} auf {a.b} <x<y>`"),
    ],
)
def test_swapped_figures_are_told(code: str, swapped: str, right: str) -> None:
    source = ":claim:`in {a.b} instead of {c.d} <x<y>`"
    assert len(said_by("order", code, source, swapped)) == 1
    assert said_by("order", code, source, right) == []


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


def test_what_does_not_parse_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    _machinery.cache_clear()
    assert parse("``not yet parsed").problems
    assert capfd.readouterr() == ("", "")

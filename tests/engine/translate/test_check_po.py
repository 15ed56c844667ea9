"""What `make check-po` tells about catalogs, and about which it is silent."""

import re
import shutil
from pathlib import Path

import polib
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.translate.check_po import Problem, check_file
from sphinx_recorded_gallery.translate.checks import BREAKING
from sphinx_recorded_gallery.translate.style_checks import find_advice
from tests.helpers.gallery import ENGINE, LANGUAGES, ROOT, save_catalog

LABELS = ("sphinx_recorded_gallery", "sphinx")
OTHERS = ["syntax", "duplicate", "empty", "fuzzy", "plural", "size"]  # of files
KOREAN = Language(code="ko", name="한국어")


def check_catalog(path: Path, language: Language = KOREAN) -> list[Problem]:
    return check_file(path, language, path.stem in LABELS, path.parent)


@pytest.mark.parametrize(
    ("comment", "counts"),
    [
        ("check-po: allow numbers (a date)", True),
        ("about this\ncheck-po: allow numbers: a date\nand more", True),
        ("check-po: allow numbers", False),
        ("check-po: allow numbers (...)", False),
        ("check-po: allow glossary (a date)", False),
    ],
)
def test_an_exception_counts_only_with_a_reason(tmp_path: Path, comment: str, counts: bool) -> None:
    path = save_catalog(
        tmp_path / "page.po",
        polib.POEntry(msgid="In 2 days.", msgstr="이틀 뒤", tcomment=comment),
        polib.POEntry(msgid="In 3 days.", msgstr="사흘 뒤"),
    )
    problems = check_catalog(path)
    numbers = [each.message.split(" is ")[0] for each in problems if each.check == "numbers"]
    assert numbers == (["the number 3"] if counts else ["the number 2", "the number 3"])


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("check-po: allow nubmers (a date)", "no check is called nubmers; did you mean numbers?"),
        ("check_po: allow numbers (a date)", "'check_po: allow numbers (a date)' excuses nothing;"),
        ("check-po: alow numbers (a date)", "'check-po: alow numbers (a date)' excuses nothing;"),
        ("check-po: allow numbers", "'check-po: allow numbers' excuses nothing; write: check-po: "),
        ("check-po: allow numbers (a date)", ""),
        ("as it is elsewhere", ""),
    ],
)
def test_a_wrong_mark_of_an_exception_is_told(tmp_path: Path, comment: str, told: str) -> None:
    entry = polib.POEntry(msgid="It is so.", msgstr="그렇습니다.", tcomment=comment)
    path = save_catalog(tmp_path / "page.po", entry)
    problems = check_catalog(path)
    assert [each.check for each in problems] == (["mark"] if told else [])
    assert "".join(each.message for each in problems).startswith(told)


# The command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two languages with a catalog or two, in the current folder."""
    languages = [f"{LANGUAGES[code]}\n" for code in ("en", "ko", "zh_CN")]
    (tmp_path / "languages.toml").write_text("".join(languages))
    conf = f'extensions = {[*ENGINE]}\nlocale_dirs = ["locale"]\n'
    (tmp_path / "conf.py").write_text(conf)
    locale = tmp_path / "locale"
    save_catalog(
        locale / "ko/LC_MESSAGES/recipes/modes.po",
        polib.POEntry(msgid="Compare the medians.", msgstr="중앙값을 비교합니다. "),
        polib.POEntry(msgid="100 % of 3 kernels", msgstr="코어 4개 중 100"),
        polib.POEntry(msgid="A word.", msgstr="``말."),
    )
    label = polib.POEntry(msgid="Copied", msgstr="복사됨 ")
    save_catalog(locale / "ko/LC_MESSAGES/sphinx.po", label)
    empty = polib.POEntry(msgid="Not so fast", msgstr="")
    save_catalog(locale / "zh_CN/LC_MESSAGES/faq.po", empty, language="zh_CN")
    (locale / "glossary.csv").write_text("term,note\nkernel,\n")
    (locale / "ko/glossary.csv").write_text("term,translation\nkernel,커널\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Run the command in this process; return the lines it printed."""
    main(["check-po", *arguments])
    captured = capsys.readouterr()
    return (captured.out + captured.err).splitlines()


def test_the_command_tells_place_message_and_check_in_order(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    modes, sphinx = "locale/ko/LC_MESSAGES/recipes/modes.po", "locale/ko/LC_MESSAGES/sphinx.po"
    *lines, total = told(capsys)
    counts = "numbers: 3, spaces: 2, glossary: 1, markup: 1, template: 1"
    assert total == f"8 problems ({counts}); 1 to translate"
    assert "no templates list the messages of pages; run: recorded-gallery update-po" in lines[7]
    places = [re.match(r"(.*):\d+: .* \((.*)\)", line) for line in lines]
    assert [found and found.groups() for found in places] == [
        (modes, "spaces"),
        (modes, "glossary"),
        *[(modes, "numbers")] * 3,
        (modes, "markup"),
        (sphinx, "spaces"),
        ("locale/templates", "template"),
        ("locale/zh_CN/LC_MESSAGES/faq.po", "empty"),
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("English;ko\nkernel;커널\n", ":1: ", "name the columns"),
        ("term,note\nkernel,\n,a layer\n", ":3: ", "no English term"),
        ("term,note\nkernel,of a GPU, not a pit\n", ":2: ", "more cells than columns"),
        ('term,note\nkernel,\n"batch,\n', ":3: ", "not a table in CSV and UTF-8"),
    ],
    ids=["columns", "term", "cells", "quote"],
)
def test_a_broken_glossary_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, place: str, message: str
) -> None:
    (project / "locale" / "glossary.csv").write_text(text)
    (line,) = told(capsys)
    assert line.startswith(f"error: locale/glossary.csv{place}")
    assert message in line
    shutil.rmtree(project / "locale/ko")  # it is told without any catalog, too
    assert told(capsys, "ko") == [line]


# Anything at all


def splice(path: Path, start: int, length: int, junk: bytes) -> bytes:
    """Return a catalog with some bytes replaced by others."""
    content = path.read_bytes()
    start %= len(content)
    return content[:start] + junk + content[start + length :]


LIKE_A_CATALOG = st.builds(
    splice,
    path=st.sampled_from(sorted((ROOT / "locale/ko").rglob("*.po"))),
    start=st.integers(0, 10_000),
    length=st.integers(0, 40),
    junk=st.binary(max_size=20),
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for catalogs that are looked at once, below a glossary."""
    locale = tmp_path_factory.mktemp("any") / "locale"
    (locale / "ko" / "LC_MESSAGES").mkdir(parents=True)
    shutil.copy(ROOT / "locale/glossary.csv", locale)
    return locale / "ko" / "LC_MESSAGES" / "page.po"


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    content=st.one_of(st.binary(max_size=300), LIKE_A_CATALOG),
    language=st.sampled_from(["ko", "de"]),  # words may touch markup, or may not
)
@example(content=b"", language="ko")
@example(content=b'msgid ""\nmsgstr "charset=no-such\\n"\n', language="ko")
@example(content=b"\xef\xbb\xbf", language="ko")
@example(content=b"msgid", language="ko")
def test_any_bytes_are_a_catalog_or_told(scratch: Path, content: bytes, language: str) -> None:
    scratch.write_bytes(content)
    problems = check_file(scratch, Language(code=language, name=""), (), scratch.parents[2])
    checks = [*BREAKING, *find_advice(scratch.parents[2], language)]
    assert {problem.check for problem in problems} <= {*OTHERS, *(check.name for check in checks)}
    assert all(each.line >= 1 for each in problems)
    if any(each.check == "syntax" and each.breaks for each in problems):
        assert len(problems) == 1


def test_catalogs_of_languages_that_nobody_listed_are_an_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "languages.toml").unlink()
    for command in ("check-po", "update-po"):
        assert main([command]) == 1
        told = capsys.readouterr().err
        assert "their languages are not in languages.toml: ko, zh_CN; for each, run: " in told
        assert told.endswith(" new-language ko\n")


def test_a_doubled_message_is_told_with_the_line_of_the_first(tmp_path: Path) -> None:
    entries = [polib.POEntry(msgid="One.", msgstr=text) for text in ("하나.", "일.")]
    path = save_catalog(tmp_path / "ko/LC_MESSAGES/page.po", *entries)
    problems = check_catalog(path)
    lines = [n for n, row in enumerate(path.read_text().splitlines(), 1) if row == 'msgid "One."']
    (problem,) = problems
    assert (problem.line, problem.breaks) == (lines[1], True)
    assert problem.message == f"the same message as in line {lines[0]}; keep one of the two"


def test_a_fuzzy_message_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    entry = polib.POEntry(msgid="Use ``code``.", msgstr="``kode`` 사용.", flags=["fuzzy"])
    path = save_catalog(tmp_path / "ko/LC_MESSAGES/page.po", entry)
    (problem,) = check_catalog(path)
    assert (problem.check, problem.breaks) == ("fuzzy", False)


def test_a_language_that_is_not_published_may_have_gaps(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "(empty)" in "".join(told(capsys, "zh_CN"))
    text = (project / "languages.toml").read_text()
    hidden = text.replace('"简体中文"', '"简体中文", published = false')
    (project / "languages.toml").write_text(hidden)
    assert "(empty)" not in "".join(told(capsys, "zh_CN"))

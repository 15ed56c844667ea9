import ast
import tokenize
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from docutils.utils import column_width
from hypothesis import example, given
from hypothesis import strategies as st

from gallery import ROOT
from recipe_gallery.recipes.fingerprint import fingerprint_code
from recipe_gallery.recipes.gallery import find_recipes
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.translate.comments import (
    MAY_BREAK,
    find_comments,
    find_problem,
    replace_comments,
    wrap,
)

CODE = """\
# A first line
# and a second one.
#
# Another paragraph.
import os  # noqa: F401

x = 1  # behind code


def f(s="# no comment"):
    # Inside a block.
    return f"{s} # neither"  # type: ignore
"""
TEXTS = ["A first line and a second one.", "Another paragraph.", "behind code", "Inside a block."]


def tokens(source: str) -> list[tuple[int, str]]:
    skipped = {tokenize.COMMENT, tokenize.NL}
    found = tokenize.generate_tokens(StringIO(source).readline)
    return [(token.type, token.string) for token in found if token.type not in skipped]


def test_comments_are_paragraphs_without_pragmas_and_strings() -> None:
    assert [comment.text for comment in find_comments(CODE)] == TEXTS


def test_a_translation_takes_the_place_of_its_comment() -> None:
    translations = dict(
        zip(TEXTS, ["첫째 문단입니다.", "둘째 문단입니다.", "코드 뒤", "블록 안."], strict=True)
    )
    translated = replace_comments(CODE, translations)
    assert translated.startswith(
        "# 첫째 문단입니다.\n#\n# 둘째 문단입니다.\nimport os  # noqa: F401\n"
    )
    assert "x = 1  # 코드 뒤\n" in translated
    assert "    # 블록 안.\n" in translated
    assert tokens(translated) == tokens(CODE)


def test_long_translations_are_wrapped_where_their_script_allows() -> None:
    chinese = "编译器把多个逐元素操作融合成一个内核，" * 6
    lines = replace_comments("# Short.\nx = 1\n", {"Short.": chinese}).splitlines()
    assert len(lines) > 2
    assert not any(line.startswith("# ，") for line in lines)
    assert "".join(line.removeprefix("# ") for line in lines[:-1]) == chinese
    korean = "컴파일러는 여러 연산을 하나의 커널로 합칩니다. " * 6
    lines = replace_comments("# Short.\nx = 1\n", {"Short.": korean}).splitlines()
    assert " ".join(line.removeprefix("# ") for line in lines[:-1]) == korean.strip()


@pytest.mark.parametrize(
    "translation",
    [
        "one\nimport os",
        "one\r\nimport os",
        "one\x0cimport os",
        "one\x85import os",
        "one\u2028import os",
        'a """ b',
        "a ''' b",
        "%% [markdown]",
        "# %% a cell",
        "%matplotlib inline",
        "!ls",
        "noqa",
        "type: ignore",
        "fmt: off",
        "one  # noqa",
        "one # type: ignore",
        "one #fmt: skip",
        "one # nosec B101",
        "one pylint: disable=all",
        "one # mypy: ignore-errors",
        "one vim: set ft=sh",
        "one #%% a cell",
        "sphinx_gallery_alt = 'x'",
        "# one more mark",
        "zero\u200bwidth",
        "turned\u202earound",
        "lone \ud800 surrogate",
    ],
)
def test_a_translation_that_would_change_the_code_is_refused(translation: str) -> None:
    assert find_problem("behind code", translation)
    assert replace_comments(CODE, dict.fromkeys(TEXTS, translation)) == CODE


@pytest.mark.parametrize(
    ("translation", "problem"),
    [
        ("a\u200b", "a comment is one line; remove line breaks and invisible characters"),
        (
            "noqa",
            "a comment must not start like an instruction to a tool; begin it with another word",
        ),
        ("# one", "leave out the #, it is put in front of the translation"),
        ('a """ b', 'a comment must not bring in """; write other quotation marks'),
        ("lone \ud800", "a character that cannot be written in UTF-8; write another"),
    ],
)
def test_what_is_wrong_with_a_translation_is_said(translation: str, problem: str) -> None:
    assert find_problem("behind code", translation) == problem


@pytest.mark.parametrize(
    "translation", ["한 '낱말'", 'said "so"', "100 %로", "x = 1", "a # b", "\\"]
)
def test_harmless_characters_are_allowed(translation: str) -> None:
    assert find_problem("behind code", translation) is None


@given(st.lists(st.text(max_size=200), min_size=4, max_size=4))
@example(["noqa " * 40] * 4)
@example(["가 " * 60 + "%%"] * 4)
def test_no_translation_changes_a_token(translations: list[str]) -> None:
    translated = replace_comments(CODE, dict(zip(TEXTS, translations, strict=True)))
    assert tokens(translated) == tokens(CODE)


@cache
def commented(path: Path) -> list[tuple[str, list[str], str]]:
    """Return code, comments and fingerprint of each cell of a recipe."""
    sources = [cell.source for cell in load_recipe(path).cells]
    return [
        (source, [comment.text for comment in find_comments(source)], fingerprint_code(source))
        for source in sources
    ]


@pytest.mark.slow  # a hundred times the whole text of each
@pytest.mark.parametrize("path", find_recipes(ROOT / "recipes_source"), ids=lambda path: path.stem)
@given(translation=st.text(max_size=300))
def test_no_translation_changes_a_recipe(path: Path, translation: str) -> None:
    for source, comments, fingerprint in commented(path):
        translated = replace_comments(source, dict.fromkeys(comments, translation))
        assert fingerprint_code(translated) == fingerprint


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp", "Zs"))),
    st.integers(5, 90),
)
def test_wrapping_loses_nothing(text: str, width: int) -> None:
    assert "".join(wrap(text, width)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("aa bb", 5, ["aa bb"]),
        ("aa bb", 4, ["aa", "bb"]),
        ("XY" * 5, 5, ["XY" * 5]),  # a word is never cut
        ("가나다라", 4, ["가나다라"]),
        ("中文中文", 4, ["中文", "中文"]),
        ("中文（中）文", 4, ["中文", "（中）", "文"]),
        ("中文，文", 4, ["中", "文，", "文"]),
        ("", 5, [""]),
    ],
)
def test_lines_end_where_they_may(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_of_spaces_in_a_row_one_is_left() -> None:
    assert replace_comments("# One two.\n", {"One two.": "aa  bb "}) == "# aa bb\n"


@pytest.mark.parametrize("indent", ["", "    "])
def test_a_translated_line_is_at_most_88_columns_wide(indent: str) -> None:
    source = f"if x:\n{indent}# Short.\n{indent}x\n"
    room = 88 - len(indent) - len("# ")
    fits, too_long = (f"{'x' * 40} {'y' * (room - 41 + more)}" for more in (0, 1))
    lines = replace_comments(source, {"Short.": fits}).splitlines()
    assert lines[1] == f"{indent}# {fits}"
    assert len(lines[1]) == 88
    lines = replace_comments(source, {"Short.": too_long}).splitlines()
    assert lines[1:3] == [f"{indent}# {part}" for part in too_long.split()]


def test_a_comment_knows_its_place() -> None:
    first, second, behind, inside = find_comments(CODE)
    assert (first.first, first.last, first.column, first.trailing) == (0, 1, 0, False)
    assert (second.first, second.last) == (3, 3)
    assert (behind.first, behind.column, behind.trailing) == (6, 7, True)
    assert (inside.first, inside.column, inside.trailing) == (10, 4, False)


def test_a_comment_behind_code_is_no_paragraph_with_its_neighbours() -> None:
    source = "x = 1  # one\ny = 2  # two\n       # three\n# four\n  # five\n"
    texts = [comment.text for comment in find_comments(source)]
    assert texts == ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize("source", ["#!/usr/bin/env python\n", "#\n", "# %% a cell\n", "x = 1"])
def test_what_is_not_for_people_is_no_comment(source: str) -> None:
    assert find_comments(source) == []


@pytest.mark.parametrize("source", ["# One.\nx = 1", "# One.\nx = 1\n"])
def test_the_end_of_the_code_stays_as_it_is(source: str) -> None:
    assert replace_comments(source, {"One.": "하나."}) == source.replace("One.", "하나.")
    assert replace_comments(source, {"One.": ""}) == source
    assert replace_comments(source, {}) == source


def test_all_quotes_that_a_translation_brings_in_are_named() -> None:
    told = "a comment must not bring in \"\"\" '''; write other quotation marks"
    assert find_problem("a", "\"\"\" '''") == told
    assert find_problem("\"\"\" '''", "\"\"\" '''") is None


def test_comments_without_a_translation_stay_beside_those_with_one() -> None:
    first, *others = TEXTS
    translated = replace_comments(CODE, {first: "첫째."})
    assert translated.startswith("# 첫째.\n#\n# Another paragraph.\n")
    assert [comment.text for comment in find_comments(translated)] == ["첫째.", *others]


DOCSTRINGS = '''"""On top."""

def f():
    """Say what
    it does."""
    # Then why.
    return """no docstring"""

class C: "one line"

def g():
    """Two.

    Paragraphs."""

def h():
    r"""raw"""
'''


def test_docstrings_of_one_paragraph_are_messages() -> None:
    assert [each.text for each in find_comments(DOCSTRINGS)] == ["Say what it does.", "Then why."]
    assert find_comments(DOCSTRINGS, is_module=True)[0].text == "On top."


@pytest.mark.parametrize(
    "said", ['"가', '가"', "\\", "가\\", "가 " * 60, "x = 1", '{"a"}', "\\N{x} %s"]
)
def test_a_translated_docstring_says_what_the_translator_wrote(said: str) -> None:
    texts = {"Say what it does.": said, "On top.": said}
    code = replace_comments(DOCSTRINGS, texts, is_module=True)
    module = ast.parse(code)
    assert " ".join(ast.get_docstring(module.body[1]).split()) == " ".join(said.split())
    assert fingerprint_code(code, is_module=True) == fingerprint_code(DOCSTRINGS, is_module=True)
    assert max(map(column_width, code.splitlines())) <= 88


def test_a_docstring_has_its_quotation_marks_but_for_those_that_would_end_it() -> None:
    code = replace_comments(DOCSTRINGS, {"Say what it does.": 'Say "so" or "thus"'})
    assert r'"""Say "so" or "thus\""""' in code


def test_a_translated_docstring_is_wrapped_and_indented() -> None:
    source = 'def f():\n    """Doc."""\n'
    for more, rows in ((0, 1), (1, 2)):  # 88 columns without indent and six quotation marks
        said = f"{'x' * 40} {'y' * (37 + more)}"
        code = replace_comments(source, {"Doc.": said})
        text = said if rows == 1 else said.replace(" ", "\n    ")
        assert code == f'def f():\n    """{text}"""\n'


@pytest.mark.parametrize(
    "source",
    [
        'def f(): """One."""\n',
        'def f():\n    """One."""; x\n',
        'def f():\n    """One \\d two."""\n',
        'def f():\n    """One: >>> 1"""\n',
        '"""One."""\nx = 1\n',
    ],
)
def test_docstrings_that_more_depends_on_stay_as_they_are(source: str) -> None:
    assert find_comments(source) == []
    assert replace_comments(source, {"One.": "하나."}) == source


def test_capitals_are_letters_like_others() -> None:
    assert MAY_BREAK.split("字X字") == ["", "字", "X", "字", ""]
    assert [comment.text for comment in find_comments("#X marks it\n")] == ["X marks it"]
    assert find_problem("a", "Xnoqa") is None


def test_a_line_that_would_be_an_instruction_is_not_begun() -> None:
    said = f"{'x' * 81} type: y"
    assert replace_comments("# One.\n", {"One.": said}) == f"# {said}\n"
    told = "a comment must not hold an instruction to a tool; leave it out"
    assert find_problem("a", "b # %% c") == find_problem("a", "b # noqa") == told

import ast
import tokenize
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from docutils.utils import column_width
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gallery import ROOT
from recipe_gallery.recipes.find_recipes import find_recipes
from recipe_gallery.recipes.fingerprint import fingerprint_code
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.translate.code_comments import (
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
        "one\x0cimport os",
        "one\u2028import os",
        "%% [markdown]",
        "!ls",
        "noqa",
        "type: ignore",
        "one  # noqa",
        "one pylint: disable=all",
        "one vim: set ft=sh",
        "one #%% a cell",
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
    "translation",
    ["한 '낱말'", 'said "so"', "100 %로", "x = 1", "a # b", "\\", 'a """ b', "Xnoqa"],
)
def test_harmless_characters_are_allowed(translation: str) -> None:
    assert find_problem("behind code", translation) == ""


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


@pytest.mark.slow  # the whole text of each
@pytest.mark.parametrize("path", find_recipes(ROOT / "recipes_source"), ids=lambda path: path.stem)
@settings(max_examples=15)
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


def test_a_comment_behind_code_is_no_paragraph_with_its_neighbours() -> None:
    source = "x = 1  # one\ny = 2  # two\n       # three\n# four\n  # five\n"
    texts = [comment.text for comment in find_comments(source)]
    assert texts == ["one", "two", "three", "four", "five"]


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

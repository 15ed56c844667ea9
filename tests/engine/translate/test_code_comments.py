import ast
import tokenize
from io import StringIO

import pytest
from docutils.utils import column_width
from hypothesis import example, given
from hypothesis import strategies as st

from sphinx_recorded_gallery.recipes.fingerprint import fingerprint_code
from sphinx_recorded_gallery.translate.code_comments import find_comments, replace_comments

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


def test_a_translation_takes_the_place_of_its_comment() -> None:
    assert [comment.text for comment in find_comments(CODE)] == TEXTS
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
    assert 80 < max(map(column_width, lines)) <= 88
    assert not any(line.startswith("# ，") for line in lines)
    assert "".join(line.removeprefix("# ") for line in lines[:-1]) == chinese
    korean = "컴파일러는 여러 연산을 하나의 커널로 합칩니다. " * 6
    lines = replace_comments("# Short.\nx = 1\n", {"Short.": korean}).splitlines()
    assert " ".join(line.removeprefix("# ") for line in lines[:-1]) == korean.strip()
    said = "가 " * 28 + "noqa: F401"  # no line begins with an instruction
    assert replace_comments("# Short.\nx = 1\n", {"Short.": said}) == f"# {said}\nx = 1\n"


@pytest.mark.slow
@given(st.lists(st.text(max_size=200), min_size=4, max_size=4))
@example(["noqa " * 40] * 4)
@example(["가 " * 60 + "%%"] * 4)
def test_no_translation_changes_a_token(translations: list[str]) -> None:
    translated = replace_comments(CODE, dict(zip(TEXTS, translations, strict=True)))
    assert tokens(translated) == tokens(CODE)


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

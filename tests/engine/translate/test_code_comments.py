import ast
import re
import tokenize
from io import StringIO

import pytest
from docutils.utils import column_width
from hypothesis import example, given
from hypothesis import strategies as st

from sphinx_recorded_gallery.recipes.fingerprint import fingerprint_code
from sphinx_recorded_gallery.translate.code_comments import (
    find_comments,
    find_diff_comments,
    find_problem,
    replace_comments,
    replace_diff_comments,
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


DIFF = """\
 step = make_step()
-step()  # eager
+with capture(graph):
+    step()  # only captures
+# On a line of its own.
+graph.replay()"""
SPACED_DIFF = re.sub("^(.)", r"\1 ", DIFF, flags=re.MULTILINE)


@pytest.mark.parametrize("diff", [DIFF, SPACED_DIFF])
def test_comments_behind_code_of_a_diff_are_translated(diff: str) -> None:
    assert [comment.text for comment in find_diff_comments(diff)] == ["only captures"]
    translations = {
        "only captures": "캡처만 합니다",
        "eager": "즉시 실행",
        "On a line of its own.": "한 줄.",
    }
    translated = replace_diff_comments(diff, translations)
    assert translated == diff.replace("only captures", "캡처만 합니다")


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

    Paragraphs,
    and a list:

        one
    """

def h():
    r"""raw"""
'''


def test_paragraphs_of_docstrings_are_messages() -> None:
    texts = ["Say what it does.", "Then why.", "Two.", "Paragraphs, and a list:"]
    assert [comment.text for comment in find_comments(DOCSTRINGS)] == texts
    assert find_comments(DOCSTRINGS, is_module=True)[0].text == "On top."


@pytest.mark.parametrize("text", ["Two.", "Paragraphs, and a list:"])
@pytest.mark.parametrize("said", ['"""', 'a """ b', '""" ; evil() ; """', '""" + evil() + """'])
def test_no_paragraph_ends_its_docstring(text: str, said: str) -> None:
    refused: dict[str, str] = {}
    assert replace_comments(DOCSTRINGS, {text: said}, refused=refused) == DOCSTRINGS
    assert refused == {text: "other code"}


def test_each_paragraph_of_a_docstring_is_translated_where_it_stands() -> None:
    texts = {"Two.": "둘.", "Paragraphs, and a list:": "문단과 목록: " + "가 " * 60}
    code = replace_comments(DOCSTRINGS, texts)
    summary, paragraph, *rest = ast.get_docstring(ast.parse(code).body[3]).split("\n\n")
    assert summary == "둘."
    assert " ".join(paragraph.split()) == texts["Paragraphs, and a list:"].strip()
    assert rest == ["    one"]
    assert fingerprint_code(code, is_module=True) == fingerprint_code(DOCSTRINGS, is_module=True)


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


LAYOUT = """\
# Two ways to run it:
#   1. on the CPU
#   2. on a GPU, which is fast
#      for large inputs
device = "cpu"

# To use a GPU, put this in its place:
# device = "cuda"
# model = model.to(
#     device,
# )
# ----------------------------
# The results, which are
# 5.
#
#   in -> [A] -> [B] -> out
#          \\_____/
# See
# https://example.org/a_page
print(device)

count = 3  #@param {type:"slider", min:0, max:10}
#| label: fig-one
# region Helpers
# cython: boundscheck=False
# endregion
"""
LAYOUT_TEXTS = [
    "Two ways to run it:",
    "on the CPU",
    "on a GPU, which is fast for large inputs",
    "To use a GPU, put this in its place:",
    "The results, which are 5.",
    "See",
]


def test_lists_code_and_drawings_keep_their_lines() -> None:
    assert [comment.text for comment in find_comments(LAYOUT)] == LAYOUT_TEXTS
    german = {
        "Two ways to run it:": "Zwei Wege:",
        "on the CPU": "auf der CPU, " + "langsam " * 7 + "langsam",
        "on a GPU, which is fast for large inputs": "auf einer GPU, schnell schnell schnell",
        "The results, which are 5.": "Die Ergebnisse.",
    }
    lines = replace_comments(LAYOUT, german).splitlines()
    assert lines[:4] == [
        "# Zwei Wege:",
        "#   1. auf der CPU, " + "langsam " * 7 + "langsam",  # the original has one line
        "#   2. auf einer GPU, schnell",  # the original has two
        "#      schnell schnell",
    ]
    kept = LAYOUT[LAYOUT.index("device =") : LAYOUT.index("# The results")].splitlines()
    assert lines[4:12] == kept
    assert lines[12] == "# Die Ergebnisse."
    assert lines[13:] == LAYOUT[LAYOUT.index("#\n#   in") :].splitlines()


@pytest.mark.parametrize(
    "words",
    [
        "later",
        "note: this is slow",
        "kernel(s)",
        "eager (default)",
        "if needed:",
        "return results",
        "size in bytes",
        "pre-compiled",
        "NCHW -> NHWC is faster",
        "사전(dictionary)",
    ],
)
def test_words_that_look_like_code_are_words(words: str) -> None:
    assert [comment.text for comment in find_comments(f"# {words}\nx = 1\n")] == [words]


@pytest.mark.parametrize(
    "code",
    [
        "import torch",
        "x = compute(y)",
        "model.train()",
        "for batch in loader:",
        "def step(batch):",
        "@torch.compile",
        "print(total[0])",
        "count: int = 3",
        "with torch.no_grad():",
        "return loss * 2",
    ],
)
def test_code_that_is_switched_off_is_no_message(code: str) -> None:
    assert find_comments(f"# {code}\nx = 1\n") == []
    assert find_comments(f"x = 1  # {code}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "\u3000In[1]: 값입니다.",
        "\u00a0noqa",
        "fades == 1.0",
        "값 # fades numpy",
        "하나 vi:noai:ts=3:nu",
        "하나 vim700: set ts=3",
        "하나 vim>700:ts=3",
        "하나 ex: set ts=3",
        "region 하나",
        "| label: 하나",
        "@param 하나",
        "cython: 하나",
    ],
)
def test_what_tools_obey_takes_no_place(text: str) -> None:
    source = "import json  # a trailing comment\n\n# Another one.\nx = 1\n"
    translations = {"a trailing comment": text, "Another one.": text}
    assert replace_comments(source, translations) == source
    assert find_problem("a trailing comment", text)


@pytest.mark.parametrize(
    "text", ["예: set을 씁니다", "Par ex : une valeur", "지역(region)", "값 | 글"]
)
def test_words_that_only_look_like_instructions_are_words(text: str) -> None:
    assert find_problem("A comment.", text) == ""


def test_a_hidden_instruction_between_other_blanks_is_one() -> None:
    source = "# A comment on a line of its own.\nx = 1\n"
    wrapped = "가 " * 42 + "\u3000noqa"
    code = replace_comments(source, {"A comment on a line of its own.": wrapped})
    assert "\n# noqa" not in code

"""Markdown in the comments of a script: short lines, few backslashes, and the same to Jupyter."""

import re

import pytest
from docutils.utils import column_width
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from sphinx_recorded_gallery.pages.markdown import escape, protect_lines
from sphinx_recorded_gallery.pages.script_text import tidy_markdown
from sphinx_recorded_gallery.recipes.comment_safety import is_read_by_tools

WORDS = "a word of five or six " * 12
WIDE = 100 - len("# ")


def render(text: str) -> list[str]:
    """Return the HTML as words; signs beside which a browser shows no blank are words."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    html = parser.use(dollarmath_plugin, double_inline=True).render(text)
    return re.sub(r"([\u3000-\u9fff\uff00-\uff60])", r" \1 ", html).split()


@pytest.mark.parametrize(
    ("text", "further"),
    [
        (WORDS, ""),
        (f"* {WORDS}", "  "),
        (f"12. {WORDS}", "    "),
        (f"> {WORDS}", "> "),
        (f"> * {WORDS}\n>\n>   - {WORDS}", ">     "),
    ],
)
def test_a_paragraph_is_wrapped_below_its_first_word(text: str, further: str) -> None:
    lines = tidy_markdown(text.strip()).split("\n")
    assert max(map(len, lines)) <= WIDE
    assert len(lines) > 2
    assert re.fullmatch(f"{further}(?! ).*", lines[-1])
    assert render("\n".join(lines)) == render(text)


LONG_CODE = "`" + "code with blanks " * 3 + "end`"
LONG_FORMULA = "$" + "a + b + " * 6 + "c$"
LINK = f"[the words of a link](https://example.org/{'x' * 80})"


@pytest.mark.parametrize("whole", [LONG_CODE, LONG_FORMULA, LINK.split()[-1], f"<{LINK[22:-1]}>"])
def test_what_is_no_text_stays_whole(whole: str) -> None:
    tidied = tidy_markdown(f"{WORDS}{whole} {WORDS}".strip())
    assert whole in tidied
    assert [line for line in tidied.split("\n") if len(line) > WIDE and whole not in line] == []


@pytest.mark.parametrize(
    "block",
    [
        f"## {WORDS}".strip(),
        f"```\n{WORDS}\n```",
        f"$$\n{'a + ' * 30}b\n$$",
        f"| a | {WORDS}|\n|---|---|\n| b | c |",
        f"<div>\n{WORDS}</div>",
    ],
)
def test_other_blocks_keep_their_lines(block: str) -> None:
    assert tidy_markdown(block) == block


def test_short_lines_stay_as_the_author_wrote_them() -> None:
    text = "Two short\nlines.\n\n* A point\n  of two."
    assert tidy_markdown(text) == text


def test_breaks_that_markdown_shows_stay() -> None:
    assert tidy_markdown(f"One\\\n{WORDS}".strip()).split("\n")[0] == "One\\"


@pytest.mark.parametrize(
    "start", ["- a", "+ a", "1. a", "2) a", "# a", "> a", "=== a", "%% a", "In [1]", "noqa", "~~~"]
)
def test_no_line_starts_as_something_else(start: str) -> None:
    for length in range(80, 100):
        text = f"{'x' * length} {start} b"
        tidied = tidy_markdown(text)
        assert render(tidied) == render(text)
        assert not any(is_read_by_tools(line) for line in tidied.split("\n"))


CHINESE = "编译只在长时间运行时才划算，启动编译器每个进程要十几秒。"


def test_chinese_lines_end_behind_a_sign() -> None:
    tidied = tidy_markdown(CHINESE * 6)
    lines = tidied.split("\n")
    assert len(lines) > 3
    assert max(map(column_width, lines)) <= WIDE
    assert {line[-1] for line in lines} <= {"，", "。"}
    assert "".join(lines) == CHINESE * 6


def test_chinese_without_a_sign_ends_between_two_characters() -> None:
    lines = tidy_markdown("编译" * 60).split("\n")
    assert [column_width(line) for line in lines] == [WIDE, WIDE, 240 - 2 * WIDE]


def test_korean_lines_end_at_blanks_and_count_columns() -> None:
    text = "컴파일은 오래 실행할 때만 이득입니다. " * 8
    lines = tidy_markdown(text.strip()).split("\n")
    assert WIDE - 12 < max(map(column_width, lines)) <= WIDE
    assert " ".join(lines) == text.strip()


@pytest.mark.parametrize(
    ("markdown", "comment"),
    [
        (r"`a` and torch.\_dynamo", "`a` and torch._dynamo"),
        (r"2\*3 and `a`", "2*3 and `a`"),
        (r"a\*b\*c", r"a\*b*c"),
        (r"80\~95%", "80~95%"),
        (r"1\~2 and 3\~4", r"1\~2 and 3\~4"),  # Jupyter strikes out what is between
        (r"\_\_init\_\_ of `a`", r"\_\_init__ of `a`"),
        (r"\<b> and \&lt;", r"\<b> and \&lt;"),
        (r"\- no point", r"\- no point"),
        (r"1\. no point", r"1\. no point"),
        (r"\%% no cell", r"\%% no cell"),
        (r"www\.example\.org", r"www\.example\.org"),  # Jupyter would make a link
        ("`a\\_b`", "`a\\_b`"),
        (r"# torch.\_dynamo", "# torch._dynamo"),
        ("| a    |\n|------|\n| 1\\~2 |", "| a    |\n|------|\n| 1~2  |"),
    ],
)
def test_a_backslash_that_changes_nothing_is_left_out(markdown: str, comment: str) -> None:
    assert tidy_markdown(markdown) == comment


def test_a_number_within_a_line_has_no_backslash() -> None:
    tidied = tidy_markdown(f"{WORDS}\n12\\. {WORDS}".strip())
    assert "12. a word" in tidied.replace("\n", " ")
    assert "\\" not in tidied


SIGNS = st.text(st.sampled_from("abcd 12\n\t*_`~<>[]()!#+-=|:.&;$\\\"'/?%é—中文，。（）한글"))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(SIGNS, max_size=40))
def test_whatever_the_text_jupyter_shows_the_same(parts: list[str]) -> None:
    text = re.sub(r"\s*\n\s*", "\n", " ".join(parts).strip())  # as in a paragraph of docutils
    markdown = protect_lines(escape(text, apart=True))
    for start in ("", "* ", "> "):
        block = start + markdown.replace("\n", f"\n{'> ' if start == '> ' else ' ' * len(start)}")
        assert render(tidy_markdown(block)) == render(block)

"""Slips in the texts of recipes that a build shows silently, and that `check` tells."""

from pathlib import Path

import pytest

from second_call.answer_text import find_misplaced_parts
from second_call.markup_slips import (
    MOST_LINES_OF_CODE,
    find_second_titles,
    find_slips,
    find_split_texts,
    find_texts_in_code,
    find_unbound_names,
    find_words_behind_marks,
    find_wrong_code,
)
from second_call.prose_checks import EXCUSES, check_texts
from sphinx_recorded_gallery.recipes.recipe import load_recipe

PATH = Path("a.py")

LONG = "A sentence that goes on for more than one line of this text, and so"
TERMS = "a.py:{}: this line is indented more than its sentence, which makes a list of terms; begin"

# A text that begins in line 7, and what is told of it: the line and the first words
SLIPS = {
    "See\n[the docs](https://a.org).": "a.py:8: a link of Markdown; write `words <address>`__",
    "Use `torch.compile` here.": "a.py:7: `torch.compile` in single backticks is not code",
    "Words.\n\n:measured: `a.wall` each.": "a.py:9: a space splits a role; write :measured:`",
    "It takes measured:`a.wall`.": "a.py:7: a role without its first colon",
    ":measured:``a.wall``": "a.py:7: a role with two backticks; write :measured:`",
    "It takes :measured:`a.wall` ms.": "a.py:7: a unit behind a measurement",
    ":measured:`a.speedup`× as fast": "a.py:7: a unit behind a measurement",
    ":measured:`a.speedup`\ntimes as fast": "a.py:7: a unit behind a measurement",
    ":claim:`It takes {a.wall} ms <a.wall < b.wall>`": "a.py:7: a unit behind a measurement",
    "Words.\n\n.. chart: wall\n   :case: a\n\n   One.": "a.py:9: one colon makes it a comment",
    "Words.\n\n..chart:: wall\n   :case: a\n\n   One.": "a.py:9: without a space behind its dots, "
    "it is no directive but words; write .. chart::",
    ".. code-block:: python\n   caption: One": "a.py:8: caption: is no option, but words of its "
    "directive; did you mean :caption:?",
    ".. chart:: wall\n   :case: a\n   :best b": "a.py:9: :best is no option, but words",
    ".. list-table::\n   :header-rows:1\n": "a.py:8: :header-rows: is no option, but words of its "
    "directive; leave a space behind it",
    "See [this](cuda_graphs.html).": "a.py:7: a link of Markdown",
    "Words.\n\n![this](a.png)": "a.py:9: a picture of Markdown; write .. figure::",
    "Words.\n\n> So they say.": "a.py:9: a quotation of Markdown; indent its lines",
    "| a | b |\n|---|:--|\n| 1 | 2 |": "a.py:8: a table of Markdown; write .. list-table::",
    "It is __bold__.": "a.py:7: bold words of Markdown; write **words**",
    ":::{note}\nWords.\n:::": "a.py:7: a directive of MyST; write .. note::",
    "It is <b>bold.": "a.py:7: HTML, which readers see as it stands",
    "One<br/>two": "a.py:7: HTML, which readers see as it stands",
    "One&nbsp;two": "a.py:7: HTML, which readers see as it stands",
    "<!-- later -->": "a.py:7: HTML, which readers see as it stands",
    "So\n$$x^2$$": "a.py:8: a formula as Markdown has it",
    ".. csv-table: A\n": "a.py:7: one colon makes it a comment",
    ".. note::Words.": "a.py:7: without a space behind its colons, it is a comment",
    ".. code-block::python\n\n   x = 1": "a.py:7: without a space behind its colons",
    "Words.\n\n .. answer::\n\n    **Do it.**": "a.py:9: an indented answer stands in a quotation; "
    "begin its line at the margin",
    "It takes {a.wall@2.11}.": "a.py:7: {a.wall@2.11} shows no measurement outside "
    "of a claim; write :measured:`a.wall@2.11`",
    "See `words <https://a.org>`.": "a.py:7: a link does not end in two underscores; write `words",
    "See `two\nwords <https://a.org>`_.": "a.py:7: a link does not end in two underscores; write",
    ".. image:: https://a.org/b.png": "a.py:7: a picture of another host",
    "**Bold ``code`` in it**": "a.py:7: code or a role inside bold words stays plain",
    "**Bold\n:doc:`page` in it**": "a.py:7: code or a role inside bold words stays plain",
    "Words.\n.. chart:: wall": "a.py:8: .. chart:: right below a sentence is part of it; leave an",
    "It is ~~slow~~.": "a.py:7: ~~ strikes nothing out",
    "- [ ] stack them": "a.py:7: a box of Markdown is plain words; leave the brackets out",
    "A note[^1] here.": "a.py:7: a footnote of Markdown is plain words; write [1]_ and",
    "A list:\n- one\n- two": "a.py:8: a list right below a sentence is part of it",
    "- An item:\n  two lines\n  1. one": "a.py:9: a list right below a sentence is part of it",
    f"{LONG}\n  on.": TERMS.format(8),
    f"- {LONG}\n    on.": TERMS.format(8),
    f"- One\n- {LONG}\n    on.": TERMS.format(9),
    "Words.\nHeading\n-------": "a.py:8: 'Heading' makes no heading right below a sentence; leave",
    "One.\n\n.. answer::\n\n   Use `this`.\n": "a.py:11: `this` in single backticks is not code",
    "See `words<https://a.org>`_.": "a.py:7: a link without a space before its <; write `words <",
    "See `a b<https://a.org>`__.": "a.py:7: a link without a space before its <; write `words <",
    "`this <cuda_graph.html>`__": "a.py:7: a link to a page by its address, which no build checks; "
    "write :doc:`words <cuda_graph>`",
    "It takes:measured:`a.wall`.": "a.py:7: a role that touches what stands before it is plain ",
    "So,:doc:`page`": "a.py:7: a role that touches what stands before it is plain words; leave a",
    "It is :measured:‘a.wall’.": "a.py:7: a role with quotes is plain words; write :measured:`",
    "It is :measured:'a.wall'.": "a.py:7: a role with quotes is plain words; write :measured:`",
    "- one\n  - two\n": "a.py:8: a list right below an item is part of its sentence; leave an",
    "1. one\n   - two\n": "a.py:8: a list right below an item is part of its sentence; leave an",
    ".. code-block:: python\n   :caption: A\n\nx = 1": "a.py:7: .. code-block:: python has no "
    "content: no line below it is indented; indent its code by three spaces",
    "- One\n\n  .. math::\n\n  x": "a.py:9: .. math:: has no content: no line below it is indented",
    "<<<<<<< HEAD\nOne `is` so.\n=======\nTwo.\n>>>>>>> b\n": "a.py:7: an unresolved "
    "merge conflict; keep one side and remove the lines of git",
    "Words.\n\n## Heading": "a.py:9: a heading of Markdown; write its words without #",
    "It is\n\n```python\nx = `1`\n```\n": "a.py:9: code as Markdown has it; write .. code-block::",
    "It needs $O(n^2)$ steps.": "a.py:7: a formula as Markdown has it; write :math:`...`",
    "It needs $n$ steps.": "a.py:7: a formula as Markdown has it; write :math:`...`",
    ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - c\n\n   * - d": "a.py:12: "
    "this row has 1 cell, and the head of its table 2; write one - a cell",
    "+---+---+\n| a | b |\n+---+---+\n| c |\n+---+---+": "a.py:10: this line of a table ends",
    "==  ==\na   b\n==  ==\nc   d\ne\n==  ==": "a.py:11: this row lacks the last cell of its table",
    "Words.\n\nHeading\n---": "a.py:10: --- makes no heading",
}

RIGHT = [
    "`words <https://a.org>`__, `words`_, ``a[0](https://x.org)`` and ``x`` **or** ``y``",
    "`one <https://a.org>`__, `two\nwords <https://b.org>`__, :doc:`three <https>`",
    "``a ** b`` and ``c ** d``",
    "- one\n- two\n  lines\n- three\n\n  - four\n    lines\n  - five",
    "* - cell\n  - another\n    line\n* - cell",
    ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b",
    ".. code-block:: diff\n\n   context\n   - a `b`\n\nWords.",
    "As here::\n\n   words\n   - [a](https://a.org)\n\nWords.",
    ":measured:`a.wall` from :measured:`b.wall`: and :doc:`this\n</page>`",
    ".. TODO: write this\n\n.. _a-place:\n\nHeading\n-------",
    "FAQ\n---",
    "====  ====\nA     B\n====  ====\n1     2\n====  ====",
    "====\nA\n====\n1\n====",
    "==  ==\na   b\n==  ==\nc   \\\nd   e\n    more\n==  ==",
    ".. list-table::\n\n   * - a\n     -\n   * - c\n       more\n\n       - one\n     - d",
    "+---+---+\n| a | b |\n+===+===+\n| c | d |\n|   | 값|\n+---+---+",
    "Words.\n\n----\n\nHeading\n-------\nWords.",
    "cache\n  what is kept",
    f"- {LONG}\n  on.\n\n* - {LONG}\n    on.\n\n1. {LONG}\n   on.",
    f"{LONG}::\n\n  on.\n\n:field: {LONG}\n  on.\n\n.. [1] {LONG}\n   on.",
    "#. one\n#. two",
    "It costs $5 (or $6), and $A=$B and ``$O(n^2)$``.",
    ":measured:`a.graphs` times, and :claim:`{b.graphs} times <a.graphs < b.graphs>`.",
    "``{a.b}``, {x} and :claim:`{a.wall}, so <a.wall < b.wall>`, :claim:`b <b < a>`.",
    "``<b>`` and a < b > c & d; ``__init__``, `one <https://a.org>`__, `two <https://b.org>`__.",
    ".. raw:: html\n\n   <b>&nbsp;</b>\n\n.. note:: Words.\n\n| a line\n| and another",
    ".. note::\n   Words: more.\n\n.. chart:: wall\n   :hero:\n\n   case: one",
    "The words of a text -\n--- are no heading.",
    "(:measured:`a.wall`), :std:doc:`page` and **so**\\ :measured:`a.wall`.",
    "`a page <https://a.org/b.html>`__, `mail <mailto:a@b.org>`__",
    "* - one\n  - two\n* -\n  - three\n\n  - four",
    "- - one\n  - two\n- 2 - 1",
    ".. math:: x\n\nWords.\n\n.. code-block:: python\n   :caption: A\n\n\n   x = 1\n",
    "One::\n\n   `x`\n\n- Two::\n\n     `y`\n\n- three",
    "Title\n=======\n\nWords.",
]


@pytest.mark.parametrize("text", SLIPS)
def test_a_slip_is_told_once_with_its_line(text: str) -> None:
    [told] = [str(error) for error in find_slips(PATH, 7, text)]
    assert told.startswith(SLIPS[text])
    assert "; " in told  # and its remedy


@pytest.mark.parametrize("text", RIGHT)
def test_nothing_is_told_of_right_markup(text: str) -> None:
    assert [str(error) for error in find_slips(PATH, 7, text)] == []


def test_words_behind_the_mark_of_a_cell_are_told() -> None:
    source = "x = 1\n\n# %% Why\n# ---\n\n#%%Why\n\n# %%\n# Why\n"
    told = [str(error) for error in find_words_behind_marks(PATH, source)]
    remedy = "words behind # %% are not shown; write them in a comment line below it"
    assert told == [f"a.py:3: {remedy}", f"a.py:6: {remedy}"]


TEXT = '"""\nTitle\n=====\n"""\n\n# %%\n# One.\n'


@pytest.mark.parametrize(
    ("below", "line"),
    [
        ("\n# Two.\n\nx = 1\n", 9),
        ("\n\n# Two.\n#\n# Three.\n\n# %%\n\nx = 1\n", 10),
        ("\n# See :doc:`/index`.\nx = 1\n", 9),
        ("\n# .. note::\n#\n#    Two.\nx = 1\n", 9),
        ("\n# Why it is so.\nx = 1\n", None),
        ("\n# sphinx_gallery_fold = 'How'\n\nx = 1\n", None),
        ("#\n# Two.\n\nx = 1\n\n# Three.\n\ny = 1\n", None),
    ],
)
def test_a_text_that_an_empty_line_has_split_is_told(
    tmp_path: Path, below: str, line: int | None
) -> None:
    path = tmp_path / "a.py"
    path.write_text(TEXT + below)
    told = [str(error) for error in find_split_texts(path, load_recipe(path).blocks)]
    text = "this comment is code, and no part of the text above it; write # in the empty line"
    expected = [f"{path}:{line}: {text} between them"] if line else []
    assert told == expected


@pytest.mark.parametrize(
    ("below", "line"),
    [
        ("\nx = 1\n\n# Why\n# ---\n#\n# So.\n\ny = 1\n", None),  # three signs make no heading
        ("\nx = 1\n\n# Why so\n# ------\n#\n# So.\n\ny = 1\n", 11),
        ("\nx = 1\n# .. chart:: wall\n#\n#    One.\ny = 1\n", 10),
        ("\nx = 1\n\n# It takes :measured:`a.wall`.\ny = 1\n", 11),
        ('\nx = """\n# .. chart:: wall\n"""\n', None),
        ("\nx = 1\n\n# ------\n# Part\n# ------\ny = 1\n", None),
        ("\nx = 1\n\n# .. and so on: a::b\ny = 1\n", None),
        ("# Heading\n# -------\n", None),
    ],
)
def test_a_text_inside_of_code_is_told(tmp_path: Path, below: str, line: int | None) -> None:
    path = tmp_path / "a.py"
    path.write_text(TEXT + below)
    told = [str(error) for error in find_texts_in_code(path, load_recipe(path).blocks)]
    text = "this comment is code, and no text of the page; write # %% in a line above it"
    assert told == ([f"{path}:{line}: {text}"] if line else [])


def test_a_text_right_below_the_docstring_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('"""\nTitle\n=====\n"""\n\n# Why so\n# ------\n\nx = 1\n')
    [told] = find_texts_in_code(path, load_recipe(path).blocks)
    assert str(told).startswith(f"{path}:6: this comment is code")


def test_a_second_title_is_told() -> None:
    [told] = find_second_titles(PATH, 7, "Words.\n\nThird\n=====\n\nOther\n-----")
    assert str(told) == "a.py:9: 'Third' is a second title; underline it with ----"
    docstring = "\nTitle\n=====\n\nWords.\n\nSecond\n======\n"
    [told] = find_second_titles(PATH, 1, docstring, is_docstring=True)
    assert str(told) == "a.py:7: 'Second' is a second title; underline it with ----"


@pytest.mark.parametrize(
    ("language", "code", "told"),
    [
        ("python", "x = (1", "a.py:9: code to copy that Python cannot read: '(' was never closed"),
        ("python", "x = 1\n" * (MOST_LINES_OF_CODE + 1), "a.py:9: code to copy has 28 lines, and"),
        ("python", "x = 1\n" * MOST_LINES_OF_CODE, ""),
        ("python", ">>> x = 1\n>>> x\n1", "a.py:9: code to copy has the prompt >>>; leave it out"),
        ("diff", "x = 1\ny = 2", "a.py:9: a diff without a changed line; begin changed lines"),
        ("diff", "- x = 1\n+ y = 2", ""),
        ("console", "x = (1", ""),
    ],
)
def test_code_that_cannot_be_copied_is_told(language: str, code: str, told: str) -> None:
    lines = "\n".join(f"      {line}" for line in code.splitlines())
    text = f"Words.\n\n   .. code-block:: {language}\n      :caption: Complete\n\n{lines}\n\nMore."
    errors = [str(error) for error in find_wrong_code(PATH, 7, text)]
    assert len(errors) == bool(told)
    assert "".join(errors).startswith(told)


def test_an_option_below_an_empty_line_is_told_once() -> None:
    text = ".. code-block:: python\n\n   :caption: Complete\n\n   x = 1\n"
    told = "a.py:7: :caption: stands below an empty line, where the code begins; write options"
    [error] = [str(error) for error in find_wrong_code(PATH, 7, text)]
    assert error.startswith(told)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("model = torch.compile(model)", "torch"),
        ("import torch\nx = torch.ones(2)\nstep(x)", "step"),
        ("import torch as t\nwith t.no_grad() as g:\n    print(g, __name__)", ""),
        ("def f(x, *more):\n    return [y for y in x if y in more]\nf(1)", ""),
        ("def f():\n    return later\nlater = 1\nf()", ""),
        ("class A(nn.Module):\n    pass", "nn"),
        ("try:\n    pass\nexcept OSError as error:\n    print(error)", ""),
        ("if (n := 3) > 2:\n    print(n)", ""),
        ("from math import *\nsin(1)", ""),
        ("x = (1", ""),
    ],
)
def test_a_name_that_a_block_to_copy_does_not_bind_is_told(code: str, name: str) -> None:
    lines = "\n".join(f"      {line}" for line in code.splitlines())
    text = f"Words.\n\n   .. code-block:: python\n      :caption: Complete\n\n{lines}\n\nMore."
    told = [str(error) for error in find_unbound_names(PATH, 7, text)]
    text = f"a.py:9: code to copy uses {name}, which nothing in this block imports or defines; "
    remedy = "import or define it there: readers copy the block alone"
    assert told == ([text + remedy] if name else [])


ANSWER = """.. answer::

   **Do it.**

   .. chart:: wall
      :hero:

      A caption.

**Does this apply to you?**

.. list-table::

   * - What you see
     - What to do
   * - GPU busy below 80%
     - One
   * - Two
     - Two
   * - Three
     - Three

**What you need**
"""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("", ""), ""),
        (("GPU busy below", "GPU idle, below"), "a.py:16: this table does not begin with 'GPU bu"),
        (("   * - GPU", "   * - New batches are slow\n     - Zero\n   * - GPU"), ""),
        (("   * - Two", "   * - New batches are slow\n     - Zero\n   * - Two"), ""),
        (
            ("GPU busy below 80%\n", "New batches are slow\n"),
            "a.py:16: this table does not begin with 'GPU bu",
        ),
        (("   * - Two\n     - Two\n", ""), "a.py:16: this table has 2 rows below its head; write"),
        (("**Does", "Does"), "a.py:7: no table below the answer says whom it is for; write"),
        (("**What", ".. answer::\n\n**What"), "a.py:29: a second answer; a page has one"),
        (
            ("**What", ".. chart:: wall\n   :case: a\n   :hero:\n\n   A.\n\n**What"),
            "a.py:31: :hero: outside of the answer has no effect; remove it",
        ),
    ],
)
def test_parts_in_a_wrong_place_are_told(change: tuple[str, str], told: str) -> None:
    errors = [str(error) for error in find_misplaced_parts(PATH, 7, ANSWER.replace(*change, 1))]
    assert len(errors) == bool(told)
    assert "".join(errors).startswith(told)


def test_an_answer_below_the_docstring_is_told() -> None:
    [error] = find_misplaced_parts(PATH, 7, ANSWER.partition("**Does")[0], is_docstring=False)
    assert str(error).startswith("a.py:7: an answer below the docstring; it stands once, in the")


def test_check_tells_of_slips_on_pages_and_in_recipes(tmp_path: Path) -> None:
    recipes = tmp_path / "recipes_source"
    recipes.mkdir()
    (recipes / "GALLERY_HEADER.rst").write_text("Words.\n")
    (tmp_path / EXCUSES).parent.mkdir(parents=True)
    (tmp_path / EXCUSES).touch()
    (tmp_path / "using.rst").write_text("Use `this`.\n")
    (recipes / "mine.py").write_text(
        '"""\nTitle\n=====\n\nUse `this`.\n"""\n\n# %% Why\n\nx = 1\n\n# %%\n# Two\n# ===\n#\n'
        "# Three\n# =====\n#\n# .. code-block:: python\n#\n#    (\n\ny = 1\n"
    )
    told = [error.describe(tmp_path).split(";")[0] for error in check_texts(tmp_path)]
    assert told == [
        "using.rst:1: `this` in single backticks is not code",
        "recipes_source/mine.py:8: words behind # %% are not shown",
        "recipes_source/mine.py:5: `this` in single backticks is not code",
        "recipes_source/mine.py:19: code to copy that Python cannot read: '(' was never closed",
        "recipes_source/mine.py:16: 'Three' is a second title",
    ]

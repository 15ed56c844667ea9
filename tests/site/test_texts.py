"""What the recipes and the pages about them say: code that fits, and no guess."""

import ast
import re
from pathlib import Path
from textwrap import dedent

import pytest

from second_call.length_checks import count_words, find_long_parts
from second_call.markup_slips import MOST_LINES_OF_CODE
from second_call.new_recipe import PAGES
from second_call.prose_checks import (
    _UNCHECKED_PAGES,
    EXCUSES,
    check_texts,
    find_in_text,
    find_pages,
)
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import RECIPES

MOST_COLUMNS_OF_COMMENT = 44  # what a phone shows of a line


def text_of(path: Path) -> str:
    """Return what a reader of a recipe reads, still marked up."""
    blocks = load_recipe(path).blocks
    return "\n\n".join(block.content for block in blocks if block.type == "text")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_code_to_copy_fits_on_a_phone(path: Path) -> None:
    captioned = r"(?m)^( *)\.\. code-block:: python\n\1   :caption: .*\n((?:\1   .*\n|\n)+)"
    for _indentation, code in re.findall(captioned, text_of(path)):
        assert len(code.strip().splitlines()) <= MOST_LINES_OF_CODE


@pytest.mark.parametrize("path", [*RECIPES, ROOT / "serving.rst"], ids=lambda path: path.stem)
def test_a_comment_in_code_to_copy_is_not_cut_on_a_phone(path: Path) -> None:
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
    block = r"(?m)^( *)\.\. code-block:: .*\n(?:\1   :caption: .*\n)?((?:\1   .*\n|\n)+)"
    blocks = [dedent(code) for _indentation, code in re.findall(block, f"{text}\n")]
    assert blocks
    lines = [line for code in blocks for line in code.splitlines() if "#" in line]
    assert [line for line in lines if len(line) > MOST_COLUMNS_OF_COMMENT] == []


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_what_applies_is_said_in_a_few_words(path: Path) -> None:
    _start, _heading, rest = text_of(path).partition("**Does this apply to you?**")
    table = rest.partition("\n**")[0].partition("What to do")[2]
    rows = re.findall(r"\* - (.+)\n +- (.+)\n", table)
    assert 3 <= len(rows) <= 5
    for cells in rows:
        for cell in cells:
            words = re.sub(r":doc:`([^`<]+)<[^>]+>`", r"\1", cell).split()
            assert len(words) <= 12, cell
    # Where one measures, data come first: a job that waits for them is below 80%, too.
    first = 1 if rows[0][0].startswith("New batches") else 0
    assert rows[first][0].startswith("GPU busy below 80%")


def test_a_fix_on_the_front_page_has_at_most_eight_words() -> None:
    _before, _directive, rows = (ROOT / "index.rst").read_text().partition(".. recipe-rows::\n")
    fixes = re.findall(r"(?m)^ {6}\S+: (.+)$", rows)
    assert len(fixes) == len(RECIPES)
    assert [fix for fix in fixes if len(fix.split()) > 8] == []


def test_texts_say_nothing_without_a_measurement_or_an_excuse() -> None:
    assert [str(problem) for problem in check_texts(ROOT)] == []


# A text, and what is told of it: the line, and how the sentence begins
TEXTS: dict[str, list[tuple[int, str]]] = {
    "It is faster.": [(7, "It is faster.")],
    "It takes\n17 MB. And so on.": [(7, "It takes 17 MB.")],
    "Words.\n\nIt saves\n:measured:`a.wall`.": [(9, "It saves a number.")],
    "- first\n- better than `nothing <page>`": [(8, "better than nothing")],
    "Heading\n-------\n\nIt took about 90 % of it.": [(10, "It took about 90 % of it.")],
    "* - cell\n  - 3 s": [(8, "3 s")],
    "It is 3.5x with PyTorch 2.x and 0x1F.": [(7, "It is 3.5x with PyTorch 2.x and 0x1F.")],
    "With PyTorch 2.x, 4x4 and 0x1F.": [],
    ":claim:`It is faster <a.wall < b.wall>`.": [],
    "It takes :measured:`a.wall`, {b.gpu} and ``x = 17 MB``.": [],
    ".. code-block:: python\n\n   faster = 3  # ms\n\nWords.": [],
    "PyTorch 2.11, 3 graphs and issue 193061.": [],
    "It falls back to eager mode. Then it fell.": [],
    "The time falls.": [(7, "The time falls.")],
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_sentence_that_compares_or_holds_a_typed_number_is_found(text: str) -> None:
    found = find_in_text(Path("a.py"), 7, text)
    assert [(finding.line, finding.sentence) for finding in found] == TEXTS[text]


def test_all_pages_are_checked_but_those_that_are_named(tmp_path: Path) -> None:
    for name in ("pytorch_2_16", "new", "glossary"):
        (tmp_path / f"{name}.rst").write_text("It is faster.\n")
    assert [path.stem for path in find_pages(tmp_path)] == ["new", "pytorch_2_16"]
    unchecked = {path.stem for path in ROOT.glob("*.rst")} - {
        page.stem for page in find_pages(ROOT)
    }
    assert unchecked == set(_UNCHECKED_PAGES)  # else a name stands for no page


def test_an_excuse_is_of_a_page_or_of_all_and_has_to_be_needed(tmp_path: Path) -> None:
    recipes = tmp_path / "recipes_source"
    recipes.mkdir()
    (recipes / "GALLERY_HEADER.rst").write_text("Words.\n")
    (tmp_path / "index.rst").write_text("Title\n=====\n\nIt is faster.\n")
    (tmp_path / "faq.rst").write_text("It takes 3 ms.\n")
    excuses = tmp_path / EXCUSES
    excuses.parent.mkdir(parents=True)
    excuses.write_text("# Why.\nfaq: It is faster\n")
    told = [error.describe(tmp_path) for error in check_texts(tmp_path)]
    assert told == [
        'faq.rst:1: a number is typed by hand: "It takes 3 ms."; take it from the recording by '
        ":measured:, or excuse it in tests/site/comparisons.txt",
        'index.rst:4: it compares without a claim: "It is faster."; make it a claim, weaken it, '
        "or excuse it in tests/site/comparisons.txt",
        "tests/site/comparisons.txt:2: no sentence needs this excuse any more: faq: It is faster; "
        "remove the line",
    ]
    excuses.write_text("index: It is faster\n*: takes 3 ms\n")
    assert [*check_texts(tmp_path)] == []


ANSWER = """
.. answer::

   **Compile it.** VERDICT

   .. chart:: busy
      :case: gate.16

      One call

   - :measured:`a.wall` per call WORDS

   .. code-block:: python
      :caption: Complete

      import torch

      torch.compile(torch.sin)

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80%, as :doc:`look <page>` prints
     - CELL
   * - Two
     - Two
   * - Three
     - Three

**What you need**

- One two three four five six seven eight nine ten eleven twelve thirteen.
"""


def test_an_answer_or_a_cell_that_is_too_long_is_told() -> None:
    def told(answer: str, cell: str) -> list[str]:
        text = ANSWER.replace("WORDS", answer).replace("CELL", cell).replace("VERDICT", "")
        return [str(error) for error in find_long_parts(Path("a.py"), 1, text)]

    # Compile it, One call, and a measurement per call are 7 words.
    assert told("word " * 113, "word " * 12) == []
    assert told("word " * 114, "word " * 13) == [
        "a.py:2: the answer has 121 words, and the most are 120; shorten it",
        "a.py:28: this cell has 13 words, and the most are 12; shorten it",
    ]


def test_a_verdict_that_is_too_long_is_told() -> None:
    def told(verdict: str) -> list[str]:
        text = ANSWER.replace("VERDICT", verdict).replace("WORDS", "word " * 40)
        return [str(error) for error in find_long_parts(Path("a.py"), 1, text)]

    # Compile it are 2 words, and chart, facts and code do not count.
    assert told("word " * 29 + "\n\n   " + "word " * 29) == []
    assert told("word " * 29 + "\n\n   " + "word " * 30) == [
        "a.py:2: the verdict has 61 words, and the most are 60; shorten it"
    ]


def test_words_are_counted_as_a_reader_sees_them() -> None:
    assert count_words(":claim:`It is so <a.wall < b.wall>`, by {a.wall}.") == 5
    assert count_words("``x = 1`` and :measured:`a.b c`") == 3


def test_check_tells_of_long_texts(tmp_path: Path) -> None:
    recipes = tmp_path / "recipes_source"
    recipes.mkdir()
    (recipes / "GALLERY_HEADER.rst").write_text("Words.\n")
    (tmp_path / EXCUSES).parent.mkdir(parents=True)
    (tmp_path / EXCUSES).write_text("*: GPU busy below\n")
    answer = ANSWER.replace("WORDS", "word " * 114).replace("VERDICT", "")
    (recipes / "mine.py").write_text(f'"""\nTitle\n=====\n{answer}"""\n')
    told = [error.describe(tmp_path) for error in check_texts(tmp_path)]
    assert told == [
        "recipes_source/mine.py:5: the answer has 121 words, and the most are 120; shorten it"
    ]


def test_check_tells_of_files_that_are_no_pages(tmp_path: Path) -> None:
    recipes = tmp_path / "recipes_source"
    (recipes / "sub/__pycache__").mkdir(parents=True)
    (recipes / "GALLERY_HEADER.rst").write_text("Words.\n")
    (tmp_path / EXCUSES).parent.mkdir(parents=True)
    (tmp_path / EXCUSES).touch()
    for name in ("tiny_sum", "Tiny_Sum", "_look", "sub/tiny_sum", "sub/__pycache__/x", "sub/_a"):
        (recipes / f"{name}.py").write_text('"""\nTitle\n=====\n"""\n')
    (tmp_path / PAGES).write_text("# Every page.\nrecipes/tiny\n")
    (tmp_path / "conf.py").write_text('redirects = {"recipes/tiny": "tiny_sum.html"}\n')
    told = [error.describe(tmp_path) for error in check_texts(tmp_path)]
    assert told == [
        "recipes_source/sub/tiny_sum.py: is not read; move it to recipes_source/tiny_sum.py",
        "recipes_source/Tiny_Sum.py: the name of a recipe has small letters, digits and _ between "
        "them; rename it, for example to tiny_sum.py, and record it again",
        f"{PAGES}: recipes/tiny_sum is missing; add this line, and 'tiny_sum' to "
        "second_call_recipes in conf.py",
    ]

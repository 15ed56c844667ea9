"""A recipe's page: the answer in a box and in short, cards on a phone, its foot, its downloads."""

import re
import sys
from textwrap import indent

import nbformat
import pytest
from bs4 import BeautifulSoup

from second_call.answer_box import ANCHOR
from tests.helpers.gallery import Gallery

RECIPE = '''
"""
Is it two?
==========

Find out what the sum is.

.. answer::

   **Add** ``one`` and one. It is two: count yourself. **Otherwise: look it up**: it helps.

   .. code-block:: python

      total = 1 + 1

   - 2 is the sum

   .. chart:: wall
      :hero:

      What was measured.

**In your library**

.. libraries::

   - **Abacus**: move a bead. Then:

     - count
   - **Fingers** need no library.

**What you need**

- Two numbers.
"""

# %%
# Choose
# ------
#
# .. list-table::
#    :header-rows: 1
#
#    * - Case
#      - Choose
#      - Cost
#    * - Small
#      - Fingers
#      - None
#
# .. list-table::
#    :header-rows: 1
#
#    * - One
#      - Two
#    * - 1
#      - 2

total = 1 + 1
'''
KOREAN = {
    "**Add** ``one`` and one. It is two: count yourself. **Otherwise: look it up**: it helps.": (
        "``one``과 1을 **더하세요**. 합은 2입니다. **아니면 찾아보세요**: 도움이 됩니다."
    ),
    "Find out what the sum is.": "합이 얼마인지 알아봅니다.",
    "What you need": "필요한 것",
    "**Abacus**: move a bead. Then:": "**주판**: 알을 옮기세요. 그다음:",
    "Case": "경우",
    "Cost": "비용",
}


@pytest.fixture
def gallery(gallery: Gallery) -> Gallery:
    gallery.set_languages("ko")
    gallery.write("sum", RECIPE)
    return gallery


def test_the_answer_stands_in_a_box_in_any_language(gallery: Gallery) -> None:
    gallery.configure(second_call_answer_required=True)
    gallery.translate("recipes/sum", KOREAN)
    for language, lead in (("en", "Add one and one."), ("ko", "one과 1을 더하세요.")):
        build = gallery.build(language=language)
        assert "no answer" not in build.warnings
        page = BeautifulSoup(build.page("recipes/sum"), "html.parser")
        [box] = page.select("section.answer")
        assert box["id"] == ANCHOR
        parts = [part["class"][0] for part in box.find_all(recursive=False)[1:]]
        assert parts == ["verdict", "answer-code", "facts"]
        assert box.p.get_text().startswith(lead)
        assert "total = 1 + 1" in box.pre.get_text()
        assert page.select_one("section > p").find_parent("section") != box  # for whom it is
        assert page.select_one("section#what-you-need > h2")
        label = "Cost" if language == "en" else "비용"
        cards = page.select("table.cards td")
        assert [each["data-label"] for each in cards][2] == label
        assert len(cards) == 3  # two columns fit a phone
        cells = nbformat.read(gallery.root / "out/html/recipes/sum.ipynb", 4).cells
        assert "\n## The answer\n" in cells[0].source or language != "en"
        assert "data-label" not in cells[1].source


def test_a_heading_of_a_row_is_labelled_as_other_cells_are(gallery: Gallery) -> None:
    rows = "   * - A\n     - B\n     - C\n   * - one\n     - two\n     - three\n"
    options = "   :class: cards\n   :header-rows: 1\n   :stub-columns: 1\n"
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n.. list-table::\n{options}\n{rows}")
    page = BeautifulSoup(gallery.build().page("index"), "html.parser")
    cells = page.select("table.cards tbody tr > *")
    assert [(cell.name, cell["data-label"], cell.get_text(strip=True)) for cell in cells] == [
        ("th", "A", "one"),
        ("td", "B", "two"),
        ("td", "C", "three"),
    ]


def test_code_for_several_cases_is_a_choice_on_the_page_and_named_in_the_notebook(
    gallery: Gallery,
) -> None:
    block = ".. code-block:: python\n"
    more = f"{block}   :caption: Otherwise\n\n   # look\n   total = 2\n"
    cases = f"{block}   :caption: ``sum``\n\n   total = sum([1, 1])\n\n{more}"
    alone = f"**What you need**\n\n{block}   :caption: Alone\n\n   total = 3"
    text = RECIPE.replace(f"   {block}\n      total = 1 + 1\n", indent(cases, "   "))
    gallery.write("sum", text.replace("**What you need**", alone))
    gallery.translate("recipes/sum", {"Otherwise": "아니면", "look": "보기"})
    build = gallery.build(language="ko")
    page = BeautifulSoup(build.page("recipes/sum"), "html.parser")
    [choice] = page.select("section.answer fieldset:has(> legend)")
    radios = choice.select("input[type=radio]")
    assert [each.has_attr("checked") for each in radios] == [True, False]
    assert len({each["name"] for each in radios}) == 1
    names = [choice.select_one(f"label[for={each['id']}]") for each in radios]
    assert [each and each.get_text() for each in names] == ["sum", "아니면"]
    assert [each and each.get("lang") for each in names] == ["en", None]  # what is not translated
    codes = [each.get_text() for each in choice.select(".code-case pre")]
    assert codes[0].strip() == "total = sum([1, 1])"
    assert "# 보기" in codes[1]
    cells = nbformat.read(gallery.root / "out/html/recipes/sum.ipynb", 4).cells
    first, code, second, more, text, *_recipe = [cell.source for cell in cells]
    assert first.endswith("**`sum`**")
    assert code.endswith("\ntotal = sum([1, 1])")
    assert second == "**아니면**"
    assert more.endswith("\n# 보기\ntotal = 2")
    assert "\nAlone\n" in text


@pytest.mark.slow
def test_a_page_says_that_it_was_recorded_with_an_older_release(gallery: Gallery) -> None:
    gallery.add("sum", RECIPE)
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n.. _newer:\n\nNews\n----\n\nNone.\n")
    build = gallery.build(second_call_releases={"python": ("9.9", "newer")})
    line = BeautifulSoup(build.page("recipes/sum"), "html.parser").select_one(".release")
    version = ".".join(map(str, sys.version_info[:2]))
    said = f"The current release is python 9.9. What has changed since {version}"
    assert line.get_text() == said
    assert line.a["href"] == "../index.html#newer"
    for no_newer in [{"python": (version, "newer")}, {"python": ("3.9", "newer")}]:
        build = gallery.build(second_call_releases=no_newer)
        assert 'class="release"' not in build.page("recipes/sum")
    build = gallery.build(second_call_releases={"numpy": ("9.9", "newer")})  # not recorded
    assert 'class="release"' not in build.page("recipes/sum")


def test_a_recipe_without_an_answer_is_told(gallery: Gallery) -> None:
    start, end = RECIPE.index(".. answer::"), RECIPE.index("**In your library**")
    path = gallery.write("sum", RECIPE[:start] + RECIPE[end:])
    assert "no answer" not in gallery.build().warnings
    gallery.configure(second_call_answer_required=True)
    build = gallery.build()
    assert f"{path}:1: the page has no answer" in build.warnings
    assert 'section class="answer"' not in build.page("recipes/sum")


def test_libraries_are_tabs_and_a_translation_may_rename_them(gallery: Gallery) -> None:
    gallery.translate("recipes/sum", KOREAN)
    build = gallery.build(language="ko")
    page = BeautifulSoup(build.page("recipes/sum"), "html.parser")
    [tabs] = page.select("section#in-your-library fieldset")
    assert [label.get_text() for label in tabs.select("label")] == ["주판", "Fingers"]
    first, second = tabs.select(".code-case")
    assert first.p.get_text() == "알을 옮기세요. 그다음:"
    assert first.li.get_text() == "count"
    assert second.p.get_text() == "Fingers need no library."


@pytest.mark.parametrize(
    ("words", "instead", "told"),
    [
        ("   **Add** ``one`` and", "   - **Add** ``one`` and", "it needs a verdict"),
        ("      :hero:\n", "", "it needs one chart with the option :hero:"),
        ("- 2 is the sum", "- The sum is 2", "a fact begins with its number, as in"),
        ("   - 2 is the sum\n", "", "it needs one list of at most 4 facts"),
        ("- 2 is", "- 0\n   - 1\n   - 2\n   - 3\n   - 4 is", "one list of at most 4 facts"),
        (
            ".. code-block:: python\n\n      total",
            ".. note::\n\n      total",
            "no place for a note",
        ),
        (
            "   - 2 is the sum\n",
            "   .. code-block:: diff\n      :caption: What changes\n\n      + 1\n\n   - 2\n",
            "each needs its name as :caption:; this one has none: total = 1 + 1",
        ),
        ("- **Fingers** need", "- Fingers need", "each item begins with a bold name"),
    ],
)
def test_what_an_answer_lacks_is_told(
    gallery: Gallery, words: str, instead: str, told: str
) -> None:
    assert words in RECIPE
    gallery.configure(second_call_answer_required=True)
    gallery.write("sum", RECIPE.replace(words, instead))
    warnings = gallery.build().warnings
    assert told in warnings
    assert "the page has no answer" not in warnings  # it is there, with a mistake


def test_a_second_answer_is_told_and_left_out(gallery: Gallery) -> None:
    start, end = RECIPE.index(".. answer::"), RECIPE.index("**In your library**")
    second = indent(RECIPE[start:end], "# ", lambda _line: True)
    gallery.write("sum", f"{RECIPE}\n# %%\n{second}\ntotal = 2\n")
    build = gallery.build()
    told = "answer: a second one, below the docstring; it stands once, in the docstring: move it"
    assert build.warnings.count(told) == 1
    page = BeautifulSoup(build.page("recipes/sum"), "html.parser")
    assert len(page.select(".verdict")) == 1


def test_an_answer_needs_no_empty_line_below_its_name(gallery: Gallery) -> None:
    gallery.write("sum", RECIPE.replace(".. answer::\n\n", ".. answer::\n"))
    build = gallery.build()
    assert "answer:" not in build.warnings
    page = BeautifulSoup(build.page("recipes/sum"), "html.parser")
    [verdict] = page.select("section.answer .verdict")
    assert verdict.get_text().strip().startswith("Add one and one.")


@pytest.mark.parametrize(
    ("words", "instead", "told"),
    [
        ("      What was measured.\n", "", "chart: it needs a caption"),
        (":hero:", ":hero:\n      :colour: red", 'unknown option: "colour"'),
    ],
)
def test_a_mistake_in_the_chart_of_an_answer_is_told_once(
    gallery: Gallery, words: str, instead: str, told: str
) -> None:
    gallery.configure(second_call_answer_required=True)
    gallery.write("sum", RECIPE.replace(words, instead))
    warnings = gallery.build().warnings
    assert told in warnings
    assert "answer: it needs" not in warnings
    assert "the page has no answer" not in warnings


def test_the_code_of_the_answer_is_the_first_of_the_notebook(gallery: Gallery) -> None:
    """It runs apart: what it sets changes nothing that the recipe measures below it."""
    gallery.translate("recipes/sum", KOREAN)
    build = gallery.build(language="ko")
    notebook = nbformat.read(build.out / "recipes/sum.ipynb", as_version=4)
    nbformat.validate(notebook)
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds == ["markdown", "code", "markdown", "markdown", "code"]
    above, example, below, *_recipe = notebook.cells
    assert "더하세요" in above.source
    assert "```" not in above.source
    assert example.source.endswith("\ntotal = 1 + 1")
    magic, comment, _code = example.source.split("\n")
    assert magic == "%%script --no-raise-error {sys.executable}"
    assert comment.startswith("# ")
    assert below.source.startswith("- 2 is the sum")
    script = (build.out / "recipes/sum.py").read_text(encoding="utf-8")
    assert "%%script" not in script  # it is the program of the recipe


NOTE = "These examples need a CUDA GPU. The rest of the notebook also runs on a CPU."


@pytest.mark.parametrize(("code", "note"), [("model.cuda()", NOTE), ("model.cpu()", "")])
def test_a_notebook_says_that_its_examples_need_a_gpu(
    gallery: Gallery, code: str, note: str
) -> None:
    first = ".. code-block:: python\n      :caption: First\n"
    later = f"   .. code-block:: python\n      :caption: Later\n\n      {code}\n"
    recipe = RECIPE.replace(".. code-block:: python\n", first)
    gallery.write("sum", recipe.replace("   - 2 is", f"{later}\n   - 2 is"))
    build = gallery.build()
    notebook = nbformat.read(build.out / "recipes/sum.ipynb", as_version=4)
    above, *cells = notebook.cells
    assert above.source.endswith(note)
    assert NOTE not in "".join(cell.source for cell in cells)
    assert NOTE not in build.page("recipes/sum")
    script = (build.out / "recipes/sum.py").read_text(encoding="utf-8")
    assert NOTE not in script
    assert code in script


def test_a_script_says_what_it_needs_and_its_licenses(gallery: Gallery) -> None:
    gallery.write("sum", RECIPE)
    build = gallery.build()
    script = (build.out / "recipes/sum.py").read_text(encoding="utf-8")
    head = script[: script.index("## The answer")]
    assert re.findall(r"^# \* (\w+): ", head, re.MULTILINE) == ["Needs", "Code"]
    assert "Needs:" not in build.page("recipes/sum")

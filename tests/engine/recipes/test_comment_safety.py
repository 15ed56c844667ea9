"""Programs of readers do what the English ones do, whichever tool opens them.

Each attack is harmless where it is read, in a catalog, and not where it lands.
"""

import re

import jupytext
import nbformat
import pytest

from sphinx_recorded_gallery.recipes.comment_safety import find_instruction
from tests.helpers.gallery import Build, Gallery

RECIPE = '''
"""
Adding
======

One.

Two.

Three.

See :doc:`/index` and `Python <https://www.python.org>`__.
"""

# Why this is here, in some more words.
total = 1 + 2


def add(a, b):
    """Add two numbers, which is all that it does."""
    # And inside of it.
    return a + b  # behind
'''
WHY = "Why this is here, in some more words."
DOCSTRING = "Add two numbers, which is all that it does."
LONG = "캐시" * 60
# message: translation; and what must not be in the script
ATTACKS = [
    ({WHY: f'/// script dependencies=["six"]#{LONG} ///'}, "# ///"),
    ({WHY: f"/// script {LONG} ///"}, "# ///"),
    ({WHY: "cache = !touch FILE # 캐시"}, "!touch"),
    ({WHY: "!touch FILE"}, "!touch"),
    ({WHY: "%run evil.py"}, "%run"),
    ({WHY: "%%bash touch FILE"}, "%%bash"),
    ({WHY: "os?"}, "os?"),
    ({WHY: "rm -rf ~/x 지웁니다"}, "rm -rf"),
    ({WHY: "cat 파일"}, "cat 파일"),
    ({WHY: "echo 안녕"}, "echo 안녕"),
    ({WHY: "ls"}, "# ls"),
    ({WHY: "cd /tmp"}, "cd /tmp"),
    ({DOCSTRING: ">>> import os; os.system('touch FILE')"}, ">>>"),
    ({DOCSTRING: "더합니다. >>> 1"}, ">>>"),
    ({"And inside of it.": "!touch FILE"}, "\n!touch"),
    ({"behind": "!touch FILE"}, "\n!touch"),
    ({"One.": "/// script", "Two.": 'dependencies = ["six"]', "Three.": "///"}, "# /// script\n"),
    ({WHY: "@markdown ![까닭](//evil.example/t.png)"}, "@markdown"),
    ({"behind": '@param ["a"]'}, "@param"),
    ({WHY: "까닭 vim: foldmethod=expr:foldexpr=evil()"}, "vim:"),
    ({"One.": "하나.", "Two.": "둘 ex: set nomodeline", "Three.": "셋."}, "ex:"),
    ({"One.": "Local Variables:", "Two.": "eval: (evil)", "Three.": "End:"}, "Local Var"),
    ({WHY: "\u3000In[1]: 값입니다."}, "# In[1]"),
    ({"behind": "\u00a0noqa"}, "noqa"),
    ({"behind": "fades == 1.0"}, "fades"),
    ({DOCSTRING: "fades:"}, "fades"),
    ({WHY: "까닭 vi:noai:ts=3:nu"}, "vi:"),
    ({"Three.": "셋 vim700: set ts=3"}, "vim700"),
    ({"Three.": "셋 kate: indent-width 2;"}, "kate:"),
    ({WHY: "까닭 kate-wildcard(*.py): indent-width 2;"}, "kate-wildcard"),
    ({"One.": "``/// script``", "Two.": "둘.", "Three.": "///"}, "# /// script\n"),
]


@pytest.fixture(scope="module", params=["ko", "zh_CN"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A recipe for each attack, in one language."""
    gallery = Gallery(tmp_path_factory.mktemp("attacks"))
    gallery.set_languages(request.param)
    for number, (messages, _evil) in enumerate(ATTACKS):
        gallery.write(f"adding{number}", RECIPE)
        gallery.translate(f"recipes/adding{number}", messages, request.param)
    gallery.configure(gettext_compact=False)
    return gallery.build(language=request.param)


@pytest.mark.slow  # a page for each
@pytest.mark.parametrize("number", range(len(ATTACKS)), ids=lambda each: repr(ATTACKS[each])[:40])
def test_no_tool_obeys_a_translation(built: Build, number: int) -> None:
    name = f"adding{number}"
    script = (built.out / f"recipes/{name}.py").read_text(encoding="utf-8")
    cells = nbformat.read(built.out / f"recipes/{name}.ipynb", as_version=4).cells
    again = jupytext.reads(script, fmt="py:percent").cells
    assert [cell.cell_type for cell in again] == [cell.cell_type for cell in cells]
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    assert [cell.source for cell in again if cell.cell_type == "code"] == code
    assert not re.search(r"(?m)^# /// ", script)
    assert ">>>" not in script
    assert ATTACKS[number][1] not in script
    told = rf"{name}\.po:\d+: .*; shown in English|{name}\.py: its translated script would hold "
    assert re.search(told, built.warnings)


def test_what_the_english_program_has_is_no_harm() -> None:
    metadata = '# /// script\n# dependencies = ["numpy"]\n# ///\n'
    english = f'{metadata}def f():\n    """Do.\n\n    >>> f()\n    """\n'
    assert find_instruction(english, english.replace("Do.", "합니다.")) == ""
    assert find_instruction("x = 1  # one\n", "x = 1  # 하나\n") == ""
    magics = "# Run in Colab:\n# !pip install numpy\nx = 1\n"
    assert find_instruction(magics, magics.replace("Run in Colab", "코랩에서")) == ""
    assert "command" in find_instruction(magics, magics.replace("Run in Colab:", "!rm x"))
    assert "doctest" in find_instruction('"""Do."""\n', '"""하기 >>> x"""\n')
    assert "doctest" in find_instruction(
        english, english.replace("Do.", "합니다. >>> x")
    )  # one more


@pytest.mark.parametrize(
    "evil",
    [
        "`여기 <javascript:alert(1)>`__",
        "`여기 <https://evil.example>`__",
        "https://evil.example",
        ":download:`conf.py`",
        ":doc:`/recipes/index`",
        "a@evil.example",
        "|version|",
        "[1]_",
        "_`곳`",
        "``문단",
        "x_",
    ],
)
def test_should_a_message_pass_all_checks_a_page_has_its_words_alone(
    site: Gallery, monkeypatch: pytest.MonkeyPatch, evil: str
) -> None:
    monkeypatch.setattr("sphinx_recorded_gallery.translate.loading.examine", lambda *_: [])
    site.set_languages("ko")
    site.configure(gettext_compact=False)
    site.write("adding", RECIPE)
    site.translate("recipes/adding", {"One.": f"하나 {evil}"})
    page = site.build(language="ko").page("recipes/adding")
    paragraph = re.search(r"<p[^>]*>하나.*?</p>", page, re.DOTALL)
    assert paragraph, page
    assert not re.search(r"href|src=|<a|problematic", paragraph[0]), paragraph[0]
    assert "system-message" not in page
    assert 'evil.example"' not in page


def test_a_comment_that_looks_like_a_magic_is_one_in_script_and_notebook(gallery: Gallery) -> None:
    code = "#%matplotlib inline\nimport os\n\n# In Colab, run\n#\n# !pip install something\nos"
    gallery.write("magics", f'"""\nMagics\n======\n"""\n\n{code}\n')
    out = gallery.build().out / "recipes"
    [cell] = nbformat.read(out / "magics.ipynb", as_version=4).cells[-1:]
    script = (out / "magics.py").read_text(encoding="utf-8")
    assert cell.source == code
    assert jupytext.reads(script, fmt="py:percent").cells[-1].source == code

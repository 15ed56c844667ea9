"""Outputs in Markdown and LaTeX are formatted, and a table has a form in each format."""

import json
import re

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from sphinx_recorded_gallery.pages.output_text import parse_latex, parse_markdown
from tests.helpers.gallery import Gallery

TITLE = '"""\nTitle\n=====\n"""\nfrom IPython.display import Markdown\n\n'
SHOWN = '''
"""
Shown
=====

Words.
"""

import sympy as sp

x = sp.symbols("x")
sp.Integral(sp.sqrt(1 / x), x)

# %%
# Markdown.

from IPython.display import Latex, Markdown, display

display(
    Markdown(
        "**bold**, a [link](https://example.org) and $y^2$\\n\\n* point\\n\\n|a|\\n|-|\\n|b|"
    )
)

# %%
# LaTeX.

display(Latex(r"Since $a = b$, $$c = d$$ holds"))

# %%
# A table.

import pandas as pd

pd.DataFrame({"first": [41, 42]})
'''


@pytest.fixture
def shown(gallery: Gallery) -> Gallery:
    gallery.add("shown", SHOWN)
    return gallery


def test_formulas_and_markdown_are_formatted(shown: Gallery) -> None:
    for renderer, formulas in (("mathml", "math"), (None, ".math")):
        shown.configure(html_math_renderer=renderer)
        build = shown.build()
        assert build.warnings == ""
        page = BeautifulSoup(build.page("recipes/shown"), "html.parser")
        outputs = page.select(".recorded-output")
        integral, markdown, latex, table = outputs
        assert [len(output.select(formulas)) for output in outputs] == [1, 1, 2, 0]
        assert "displaystyle" not in integral.get_text()
        assert markdown.strong.get_text() == "bold"
        assert markdown.a["href"] == "https://example.org"
        assert markdown.li.get_text().strip() == "point"
        assert [cell.get_text().strip() for cell in markdown.select("th, td")] == ["a", "b"]
        assert "Since" in latex.get_text()
        assert len(table.select("table")) == 1
        assert "41" not in re.sub("<table.*</table>", "", str(table), flags=re.DOTALL)
        assert renderer or "mathjax" in build.page("recipes/shown").lower()


@pytest.mark.parametrize(
    ("builder", "pattern"), [("text", "txt"), ("latex", "tex"), ("man", "1"), ("texinfo", "texi")]
)
def test_a_table_has_a_form_in_other_formats(shown: Gallery, builder: str, pattern: str) -> None:
    shown.configure(man_pages=[("index", "site", "Site", ["A"], 1)])
    build = shown.build(builder)
    text = "\n".join(path.read_text() for path in build.out.rglob(f"*.{pattern}"))
    assert re.search(r"0\s+41\s+1\s+42", text)
    assert "bold" in text


def test_a_table_in_markdown_is_as_wide_as_its_words(gallery: Gallery) -> None:
    table = "| a | b |\\n|:--|--:|\\n| **bold** words | `y` 한국어 |"
    gallery.add("shown", TITLE + f'Markdown("{table}")\n')
    build = gallery.build("text")
    text = build.out.joinpath("recipes/shown.txt").read_text(encoding="utf-8")
    assert re.search(r'\| \*\*bold\*\* words +\| "y" 한국어 +\|', text)
    page = BeautifulSoup(gallery.build().page("recipes/shown"), "html.parser")
    cells = page.select(".recorded-output td")
    assert [cell.get("class", []) for cell in cells] == [["align-left"], ["align-right"]]


def test_a_price_is_no_formula() -> None:
    (paragraph,) = parse_markdown("$x$ costs $5 to $10.", trusted=True)
    assert [node.astext() for node in paragraph.children] == ["x", " costs $5 to $10."]


def test_a_formula_is_shown_in_place_of_its_picture(gallery: Gallery) -> None:
    """As Jupyter does: SymPy makes both after ``init_printing()``."""
    code = "import sympy as sp\nsp.init_printing()\nsp.sqrt(sp.Symbol('x'))\n"
    gallery.add("shown", TITLE + code)
    page = BeautifulSoup(gallery.build().page("recipes/shown"), "html.parser")
    output = page.select_one(".recorded-output")
    assert output is not None
    assert len(output.select("math")) == 1
    assert not output.select("img")


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_pictures_that_browsers_show_are_shown(gallery: Gallery, kind: str) -> None:
    code = (
        "import io\nimport PIL.Image\nfrom IPython.display import Image\n"
        "file = io.BytesIO()\n"
        f"PIL.Image.new('RGB', (20, 10), 'red').save(file, '{kind}')\n"
        f"Image(file.getvalue(), format='{kind}')\n"
    )
    gallery.add(f"shown_{kind}", TITLE + code)
    build = gallery.build()
    assert build.warnings == ""
    page = BeautifulSoup(build.page(f"recipes/shown_{kind}"), "html.parser")
    (picture,) = page.select(".recorded-output img")
    assert str(picture["src"]).endswith(f".{kind}")
    assert not page.select(".sphx-glr-script-out")
    notebook = (build.out / f"recipes/shown_{kind}.ipynb").read_text()
    assert f"image/{kind}" in notebook


@pytest.mark.parametrize(
    ("width", "style"),
    [(10, "width: 10px;"), (-3, None), ("'15px'", "width: 15px;"), ("'50%'", None)],
)
def test_a_picture_is_as_wide_as_its_output_says(
    gallery: Gallery, width: object, style: str | None
) -> None:
    """Pictures for sharp screens have more pixels than places; seaborn's plots are such."""
    code = (
        "import io\nimport PIL.Image\nfile = io.BytesIO()\n"
        "PIL.Image.new('RGB', (20, 10), 'red').save(file, 'png')\n"
        "class Plot:\n    def _repr_png_(self):\n"
        f"        return file.getvalue(), {{'width': {width}}}\nPlot()\n"
    )
    gallery.write("shown", TITLE + code)
    assert gallery.record("shown"), gallery.messages
    page = BeautifulSoup(gallery.build().page("recipes/shown"), "html.parser")
    (picture,) = page.select(".recorded-output img")
    assert picture.get("style") == style


def test_no_output_is_a_message_for_translators(shown: Gallery) -> None:
    build = shown.build("gettext")
    assert "bold" not in (build.out / "recipes/shown.pot").read_text()


def test_the_notebook_has_what_was_recorded(shown: Gallery) -> None:
    for trusted in (True, False):  # programs show pictures of other hosts that Markdown names
        shown.configure(recorded_gallery_trust_outputs=trusted)
        notebook = json.loads((shown.build().out / "recipes/shown.ipynb").read_text())
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        forms = [set(output["data"]) for output in outputs]
        assert ["text/latex" in forms[0], "text/markdown" in forms[1]] == [True, trusted]


@pytest.mark.parametrize(
    ("tex", "kinds"),
    [
        (r"$\displaystyle x$", ["math_block"]),
        ("$$x$$", ["math_block"]),
        (r"\[x\]", ["math_block"]),
        (r"\begin{align*}a &= b\\ c &= d\end{align*}", ["math_block"]),
        ("It is $x$.", ["paragraph"]),
        ("It is $$x$$ so", ["paragraph", "math_block", "paragraph"]),
        ("$$x$$ and $$y$$", ["math_block", "paragraph", "math_block"]),
        (r"\(x\) and \(y\)", ["paragraph"]),
        (r"\begin{tabular}{l}a $x$\end{tabular}", []),
        (r"costs 5\$ and 6\$", []),
    ],
)
def test_latex_is_text_with_formulas(tex: str, kinds: list[str]) -> None:
    assert [type(node).__name__ for node in parse_latex(tex)] == kinds


FORMULAS = """
\"\"\"
Formulas
========

Words.
\"\"\"

from IPython.display import Latex, Markdown, display

display(Latex(r"$\\href{javascript:alert(1)}{x}$"))

# %%
# Markdown.

display(Markdown(r"**b** $\\input{secret}$"))
"""


@pytest.mark.parametrize("trusted", [True, False])
def test_formulas_of_strangers_have_known_commands(gallery: Gallery, trusted: bool) -> None:
    gallery.add("formulas", FORMULAS.replace("\\\\", "\\"))
    gallery.configure(html_math_renderer=None, recorded_gallery_trust_outputs=trusted)
    build = gallery.build()
    assert build.warnings == ""
    page = BeautifulSoup(build.page("recipes/formulas"), "html.parser")
    assert len(page.select(".recorded-output .math")) == (2 if trusted else 0)
    words = " ".join(output.get_text() for output in page.select(".recorded-output"))
    assert "href{javascript:alert(1)}{x}" in words
    assert "input{secret}" in words


HOSTILE = (
    "[a](javascript:alert(1)) <b onclick='x'>c</b> ![d](https://example.org/e.png)\n\n"
    "<script>alert(2)</script>\n\n![f](data:image/png;base64,AAAA)"
)


def test_markdown_of_strangers_does_nothing() -> None:
    box = nodes.container("", *parse_markdown(HOSTILE, trusted=False))
    assert not list(box.findall(nodes.raw))
    assert not list(box.findall(nodes.image))
    assert not list(box.findall(nodes.reference))
    assert "<script>" in box.astext()
    trusted = nodes.container("", *parse_markdown(HOSTILE, trusted=True))
    assert len(list(trusted.findall(nodes.image))) == 1
    assert not list(trusted.findall(nodes.reference))


MARKDOWN = """
# Head

> quote with `code`

3. three
   1. inner

```python
x = 1
```

    indented

---

line  \nbreak ~~gone~~ <b>bold</b>

$$
z
$$

| a | b |
|:-:|--:|
| 1 | $x$ |
"""


def test_all_of_markdown_is_shown() -> None:
    box = nodes.container("", *parse_markdown(MARKDOWN, trusted=True))
    words = box.astext()
    for word in ("Head", "quote", "code", "three", "inner", "x = 1", "indented", "break", "gone"):
        assert word in words
    assert len(list(box.findall(nodes.entry))) == 4
    assert [raw.astext() for raw in box.findall(nodes.raw)] == ["<br>", "<b>", "</b>"]

"""Page, notebook and script of whatever reStructuredText can hold say the same.

Each construct of ``constructs.txt`` is the text of a recipe of its own. The notebook's Markdown is
rendered by markdown-it, and its words are compared with those of the page.
"""

import ast
import re
from base64 import b64decode
from pathlib import Path

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup, NavigableString, Tag
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from sphinx_recorded_gallery.pages.markdown import show_emphasis_by_signs
from tests.helpers.gallery import ENGINE, Build, Gallery

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
)
CONSTRUCTS = dict(
    part.split("\n", 1)
    for part in re.split(
        "^@@ ", Path(__file__).with_name("constructs.txt").read_text("utf-8"), flags=re.MULTILINE
    )[1:]
)
# What Sphinx says of them, whatever becomes of them
EXPECTED_WARNINGS = {
    "unresolved names": ["'any' reference target not found", "unknown option: '--none'"],
    "unresolved place": ["undefined label: 'no-such-place'"],
    "unknown role": ['Unknown interpreted text role "nosuchrole"'],
}
# What a page shows and a notebook need not: links to headings and back from notes, numbers of lines
BESIDE = (
    ".headerlink, .recipe-actions, .linenos, .backrefs, style, script, .fn-backref, .provenance, "
    ".visually-hidden"
)


pytestmark = pytest.mark.slow  # a page for each construct


def name_of(construct: str) -> str:
    return construct.replace(" ", "_")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    gallery = Gallery(tmp_path_factory.mktemp("constructs"))
    gallery.configure(
        extensions=[*ENGINE, "sphinx.ext.mathjax", "sphinx.ext.todo"],
        html_math_renderer="mathjax",  # which leaves formulas as they were written
        suppress_warnings=["recorded_gallery.recording", "toc.not_included"],
        todo_include_todos=True,
        release="1.0",
    )
    (gallery.root / "a.png").write_bytes(PNG)
    (gallery.root / "data.csv").write_text("1, 2\n")
    (gallery.root / "other.rst").write_text("Other\n=====\n")
    for construct, text in CONSTRUCTS.items():
        prose = "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())
        source = f'"""\nTitle\n=====\n\nWords.\n"""\n\n# %%\n{prose}'
        path = gallery.recipes / f"{name_of(construct)}.py"
        path.write_text(source, encoding="utf-8")
    return gallery.build()


def read_notebook(built: Build, construct: str) -> nbformat.NotebookNode:
    path = built.out / f"recipes/{name_of(construct)}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def render(text: str) -> BeautifulSoup:
    """Return what Jupyter shows of Markdown, formulas as TeX."""
    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    renderer.use(dollarmath_plugin, double_inline=True)
    return BeautifulSoup(renderer.render(text), "html.parser")


def words(soup: Tag) -> list[str]:
    """Return words and signs as readers see them, a formula as its TeX."""
    for image in soup.find_all("img"):
        alt = image.get("alt", "")
        # without a text, docutils takes the address for one
        image.replace_with(f" image {'' if image['src'].endswith(alt) else alt} ")
    for block in soup.find_all(["br", "dd", "div", "dt", "li", "p", "pre", "td", "th"]):
        block.insert_after("\n")
    text = soup.get_text().replace("\xad", "").replace("→", "->")
    text = re.sub(r"\\vert ?", "|", text)  # in a table, Markdown takes a line for the end of a cell
    return re.findall(r"\w+|[^\w\s]", text)


def page_body(built: Build, construct: str) -> Tag:
    """Return the part of the page that a notebook has, formulas as TeX."""
    soup = BeautifulSoup(built.page(f"recipes/{name_of(construct)}"), "html.parser")
    [body] = soup.select("div.body")
    for each in body.select(BESIDE):
        each.decompose()
    for formula in body.select(".math"):
        number = formula.select_one(".eqno")
        numbered = f"\\tag{{{number.extract().get_text().strip('()')}}}" if number else ""
        tex = re.sub(r"^\\[(\[]|\\[)\]]$", "", formula.get_text().strip())
        formula.replace_with(f"{tex} {numbered}")
    for classifier in body.select(".classifier"):
        classifier.insert_before(" : ")  # the style sheet shows it
    return body


def notebook_body(built: Build, construct: str) -> Tag:
    cells = read_notebook(built, construct).cells
    assert {cell.cell_type for cell in cells} == {"markdown"}
    soup = render("\n\n".join(cell.source for cell in cells))
    for formula in soup.select(".math"):
        formula.replace_with(f" {formula.get_text()} ")
    return soup


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_notebook_has_the_words_of_the_page(built: Build, construct: str) -> None:
    assert words(notebook_body(built, construct)) == words(page_body(built, construct))


# Links of a page to itself, and marks in code, which in a notebook is plain
UNMARKED = (
    "kbd em, code em, code strong, code a, pre a, pre em, pre strong, samp em, dt.sig em, "
    "a.footnote-reference, a.citation-reference, .label a, a.image-reference, "
    "a:has(.problematic)"
)
COUNTING = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}


def marks(body: Tag) -> set[tuple[str, ...]]:
    """Return what is emphasized, raised, linked, a heading or code, and how lists count."""
    for each in body.select(UNMARKED):
        each.unwrap()
    found: set[tuple[str, ...]] = {("li",) for _each in body.select("li")}
    for each in body.select("ol"):
        [kind] = [COUNTING[each] for each in each.get("class", []) if each in COUNTING] or [""]
        found.add(("ol", each.get("start", "1"), each.get("type", kind)))
    for each in body.select("h1, h2, h3, h4, em, cite, strong, sub, sup, abbr, pre, a[href]"):
        kind = {"cite": "em"}.get(each.name, each.name)
        text = " ".join(words(BeautifulSoup(str(each), "html.parser")))
        found.add((kind, text, each.get("title", "") if kind == "abbr" else ""))
    return found


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_notebook_marks_what_the_page_marks(built: Build, construct: str) -> None:
    page, notebook = page_body(built, construct), notebook_body(built, construct)
    assert marks(page) - marks(notebook) == set()


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_no_word_is_taken_for_a_formula(built: Build, construct: str) -> None:
    """After Markdown, Jupyter lets MathJax look for formulas in what is shown."""
    for cell in read_notebook(built, construct).cells:
        soup = render(cell.source)
        for each in soup.select("code, pre, .math"):
            each.replace_with(soup.new_tag("i"))
        for text in soup.find_all(string=True):
            shown = "".join(
                str(each) for each in text.parent.children if isinstance(each, NavigableString)
            )
            assert not re.search(r"\$[^$]+\$|\\\(.*\\\)|\\\[.*\\\]|\\begin\{", text + " ", re.S), (
                shown
            )


def shown(text: str) -> list[str]:
    """Return what Jupyter shows of Markdown, wherever its lines end."""
    return str(render(text)).split()


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_script_has_the_words_as_comments(built: Build, construct: str) -> None:
    script = (built.out / f"recipes/{name_of(construct)}.py").read_text(encoding="utf-8")
    assert ast.parse(script).body == []
    sources = [cell.source for cell in jupytext.reads(script, fmt="py:percent").cells]
    texts = [cell.source for cell in read_notebook(built, construct).cells]
    # A comment has the signs of emphasis where a notebook needs elements.
    assert [shown(text) for text in sources] == [
        shown(show_emphasis_by_signs(text)) for text in texts
    ]
    assert not any(re.search(r"(?<!\\)</?(?:em|strong)>", text) for text in sources)


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_brings_no_warning(built: Build, construct: str) -> None:
    told = [line for line in built.warnings.splitlines() if f"/{name_of(construct)}." in line]
    expected = EXPECTED_WARNINGS.get(construct, [])
    assert len(told) == len(expected), told
    for line, part in zip(sorted(told), sorted(expected), strict=True):
        assert part in line

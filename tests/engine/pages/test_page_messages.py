"""What page, notebook or recording cannot follow is told, with the file and line of the recipe."""

import re
import shutil
import sys
import textwrap
from types import ModuleType

import nbformat
import pytest
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.console import strip_colors
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.pages.markdown import write_block
from tests.helpers.gallery import RECIPE, Gallery

ACCEPT = (
    'accept this: suppress_warnings = ["recorded_gallery.notebook"] [recorded_gallery.notebook]'
)


def put(site: Gallery, *lines: str) -> None:
    """Write lines instead of the paragraph of the second text, which is in line 16."""
    prose = "\n        # ".join(lines).replace("# \n", "#\n")
    site.add("adding", RECIPE.replace("A paragraph.", prose))


def warnings_of(site: Gallery) -> list[str]:
    text = strip_colors(site.build().warnings).replace(f"{site.root}/", "")
    return text.splitlines()


def markdown_of(site: Gallery) -> str:
    notebook = nbformat.read(site.root / "out/html/recipes/adding.ipynb", as_version=4)
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_warnings_of_a_page_name_the_line_of_the_recipe(site: Gallery) -> None:
    put(site, "A paragraph.", "", "See :ref:`nowhere`.")
    [line] = warnings_of(site)
    assert line.startswith("recipes_source/adding.py:18: WARNING: undefined label: 'nowhere'")


def test_what_docutils_tells_names_the_line_of_the_recipe(site: Gallery) -> None:
    wrong = "# :wrong:`x`\n        #\n        # .. nothing::"
    text = RECIPE.replace("with ``code``", "with ``code").replace("# A paragraph.", wrong)
    path = site.write("adding", f"# A licence.\n\n{textwrap.dedent(text).lstrip()}")
    lines = path.read_text().splitlines()
    told = dict(re.findall(r"adding\.py:(\d+): \w+: (.*?)[.;\"]", site.build().warnings))
    assert {lines[int(number) - 1]: message for number, message in told.items()} == {
        "A first sentence with ``code.": "Inline literal start-string without end-string",
        "# :wrong:`x`": "Unknown interpreted text role ",
        "# .. nothing::": "Unknown directive type ",
    }


def test_what_docutils_tells_of_a_translation_names_the_line_of_the_recipe(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sphinx_recorded_gallery.translate.loading.examine", lambda *_: [])
    site.set_languages("ko")
    site.translate("recipes/adding", {"A paragraph.": "문단 ``열림"})
    told = site.build(language="ko").warnings
    assert "recipes_source/adding.py:16:<translated>:1: WARNING: Inline literal" in told


class box(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    pass


class BoxDirective(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        return [box("", *self.parse_content_to_nodes())]


def set_up_boxes(app: Sphinx) -> None:
    app.add_node(box, html=(lambda self, node: self.body.append("<div>"), lambda *_unused: None))
    app.add_directive("box", BoxDirective)


def test_of_a_node_that_is_not_known_the_words_are_kept_and_it_is_told(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("boxes")
    module.setup = set_up_boxes
    monkeypatch.setitem(sys.modules, "boxes", module)
    site.add_extension("boxes")
    put(site, "A paragraph.", "", ".. box::", "", "   Some *words*.")
    [line] = warnings_of(site)
    assert re.fullmatch(
        r"recipes_source/adding\.py:\d+: WARNING: box: notebook and script have only its words; "
        rf"use other markup, or {re.escape(ACCEPT)}",
        line,
    )
    assert "A paragraph.\n\nSome *words*.\n\n> **Note**" in markdown_of(site)
    # an extension says how
    write_block.register(box, lambda node, page: f"Box: {node.astext()}")
    shutil.rmtree(site.root / "out")
    assert warnings_of(site) == []
    assert "A paragraph.\n\nBox: Some words." in markdown_of(site)


@pytest.mark.parametrize(
    ("kind", "kept", "lines"),
    [
        ("enumerated_list", "number its points 1, 2, 3", ["a. one", "b. two"]),
        ("option_list", "have only its words", ["-f  one", "-g  two"]),
        (
            "table",
            "have only its words",
            ["+-----+-----+", "| one | two |", "+-----+-----+", "| three     |", "+-----------+"],
        ),
    ],
)
def test_what_markdown_has_no_form_for_is_told_and_its_words_are_kept(
    site: Gallery, kind: str, kept: str, lines: list[str]
) -> None:
    put(site, "A paragraph.", "", *lines)
    told = warnings_of(site)
    assert f"{kind}: notebook and script {kept}; " in told[0]
    for word in ("one", "two"):
        assert word in markdown_of(site)

"""What no recording can hold is told in one line; what pages leave out is told, too."""

import base64
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recipe import Cell, Recipe
from recipe_gallery.record.storage import accept

PATH = Path("recipes/a.py")


def make_recipe(cells: list[Cell]) -> Recipe:
    parts = {
        "title": "A",
        "summary": "",
        "blocks": (),
        "hidden": frozenset(),
        "settings": {},
        "lines": {},
    }
    return Recipe(path=PATH, name="a", cells=tuple(cells), **parts)


def run(*outputs: Any, output_limit: float = 20) -> list[str]:
    """Accept the outputs of the second of two cells."""
    cells = [Cell(number=n, line=10 * n, source="x", code="x") for n in (1, 2)]
    nodes = [nbformat.v4.new_code_cell("x") for _ in cells]
    notebook = nbformat.v4.new_notebook(cells=nodes)
    notebook.cells[1].outputs = list(outputs)
    return accept(make_recipe(cells), notebook, output_limit)


def shown(**data: Any) -> Any:
    output = nbformat.v4.new_output("display_data")
    output.data = nbformat.from_dict({mime.replace("_", "/"): each for mime, each in data.items()})
    return output


def draw(path: Path, side: int) -> str:
    Image.frombytes("L", (side, side), os.urandom(side * side)).save(path, "PNG")
    return base64.b64encode(path.read_bytes()).decode()


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>'


def test_ordinary_outputs_are_accepted(tmp_path: Path) -> None:
    stream = nbformat.v4.new_output("stream", text="한 \x85")
    error = nbformat.v4.new_output("error", ename="E", evalue="v", traceback=["t"])
    picture = shown(image_png=draw(tmp_path / "a.png", 10), text_plain="x")
    svg = shown(**{"image_svg+xml": SVG})
    json = shown(**{"application_json": {"a": [1]}, "application_x+json": None, "text_plain": "x"})
    assert run(stream, error, picture, svg, json, shown(text_html="<b>x</b>")) == []


def test_an_output_of_which_no_page_can_show_a_form_is_told() -> None:
    (line,) = run(shown(**{"application_vnd.plotly.v1+json": {"data": []}, "image_gif": "x"}))
    assert line.startswith(
        "recipes/a.py:20: cell 2: pages and notebooks leave out an output that has no form but "
        "application/vnd.plotly.v1+json, image/gif; "
    )


REFUSED = [
    (shown(image_png="abc"), "its picture, image/png, is not base64"),
    (shown(image_jpeg="abcd"), "its picture, image/jpeg, is no JPEG"),
    (shown(**{"image_svg+xml": "<svg"}), "its picture, image/svg+xml, is no SVG"),
]


@pytest.mark.parametrize(("output", "told"), REFUSED)
def test_what_no_page_can_show_is_refused_with_its_line(output: Any, told: str) -> None:
    with pytest.raises(GalleryError) as caught:
        run(shown(text_plain="x"), output)
    error = caught.value
    assert (error.path, error.line) == (PATH, 20)
    assert error.text.startswith(f"cell 2: {told}")
    mend = "mend what its _repr_..._ method or display() is given"
    assert error.remedy == mend
    assert "\n" not in str(error)


def test_a_picture_may_take_a_quarter_of_a_recording(tmp_path: Path) -> None:
    picture = shown(image_png=draw(tmp_path / "a.png", 200))  # 40 kB
    assert run(picture, output_limit=0.2) == []
    with pytest.raises(GalleryError) as caught:
        run(picture, output_limit=0.1)
    assert str(caught.value) == (
        "recipes/a.py:20: cell 2: its picture, image/png, takes 0.0 MB, and may take "
        "0.025 MB; draw it with fewer points or dots, or raise output_limit under [limits] in "
        "recording.toml"
    )
    exactly = (tmp_path / "a.png").stat().st_size / 1e6
    assert run(picture, output_limit=4 * exactly) == []


def test_a_recording_has_a_bound() -> None:
    text = nbformat.v4.new_output("stream", text="한" * 100_000)
    assert run(text, output_limit=0.31) == []
    with pytest.raises(GalleryError) as caught:
        run(text, output_limit=0.3)
    assert str(caught.value) == (
        "recipes/a.py: its recording takes 0.3 MB, and may take 0.3 MB; "
        "print and show less, or raise output_limit under [limits] in recording.toml"
    )


def test_what_pages_leave_out_is_told_once_for_each_cell() -> None:
    html = "<p onclick=x>a</p><script>x</script>"
    assert run(shown(text_html=html), shown(text_html=html)) == [
        "recipes/a.py:20: cell 2: pages and notebooks leave out onclick=, <script>; "
        "show what needs no script and no style, or a picture"
    ]


def test_the_recorder_tells_what_pages_leave_out(gallery: Gallery) -> None:
    gallery.write(
        "plotting",
        '''
        """
        Plotting
        ========

        Text.
        """

        display({"text/html": "<p>a</p><script>draw()</script>"}, raw=True)
        ''',
    )
    assert gallery.record("plotting")
    assert "plotting.py:8: cell 1: pages and notebooks leave out <script>" in gallery.messages
    build = gallery.build()
    assert build.warnings == ""
    page = build.page("recipes/plotting")
    assert "<p>a</p>" in page
    assert "<script>draw" not in page

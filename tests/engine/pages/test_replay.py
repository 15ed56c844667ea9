import json
import re
from pathlib import Path

import nbformat
import pytest

from tests.helpers.gallery import RECIPE, Gallery, write_recording


def edit_recording(site: Gallery, old: str, new: str) -> None:
    path = site.recordings / "adding.ipynb"
    text = path.read_text()
    assert old in text
    write_recording(path, text.replace(old, new))


def test_a_page_shows_text_table_and_figure(site: Gallery) -> None:
    build = site.build()
    assert build.warnings == ""
    page = build.page("recipes/adding")
    assert "the total is 3" in page
    assert page.index("highlight-Python") < page.index("recorded-output")  # below its code
    assert "<td>cell</td>" in page
    assert re.search(r'<img [^>]*width="1"[^>]*alt="A black square"[^>]+adding_001.png', page)
    assert "<math" in page
    links = re.findall(r'<a [^>]*download="[^"]*" href="([^"]*)"[^>]*>([^<]*)<', page)
    assert links == [("adding.ipynb", "Notebook"), ("adding.py", "Script")]
    assert "sphinx_gallery_" not in page
    assert "sphx-glr-footer" not in page


def test_a_figure_without_titles_is_called_after_its_recipe(gallery: Gallery) -> None:
    """Stock Sphinx-Gallery reads - and _ as blanks, too."""
    unnamed = "".join(line for line in RECIPE.splitlines(True) if "sphinx_gallery_alt" not in line)
    gallery.add("two_squares-black", unnamed)
    page = gallery.build().page("recipes/two_squares-black")
    assert 'alt="two squares black"' in page


def test_the_provenance_box_tells_where_and_when(site: Gallery) -> None:
    edit_recording(site, '"commit": null', '"commit": "0123456789abcdef"')
    edit_recording(site, '"device": {', '"device": {"gpu": "Some GPU", "driver": "999.1",')
    page = site.build().page("recipes/adding")
    box = page[page.index("<details") : page.index("</details>")]
    for fact in ("Some GPU", "999.1", "0123456789", "Python", "UTC", "seconds"):
        assert fact in box


def test_rendering_never_runs_a_recipe(gallery: Gallery, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    gallery.write(
        "tracing", f'"""\nTitle\n=====\n\nText.\n"""\n\nopen({str(trace)!r}, "w").close()\n'
    )
    gallery.build(plot_gallery=True)
    gallery.build(**{"sphinx_gallery_conf.plot_gallery": "True"})
    assert (gallery.root / "out/html/recipes/tracing.html").exists()
    assert not trace.exists()
    assert gallery.record("tracing")  # the trace would be seen if the recipe had run
    assert trace.exists()


@pytest.mark.slow
def test_exactly_what_changed_is_read_again(site: Gallery) -> None:
    site.add("other")
    assert set(site.build().read) == {"index", "recipes/index", "recipes/adding", "recipes/other"}
    assert site.build().read == []
    (site.recordings / "adding.ipynb").touch()
    assert site.build().read == []
    edit_recording(site, "the total is 3", "the total was 3")
    assert site.build().read == ["recipes/adding"]
    edit_recording(site, '"recorded": "2', '"recorded": "3')
    assert site.build().read == ["recipes/adding"]
    site.write("other", RECIPE.replace("A paragraph.", "New prose."))
    build = site.build()
    assert build.read == ["recipes/other"]
    assert build.warnings == ""


def test_every_reason_for_missing_results_is_read_again(site: Gallery) -> None:
    data, recording = site.recipes / "data.txt", site.recordings / "adding.ipynb"
    whole = recording.read_bytes()
    inputs = '# sphinx_gallery_inputs = ["data.txt"]'
    site.write("adding", RECIPE.replace("# sphinx_gallery_cell_timeout = 60", inputs))
    for content, holds, text in (
        (None, whole, None),
        ("1", None, "not been recorded yet"),
        ("1", b"{}", "is damaged"),
        (None, b"{}", None),
        ("1", whole, "changed after it was recorded"),
        ("2", whole, "changed after it was recorded"),
    ):
        for path, value in ((data, content and content.encode()), (recording, holds)):
            path.write_bytes(value) if value else path.unlink(missing_ok=True)
        build = site.build()
        has_page = build.out.joinpath("recipes/adding.html").exists()
        assert has_page == bool(text)
        if text:
            assert "recipes/adding" in build.read
            assert text in build.page("recipes/adding")
        else:
            assert "input 'data.txt' is not a file below" in build.warnings
    assert "changed input data.txt" in build.warnings
    assert (build.out / "recipes/data.txt").read_text() == "2"


def test_stale_code_warns_and_shows_a_note_and_no_old_result(site: Gallery) -> None:
    site.write("adding", RECIPE.replace("1 + 2", "5 + 2"))
    build = site.build()
    assert "recipes_source/adding.py: stale recording: changed code in cell 1 (line" in (
        build.warnings
    )
    assert "run: recorded-gallery record adding" in build.warnings
    page = build.page("recipes/adding")
    assert "The code of this page changed after it was recorded (code blocks: 1)" in page
    assert "the total is 3" not in page
    assert "<td>cell</td>" in page


def test_a_stale_recording_of_a_gpu_names_the_machine_that_is_needed(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(
        site.recordings / "adding.ipynb", device={"gpu": "NVIDIA H200", "cpu": "a CPU", "cores": 2}
    )
    site.write("adding", RECIPE.replace("1 + 2", "5 + 2"))
    monkeypatch.setattr("sphinx_recorded_gallery.errors.has_driver", lambda: False)
    assert "on a machine with a GPU, run: recorded-gallery record adding" in site.build().warnings


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "no recording; run: recorded-gallery record adding"),
        (lambda path: path.write_bytes(path.read_bytes()[:200]), "not a whole notebook"),
        (lambda path: path.write_text("[]"), "not a recording made here"),
        (lambda path: path.write_text("<<<<<<< HEAD\n{"), "an unresolved merge conflict"),
        (lambda path: rewrite(path, recipe="another"), "holds the recording of 'another'"),
        (lambda path: rewrite(path, schema=99), "recorded in format 99"),
        (lambda path: rewrite(path, cells=[]), "cells are missing in this recording"),
    ],
)
def test_an_unusable_recording_is_a_clear_message_and_a_whole_page(
    site: Gallery, damage: object, message: str
) -> None:
    damage(site.recordings / "adding.ipynb")
    build = site.build()
    assert message in build.warnings
    assert "Traceback" not in build.warnings
    page = build.page("recipes/adding")
    missing = "This page has not been recorded yet" in page
    assert missing == ("no recording" in message)
    assert missing != ("The recording of this page is damaged" in page)
    assert "Notebook" in page
    assert "A paragraph." in page
    nbformat.validate(nbformat.read(build.out / "recipes/adding.ipynb", as_version=4))


def rewrite(path: Path, **facts: object) -> None:
    notebook = json.loads(path.read_text())
    notebook["metadata"]["recording"].update(facts)
    write_recording(path, json.dumps(notebook))


def test_a_figure_without_text_is_told_where_it_is_required(site: Gallery) -> None:
    site.write("adding", RECIPE.replace("# sphinx_gallery_alt", "# alt"))
    assert site.build().warnings == ""
    site.configure(recorded_gallery_alt_required=True)
    assert "the figure of cell 3 has no alternative text" in site.build().warnings


def test_figures_of_an_earlier_recording_are_not_left(site: Gallery) -> None:
    site.build("dummy")
    images = site.root / "recipes/images"
    other = images / "sphx_glr_adding_001_001.png"  # of a recipe adding_001
    other.write_bytes(b"other")
    first = (images / "thumb/sphx_glr_adding_thumb.png").read_bytes()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><circle r="1"/></svg>'
    show(site, 3, **{"image/svg+xml": svg})
    site.build("dummy")

    def found() -> list[str]:
        paths = [*images.glob("*_adding_001.*"), *images.glob("thumb/*_adding_*")]
        return sorted(path.name for path in paths)

    assert found() == ["sphx_glr_adding_001.svg", "sphx_glr_adding_thumb.svg"]
    show(site, 3)
    site.build("dummy")
    assert found() == ["sphx_glr_adding_thumb.png"]
    assert (images / "thumb/sphx_glr_adding_thumb.png").read_bytes() != first
    assert other.exists()


def show(site: Gallery, cell: int, **data: str) -> None:
    """Let a cell of the recording show something, by MIME type with _ for a slash."""
    path = site.recordings / "adding.ipynb"
    notebook = json.loads(path.read_text())
    shown = {mime.replace("_", "/"): value for mime, value in data.items()}
    output = {"output_type": "display_data", "data": shown, "metadata": {}}
    notebook["cells"][cell - 1]["outputs"] = [output] if data else []
    write_recording(path, json.dumps(notebook))


def test_a_plot_that_needs_a_script_is_shown_in_another_form(site: Gallery) -> None:
    show(site, 2, text_html="<div id='plot'></div><script>draw()</script>", text_plain="Plot()")
    build = site.build()
    assert "Plot()" in build.page("recipes/adding")
    notebook = nbformat.read(build.out / "recipes/adding.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert {"text/plain": "Plot()"} in [output.get("data") for output in outputs]


@pytest.mark.parametrize("trusted", [True, False])
def test_html_is_as_the_author_made_it_where_recordings_are_trusted(
    site: Gallery, trusted: bool
) -> None:
    html = '<b style="color: red" onclick="x()">fitted</b><script>draw()</script>'
    show(site, 2, text_html=html)
    site.configure(recorded_gallery_trust_outputs=None if trusted else False)
    build = site.build()
    downloaded = nbformat.read(build.out / "recipes/adding.ipynb", as_version=4)
    assert (html in build.page("recipes/adding")) == trusted
    assert (html in str(downloaded)) == trusted
    assert "<b>fitted</b>" in build.page("recipes/adding") or trusted


def test_a_title_that_is_too_long_is_told_with_its_line(gallery: Gallery) -> None:
    for name, title in (("long", "x" * 201), ("short", "x" * 200)):
        gallery.add(name, f'"""\n.. A comment.\n\n{title}\n{"=" * 201}\n\nWords.\n"""\nprint(1)\n')
    warnings = gallery.build().warnings
    told = "long.py:4: the title has 201 characters; write one of at most 200, and the rest below"
    assert told in warnings
    assert warnings.count("characters") == 1

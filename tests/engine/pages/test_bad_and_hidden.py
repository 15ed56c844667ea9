"""Recipes that cannot be used, code that is not shown, numbers of lines: on pages and downloads."""

import nbformat
import pytest

from tests.helpers.gallery import Gallery

BAD_RECIPES: dict[str, tuple[bytes, str]] = {
    "bad setting": (b"# sphinx_gallery_thumbnail_path = 5\n1\n", "bad.py:5: sphinx_gallery_thumb"),
    "nested too deeply": (b"x = " + b"-" * 100_000 + b"1\n", "bad.py: cannot be parsed: nested"),
    "another encoding": (
        b"# \xe9\n",
        "bad.py:5: byte 0xe9 is not valid UTF-8; save the file in UTF-8",
    ),
}


@pytest.mark.parametrize("name", BAD_RECIPES)
def test_a_recipe_that_cannot_be_used_is_named_in_each_build_and_the_others_are_shown(
    site: Gallery, name: str
) -> None:
    code, said = BAD_RECIPES[name]
    site.recipes.joinpath("bad.py").write_bytes(b'"""\nTitle\n=====\n"""\n' + code)
    for _build in range(2):
        build = site.build()
        assert said in build.warnings
        assert "passed invalid value" not in build.warnings
        assert "Adding numbers" in build.page("recipes/adding")
        assert "Adding numbers" in build.page("recipes/index")


def test_what_is_no_file_is_told_and_the_others_are_shown(site: Gallery) -> None:
    site.recipes.joinpath("gone.py").symlink_to("nowhere.py")
    build = site.build()
    assert build.warnings.count("cannot be read") == 1
    assert "Adding numbers" in build.page("recipes/index")


def test_hidden_code_behind_the_last_cell_runs_and_shows_nothing(gallery: Gallery) -> None:
    hidden = "# sphinx_gallery_start_ignore\nprint('hidden')\n# sphinx_gallery_end_ignore\n"
    gallery.add("tail", f'"""\nTitle\n=====\n"""\nprint("shown")\n\n# %%\n\n{hidden}')
    gallery.add("only", f'"""\nTitle\n=====\n"""\n{hidden}')
    for name in ("tail", "only"):
        *_shown, last = gallery.recording(name).notebook.cells
        assert last.outputs[0].text == "hidden\n"
    build = gallery.build()
    assert build.warnings == ""
    for name in ("tail", "only"):
        for suffix in (".html", ".ipynb", ".py"):
            text = (build.out / f"recipes/{name}{suffix}").read_text(encoding="utf-8")
            assert "hidden" not in text.replace("visually-hidden", "")
            assert ("shown" in text) == (name == "tail")
    gallery.write("tail", gallery.recipes.joinpath("tail.py").read_text().replace("hidden", "new"))
    assert "changed code in cell 2 (line 8)" in gallery.build().warnings


def test_plumbing_runs_between_cells_and_shows_nothing(gallery: Gallery) -> None:
    plumbing = "# sphinx_gallery_plumbing = True\nunseen = 3\nprint('unseen')\n"
    cells = ["print('first')\n", plumbing, "# Text.\n\nprint(unseen + 4)\n", plumbing]
    gallery.add("pipes", '"""\nTitle\n=====\n"""\n' + "\n# %%\n\n".join(cells))
    build = gallery.build()
    assert build.warnings == ""
    outputs = [cell.outputs[0].text for cell in gallery.recording("pipes").notebook.cells]
    assert outputs == ["first\n", "unseen\n", "7\n", "unseen\n"]
    for suffix in (".html", ".ipynb", ".py"):
        text = (build.out / f"recipes/pipes{suffix}").read_text(encoding="utf-8")
        assert text.count("unseen") == 1
        assert "first" in text
    notebook = nbformat.read(build.out / "recipes/pipes.ipynb", as_version=4)
    shown = [cell.outputs[0].text for cell in notebook.cells if cell.cell_type == "code"]
    assert shown == ["first\n", "7\n"]

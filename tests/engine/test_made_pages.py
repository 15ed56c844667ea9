"""Pages of recipes that are not made again, and those that are."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sphinx.config import Config
from sphinx_gallery import gen_rst
from sphinx_gallery.sorting import ExplicitOrder

from gallery import Gallery, write_recording
from recipe_gallery.incremental.made_pages import Memory, content_of, digest_settings
from recipe_gallery.project import SETTINGS
from recipe_gallery.recipes.recipe import load_recipe


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    """A gallery with two recorded recipes."""
    gallery.add("adding")
    gallery.add("other")
    return gallery


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The recipes whose pages Sphinx-Gallery made."""
    names = []
    make = gen_rst.save_rst_example

    def save(text: str, target: Path, *others: object, **options: object) -> None:
        names.append(Path(target).stem)
        make(text, target, *others, **options)

    monkeypatch.setattr(gen_rst, "save_rst_example", save)
    return names


def after_page(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    """Do something once, when Sphinx-Gallery has made the page of a recipe."""
    make = gen_rst.save_rst_example

    def save(text: str, target: Path, *others: object, **options: object) -> None:
        make(text, target, *others, **options)
        if Path(target).stem == name:
            monkeypatch.setattr(gen_rst, "save_rst_example", make)
            act()

    monkeypatch.setattr(gen_rst, "save_rst_example", save)


def test_a_recipe_saved_while_pages_are_made_is_shown_by_the_next_build(
    site: Gallery, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = recipe.replace("A paragraph.", "New paragraph.")
    after_page(monkeypatch, "adding", lambda: site.write("adding", edit))
    assert "New paragraph" not in site.build().page("recipes/adding")
    build = site.build()
    assert "recipes/adding" in build.read
    assert "New paragraph" in build.page("recipes/adding")
    assert site.build().read == []


def test_only_pages_whose_sources_changed_are_made_again(
    site: Gallery, recipe: str, made: list[str]
) -> None:
    site.build()
    assert sorted(made) == ["adding", "other"]
    made.clear()
    for path in (*site.recipes.glob("*.py"), *site.recordings.glob("*.ipynb")):
        path.touch()  # as a new checkout does
    site.build()
    assert made == []
    site.write("adding", recipe.replace("A paragraph.", "New prose."))
    site.build()
    recording = site.recordings / "other.ipynb"
    write_recording(recording, recording.read_text().replace("total is", "total was"))
    site.build()
    assert made == ["adding", "other"]


def test_another_setting_makes_all_pages_again(site: Gallery, made: list[str]) -> None:
    site.build()
    made.clear()
    site.build(**{"sphinx_gallery_conf.nested_sections": False})
    assert sorted(made) == ["adding", "other"]


def test_settings_that_are_objects_count_by_their_text() -> None:
    def digest(**settings: object) -> str:
        config = Config({}, {})
        for name, (default, rebuild, kind) in SETTINGS.items():
            config.add(name, default, rebuild, kind)
        config.add("sphinx_gallery_conf", settings, "", dict)
        return digest_settings(config)

    first, second = ExplicitOrder(["a", "b"]), ExplicitOrder(["b", "a"])
    assert digest(subsection_order=first) != digest(subsection_order=second)
    assert digest(css={"a": 1}) != digest(css={"a": 2})
    assert repr({0, 8}) != repr({8, 0})  # as for texts, whose order is another in each process
    assert digest(prefer_full_module={0, 8}) == digest(prefer_full_module={8, 0})
    assert digest(prefer_full_module={0, 8}) != digest(prefer_full_module={0})
    assert digest(reset_modules=object()) == digest(reset_modules=object())
    assert digest(titles={"a": "A"}, passing_examples=["a"]) == digest()


def test_a_setting_of_the_search_makes_no_page_again(site: Gallery, made: list[str]) -> None:
    site.build()
    made.clear()
    assert site.build(recipe_gallery_keep_search_index=True).read == []  # as `live` does
    assert made == []


def test_a_page_with_a_warning_is_made_in_every_build_and_no_other(
    site: Gallery, recipe: str, made: list[str]
) -> None:
    site.write("adding", recipe.replace("1 + 2", "5 + 2"))
    site.build()
    made.clear()
    assert "stale recording" in site.build().warnings
    assert made == ["adding"]


def test_a_changed_input_makes_its_page_again(site: Gallery, recipe: str, made: list[str]) -> None:
    (site.recipes / "data.txt").write_text("1")
    site.write("adding", recipe.replace("# sphinx_gallery_cell_timeout = 60", INPUTS))
    assert site.record("adding")
    assert site.build().warnings == ""
    made.clear()
    (site.recipes / "data.txt").write_text("2")
    assert "changed input data.txt" in site.build().warnings
    assert made == ["adding"]


@pytest.mark.slow
@pytest.mark.parametrize("module", ["_extra.py", "_extra/__init__.py"])
def test_a_module_that_appears_beside_a_recipe_makes_its_page_again(
    site: Gallery, recipe: str, made: list[str], module: str
) -> None:
    site.add("adding", recipe.replace("total = 1", MAY_IMPORT))
    assert site.build().warnings == ""
    made.clear()
    path = site.recipes / module
    path.parent.mkdir(exist_ok=True)
    path.write_text("there = True\n")
    assert f"changed input {module}" in site.build().warnings
    assert made == ["adding"]
    path.unlink()
    assert site.build().warnings == ""


@pytest.mark.slow
def test_a_module_that_appears_in_a_package_makes_its_page_again(
    site: Gallery, recipe: str, made: list[str]
) -> None:
    site.add("adding", recipe.replace("total = 1", MAY_IMPORT))
    package = site.recipes / "_extra"
    package.mkdir()
    (package / "__init__.py").write_text("")
    recorded = site.recordings / "adding.ipynb"
    notebook = json.loads(recorded.read_text())
    inputs = load_recipe(site.recipes / "adding.py").inputs
    notebook["metadata"]["recording"]["inputs"] = inputs
    write_recording(recorded, json.dumps(notebook))
    assert site.build().warnings == ""
    (package / "__pycache__").mkdir()
    made.clear()
    site.build()
    assert made == []
    (package / "part.py").write_text("there = True\n")
    assert "changed input _extra/part.py" in site.build().warnings
    assert made == ["adding"]


INPUTS = '# sphinx_gallery_inputs = ["data.txt"]'


MAY_IMPORT = """try:
            import _extra
        except ImportError:
            pass
        total = 1"""


@pytest.mark.parametrize("text", ["", "[]", '{"pages": {"a": {}}}', "{"])
def test_a_damaged_memory_makes_all_pages_again(site: Gallery, made: list[str], text: str) -> None:
    site.build()
    made.clear()
    (site.root / "recipes/.made").write_text(text)
    assert "the total is 3" in site.build().page("recipes/adding")
    assert sorted(made) == ["adding", "other"]


def test_a_build_that_was_interrupted_leaves_no_old_page(
    site: Gallery, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    site.build()
    after_page(monkeypatch, "adding", interrupt)
    site.write("adding", recipe.replace("A paragraph.", "New prose."))
    with pytest.raises(KeyboardInterrupt):
        site.build()
    site.write("adding", recipe)
    assert "A paragraph." in site.build().page("recipes/adding")


def test_pages_of_removed_recipes_are_removed_in_sub_galleries_too(
    site: Gallery, recipe: str
) -> None:
    deep = site.recipes / "deep"
    deep.mkdir()
    (deep / "GALLERY_HEADER.rst").write_text("Deep\n====\n\nAll.\n")
    (deep / "below.py").write_text((site.recipes / "adding.py").read_text())
    (deep / "another.py").write_text((site.recipes / "adding.py").read_text())
    site.build()
    assert (site.root / "recipes/deep/below.rst").exists()
    (deep / "below.py").unlink()
    (site.recipes / "other.py").unlink()
    (site.recordings / "other.ipynb").unlink()
    site.build()
    assert not (site.root / "recipes/deep/below.rst").exists()
    assert (site.root / "recipes/deep/another.rst").exists()
    assert not (site.root / "recipes/other.rst").exists()
    own = site.root / "recipes/own/index.rst"
    own.parent.mkdir()
    own.write_text(":orphan:\n\nOwn\n===\n")
    shutil.rmtree(deep)
    built = site.build()
    assert not (site.root / "recipes/deep/index.rst").exists()
    assert not (built.out / "recipes/deep/index.html").exists()
    assert "deep" not in built.warnings
    assert own.exists()


def test_files_that_are_no_copies_of_recipes_are_left_alone(gallery: Gallery) -> None:
    gallery.root.joinpath("more").mkdir()
    gallery.root.joinpath("more/GALLERY_HEADER.rst").write_text("More\n====\n\nAll.\n")
    gallery.root.joinpath("more/deep.py").write_text(SHORT)
    for name in ("one", "gone"):
        gallery.write(name, SHORT)
    conf = {"examples_dirs": ["recipes_source", "more"], "gallery_dirs": ["recipes", "recipes/sub"]}
    gallery.configure(sphinx_gallery_conf=conf)
    gallery.build("dummy")
    pages = gallery.root / "recipes"
    pages.joinpath("helper.py").write_text("helper = 1")
    pages.joinpath("own.py").write_text("own = 1")
    pages.joinpath("own.rst").write_text("Own\n===\n")
    deep = pages.joinpath("sub/deep.rst").stat()
    gallery.recipes.joinpath("gone.py").unlink()
    gallery.build("dummy")
    assert sorted(path.name for path in pages.glob("*.py")) == ["helper.py", "one.py", "own.py"]
    assert not pages.joinpath("gone.rst").exists()
    assert pages.joinpath("own.rst").exists()
    assert pages.joinpath("sub/deep.rst").stat().st_ino == deep.st_ino
    assert pages.joinpath("sub/deep.py").exists()


def test_sources_in_the_folder_of_pages_are_left_alone(gallery: Gallery, tmp_path: Path) -> None:
    source = tmp_path / "recipes/source"
    source.parent.mkdir()
    gallery.recipes.rename(source)
    source.joinpath("one.py").write_text(SHORT)
    source.joinpath("one.rst").write_text(
        ".. THIS FILE WAS AUTOMATICALLY GENERATED BY SPHINX-GALLERY."
    )
    gallery.configure(
        sphinx_gallery_conf={"examples_dirs": "recipes/source", "gallery_dirs": "recipes"},
        exclude_patterns=["recipes/source", "out"],
    )
    gallery.build("dummy")
    assert source.joinpath("one.py").exists()
    assert source.joinpath("one.rst").exists()


SHORT = '"""\nTitle\n=====\n\nText.\n"""\nx = 1\n'


def test_a_page_that_sphinx_gallery_takes_for_current_is_made(site: Gallery) -> None:
    folder = site.root / "recipes"
    folder.mkdir()
    code = site.recipes.joinpath("adding.py").read_text()
    folder.joinpath("adding.py").write_text(code)
    folder.joinpath("adding.rst").write_text("Old\n===\n")
    mark = hashlib.md5(code.encode()).hexdigest()
    folder.joinpath("adding.py.md5").write_text(mark)
    site.build("dummy")
    assert "the total is 3" in folder.joinpath("adding.rst").read_text()


def test_sphinx_gallery_is_left_as_it_was(site: Gallery) -> None:
    before = gen_rst.execute_script, gen_rst.generate_file_rst
    site.build()
    assert (gen_rst.execute_script, gen_rst.generate_file_rst) == before


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"pages": []}',
        '{"pages": {"a.py": []}}',
        '{"pages": {"a.py": {"times": {}, "content": "", "result": []}}}',
    ],
)
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".made"
    path.write_text(text)
    assert Memory.read(path) == Memory()


def test_a_file_that_nobody_may_read_is_told_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.ipynb"
    missing = content_of([path])
    path.write_text("{}")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert content_of([path]) == missing

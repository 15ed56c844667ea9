"""Pages of recipes that are not made again, and those that are."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sphinx_gallery import gen_rst
from watchfiles import watch

from tests.helpers.gallery import RECIPE, SETTINGS, Gallery


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    """A gallery with two recorded recipes."""
    gallery.add("adding")
    gallery.add("other")
    return gallery


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
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = RECIPE.replace("A paragraph.", "New paragraph.")
    after_page(monkeypatch, "adding", lambda: site.write("adding", edit))
    assert "New paragraph" not in site.build().page("recipes/adding")
    build = site.build()
    assert "recipes/adding" in build.read
    assert "New paragraph" in build.page("recipes/adding")
    assert site.build().read == []


@pytest.mark.parametrize("text", ["", "[]", '{"pages": {"a": {}}}', "{"])
def test_a_damaged_memory_ends_no_build(site: Gallery, text: str) -> None:
    site.build()
    (site.root / "recipes/.made").write_text(text)
    site.write("adding", RECIPE.replace("A paragraph.", "New prose."))
    assert "New prose." in site.build().page("recipes/adding")


def test_a_build_that_was_interrupted_leaves_no_old_page(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    site.build()
    after_page(monkeypatch, "adding", interrupt)
    site.write("adding", RECIPE.replace("A paragraph.", "New prose."))
    with pytest.raises(KeyboardInterrupt):
        site.build()
    site.write("adding", RECIPE)
    assert "A paragraph." in site.build().page("recipes/adding")


@pytest.mark.slow
def test_what_a_list_says_of_an_edited_recipe_is_as_in_a_whole_build(site: Gallery) -> None:
    site.build()
    index = site.root / "recipes/index.rst"
    listed = index.read_text()
    text = RECIPE.replace("A paragraph.", "New prose.")
    tagged = f"{text}# sphinx_gallery_tags = ['quick']\n"
    titled = tagged.replace("Adding numbers", "Odding numbers")
    for edit, is_listed in ((text, False), (tagged, True), (titled, True)):
        site.write("adding", edit)
        assert site.build().warnings == ""
        assert (index.read_text() != listed) == is_listed
        listed = index.read_text()
        (site.root / "recipes/.made").unlink()  # now all pages are made
        site.build()
        assert index.read_text() == listed
    assert "New prose." in (site.root / "recipes/adding.rst").read_text()


def test_a_list_without_thumbnails_is_not_made_again(site: Gallery) -> None:
    by_name = {"within_subsection_order": "FileNameSortKey"}
    gallery_conf = {**SETTINGS["sphinx_gallery_conf"], **by_name}  # type: ignore[dict-item]
    site.configure(recorded_gallery_thumbnails=False, sphinx_gallery_conf=gallery_conf)
    site.build()
    listed = (site.root / "recipes/index.rst").read_text()
    site.write("adding", RECIPE.replace("Adding numbers", "Odding numbers"))
    built = site.build()
    assert (site.root / "recipes/index.rst").read_text() == listed
    assert "<h1>Odding numbers" in built.page("recipes/adding")


@pytest.mark.slow
def test_pages_of_removed_recipes_are_removed_in_sub_galleries_too(site: Gallery) -> None:
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
    out = site.build().out
    assert [path for path in out.rglob("*") if path.stem in ("below", "other")] == []
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


@pytest.mark.slow
def test_what_builds_at_each_change_comes_to_rest(site: Gallery) -> None:
    """As sphinx-autobuild does, which watches what builds make among the sources, too."""
    out = str(site.root / "out")  # it looks away there
    site.build()
    site.write("adding", RECIPE.replace("A paragraph.", "New prose."))
    for has_changed in (True, False):
        changes = watch(
            site.root,
            watch_filter=lambda _change, path: not path.startswith(out),
            rust_timeout=500,
            yield_on_timeout=True,
        )
        next(changes)  # from now on it watches
        site.build()
        assert bool(next(changes)) is has_changed
        changes.close()

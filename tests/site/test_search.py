"""The index of the search: what is written when pages change, and what browsers find in parts."""

import gzip
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from chromium import serve
from gallery import ROOT, Build, Gallery
from recipe_gallery import search

NAMES = ["basalt", "cobalt", "dolomite", "emerald", "feldspar", "garnet"]


@pytest.fixture
def site(gallery: Gallery) -> Iterator[Gallery]:
    """A site of eight pages, with templates and scripts of the project."""
    gallery.add("adding")
    for name in NAMES:
        write(gallery, name)
    lines = [
        "Site",
        "====",
        "",
        ".. toctree::",
        "",
        "   recipes/index",
        *(f"   {n}" for n in NAMES),
    ]
    (gallery.root / "index.rst").write_text("\n".join(lines) + "\n")
    for folder in ("_static", "_templates"):
        shutil.copytree(ROOT / folder, gallery.root / folder)
    gallery.configure(
        html_theme="pydata_sphinx_theme",
        html_static_path=["_static"],
        templates_path=["_templates"],
        html_sidebars={"**": []},
        recipe_gallery_pagefind=True,
    )
    return gallery


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that cuts the index of eight pages."""
    monkeypatch.setattr(search, "PART_PAGES", 3)


def write(gallery: Gallery, name: str, text: str = "Nothing else.") -> None:
    page = f"{name.title()}\n{'=' * len(name)}\n\nA stone. {text}\n"
    (gallery.root / f"{name}.rst").write_text(page)


def parts(build: Build) -> dict[str, set[str]]:
    """Return the texts of the pages in each part."""
    return {
        folder.name: {
            gzip.decompress(file.read_bytes()).decode() for file in folder.glob("fragment/*")
        }
        for folder in build.out.glob("pagefind*")
    }


def test_a_small_site_has_one_index(site: Gallery) -> None:
    build = site.build()
    texts = parts(build)
    assert list(texts) == ["pagefind"]
    assert len(texts["pagefind"]) == len(NAMES) + 3
    assert "data-parts" not in build.page("search")


def test_a_changed_page_is_indexed_again(site: Gallery) -> None:
    site.build()
    write(site, "garnet", "Vermilion.")
    [texts] = parts(site.build()).values()
    assert sum("Vermilion" in text for text in texts) == 1
    assert len(texts) == len(NAMES) + 3


@pytest.mark.usefixtures("in_parts")
def test_only_the_part_of_a_changed_page_is_written(site: Gallery) -> None:
    before = parts(site.build())
    assert len(before) == 4
    times = {path: path.stat().st_mtime_ns for path in site.root.glob("out/html/pagefind*")}
    write(site, "garnet", "Vermilion.")
    after = parts(site.build())
    changed = [name for name in after if after[name] != before[name]]
    assert len(changed) == 1
    written = [path.name for path, time in times.items() if path.stat().st_mtime_ns != time]
    assert written == changed


@pytest.mark.usefixtures("in_parts")
def test_a_page_written_again_with_the_same_text_is_not_indexed_again(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.build()
    monkeypatch.setattr(search, "_run_pagefind", lambda *_: pytest.fail("an index was written"))
    for name in NAMES:
        (site.root / f"{name}.rst").touch()
    assert set(site.build().read) == set(NAMES)


@pytest.mark.usefixtures("in_parts")
def test_parts_that_are_no_longer_needed_are_removed(site: Gallery) -> None:
    site.build()
    for name in NAMES[:4]:
        (site.root / f"{name}.rst").unlink()
    index = site.root / "index.rst"
    index.write_text(
        "\n".join(x for x in index.read_text().split("\n") if x.strip() not in NAMES[:4])
    )
    texts = parts(site.build())
    assert sorted(texts) == ["pagefind", "pagefind-1"]
    assert sum(len(each) for each in texts.values()) == 5


@pytest.mark.usefixtures("in_parts")
def test_a_part_that_was_lost_is_written_again(site: Gallery) -> None:
    before = parts(site.build())
    shutil.rmtree(site.root / "out/html/pagefind-2")
    assert parts(site.build()) == before


@pytest.mark.usefixtures("in_parts")
def test_an_index_that_is_kept_is_found_with_the_parts_it_has(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = parts(site.build())
    monkeypatch.setattr(search, "PART_PAGES", 1)
    write(site, "garnet", "Vermilion.")
    build = site.build(recipe_gallery_keep_search_index=True)
    assert parts(build) == before
    assert 'data-parts="4"' in build.page("search")


@pytest.mark.usefixtures("in_parts")
def test_readers_find_pages_of_all_parts(site: Gallery, browser: Browser) -> None:
    for name in NAMES:
        write(site, name, f"Found by {name}word.")
    build = site.build()
    assert len(parts(build)) == 4
    with serve(build.out) as address, browser.new_page() as page:
        page.goto(f"{address}search.html?q=stone")
        titles = page.locator("#search-results .search-title")
        expect(page.locator("#search-status")).to_have_text(f"{len(NAMES)} pages")
        assert sorted(titles.all_text_contents()) == [name.title() for name in NAMES]
        for name in NAMES:
            page.goto(f"{address}search.html?q={name}word")
            expect(titles).to_have_text([name.title()])
            titles.click()
            expect(page).to_have_url(f"{address}{name}.html")
            page.go_back()

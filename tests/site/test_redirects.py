"""Addresses that were published lead somewhere."""

import runpy
from pathlib import Path

from second_call.short_titles import list_short_titles
from sphinx_recorded_gallery.search.index import FILE_NAME
from tests.helpers.gallery import RECIPE, ROOT, Gallery
from tests.helpers.site_pages import LANGUAGES, SOURCE, read

LIST = ROOT / "tests/site/published_pages.txt"
REDIRECTS = runpy.run_path(str(ROOT / "conf.py"))["redirects"]


def test_every_published_page_is_there_or_redirected(languages_site: Path) -> None:
    lines = LIST.read_text(encoding="utf-8").splitlines()
    published = {line for line in lines if line and not line.startswith("#")}
    for language in LANGUAGES:
        folder = languages_site / language.code
        pages = [*folder.glob("*.html"), *folder.glob("recipes/*.html")]
        found = {path.relative_to(folder).with_suffix("").as_posix() for path in pages}
        assert published <= found
        missing = found - REDIRECTS.keys() - {"search"} - published
        assert not missing, f"add to {LIST}: {missing}"


def test_a_moved_page_leads_to_its_new_address(gallery: Gallery) -> None:
    template = ROOT / "_templates/redirect.html"
    gallery.root.joinpath("redirect.html").write_text(template.read_text())
    gallery.configure(redirect_html_template_file="redirect.html")
    gallery.write("adding", RECIPE)
    moved = {"old/name": "../recipes/adding.html#text"}
    gallery.add_extension("sphinx_reredirects", redirects=moved)
    page = (gallery.build().out / "old/name.html").read_text()
    assert 'url=../recipes/adding.html#text"' in page


def test_an_address_that_leads_to_no_page_is_told(gallery: Gallery) -> None:
    gallery.write("adding", RECIPE)
    moved = {
        "old/name": "../recipes/ading.html#text",
        "old/other": "https://a.org/recipes/ading.html",
        "older": "recipes/adding.html",
        "old/third": "nowhere.html",
    }
    gallery.add_extension("sphinx_reredirects", redirects=moved)
    warnings = gallery.build().warnings
    told = "conf.py: redirects leads 'old/name' to '../recipes/ading.html#text', no page; did you"
    assert f"{told} mean the one of recipes/adding?" in warnings
    told = "redirects leads 'old/third' to 'nowhere.html', no page; name a page that is there, as "
    assert f"{told}seen from old/third" in warnings
    assert warnings.count("redirects leads") == 2


def add_list_that_moved(gallery: Gallery) -> None:
    gallery.write("adding", RECIPE)
    gallery.add_extension("sphinx_reredirects", redirects={"recipes/index": "../index.html"})


def test_the_search_does_not_offer_a_list_that_moved(gallery: Gallery) -> None:
    add_list_that_moved(gallery)
    gallery.add_extension("sphinx_recorded_gallery.search")
    index = (gallery.build().out / FILE_NAME).read_text(encoding="utf-8")
    assert '"recipes/adding.html"' in index
    assert '"recipes/index.html"' not in index


def test_thumbnails_of_a_list_that_moved_are_not_translated(gallery: Gallery) -> None:
    add_list_that_moved(gallery)
    messages = (gallery.build("gettext").out / "recipes/index.pot").read_text(encoding="utf-8")
    assert 'msgid "All."' in messages
    assert "recipes/adding" not in messages


def test_redirects_lead_from_no_page_to_one(languages_site: Path) -> None:
    for source, target in REDIRECTS.items():
        path = (languages_site / "en" / source).parent / target.partition("#")[0]
        assert "://" in target or path.resolve().exists(), f"{source} leads to {target}, no page"
        is_made = source == "recipes/index"  # by Sphinx-Gallery; the front page lists the recipes
        assert is_made or not (ROOT / f"{source}.rst").exists(), f"{source} is a page"


def test_menus_lead_by_short_names_and_not_to_pages_that_moved(languages_site: Path) -> None:
    page = read(languages_site / SOURCE.code / "recipes/token_generation.html")
    names = [link.get_text() for link in page.select(".recipe-links a")]
    assert names
    assert set(names) <= set(list_short_titles().values())
    neighbours = [link["href"] for link in page.select(".neighbours a")]
    assert neighbours == ["compile_modes.html", "varying_sizes.html"]
    menu = [link["href"] for link in page.select(".bd-header .nav-internal")]
    assert "../index.html#recipes" in menu
    moved = {f"../{name}.html" for name in REDIRECTS} | {"index.html"}
    assert moved.isdisjoint([*menu, *(link["href"] for link in page.select(".parents a"))])


def test_on_the_front_page_its_own_menu_leads_to_the_recipes(languages_site: Path) -> None:
    for language in LANGUAGES:
        page = read(languages_site / language.code / "index.html")
        links = [link["href"] for link in page.select(".nav-internal")]
        assert "#recipes" in links
        assert "" not in links
        rows = page.select_one("#recipes").find_parent("section").select(".recipe-rows > li")
        assert len(rows) == len(list_short_titles())

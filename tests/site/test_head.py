"""What search engines, previews of links and browsers are told, and the buttons of a recipe."""

import re
import runpy
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from bs4 import BeautifulSoup

from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.recipes.recording import read_recording
from tests.helpers.gallery import ROOT, Gallery
from tests.helpers.site_pages import (
    LANGUAGES,
    NAMES,
    SOURCE,
    by_language,
    by_recipe_and_language,
    read,
)

REDIRECTS = runpy.run_path(str(ROOT / "conf.py"))["redirects"]
SITE = "https://example.org/torch-compile-recipes/"


def meta(page: BeautifulSoup, name: str) -> str:
    tag = page.find("meta", attrs={"name": name}) or page.find("meta", property=name)
    return tag["content"] if tag else ""


@by_language
def test_every_page_has_a_title_and_a_description_of_its_own(
    languages_site: Path, language: Language
) -> None:
    folder = languages_site / language.code
    seen: dict[str, str] = {}
    for path in [*folder.glob("*.html"), *folder.glob("recipes/*.html")]:
        name = path.relative_to(folder).as_posix()
        if path.stem == "search" or name.removesuffix(".html") in REDIRECTS:
            continue
        page = BeautifulSoup(path.read_text().partition("</head>")[0], "html.parser")
        assert page.title.get_text().endswith("Second Call")
        description = meta(page, "description")
        assert 15 < len(description) < 400, path
        for text in (page.title.get_text(), description):
            assert text not in seen, f"{path} and {seen[text]}"
            seen[text] = path.name
        assert meta(page, "og:title")
        assert meta(page, "og:description") == description
        address = page.find("link", rel="canonical")["href"]
        assert meta(page, "og:url") == address
        name = name.removesuffix("index.html")
        assert address == f"{SITE}{language.code}/{name}"
        others = {each["hreflang"]: each["href"] for each in page.select("link[hreflang]")}
        assert others.pop("x-default") == SITE + (f"{SOURCE.code}/{name}" if name else "")
        assert others == {each.tag: f"{SITE}{each.code}/{name}" for each in LANGUAGES}
        assert len(page.select("meta[name=viewport]")) == 1


@by_recipe_and_language
def test_a_recipe_has_a_picture_leads_to_colab_and_source_and_fills_in_reports(
    languages_site: Path, name: str, language: Language
) -> None:
    recipe_page = read(languages_site / language.code / f"recipes/{name}.html")
    # charts have taken the place of most; the site's own picture has no words of a language
    assert meta(recipe_page, "og:type") == "article"
    own = [image["src"] for image in recipe_page.select("article img[src*=sphx_glr_]")]
    expected = Path(own[0]).name if own else "_static/preview.png"
    picture = meta(recipe_page, "og:image")
    assert picture.endswith(f"/{expected}")
    assert (languages_site / picture.removeprefix(SITE)).exists()
    repository = "github.com/example/torch-compile-recipes"
    colab = f"https://colab.research.google.com/{repository.replace('.com', '')}/blob/notebooks"
    links = [link["href"] for link in recipe_page.select(".recipe-actions a")]
    notebook = f"{colab}/{language.code}/recipes/{name}.ipynb"
    assert links[2:] == [notebook, "../pytorch_2_15.html#newer-pytorch"]
    foot = [link["href"] for link in recipe_page.select(".recipe-foot a")]
    figures, problem, source, terms = foot
    assert terms == "../terms.html"
    assert source == f"https://{repository}/blob/main/recipes_source/{name}.py"
    assert (ROOT / f"recipes_source/{name}.py").exists()
    facts = read_recording(ROOT / f"recordings/{name}.ipynb").facts
    for link, wanted in ((figures, "figures.yml"), (problem, "bug.yml")):
        known = {key: value[0] for key, value in parse_qs(urlsplit(link).query).items()}
        assert known["page"] == f"{SITE}{language.code}/recipes/{name}.html"
        assert known["language"] == language.name
        assert known["commit"] == facts["commit"]
        assert known["gpu"] == facts["device"]["gpu"]
        assert f"PyTorch {facts['versions']['torch']}" in unquote(known["versions"])
        assert known["template"] == wanted
        form = (ROOT / ".github/ISSUE_TEMPLATE" / known.pop("template")).read_text()
        for field in known:
            assert f"id: {field}\n" in form


def test_no_page_holds_a_script_or_a_style(languages_site: Path) -> None:
    moved = tuple(f"/{name}.html" for name in REDIRECTS)
    paths = [path for path in languages_site.rglob("*.html") if "_static" not in path.parts]
    paths = [path for path in paths if not path.as_posix().endswith(moved)]
    for path in paths:
        text = path.read_text()
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
        assert "default-src 'self'" in policy
        assert "unsafe-inline" not in policy
        assert "'unsafe-eval'" not in policy
        assert re.findall(r"<style\b|<[a-z][^>]*\sstyle=|<script(?![^>]*\ssrc=)", text) == []
    assert len(paths) > 30


def test_crawlers_find_all_pages(languages_site: Path) -> None:
    assert f"Sitemap: {SITE}sitemap.xml" in (languages_site / "robots.txt").read_text()
    index = (languages_site / "sitemap.xml").read_text()
    for language in LANGUAGES:
        assert f"{SITE}{language.code}/sitemap.xml" in index
        pages = (languages_site / language.code / "sitemap.xml").read_text()
        for name in NAMES:
            assert f"<loc>{SITE}{language.code}/recipes/{name}.html</loc>" in pages


def test_links_of_the_repository_pages_lead_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md")]:
        text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            assert "://" in link or (path.parent / link).exists(), f"{path.name}: {link}"


def test_the_description_of_a_page_is_escaped(gallery: Gallery) -> None:
    index = gallery.root / "index.rst"
    index.write_text('Site\n====\n\nA "<b>" in a text.\n\n.. toctree::\n\n   recipes/index\n')
    gallery.configure(templates_path=[str(ROOT / "_templates")])
    page = gallery.build().page("index")
    assert 'name="description" content="A “&lt;b&gt;” in a text."' in page

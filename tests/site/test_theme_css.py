"""The theme's style sheet without what no page needs, as .github/scripts/theme_css.py made it."""

import gzip
import re
import runpy
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import LANGUAGES, NAMES

SCRIPT = runpy.run_path(str(ROOT / ".github/scripts/theme_css.py"))
REMEDY = "`make html`, then .venv/bin/python .github/scripts/theme_css.py"
# Bytes of a first visit, compressed
MOST_SENT = 60_000
# The longest recipe takes more where a letter is three bytes: 24,400 of Korean are words and code.
MOST_SENT_OF = {("ko", "cuda_graphs"): 63_000, ("zh_CN", "cuda_graphs"): 62_000}
# What a browser asks for by itself: not the pages that links lead to, nor what a script may load
LOADED = re.compile(
    r'<(?:script|img)[^>]* src="([^"?]+)|<link rel="(?:stylesheet|icon)"[^>]* href="([^"?]+)'
)
STYLE = (ROOT / "_static/theme.css").read_text(encoding="utf-8")


def test_the_style_sheet_was_made_from_the_pinned_theme() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = re.search(r"^pydata-sphinx-theme==(.*)$", pins, re.MULTILINE)
    assert f"pydata-sphinx-theme {pinned[1]} " in STYLE.partition("\n")[0], REMEDY


def test_the_style_sheet_has_each_rule_that_a_page_needs(languages_site: Path) -> None:
    pages = SCRIPT["read_pages"](languages_site)
    whole = SCRIPT["read_styles"]()
    needed, there = (SCRIPT["shorten"](css, pages).splitlines() for css in (whole, STYLE))
    assert [rule for rule in needed if "}" in rule and rule not in there] == [], REMEDY


def list_loaded(page: Path) -> set[Path]:
    """Return the files that a browser with scripts loads with a page."""
    text = re.sub("<noscript>.*?</noscript>", "", page.read_text(encoding="utf-8"))
    return {(page.parent / (script or link)).resolve() for script, link in LOADED.findall(text)}


@pytest.mark.parametrize("language", [each.code for each in LANGUAGES])
@pytest.mark.parametrize("name", NAMES)
def test_a_first_visit_of_a_recipe_is_light(languages_site: Path, language: str, name: str) -> None:
    page = languages_site / language / f"recipes/{name}.html"
    loaded = list_loaded(page)
    names = {path.name for path in loaded}
    assert {"pages.css", "site.js"} < names
    assert "recipe_search.js" not in names  # whoever opens the search loads it
    sent = sum(len(gzip.compress(path.read_bytes())) for path in {page, *loaded})
    assert sent <= MOST_SENT_OF.get((language, name), MOST_SENT)


def test_nothing_is_published_that_no_page_loads(languages_site: Path) -> None:
    for language in LANGUAGES:
        site = languages_site / language.code
        files = {path.name for path in (site / "_static").rglob("*") if path.is_file()}
        assert not [name for name in files if name.endswith((".map", ".woff2", ".html"))]
        unused = {"bootstrap.js", "pydata-sphinx-theme.js", "pygments.css", "theme.css"}
        assert not unused & files
        assert not [path for path in site.rglob("*") if path.is_dir() and not any(path.iterdir())]

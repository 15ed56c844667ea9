"""The theme's style sheet without what no page needs, as .github/scripts/theme_css.py made it."""

import gzip
import re
import runpy
from pathlib import Path

from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import LANGUAGES, NAMES

SCRIPT = runpy.run_path(str(ROOT / ".github/scripts/theme_css.py"))
REMEDY = "`make html`, then .venv/bin/python .github/scripts/theme_css.py"
MOST_SENT = 75_000  # bytes of a first visit, compressed; Korean takes 4,000 more than English
STYLE = (ROOT / "_static/theme.css").read_text(encoding="utf-8")


def test_the_style_sheet_was_made_from_the_pinned_theme() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = re.search(r"^pydata-sphinx-theme==(.*)$", pins, re.MULTILINE)
    assert f"pydata-sphinx-theme {pinned[1]} " in STYLE.partition("\n")[0], REMEDY


def test_the_style_sheet_has_each_rule_that_a_page_needs(languages_site: Path) -> None:
    whole = SCRIPT["read_styles"]()
    needed, there = (SCRIPT["shorten"](css, languages_site).splitlines() for css in (whole, STYLE))
    assert [rule for rule in needed if "}" in rule and rule not in there] == [], REMEDY


def test_recipes_are_light_and_nothing_is_published_that_no_page_loads(
    languages_site: Path,
) -> None:
    for language in LANGUAGES:
        site = languages_site / language.code
        files = {path for path in (site / "_static").rglob("*") if path.is_file()}
        for name in NAMES:
            recipe = f"recipes/{name}.html"
            text = (site / recipe).read_text(encoding="utf-8")
            text = re.sub("<meta[^>]*>", "", text)  # readers do not load the picture for previews
            names = {path: f"_static/{path.relative_to(site / '_static')}" for path in files}
            loaded = {path for path in files if names[path] in text}
            sent = sum(len(gzip.compress(path.read_bytes())) for path in {site / recipe, *loaded})
            assert sent < MOST_SENT, recipe
        left = {path.name for path in files - loaded}
        assert not [name for name in left if name.endswith((".map", ".woff2", ".html"))], left
        assert not {"bootstrap.js", "pydata-sphinx-theme.js", "pygments.css"} & left
        assert not [path for path in site.rglob("*") if path.is_dir() and not any(path.iterdir())]

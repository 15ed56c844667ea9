"""The theme's style sheet without what no page needs, as .github/scripts/theme_css.py made it."""

import gzip
import re
import runpy
from pathlib import Path

import pytest

from gallery import ROOT
from site_pages import LANGUAGES

SCRIPT = runpy.run_path(str(ROOT / ".github/scripts/theme_css.py"))
REMEDY = "`make html`, then .venv/bin/python .github/scripts/theme_css.py"
STYLE = (ROOT / "_static/theme.css").read_text(encoding="utf-8")
WORDS = {"p", "div", "a", "nav", "open"}


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("p{a:b}.x{a:b}", "p{a:b}\n"),
        (".nav,.x .nav,.nav>p,a.x{a:b}", ".nav,.nav>p{a:b}\n"),
        ("p:not(.x):hover,[data-theme=dark] p::before{a:b}", None),
        (":is(.x,p)>a,p:has(> .x, (b)){a:b}", None),  # what is in brackets may be anything
        ("*,:root,html .x{a:b}", "*,:root{a:b}\n"),
        ("#open{a:b}#shut{a:b}", "#open{a:b}\n"),
        ("svg,table{a:b}", ""),
        ("@media print{.x{a:b}p{a:b}}@media print{.x{a:b}}", "@media print{p{a:b}}\n"),
        ("@supports (a:b){@media x{p{a:b}}}", "@supports (a:b){@media x{p{a:b}}}\n"),
        (
            '@charset "x";@font-face{src:url(x)}@import url(x);@keyframes k{from{a:b}}p{a:b}',
            "p{a:b}\n",
        ),
        ("@property --v{syntax:'*'}", None),
        ('p{content:"}{"}a{b:c}', None),
        (
            "/* p{} */p{a:url(data:image/svg+xml;utf8,<x>)}",
            "p{a:url(data:image/svg+xml;utf8,<x>)}\n",
        ),
        (".a\\:b{c:d}", ""),
        (
            ":root{--a:1;--b:var(--a);--c:var(--d)}p{x:var(--b)}",
            ":root{--a:1;--b:var(--a)}p{x:var(--b)}",
        ),
        (":root{--a:1}p{--a:2;x:y}", "p{x:y}"),
    ],
)
def test_rules_stay_that_a_page_can_need(css: str, kept: str | None) -> None:
    assert "".join(SCRIPT["purge"](css, WORDS).split()) == "".join(
        (css if kept is None else kept).split()
    )


def test_variables_stay_that_other_style_sheets_refer_to() -> None:
    assert SCRIPT["purge"]("p{--a:1;--b:2}", WORDS, "a{x:var( --b, 3)}") == "p{--b:2}\n"


def test_words_of_pages_are_found() -> None:
    page = '<p class="nav open"\n id="x"><svg><a class=\'no\'>div</a></svg></p>'
    assert SCRIPT["find_words"](page) == {"p", "nav", "open", "x", "svg", "a"}


def test_the_style_sheet_was_made_from_the_pinned_theme() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = re.search(r"^pydata-sphinx-theme==(.*)$", pins, re.MULTILINE)
    assert pinned
    assert f"pydata-sphinx-theme {pinned[1]} " in STYLE.partition("\n")[0], REMEDY


def test_the_style_sheet_has_each_rule_that_a_page_needs(languages_site: Path) -> None:
    whole = SCRIPT["STYLE"].read_text(encoding="utf-8")
    needed, there = (SCRIPT["shorten"](css, languages_site).splitlines() for css in (whole, STYLE))
    assert [rule for rule in needed if "}" in rule and rule not in there] == [], REMEDY


def test_a_page_is_light_and_nothing_is_published_that_no_page_loads(languages_site: Path) -> None:
    for language in LANGUAGES:
        site = languages_site / language.code
        recipe = "recipes/compile_modes.html"
        text = (site / recipe).read_text(encoding="utf-8")
        files = {path for path in (site / "_static").rglob("*") if path.is_file()}
        loaded = {path for path in files if f"_static/{path.relative_to(site / '_static')}" in text}
        sent = sum(len(gzip.compress(path.read_bytes())) for path in {site / recipe, *loaded})
        assert sent < 80_000
        left = {path.name for path in files - loaded}
        assert not [name for name in left if name.endswith((".map", ".woff2", ".html"))], left
        assert not {"bootstrap.js", "pydata-sphinx-theme.js", "pygments.css"} & left
        assert not [path for path in site.rglob("*") if path.is_dir() and not any(path.iterdir())]

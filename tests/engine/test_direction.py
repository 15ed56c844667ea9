"""Languages written from right to left: on pages, in notebooks and styles, and their marks."""

import nbformat
import pytest
from bs4 import BeautifulSoup

from gallery import Gallery
from recipe_gallery.direction import marks_of, mirror, write_directions
from recipe_gallery.languages import Language
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.checks import rules  # noqa: F401 (fills CHECKS)
from recipe_gallery.translate.checks.message import CHECKS, Message

LANGUAGES = {tag: Language(code=tag, name=tag) for tag in ("en", "ko", "ar", "he")}


def direct(body: str, page: str = "ar") -> str:
    start = f'<html lang="{page}">'
    made = write_directions(start + body, LANGUAGES)
    return made.partition(">")[2]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p lang="en" class="a">x</p>', '<p dir="ltr" lang="en" class="a">x</p>'),
        ('<p class="a" lang="he">x</p>', '<p dir="rtl" class="a" lang="he">x</p>'),
        ('<p lang="fr">x</p>', '<p lang="fr">x</p>'),  # not a language of the site
        ('<p lang="en" dir="rtl">x</p>', '<p lang="en" dir="rtl">x</p>'),
        ('<a hreflang="en">x</a>', '<a hreflang="en">x</a>'),
        ('<code class="x">a</code>', '<code dir="ltr" class="x">a</code>'),
        ("<pre>\n&lt;pre&gt;</pre>", '<pre dir="ltr">\n&lt;pre&gt;</pre>'),
        ("<math><mi>x</mi></math>", '<math dir="ltr"><mi>x</mi></math>'),
        ('<div class="highlight">', '<div dir="ltr" class="highlight">'),
        ('<div class="highlight-default">', '<div class="highlight-default">'),
        ('<span class="measured">', '<span dir="auto" class="measured">'),
        ("<preface></preface>", "<preface></preface>"),
        ('<script>a = "<code>"</script>', '<script>a = "<code>"</script>'),
        ("<style>a > code {}</style><code>", '<style>a > code {}</style><code dir="ltr">'),
        ("a < b, <!-- <b> -->", "a < b, <!-- <b> -->"),
    ],
)
def test_code_and_other_languages_say_their_direction(html: str, expected: str) -> None:
    assert direct(html) == expected


def test_a_page_from_left_to_right_says_only_what_is_not() -> None:
    page = '<html lang="en"><code>x</code><p lang="ko">x</p><bdi lang="ar">x</bdi>'
    assert write_directions(page, LANGUAGES) == page.replace("<bdi", '<bdi dir="rtl"')
    assert write_directions('<html class="x" lang="ar">', LANGUAGES) == (
        '<html dir="rtl" class="x" lang="ar">'
    )
    assert write_directions("<code>", LANGUAGES) == "<code>"  # a part of a page


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("a{margin-left:1px}", "a{margin-inline-start:1px}"),
        (
            "a { color: red; border-right-width: 0 }",
            "a { color: red; border-inline-end-width: 0 }",
        ),
        ("a{left:0;right:auto}", "a{inset-inline-start:0;inset-inline-end:auto}"),
        ("a{text-align:right;float:left}", "a{text-align:end;float:inline-start}"),
        ("a{border-top-left-radius:1px}", "a{border-start-start-radius:1px}"),
        (
            "a{padding:1px 2px 3px calc(1px + (2px * 2)) !important}",
            "a{padding-block:1px 3px!important;padding-inline:calc(1px + (2px * 2)) 2px!important}",
        ),
        ("a{border-width:0 0 0 .2rem}", "a{border-block-width:0 0;border-inline-width:.2rem 0}"),
        ("a{translate:-100%}b{translate:100%}", "a{translate:100%}b{translate:-100%}"),
        ("a{margin:1px 2px}", "a{margin:1px 2px}"),
        ("a{margin:1px 2px 3px 2px}", "a{margin:1px 2px 3px 2px}"),
        (".left{--x-left:1px}a:left{}", ".left{--x-left:1px}a:left{}"),
    ],
)
def test_a_style_sheet_is_mirrored(css: str, expected: str) -> None:
    assert mirror(css) == expected
    assert mirror(expected.replace("translate", "scale")) == expected.replace("translate", "scale")


def refused(language: str, translation: str) -> list[str]:
    return [
        problem
        for kind in (Kind.PROSE, Kind.COMMENT, Kind.LABEL)
        for check in CHECKS
        if check.name in ("hidden-character", "comment") and kind in check.of
        for problem in check.run(
            Message(
                text="Uses x",
                translation=translation,
                kind=kind,
                language=LANGUAGES.get(language) or Language(code=language, name=language),
            )
        )
    ]


@pytest.mark.parametrize(
    ("language", "marks"),
    [
        ("ar", "\u200e\u200f\u200c\u200d"),
        ("he", "\u200e\u200f\u200c\u200d"),
        ("ckb", "\u200e\u200f\u200c\u200d"),
        ("hi", "\u200c\u200d"),
        ("ko", ""),
        ("ru", ""),
    ],
)
def test_a_language_may_use_the_marks_of_its_script(language: str, marks: str) -> None:
    assert marks_of(Language(code=language, name=language)) == marks
    for mark in "\u200e\u200f":
        assert bool(refused(language, f"a {mark}x")) == (mark not in marks)
    # what reorders text without being a letter
    for other in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200b":
        assert refused(language, f"a {other}x"), f"U+{ord(other):04X}"


def test_a_page_in_arabic_runs_from_right_to_left(site: Gallery) -> None:
    site.set_languages("ar")
    translations = {
        # marks and letters stand beside markup without a space
        "A first sentence with ``code``.": "\u200fجملة بـ``code``.",
        "Why this is here.": "السبب \u200f(x)\u200e.",
    }
    site.translate("index", {}, "ar")
    site.translate("recipes", translations, "ar")
    built = site.build(language="ar")
    assert built.warnings == ""
    page = BeautifulSoup(built.page("recipes/adding"), "html.parser")
    assert page.html["dir"] == "rtl"
    sentence = next(p for p in page.select("p") if "جملة" in p.text)
    assert "dir" not in sentence.attrs
    assert sentence.code["dir"] == "ltr"
    english = next(p for p in page.select("p") if p.text == "A paragraph.")
    assert (english["lang"], english["dir"]) == ("en", "ltr")
    assert all(block["dir"] == "ltr" for block in page.select("pre, div.highlight, math"))
    assert "# السبب \u200f(x)\u200e." in page.select_one("div.highlight").text
    cells = nbformat.read(built.out / "recipes/adding.ipynb", as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert all(text.startswith('<div dir="rtl">\n\n') for text in texts)
    assert all(text.endswith("\n\n</div>") for text in texts)
    script = (built.out / "recipes/adding.py").read_text(encoding="utf-8")
    assert "<div" not in script
    assert "جملة" in script

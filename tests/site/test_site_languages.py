"""The site in its languages: complete, the same code, the same pages and sections."""

import re
import runpy
import subprocess
import sys
import warnings
from itertools import chain
from pathlib import Path

import nbformat
import pytest
from bs4 import Comment

from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.recipes.fingerprint import fingerprint_code
from sphinx_recorded_gallery.translate.catalogs import find_catalogs, line_of, read_catalog
from sphinx_recorded_gallery.translate.pot import read_pots
from sphinx_recorded_gallery.translate.update_po import plan_update
from tests.helpers.gallery import ROOT
from tests.helpers.pseudo import PSEUDO_CODE, make_pseudo_catalogs
from tests.helpers.site_pages import LANGUAGES, RECIPES, by_translation, read

REDIRECTS = runpy.run_path(str(ROOT / "conf.py"))["redirects"]

# English that a reader of every language meets on purpose, and why.
UNTRANSLATED = {
    "code, pre, kbd": "code and names of keys",
    ".recorded-output, .recorded-data, svg text.case": "what programs print and publish: data",
    "math": "functions such as max",
    ".language-switcher, .name-of-language": "languages have names of their own",
    "script, style, template": "not read",
    ".provenance dd": "names of devices, measured values",
    "p.copyright": "whose work it is",
    ".glossary-table [lang]": "terms, which the glossary has in each language",
}
SHOWN_BY_SCRIPTS = {"data-done", "data-failed", "data-fold", "data-labels", "data-name", "data-one"}
SHOWN_BY_SCRIPTS |= {"data-several", "data-two", "data-minutes", "data-short", "data-long"}
WHOLE = ("ko", "zh_CN")  # others are published at any share
NAMES = re.compile(
    # a role :term: without other words keeps those of the glossary in accented English
    r"Second Call|NVIDIA H200|Adam|CUDA(?: graph)?|NumPy|Python|PyTorch|torchvision|transformers"
    r"|Triton|UTC|MiB|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?= \d)"
    r"|(?<=\d)\s(?:[nµm]?s|[kMGT]?B(?:/s)?)(?!\w)"  # units
)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_the_code_is_the_same_in_every_language(languages_site: Path, recipe: Path) -> None:
    codes, texts, programs = set(), set(), set()
    for language in LANGUAGES:
        page = languages_site / language.code / "recipes" / recipe.stem
        cells = nbformat.read(page.with_suffix(".ipynb"), as_version=4).cells
        code = [fingerprint_code(each.source) for each in cells if each.cell_type == "code"]
        codes.add(tuple(code))
        texts.add("".join(cell.source for cell in cells))
        script = page.with_suffix(".py").read_text(encoding="utf-8")
        programs.add(fingerprint_code(script, is_module=True))
    assert (len(codes), len(programs), len(texts)) == (1, 1, len(LANGUAGES))


@by_translation
def test_catalogs_are_in_one_form(language: Language) -> None:
    """That what they say is right is for `make check`, that nothing is left for a release.

    Who changes an English text may not speak the other languages: what is left is told here, as a
    warning, and `make check-po COMPLETE=1` asks for it.
    """
    project = load_project(ROOT)
    paths = find_catalogs(project, language.code)
    assert len(paths) > len(RECIPES)
    catalogs = {name: read_catalog(path) for name, path in paths.items()}
    for name, catalog in catalogs.items() if language.code in WHOLE else ():
        left = catalog.fuzzy_entries() + catalog.untranslated_entries()
        if left:
            place = f"{paths[name]}:{line_of(left[0])}"
            text = f"{place}: {len(left)} messages left to translate, as {left[0].msgid!r}"
            warnings.warn(text, stacklevel=1)
    # each in the one form that update-po writes
    made, _told = plan_update(catalogs, read_pots(project), language=language.code)
    texts = {name: path.read_text(encoding="utf-8").rstrip("\n") for name, path in paths.items()}
    assert [name for name in paths if str(made[name]).rstrip("\n") != texts[name]] == []


def test_the_switcher_leads_to_the_same_page_and_section(languages_site: Path) -> None:
    ids: dict[str, dict[str, list[str]]] = {}
    for language in LANGUAGES:
        folder = languages_site / language.code
        for path in sorted(folder.rglob("*.html")):
            name = path.relative_to(folder).as_posix()
            if "_static" in path.parts or name.removesuffix(".html") in REDIRECTS:
                continue
            page = read(path)
            assert not page.find(string=re.compile(r"%\(\w+\)s")), (
                f"{path}: a place that nothing filled"
            )
            ids.setdefault(name, {})[language.code] = [
                section["id"] for section in page.select("article section[id]")
            ]
            switchers = page.select(".language-switcher")
            assert switchers  # in the header, and again in the menu of narrow windows
            links = [switcher.select("a") for switcher in switchers]
            for link, target in zip(chain(*links), LANGUAGES * len(links), strict=True):
                assert link.get_text() == target.name
                led_to = (path.parent / link["href"]).resolve()
                assert led_to == (languages_site / target.code / name).resolve()
                assert led_to.exists()
                assert (link.get("aria-current") == "true") == (target == language)
            assert page.html["lang"] == language.tag
            tags = [link["hreflang"] for link in page.select('link[rel="alternate"]')]
            if page.select('meta[name="robots"][content*="noindex"]'):
                assert tags == []  # search engines do not look at them
                continue
            assert sorted(tags) == sorted([*(each.tag for each in LANGUAGES), "x-default"])
    for name, by_language in ids.items():
        assert set(by_language) == {language.code for language in LANGUAGES}, name
        assert len({tuple(sections) for sections in by_language.values()}) == 1, name


@pytest.mark.nightly  # another build of the whole site, in accented English
def test_no_text_of_a_reader_is_left_out_of_the_catalogs(languages_site: Path) -> None:
    root, locale = languages_site.parents[1], "_build/pseudo/locale"
    out = root / "_build/pseudo/html"
    make_pseudo_catalogs(load_project(root), root / "_build/gettext", root / locale)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html"]
    command += ["-D", f"language={PSEUDO_CODE}", "-D", f"locale_dirs={locale}", ".", str(out)]
    command += ["-D", "suppress_warnings=recorded_gallery.language"]  # of no list
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    left = set()
    for path in out.rglob("*.html"):
        if "_static" in path.parts:
            continue
        page = read(path)
        for found in page.select(", ".join(UNTRANSLATED)):
            found.decompose()
        texts = [text for text in page.find_all(string=True) if type(text) is not Comment]
        for tag in page.find_all(True):
            if tag.name != "meta":  # a description repeats the first paragraph
                names = ("alt", "title", "aria-label", "placeholder", "content")
                texts += [tag[name] for name in names if tag.get(name)]
            for name in tag.attrs.keys() & SHOWN_BY_SCRIPTS:
                value = re.sub(r"%\(\w+\)s", "", tag[name])
                is_json = value.startswith("{")
                texts += re.findall(r'"([^"]+)"(?=[},])', value) if is_json else [value]
        for text in texts:
            words = NAMES.sub("", text)
            if re.search(r"\b[A-Za-z]{2,}\b", words) and text.strip() != "html":
                left.add((path.name, text.strip()))
    assert left == set()

"""Catalogs that would hurt somebody: what each of them once did, and that it does it no more.

Whoever finds another one adds it here. Its author changes nothing but a ``.po``.
"""

import ast
import re
import zlib
from contextlib import nullcontext
from pathlib import Path

import jupytext
import nbformat
import polib
import pytest
from markdown_it import MarkdownIt

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.pages.downloads import check_program
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from tests.helpers.gallery import RECIPE, Build, Gallery
from tests.helpers.measured_recipe import add

pytestmark = pytest.mark.slow  # a build for each
PAGE = "recipes/adding"
PROSE = "A paragraph."
COMMENT = "Why this is here."
HEADER = 'msgid ""\nmsgstr "Language: ko\\nContent-Type: text/plain; charset=UTF-8\\n"\n\n'


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    (site.root / "secret.txt").write_text("opensesame")
    site.configure(
        recorded_gallery_repository_url="https://example.org/repo", gettext_compact=False
    )
    return site


def attack(site: Gallery, *entries: polib.POEntry, domain: str = PAGE) -> Build:
    """Build the site with a catalog of these messages."""
    path = site.translate(domain, {})
    catalog = polib.pofile(str(path))
    catalog.extend(entries)
    catalog.save()
    return site.build(language="ko")


def say(text: str, translation: str, **fields: object) -> polib.POEntry:
    return polib.POEntry(msgid=text, msgstr=translation, **fields)


def program(site: Gallery) -> str:
    """Return what the script does, as Python reads it from the bytes that were written."""
    return ast.dump(ast.parse((site.root / f"out/html/{PAGE}.py").read_bytes()))


def texts(site: Gallery) -> str:
    cells = nbformat.read(site.root / f"out/html/{PAGE}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


# S1 and S2: a line of text that Python reads


def test_no_title_declares_an_encoding_in_which_a_comment_is_code(site: Gallery) -> None:
    site.build(language="ko")
    harmless = program(site)
    evil = say(COMMENT, r"까닭 \u000aimport os; os._exit(7) #+AAo-import os")
    encodings = ("raw-unicode-escape", "unicode_escape", "utf-7", "hz")
    declared = ["(coding: x)", *(f"(encoding: {each})" for each in encodings)]
    for words in (*declared, "(encoding=latin-1)", "vim: fileencoding=utf-7"):
        attack(site, say("Adding numbers", f"수 더하기 {words}"), evil)
        assert "_" in words or f"수 더하기 {words}" in texts(site)  # words are words
        assert program(site) == harmless, words


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (b"import os", "is another program than the example"),
        (b"# coding: x", "is not valid Python: unknown encoding: x"),
        (b"\xff", "is not valid Python"),
    ],
)
def test_no_script_is_written_that_does_something_else(
    site: Gallery, script: bytes, told: str
) -> None:
    recipe = load_recipe(site.recipes / "adding.py")
    with pytest.raises(GalleryError, match=re.escape(told)):
        check_program(script, recipe)


@pytest.mark.parametrize(
    ("script", "is_same"),
    [
        ("# text\n{0}\n\n# more\n{1}\n", True),
        ("{0} # a translated comment\n{1}\n", True),
        ("# text\r{0}\n{1}\n", True),
        ("\ufeff{0}\n{1}\n", True),
        ("  # text\n# \x0c\u2028import os\n{0}\n{1}\n", True),
        ("#\0\n{0}\n{1}\n", False),
        ("# text\rimport os\n{0}\n{1}\n", False),
        ("{0}\nimport os\n{1}\n", False),
        ("{0}\n{1}\nimport os", False),
        ("{1}\n{0}\n", False),
        ("{0}\n", False),
        ("if 0:\n {0}\n{1}\n", False),
        ("'''\n{0}\n'''\n{1}\n", False),
    ],
)
def test_a_script_is_its_cells_and_comments(tmp_path: Path, script: str, is_same: bool) -> None:
    path = tmp_path / "adding.py"
    path.write_text('"""\nAdding\n======\n"""\n\nx = 1\n\n# %%\n# More.\n\ny = [x]\n')
    recipe = load_recipe(path)
    codes = {cell.number: cell.source for cell in recipe.cells}
    assert [*codes.values()] == ["x = 1", "y = [x]"]
    text = script.format(*codes.values()).encode()
    refused = pytest.raises(GalleryError, match=r"another program|not valid Python")
    with nullcontext() if is_same else refused:
        check_program(text, recipe)


def test_a_piece_of_code_that_changed_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "adding.py"
    path.write_text('"""\nAdding\n======\n"""\n\nx = 1  # one\n')
    recipe = load_recipe(path)
    check_program(b"x = 1  # eins\n", recipe)
    with pytest.raises(GalleryError, match="another program"):
        check_program(b"x = 2  # eins\n", recipe)
    with pytest.raises(GalleryError, match="is not valid Python"):
        check_program(b"x =\n", recipe)


# S3: plurals


@pytest.mark.parametrize("plural", ["x", '"><img src=//evil.example>'])
def test_a_plural_form_brings_nothing_to_a_page(site: Gallery, plural: str) -> None:
    evil = '"><img src=//evil.example>'
    build = attack(
        site,
        polib.POEntry(msgid="Notebook", msgid_plural=plural, msgstr_plural={0: evil, 1: evil}),
        domain="sphinx_recorded_gallery",
    )
    assert "<img src=//" not in build.page(PAGE)
    assert "plural forms, which are not used here" in build.warnings
    site.translate("sphinx_recorded_gallery", {})
    build = attack(
        site,
        polib.POEntry(
            msgid=PROSE,
            msgid_plural=f"{PROSE} :download:`conf.py`",
            msgstr_plural={0: "문단 :download:`conf.py`"},
        ),
    )
    assert "_downloads" not in build.page(PAGE)
    assert "plural forms, which are not used here" in build.warnings


# S4 to S6: checks that are switched off

EVIL = {
    "file": ":download:`conf.py`",
    "script": "`여기 <javascript:alert(1)>`__",
    "link": "https://evil.example",
    "block": "문단\n\n.. include:: secret.txt",
    "table": "문단\n\n.. csv-table::\n   :file: secret.txt",
}


def no_harm(site: Gallery, build: Build) -> None:
    for found in (build.page(PAGE), texts(site)):
        assert "javascript:" not in found
        assert "evil.example" not in found
        assert "_downloads" not in found
        assert "conf.py" not in found
        assert "opensesame" not in found
    # nor was it read, to be left out afterwards
    assert b"secret.txt" not in (site.root / "out/doctrees/environment.pickle").read_bytes()


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_a_catalog_does_not_say_what_a_message_is(site: Gallery, evil: str) -> None:
    translation = f"문단 {evil}" if "\n" not in evil else evil
    said = {
        PROSE: "Comment in code",
        "A remark.": "Formula",
        "A first sentence with ``code``.": "Comment in code: one line",
    }
    build = attack(site, *(say(text, translation, comment=said[text]) for text in said))
    no_harm(site, build)
    told = re.findall(r"adding\.po:(\d+): .*; shown in English", build.warnings)
    assert len(set(told)) == len(said), build.warnings


def test_a_message_is_checked_as_what_its_page_says(site: Gallery) -> None:
    build = attack(site, say(PROSE, "``문단", comment="Comment in code"))
    assert "is not closed; close it with two backticks" in build.warnings
    assert "``문단" not in build.page(PAGE)
    assert "system-message" not in build.page(PAGE)


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_what_another_program_compiled_is_checked_as_well(site: Gallery, evil: str) -> None:
    path = site.translate(PAGE, {PROSE: evil, COMMENT: "까닭\nimport os"})
    polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
    path.unlink()
    build = site.build(language="ko")
    no_harm(site, build)
    assert "import os" not in build.page(PAGE)


@pytest.mark.parametrize("target", ["raw", "image", "literal-block"])
def test_html_files_and_code_come_from_no_catalog(site: Gallery, target: str) -> None:
    site.configure(gettext_additional_targets=[target])
    told = "does not support gettext_additional_targets; remove that setting"
    with pytest.raises(GalleryError, match=told):
        site.build(language="ko")


def test_the_own_text_of_a_page_may_hold_html_and_files(site: Gallery) -> None:
    (site.root / "own.txt").write_text("opensesame")
    site.root.joinpath("page.rst").write_text(
        ":orphan:\n\nPage\n====\n\nOne.\n\n.. include:: own.txt\n\n.. raw:: html\n\n   <hr>\n"
    )
    page = attack(site, say("One.", "하나."), domain="page").page("page")
    assert "하나." in page
    assert "opensesame" in page
    assert "<hr>" in page


def test_should_a_directive_get_past_all_checks_it_reads_no_file(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sphinx_recorded_gallery.translate.loading.examine", lambda *_: [])
    path = site.translate(PAGE, {PROSE: ".. include:: /secret.txt"})
    polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
    path.unlink()
    assert "opensesame" not in site.build(language="ko").page(PAGE)


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_no_remark_switches_a_check_off(site: Gallery, evil: str) -> None:
    checks = ("markup-changed", "line-break", "full-width-markup", "markup")
    allowed = "\n".join(f"check-po: allow {check} (needed here)" for check in checks)
    build = attack(site, say(PROSE, f"문단 {evil}" if "\n" not in evil else evil, tcomment=allowed))
    no_harm(site, build)
    assert "shown in English" in build.warnings


@pytest.mark.parametrize(
    "name",
    [
        ".. py:module:: pwned",
        ".. automodule:: this",
        ".. option:: --pwned",
        "2*변형",
        "변형 `값",
        "|변형",
    ],
)
def test_a_name_is_words_and_never_markup(site: Gallery, name: str) -> None:
    add(site, "Words.", "steps")
    site.add_extension("sphinx.ext.autodoc")
    site.translate("recipes/steps", {"fused": name})
    build = site.build(language="ko")
    assert "translated>" not in build.warnings
    assert "ERROR" not in build.warnings
    assert not (build.out / "py-modindex.html").exists()
    assert b"pwned" not in zlib.decompress(
        (build.out / "objects.inv").read_bytes().split(b"\n", 4)[4]
    )


# S7: a catalog that Sphinx can read and this program cannot


@pytest.mark.parametrize("damage", ["\u2028", "\u0085", "\x0c"])
def test_an_unreadable_catalog_of_labels_reaches_no_page(site: Gallery, damage: str) -> None:
    site.translate("sphinx", {}).write_text(
        f'{HEADER}msgid "Search"\nmsgstr "<iframe src=x>"\n\n'
        f'msgid "Index"\nmsgstr "차{damage}례"\n\n"nonsense"\n'
    )
    build = site.build(language="ko")
    assert "sphinx.po:" in build.warnings
    assert not [page for page in build.out.rglob("*.html") if "<iframe" in page.read_text()]


@pytest.mark.parametrize("domain", ["sphinx", "sphinx_recorded_gallery"])
def test_labels_that_no_catalog_says_are_not_shown(site: Gallery, domain: str) -> None:
    texts = {"Search": "<iframe src=x>", "Notebook": "<iframe src=x>"}
    path = site.translate(domain, texts)
    polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
    path.unlink()
    build = site.build(language="ko")
    assert not [page for page in build.out.rglob("*.html") if "<iframe" in page.read_text()]


# S8 and S9: text that other programs take for something else


WORDS = [
    "![x](//evil.example/t.png)",
    "[x](//evil.example)",
    "<svg/onload=alert()>",
    "<//evil.example>",
    "www.evil.example",
    "문단www.evil.example/x",
    "a@evil.example",
    "[x]: //evil.example",
    "[x][evil]",
    "https\\://evil.example",
    "ftp\\://evil.example",
    *("%% [markdown]", "%%", "%% 문단", "In[1]:", "<codecell>"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe for each of the words, which stand where a text, a remark and a title begin."""
    gallery = Gallery(tmp_path_factory.mktemp("words"))
    gallery.set_languages("ko")
    for number, evil in enumerate(WORDS):
        gallery.write(f"adding{number}", RECIPE)
        said = {PROSE: evil, "A remark.": evil, "Text": evil, "one": f"문단 {evil}"}
        gallery.translate(f"recipes/adding{number}", said)
    return gallery.build(language="ko").out / "recipes"


@pytest.mark.parametrize("number", range(len(WORDS)), ids=WORDS.__getitem__)
def test_text_is_text_in_downloads(built: Path, number: int) -> None:
    cells = nbformat.read(built / f"adding{number}.ipynb", as_version=4).cells
    markdown = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    html = MarkdownIt("gfm-like", {"linkify": False}).render(markdown)
    assert "<svg" not in html
    assert "<img" not in html
    assert not re.search(r'(?:href|src)="[^"]*evil', html)
    # what GitHub, Jupyter and Colab make a link of, though no markup says so
    assert not re.search(r"(?:https?|ftp)://\S*evil|www\.evil|\w@evil\.", markdown)
    script = (built / f"adding{number}.py").read_text(encoding="utf-8")
    again = jupytext.reads(script, fmt="py:percent").cells
    assert [cell.cell_type for cell in again] == [cell.cell_type for cell in cells]
    assert not re.search(r"(?m)^# (?:In ?\[|<codecell>)", script)

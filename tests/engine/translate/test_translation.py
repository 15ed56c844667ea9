"""Pages in another language, and what a bad catalog does to them."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import polib
import pytest

from sphinx_recorded_gallery.engine_labels import ENGINE_LOCALE
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.recipes.fingerprint import fingerprint_code
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from sphinx_recorded_gallery.translate.status import language_status
from tests.helpers.gallery import RECIPE, Gallery

PAGE = "recipes/adding"
MESSAGES = {
    "Adding numbers": "수 더하기",
    "A first sentence with ``code``.": "``code``가 있는 첫 문장입니다.",
    "See :doc:`/index`, `Python <https://www.python.org>`__ and :math:`x^2`.": (
        ":math:`x^2`, `파이썬 <https://www.python.org>`__, :doc:`/index` 참고."
    ),
    "Text": "글",
    "A paragraph.": "문단입니다.",
    "A remark.": "덧붙이는 말입니다.",
    "one": "하나",
    "two": "둘",
    "1": "1",
    "2": "2",
    "Why this is here.": "여기에 있는 까닭.",
    "Something that shows itself as HTML.": "스스로를 HTML로 보여 주는 것.",
    "A black square": "검은 정사각형",
}


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    site.configure(recorded_gallery_repository_url="https://example.org/repo")
    site.translate("index", {"Site": "사이트"})
    site.translate("recipes/index", {"Recipes": "레시피", "All.": "전부."})
    site.translate(PAGE, MESSAGES)
    return site


def edit(site: Gallery, text: str, translation: str) -> Path:
    return site.translate(PAGE, MESSAGES | {text: translation})


def mark_fuzzy(path: Path, text: str) -> None:
    catalog = polib.pofile(str(path))
    catalog.find(text).flags.append("fuzzy")
    catalog.save()


def code_of(site: Gallery, out: Path) -> list[str]:
    notebook = nbformat.read(out / f"{PAGE}.ipynb", as_version=4)
    nbformat.validate(notebook)
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    cells = load_recipe(site.recipes / "adding.py").cells
    assert [fingerprint_code(code) for code in codes] == [cell.fingerprint for cell in cells]
    return codes


def test_page_notebook_and_script_are_translated(site: Gallery) -> None:
    build = site.build(language="ko")
    assert build.warnings == ""
    page = build.page(PAGE)
    assert '<html lang="ko"' in page
    for text in MESSAGES.values():
        if "`" not in text:
            assert text in page, text
    assert (
        '<code class="docutils literal notranslate"><span class="pre">code</span></code>가' in page
    )
    assert 'id="text"' in page  # the anchors are those of the source
    assert "# 여기에 있는 까닭." in page
    assert "스스로를 HTML로 보여 주는 것." in page
    assert "translation-note" not in page
    # what a cell printed is in the language of its code
    assert re.search(r'<div class="[^"]*recorded-output[^"]*"[^>]* lang="en"', page)
    codes = code_of(site, build.out)
    assert codes[0].startswith("# 여기에 있는 까닭.\n")
    notebook = json.loads((build.out / f"{PAGE}.ipynb").read_text())
    assert notebook["metadata"]["language"] == "ko"
    texts = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "# 수 더하기" in texts
    assert "`code`가 있는 첫 문장입니다." in texts
    script = (build.out / f"{PAGE}.py").read_text()
    assert "# # 수 더하기" in script
    assert "\n# 여기에 있는 까닭.\n" in script


@pytest.mark.parametrize(
    ("code", "cell", "count"),
    [
        (".. code-block:: python\n\n   x = 1  # Here.\n", "y = 1  # Here.", 2),
        (".. code-block:: diff\n\n   - x = 1\n   + x = 2  # Here.\n", "y = 1", 1),
    ],
)
def test_comments_in_code_of_a_text_are_translated(
    site: Gallery, code: str, cell: str, count: int
) -> None:
    site.write("page", f'"""\nPage\n====\n\n{code}"""\n\n{cell}\n')
    site.translate("recipes/page", {"Page": "쪽", "Here.": "여기."})
    page = site.build(language="ko").page("recipes/page")
    assert (page.count("# 여기."), page.count("# Here.")) == (count, 0)


def test_what_is_not_translated_is_english_marked_and_told(site: Gallery) -> None:
    path = edit(site, "A paragraph.", "")
    mark_fuzzy(path, "A remark.")
    build = site.build(language="ko")
    assert build.warnings == ""
    page = build.page(PAGE)
    assert '<p lang="en">A paragraph.</p>' in page
    assert '<p lang="en">A remark.</p>' in page
    assert "덧붙이는 말입니다." not in page
    assert "이 페이지는 88% 번역되었으며" in page
    assert f"https://example.org/repo/edit/main/locale/ko/LC_MESSAGES/{PAGE}.po" in page
    # under the title, before the first paragraph
    places = ["<h1", "</h1>", "translation-note", "있는 첫 문장입니다."]
    assert sorted(places, key=page.index) == places


def test_messages_that_a_catalog_lacks_are_told(site: Gallery) -> None:
    (site.root / "locale/templates").mkdir()  # as update-po leaves them
    path = site.translate(PAGE, dict(list(MESSAGES.items())[:6]))
    build = site.build(language="ko")
    # not "1", "2" and the recipe's link on the first page, which have no words
    told = "messages missing from the catalog: 5, such as 'Why this is here.'"
    assert re.search(
        rf"{path}:\d+: {re.escape(told)}; run: recorded-gallery update-po ko", build.warnings
    )
    assert build.warnings.count("WARNING") == 1
    assert "이 페이지는 " in build.page(PAGE)
    path.unlink()
    assert f"{path}:1: messages missing from the catalog: 11, such as 'Adding numbers'" in (
        site.build(language="ko").warnings
    )
    path.write_text("nonsense")  # which alone is told: its messages are not missing
    assert site.build(language="ko").warnings.count("WARNING") == 1


def test_comments_of_a_folded_module_do_not_count_in_the_share(site: Gallery) -> None:
    module = '"""What all share."""\n\n# Many words of a module that nobody translates.\nSIZE = 3\n'
    (site.recipes / "_bench.py").write_text(module)
    site.write("page", '"""\nPage\n====\n\nFour words of text.\n"""\n\nfrom _bench import SIZE\n')
    said = {"Page": "쪽", "Four words of text.": "네 낱말.", "What all share": "함께 쓰는 것"}
    path = site.translate("recipes/page", said)
    page = site.build(language="ko").page("recipes/page")
    assert "Many words of a module" in page
    assert "translation-note" not in page
    catalog = polib.pofile(str(path))
    comment = polib.POEntry(
        msgid="Many words of a module that nobody translates.",
        comment="Comment in code: one line of plain text, no markup",
        occurrences=[("recipes_source/_bench.py", "")],
    )
    catalog.append(comment)
    catalog.save()
    [status] = [
        each
        for each in language_status(load_project(site.root), "ko").catalogs
        if each.domain == "recipes/page"
    ]
    assert status.percent == 100


BAD = {
    "markup": ("A paragraph.", "``문단입니다.", "is not closed; close it with two backticks"),
    "newline in a comment": ("Why this is here.", "까닭\nimport os", "a comment is one line"),
    # what Sphinx takes for no paragraph
    "an option": ("A paragraph.", "-v  덜 말합니다.", "starts a list or a block"),
    "a long option": ("A paragraph.", "--verbose  덜 말합니다.", "starts a list or a block"),
    "an option of DOS": ("A paragraph.", "/V  덜", "starts a list or a block"),
}


@pytest.mark.parametrize(("text", "translation", "message"), BAD.values(), ids=BAD)
def test_a_bad_translation_is_told_and_shown_in_english(
    site: Gallery, text: str, translation: str, message: str
) -> None:
    path = edit(site, text, translation)
    for _again in range(2):  # told in every build
        build = site.build(language="ko")
        assert build.warnings.count("WARNING") == 1
        assert re.search(rf"{path}:\d+: .*{message}", build.warnings)
        assert "shown in English" in build.warnings
        assert code_of(site, build.out)
        page = build.page(PAGE)
        assert "수 더하기" in page
        assert f'<p lang="en">{text}</p>' in page or f"# {text}" in page
        assert "system-message" not in page
        assert "<script>alert" not in page
    site.translate(PAGE, MESSAGES)
    assert site.build(language="ko").warnings == ""


@pytest.mark.parametrize(
    ("text", "translation", "message"),
    [
        ("%s seconds", "%s초 (100%)", "write %%"),
        ("Notebook", '노트북" onmouseover="alert(1)', "may end an attribute"),
    ],
)
def test_a_bad_label_is_told_and_shown_in_english(
    site: Gallery, text: str, translation: str, message: str
) -> None:
    site.translate("sphinx_recorded_gallery", {text: translation})
    build = site.build(language="ko")
    assert message in build.warnings
    assert translation not in build.page(PAGE)


def test_a_message_that_is_gone_is_told(site: Gallery) -> None:
    site.write("adding", RECIPE.replace("# Why this is here.", "# Another reason."))
    build = site.build(language="ko")
    # with its line, so that it can be clicked on
    assert re.search(
        r"adding.po:[1-9]\d*: messages that the page does not have: 1, "
        "such as 'Why this is here.'; run: recorded-gallery update-po ko",
        build.warnings,
    )
    assert code_of(site, build.out)[0].startswith("# Another reason.\n")


def test_the_labels_of_a_language_serve_its_regions(site: Gallery) -> None:
    languages = site.root / "languages.toml"
    languages.write_text(languages.read_text().replace("ko =", "ko_KR ="))
    (site.root / "locale/ko").rename(site.root / "locale/ko_KR")
    for path in (site.root / "locale/ko_KR").rglob("*.po"):
        path.write_text(path.read_text().replace('"Language: ko\\n"', '"Language: ko_KR\\n"'))
    build = site.build(language="ko_KR")
    assert build.warnings == ""
    assert ">노트북<" in build.page(PAGE)


def test_an_unknown_language_is_told(site: Gallery) -> None:
    assert "recorded-gallery new-language fr" in site.build(language="fr").warnings


def test_a_changed_label_is_on_all_pages_that_show_one(site: Gallery) -> None:
    label = "Recorded on %(device)s, %(date)s"  # filled in when a page is read
    site.translate("sphinx_recorded_gallery", {label: "%(device)s 첫째 %(date)s"})
    assert " 첫째 " in site.build(language="ko").page(PAGE)
    assert site.build(language="ko").read == []
    site.translate("sphinx_recorded_gallery", {label: "%(device)s 둘째 %(date)s"})
    build = site.build(language="ko")
    assert PAGE in build.read
    assert " 둘째 " in build.page(PAGE)


def test_labels_ship_with_the_engine_and_the_project_may_change_them(site: Gallery) -> None:
    page = site.build(language="ko").page(PAGE)
    assert ">노트북<" in page
    assert ">스크립트<" in page
    site.translate("sphinx_recorded_gallery", {"Notebook": "공책"})
    page = site.build(language="ko").page(PAGE)
    assert ">공책<" in page
    assert ">스크립트<" in page
    assert not list(ENGINE_LOCALE.rglob("*.mo"))  # it may lie where nothing can be written


def test_an_unsafe_label_that_ships_with_the_engine_is_shown_in_english(
    site: Gallery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locale = shutil.copytree(ENGINE_LOCALE, tmp_path / "shipped")
    path = locale / "ko/LC_MESSAGES/sphinx_recorded_gallery.po"
    path.write_text(path.read_text().replace('msgstr "노트북"', 'msgstr "노트\u202e북"'))
    monkeypatch.setattr("sphinx_recorded_gallery.engine_labels.ENGINE_LOCALE", locale)
    build = site.build(language="ko")
    assert "shown in English" in build.warnings
    page = build.page(PAGE)
    assert ">Notebook<" in page
    assert ">스크립트<" in page


def test_a_catalog_that_comes_or_goes_changes_its_page(site: Gallery) -> None:
    path = site.translate(PAGE, MESSAGES)
    site.build(language="ko")
    path.unlink()
    assert site.build(language="ko").read == [PAGE]
    site.translate(PAGE, MESSAGES)
    assert PAGE in site.build(language="ko").read


@pytest.mark.parametrize("translated", [False, True])
def test_a_project_without_a_list_of_languages_is_told_nothing(
    gallery: Gallery, translated: bool
) -> None:
    gallery.add()
    if translated:
        gallery.translate("index", {"Site": "Seite"}, language="de")
    build = gallery.build(language="de")
    assert build.warnings == ""
    assert ("Seite" in build.page("index")) == translated
    # Without catalogs, the sources are taken to be in the language of the build.
    assert ("of this page is translated" in build.page(PAGE)) == translated


def test_the_language_of_the_sources_has_no_catalogs(site: Gallery) -> None:
    for domain, text in (
        ("index", "Site"),
        ("sphinx", "Search"),
        ("sphinx_recorded_gallery", "Notebook"),
    ):
        path = site.translate(domain, {text: "HIJACKED"}, language="en")
        polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
    build = site.build(language="en")
    assert not [page for page in build.out.rglob("*.html") if "HIJACKED" in page.read_text()]


def test_templates_tell_translators_what_a_message_is(site: Gallery) -> None:
    text = (
        '"""\nPage\n====\n\n.. meta::\n   :description: About\n\nBoth\n"""\n\n'
        '# sphinx_gallery_fold = "Helpers"\n# Why.\nx = 1\n\n'
        "# %%\n# .. math::\n#\n#    \\text{cost}\n\n# Both\ny = 1\n"
    )
    site.write("page", text)
    site.build("gettext")
    template = polib.pofile(str(site.root / "out/gettext/recipes/page.pot"))
    assert {entry.msgid: entry.comment for entry in template} == {
        "Page": "Title",
        "About": "Description of the page, for search engines",
        "Both": "",  # of two kinds: it has to suit both
        "Helpers": "Comment in code: shown in the place of folded code; no markup",
        "Why.": "Comment in code: one line of plain text, no markup",
        "\\text{cost}": "Formula: translate only what stands in \\text{...}",
    }

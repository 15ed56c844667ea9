"""Catalogs of a build: compiled when they change, found by page, and told when they are missing."""

import gettext
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polib
import pytest
from sphinx.config import Config
from sphinx.locale import translators

from recipe_gallery.languages import load_languages
from recipe_gallery.project import load_project
from recipe_gallery.translate import compiled
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.compiled import (
    NOTES,
    catalog_path,
    compile_catalogs,
    count_left,
    edit_address,
    find_lines,
    has_catalog,
    keep_fit,
    labels_now,
    page_translations,
    report_missing,
    translate,
)

LANGUAGES = 'en = { name = "English" }\nko = { name = "한국어", glue = true }\n'


def write(path: Path, **messages: str) -> Path:
    catalog = polib.POFile()
    catalog.metadata = {"Language": "ko", "Content-Type": "text/plain; charset=UTF-8"}
    for text, translation in messages.items():
        catalog.append(polib.POEntry(msgid=text, msgstr=translation))
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog.save(str(path))
    return path


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is told of catalogs; those that other tests have loaded are forgotten."""
    said: list[str] = []
    monkeypatch.setattr(compiled, "warn", lambda problem: said.append(str(problem)))
    translators.clear()
    gettext._translations.clear()
    yield said
    translators.clear()


@pytest.fixture
def app(tmp_path: Path) -> SimpleNamespace:
    """What a build in Korean knows of itself; ``loaded`` are the catalogs that it was given."""
    (tmp_path / "conf.py").write_text(
        'locale_dirs = ["locale", "more"]\ngettext_compact = False\nlanguage = "ko"\n'
        'recipe_gallery_repository_url = "https://a.example/r/"\n'
        'sphinx_gallery_conf = {"examples_dirs": "examples", "gallery_dirs": "gallery"}\n'
    )
    (tmp_path / "languages.toml").write_text(LANGUAGES)
    config = load_project(tmp_path).config
    config.add("recipe_gallery_languages", load_languages(tmp_path), "env", dict)
    loaded: list[tuple[str, str]] = []
    return SimpleNamespace(
        config=config,
        srcdir=str(tmp_path),
        confdir=str(tmp_path),
        doctreedir=str(tmp_path / "doctrees"),
        loaded=loaded,
        add_message_catalog=lambda *each: loaded.append(each),
        found_docs={"page", "part/other"},
    )


def root(app: SimpleNamespace) -> Path:
    return Path(app.srcdir)


def build(app: SimpleNamespace, **settings: Any) -> dict[str, Any]:
    """Compile as a build does; return what it noted of each catalog."""
    config: Config = app.config
    for name, value in settings.items():
        setattr(config, name, value)
    compile_catalogs(app, config)
    notes: dict[str, Any] = json.loads(Path(app.doctreedir, NOTES).read_bytes())
    return notes["catalogs"]


def texts(path: Path) -> dict[str, str]:
    return {entry.msgid: entry.msgstr for entry in polib.mofile(str(path))}


def test_a_build_in_the_language_of_the_sources_compiles_nothing(
    app: SimpleNamespace, told: list[str]
) -> None:
    path = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나")
    app.config.language = "en"
    compile_catalogs(app, app.config)
    assert app.config.gettext_auto_build is False
    assert not path.with_suffix(".mo").exists()
    assert not Path(app.doctreedir).exists()


def test_catalogs_of_all_folders_and_labels_are_compiled(
    app: SimpleNamespace, told: list[str]
) -> None:
    page = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나", Two="", Three="``셋")
    own = write(root(app) / "more/ko/LC_MESSAGES/recipe_gallery.po", Notebook="공책")
    notes = build(app)
    assert texts(page.with_suffix(".mo")) == {"One": "하나"}
    assert notes[str(page)]["left"] == 1
    assert count_left(Path(app.doctreedir)) == 1 + sum(
        note["left"] for path, note in notes.items() if path != str(page)
    )
    (line,) = told
    line_of_it = page.read_text().splitlines().index('msgid "Three"') + 1
    assert line.startswith(f"{page}:{line_of_it}: markup: '``셋' is not closed;")
    assert line.endswith(" (markup); shown in English")
    # those of the project go before those of the engine
    labels = Path(app.doctreedir, "labels")
    shipped = labels / "ko/LC_MESSAGES/recipe_gallery.mo"
    assert texts(shipped)["Script"] == "스크립트"
    assert app.loaded == [
        ("recipe_gallery", str(root(app) / "more")),
        ("recipe_gallery", str(labels)),
    ]
    assert texts(own.with_suffix(".mo")) == {"Notebook": "공책"}


def test_a_page_whose_catalog_cannot_be_read_is_in_english(
    app: SimpleNamespace, told: list[str]
) -> None:
    page = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나")
    build(app)
    page.write_text("nonsense")
    for _again in range(2):
        assert build(app)[str(page)]["left"] == 0
        assert not page.with_suffix(".mo").exists()
        (line,) = told
        assert line.startswith(f"{page}:1: not a catalog from here on; ")
        assert line.endswith(" (syntax); the page is shown in English")
        told.clear()


def test_what_a_catalog_that_is_gone_was_compiled_to_goes_too(
    app: SimpleNamespace, told: list[str]
) -> None:
    page = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나")
    theirs = page.with_name("their_package.mo")
    theirs.parent.mkdir(parents=True, exist_ok=True)
    theirs.write_bytes(b"theirs")
    build(app)
    page.unlink()
    assert str(page) not in build(app)
    assert not page.with_suffix(".mo").exists()
    assert theirs.exists()


def test_a_catalog_is_checked_anew_when_it_or_the_rules_change(
    app: SimpleNamespace, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나")
    build(app)
    noted: list[Any] = []
    compile_one = compiled.compile_catalog

    def note(path: Path, *others: Any) -> dict[str, Any]:
        if path == page:
            noted.append(others[-1])
        return compile_one(path, *others)

    monkeypatch.setattr(compiled, "compile_catalog", note)
    first = build(app)[str(page)]
    assert noted.pop() == first
    languages = app.config.recipe_gallery_languages
    changed = {**languages, "ko": replace(languages["ko"], glue=False)}
    build(app, recipe_gallery_languages=changed)
    assert noted.pop() is None
    Path(app.doctreedir, NOTES).write_text("damaged")
    build(app)
    assert noted.pop() is None


def test_a_catalog_that_is_kept_is_shown_as_it_was(app: SimpleNamespace, told: list[str]) -> None:
    page = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나")
    before = build(app)
    write(page, One="일")
    assert build(app, recipe_gallery_keep_catalogs=[str(page.resolve())]) == before
    assert texts(page.with_suffix(".mo")) == {"One": "하나"}
    page.with_suffix(".mo").write_bytes(b"another's")
    build(app)
    assert texts(page.with_suffix(".mo")) == {"One": "일"}


def test_labels_that_sphinx_has_loaded_are_those_that_were_checked(
    app: SimpleNamespace, told: list[str]
) -> None:
    path = write(root(app) / "locale/ko/LC_MESSAGES/sphinx.po", Search="찾기")
    unchecked = {"Search": '"><script>', "Index": '" onclick="'}
    write(path.with_name("other.po"), **unchecked)
    polib.pofile(str(path.with_name("other.po"))).save_as_mofile(str(path.with_suffix(".mo")))
    path.with_name("other.po").unlink()
    loaded = gettext.translation("sphinx", str(root(app) / "locale"), ["ko"])
    assert loaded.gettext("Index") == '" onclick="'
    build(app)
    assert (loaded.gettext("Search"), loaded.gettext("Index")) == ("찾기", "Index")
    path.unlink()
    build(app)
    assert loaded.gettext("Search") == "Search"


def test_the_catalog_of_a_page_is_the_first_that_is_there(app: SimpleNamespace) -> None:
    first = root(app) / "locale/ko/LC_MESSAGES/part/other.po"
    assert catalog_path(app, "part/other") == first
    second = write(root(app) / "more/ko/LC_MESSAGES/part/other.po")
    assert catalog_path(app, "part/other") == second
    write(first)
    assert catalog_path(app, "part/other") == first
    assert not has_catalog(app, "part/other")
    first.with_suffix(".mo").touch()
    assert has_catalog(app, "part/other")
    address = "https://a.example/r/edit/main/locale/ko/LC_MESSAGES/part/other.po"
    assert edit_address(app, catalog_path(app, "part/other")) == address
    app.config.recipe_gallery_repository_branch = "next"
    assert edit_address(app, catalog_path(app, "part/other")) == address.replace("main", "next")
    app.config.recipe_gallery_repository_url = ""
    assert edit_address(app, catalog_path(app, "part/other")) == ""


def test_pages_without_a_catalog_are_told_in_order(app: SimpleNamespace, told: list[str]) -> None:
    report_missing(app, app)
    folder = root(app) / "locale/ko/LC_MESSAGES"
    run = "run: recipe-gallery update-po ko"
    assert told == [f"{folder}: no catalogs, so everything is in English; {run}"]
    told.clear()
    (root(app) / "more/ko/LC_MESSAGES").mkdir(parents=True)
    report_missing(app, app)
    said = "no such catalog, so the page is in English"
    assert told == [f"{folder}/page.po: {said}; {run}", f"{folder}/part/other.po: {said}; {run}"]
    told.clear()
    write(folder / "page.po")
    report_missing(app, app)
    assert [line.partition(": ")[0] for line in told] == [f"{folder}/part/other.po"]
    told.clear()
    app.config.language = "en"
    report_missing(app, app)
    (root(app) / "languages.toml").unlink()
    app.config.language = "ko"
    report_missing(app, app)
    assert told == []


def test_a_folder_is_no_catalog(app: SimpleNamespace, told: list[str]) -> None:
    (root(app) / "locale/ko/LC_MESSAGES/page.po").mkdir(parents=True)
    report_missing(app, app)
    assert "/page.po: no such catalog, so the page is in English" in told[0]


def test_messages_of_a_page_are_those_that_fit_it(app: SimpleNamespace, told: list[str]) -> None:
    page = write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나", Two="둘", Three="")
    build(app)
    assert page_translations(app, "page") == {"One": "하나", "Two": "둘"}
    assert page_translations(app, "sphinx") == {}  # of labels, whatever page is called so
    assert translate(app, "page", "One") == "하나"
    assert translate(app, "page", "Three") == "Three"
    assert page_translations(app, "none") == {}
    told.clear()
    write(page, One="<b>하나</b>", Two="둘")
    polib.pofile(str(page)).save_as_mofile(str(page.with_suffix(".mo")))
    translators.clear()
    gettext._translations.clear()
    keep_fit(app, "page", {"One": {Kind.PROSE}, "Two": {None}})
    one, two = (find_lines(page)[text] for text in ("One", "Two"))
    assert told == [
        f"{page}:{one}: HTML that the source does not have: <b> </b>; leave it out (raw-html); "
        "shown in English",
        f"{page}:{two}: HTML and files of pictures are not translated; shown in English",
    ]
    assert page_translations(app, "page") == {}


def test_of_a_message_that_stands_twice_the_first_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    assert find_lines(path) == {}
    path.write_text(
        'msgid "a"\nmsgstr "b"\n\nmsgid "a"\nmsgstr "c"\n\n#~ msgid "d"\n#~ msgstr "e"\n'
    )
    assert find_lines(path) == {"a": 1}


def test_a_page_sees_when_any_label_changes(app: SimpleNamespace, told: list[str]) -> None:
    build(app)
    before = labels_now(app)
    assert len(before.split()) == 1  # the engine's own
    write(root(app) / "more/ko/LC_MESSAGES/sphinx.po", Search="찾기")
    build(app)
    assert len(labels_now(app).split()) == 2
    write(root(app) / "locale/ko/LC_MESSAGES/page.po", One="하나")
    after = labels_now(app)
    build(app)
    assert labels_now(app) == after != before


def test_problems_of_catalogs_are_warnings_that_a_project_may_suppress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[object] = []
    monkeypatch.setattr(compiled.logger, "warning", lambda *all_of, **by: said.append((all_of, by)))
    compiled.warn("100 %")
    assert said == [(("%s", "100 %"), {"type": "recipe_gallery", "subtype": "catalog"})]


def test_a_build_without_catalogs_has_none_left(tmp_path: Path) -> None:
    assert count_left(tmp_path) == 0

"""What translators and maintainers are told: status, glossary files, impact."""

import csv
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import polib
import pytest

from gallery import ROOT, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.languages import Language
from recipe_gallery.project import Project, load_project
from recipe_gallery.translate.catalogs import Progress
from recipe_gallery.translate.glossary import Glossary, load_glossary, write_glossaries
from recipe_gallery.translate.status import (
    CatalogStatus,
    add_up,
    format_status,
    language_status,
)
from recipe_gallery.translate.templates import labels
from recipe_gallery.translate.templates.kept import KeptTemplates
from recipe_gallery.translate.update import impact as impacts
from recipe_gallery.translate.update.impact import (
    Impact,
    PageImpact,
    compare,
    find_impact,
    format_impact,
)

KOREAN = Language(code="ko", name="한국어", glue=True)


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    site.configure(recipe_gallery_repository_url="https://example.org/repo", gettext_compact=False)
    path = site.translate("index", {"Site": "사이트", "Two more words.": "", "Old.": "옛."})
    catalog = polib.pofile(str(path))
    catalog.header = "홍길동 <gildong@example.org>, 2026."
    catalog.metadata["Last-Translator"] = "김아무개 <kim@example.org>"
    catalog.metadata["PO-Revision-Date"] = "2026-11-20 10:00+0900"
    catalog.find("Old.").flags.append("fuzzy")
    catalog.save()
    (site.root / "locale/glossary.csv").write_text(
        "term,ko,note\nkernel,커널|알맹이,of a GPU\nbatch,배치,\n"
    )
    return site


def project(site: Gallery) -> Project:
    return load_project(site.root)


def kept(site: Gallery) -> KeptTemplates:
    return KeptTemplates(site.root, site.root / "locale", project(site).config)


def measured(site: Gallery) -> list[CatalogStatus]:
    return language_status(kept(site), "ko")


def test_the_status_counts_words_and_names_translators(site: Gallery) -> None:
    (status,) = measured(site)
    assert status.progress
    assert status.progress.fuzzy == 1
    assert (status.progress.words, status.progress.words_left) == (5, 4)
    assert status.revised == date(2026, 11, 20)
    assert status.translators == ("홍길동", "김아무개")
    table = format_status(KOREAN, [status])
    assert "ko  한국어  ████" in table
    assert " 20 %       4 words left,   1 fuzzy  2026-11-20  홍길동, 김아무개" in table


def test_a_language_without_catalogs_is_not_finished() -> None:
    assert format_status(KOREAN, []) == (
        "ko  한국어  no catalogs; run: recipe-gallery update-po ko"
    )


def test_a_catalog_that_cannot_be_read_is_in_the_table(site: Gallery) -> None:
    (site.root / "locale/ko/LC_MESSAGES/broken.po").write_text("no")
    table = format_status(KOREAN, measured(site))
    assert "broken  cannot be read; run: recipe-gallery check-po ko" in table


def test_a_name_is_no_placeholder_and_no_page_of_text(site: Gallery) -> None:
    path = site.root / "locale/ko/LC_MESSAGES/index.po"
    catalog = polib.pofile(str(path))
    catalog.header = f"FULL NAME, 2026.\n{'a' * 101}, 2026.\n{'b' * 100}, 2026.\nKim\u202e, 2026."
    catalog.metadata = {"Language": "ko"}
    catalog.save()
    (status,) = measured(site)
    assert (status.translators, status.revised) == (("b" * 100,), None)


def test_what_cannot_be_read_is_not_translated(site: Gallery) -> None:
    lost = Progress(words=3, words_left=3, words_fuzzy=0, fuzzy=0)
    broken = CatalogStatus(
        path=Path("ko.po"), domain="page", is_label=False, progress=lost, is_readable=False
    )
    done = Progress(words=1, words_left=0, words_fuzzy=0, fuzzy=0)
    read = CatalogStatus(path=Path("ko.po"), domain="other", is_label=False, progress=done)
    assert add_up([broken, read]).percent == 25
    assert format_status(KOREAN, [broken, read]).splitlines()[0].endswith(" 25 %")


def test_translation_tools_can_import_the_glossary(site: Gallery, tmp_path: Path) -> None:
    glossary = load_glossary(site.root / "locale")
    folder = tmp_path / "new" / "out"
    (table,) = write_glossaries(glossary, [KOREAN], folder)
    assert write_glossaries(glossary, [KOREAN], folder) == [table]  # again
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {"source": "kernel", "target": "커널", "comment": "of a GPU"},
        {"source": "batch", "target": "배치", "comment": ""},
    ]


def template(*texts: str) -> polib.POFile:
    catalog = polib.POFile()
    catalog.extend(polib.POEntry(msgid=text) for text in texts)
    return catalog


def test_an_edited_text_is_a_change_and_not_a_new_one() -> None:
    before = template("Stays.", "The first call compiles.", "Goes away entirely.")
    after = template("Stays.", "The first call compiles it.", "Something quite new.")
    impact = compare({"page": before}, {"page": after})["page"]
    assert impact.changed == [("The first call compiles.", "The first call compiles it.")]
    assert impact.added == ["Something quite new."]
    assert impact.removed == ["Goes away entirely."]
    assert impact.free == []


def test_a_text_whose_link_leads_elsewhere_is_not_removed() -> None:
    """Nor is one that went to another page and was edited there."""
    before = {"page": template("See :doc:`/old`.", "The first call compiles."), "new": template()}
    after = {"page": template("See :doc:`/new`."), "new": template("The first call compiles it.")}
    impact = compare(before, after)
    assert impact["page"].free == ["See :doc:`/new`."]
    assert impact["page"].removed == []
    assert impact["new"].changed == [("The first call compiles.", "The first call compiles it.")]


@pytest.mark.slow
def test_the_impact_of_a_change_is_told_in_markdown(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=site.root, check=True)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "before")
    languages = [KOREAN]
    templates = site.root / "_build/gettext"
    same = find_impact(project(site), "main", templates, languages)
    assert format_impact(same, languages) == ("No message that translators see has changed.")
    recipe = site.recipes / "adding.py"
    recipe.write_text(
        recipe.read_text()
        .replace("A paragraph.", "A paragraph with `` ` `` more words.")
        .replace("# Why this is here.", "# Why this is here at all.")
    )
    text = format_impact(find_impact(project(site), "main", templates, languages), languages)
    assert "| `recipes/adding` | 1 | 1 | 0 | 1 | 14 |" in text
    assert "- changed: ` Why this is here. `\n  now: ` Why this is here at all. `" in text
    assert "- new: ``` A paragraph with `` ` `` more words. ```" in text
    assert "한국어" in text
    with pytest.raises(GalleryError) as caught:
        find_impact(project(site), "nowhere", templates, languages)
    assert str(caught.value) == (
        "no commit 'nowhere' here (fatal: not a valid object name: nowhere); "
        "name a commit or a branch, such as main"
    )


def test_the_impact_is_that_on_the_catalogs_of_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repository/docs"  # the whole repository is looked at, as the commit has it
    path = root / "locale/ko/LC_MESSAGES/page.po"
    path.parent.mkdir(parents=True)
    (root / "conf.py").write_text('locale_dirs = ["locale"]\n')
    old, new = "The first call compiles.", "The first call compiles it."
    catalog = template(old)
    catalog[0].msgstr = "첫 호출에서 컴파일합니다."
    catalog.save(str(path))
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "before"]):
        subprocess.run(["git", *identity, *command], cwd=root.parent, check=True)
    path.unlink()  # here they may be updated by now
    asked: dict[Path, Path] = {}

    def make(of: Project, folder: Path) -> dict[str, polib.POFile]:
        assert (of.root / "conf.py").is_file()
        asked[of.root] = folder
        return {"page": template(new if of.root == root else old)}

    monkeypatch.setattr(impacts, "make_templates", make)
    folder = root / "_build/gettext"
    found = find_impact(load_project(root), "main", folder, [KOREAN])
    assert (found.pages["page"].changed, found.fuzzy) == ([(old, new)], {"ko": 1})
    assert found.words == 5
    (before,) = asked.keys() - {root}
    assert asked == {root: folder, before: before / "_build/gettext"}
    assert before.name == "docs"
    with pytest.raises(GalleryError) as caught:
        find_impact(load_project(root), "nowhere", folder, [KOREAN])
    assert str(caught.value) == (
        "no commit 'nowhere' here (fatal: not a valid object name: nowhere); "
        "name a commit or a branch, such as main"
    )


def test_a_reader_who_has_enough_sees_no_traceback() -> None:
    command = f"{sys.executable} -m recipe_gallery status | true"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""


def test_terms_are_found_as_whole_words_the_longest_first(tmp_path: Path) -> None:
    (tmp_path / "glossary.csv").write_text(
        "term,ko,note\n"
        "graph,그래프,\n"
        "graph break| break of a graph ,그래프 단절|단절,\n"
        "class,클래스,\n"
        "C++,씨,\n"
        "only English,,no translation\n"
        "PyTorch|Torch,,name\n"
        "name,이름,name\n"
        "short\n"
    )
    glossary = load_glossary(tmp_path)
    assert [term.name for term in glossary.terms][:2] == ["graph", "graph break"]
    assert glossary.terms[1].forms == ("graph break", "break of a graph")
    assert glossary.terms[1].translations == {"ko": ("그래프 단절", "단절")}
    assert (glossary.terms[4].translations, glossary.terms[4].note) == ({}, "no translation")
    assert (glossary.terms[7].translations, glossary.terms[7].note) == ({}, "")
    assert glossary.names == {"PyTorch", "Torch"}
    in_korean = [term.translation("ko") for term in glossary.terms]
    assert in_korean == ["그래프", "그래프 단절", "클래스", "씨", "", "PyTorch", "이름", ""]

    def missing(source: str, translation: str = "") -> list[str]:
        return [term for term, _expected in glossary.missing("ko", source, translation)]

    assert missing("A graph break") == ["graph break"]
    assert missing("Graphs and a graph break") == ["graph", "graph break"]
    assert missing("the classes, a Class") == ["class"]
    assert missing("a cla\u017f\u017f") == []
    assert missing("subgraph, my-graph, a.graph, graph-like, graphic") == []
    assert missing("only English") == []
    assert missing("A graph break", "그래프단절") == []
    assert missing("A graph break", "단 절") == []
    assert glossary.missing("ja", "A graph", "") == []
    assert glossary.missing("ko", "A graph break", "") == [("graph break", "그래프 단절")]
    assert Glossary().missing("ko", "A graph", "") == []


def test_a_folder_without_a_glossary_has_no_terms(tmp_path: Path) -> None:
    assert load_glossary(tmp_path).terms == ()


@pytest.mark.parametrize(
    ("text", "line", "told", "remedy"),
    [
        (
            "English;ko\nkernel;커널\n",
            1,
            "the first line has to name the columns: term,...,note",
            "",
        ),
        ("term,ko\nkernel,커널\n,계층\n", 3, "no English term", "fill in the first column"),
        ('"term,ko\n', 1, "not a table in CSV and UTF-8: unexpected end of data", ""),
        ("term,ko\nkernel,커널,a, b\n", 2, "more cells than columns", "quote a cell with commas"),
    ],
)
def test_a_glossary_that_is_none_is_told(
    tmp_path: Path, text: str, line: int, told: str, remedy: str
) -> None:
    (tmp_path / "glossary.csv").write_text(text)
    with pytest.raises(GalleryError) as caught:
        load_glossary(tmp_path)
    error = caught.value
    assert (error.line, error.text, error.remedy) == (line, told, remedy)


def test_a_table_of_the_status_lines_up(site: Gallery) -> None:
    site.translate("recipes/adding", {"One two three.": "하나 둘 셋.", "Four.": "", "Five.": ""})
    (site.root / "locale/ko/LC_MESSAGES/sphinx.po").write_text("no")
    found = {each.domain: each for each in measured(site)}
    assert list(found) == ["index", "recipes/adding", "sphinx"]
    index, adding, broken = found.values()
    assert (broken.is_label, broken.is_readable, index.is_label) == (True, False, False)
    assert (adding.revised, adding.translators) == (None, ())
    total = add_up([adding, broken, index])
    assert (total.words, total.words_left, total.percent, total.fuzzy) == (10, 6, 40, 1)
    assert format_status(KOREAN, [index, adding, broken]).splitlines() == [
        "ko  한국어  ████████░░░░░░░░░░░░  40 %",
        "  index            20 %       4 words left,   1 fuzzy  2026-11-20  홍길동, 김아무개",
        "  recipes/adding   60 %       2 words left,   0 fuzzy  -  ",
        "  sphinx          cannot be read; run: recipe-gallery check-po ko",
    ]


def test_a_catalog_that_did_not_change_is_not_measured_again(site: Gallery) -> None:
    known: dict[Path, tuple[object, CatalogStatus]] = {}
    first = language_status(kept(site), "ko", known)
    assert language_status(kept(site), "ko", known)[0] is first[0]
    path = site.translate("index", {"Site": ""})
    os.utime(path, ns=(1, 1))
    (again,) = language_status(kept(site), "ko", known)
    assert again.progress
    assert again.progress.words == 1


def test_much_that_changed_is_cut_short() -> None:
    nothing = format_impact(Impact(pages={}, fuzzy={}), [])
    assert nothing == "No message that translators see has changed."
    page = PageImpact(
        added=[f"new {number}" for number in range(30)],
        removed=["two\nlines"],
        changed=[("Old ` text", "New ``text``")],
        free=["moved"],
    )
    impact = Impact(pages={"page": page, "other": page}, fuzzy={"ko": 1})
    lines = format_impact(impact, [KOREAN]).splitlines()
    assert lines[:6] == [
        "### What this change means for translations",
        "",
        "| Page | New | Changed | Moved or kept | Removed | Words to translate |",
        "|---|---:|---:|---:|---:|---:|",
        "| `page` | 30 | 1 | 1 | 1 | 62 |",
        "| `other` | 30 | 1 | 1 | 1 | 62 |",
    ]
    assert lines[6] == ""
    assert lines[7] == (
        "62 words to translate in each language; the same text on several pages counts once. "
        "After `recipe-gallery update-po`, "
        "translations of changed messages are kept as fuzzy (한국어: 1), and readers see English "
        "for them until they are revised."
    )
    assert lines[8:13] == [
        "",
        "<details><summary><code>page</code></summary>",
        "",
        "- changed: `` Old ` text ``",
        "  now: ``` New ``text`` ```",
    ]
    assert lines[-4:] == ["- new: ` new 28 `", "- and 3 more", "", "</details>"]
    whole = PageImpact(added=page.added, removed=[], changed=[])  # all of which can be shown
    assert "more" not in format_impact(Impact(pages={"page": whole}, fuzzy={}), [])
    short = PageImpact(added=[], removed=["two\nlines"], changed=[], free=["moved"])
    japanese = Language(code="ja", name="日本語")
    text = format_impact(
        Impact(pages={"page": short}, fuzzy={"ko": 1, "ja": 2}), [KOREAN, japanese]
    )
    assert "(한국어: 1, 日本語: 2)" in text
    lines = text.splitlines()
    assert lines[-4:] == [
        "- moved or kept: ` moved `",
        "- removed: ` two lines `",
        "",
        "</details>",
    ]


def test_a_theme_that_is_not_used_brings_no_labels() -> None:
    def borrowed(theme: str) -> dict[str, str]:
        return dict(labels._borrowed_labels(SimpleNamespace(html_theme=theme)))

    of_sphinx = borrowed("alabaster")
    assert set(of_sphinx.values()) == {"sphinx"}
    # of the elements of pages, of their links, and of the page of the search
    assert {"Warning", "Link to this heading", "Search"} <= of_sphinx.keys()
    assert "Index" not in of_sphinx
    both = borrowed("pydata_sphinx_theme")
    assert both["Section Navigation"] == "pydata_sphinx_theme"
    assert of_sphinx.keys() <= both.keys()

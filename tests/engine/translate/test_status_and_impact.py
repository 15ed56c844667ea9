"""What translators and maintainers are told: status, glossary files, impact."""

import csv
import subprocess
import sys
from datetime import date
from pathlib import Path

import polib
import pytest

from gallery import ROOT, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.languages import Language
from recipe_gallery.project import Project, load_project
from recipe_gallery.translate.glossary import load_glossary, write_glossaries
from recipe_gallery.translate.status_and_impact import (
    CatalogStatus,
    compare,
    find_impact,
    format_impact,
    format_status,
    language_status,
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


def measured(site: Gallery) -> list[CatalogStatus]:
    return language_status([site.root / "locale"], "ko", ["sphinx"])


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


def test_a_catalog_that_cannot_be_read_is_in_the_table(site: Gallery) -> None:
    (site.root / "locale/ko/LC_MESSAGES/broken.po").write_text("no")
    table = format_status(KOREAN, measured(site))
    assert "broken  cannot be read; run: recipe-gallery check-po ko" in table


def test_translation_tools_can_import_the_glossary(site: Gallery, tmp_path: Path) -> None:
    glossary = load_glossary(site.root / "locale")
    (table,) = write_glossaries(glossary, [KOREAN], tmp_path / "out")
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
    impact = compare(
        template("Stays.", "The first call compiles.", "Goes away entirely."),
        template("Stays.", "The first call compiles it.", "Something quite new."),
    )
    assert impact.changed == [("The first call compiles.", "The first call compiles it.")]
    assert impact.added == ["Something quite new."]
    assert impact.removed == ["Goes away entirely."]


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
    same = find_impact(project(site), "main", templates)
    assert format_impact(project(site), same, languages) == (
        "No message that translators see has changed."
    )
    recipe = site.recipes / "adding.py"
    recipe.write_text(
        recipe.read_text()
        .replace("A paragraph.", "A paragraph with `` ` `` more words.")
        .replace("# Why this is here.", "# Why this is here at all.")
    )
    text = format_impact(project(site), find_impact(project(site), "main", templates), languages)
    assert "| `recipes/adding` | 1 | 1 | 1 | 14 |" in text
    assert "- changed: ` Why this is here. `\n  now: ` Why this is here at all. `" in text
    assert "- new: ``` A paragraph with `` ` `` more words. ```" in text
    assert "한국어" in text
    with pytest.raises(GalleryError, match="no commit 'nowhere' here"):
        find_impact(project(site), "nowhere", templates)


def test_a_reader_who_has_enough_sees_no_traceback() -> None:
    command = f"{sys.executable} -m recipe_gallery status | true"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""

"""Catalogs beside their templates: what is missing is told, percents are true, a memory works."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polib
import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.languages import Language
from recipe_gallery.project import Project, load_project
from recipe_gallery.translate.check_po import Problem, check_project
from recipe_gallery.translate.pot import shipped_translations, write_pots
from recipe_gallery.translate.translation_status import Status, add_up, language_status
from recipe_gallery.translate.update import describe_update, merge, plan_update

KOREAN = Language(code="ko", name="한국어")
PAGES = {
    "page": {
        "A title": "이름 하나",
        "The first call compiles the function.": "첫 호출에서 함수를 컴파일합니다.",
        "Later calls run what the first one made.": "다음 호출부터는 처음에 만든 것을 실행합니다.",
        "Why this is here": "여기에 있는 이유",
        "A last remark about nothing in particular.": "특별할 것 없는 마지막 덧붙임입니다.",
    },
    "other": {
        "Another title": "또 다른 이름",
        "Read how each of them was measured.": "하나하나 어떻게 측정했는지 읽어 보세요.",
        "Whoever has a question asks it.": "궁금한 점이 있으면 누구나 물어봅니다.",
    },
}
PAGE, OTHER = map(list, PAGES.values())


def template(*texts: str, source: str = "page.rst") -> polib.POFile:
    made = polib.POFile()
    for text in texts:
        comment = "Comment in code: one line" if text.startswith("Why") else ""
        made.append(polib.POEntry(msgid=text, comment=comment, occurrences=[(source, "")]))
    return made


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two pages with their templates and whole Korean catalogs."""
    (tmp_path / "conf.py").write_text('locale_dirs = ["locale"]\ngettext_compact = False\n')
    (tmp_path / "languages.toml").write_text(
        'en = { name = "English" }\nko = { name = "한국어" }\n'
    )
    project = load_project(tmp_path)
    domains = {name: template(*texts, source=f"{name}.rst") for name, texts in PAGES.items()}
    for name, texts in PAGES.items():
        (tmp_path / f"{name}.rst").write_text("\n\n".join(texts))
        catalog, _outcomes = merge(None, domains[name], {}, (), language="ko")
        for entry in catalog:
            entry.msgstr = texts[entry.msgid]
        (path := catalog_of(project, name)).parent.mkdir(parents=True, exist_ok=True)
        catalog.save(str(path))
    write_pots(project, domains)
    return project


def catalog_of(project: Project, name: str = "page") -> Path:
    return project.locale / f"ko/LC_MESSAGES/{name}.po"


def told(project: Project, *names: str) -> list[Problem]:
    """Return what check-po tells of pages; labels of Sphinx have no catalog here."""
    wanted = names or ("page", "other")
    return [each for each in check_project(project, [KOREAN]) if each.path.stem in wanted]


def progress(project: Project, name: str = "page") -> Status:
    (found,) = [each for each in language_status(project, "ko") if each.domain == name]
    return found


def test_whole_catalogs_raise_no_alarm(project: Project) -> None:
    assert told(project) == []
    assert progress(project).percent == 100
    assert "#: page.rst\n" in (project.locale / "templates/page.pot").read_text()
    assert write_pots(project, {n: template(*t, source=f"{n}.rst") for n, t in PAGES.items()}) == []


def cut(text: str) -> str:
    """Cut a catalog between two messages."""
    return text[: text.rindex("\n\n", 0, text.index("Later calls")) + 1]


DAMAGES: dict[str, tuple[Callable[[str], str], str, str, str]] = {
    # what is done, the line on which it is told begins with, the check, and what is said
    "cut between messages": (
        cut,
        'msgid "The first call compiles the function."',
        "missing",
        "messages of the page that are missing: 3, as "
        "'Later calls run what the first one made.'",
    ),
    "obsolete": (
        lambda text: text.replace('msgid "A last', '#~ msgid "A last').replace(
            text[text.rindex("msgstr") :], f"#~ {text[text.rindex('msgstr') :]}"
        ),
        '#~ msgid "A last',
        "missing",
        "messages of the page that are missing: 1, as "
        "'A last remark about nothing in particular.'",
    ),
    "edited": (
        lambda text: text.replace('"Later calls run what', '"Later calls take what'),
        'msgid "Later calls take what',
        "unknown",
        "messages that the page does not have: 1, as 'Later calls take what the first one made.'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "line", "check", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_catalog_is_told_with_line_and_remedy(
    project: Project, damage: Callable[[str], str], line: str, check: str, said: str
) -> None:
    path = catalog_of(project)
    text = damage(path.read_text())
    path.write_text(text)
    problem = next(each for each in told(project) if each.check == check)
    assert problem.path == path
    assert problem.message == f"{said}; run: recipe-gallery update-po ko"
    # the line is that of the message, which may begin with its comments
    assert line in "\n".join(text.splitlines()[problem.line - 1 :][:4])
    if check != "unknown":
        assert progress(project).percent < 100


def test_a_removed_catalog_is_told_and_counts_as_nothing(project: Project) -> None:
    catalog_of(project).unlink()
    (problem,) = told(project)
    assert (problem.path, problem.line, problem.check) == (catalog_of(project), 1, "missing")
    assert problem.message.startswith("messages of the page that are missing: 5, as 'A title'; ")
    assert progress(project).percent == 0
    assert 30 < add_up(language_status(project, "ko")).percent < 60
    assert told(project, "other") == []


def test_a_catalog_without_a_page_is_told_while_it_has_messages(project: Project) -> None:
    path = catalog_of(project, "gone")
    path.write_text(catalog_of(project).read_text())
    (problem,) = told(project, "gone")
    assert problem.check == "unknown"
    assert problem.message.startswith("messages that the page does not have: 5, as 'A title'; ")
    assert progress(project, "page").percent == 100
    header, *_messages = path.read_text().split("\n\n")
    path.write_text(f'{header}\n\n#~ msgid "Old."\n#~ msgstr "옛."\n')
    assert told(project, "gone") == []
    path.write_text("nonsense")
    assert [each.check for each in told(project, "gone")] == ["syntax"]


@pytest.mark.parametrize("damage", ["<<<<<<< ours\n", 'msgid "x\n', "\0"])
def test_a_template_that_cannot_be_read_is_told(project: Project, damage: str) -> None:
    path = project.locale / "templates/page.pot"
    path.write_text(path.read_text() + damage)
    with pytest.raises(GalleryError, match=r"page.pot:\d+: .*; run: recipe-gallery update-po$"):
        told(project)


def test_without_templates_a_catalog_is_its_own_measure(project: Project) -> None:
    shutil.rmtree(project.locale / "templates")
    (problem,) = check_project(project, [KOREAN])
    assert problem.message.endswith("run: recipe-gallery update-po")
    assert progress(project).percent == 100


def test_what_a_message_is_only_its_template_says(project: Project) -> None:
    path = catalog_of(project)
    text = re.sub(r'^msgstr ".+"', 'msgstr "``문장"', path.read_text(), flags=re.MULTILINE)
    path.write_text(text.replace("#: page.rst", "#. Comment in code: one line\n#: page.rst"))
    checks = [each.check for each in told(project) if each.breaks]
    assert checks == ["markup"] * 4  # and the one that is a comment is one
    text = catalog_of(project).read_text().replace('"``문장"', '"# noqa"')
    path.write_text(text.replace("#. Comment in code: one line\n", ""))
    assert "comment" in [each.check for each in told(project) if each.breaks]


# The memory


def translate(catalogs: dict[str, polib.POFile]) -> dict[str, polib.POFile]:
    for catalog in catalogs.values():
        for entry in catalog:
            entry.msgstr = entry.msgstr or f"번역: {entry.msgid}"
    return catalogs


def templates_of(**pages: list[str]) -> dict[str, polib.POFile]:
    return {name: template(*texts, source=f"{name}.rst") for name, texts in pages.items()}


def update(
    catalogs: dict[str, polib.POFile], templates: dict[str, polib.POFile]
) -> tuple[dict[str, polib.POFile], list[str]]:
    """Return the updated catalogs, and what is told of them."""
    made, outcomes = plan_update(catalogs, templates, language="ko")
    return made, describe_update(outcomes)


@pytest.fixture
def catalogs() -> dict[str, polib.POFile]:
    """What was translated before."""
    return translate(update({}, templates_of(**PAGES))[0])


def left(catalogs: dict[str, polib.POFile]) -> list[str]:
    return [
        entry.msgid
        for catalog in catalogs.values()
        for entry in catalog
        if not entry.obsolete and not entry.translated()
    ]


def test_a_renamed_page_costs_no_word(catalogs: dict[str, polib.POFile]) -> None:
    catalogs["page"][0].tcomment = "ask Kim"
    texts = [*PAGE[:4], "A last remark about nothing at all."]
    made, told = update(catalogs, templates_of(fresh=texts, other=OTHER))
    assert left(made) == [texts[4]]
    assert (made["fresh"][0].tcomment, made["fresh"][4].previous_msgid) == (
        "ask Kim",
        PAGE[4],
    )
    assert told == ["fresh: 4 taken from other catalogs, 1 to revise (fuzzy); 7 words to translate"]


def test_the_catalog_of_a_page_that_is_gone_keeps_its_translations(
    catalogs: dict[str, polib.POFile],
) -> None:
    made, _ = update(catalogs, templates_of(page=PAGE))
    kept = [(entry.msgid, entry.obsolete) for entry in made["other"]]
    assert kept == [(text, 1) for text in sorted(OTHER)]
    made, _ = update(made, templates_of(page=[*PAGE, *OTHER]))  # which has them now
    assert (left(made), [*made["other"]]) == ([], [])


def test_a_paragraph_that_moved_costs_no_word(catalogs: dict[str, polib.POFile]) -> None:
    moved = PAGE[2]
    after = templates_of(page=[text for text in PAGE if text != moved], other=[*OTHER, moved])
    made, told = update(catalogs, after)
    assert left(made) == []
    assert made["other"][-1].msgstr == f"번역: {moved}"
    assert not [entry for each in made.values() for entry in each if entry.obsolete]
    assert told == ["other: 1 taken from other catalogs"]
    again, told = update(made, after)
    assert (told, [*map(str, again.values())]) == ([], [*map(str, made.values())])


def test_a_removed_text_is_remembered_for_any_page(catalogs: dict[str, polib.POFile]) -> None:
    gone = PAGE[4]
    between, _ = update(catalogs, templates_of(page=PAGE[:4], other=OTHER))
    assert [entry.msgid for entry in between["page"] if entry.obsolete] == [gone]
    back = templates_of(page=PAGE[:4], other=[*OTHER, gone])
    made, _ = update(between, back)
    assert left(made) == []
    assert not [entry for entry in made["page"] if entry.obsolete]


def test_what_has_no_words_is_offered_to_nobody() -> None:
    texts = ["``default``", "``default``, or see it", ":doc:`/faq`", "``default`` again", "Words."]
    made, _ = update({}, templates_of(page=texts))
    again, told = update(made, templates_of(page=texts))
    assert told == []
    assert not [entry for entry in again["page"] if entry.fuzzy]


def test_what_a_person_doubts_stays_doubted(catalogs: dict[str, polib.POFile]) -> None:
    catalogs["page"][0].flags = ["fuzzy"]
    both = templates_of(page=PAGE, other=[*OTHER, PAGE[0]])
    made, _ = update(catalogs, both)
    assert made["page"][0].fuzzy
    assert left(made) == [PAGE[0]] * 2
    catalogs["other"].append(polib.POEntry(msgid=PAGE[0], msgstr="번역"))
    made, _ = update(catalogs, both)
    assert left(made) == [PAGE[0]]


def test_labels_that_others_have_translated_are_filled_in(project: Project) -> None:
    shipped = {entry.msgid: entry.msgstr for entry in shipped_translations(project, KOREAN)}
    assert shipped["Notebook"] == "노트북"  # the engine's
    pots = {"sphinx": template("Search", "Only here")}  # the first is Sphinx's
    made, _ = plan_update({}, pots, language="ko", shipped=shipped_translations(project, KOREAN))
    assert [entry.msgstr for entry in made["sphinx"]] == [shipped["Search"], ""]
    made["sphinx"][0].msgstr = "찾아보기"  # somebody has a better word
    again, _ = plan_update(made, pots, language="ko", shipped=shipped_translations(project, KOREAN))
    assert again["sphinx"][0].msgstr == "찾아보기"

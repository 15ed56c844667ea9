"""Catalogs beside their templates: what is missing is told, percents are true, a memory works."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polib
import pytest

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.project import Project, load_project
from sphinx_recorded_gallery.translate.check_po import Problem, check_project
from sphinx_recorded_gallery.translate.pot import find_labels, write_pots
from sphinx_recorded_gallery.translate.status import CatalogStatus, language_status
from sphinx_recorded_gallery.translate.update_po import merge
from tests.helpers.gallery import ENGINE

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
    conf = f'extensions = {[*ENGINE]}\nlocale_dirs = ["locale"]\ngettext_compact = False\n'
    (tmp_path / "conf.py").write_text(conf)
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


def test_a_language_without_catalogs_is_told_in_one_line(project: Project) -> None:
    path = project.root / "languages.toml"
    path.write_text(f'{path.read_text()}ja = {{ name = "日本語" }}\n')
    [problem] = check_project(project, [Language(code="ja", name="日本語")])
    assert (problem.path, problem.line) == (path, 3)
    assert problem.message.startswith("ja has no catalogs; run: ")
    assert problem.message.endswith(" new-language ja")


def progress(project: Project, name: str = "page") -> CatalogStatus:
    catalogs = language_status(project, "ko").catalogs
    (found,) = [catalog for catalog in catalogs if catalog.domain == name]
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
        "messages missing from the catalog: 3, such as "
        "'Later calls run what the first one made.'",
    ),
    "obsolete": (
        lambda text: text.replace('msgid "A last', '#~ msgid "A last').replace(
            text[text.rindex("msgstr") :], f"#~ {text[text.rindex('msgstr') :]}"
        ),
        '#~ msgid "A last',
        "missing",
        "messages missing from the catalog: 1, such as "
        "'A last remark about nothing in particular.'",
    ),
    "edited": (
        lambda text: text.replace('"Later calls run what', '"Later calls take what'),
        'msgid "Later calls take what',
        "unknown",
        "messages that the page does not have: 1, such as "
        "'Later calls take what the first one made.'",
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
    assert problem.message == f"{said}; run: recorded-gallery update-po ko"
    # the line is that of the message, which may begin with its comments
    assert line in "\n".join(text.splitlines()[problem.line - 1 :][:4])
    if check != "unknown":
        assert progress(project).percent < 100


def test_what_is_left_to_translate_is_told_and_is_no_mistake(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    path = catalog_of(project)
    path.write_text(path.read_text().replace(PAGES["page"]["A title"], ""))
    assert main(["check-po"]) == 0
    assert capsys.readouterr().out.endswith("no problems; 1 to translate\n")
    assert main(["check-po", "--complete"]) == 1  # as before a release
    path.unlink()
    assert main(["check-po"]) == 1
    assert progress(project).percent == 0
    assert 30 < language_status(project, "ko").total.percent < 60


def test_a_catalog_without_a_page_is_told_while_it_has_messages(project: Project) -> None:
    path = catalog_of(project, "gone")
    path.write_text(catalog_of(project).read_text())
    (problem,) = told(project, "gone")
    assert problem.check == "unknown"
    assert problem.message.startswith(
        "messages that the page does not have: 5, such as 'A title'; "
    )
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
    with pytest.raises(GalleryError, match=r"page.pot:\d+: .*; run: recorded-gallery update-po$"):
        told(project)


def test_without_templates_a_catalog_is_its_own_measure(project: Project) -> None:
    shutil.rmtree(project.locale / "templates")
    (problem,) = check_project(project, [KOREAN])
    assert problem.message.endswith("run: recorded-gallery update-po")
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


def test_labels_are_found_in_code_and_in_html(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/till.py").write_text("SAID = f'{_(\"Sum\")}: {_(name)}'\n")
    (tmp_path / "shop/list.html").write_text('<p title="{{ _(\'Price\') }}">{{ _("Sum") }}</p>')
    assert {*find_labels(tmp_path, "shop")} == {
        ("Sum", "shop/till.py"),
        ("Sum", "shop/list.html"),
        ("Price", "shop/list.html"),
    }

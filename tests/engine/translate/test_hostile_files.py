"""Files of translators that would stop a command, or speak to the terminal of whoever runs it."""

import re
from collections.abc import Callable
from pathlib import Path

import polib
import pytest

from sphinx_recorded_gallery.errors import GalleryError, visible
from sphinx_recorded_gallery.languages import Language, load_languages
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.translate.check_po import Problem, check_file, format_problems
from sphinx_recorded_gallery.translate.glossary import Glossary, GlossaryTerm
from sphinx_recorded_gallery.translate.status import language_status
from tests.helpers.gallery import Gallery

KOREAN = Language(code="ko", name="한국어")
SEEN = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]*")
CLEAR = "\x1b[2J"  # what empties a terminal


@pytest.fixture
def catalog(tmp_path: Path) -> Callable[..., list[Problem]]:
    """Return a function that writes a catalog of one message, and checks it."""

    def check(text: str, translation: str, header: str = "Language: ko") -> list[Problem]:
        path = tmp_path / "locale/ko/LC_MESSAGES/page.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = polib.POEntry(msgid=text, msgstr=translation)
        path.write_text(f'# of a test\nmsgid ""\nmsgstr "{header}\\n"\n\n{entry}')
        return check_file(path, KOREAN, (), tmp_path)

    return check


@pytest.mark.slow
@pytest.mark.parametrize("behind", ["", "개"])
def test_a_number_of_any_length_is_advice(
    catalog: Callable[..., list[Problem]], behind: str
) -> None:
    found = catalog("Several words" + " more" * 500, "1" + ",111" * 1_500 + behind)
    assert "numbers" in {each.check for each in found}


@pytest.mark.parametrize("letter", ["1", "a", "가", "_"])
def test_a_word_without_end_is_not_looked_at(
    catalog: Callable[..., list[Problem]], letter: str
) -> None:
    found = catalog("Several words" + " more" * 900, letter * 9_000)
    assert "size" in {each.check for each in found if each.breaks}


@pytest.mark.parametrize(
    ("text", "translation", "header"),
    [
        ("Text.", "텍스트.", f"Language: ko\\nContent-Type: text/plain; charset={CLEAR}"),
        ("Text ``a``.", f"``{CLEAR}\u202e`` 텍스트.", "Language: ko"),
        ("Text %(a)s.", f"%(a)s {{a:{CLEAR}\x9b}}.", "Language: ko"),
        ("Text `a <https://a.b>`__.", f"`a <https://{CLEAR}>`__.", "Language: ko"),
        ("Text ``a``.", "``\n::stop-commands::x`` 텍스트.", "Language: ko"),
    ],
)
def test_what_is_told_of_a_catalog_is_one_line_to_read(
    catalog: Callable[..., list[Problem]], text: str, translation: str, header: str
) -> None:
    found = catalog(text, translation, header)
    assert found
    lines = format_problems(found)
    assert all(SEEN.fullmatch(line) for line in lines.split("\n"))
    assert "\n::stop" not in lines
    assert all("\n" not in str(each) for each in found)


def test_the_name_of_a_file_is_told_and_obeyed_by_nobody() -> None:
    path = Path(f"a,line=1{CLEAR}\n::stop-commands::x.po")
    problem = Problem(path=path, line=1, message="bad", check="syntax")
    lines = format_problems([problem])
    assert all(SEEN.fullmatch(line) for line in lines.split("\n"))
    assert "\n::stop" not in lines
    assert visible("한국어 ä — 🎉\n") == "한국어 ä — 🎉\n"


@pytest.mark.parametrize(
    "charset", ["utf-7", "punycode", "unicode_escape", "idna", "utf-16", "hex"]
)
def test_a_catalog_is_read_as_reviewers_see_it(
    catalog: Callable[..., list[Problem]], charset: str
) -> None:
    header = f"Language: ko\\nContent-Type: text/plain; charset={charset}"
    (problem,) = catalog("Plain text.", "+2AA-", header)
    assert (problem.check, problem.breaks) == ("syntax", True)
    assert charset in problem.message


def test_the_head_of_a_catalog_names_people_and_takes_no_time(gallery: Gallery) -> None:
    gallery.set_languages("ko")
    path = gallery.translate("page", {"A title.": "이름."})
    evil = f"# \u202eevil{CLEAR} <a@b.c>, 2026.\n# {'x' * 200} <a@b.c>\n# a{' ' * 400_000}b\n"
    path.write_text(f"{evil}# 홍길동 <a@b.c>, 2026.\n{path.read_text()}")
    found = language_status(load_project(gallery.root), "ko").catalogs
    (page,) = [each for each in found if each.domain == "page"]
    assert page.translators == ("홍길동",)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("""ko = { name = "K", tag = 'ko" onload="x' }""", "not a valid language"),
        (r'ko = { name = "\u001b[2J" }', "name has invisible characters"),
        (r'"\u001b[2J" = { name = "K" }', "not a language code"),
        (f"ko = {'[' * 5_000}", "not valid TOML"),
        (f"ko = {'1' * 5_000}", "not valid TOML"),
    ],
)
def test_a_list_of_languages_brings_no_html_and_no_commands(
    tmp_path: Path, line: str, told: str
) -> None:
    (tmp_path / "languages.toml").write_text(f'en = {{ name = "English" }}\n{line}\n')
    with pytest.raises(GalleryError, match=told) as error:
        load_languages(tmp_path)
    assert SEEN.fullmatch(str(error.value))


def test_a_term_of_odd_letters_stops_no_check() -> None:
    glossary = Glossary([GlossaryTerm(forms=("ſ", "\u212a"), translations={"ko": ("가",)})])
    assert glossary.missing("ko", "A K and an s.", "나") == [("ſ", "가")]

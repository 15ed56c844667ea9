"""Rules of a site's style, beside its catalogs."""

from pathlib import Path

import polib
import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.translate.check_po import check_file
from sphinx_recorded_gallery.translate.style_rules import load_sentence_ends, load_style_rules
from tests.helpers.gallery import save_catalog

RULE = r"""
[[rule]]
name = "address"
pattern = '\bdu\b'
message = "{found}: write Sie"
bad = "Wenn du willst."
good = "Wenn Sie wollen."
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "de").mkdir()
    (tmp_path / "de/style.toml").write_text(RULE, encoding="utf-8")
    return tmp_path


def test_a_rule_advises_and_may_be_excused(folder: Path) -> None:
    path = folder / "de/LC_MESSAGES/page.po"
    said = polib.POEntry(msgid="If you like.", msgstr="Wenn du magst.")
    german = Language(code="de", name="Deutsch")
    save_catalog(path, said, language="de")
    [problem] = check_file(path, german, False, folder)
    assert (problem.check, problem.message) == ("address", "du: write Sie")
    assert not problem.breaks
    said.tcomment = "check-po: allow address (a quotation)"
    save_catalog(path, said, language="de")
    assert check_file(path, german, False, folder) == []


def test_a_message_may_have_braces(folder: Path) -> None:
    path = folder / "de/style.toml"
    path.write_text(RULE.replace("write Sie", "write {{Sie}}"), encoding="utf-8")
    catalog = folder / "de/LC_MESSAGES/page.po"
    save_catalog(catalog, polib.POEntry(msgid="If you.", msgstr="Wenn du."), language="de")
    [problem] = check_file(catalog, Language(code="de", name="Deutsch"), False, folder)
    assert problem.message == "du: write {Sie}"


def test_other_languages_have_other_rules(folder: Path) -> None:
    assert [rule.name for rule in load_style_rules(folder, "de")] == ["address"]
    assert load_style_rules(folder, "ko") == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[[rule]]", "[[rule]", "not valid TOML"),
        ("[[rule]]", "[rule]", "not a list of rules; begin each with"),
        ("good = ", "well = ", "rule 1: no good; add it as a text"),
        ("good = ", "well = 1\ngood = ", "rule 1: an unknown field: well; choose among name, "),
        ("bad = ", 'kinds = [["prose"]]\nbad = ', "rule 1: kinds has the wrong type; write a list"),
        ("bad = ", 'kinds = ["poem"]\nbad = ', "rule 1: an unknown kind; choose among prose"),
        ("bad = ", "scripts = [1]\nbad = ", "rule 1: scripts has the wrong type; write a list of"),
        ("bad = ", "around = true\nbad = ", "rule 1: around has the wrong type; write a number"),
        ("bad = ", "in_markup = 1\nbad = ", "rule 1: in_markup has the wrong type; write true or"),
        ('"Wenn du willst."', "1", "rule 1: bad has the wrong type; write a text"),
        ("{found}", "{found} {x}", "rule 1: the message has other braces than those of {found};"),
        ("{found}", "{found} {found:>{found}}", "rule 1: the message has other braces than those"),
        ("{found}", "{found} {found:>999999999}", "rule 1: the message has other braces than tho"),
        ("{found}", "{found} {", "rule 1: the message has other braces than those of {found};"),
        (RULE, "rule = [1]", "rule 1: not a table; begin it with [[rule]]"),
        (r"\bdu\b", "(", "rule 1: invalid pattern"),
        ("{found}", "it", "rule 1: the message does not show what was found"),
        ("Wenn du", "Wenn Du", "rule 1: the pattern finds nothing in the bad example"),
        ("Wenn Sie", "Wenn du", "rule 1: the pattern finds something in the good example"),
    ],
)
def test_a_wrong_rule_is_one_line(folder: Path, old: str, new: str, told: str) -> None:
    path = folder / "de/style.toml"
    path.write_text(RULE.replace(old, new), encoding="utf-8")
    with pytest.raises(GalleryError, match=r"de/style\.toml: ") as refused:
        load_style_rules(folder, "de")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("text", "is_sentence"),
    [
        ("빠릅니다", True),
        ("기다리세요", True),
        ("첫 호출 시간", False),
        ("CUDA 그래프 하나로 캡처", False),
    ],
)
def test_a_sentence_is_known_by_its_end_where_phrases_have_no_mark(
    text: str, is_sentence: bool
) -> None:
    assert bool(load_sentence_ends()["Kore"].search(text)) is is_sentence

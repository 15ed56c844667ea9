import shutil
import subprocess
from pathlib import Path

import polib
import pytest

from sphinx_recorded_gallery.commands.new_language import add_language
from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.languages import (
    Language,
    Mirror,
    choose_languages,
    load_languages,
    name_of,
)
from sphinx_recorded_gallery.translate.glossary import begin_glossary
from tests.helpers.gallery import ROOT, Gallery, git
from tests.helpers.modules import run_module


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages()
    site.configure(language="en")
    return site


def run(site: Gallery, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return run_module(*arguments, cwd=site.root, env=environment)


@pytest.mark.slow
def test_a_new_language_builds_at_once_and_fills_up(site: Gallery) -> None:
    (site.root / "locale").mkdir()
    (site.root / "locale/glossary.csv").write_text("term,note\ncache,\n")
    gone = site.root / "_build/gettext/gone.pot"  # of a page that was removed
    gone.parent.mkdir(parents=True)
    gone.touch()
    done = run(site, "sphinx_recorded_gallery", "new-language", "ja")
    assert done.returncode == 0, done.stderr
    assert 'ja = { name = "日本語", published = false }' in done.stdout
    assert " live ja\n" in done.stdout
    assert "CODEOWNERS" not in done.stdout  # there is none
    assert "make " not in done.stdout
    assert (site.root / "locale/ja/glossary.csv").read_text() == "term,translation\ncache,\n"
    assert (
        run(site, "sphinx_recorded_gallery", "update-po").stdout == "all catalogs are up to date\n"
    )
    assert len((site.root / "languages.toml").read_text().splitlines()) == 2
    assert not list(site.root.rglob("gone.po*"))
    page = site.root / "locale/ja/LC_MESSAGES/recipes/adding.po"
    catalog = polib.pofile(str(page))
    assert catalog.metadata["Language"] == "ja"
    # The engine ships no Japanese: its labels are translated here.
    labels = polib.pofile(str(site.root / "locale/ja/LC_MESSAGES/sphinx_recorded_gallery.po"))
    assert labels.find("Notebook").occurrences == [
        ("sphinx_recorded_gallery/pages/page_header.py", "")
    ]
    assert catalog.find("Why this is here.").comment.startswith("Comment in code")
    assert catalog.find("Why this is here.").occurrences == [("recipes_source/adding.py", "")]
    done = run(site, "sphinx_recorded_gallery", "html", "ja", "--", "-W", "-q")
    assert done.returncode == 0, done.stderr
    built = site.root / "_build/html/ja/recipes/adding.html"
    assert "A paragraph." in built.read_text()
    catalog.find("A paragraph.").msgstr = "段落です。"
    catalog.save()
    assert run(site, "sphinx_recorded_gallery", "html", "ja", "--", "-W", "-q").returncode == 0
    assert "段落です。" in built.read_text()
    # The first update puts what polib wrote into the one order and width; then nothing changes.
    assert run(site, "sphinx_recorded_gallery", "update-po").returncode == 0
    before = {path: path.read_bytes() for path in site.root.glob("locale/**/*.po")}
    assert "up to date" in run(site, "sphinx_recorded_gallery", "update-po").stdout
    assert {path: path.read_bytes() for path in site.root.glob("locale/**/*.po")} == before


@pytest.mark.slow
def test_the_stock_commands_work(site: Gallery) -> None:
    with (site.root / "languages.toml").open("a") as languages:
        languages.write('ko = { name = "한국어" }\n')
    assert run(site, "sphinx", "-q", "-b", "gettext", ".", "_build/gettext").returncode == 0
    template = (site.root / "_build/gettext/recipes/adding.pot").read_text()
    lines = (site.recipes / "adding.py").read_text().splitlines()
    line = lines.index("# Why this is here.") + 1
    assert f'recipes_source/adding.py:{line}\nmsgid "Why this is here."' in template
    done = run(site, "sphinx_intl", "update", "-p", "_build/gettext", "-l", "ko")
    assert done.returncode == 0, done.stderr
    path = site.root / "locale/ko/LC_MESSAGES/recipes/adding.po"
    empty, filled = '"A paragraph."\nmsgstr ""', '"A paragraph."\nmsgstr "글."'
    path.write_text(path.read_text().replace(empty, filled))
    done = run(site, "sphinx_intl", "stat", "-l", "ko")
    assert "1 translated" in done.stdout
    done = run(site, "sphinx", "-q", "-W", "-b", "html", "-D", "language=ko", ".", "out")
    assert done.returncode == 0, done.stderr
    assert "글." in (site.root / "out/recipes/adding.html").read_text()


@pytest.mark.slow
def test_languages_build_together_and_fail_alone(site: Gallery) -> None:
    (site.root / "languages.toml").write_text(
        'en = { name = "English" }\nko = { name = "한국어" }\nja = { name = "日本語" }\n'
    )
    assert run(site, "sphinx_recorded_gallery", "update-po").returncode == 0
    (site.root / "locale/ko/LC_MESSAGES/index.po").write_text("nonsense")
    done = run(site, "sphinx_recorded_gallery", "html", "--", "-W", "-q")
    assert done.returncode == 1
    assert "ko: WARNING" in done.stderr
    assert "index.po:1: not a catalog" in done.stderr
    assert "error: see the problems above, in ko" in done.stderr
    assert "en: done" in done.stdout
    assert "ja: done" in done.stdout
    for code in ("en", "ko", "ja"):  # ko too: its page is whole, in English
        assert (site.root / f"_build/html/{code}/recipes/adding.html").exists()


def test_the_script_is_known_and_what_follows_from_it() -> None:
    codes = {
        "pt_BR": ("Latn", False),
        "ru": ("Cyrl", False),
        "ko": ("Kore", True),
        "ja": ("Jpan", True),
        "zh_TW": ("Hant", True),
        "th": ("Thai", True),
        "ar": ("Arab", False),
        "sr_Latn": ("Latn", False),
        "qqq": ("Latn", False),
    }
    for code, known in codes.items():
        language = Language(code=code, name=code)
        found = language.script, language.words_touch_markup
        assert found == known, code


def test_mirrors_are_read_and_have_to_be_beginnings_of_addresses(tmp_path: Path) -> None:
    path = tmp_path / "languages.toml"
    line = 'en = { name = "English" }\nko = { name = "한국어", mirrors = { "%s" = "%s" } }\n'
    original, translated = "https://docs.example.org/", "https://docs.example.kr/pages/"
    path.write_text(line % (original, translated))
    mirror = Mirror(original=original, translated=translated)
    assert load_languages(tmp_path)["ko"].mirrors == (mirror,)
    for wrong in ("https://docs.example.kr", "docs.example.kr/", "javascript://x/", ""):
        path.write_text(line % (original, wrong))
        with pytest.raises(GalleryError, match="not the beginning of addresses"):
            load_languages(tmp_path)


def test_stand_ins_are_read_and_have_to_be_names(tmp_path: Path) -> None:
    path = tmp_path / "languages.toml"
    line = 'en = { name = "English" }\neo = { name = "Esperanto", stand_ins = { %s = "%s" } }\n'
    path.write_text(line % ("pkg", "pako"))
    assert load_languages(tmp_path)["eo"].stand_ins == (("pkg", "pako"),)
    for name, own_name in (("pkg", "pako; rm"), ("pkg", "-f"), ("pkg", ""), ('"a b"', "pako")):
        path.write_text(line % (name, own_name))
        with pytest.raises(GalleryError, match="in stand_ins is not a name"):
            load_languages(tmp_path)


@pytest.mark.slow
def test_a_page_leads_to_a_mirror(site: Gallery) -> None:
    (site.root / "languages.toml").write_text(
        'en = { name = "English" }\nko = { name = "한국어", '
        'mirrors = { "https://docs.example.org/" = "https://docs.example.kr/" } }\n'
    )
    page = site.root / "index.rst"
    text = "See `caching <https://docs.example.org/caching.html>`__."
    page.write_text(f"{page.read_text()}\n{text}\n")
    translation = "`캐싱 <https://docs.example.kr/caching.html>`__ 참고."
    site.translate("index", {text: translation})
    built = site.build(language="ko")
    assert 'href="https://docs.example.kr/caching.html"' in built.page("index")


def test_a_language_gets_all_terms_and_its_words_stay(tmp_path: Path) -> None:
    (tmp_path / "glossary.csv").write_text("term,note\ncache|caches,\nGPU,name\n")
    path = begin_glossary(tmp_path, "ja")
    assert path
    assert path.read_text() == "term,translation\ncache,\n"
    assert begin_glossary(tmp_path, "ja") is None
    assert begin_glossary(tmp_path / "none", "ja") is None


def test_two_languages_that_are_begun_at_once_merge(tmp_path: Path) -> None:
    for name in (".gitattributes", "languages.toml"):
        shutil.copy(ROOT / name, tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Begin")
    for code in ("de", "fr"):
        git(tmp_path, "switch", "-q", "-c", code, "main")
        add_language(tmp_path, code)
        git(tmp_path, "commit", "-qam", code)
    git(tmp_path, "merge", "-q", "de")
    assert {"de", "fr"} <= {*load_languages(tmp_path)}


def test_the_language_of_the_recipes_is_not_one_to_translate_into(tmp_path: Path) -> None:
    for line in ('ko = { name = "한국어", published = false }', ""):  # new, and there already
        with pytest.raises(GalleryError, match="en is the language of the sources"):
            add_language(tmp_path, "en")
        assert add_language(tmp_path, "ko") == line


def test_a_value_as_python_writes_it_is_told_with_its_line(tmp_path: Path) -> None:
    lines = 'en = { name = "English" }\nko = { name = "한국어", published = True }\n'
    (tmp_path / "languages.toml").write_text(lines, encoding="utf-8")
    with pytest.raises(GalleryError) as caught:
        load_languages(tmp_path)
    told = caught.value.describe(tmp_path)
    assert told.startswith("languages.toml: not valid TOML: Invalid value (at line 2, column ")
    assert "; mend the line: texts stand in quotes, and true and false have small letters" in told


def test_a_language_of_a_similar_code_is_suggested(tmp_path: Path) -> None:
    names = {"en": "English", "ko": "한국어", "zh_CN": "简体中文"}
    lines = "".join(f'{code} = {{ name = "{name}" }}\n' for code, name in names.items())
    (tmp_path / "languages.toml").write_text(lines, encoding="utf-8")
    meant = {"zh-CN": "zh_CN", "ZH": "zh_CN", "cn": "zh_CN", "KO": "ko", "kr": "ko"}
    remedies = {code: f"did you mean {name}?" for code, name in meant.items()}
    remedies["ko,zh_CN"] = "write spaces between codes: ko zh_CN"
    remedies |= dict.fromkeys(("ja", "zh_TW", "ca", "xx"), "to add one: ")
    for code, remedy in remedies.items():
        with pytest.raises(GalleryError) as caught:
            choose_languages(tmp_path, [code])
        assert caught.value.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            'en = { name = "English" }\nko = { name = "한국어" }\n\nko = { name = "말" }\n',
            "languages.toml:4: ko stands twice, first in line 2; remove one of the lines",
        ),
        (
            'ko = { name = "한국어" }\nen = { name = "English" }\n',
            "languages.toml: ko is first, where the language of the sources stands; move the line "
            "of en above all others",
        ),
    ],
)
def test_a_language_in_a_wrong_line_is_told(tmp_path: Path, lines: str, told: str) -> None:
    (tmp_path / "languages.toml").write_text(lines, encoding="utf-8")
    with pytest.raises(GalleryError) as caught:
        load_languages(tmp_path)
    assert caught.value.describe(tmp_path) == told


def test_a_missing_language_of_the_sources_is_told(tmp_path: Path) -> None:
    (tmp_path / "languages.toml").write_text('ko = { name = "한국어" }\n', encoding="utf-8")
    assert [*load_languages(tmp_path)] == ["ko"]  # whose texts may be the sources
    catalog = tmp_path / "locale/ko/LC_MESSAGES/index.po"
    catalog.parent.mkdir(parents=True)
    catalog.touch()
    with pytest.raises(GalleryError) as caught:
        load_languages(tmp_path)
    assert caught.value.describe(tmp_path) == (
        "languages.toml: ko is first, where the language of the sources stands, and has catalogs; "
        'add above it: en = { name = "English" }'
    )


@pytest.mark.parametrize(
    ("code", "name"),
    [("ja", "日本語"), ("de_AT", "Deutsch (Österreich)"), ("tlh", "tlh"), ("qaa_Latn", "qaa_Latn")],
)
def test_a_language_that_babel_does_not_know_is_called_by_its_code(code: str, name: str) -> None:
    assert name_of(code) == name

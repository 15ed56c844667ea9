"""Every bad input ends in one line that says what, where and what to do; never in a traceback."""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.commands import parse_arguments
from sphinx_recorded_gallery.errors import GalleryError, describe_error, suggest
from sphinx_recorded_gallery.project import load_project
from tests.helpers.gallery import ENGINE, RECIPE, ROOT, Gallery
from tests.helpers.modules import run_module

TITLED = '"""\nTitle\n=====\n"""\n\nprint(1)\n'


def write(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda root: root.joinpath(name).write_bytes(content) and None


def append(name: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / name).open("a") as file:
            file.write(text)

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).unlink()


LANGUAGES = append("languages.toml", 'en = { name = "English" }\nko = { name = "한국어" }\n')
ENDS = append("conf.py", f"\nimport os\nif os.getpid() != {os.getpid()}:\n    os._exit(0)\n")

CASES: dict[str, tuple[Callable[[Path], None], list[str], str]] = {
    "conf.py raises": (append("conf.py", "\n1/0\n"), ["check"], "ZeroDivisionError"),
    "conf.py ends a build": (ENDS, ["html"], "en: failed with exit status 0 in "),
    "conf.py ends an extraction": (ENDS, ["update-po"], "cannot be extracted: Sphinx found none"),
    "a recipe's name cannot be shown": (
        write("recipes_source/a\nb.py", b""),
        ["check"],
        "recipes_source/a<U+000A>b.py: a page cannot have this name; rename the file",
    ),
    "a recipe's name is too long for a file beside it": (
        write(f"recipes_source/{'é' * 116}.py", b""),
        ["check"],
        ".py: a page cannot have this name of 232 bytes; take one of at most 230",
    ),
    "a language without catalogs": (
        LANGUAGES,
        ["check-po"],
        "locale/templates:1: no templates list the messages of pages",
    ),
    "no conf.py": (
        remove("conf.py"),
        ["check"],
        "; run the command in the folder of conf.py, or name that folder with --root",
    ),
    "conf.py has a null byte": (
        append("conf.py", "\0\n"),
        ["check"],
        "a null byte; remove it, or save in UTF-8",
    ),
    "misspelt setting": (
        append("conf.py", "\nrecorded_gallery_recording = 'kept'\n"),
        ["check"],
        "conf.py: no setting is named recorded_gallery_recording; did you mean "
        "recorded_gallery_recordings?",
    ),
    "unknown setting": (
        append("conf.py", "\nrecorded_gallery_qqqq = 1\n"),
        ["check"],
        "conf.py: no setting is named recorded_gallery_qqqq; choose among: recorded_gallery_recor",
    ),
    "setting of an extension that is not named": (
        append("conf.py", f"\nextensions = [{ENGINE[0]!r}]\nrecorded_gallery_gpu_figures = True\n"),
        ["check"],
        "conf.py: recorded_gallery_gpu_figures is a setting of "
        "sphinx_recorded_gallery.measurements, which extensions do not name; add ",
    ),
    "no recipes": (
        remove("recipes_source/one.py"),
        ["check"],
        "recipes_source; write one there or mend sphinx_gallery_conf['examples_dirs'] in conf.py",
    ),
    "no gallery": (
        append("conf.py", "\nsphinx_gallery_conf = {'examples_dirs': [], 'gallery_dirs': []}\n"),
        ["check"],
        "conf.py: sphinx_gallery_conf names no gallery; name a folder in examples_dirs and one in ",
    ),
    "recording.toml is broken": (
        write("recipes_source/recording.toml", b"["),
        ["record", "--device", "cpu"],
        "recording.toml",
    ),
    "languages.toml is broken": (write("languages.toml", b"en ="), ["html"], "languages.toml"),
    "languages.toml is empty": (
        write("languages.toml", b""),
        ["html"],
        "languages.toml: no language; add that of the sources first",
    ),
    "unknown language": (
        LANGUAGES,
        ["html", "xx"],
        "no language 'xx' in languages.toml; there are: en, ko; to add one: ",
    ),
}
for line in ('en = "English"', "en = { name = 3 }"):
    told = "languages.toml: en: not a valid language; write en = {"
    CASES[f"a line is {line}"] = (write("languages.toml", line.encode()), ["html"], told)
for code in ("?", "日本", "qq"):
    told = f"'{code}' is not the code of a known language"
    CASES[f"a language is called {code}"] = (LANGUAGES, ["new-language", code], told)


def make(root: Path) -> Path:
    gallery = Gallery(root)
    conf = root / "conf.py"
    conf.write_text(conf.read_text() + '\nlocale_dirs = ["locale"]\n')
    (gallery.recipes / "one.py").write_text(TITLED)
    return root


@pytest.mark.parametrize("name", CASES)
def test_a_bad_input_is_one_line(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change, arguments, expected = CASES[name]
    monkeypatch.chdir(make(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the builds that commands start
    change(tmp_path)
    assert main(arguments) == 1
    out, err = capfd.readouterr()
    said = [line for line in (out + err).splitlines() if expected in line]
    assert said, out + err
    assert "Traceback" not in out + err
    assert "please report" not in out + err


def test_a_taken_port_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["live", "en", "--port", str(port)]) == 1
    assert capfd.readouterr().err.startswith(f"error: port {port}: Address already in use; run: ")


def test_a_plain_build_tells_of_a_misspelt_setting(gallery: Gallery) -> None:
    gallery.configure(recorded_gallery_thumbnail=False)
    warnings = gallery.build().warnings
    assert (
        "conf.py: no setting is named recorded_gallery_thumbnail; did you mean "
        "recorded_gallery_thumbnails?"
    ) in warnings


BUILDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a page is not UTF-8": (
        write("faq.rst", b"Questions\n=========\n\nGr\xfc\xdfe\n"),
        "error: faq.rst:4: byte 0xfc is not valid UTF-8; save the file in UTF-8",
    ),
    "an extension is missing": (append("conf.py", '\nextensions += ["nope"]\n'), "nope"),
    "no gallery header": (remove("recipes_source/GALLERY_HEADER.rst"), "GALLERY_HEADER"),
    "a hook of the project fails": (
        append(
            "conf.py", "\ndef setup(app):\n    app.connect('builder-inited', lambda a: 1 / 0)\n"
        ),
        "unexpected ZeroDivisionError in conf.py:19: division by zero; please report it with",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDS)
def test_a_build_that_cannot_go_on_ends_in_one_line(name: str, tmp_path: Path) -> None:
    change, expected = BUILDS[name]
    make(tmp_path)
    change(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ("sphinx_recorded_gallery", "html", "--", "-q")
    done = run_module(*command, cwd=tmp_path, env=environment)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    assert expected in errors[0], done.stderr
    assert len(errors) <= 2  # of the language, and of the whole


def test_what_nobody_foresaw_keeps_its_traceback() -> None:
    try:
        raise KeyError("key")
    except KeyError as error:
        line = describe_error(error)
    assert re.match(
        r"unexpected KeyError in test_errors\.py:\d+: 'key'; please report it with ", line
    )
    report = Path(line.rpartition(" ")[2])
    assert "Traceback" in report.read_text()
    report.unlink()


def test_what_is_interrupted_ends_quietly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_unused: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.chdir(make(tmp_path))
    monkeypatch.setattr(
        "sphinx_recorded_gallery.record.check_recordings.check_recordings", interrupted
    )
    assert main(["check"]) == 130
    assert capsys.readouterr().err == "interrupted; what was finished is kept\n"


def test_remedies_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert suggest("record", "adding", "--force") == "recorded-gallery record adding --force"
    assert suggest("html") == "recorded-gallery html"
    monkeypatch.setenv("RECORDED_GALLERY_ROOT", "my docs")
    assert suggest("html", "ko") == "recorded-gallery html ko --root 'my docs'"


@pytest.mark.parametrize(
    "name",
    ["a;touch PWNED;b", "a b", "-x", "--force", "$(touch PWNED)", "it's", "a`b`", "각", "a#b"],
)
def test_a_remedy_that_is_pasted_runs_what_it_names(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDED_GALLERY_ROOT", "a folder")
    program, *arguments = shlex.split(suggest("record", name, "--force"))
    options = parse_arguments(arguments)
    assert options.recipes == [name]
    assert options.force
    assert str(options.root) == "a folder"
    assert program == "recorded-gallery"


def test_a_project_whose_recipes_sphinx_gallery_would_run_is_refused(tmp_path: Path) -> None:
    conf = make(tmp_path) / "conf.py"
    conf.write_text(f'{conf.read_text()}\nextensions = ["sphinx_gallery.gen_gallery"]\n')
    with pytest.raises(GalleryError) as refused:
        load_project(tmp_path)
    assert "conf.py: extensions do not name sphinx_recorded_gallery" in describe_error(
        refused.value
    )
    conf.write_text(f'{conf.read_text()}\nextensions += ["sphinx_recorded_gallery"]\n')
    assert load_project(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evil\x1b]0;title\x07.po", "x\n::error::from a file name.po"])
def test_no_command_speaks_to_the_terminal_in_the_name_of_a_file(
    gallery: Gallery,
    name: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    gallery.write("adding", TITLED)
    gallery.set_languages("ko")
    path = gallery.translate("index", {"Site": "사이트"})
    path.rename(path.with_name(name))
    machine = gallery.recordings / name
    machine.mkdir(parents=True)
    (machine / "adding.ipynb").write_text("{}")
    templates = str(gallery.root / "gettext")
    for command in (["update-po", "--templates", templates], ["check"]):
        main([*command, "--root", str(gallery.root)])
        told = "".join(capfd.readouterr())
        assert "from a file name" in told or "<U+001B>]0;title<U+0007>" in told
        assert "\x1b" not in told
        assert not re.search("^::", told, re.MULTILINE)


def test_a_terminal_without_the_letters_of_a_name_is_told_escapes(gallery: Gallery) -> None:
    gallery.write("한글", TITLED)
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sphinx_recorded_gallery", "check"]
    done = subprocess.run(command, cwd=gallery.root, env=environment, capture_output=True)
    assert rb"\ud55c\uae00  missing" in done.stdout
    assert done.stderr == b""


@pytest.mark.slow
def test_a_build_after_check_leaves_out_what_check_told(tmp_path: Path) -> None:
    gallery = Gallery(tmp_path)
    gallery.add("stale", RECIPE)
    gallery.write("stale", RECIPE.replace("1 + 2", "1 + 3"))
    gallery.add("damaged", RECIPE)
    (gallery.recordings / "damaged.ipynb").write_text("{")
    gallery.write("broken", '"""\nTitle\n=====\n"""\nx = = 1\n')
    (tmp_path / "index.rst").write_text("Site\n====\n\nWords\n\n.. nothing::\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def list_lines(*options: str) -> list[str]:
        command = ("sphinx_recorded_gallery", "html", *options, "--", "-q", "-n", "-W")
        done = run_module(*command, cwd=tmp_path, env=environment)
        return done.stderr.splitlines()

    *told, error = list_lines("--build", "first")
    assert error == "error: see the problems above, in en"
    *left, error = list_lines("--build", "second", "--after-check")
    assert error == "error: see the problems above, in en; see what `check` told of recordings"
    for name in ("broken.py:5: syntax error", "not a whole notebook", "stale.py: stale"):
        assert [line for line in told if name in line], told
        assert not [line for line in left if name in line]
    assert [line for line in left if 'Unknown directive type "nothing"' in line]
    (tmp_path / "index.rst").write_text("Site\n====\n\nWords\n")
    only = ["error: see what `check` told of recordings"]
    assert list_lines("--build", "second", "--after-check") == only


def test_a_misspelt_setting_of_any_extension_is_told(gallery: Gallery) -> None:
    gallery.add()
    conf = gallery.root / "conf.py"
    conf.write_text(
        f"{conf.read_text()}\n"
        "recorded_galery_site_url = 'https://a.org/'\nhtml_static_paths = ['static']\n"
        "html_title, html_titles = 'A title', ['A', 'title']\nsite_url, release_notes = '', ''\n"
    )
    warnings = gallery.build().warnings
    right_names = {"recorded_galery_site_url": "recorded_gallery_site_url"}
    right_names["html_static_paths"] = "html_static_path"
    for wrong, right in right_names.items():
        assert f"conf.py: no setting is named {wrong}; did you mean {right}?" in warnings
    assert warnings.count("no setting is named") == 2

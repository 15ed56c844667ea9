"""What README and the documents beside it name exists."""

import re
import subprocess

import pytest

from tests.helpers.gallery import ROOT

TEXTS = ("README.md", "CONTRIBUTING.md", "MAINTAINING.md", "TRANSLATING.md", "SECURITY.md")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(name: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a text."""
    headings = re.findall(r"^#+ (.*)$", read(name), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def test_every_folder_is_on_the_map() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    folders = {path.partition("/")[0] for path in tracked.stdout.splitlines() if "/" in path}
    assert folders, "this test needs a checkout of git"
    missing = [name for name in folders if f"`{name}/`" not in read("README.md")]
    assert not missing, f"README.md says nothing of {missing}"


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_and_command_leads_somewhere(name: str) -> None:
    text = read(name)
    for path, _hash, anchor in re.findall(r"\]\((?!https:)([^)#]*)(#?)([^)]*)\)", text):
        assert (ROOT / path).exists(), path
        assert not anchor or anchor in anchors(path or name), anchor
    targets = set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert named <= targets, named - targets


@pytest.mark.parametrize("name", TEXTS)
def test_every_variable_of_a_command_is_one_of_the_makefile(name: str) -> None:
    commands = re.findall(r"\bmake [a-z-]+((?: [A-Z_]+=[^\s`]*)*)", read(name))
    named = set(re.findall(r"([A-Z_]+)=", " ".join(commands)))
    makefile = read("Makefile")
    missing = [variable for variable in named if f"({variable})" not in makefile]
    assert not missing, f"{name} names {missing}"


def test_the_lists_of_what_to_change_are_short() -> None:
    _start, _heading, rest = read("MAINTAINING.md").partition("## To change X, see Y\n")
    text = rest.partition("\n## ")[0]
    _introduction, *groups = text.split("\n### ")
    assert 5 <= len(groups) <= 9
    for group in groups:
        name = group.partition("\n")[0]
        rows = group.partition("|---|---|---|\n")[2].splitlines()
        assert 2 <= len(rows) <= 18, name  # seen at once
        subjects = [row.split(" | ")[0] for row in rows]
        assert len(set(subjects)) == len(subjects), name


def test_each_group_of_the_list_is_linked_at_its_head() -> None:
    text = read("MAINTAINING.md").partition("## To change X, see Y\n")[2].partition("\n## ")[0]
    introduction, *groups = text.split("\n### ")
    for group in groups:
        anchor = group.partition("\n")[0].lower().replace(" ", "-")
        assert f"(#{anchor})" in introduction

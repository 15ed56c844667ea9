"""What README and CONTRIBUTING name is there."""

import re
import subprocess

import pytest

from tests.helpers.gallery import ROOT

TEXTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md")


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

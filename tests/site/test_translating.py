"""The guide for translators does what it says."""

import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import polib
import pytest

from tests.helpers.gallery import ROOT, copy_repository

GUIDE = ROOT / "translating.rst"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh clone, with the packages that are installed already."""
    folder = tmp_path / "torch-compile-recipes"
    copy_repository(folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_every_command_of_the_guide_is_walked_through_below() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"code-block:: bash\n\n((?: +.*\n)+)", text))
    assert re.findall(r"^ +(make .*)$", blocks, re.MULTILINE) == [
        "make new-language LANGUAGES=de",
        "make live LANGUAGES=de",
        "make live LANGUAGES=ko",
        "make check-po LANGUAGES=ko",
    ]


def test_the_example_of_the_guide_is_in_the_catalog() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    example = re.search(r'msgid "(.*)"\n *msgstr "(.*)"', text)
    catalog = polib.pofile(str(ROOT / "locale/ko/LC_MESSAGES/recipes/compile_modes.po"))
    assert catalog.find(example[1]).msgstr == example[2]


def read(address: str) -> str:
    try:
        with urllib.request.urlopen(address) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError:  # the first build has not made the page yet
        return ""


def run(clone: Path, make: list[str], target: str) -> str:
    done = subprocess.run([*make, *target.split()], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_first_corrected_sentence(clone: Path, make: list[str]) -> None:
    live = subprocess.Popen(
        [*make, "live", "LANGUAGES=ko", "PORT=0"],
        cwd=clone,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        address = ""
        while not address:
            found = re.search(r"http://\S+/index.html", live.stdout.readline())
            address = found[0] if found else ""
        page = address.replace("index.html", "recipes/compile_modes.html")
        path = clone / "locale/ko/LC_MESSAGES/recipes/compile_modes.po"
        assert "Pitfalls" in path.read_text()  # as the guide shows it
        catalog = polib.pofile(str(path))
        catalog.find("Pitfalls").msgstr = "조심할 함정"
        catalog.save()
        deadline = time.monotonic() + 120
        while "조심할 함정" not in read(page):
            assert time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        live.send_signal(signal.SIGINT)
        os.killpg(live.pid, signal.SIGTERM)
        live.wait()
    assert "no problems" in run(clone, make, "check-po LANGUAGES=ko")


@pytest.mark.slow
def test_a_new_language(clone: Path, make: list[str]) -> None:
    run(clone, make, "new-language LANGUAGES=de")
    assert (clone / "locale/de/LC_MESSAGES/recipes/compile_modes.po").exists()
    for path in (ROOT / "locale/templates").rglob("*.pot"):  # they hold what pages say
        made = clone / path.relative_to(ROOT)
        assert made.read_bytes() == path.read_bytes(), "run `make update-po`"
    # Empty catalogs of a language that is not published are no problem.
    assert "no problems" in run(clone, make, "check-po LANGUAGES=de")

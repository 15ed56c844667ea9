import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from playwright.sync_api import Browser

from chromium import find_chromium, launch
from gallery import RECIPE, ROOT, Gallery

# Machines differ in speed, and no test is about it.
settings.register_profile("patient", deadline=None)
# `make mutants` asks whether a test fails, not for the smallest example, a thousand times.
quick = {"phases": (Phase.explicit, Phase.generate), "max_examples": 40, "database": None}
settings.register_profile("mutants", deadline=None, derandomize=True, **quick)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "patient"))


@pytest.fixture(scope="session", autouse=True)
def _share_recordings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let all processes of this run use the same recordings of test recipes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    os.environ.setdefault("RECORDINGS_OF_TESTS", str(folder / "recordings"))


@pytest.fixture(scope="session")
def languages_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site in all languages, rendered as `make html` and CI do: every warning is an error."""
    out = tmp_path_factory.mktemp("site")
    source = out / "source"
    made = {str(ROOT): {"_build", "recipes", "tests"}}  # by builds, or not part of the site
    shutil.copytree(
        ROOT,
        source,
        ignore=lambda folder, names: {
            name
            for name in names
            if name in made.get(folder, ()) or name.startswith(".") or name.endswith(".mo")
        },
    )
    command = [sys.executable, "-m", "recipe_gallery", "html", "--sphinx-options=-n -W -q"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return source / "_build" / "html"


@pytest.fixture(scope="module")  # no longer: Playwright's event loop would be in the way of others
def browser() -> Iterator[Browser]:
    if not find_chromium():
        if os.environ.get("CI"):
            pytest.fail("no Chromium; install it, for example: apt-get install chromium")
        pytest.skip("no Chromium, so nothing is tested in a browser; install chromium")
    with launch() as browser:
        yield browser


@pytest.fixture
def extensions() -> list[str]:
    """What the gallery of a test names in conf.py: the engine alone, but for tests of the site."""
    return ["recipe_gallery"]


@pytest.fixture
def gallery(tmp_path: Path, extensions: list[str]) -> Gallery:
    """An empty gallery."""
    return Gallery(tmp_path, extensions)


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    """A gallery with one recorded recipe, ``RECIPE``, called adding."""
    gallery.add()
    return gallery


@pytest.fixture
def recipe() -> str:
    """A recipe with text, code, a table and a figure."""
    return RECIPE

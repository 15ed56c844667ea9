import gc
import hashlib
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings
from playwright.sync_api import Browser

from tests.helpers.chromium import find_chromium, launch
from tests.helpers.gallery import ENGINE, ROOT, Gallery, copy_repository
from tests.helpers.made_once import compile_templates_once

# Machines differ in speed, and no test is about it.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Sphinx tells a thousand things in each build that nobody here reads.
logging.disable(logging.DEBUG)

compile_templates_once()

# Threads of PyTorch would wait for cores that other tests have.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Where the site and its sources would be.
os.environ.setdefault("SITE_URL", "https://example.org/torch-compile-recipes/")
os.environ.setdefault("REPOSITORY_URL", "https://github.com/example/torch-compile-recipes")

# Whatever needs one of these is slow: the whole site, a browser, workers, a project, a package.
SLOW = {"languages_site", "browser", "scheduler", "recorded_once", "stranger", "wheel"}

# Files that take longest, in the order in which they begin: while the first has the site built,
# others find tests that need none.
FIRST = """
browser faults translating dask_runner constructs foreign_project site search snippets live
errors languages record_recipes browser_engines hostile_catalogs site_languages charts
""".split()  # noqa: SIM905


@pytest.hookimpl(optionalhook=True)  # there is none with -p no:xdist
def pytest_xdist_auto_num_workers() -> int:
    """Use every core, and one process more: tests wait for deadlines, for processes, for pages."""
    affinity = getattr(os, "sched_getaffinity", None)  # which knows of containers
    return (len(affinity(0)) if affinity else os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes minutes, so that no process is left alone with it at the end."""

    def place(item: pytest.Item) -> tuple[int, bool]:
        name = item.path.stem.removeprefix("test_")
        is_fast = not item.get_closest_marker("slow")
        return FIRST.index(name) if name in FIRST else len(FIRST), is_fast

    for item in items:
        if SLOW & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    items.sort(key=place)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector pass by what stays, and look at the rest less often.

    What stays are modules and thousands of tests. A page has thousands of nodes that refer to each
    other: looking at them after every 700 new ones takes a tenth of a build.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000)


@pytest.fixture(autouse=True)
def _plain_suggestions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a command of the test before has kept for suggestions."""
    monkeypatch.setenv("RECORDED_GALLERY_ROOT", ".")
    monkeypatch.delenv("RECORDED_GALLERY_DEVICE", raising=False)
    monkeypatch.delenv("RECORDED_GALLERY_PROGRAM", raising=False)


@pytest.fixture(scope="session", autouse=True)
def _share_recordings() -> None:
    """Record each of the tests' recipes once a day, and anew when what records has changed."""
    digest = hashlib.sha256(f"{sys.version} {date.today()}".encode())
    for package in ("ipykernel", "ipython", "nbclient", "nbformat", "matplotlib"):
        digest.update(version(package).encode())
    engine = ROOT / "sphinx_recorded_gallery"
    files = [*engine.glob("*.py"), *engine.glob("recipes/**/*.py"), *engine.glob("record/**/*.py")]
    for path in [ROOT / "tests/helpers/gallery.py", *sorted(files)]:
        digest.update(path.read_bytes())
    kept = ROOT / "_build/recordings_of_tests"
    for folder in kept.glob("*"):
        if time.time() - folder.stat().st_mtime > 24 * 3600:
            shutil.rmtree(folder, ignore_errors=True)
    os.environ.setdefault("RECORDINGS_OF_TESTS", str(kept / digest.hexdigest()[:16]))


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command make, with this Python in place of .venv; what would install fails."""
    folder = tmp_path_factory.mktemp("make") / "venv"
    program = folder / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        'case "$2" in pip | venv) echo "a test would install: $*" >&2; exit 1 ;; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    program.chmod(0o755)
    for stamp in ("python", "html", "record", "test"):
        (folder / stamp).touch()
    return ["make", f"VENV={folder}", f"PYTHON={program}"]


@pytest.fixture(scope="session")
def languages_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site in all languages, rendered as `make html` and CI do: every warning is an error."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder  # by all processes
    source = shared / "site"
    built = source / "_build" / "html"
    with FileLock(shared / "site.lock"):
        if not built.exists():
            copy_repository(source)
            command = [sys.executable, "-m", "sphinx_recorded_gallery", "html"]
            command += ["--", "-n", "-W", "-q"]
            done = subprocess.run(command, cwd=source, capture_output=True, text=True)
            if done.returncode:
                shutil.rmtree(source)  # for other processes to find the same
            assert done.returncode == 0, done.stderr
    return built


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
    return [*ENGINE]


@pytest.fixture
def gallery(tmp_path: Path, extensions: list[str]) -> Gallery:
    """An empty gallery."""
    return Gallery(tmp_path, extensions)


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    """A gallery with one recorded recipe, ``RECIPE``, called adding."""
    gallery.add()
    return gallery

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from pseudo import PSEUDO_CODE, make_pseudo_catalogs

from chromium import serve
from recipe_gallery.project import load_project


@pytest.fixture
def extensions() -> list[str]:
    return ["recipe_gallery", "second_call"]


@pytest.fixture(scope="module")
def address(languages_site: Path) -> Iterator[str]:
    """The address of the site in all languages."""
    with serve(languages_site) as address:
        yield address


@pytest.fixture(scope="session")
def pseudo_site(shared: Path, languages_site: Path) -> Path:
    """The site in accented English, with nothing left to translate."""
    root, code = languages_site.parents[1], PSEUDO_CODE
    out, locale = root / "_build/pseudo/html", "_build/pseudo/locale"
    with FileLock(shared / "pseudo.lock"):
        if not out.exists():
            make_pseudo_catalogs(load_project(root), root / "_build/gettext", root / locale)
            command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html"]
            command += ["-D", f"language={code}", "-D", f"locale_dirs={locale}", ".", str(out)]
            command += ["-D", "suppress_warnings=recipe_gallery.language"]  # of no list
            done = subprocess.run(command, cwd=root, capture_output=True, text=True)
            if done.returncode:
                shutil.rmtree(out, ignore_errors=True)  # for other processes to find the same
            assert done.returncode == 0, done.stderr
    return out

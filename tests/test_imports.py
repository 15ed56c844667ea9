"""The packages keep to the directions and the number of lines of tests/imports.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from gallery import ROOT, Gallery
from imports import (
    ENGINE,
    MOST_LINES,
    SITE,
    count_lines,
    find_modules,
    find_rooms,
    find_wrong_imports,
)


def test_imports_have_the_directions_of_the_design() -> None:
    assert list(find_wrong_imports()) == []


def test_the_packages_have_not_grown() -> None:
    assert count_lines() <= MOST_LINES, "which user pays for it? MOST_LINES stands in imports.py"


def write_packages(root: Path, modules: dict[str, str]) -> None:
    names = [ENGINE, SITE, f"{ENGINE}/recipes", f"{ENGINE}/record", f"{ENGINE}/pages"]
    texts = {f"{name}/__init__": "" for name in names} | modules
    for name, text in texts.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("module", "text", "imported"),
    [
        ("recipes/a", "from ..pages import b", "recipe_gallery.pages"),
        ("record/a", "from ..pages import b", "recipe_gallery.pages"),
        ("pages/a", "from ..record.b import c", "recipe_gallery.record.b"),
        ("build", "def f():\n    from . import record", "recipe_gallery.record"),
        ("__init__", "from .record import b", "recipe_gallery.record.b"),
        ("search", "import second_call", "second_call"),
        ("search", "from .__main__ import main", "recipe_gallery.__main__"),
    ],
)
def test_a_wrong_direction_is_found(tmp_path: Path, module: str, text: str, imported: str) -> None:
    beside = {f"{ENGINE}/record/b": "", f"{ENGINE}/__main__": "from .record import b"}
    write_packages(tmp_path, beside)
    assert list(find_wrong_imports(tmp_path)) == []
    write_packages(tmp_path, beside | {f"{ENGINE}/{module}": text})
    found = f"{ENGINE}/{module}.py: must not import {imported}"
    assert found in list(find_wrong_imports(tmp_path))


def test_a_cycle_of_rooms_is_found(tmp_path: Path) -> None:
    write_packages(
        tmp_path,
        {
            f"{ENGINE}/build": "from .search import a",
            f"{ENGINE}/search": "from .pages.a import b",
            f"{ENGINE}/pages/a": "from .. import build",
        },
    )
    [found] = find_wrong_imports(tmp_path)
    assert found.startswith("rooms in a cycle: ")
    assert {"build", "search", "pages"} <= set(found.split(" "))


def test_the_graph_names_the_rooms() -> None:
    rooms = find_rooms(find_modules(ROOT))
    assert {"recipes", "record", "pages", "translate", "live", SITE} <= set(rooms)
    assert "recipes" in rooms["pages"]


def test_building_a_site_imports_nothing_of_recording(site: Gallery) -> None:
    code = (
        "import sys; from sphinx.cmd.build import main; status = main(sys.argv[1:]); "
        "kept_out = ('recipe_gallery.record.', 'nbclient', 'torch'); "
        "print([each for each in sys.modules if each.startswith(kept_out)]); "
        "sys.exit(status)"
    )
    site.add_extension("second_call")
    command = [sys.executable, "-c", code, "-q", "-b", "html", site.root, site.root / "out"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"

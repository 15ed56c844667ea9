"""The packages keep to the directions and sizes of tests/imports.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from gallery import ROOT, Gallery
from imports import (
    ENGINE,
    LIMITS,
    SITE,
    find_modules,
    find_rooms,
    find_too_large,
    find_wrong_imports,
)


def test_imports_have_the_directions_of_the_design() -> None:
    assert list(find_wrong_imports()) == []


@pytest.mark.parametrize("kind", LIMITS)
def test_sizes_are_within_their_limits(kind: str) -> None:
    assert find_too_large(kind) == []


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


def test_what_is_too_large_is_found(tmp_path: Path) -> None:
    long = "class A:\n    def f(self, a, b, /, c, d, *, e, g, h):\n" + "        x = 1\n" * 300
    files = {f"{ENGINE}/pages/m{number}": "" for number in range(9)}
    write_packages(tmp_path, files | {f"{ENGINE}/long": long})
    assert find_too_large("lines of a module", tmp_path) == [
        "recipe_gallery/long.py: 302 lines of a module"
    ]
    assert find_too_large("lines of a function", tmp_path) == [
        "recipe_gallery/long.py:2: f: 301 lines of a function"
    ]
    assert find_too_large("parameters of a function", tmp_path) == [
        "recipe_gallery/long.py:2: f: 7 parameters of a function"
    ]
    assert find_too_large("files of a folder", tmp_path) == [
        "recipe_gallery/pages: 10 files of a folder"
    ]


def test_the_graph_names_the_rooms() -> None:
    rooms = find_rooms(find_modules(ROOT))
    assert {"recipes", "record", "pages", "translate", "live", SITE} <= set(rooms)
    assert "recipes" in rooms["pages"]


def test_building_a_site_imports_nothing_of_recording(site: Gallery) -> None:
    code = (
        "import sys; from sphinx.cmd.build import main; status = main(sys.argv[1:]); "
        "kept_out = ('recipe_gallery.record', 'nbclient', 'torch'); "
        "print([each for each in sys.modules if each.startswith(kept_out)]); "
        "sys.exit(status)"
    )
    site.add_extension("second_call")
    command = [sys.executable, "-c", code, "-q", "-b", "html", site.root, site.root / "out"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"

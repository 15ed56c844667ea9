"""Modules beside a recipe whose source takes the place of the cell that imports them."""

from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.recipes.fingerprint import fingerprint_code
from sphinx_recorded_gallery.recipes.recipe import Recipe, load_recipe

HEAD = '"""\nTitle\n=====\n"""\n'
MODULE = '''"""What all recipes share."""

# Why this is here.
import time


def measure(x: int) -> int:
    """Return the time."""
    return x + time.time_ns()  # behind code


SIZE = 3
'''
START, END = "# sphinx_gallery_start_ignore\n", "# sphinx_gallery_end_ignore\n"
MISPLACED = "a module that an example inlines may hold only functions and constants"


def load(tmp_path: Path, cell: str, module: str = MODULE, name: str = "_bench") -> Recipe:
    (tmp_path / f"{name}.py").write_text(module)
    path = tmp_path / "recipe.py"
    path.write_text(f"{HEAD}{cell}\n\n# %%\n\nx = 1\n")
    return load_recipe(path)


@pytest.mark.parametrize(
    ("cell", "module", "fold"),
    [
        ("from _bench import measure", MODULE, "What all recipes share"),
        ('# sphinx_gallery_fold = "Mine"\nfrom _bench import measure', MODULE, "Mine"),
        ("from _bench import SIZE", '"""One\nof two."""\nSIZE = 3\n', "One of two"),
    ],
)
def test_an_inlined_module_is_folded_below_its_first_sentence(
    tmp_path: Path, cell: str, module: str, fold: str
) -> None:
    assert load(tmp_path, cell, module).cells[0].settings.fold == fold


@pytest.mark.parametrize(
    "cell",
    [
        "from _bench import measure",
        "from _bench import (\n    SIZE,\n    measure as measure,\n)",
        "# Why.\nfrom _bench import measure  # noqa: F401\nfrom _bench import SIZE",
        "# sphinx_gallery_once = True\nfrom _bench import measure",
    ],
)
def test_the_source_of_a_module_takes_the_place_of_its_import(tmp_path: Path, cell: str) -> None:
    recipe = load(tmp_path, cell)
    first, _last = recipe.cells
    assert first.source == first.code == MODULE.partition('"""\n\n')[2].strip()
    assert first.inlined
    assert (first.inlined.path, first.inlined.line) == (tmp_path / "_bench.py", 3)
    assert first.line == 5 + cell.count("# sphinx_gallery")
    assert first.settings.once == ("once" in cell)
    assert recipe.files == [recipe.path, tmp_path / "_bench.py"]
    assert recipe.hash_inputs() == {}
    assert first.fingerprint == fingerprint_code(MODULE, is_module=True)


@pytest.mark.parametrize(
    ("cell", "inputs"),
    [
        ("import _bench", ["_bench.py"]),
        ("from _package import measure", ["_package/__init__.py"]),
        ("from __future__ import annotations\nfrom _bench import measure", ["_bench.py"]),
    ],
)
def test_other_imports_stay(tmp_path: Path, cell: str, inputs: list[str]) -> None:
    (tmp_path / "_package").mkdir()
    (tmp_path / "_package/__init__.py").write_text("")
    recipe = load(tmp_path, cell)
    assert recipe.cells[0].source == cell
    assert list(recipe.hash_inputs()) == inputs
    assert recipe.cells[0].inlined is None


@pytest.mark.parametrize(
    ("module", "place", "text"),
    [
        ("x = 1\ny = (\n", "_bench.py:2", "syntax error: '(' was never closed"),
        ("x = 1\ny = '\0'\n", "_bench.py:2", "a null byte"),
        ("'Words.'\n\nSIZE = 'a\tb'\n", "_bench.py:3", "a tab in a string of the code below"),
        ("SIZE = 1\nif __name__ == '__main__':\n    SIZE\n", "_bench.py:2", MISPLACED),
        (
            "from _deep import x\nSIZE = 1\n",
            "_bench.py:1",
            "it imports from _deep.py, which a cell would not find; move the needed code into it",
        ),
        ("from __future__ import annotations\nSIZE = 1\n", "_bench.py:1", MISPLACED),
        (f"{START}SIZE = 1\n", "_bench.py:1", 'All "sphinx_gallery_start_ignore" flags must have'),
        (f"{START}SIZE = 1\n{END}", "_bench.py:1", "all code of this module is ignored"),
        ("SIZE = " + "-" * 100_000 + "1\n", "_bench.py", "cannot be read: nested too deeply"),
    ],
)
def test_a_module_that_cannot_be_a_cell_is_one_line(
    tmp_path: Path, module: str, place: str, text: str
) -> None:
    (tmp_path / "_deep.py").write_text("x = 1\n")
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, "from _bench import SIZE", module)
    assert str(caught.value).startswith(f"{tmp_path}/{place}: {text}")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("cell", "line", "text"),
    [
        ("from _empty import *", 5, "_empty.py has no code"),
        ("from _bench import SIZE as N", 5, "SIZE would not be called N in the inlined code"),
        ("from _bench import SIZE\nfrom _deep import x", 6, "a cell inlines one module"),
        (
            "from _bench import SIZE\n\n# %%\n\nfrom _bench import measure",
            9,
            "measure is also a name in _bench.py, whose code would use it",
        ),
    ],
)
def test_an_import_that_cannot_be_inlined_is_one_line(
    tmp_path: Path, cell: str, line: int, text: str
) -> None:
    (tmp_path / "_deep.py").write_text("x = 1\n")
    (tmp_path / "_empty.py").write_text('"""Words."""\n')
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, cell)
    assert (caught.value.path, caught.value.line) == (tmp_path / "recipe.py", line)
    assert caught.value.text == text
    assert caught.value.remedy


@pytest.mark.parametrize(
    "code", ["SIZE = 4", "def measure(x):\n    return x", "for time in (1, 2):\n    pass"]
)
def test_a_name_of_the_module_is_not_bound_to_something_else(tmp_path: Path, code: str) -> None:
    assert load(tmp_path, "from _bench import measure\n\n# %%\n\nimport time\ny = measure(1)")
    told = r"(SIZE|measure|time) is also a name in _bench.py, whose code would use it; rename it"
    with pytest.raises(GalleryError, match=told):
        load(tmp_path, f"from _bench import measure\n\n# %%\n\n{code}")

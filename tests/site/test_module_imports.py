"""Imports of modules of recipes, which work in downloads if a cell has nothing else."""

from pathlib import Path

import pytest

from second_call.before_recording import find_problems
from second_call.module_imports import find_lost_imports
from sphinx_recorded_gallery.recipes.recipe import load_recipe

TITLE = '"""\nTitle\n=====\n"""\n\n'


def write(folder: Path, code: str) -> Path:
    (folder / "_bench.py").write_text('"""How it is timed."""\n\nx = 1\n')
    path = folder / "mine.py"
    path.write_text(TITLE + code)
    return path


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import math\nfrom _bench import x\n", 7),
        ("import _bench\n", 6),
        ("y = 1\n\n# %%\n# Words.\n\n\ndef f():\n    from _bench import x\n\n    return x\n", 13),
        ("from _bench import x\n\n# %%\n\nimport math\n", None),
        ("import _thread\nfrom __future__ import annotations\n", None),
    ],
)
def test_an_import_that_downloads_would_lack_is_told(
    tmp_path: Path, code: str, line: int | None
) -> None:
    path = write(tmp_path, code)
    told = [str(error) for error in find_lost_imports(path, load_recipe(path).blocks)]
    text = "downloads would lack _bench.py, which this cell imports beside other code"
    remedy = "write from _bench import ... in a cell of its own, which shows its code"
    assert told == ([f"{path}:{line}: {text}; {remedy}"] if line else [])


@pytest.mark.parametrize(
    ("code", "line", "remedy"),
    [
        ("from _benhc import x\n", 6, "did you mean _bench?"),
        ("x = 1\nimport _nothing_near\n", 7, "write _nothing_near.py"),
        ("import _thread\nfrom _pytest.main import Session\n", None, ""),
    ],
)
def test_a_module_that_is_nowhere_is_told(
    tmp_path: Path, code: str, line: int | None, remedy: str
) -> None:
    path = write(tmp_path, code)
    told = [error.describe(tmp_path) for error in find_lost_imports(path, load_recipe(path).blocks)]
    assert len(told) == (line is not None)
    for error in told:
        assert error.startswith(f"mine.py:{line}: no module _")
        assert error.endswith(f" is beside the recipes; {remedy}")


@pytest.mark.parametrize("code", ["import other", "from other import x", "import math, other.y"])
@pytest.mark.parametrize("name", ["mine", "_tools"])
def test_a_recipe_that_another_file_imports_is_told(tmp_path: Path, name: str, code: str) -> None:
    write(tmp_path, "from _bench import x\n\n# %%\n\nimport math\n")
    (tmp_path / "other.py").write_text(TITLE + "x = 1\n")
    path = tmp_path / f"{name}.py"
    path.write_text(f"{TITLE}{code}\n")
    [told] = find_problems(tmp_path)
    remedy = "move the code that both need to a module beside them, such as _shared.py"
    assert str(told) == f"{path}:6: other is a recipe, and importing it runs it whole; {remedy}"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import _bench\n", "downloads would lack _bench.py, which this module imports; move the"),
        ("from _benhc import x\n", "no module _benhc is beside the recipes; did you mean _bench?"),
    ],
)
def test_a_module_that_imports_another_is_told(tmp_path: Path, code: str, told: str) -> None:
    write(tmp_path, "")
    tools = tmp_path / "_tools.py"
    tools.write_text(f"import math\n\n{code}")
    [error] = find_problems(tmp_path)
    assert str(error).startswith(f"{tools}:3: {told}")

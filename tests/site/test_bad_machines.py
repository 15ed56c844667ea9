"""Recipes on machines that lack something: a sentence or small sizes, never a stack trace.

What the harness does on a GPU that Triton cannot use is for its own tests.
"""

import ast
import re
import subprocess
import sys
from operator import le
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from sphinx_recorded_gallery.recipes.recipe import load_recipe
from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import RECIPES, SLOWER

SIZES = {  # what differs between machines, from little to much
    "compiling_optimizer": "(WIDTH,)",
    "memory": "(WIDTH, DEPTH, BATCH, LENGTH)",
    "regional_compilation": "(WIDTH, DEPTH)",
    "token_generation": "(bench.gpu, ROOMY)",
    "where_time_goes": "LARGE",
}
SAME_ON_A_CPU = {"memory"}  # as on a small GPU
NOT_RUN = ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef
ASK_FOR_MEMORY = [path for path in RECIPES if "ROOMY = " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", ASK_FOR_MEMORY, ids=lambda path: path.stem)
def test_little_gpu_memory_gives_small_sizes(path: Path) -> None:
    [source] = [cell.source for cell in load_recipe(path).cells if "ROOMY = " in cell.source]
    sizes = ast.parse(source)
    sizes.body = [part for part in sizes.body if not isinstance(part, NOT_RUN)]
    torch, found = MagicMock(), []  # the real one takes seconds to import
    for gpu, free in ((False, 0), (True, 11), (True, 40)):
        torch.cuda.mem_get_info.return_value = (free * 2**30, 80 * 2**30)
        bench = MagicMock(gpu=gpu)
        names = {"Bench": MagicMock(return_value=bench), "bench": bench, "torch": torch}
        exec(compile(sizes, path, "exec"), names)
        found.append(eval(SIZES[path.stem], names))
    least, small, large = found
    assert least < small or path.stem in SAME_ON_A_CPU
    assert small < large
    assert all(map(le, least, small))
    assert all(map(le, small, large))


# Hides packages from a recipe, and compiles nothing: that is for those that run what readers
# download.
FEW_PACKAGES = f"""{SLOWER}
import runpy, sys
import torch
sys.modules["torchvision"] = sys.modules["transformers"] = None
torch.compile = lambda given=None, **options: given or (lambda function: function)
sys.path.insert(0, {str(ROOT / "recipes_source")!r})  # as for a script
runpy.run_path({str(ROOT / "recipes_source/compile_modes.py")!r})
"""


@pytest.mark.nightly
def test_missing_packages_leave_out_their_section_alone() -> None:
    command = [sys.executable, "-c", FEW_PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("torchvision", "Transformers"):
        assert f"{name} is not installed: this experiment is left out." in done.stdout
    cases = re.findall(r"^(\S.*?) +wall \(ms\)", done.stdout, re.MULTILINE)
    assert {*cases} == {"sin + cos", "a product", "a large layer", "a NumPy function"}
    assert "inductor is right: True" in done.stdout  # the last cell

"""What recipes say on machines that lack something: a sentence, never a stack trace."""

import subprocess
import sys
from pathlib import Path

import pytest

from gallery import ROOT
from recipe_gallery.recipes.recipe import load_recipe
from site_pages import RECIPES

# Those whose largest size depends on the GPU's memory.
LARGE = [path for path in RECIPES if "mem_get_info" in path.read_text(encoding="utf-8")]

pytestmark = pytest.mark.slow  # a process that loads PyTorch for each recipe

# Pretends to have a GPU that lacks one thing; no tensor is put on it.
PRETEND = """
import importlib.util
import torch

find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == {hidden!r} else find_spec(name)
torch.cuda.is_available = lambda: True
torch.cuda.get_device_name = lambda *_: "Pretended GPU"
torch.cuda.mem_get_info = lambda *_: ({free}, 8 * 2**30)
"""


def run_until_sizes_are_chosen(path: Path, prelude: str) -> str:
    """Run the cells up to the one that looks at the GPU's memory; return what they print."""
    sources = [cell.source for cell in load_recipe(path).cells]
    last = next(i for i, source in enumerate(sources) if "mem_get_info" in source)
    code = "\n".join([prelude, *sources[: last + 1]])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.stem)
def test_cuda_without_triton_is_said(path: Path) -> None:
    output = run_until_sizes_are_chosen(path, PRETEND.format(hidden="triton", free=2**36))
    assert "Triton" in output
    assert "CPU" in output


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.stem)
def test_too_little_gpu_memory_is_said(path: Path) -> None:
    output = run_until_sizes_are_chosen(path, PRETEND.format(hidden=None, free=2**30))
    assert "memory" in output
    assert "Too little" in output or "Less than" in output


def test_missing_packages_leave_out_their_section_alone(tmp_path: Path) -> None:
    # That it compiles is for the tests that run what readers download; here nothing is compiled.
    code = (
        "import runpy, sys, torch\n"
        "sys.modules['torchvision'] = sys.modules['transformers'] = None\n"
        "torch.compile = lambda given=None, **options: given or (lambda function: function)\n"
        f"runpy.run_path({str(ROOT / 'recipes_source/compile_modes.py')!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "torchvision is not installed: this experiment is left out." in done.stdout
    assert "Transformers is not installed: this experiment is left out." in done.stdout
    assert "NumPy" in done.stdout

"""What recipes say on machines that lack something: a sentence, never a stack trace."""

import json
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


# Loads PyTorch once, and runs each program in a process forked from there.
FORK = """
import json, os, sys, traceback
import torch

status = 0
for name, code in json.load(sys.stdin).items():
    if not os.fork():
        with open(name, "w") as out:
            os.dup2(out.fileno(), 1)
            try:
                exec(compile(code, name, "exec"), {"__name__": "__main__"})
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            finally:
                sys.stdout.flush()
        os._exit(0)
    status |= os.wait()[1]
sys.exit(bool(status))
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What recipes print up to the cell that looks at the GPU's memory, on each bad machine."""
    folder = tmp_path_factory.mktemp("machines")
    machines = {
        "without triton": PRETEND.format(hidden="triton", free=2**36),
        "of little memory": PRETEND.format(hidden=None, free=2**30),
    }
    programs = {}
    for path in LARGE:
        sources = [cell.source for cell in load_recipe(path).cells]
        last = next(i for i, source in enumerate(sources) if "mem_get_info" in source)
        for machine, prelude in machines.items():
            programs[f"{path.stem} {machine}"] = "\n".join([prelude, *sources[: last + 1]])
    command = [sys.executable, "-c", FORK]
    done = subprocess.run(
        command, cwd=folder, input=json.dumps(programs), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {name: (folder / name).read_text() for name in programs}


def test_cuda_without_triton_is_said(outputs: dict[str, str]) -> None:
    for path in LARGE:
        output = outputs[f"{path.stem} without triton"]
        assert "Triton" in output, path
        assert "CPU" in output, path


def test_too_little_gpu_memory_is_said(outputs: dict[str, str]) -> None:
    for path in LARGE:
        output = outputs[f"{path.stem} of little memory"]
        assert "memory" in output, path
        assert "Too little" in output or "Less than" in output, path


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

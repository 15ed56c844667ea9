"""Recipes on machines that lack something: a sentence or small sizes, never a stack trace."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from operator import le
from pathlib import Path

import pytest
from filelock import FileLock

from gallery import ROOT
from recipe_gallery.recipes.recipe import load_recipe
from site_pages import RECIPES, SLOWER, by_recipe

# Those whose sizes depend on the GPU's memory, and what holds them.
SIZES = {  # what differs between machines, from little to much
    "compiling_optimizer": "(WIDTH,)",
    "regional_compilation": "(WIDTH, DEPTH)",
    "token_generation": "(bench.gpu, ROOMY)",
    "where_time_goes": "LARGE",
}

pytestmark = pytest.mark.slow  # a process that loads PyTorch for each recipe

# Pretends to have a GPU, from the cell that starts the harness on. What is put on it stays on the
# CPU, and nothing is compiled: that is for the tests that run what readers download.
PRETEND = """
ones = torch.ones
torch.ones = lambda *sizes, device: ones(*sizes)
torch.compile = lambda function: function
torch.cuda.is_available = lambda: True
torch.cuda.get_device_capability = lambda *_: {capability}
torch.cuda.mem_get_info = lambda *_: ({free} * 2**30, 80 * 2**30)
for name in ("start_up", "bandwidth", "launch_cost"):  # which take a GPU
    setattr(Bench, "measure_" + name, lambda self: None)
"""

HIDE = "import sys; sys.modules['triton'] = None"

MACHINES = {  # what comes first, capability, and free memory in GiB
    "roomy": ("", (9, 0), 25),
    "of little memory": ("", (9, 0), 11),
    "without triton": (HIDE, (9, 0), 17),
    "too old": ("", (6, 1), 17),
}


# Hides packages from what a recipe imports, and compiles nothing.
FEW_PACKAGES = f"""
import runpy, sys
sys.modules["torchvision"] = sys.modules["transformers"] = None
torch.compile = lambda given=None, **options: given or (lambda function: function)
sys.path.insert(0, {str(ROOT / "recipes_source")!r})  # as for a script
runpy.run_path({str(ROOT / "recipes_source/compile_modes.py")!r})
"""

# Runs what comes before programs, loads what all import, and runs each in a process forked from
# there. What is large and asks nothing about the machine is loaded once.
FORK = """
import json, os, sys, traceback
import matplotlib.pyplot, pandas, torch

def fork(work, *arguments):
    if not os.fork():
        status = 1
        try:
            work(*arguments)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.wait()[1]

def run(name, code):
    with open(name, "w") as out:
        os.dup2(out.fileno(), 1)
    exec(compile(code, name, "exec"), {"__name__": "__main__"})

def run_all(before, programs):
    exec(before)
    import torch._inductor.async_compile, torch._dynamo.utils
    assert not sum(fork(run, *each) for each in programs.items())

sys.exit(bool(sum(fork(run_all, *each) for each in json.load(sys.stdin).items())))
"""


@pytest.fixture(scope="module")
def outputs(shared: Path) -> dict[str, str]:
    """What recipes print up to where their sizes are known, and then those, on each machine."""
    folder = shared / "machines"
    with FileLock(shared / "machines.lock"):
        if not folder.exists():
            run_on_machines(folder)
    return {path.name: path.read_text() for path in folder.iterdir()}


def run_on_machines(folder: Path) -> None:
    """Run the recipes in a new folder; each leaves a file of what it prints."""
    folder.mkdir()
    programs: dict[str, dict[str, str]] = {"": {"few packages": f"import torch\n{FEW_PACKAGES}"}}
    for path in RECIPES:
        sources = [cell.source for cell in load_recipe(path).cells]
        first = next(i for i, source in enumerate(sources) if "bench = Bench()" in source)
        ends = [i for i, source in enumerate(sources) if "ROOMY = " in source]
        assert bool(ends) == (path.stem in SIZES), path
        last = max([first, *ends])
        sizes = SIZES.get(path.stem, "()")
        told = f"print(); print(repr((bench.device.type, str(bench.dtype), {sizes})))"
        for machine, (prelude, capability, free) in MACHINES.items():
            pretend = "import torch" + PRETEND.format(capability=capability, free=free)
            # what stands between are experiments, which say nothing of sizes
            ended = dict.fromkeys([sources[first], sources[last]])
            parts = [*sources[:first], pretend, *ended, told]
            programs.setdefault(prelude, {})[f"{path.stem} {machine}"] = "\n".join(parts)
    command = [sys.executable, "-c", SLOWER + FORK]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"},  # starts no processes
        input=json.dumps(programs),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        shutil.rmtree(folder)  # for other processes to find the same
    assert done.returncode == 0, done.stderr


def results(outputs: dict[str, str], name: str, machine: str) -> tuple[str, str, tuple]:
    """Return device, type and sizes that a recipe has chosen."""
    return ast.literal_eval(outputs[f"{name} {machine}"].splitlines()[-1])


@by_recipe
def test_gpu_with_triton_is_used(outputs: dict[str, str], name: str) -> None:
    for machine in ("roomy", "of little memory"):
        assert results(outputs, name, machine)[:2] == ("cuda", "torch.bfloat16")
        assert ": torch.bfloat16 on cuda.\nGPU capability (9, 0);" in outputs[f"{name} {machine}"]


@by_recipe
@pytest.mark.parametrize("machine", ["without triton", "too old"])
def test_cuda_that_triton_cannot_use_is_said(
    outputs: dict[str, str], name: str, machine: str
) -> None:
    assert results(outputs, name, machine)[:2] == ("cpu", "torch.float32")
    capability = MACHINES[machine][1] if machine == "too old" else (0, 0)
    said = f": torch.float32 on cpu.\nGPU capability {capability}; Triton needs (7, 0),"
    assert said in outputs[f"{name} {machine}"]


@pytest.mark.parametrize("name", SIZES)
def test_little_gpu_memory_gives_small_sizes(outputs: dict[str, str], name: str) -> None:
    machines = ("without triton", "of little memory", "roomy")
    least, small, large = (results(outputs, name, machine)[2] for machine in machines)
    assert least < small < large
    assert all(map(le, least, small))
    assert all(map(le, small, large))
    assert results(outputs, name, "too old")[2] == least


def test_missing_packages_leave_out_their_section_alone(outputs: dict[str, str]) -> None:
    # That it compiles is for the tests that run what readers download; here nothing is compiled.
    printed = outputs["few packages"]
    assert "torchvision is not installed: this experiment is left out." in printed
    assert "Transformers is not installed: this experiment is left out." in printed
    cases = re.findall(r"^(\S.*?) +wall \(ms\)", printed, re.MULTILINE)
    assert list(dict.fromkeys(cases)) == [
        "sin + cos",
        "a product",
        "a large layer",
        "a NumPy function",
    ]
    assert "inductor is right: True" in printed  # the last cell

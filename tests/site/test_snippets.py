"""Code to copy at the top of each recipe runs from its first line to its last.

A stand-in takes the place of the GPU: what is put on it stays on the CPU, recording a CUDA graph
runs the code, and a replay does nothing. PyTorch makes graphs of what is compiled, but no kernels,
unless the recipe is about saving them.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.helpers.site_pages import RECIPES

STAND_IN = """
import contextlib, json, sys, traceback
import torch
from torch._dynamo.utils import counters
from torch._inductor import compile_fx

class Graph:
    def replay(self):
        pass
    def pool(self):
        pass

nothing = lambda *given, **options: contextlib.nullcontext()
torch.cuda.CUDAGraph, torch.cuda.Stream, torch.cuda.graph_pool_handle = Graph, object, object
torch.cuda.graph = torch.cuda.stream = torch.cuda.synchronize = nothing
make_kernels, run_graph = compile_fx.compile_fx, lambda graph, inputs, **options: graph.forward
failed = 0
for name, code, check in json.load(sys.stdin):
    # What is saved to be loaded later has to be compiled.
    compile_fx.compile_fx = make_kernels if name.startswith("saved_models") else run_graph
    torch.compiler.reset()
    torch.set_default_device("cpu")
    torch.set_grad_enabled(True)
    counters.clear()
    names = {"counters": counters}
    try:
        exec(compile(code, name, "exec"), names)
        assert eval(check, names), check
    except BaseException:
        traceback.print_exc()
        failed += 1
sys.exit(failed)
"""
ON_CPU = {
    ".cuda()": ".cpu()",
    '"cuda"': '"cpu"',
    "capturable=True": "capturable=False",
    "ProfilerActivity.CUDA": "ProfilerActivity.CPU",
}
SMALLER = {  # a model of 660 million weights takes a CPU too long
    "num_hidden_layers=2": "num_hidden_layers=1, hidden_size=64, intermediate_size=64, "
    "num_attention_heads=2, vocab_size=99"
}
CHECKS = {  # what comments of a snippet promise, by recipe and number
    ("regional_compilation", 0): "counters['stats']['unique_graphs'] == 1",
    ("token_generation", 0): "128 < text.shape[1] <= 148",  # random weights may end the text
    # The second of two tokens sees both places of the cache that are taken.
    ("token_generation", 1): "torch.allclose(output, attend(q, *cache[..., :2, :]), atol=1e-5)",
    ("varying_sizes", 0): "counters['stats']['unique_graphs'] == 2",
    ("varying_sizes", 1): "counters['stats']['unique_graphs'] == 1",
    ("varying_sizes", 2): "len(graphs) == 4 and y.shape == (8, 60, 64)",
    ("varying_sizes", 3): "result.shape == (8, 60, 64)",
    ("varying_sizes", 4): "result.shape == (8, 60, 64)",
}


@pytest.mark.slow
def test_code_to_copy_runs(tmp_path: Path) -> None:
    snippets = []
    for path in RECIPES:
        top = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        block = r"(?m)^( *)\.\. code-block:: python\n(?:\1   :caption: .*\n)?((?:\1   .*\n|\n)+)"
        found = re.findall(block, f"{top}\n")
        assert found, path
        for number, (_indentation, code) in enumerate(found):
            for gpu, cpu in (ON_CPU | SMALLER).items():
                code = code.replace(gpu, cpu)
            check = CHECKS.get((path.stem, number), "True")
            snippets.append((f"{path.stem} {number}", dedent(code), check))
    assert CHECKS.keys() <= {(name.split()[0], int(name.split()[1])) for name, *_ in snippets}
    done = subprocess.run(
        [sys.executable, "-c", STAND_IN],
        input=json.dumps(snippets),
        capture_output=True,
        text=True,
        cwd=tmp_path,  # some write files
    )
    assert done.returncode == 0, done.stderr

"""
The first call takes minutes: compile the model or its block?
=============================================================

What you compile decides when the first result comes and what each later call costs.

**Blocks that keep the GPU busy: compile the block that repeats.** With
:measured:`start.regional.depth` blocks and a short input the first call itself takes
:measured:`start.regional.call` instead of :measured:`start.full.call`, and a fresh process :claim:`has
its first result after {start.regional.nothing} instead of {start.full.nothing}
<start.regional.nothing < start.full.nothing>`. Later calls of six blocks with a long input :claim:`take
{busy.regional.gpu} of GPU time instead of {busy.eager.gpu} <busy.regional.gpu < busy.eager.gpu>`; in wall time that is
:measured:`busy.regional.wall`, eagerly :measured:`busy.eager.wall`, and pays after
:measured:`busy.regional.break_even` calls. **Where the GPU waits for the CPU, do not compile blocks**: :claim:`a call then takes {waiting.regional.wall}, eagerly
{waiting.eager.wall} <0.98 * waiting.eager.wall < waiting.regional.wall>`; the whole model in CUDA graphs takes
:measured:`waiting.graphs.wall`. **If your program starts again and again, keep the compiler's cache**:
:claim:`the whole model then has its first result after {start.full.disk} <start.full.disk < start.full.nothing>`, the block after
:measured:`start.regional.disk`.

.. code-block:: python
   :caption: The GPU is busy: the block

   import torch

   class Block(torch.nn.Linear):  # yours; its forward has to be code of your own
       def forward(self, x):
           return x + torch.relu(super().forward(x))

   model = torch.nn.Sequential(*[Block(512, 512, device="cuda") for _ in range(32)])
   for block in model:
       block.compile()  # in place of model.compile(): one block's code serves all
   with torch.no_grad():
       result = model(torch.randn(64, 512, device="cuda"))  # compiles here

.. code-block:: python
   :caption: The GPU waits: CUDA graphs

   import torch

   model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(32)]).cuda()
   run = torch.compile(model, mode="reduce-overhead")

   x = torch.randn(64, 512, device="cuda")
   with torch.no_grad():
       run(x)  # compiles
       run(x)  # records a CUDA graph
       result = run(x).clone()  # the next call overwrites what is not cloned

.. code-block:: python
   :caption: It starts again: the cache

   import os

   os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.abspath("compiled")  # a folder that stays

   import torch

   model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(32)]).cuda()
   run = torch.compile(model)
   with torch.no_grad():
       result = run(torch.randn(64, 512, device="cuda"))  # the next process loads its code

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib. Blocks reuse code since 2.5.
- A CUDA GPU of compute capability 7.0 or above, with Triton. One without ``bfloat16``, as a T4, computes
  in ``float32``. Elsewhere small sizes run on the CPU, which takes a C++ compiler and some minutes.

.. names::

   :eager:
   :regional:
   :full:
   :nested:
   :graphs: CUDA graphs
   :waiting: short input, the GPU waits
   :busy: long input, the GPU is busy
   :train: training
   :operations:
   :nothing: empty cache
   :disk: cache on disk
   :artifacts: loaded artifacts
   :call: first call, fresh process
   :rest: import, model and compiler
   :start: start of a process
   :tiny: 64 tiny layers
   :depth: blocks
   :wrap: wrapping of the blocks
   :disk_call: first call, cache on disk
   :artifacts_call: first call, loaded artifacts
   :claim.graphs: graphs
   :run compiled: layers run compiled
   :compiled anew:
"""

# sphinx_gallery_cell_timeout = 600
# sphinx_gallery_deadline = 1200
# sphinx_gallery_thumbnail_number = 2

# %%
# What to choose
# --------------
#
# .. list-table::
#    :header-rows: 1
#
#    * - Your case
#      - Choose
#      - First result of a fresh process
#      - A later call (wall time, unless said)
#    * - Blocks that keep the GPU busy
#      - ``block.compile()`` for each
#      - :measured:`start.regional.nothing`; the whole model :measured:`start.full.nothing`, eager
#        :measured:`start.eager.nothing`
#      - :measured:`busy.regional.wall`; eager :measured:`busy.eager.wall`. Pays after
#        :measured:`busy.regional.break_even` calls
#    * - The GPU waits, many calls
#      - The whole model, with ``mode="reduce-overhead"``
#      - As the whole model
#      - :claim:`{waiting.graphs.wall}; eager {waiting.eager.wall} <waiting.graphs.wall < waiting.eager.wall>`. Pays after
#        :measured:`waiting.graphs.break_even` calls
#    * - The GPU waits, few calls
#      - No compiling
#      - :measured:`start.eager.nothing`
#      - :measured:`waiting.eager.wall`
#    * - The program starts again
#      - Keep the cache, on disk or as artifacts to carry
#      - The block :measured:`start.regional.disk` or :measured:`start.regional.artifacts`, the whole model
#        :measured:`start.full.disk` or :measured:`start.full.artifacts`
#      - The same
#    * - You need one graph of the whole model
#      - ``nested_compile_region``, a new interface, which 2.12 extends
#      - :measured:`start.nested.nothing`
#      - :measured:`waiting.nested.wall`; the whole model :measured:`waiting.full.wall`
#    * - Training, GPU busy
#      - ``block.compile()`` for each
#      - First iteration :measured:`train.regional.first_call`; the whole model
#        :measured:`train.full.first_call`
#      - :measured:`train.regional.wall`; eager :measured:`train.eager.wall`
#    * - Layers of a few tiny operations
#      - No compiling
#      - No gain
#      - :claim:`{tiny.eager.wall}; compiled {tiny.regional.wall} <tiny.eager.wall < tiny.regional.wall>`
#
# .. chart:: break-even
#    :cases: train, waiting, busy
#    :arms: eager, regional, full, nested, graphs
#
#    Time of all calls of a run, the first one and the start of the compiler included.
#
# Why the first call takes long
# -----------------------------
#
# ``torch.compile`` follows the Python code of ``forward`` into every layer. A loop over 64 layers becomes
# one graph with 64 copies of the same operations, and each later step, up to the generated code, works on
# all of them. These are layer and model of the original recipe:

import pandas as pd
import torch
from matplotlib import pyplot as plt
from torch import nn


class Layer(nn.Module):
    """Two small linear layers, with a ReLU, a sigmoid and another ReLU."""

    def __init__(self, width=10):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        x = torch.sigmoid(torch.relu(self.linear1(x)))
        return torch.relu(self.linear2(x))


class Model(nn.Module):
    """A leading linear layer, and the blocks behind it."""

    def __init__(self, width, blocks):
        super().__init__()
        self.linear, self.blocks = nn.Linear(width, width), nn.ModuleList(blocks)

    def forward(self, x):
        x = self.linear(x)
        for block in self.blocks:
            x = block(x)
        return x


# %%
# The layers differ in their weights only, and **weights are inputs of the graph**, as ``x`` is, so
# one layer's code serves all. (2.4 needed the flag ``inline_inbuilt_nn_modules`` for that.) This is the
# graph of one layer; ``TORCH_LOGS=graph_code python job.py`` prints yours.

# sphinx_gallery_once = True


def show(graph, inputs):
    """Print what a compiler is given, and compile nothing."""
    for node in graph.graph.nodes:
        print(f"{node.op:14} {node.name}")
    return graph.forward


compiled = torch.compile(Layer(), backend=show)(torch.ones(10))

# %%

# sphinx_gallery_fold = "How operations are counted"
operations = {}


def counting(graph, inputs):
    """Add up the operations of a graph and of the graphs in it."""
    graphs = [part for part in graph.modules() if hasattr(part, "graph")]
    nodes = [node for part in graphs for node in part.graph.nodes]
    operations[way] = sum("call" in node.op for node in nodes)
    return graph.forward


mark = torch.compiler.nested_compile_region(Layer.forward)
Nested = type("Nested", (Layer,), {"forward": mark})
several = {way: Model(10, [Layer() for _ in range(64)]) for way in ("full", "regional")}
several["nested"] = Model(10, [Nested() for _ in range(64)])
for way, model in several.items():
    for part in model.blocks if way == "regional" else [model]:
        part.compile(backend=counting)
    with torch.no_grad():
        model(torch.ones(10))

# %%
# *Full* is ``model.compile()``: a graph of :measured:`tiny.full.operations` operations for 64 layers.
# *Regional* is ``block.compile()`` for each block: a graph of :measured:`tiny.regional.operations` serves all.
# *Nested* is one graph that holds the block once and calls it many times: :measured:`tiny.nested.operations`.
#
# .. chart:: ladder
#    :case: tiny
#    :arms: full, nested, regional
#    :quantities: operations
#
#    Operations that the compiler is given for 64 layers.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Bars of the number of operations that the compiler is given for 64 layers: most for the whole model, less than half of that for nested, and five for the regional way"
axes = pd.Series(operations)[["regional", "nested", "full"]].plot.barh(figsize=(7, 2))
axes.bar_label(axes.containers[0], padding=3)
axes.margins(x=0.1)
axes.set(xlabel="operations given to the compiler for 64 layers")
plt.show()

# %%
# The price: regional enters compiled code once for each block, full once for each call. Each time *guards*
# are checked, the conditions under which that code is valid. What lies between blocks stays eager.
#
# The experiment
# --------------
#
# First results come from fresh processes; for later calls the ways take turns in this one. The blocks
# are a language model's, on a large GPU 768 wide, with a short input (128 tokens) and a long one (32 times
# 1024 tokens).

# sphinx_gallery_fold = "The harness: how arms are timed"

from _bench import Bench

# %%

bench = Bench()
ON_GPU = bench.device.type == "cuda"
ROOMY = ON_GPU and torch.cuda.mem_get_info()[0] > 16 * 2**30
LARGE = 768, 16, 6, 64, (1, 128), (32, 1024)
SMALL = 512, 12, 4, 64, (1, 128), (4, 512)
SIZE = LARGE if ROOMY else SMALL if ON_GPU else (128, 3, 2, 16, (1, 16), (2, 64))
WIDTH, DEEP, DEPTH, LAYERS, SHORT, LONG = SIZE
machine = dict(device=bench.device.type, dtype=str(bench.dtype).removeprefix("torch."))
SIZES = {
    "start": dict(machine, width=WIDTH, depth=DEEP, tokens=SHORT),
    "waiting": dict(machine, width=WIDTH, depth=DEPTH, tokens=SHORT),
    "busy": dict(machine, width=WIDTH, depth=DEPTH, tokens=LONG),
    "tiny": dict(machine, dtype="float32", width=10, depth=LAYERS, tokens=(10,)),
}

# %%

# sphinx_gallery_plumbing = True

for way, number in operations.items():
    bench.figure("tiny", way, "operations", number, unit="")

# %%

# sphinx_gallery_fold = "A transformer block, and how models are made"


class Block(nn.Module):
    """Attention and two linear layers, each with a norm before and a sum behind it."""

    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        heads = self.qkv(self.norms[0](x)).unflatten(-1, (3, -1, 64))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(-2))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


def make(way, width, depth, tokens, device, dtype):
    """Return a model, and an input for it."""
    torch.manual_seed(0)  # the same weights for each way
    kind, dtype = Layer if width == 10 else Block, getattr(torch, dtype)
    if way == "nested":
        mark = torch.compiler.nested_compile_region(kind.forward)
        kind = type("Nested", (kind,), {"forward": mark})
    with torch.device(device):
        model = Model(width, [kind(width) for _ in range(depth)]).to(dtype)
        return model, torch.randn(*tokens, width, dtype=dtype)


# %%
# ``compile()`` changes a block in place and keeps the names in ``state_dict``. ``torch.compile(block)``
# returns a wrapper and puts ``_orig_mod.`` before them: old checkpoints no longer fit.


def wrap(model, way):
    """Have a model or its blocks compiled in place, when they are called."""
    if way in ("regional", "fullgraph"):
        for block in model.blocks:
            block.compile(fullgraph=way == "fullgraph")
    elif way != "eager":
        model.compile(mode="reduce-overhead" if way == "graphs" else "default")


# %%
# From ``import torch`` to the first result
# -----------------------------------------
#
# Each process runs this function. *Artifacts* are what it has compiled, as bytes that another machine can
# load (a beta since 2.7).

import importlib
import pathlib
import time


def start(way, cache, began, **sizes):
    """Go from importing PyTorch to a result; return the seconds until each part is done."""
    clock, artifacts = time.perf_counter, pathlib.Path(f"{way}.artifacts")
    done = {"import torch": clock() - began}
    model, x = make(way, **sizes)
    done["model"] = clock() - began
    if way != "eager":  # or else the first call of compile() does it
        importlib.import_module("torch._inductor.compile_fx")
    if cache == "artifacts":
        torch.compiler.load_cache_artifacts(artifacts.read_bytes())
    done["compiler"] = clock() - began
    wrap(model, way)
    done["compile()"] = clock() - began
    done["size"] = model(x).float().norm().item()  # waits for the device
    done["first call"] = clock() - began
    if way != "eager":
        counts = torch._dynamo.utils.counters["aot_autograd"]
        done["compiled"] = counts["autograd_cache_miss"]
        done["loaded"] = counts["autograd_cache_hit"]
        if cache == "nothing":
            artifacts.write_bytes(torch.compiler.save_cache_artifacts()[0])
    return done


# %%
# *Nothing* is an empty cache, *disk* a second process with the same cache, *artifacts* an empty cache into
# which artifacts are loaded. On 12 cores or more, up to four processes run at a time, each on its own cores.

# sphinx_gallery_fold = "How code is sent to a fresh process"

import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
PARTS = ["import torch", "model", "compiler", "compile()", "first call"]
AT_ONCE = 4 if len(CORES) >= 12 else 1
FOLDER = tempfile.TemporaryDirectory()
warnings.filterwarnings("ignore", "TensorFloat32")  # float32 stays exact here


def source(function):
    """Return the source of a function, or of the class that it belongs to."""
    lines, name = inspect.findsource(function)[0], function.__qualname__.split(".")[0]
    parts = ast.parse("".join(lines)).body
    return next(ast.unparse(p) for p in parts if getattr(p, "name", None) == name)


PROGRAM = """
import importlib, json, os, pathlib, sys, time
job, cores = json.loads(sys.argv[1]), json.loads(sys.argv[2])
if cores:
    os.sched_setaffinity(0, cores)
began = time.perf_counter()
import torch
from torch import nn
torch.set_grad_enabled(False)
PIECES
done = json.dumps(start(began=began, **job))
pathlib.Path("{way}.{cache}.json".format(**job)).write_text(done)
os._exit(0)  # or else the compiler's workers are waited for
"""
pieces = [Layer.forward, Model.forward, Block.forward, make, wrap, start]
PROGRAM = PROGRAM.replace("PIECES", "\n".join(map(source, pieces)))


def run(slot, case, way, cache="nothing"):
    """Call ``start`` in a fresh process and return what it returns."""
    folder = pathlib.Path(FOLDER.name, case)
    kept = folder / way / ("empty" if cache == "artifacts" else "cache")
    kept.mkdir(parents=True, exist_ok=True)
    set_to = dict(
        TORCHINDUCTOR_CACHE_DIR=str(kept),
        TRITON_CACHE_DIR=str(kept / "triton"),
        PYTHONWARNINGS="ignore",
    )
    cores = CORES[slot::AT_ONCE] if AT_ONCE > 1 else []
    job = json.dumps(dict(way=way, cache=cache, **SIZES[case]))
    subprocess.run(
        [sys.executable, "-c", PROGRAM, job, json.dumps(cores)],
        env=os.environ | set_to,
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return json.loads((folder / f"{way}.{cache}.json").read_text())


def launch(jobs):
    """Run processes, some of them at a time; return a table."""
    found = {}

    def work(slot):
        for job in jobs[slot::AT_ONCE]:
            found[job] = run(slot, *job)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(work, range(AT_ONCE)))
    table = pd.DataFrame(found).T.sort_index()
    table = table.assign(total=table["first call"])
    table[PARTS] = table[PARTS].diff(axis=1).fillna(table[PARTS])
    print(table.drop(columns="size").round(2).to_string())
    return table


# %%

several, both = ("full", "regional", "nested", "eager"), ("full", "regional")
starts = launch([("start", way, "nothing") for way in several])
caches = ("disk", "artifacts")
again = launch([("start", way, cache) for way in both for cache in caches])

# %%

# sphinx_gallery_once = True
small = launch([("tiny", way, "nothing") for way in both])

# %%
# Printed output and notebooks' tables show one run, and all else the median of all processes, so they
# differ where the CPU decides.
#
# .. chart:: ladder
#    :case: start
#    :arms: full, nested, regional, eager
#    :quantities: nothing, disk, artifacts
#
#    Seconds from ``import torch`` to the first result, by what the compiler finds in its cache.
#
# .. chart:: stacked
#    :case: start
#    :arms: full, nested, regional
#    :quantities: rest, call
#    :whole: nothing
#
#    The same with an empty cache: the first call, and what comes before it.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Stacked bars of the seconds from import torch to the first result, divided into import, model, compiler, compile() and first call; for full and regional with an empty cache, a cache on disk and loaded artifacts, for nested with an empty cache, and for eager"
shown = pd.concat([starts, again]).loc["start"]
shown.index = [f"{way}, {cache}" for way, cache in shown.index]
axes = shown[PARTS].sort_index(ascending=False).plot.barh(stacked=True, figsize=(7, 4))
for bars, hatch in zip(axes.containers, ["", "//", "xx", "..", "\\\\"], strict=True):
    for bar in bars:
        bar.set(hatch=hatch, edgecolor="white")
axes.set(xlabel="seconds to the first result")
axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.4, 1))
plt.show()

# %%

# sphinx_gallery_plumbing = True


def claim_less(key, less, more, unit="s"):
    bench.claim(key, less < more, f"{less:.4g} {unit} against {more:.4g} {unit}")


def publish(table):
    for (case, way, cache), row in table.iterrows():
        bench.figure(case, way, cache, row.total, kind="start")
        if way != "eager":
            name = "call" if cache == "nothing" else f"{cache}_call"
            bench.figure(case, way, name, row["first call"], kind="start, call")
        if (way, cache) == ("regional", "nothing"):
            bench.figure(case, way, "wrap", row["compile()"], kind="start, wrap")
        others = table["size"][case].iloc[0]
        assert abs(row["size"] - others) <= 0.02 * others + 1e-3, table


publish(starts)
publish(again)
bench.figure("start", "regional", "depth", DEEP, unit="")
names = ["regional", "nested", "full"]
fresh = starts.loc["start"].xs("nothing", level=1).loc[names]
claim_less("regional-starts-sooner", *fresh.total[["regional", "full"]])
low, middle, high = fresh["first call"]
evidence = f"{low:.4g}, {middle:.4g} and {high:.4g} s"
bench.claim("nested-between", low < middle < high, evidence)
served, carried = (again.xs(cache, level=2) for cache in caches)
claim_less("cache-helps", served.total["start", "full"], fresh.total["full"])
calls = served["first call"]["start"]
claim_less("block-sooner-from-disk", *calls[["regional", "full"]])
anew = served.compiled.sum()
serves = anew == 0 < served.loaded.min()
bench.claim("cache-serves", serves, f"{anew:.0f} compiled anew")
anew = carried.compiled.sum()
serves = anew == 0 < carried.loaded.min()
bench.claim("artifacts-serve", serves, f"{anew:.0f} compiled anew")

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

publish(small)

# %%
# The ``compile()`` of all blocks takes :measured:`start.regional.wrap`. The first call of nested lies
# :claim:`between full and regional, at {start.nested.call} <start.regional.call < nested.call < start.full.call>`: Python is still followed through
# each block. The rest goes into importing PyTorch and its compiler, with any cache.
#
# From disk :claim:`no graph is compiled anew <cache-serves>`, nor :claim:`with artifacts
# <artifacts-serve>`. But Python is followed and guards are made once more, so :claim:`the first call by
# blocks is still the shorter one, {start.regional.disk_call} against {start.full.disk_call}
# <regional.disk_call < full.disk_call>`. With a cache, first results are not ranked.
#
# The original recipe reports first calls of 9.7 s and 0.7 s in one process, the whole model first. In
# processes of their own those 64 layers take :measured:`tiny.full.call` and :measured:`tiny.regional.call`, from
# ``import torch`` on :measured:`tiny.full.nothing` and :measured:`tiny.regional.nothing`; where something was
# compiled before, blocks take :measured:`tiny.regional.first_call`.
#
# Every later call
# ----------------
#
# All results have to agree within 5 % of their norm.
#
# ``wall`` is the wall time of a call, ``gpu`` the time in kernels, ``cpu`` that of launching them.

torch.set_grad_enabled(False)


def compare(case, ways, work=lambda model, x: model(x)):
    """Compare the later calls of several ways."""

    def rehearse():
        for way in ["regional"] + ["graphs"] * ("graphs" in ways):
            model, x = make(way, **SIZES[case] | dict(depth=1))
            wrap(model, way)
            work(model, x)

    models = {way: make(way, **SIZES[case]) for way in ways}
    for way, (model, _x) in models.items():
        wrap(model, way)
    arms = {way: lambda pair=pair: work(*pair) for way, pair in models.items()}
    table = bench.compare(case, arms, rehearse=rehearse)
    expected = arms["eager"]().float()
    for arm in arms.values():
        assert (arm().float() - expected).norm() <= 0.05 * expected.norm()
    return table


ways, others = ["eager", "regional"], []

# %%

# sphinx_gallery_once = True
others = ["full", "nested", "fullgraph"]

# %%

waiting = compare("waiting", ways + others + ["graphs"] * ON_GPU)

# %%
# With the short input :claim:`the GPU waits <1.2 * waiting.eager.gpu < waiting.eager.wall>`.
#
# - Regional :claim:`needs less GPU time than eager, {waiting.regional.gpu} instead of
#   {waiting.eager.gpu} <waiting.regional.gpu < waiting.eager.gpu>`, but entering each block's code takes the CPU's time.
# - ``fullgraph=True`` only makes a graph break an error: with it :measured:`waiting.fullgraph.wall`,
#   without :measured:`waiting.regional.wall`.
# - Nested and full enter compiled code once: :measured:`waiting.nested.wall` and
#   :measured:`waiting.full.wall`.
#
# Now the long input:

busy = compare("busy", ways + others[:1])

# %%
# :claim:`Wall time is within 1.2 times GPU time <busy.regional.wall < 1.2 * busy.regional.gpu>`. Full takes :measured:`busy.full.gpu` of GPU
# time; at the power limit the clock varies, so the two are not ranked.
#
# The original's layers compute next to nothing:

# sphinx_gallery_once = True
tiny = compare("tiny", ways)

# %%
# :claim:`Compiled layers lose, {tiny.regional.wall} against {tiny.eager.wall} <tiny.eager.wall < tiny.regional.wall>`. And in a
# fresh process the 64 ``compile()`` alone take :measured:`tiny.regional.wrap`.
#
# Training
# --------
#
# Forward and backward, with the long input:


def train(model, x):
    """Compute all gradients; return those of the first weight."""
    model.zero_grad()
    with torch.enable_grad():
        model(x).square().mean().backward()
    return model.linear.weight.grad


# %%

# sphinx_gallery_once = True
SIZES["train"] = SIZES["busy"]
training = compare("train", ways + others[:1], train)

# %%
# The first iteration :claim:`takes {train.regional.first_call} by blocks and {train.full.first_call} with
# the whole model <train.regional.first_call < train.full.first_call>`, the start of the compiler left out. Later ones :claim:`take less
# GPU time than eager ones, {train.regional.gpu} instead of {train.eager.gpu} <train.regional.gpu < train.eager.gpu>`; full takes
# :measured:`train.full.gpu`.

# sphinx_gallery_plumbing = True

if ON_GPU:
    gpu, wall = waiting.gpu, waiting.wall
    claim_less("waiting-waits", 1.2 * gpu["eager"], wall["eager"])
    claim_less("waiting-gpu-gains", *gpu[["regional", "eager"]])
    claim_less("regional-gains-nothing", 0.98 * wall["eager"], wall["regional"])
    claim_less("graphs-gain", *wall[["graphs", "eager"]])
    claim_less("busy-gains", *busy.gpu[["regional", "eager"]])
    claim_less("busy-hides", busy.wall["regional"], 1.2 * busy.gpu["regional"])

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

claim_less("tiny-loses", *tiny.wall[["eager", "regional"]])
claim_less("train-starts-sooner", *training.first_call[["regional", "full"]])
if ON_GPU:
    claim_less("train-gains", *training.gpu[["regional", "eager"]])

# %%
# What breaks the reuse
# ---------------------
#
# The next block reuses the code if all guards hold there. Weights may differ; **an integer of a
# module may not**, because it is part of the code. These blocks look alike:


class Plain(nn.Module):
    """Differs from its neighbours by weights only."""

    def __init__(self, index):
        super().__init__()
        self.linear, self.dropout = nn.Linear(10, 10), nn.Dropout(0.1)
        self.index = index
        self.register_buffer("scale", torch.tensor(1 / (1 + index)))

    def forward(self, x):
        return self.dropout(self.linear(x))


class OwnRate(Plain):
    """Has a dropout rate of its own, which counts in evaluation mode, too."""

    def __init__(self, index):
        super().__init__(index)
        self.dropout.p = 0.01 * index


class UsesInt(Plain):
    """Uses a number of its own."""

    def forward(self, x):
        return self.linear(x) / (1 + self.index)


class UsesTensor(Plain):
    """Has put that number into a tensor."""

    def forward(self, x):
        return self.linear(x) * self.scale


class OwnEncoder(nn.TransformerEncoderLayer):
    """Has a forward of this file."""

    def forward(self, x):
        return super().forward(x)


# %%

# sphinx_gallery_fold = "How graphs are counted"


class Counter:
    """A backend that counts graphs and runs, and generates no code."""

    def __init__(self):
        self.graphs = self.runs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1

        def run(*arguments):
            self.runs += 1
            return graph.forward(*arguments)

        return run


def count(layers, x):
    """Return how many graphs are made for layers, and how many layers run in one."""
    torch.compiler.reset()
    counter = Counter()
    for layer in layers:
        layer.eval().compile(backend=counter)
    for _ in range(2):  # the second round shows what stays
        counter.runs, y = 0, x
        for layer in layers:
            y = layer(y)
    return {"graphs": counter.graphs, "run compiled": counter.runs}


# %%

# sphinx_gallery_once = True
x, counts = torch.ones(4, 10), {}
for kind in (Plain, OwnRate, UsesInt, UsesTensor):
    counts[kind.__name__] = count([kind(index) for index in range(12)], x)
with torch.enable_grad():
    counts["Plain, gradients"] = count([Plain(index) for index in range(12)], x)
with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True):
    counts["UsesInt, allowed"] = count([UsesInt(index) for index in range(12)], x)
for kind in (nn.TransformerEncoderLayer, OwnEncoder):
    layers = [kind(10, 2, 20, batch_first=True) for _ in range(12)]
    counts[kind.__name__] = count(layers, x[None])
print(pd.DataFrame(counts).T)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

shared = [counts[kind] for kind in ("Plain", "UsesTensor", "OwnEncoder")]
once = all(found == {"graphs": 1, "run compiled": 12} for found in shared)
bench.claim("one-graph-serves", once, str(shared))
own = [counts[kind] for kind in ("OwnRate", "UsesInt")]
again = all(found["run compiled"] < 12 for found in own)
bench.claim("numbers-end-eagerly", again, str(own))
missing = counts["TransformerEncoderLayer"]["graphs"]
bench.claim("torch-nn-has-no-graph", missing == 0, f"{missing} graphs")
pair = counts["Plain, gradients"]
bench.claim("gradients-take-two", pair == {"graphs": 2, "run compiled": 12}, str(pair))
few = counts["UsesInt, allowed"]
bench.claim("allowed-int-serves", few["run compiled"] == 12, str(few))

# %%
# Where only weights and tensors differ, :claim:`one graph serves all 12 layers <one-graph-serves>`. With
# gradients :claim:`there are two <gradients-take-two>`, because the first layer's input needs none. Two
# things fail silently:
#
# - Layers with different integers or dropout rates get a graph each, eight at most (``recompile_limit``). :claim:`The rest
#   runs eagerly <numbers-end-eagerly>`; only a warning tells ("torch._dynamo hit
#   config.recompile_limit"). Rule: put the number into a tensor, or let
#   ``torch._dynamo.config.allow_unspec_int_on_nn_module = True`` :claim:`make integers inputs
#   <allowed-int-serves>`.
# - In PyTorch 2.11 ``compile()`` of a class of ``torch.nn`` :claim:`makes no graph
#   <torch-nn-has-no-graph>`: it does not start inside PyTorch's own functions. (2.15 makes one.) Rule: wrap
#   it with ``torch.compile(layer)``, or write a subclass with a ``forward``.
#
# ``TORCH_LOGS=recompiles`` names the guard that failed.
#
# Pitfalls
# --------
#
# **A call takes seconds now and then.** Input of a new type, or of a second shape, is compiled again. Rule: find it in a
# test, with the stance ``fail_on_recompile``. Where users wait, ``eager_on_recompile`` runs such input
# eagerly (both since 2.6).

# sphinx_gallery_once = True
torch.compiler.reset()
layer = Layer()
layer.compile(backend="eager")
layer(torch.ones(4, 10))
with torch.compiler.set_stance("fail_on_recompile"):
    try:
        layer(torch.ones(3, 10))
    except RuntimeError as error:
        print(str(error).split(". ")[0])
with torch.compiler.set_stance("eager_on_recompile"):
    print("eagerly:", layer(torch.ones(3, 10)).shape)

# %%
# **The cache does not help.** It lies in a temporary folder that a container forgets, and holds for one
# version of PyTorch and Triton and one kind of GPU. Rule: set ``TORCHINDUCTOR_CACHE_DIR`` to a folder that
# stays, or carry artifacts.
#
# **A nested region raises an error.** ``nested_compile_region`` takes no graph break in the block and no
# bound method. Rule: mark ``forward`` in the class.
#
# **Compiling fails.** Try ``backend="eager"``: if the error stays, following Python is to blame, if not, a
# later stage.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# One GPU, fixed shapes, no activation checkpointing, later calls of a few blocks. First results depend on the host and its disk. With
# FSDP2, compile a block before ``fully_shard``. `Regional AOT
# <https://docs.pytorch.org/tutorials/recipes/regional_aot.html>`__ compiles ahead of time; `Compile Time
# Caching <https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_tutorial.html>`__ has all caches.
# Diffusers has ``compile_repeated_blocks`` (`guide
# <https://huggingface.co/docs/diffusers/optimization/fp16>`__), Accelerate `regional compilation
# <https://huggingface.co/docs/accelerate/usage_guides/compilation>`__. Whether your GPU waits,
# :doc:`/recipes/where_time_goes` tells.
#
# This recipe builds on `Reducing torch.compile cold start compilation time with regional compilation
# <https://docs.pytorch.org/tutorials/recipes/regional_compilation.html>`__ by `Animesh Jain
# <https://github.com/anijain2305>`__ and its Chinese translation.

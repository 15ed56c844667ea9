"""
CUDA graphs: by hand or reduce-overhead?
========================================

The GPU waits for the CPU, in training or for serving.

**Sizes are fixed, and all work is on the GPU: record it by hand in one CUDA graph, in training the whole
iteration.** **Compile the blocks before, if you can wait for the compiler.** **If some of the work needs the CPU, or
sizes vary, let** ``reduce-overhead`` **record it.**

.. code-block:: python
   :caption: Training, by hand

   import torch
   model, x = torch.nn.Linear(64, 64).cuda(), torch.randn(32, 64).cuda()
   optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
   def iteration():
       optimizer.zero_grad()
       model(x).norm().backward()
       optimizer.step()
   with torch.cuda.stream(torch.cuda.Stream()):
       iteration()  # once, on another stream
   with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
       iteration()  # records, and does not run
   graph.replay()  # copy each batch into x before

.. code-block:: python
   :caption: Inference, by hand

   import torch
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
   x = torch.randn(32, 64).cuda()
   model(x)  # once before
   with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
       result = model(x)  # records, and does not run
   for _ in range(3):
       x.copy_(torch.randn(32, 64))  # the next input
       graph.replay()
       print(result.norm())  # the next replay overwrites it

.. code-block:: python
   :caption: By PyTorch

   import torch
   model = torch.nn.Linear(64, 64).cuda()
   optimizer = torch.optim.AdamW(model.parameters(), fused=True)
   model = torch.compile(model, mode="reduce-overhead")
   for _ in range(3):  # compiles, records, replays
       torch.compiler.cudagraph_mark_step_begin()
       optimizer.zero_grad()
       x = torch.randn(32, 64).cuda()
       model(x).norm().backward()
       optimizer.step()

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600
# sphinx_gallery_thumbnail_number = 1

# %%
# What to choose
# --------------
#
# To be written.
#
# Why the GPU waits
# -----------------
#
# To be written.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%
# The model has four blocks of a transformer.

bench = Bench()
bench.batch_seconds = 0.02  # an iteration takes little time
bench.rounds = 8

import gc
import itertools
from time import perf_counter

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

DEPTH, WIDTH, HEADS, TEXTS, TOKENS = 4, 512, 8, 8, 128
if not bench.gpu:
    DEPTH, WIDTH, HEADS, TEXTS, TOKENS = 2, 32, 2, 2, 8
    print("There are no CUDA graphs here: by hand, variants run without them.")

# %%

# sphinx_gallery_fold = "A transformer block, and how models are made"
import types


class Block(nn.Module):
    """Attention and two linear layers, each with a norm before and a sum behind it."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = self.qkv(self.norms[0](x)).unflatten(-1, (3, HEADS, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(-2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Model(nn.Module):
    """Some blocks, one after the other."""

    def __init__(self, kind, depth):
        super().__init__()
        self.blocks = nn.ModuleList(kind() for _ in range(depth))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def own_code(kind):
    """Return a class like another one, so that variants share no compiled code."""
    copied = types.FunctionType(kind.forward.__code__.replace(), globals())
    return type(kind.__name__, (kind,), {"forward": copied})


def make_model(depth=DEPTH, compiled=None):
    """Return a model with the same random weights each time; its blocks, all of it, or
    nothing is to be compiled."""
    torch.manual_seed(0)
    with bench.device:
        model = Model(own_code(Block), depth)
    if compiled == "blocks":
        for block in model.blocks:
            block.compile()
    elif compiled:
        model.compile(mode=compiled)
    return model


# %%
# A training iteration sets gradients to ``None``, goes forward and backward, clips gradients and takes a step of
# AdamW.

HALF = bench.dtype == torch.bfloat16
torch.manual_seed(1)
BATCH = tuple(torch.randn(2, TEXTS, TOKENS, WIDTH, device=bench.device))


def mixed_precision():
    """Compute in ``bfloat16`` where a GPU has it, without keeping converted weights."""
    kind = bench.device.type
    return torch.autocast(kind, bench.dtype, enabled=HALF, cache_enabled=False)


def make_iteration(model, forward=None, **options):
    """Return a training iteration of a model, which returns its loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **options)

    def iteration(x, target):
        optimizer.zero_grad(set_to_none=True)
        with mixed_precision():
            y = forward(x) if forward else model(x)
        loss = F.mse_loss(y.float(), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    return iteration


# %%
# The next cell has the three ways to CUDA graphs. By hand, a function runs twice on another stream, then it is
# recorded.


def by_hand(function, *examples):
    """Return a function that records itself in one CUDA graph in its second call."""
    if not bench.gpu:
        return function
    places = [example.clone() for example in examples]
    side, graph, results = torch.cuda.Stream(), torch.cuda.CUDAGraph(), []
    calls = itertools.count()

    def run(*inputs):
        for place, given in zip(places, inputs, strict=True):
            place.copy_(given)
        if results:
            graph.replay()
            return results[0]  # the next replay overwrites it
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            result = function(*places)
        torch.cuda.current_stream().wait_stream(side)
        if next(calls) == 1:
            with torch.cuda.graph(graph):  # records, and does not run
                results.append(function(*places))
        return result

    return run


def graphed_at_first_call(model):
    """Return a forward that its first call records, and the backward with it."""
    recorded = []

    def forward(x):
        if not recorded:
            made = (
                torch.cuda.make_graphed_callables(model, (x,)) if bench.gpu else model
            )
            recorded.append(made)
        return recorded[0](x)

    return forward


def by_pytorch(function):
    """Return a function of a model that is compiled with reduce-overhead."""

    def run(*inputs):
        torch.compiler.cudagraph_mark_step_begin()  # earlier results may be overwritten
        return function(*inputs)

    return run


# %%

# sphinx_gallery_fold = "How the start is timed, and launches are counted"
from torch.profiler import ProfilerActivity, profile

KIND = "CUDA" if bench.gpu else "CPU"


class Start:
    """Calls a function with the same inputs, and keeps the seconds of its first three calls."""

    def __init__(self, function, inputs):
        self.function, self.inputs, self.seconds = function, inputs, []

    def __call__(self):
        if len(self.seconds) == 3:
            return self.function(*self.inputs)
        bench.synchronize()
        start = perf_counter()
        result = self.function(*self.inputs)
        bench.synchronize()
        self.seconds.append(perf_counter() - start)
        return result


def list_events(call):
    """Return what the CPU does to launch a call, and what the GPU does then."""
    activity = getattr(ProfilerActivity, KIND)
    with profile(activities=[activity], acc_events=True) as report:
        call()
        bench.synchronize()
    return report.events()


def count_graphs(call):
    """Return how many CUDA graphs a call launches."""
    return sum(event.name.startswith("cudaGraphLaunch") for event in list_events(call))


def publish_start(case, calls):
    """Publish the seconds of the first three calls of each variant, and its graphs."""
    table = {}
    for name, call in calls.items():
        table[name] = dict(ready=sum(call.seconds), graphs=count_graphs(call))
        bench.measure(case, name, "ready", table[name]["ready"])
        if bench.gpu:
            bench.measure(case, name, "graphs", table[name]["graphs"], unit="")
    print(pd.DataFrame(table).T)


# %%
# The figure shows when the GPU computes during one iteration.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Two rows of bars that show when the device computes during one training iteration: without a graph many short bars with gaps between them, in one CUDA graph the bars stand close together at the beginning"
from matplotlib import pyplot as plt


def busy_times(call):
    """Return begin and length, in ms, of all kernels of a call (on a CPU: operations)."""
    kernels = [e for e in list_events(call) if e.device_type.name == KIND]
    times = [e.time_range for e in kernels if not e.is_user_annotation]
    first = min(time.start for time in times)
    return [(1e-3 * (t.start - first), 1e-3 * t.elapsed_us()) for t in times]


figure, axes = plt.subplots(figsize=(7, 2.2), layout="constrained")
iteration = make_iteration(make_model(), fused=True, capturable=bench.gpu)
shown = {"without a graph": iteration, "in one graph": by_hand(iteration, *BATCH)}
for row, function in enumerate(shown.values()):
    for _ in range(3):
        function(*BATCH)
    times = busy_times(lambda function=function: function(*BATCH))
    axes.broken_barh(times, (-row - 0.3, 0.6), color=f"C{row}")
axes.set_yticks([0, -1], [*shown])
axes.set(xlabel="ms since the first kernel")
plt.show()
del iteration, function, shown

# %%
# A training iteration, recorded by PyTorch
# -----------------------------------------
#
# With ``mode="reduce-overhead"``, PyTorch records graphs. This test comes first, and alone: while it records,
# PyTorch 2.11 frees memory that graphs recorded by hand still use (see the pitfalls).


def train_by_pytorch(compiled, depth=DEPTH):
    """Return an iteration with a compiled model, and a fused step."""
    model = make_model(depth, compiled)
    return Start(by_pytorch(make_iteration(model, fused=True)), BATCH)


rehearsal = train_by_pytorch("reduce-overhead", depth=1)
for _ in range(3):
    rehearsal()  # loads what is loaded at first use
del rehearsal

# %%

calls = {
    "not compiled": Start(make_iteration(make_model()), BATCH),
    "reduce-overhead": train_by_pytorch("reduce-overhead"),
}

# %%

# sphinx_gallery_once = True
calls["default"] = train_by_pytorch("default")

# %%
# The losses of the third iteration have to agree within a hundredth.

case = "training, by PyTorch"
training = bench.compare(case, calls, tolerance=0.01, rehearse=False)
publish_start(case, calls)

# %%
# Inference, recorded by PyTorch
# ------------------------------
#
# The same blocks without gradients, in ``bfloat16``.


def make_reader(compiled=None):
    """Return a model for inference."""
    return make_model(compiled=compiled).to(bench.dtype).requires_grad_(False)


INPUT = (BATCH[0].to(bench.dtype),)
calls = {
    "not compiled": Start(make_reader(), INPUT),
    "reduce-overhead": Start(by_pytorch(make_reader("reduce-overhead")), INPUT),
}
case = "inference, by PyTorch"
inference = bench.compare(case, calls, tolerance=0.1, rehearse=False)
publish_start(case, calls)

# %%
# When something needs the CPU
# ----------------------------
#
# The next model has four linear layers, and between them a tensor may go to the CPU and back. PyTorch cuts
# the function there, and records each part.

# sphinx_gallery_once = True


class Chain(nn.Module):
    """Linear layers; behind some of them, a tensor takes a detour through the CPU."""

    def __init__(self, detours):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(16))
        self.detours = detours

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = torch.relu(layer(x))
            if number in self.detours:
                x = x.cpu().to(bench.device)
        return x


DETOURS = {0: (), 1: (7,), 3: (3, 7, 11)}
x = torch.randn(TEXTS, WIDTH, device=bench.device, dtype=bench.dtype)
graphs = {}
for number, places in DETOURS.items():
    chains = {}
    for name in ("not compiled", "reduce-overhead"):
        torch.manual_seed(0)
        with bench.device:
            chain = Chain(places).to(bench.dtype).requires_grad_(False)
        if name == "reduce-overhead":
            chain.compile(mode=name)
        chains[name] = lambda chain=chain: chain(x)
    detours = bench.compare(
        "detours",
        lambda size, chains=chains: chains,
        sizes=("detours", [number]),
        tolerance=0.1,
        rehearse=False,
        rounds=5,
    )
    graphs[number] = count_graphs(chains["reduce-overhead"])
print("graphs that a call launches:", graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

if bench.gpu:
    for number, count in graphs.items():
        bench.measure(
            "detours", "reduce-overhead", "graphs", count, size=number, unit=""
        )

# %%
# A training iteration, recorded by hand
# --------------------------------------


def train_by_hand(compiled=None):
    """Return an iteration that is recorded in one graph."""
    model = make_model(compiled=compiled)
    iteration = make_iteration(model, fused=True, capturable=bench.gpu)
    return Start(by_hand(iteration, *BATCH), BATCH)


model = make_model()
graphed = make_iteration(model, graphed_at_first_call(model), fused=True)
calls = {
    "not compiled": Start(make_iteration(make_model()), BATCH),
    "fused": Start(make_iteration(make_model(), fused=True), BATCH),
    "make_graphed_callables": Start(graphed, BATCH),
    "one graph": train_by_hand(),
    "blocks compiled, one graph": train_by_hand("blocks"),
}

# %%

# sphinx_gallery_once = True
model = make_model(compiled="blocks")
calls["blocks compiled"] = Start(make_iteration(model, fused=True), BATCH)

# %%

case = "training, by hand"
training = bench.compare(case, calls, tolerance=0.01, rehearse=False)
publish_start(case, calls)

# %%
# Inference, recorded by hand
# ---------------------------

calls = {
    "not compiled": Start(make_reader(), INPUT),
    "blocks compiled": Start(make_reader("blocks"), INPUT),
    "one graph": Start(by_hand(make_reader(), *INPUT), INPUT),
    "blocks compiled, one graph": Start(by_hand(make_reader("blocks"), *INPUT), INPUT),
}
case = "inference, by hand"
inference = bench.compare(case, calls, tolerance=0.1, rehearse=False)
publish_start(case, calls)

# %%
# What a fixed address costs
# --------------------------
#
# A graph reads its input from a fixed address. If the next input lies elsewhere on the GPU, it has to be copied.

# sphinx_gallery_once = True
x = torch.randn(2**26 if bench.gpu else 2**16, device=bench.device, dtype=bench.dtype)


def double(x):
    """Compute little with a large input."""
    return 2 * x


in_place = by_hand(lambda: double(x))
large = bench.compare(
    "a large input",
    {
        "without a graph": lambda: double(x),
        "input in place": in_place,
        "input copied": Start(by_hand(double, x), (x,)),
    },
    tolerance=0.01,
    rehearse=False,
)

# %%
# Memory of several graphs
# ------------------------
#
# Each graph keeps the memory of all its intermediate results. Graphs that never run at the same time can share it.

BATCHES = (64, 32, 16, 8) if bench.gpu else (4, 2)


def keep_memory(batches, shared):
    """Return the bytes that graphs for some batches keep, the largest batch first."""
    model, graphs, pool = make_reader(), [], None
    options = dict(device=bench.device, dtype=bench.dtype)
    places = [torch.randn(batch, TOKENS, WIDTH, **options) for batch in batches]
    for place in places:
        model(place)
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    for place in places:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            graphs.append((graph, model(place)))
        pool = graph.pool() if shared else None
    torch.cuda.empty_cache()
    return torch.cuda.memory_reserved() - before


# %%

if bench.gpu:
    keep_memory(BATCHES[-1:], shared=False)  # loads what the first graph needs
    kept = {
        "largest alone": keep_memory(BATCHES[:1], shared=False),
        "a pool each": keep_memory(BATCHES, shared=False),
        "one pool": keep_memory(BATCHES, shared=True),
    }
    print({name: f"{size / 1e6:.0f} MB" for name, size in kept.items()})

# %%

# sphinx_gallery_plumbing = True

if bench.gpu:
    for name, size in kept.items():
        bench.measure("graphs of four batches", name, "kept", size, unit="B")

# %%
# Pitfalls
# --------
#
# Short functions show them; this one records.

# sphinx_gallery_once = True


def record(function):
    """Return a function's CUDA graph, and the tensors that a replay writes."""
    function()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


# %%
# **A kept result changes.**

# sphinx_gallery_once = True
if bench.gpu:
    x = torch.ones(2, device="cuda")
    graph, result = record(lambda: 10 * x)
    graph.replay()
    kept, cloned = result, result.clone()
    x.fill_(5)
    graph.replay()
    print("kept:", kept.tolist(), "cloned:", cloned.tolist())

# %%
# With ``reduce-overhead``, an error says that it was overwritten.

# sphinx_gallery_once = True
tenfold = torch.compile(lambda x: 10 * x, mode="reduce-overhead")
ones = torch.ones(2, device=bench.device)
kept = [tenfold(ones) for _ in range(3)]
try:
    print("kept:", kept[0])
except RuntimeError as error:
    print(str(error).split(". ")[0])
kept = [tenfold(ones).clone() for _ in range(3)]
print("cloned:", kept[0].tolist())

# %%
# **The learning rate stays as it was.**

# sphinx_gallery_once = True


def change_rate(rate):
    """Set the rate to 0 behind the recording; return by how much a replay still changes a weight."""
    weight = nn.Parameter(torch.ones(1, device="cuda"))
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.AdamW([weight], rate, weight_decay=0, capturable=True)
    graph, _result = record(optimizer.step)
    if torch.is_tensor(rate):
        rate.fill_(0)
    else:
        optimizer.param_groups[0]["lr"] = 0.0
    before = weight.detach().clone()
    graph.replay()
    return (before - weight.detach()).item()


if bench.gpu:
    print("a number:", change_rate(0.1))
    print("a tensor:", change_rate(torch.tensor(0.1, device="cuda")))

# %%
# **Python runs once.**

# sphinx_gallery_once = True
import random

if bench.gpu:
    graph, noise = record(lambda: random.random() + torch.zeros(2, device="cuda"))
    graph.replay()
    before = noise.clone()
    graph.replay()
    print("Python's random numbers are frozen:", torch.equal(noise, before))
    graph, noise = record(lambda: torch.rand(2, device="cuda"))
    graph.replay()
    before = noise.clone()
    graph.replay()
    print("PyTorch's random numbers are frozen:", torch.equal(noise, before))

# %%
# **An input of another size.**

# sphinx_gallery_once = True
if bench.gpu:
    place = torch.zeros(4, 2, device="cuda")
    graph, result = record(lambda: 10 * place)
    place.copy_(torch.ones(1, 2))  # one row becomes four
    graph.replay()
    print("one row given:", result[:, 0].tolist())
    place.zero_()
    place[:1].copy_(torch.ones(1, 2))
    graph.replay()
    print("one row, filled up:", result[:1, 0].tolist())

# %%
# **Gradients of micro-batches are wrong with make_graphed_callables.**

# sphinx_gallery_once = True


def accumulate(layer):
    """Return a gradient after two micro-batches; it has to be 2 + 6."""
    layer.zero_grad(set_to_none=True)
    for factor in (1, 3):
        layer(factor * ones[None].expand(2, 2)).sum().backward()
    return layer.weight.grad[0, 0].item()


layer = nn.Linear(2, 2).to(bench.device)
print("without a graph:", accumulate(layer))
if bench.gpu:
    sample = torch.ones(2, 2, device="cuda")
    print("recorded:", accumulate(torch.cuda.make_graphed_callables(layer, (sample,))))

# %%
# **Recording fails.** After such an error, start the process again: this cell is the last one for that reason.

# sphinx_gallery_once = True
if bench.gpu:
    x = torch.ones(2, device="cuda")
    try:
        record(lambda: x / x.sum().item())
    except RuntimeError as error:
        print(str(error.__context__ or error).splitlines()[0])

# %%
# What is not measured here, and where to go on
# ---------------------------------------------
#
# To be written.

"""
CUDA graphs: by hand or reduce-overhead?
========================================

In training or in serving, the GPU waits for the CPU.

.. answer::

   **Capture the whole iteration in one CUDA graph if the GPU is busy for less than 80 % of the time.** That needs static
   shapes and no sync with the CPU, such as ``.item()``; otherwise use ``reduce-overhead``. Up to PyTorch 2.14, do not use
   both in one process. Each replay overwrites the last result: ``clone()`` what you keep.

   .. chart:: busy
      :case: training, by hand
      :only: not compiled, fused, make_graphed_callables, one graph
      :best: one graph
      :hero:

      One training iteration of a small transformer

   - :measured:`training-by-hand.one-graph.speedup` speed-up per iteration, against eager
   - :measured:`training-by-hand.one-graph.ready` until the graph is ready; nothing compiles
   - :measured:`training-by-pytorch.reduce-overhead.break_even` iterations for ``reduce-overhead`` to break even
   - :measured:`training-by-hand.one-graph.kept` kept by the graph, optimizer state included

   .. code-block:: diff
      :caption: What changes

      - optimizer = AdamW(parameters)
      + optimizer = AdamW(parameters, lr=torch.tensor(1e-3).cuda(), fused=True, capturable=True)
      + x.copy_(first_batch)
      + iteration()  # a real step, run once first
      + graph = torch.cuda.CUDAGraph()
      + with torch.cuda.graph(graph):
      +     iteration()  # captures, does not run
        for batch in loader:
      -     iteration()
      +     x.copy_(batch)
      +     graph.replay()

   .. code-block:: python
      :caption: Training, by hand

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      x = torch.randn(32, 64).cuda()
      lr = torch.tensor(1e-3).cuda()  # a number would stay as recorded
      optimizer = torch.optim.AdamW(
          model.parameters(), lr,
          fused=True, capturable=True)
      def iteration():
          optimizer.zero_grad()
          model(x).norm().backward()
          optimizer.step()
      torch.cuda.synchronize()  # x is ready
      other = torch.cuda.Stream()
      with torch.cuda.stream(other):
          iteration()  # run once first
      graph = torch.cuda.CUDAGraph()
      with torch.cuda.graph(graph):
          iteration()  # records, does not run
      x.copy_(torch.randn(32, 64))  # a batch
      graph.replay()

   .. code-block:: python
      :caption: Inference, by hand

      import torch
      model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
      x = torch.randn(32, 64).cuda()
      model(x)  # run once first
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

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as :doc:`look </recipes/where_time_goes>` prints it
     - Capture a graph: the whole iteration, or the call
   * - GPU busy above 95 %
     - No graph: compile instead, see :doc:`Modes </recipes/compile_modes>`
   * - ``.item()``, ``.cpu()`` or ``if tensor:`` in the model
     - ``reduce-overhead``: a sync with the CPU cannot be captured
   * - Many or unknown shapes
     - ``reduce-overhead``, as in :doc:`Dynamic shapes </recipes/varying_sizes>`
   * - You generate text
     - A static cache and a graph: :doc:`Token generation </recipes/token_generation>`

**In your library**

.. libraries::

   - **Transformers**: to make ``generate`` fast, pass ``cache_implementation="static"`` and do nothing else from this
     page: see :doc:`/recipes/token_generation`. It uses ``reduce-overhead``. For the ``Trainer``:
     ``TrainingArguments(torch_compile=True, torch_compile_mode="reduce-overhead")``, without gradient accumulation.
   - **Accelerate**: ``TorchDynamoPlugin(backend="inductor", mode="reduce-overhead")``. If sizes vary and ``accelerate
     launch`` starts the job (of the ``Trainer``, too), pass ``--dynamo_use_dynamic``; otherwise each size is compiled.
   - **Lightning**: ``torch.compile(module, mode="reduce-overhead")`` before ``trainer.fit``.

**What you need**

- PyTorch 2.11 or newer, and pandas. CUDA graphs came with PyTorch 1.10; ``make_graphed_callables``
  is a beta.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton. On other machines the recipe runs small sizes on the CPU without CUDA graphs, and needs a C++
  compiler. A GPU without ``bfloat16``, such as a T4, computes in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What to choose
# --------------
#
# "By hand" means that you record with ``torch.cuda.graph``. Where something is compiled, add the start of the compiler:
# :measured:`process.compiler.start_up`, once per process.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Choose
#      - What it gives
#      - What it costs
#    * - In training, the GPU waits for the CPU: it is busy for less than 80 % of the time. Sizes are fixed
#      - The whole iteration in one graph, recorded by hand
#      - An iteration takes :measured:`training-by-hand.one-graph.wall`; without a graph it takes
#        :measured:`training-by-hand.not-compiled.wall`. Nothing is compiled
#      - The graph keeps memory for gradients and intermediate results, :measured:`training-by-hand.one-graph.kept` with
#        the state of the optimizer; with the same fused optimizer and no graph, an iteration needs
#        :measured:`training-by-hand.fused.memory` at its peak. No part may read a value of the GPU (``.item()``, or an
#        ``if`` that tests a tensor) or compute on the CPU. The pitfalls say what each optimizer needs
#    * - In training, the GPU waits for the CPU, sizes are fixed, and the run is very long
#      - Compile the blocks before: ``block.compile()`` for each. Then record the whole iteration by hand
#      - An iteration takes :measured:`training-by-hand.blocks-compiled-one-graph.wall`, because the GPU has less to do
#      - It is ready after :measured:`training-by-hand.blocks-compiled-one-graph.ready`. Compared with no graph, it pays
#        after :measured:`training-by-hand.blocks-compiled-one-graph.break_even` iterations. But :claim:`in
#        one graph without compiled blocks, it takes at most 1.5 times as long <training-by-hand.one-graph.wall < 1.5 *
#        training-by-hand.blocks-compiled-one-graph.wall>`; compared with that graph, compiling pays much later. The
#        graph keeps memory, sizes
#        are fixed, and no part may use the CPU
#    * - In training, the GPU waits for the CPU. The model itself reads a value of the GPU or computes on the CPU, or its
#        sizes are many
#      - ``torch.compile(model, mode="reduce-overhead")``
#      - An iteration takes :measured:`training-by-pytorch.reduce-overhead.wall`. Forward and backward are launched with
#        one call each
#      - It is ready after :measured:`training-by-pytorch.reduce-overhead.ready`, and pays after
#        :measured:`training-by-pytorch.reduce-overhead.break_even` iterations. Accumulate gradients in tensors of
#        your own (see the pitfalls). A second size is compiled once more, and each size is recorded. The step of the optimizer is
#        not in the graph, and :claim:`an iteration takes longer than in one graph <training-by-hand.one-graph.wall <
#        training-by-pytorch.reduce-overhead.wall>`
#    * - In training, the GPU waits for the CPU. The model does not need the CPU, and its sizes are fixed; but the rest of
#        the loop needs it, or you do not want to change the loop
#      - ``torch.cuda.make_graphed_callables(model, (x,))``
#      - An iteration takes :measured:`training-by-hand.make_graphed_callables.wall`. Forward and backward are launched
#        with one call each, and nothing is compiled. In another test, ``reduce-overhead`` takes
#        :measured:`training-by-pytorch.reduce-overhead.wall`
#      - It is ready after :measured:`training-by-hand.make_graphed_callables.ready`. The graphs keep memory. Accumulate gradients in tensors of your own (see the pitfalls)
#    * - In inference, the GPU waits for the CPU, and sizes are fixed
#      - The model in one graph, recorded by hand
#      - A call takes :measured:`inference-by-hand.one-graph.wall`; without a graph it takes
#        :measured:`inference-by-hand.not-compiled.wall`. Nothing is compiled
#      - The graph keeps :measured:`inference-by-hand.one-graph.kept` of memory; without a graph, a call needs
#        :measured:`inference-by-hand.not-compiled.memory` at its peak. Inputs are copied to a fixed address, and each call overwrites the result of the one
#        before
#    * - In inference, the GPU waits for the CPU, sizes are fixed, and the program runs for very long
#      - Compile the blocks before: ``block.compile()`` for each. Then record the model by hand
#      - A call takes :measured:`inference-by-hand.blocks-compiled-one-graph.wall`, because the GPU has less to do
#      - It is ready after :measured:`inference-by-hand.blocks-compiled-one-graph.ready`. It saves little beside the graph
#        alone, so it pays late. The graph keeps memory, and each call overwrites the result of
#        the one before
#    * - In inference, the GPU waits for the CPU, and you want to change one line only
#      - ``torch.compile(model, mode="reduce-overhead")``
#      - A call takes :measured:`inference-by-pytorch.reduce-overhead.wall`
#      - It is ready after :measured:`inference-by-pytorch.reduce-overhead.ready`. Each call overwrites the result of the one before
#    * - Sizes vary
#      - If they are few and known, a graph by hand for each, all in one pool (``pool=``). If they are many or unknown,
#        ``reduce-overhead``, which records each size by itself: :doc:`/recipes/varying_sizes`
#      - Each size has its graph. In one pool, :claim:`the graphs keep less memory than with a pool for each
#        <graphs-of-four-batches.one-pool.kept < graphs-of-four-batches.a-pool-each.kept>`
#      - Each size has to be recorded before it can be replayed: with ``reduce-overhead``, warm up as "Serving" says at
#        the end of this page
#    * - The model writes text, one token after the other
#      - A static cache, and the step for one token in a graph: :doc:`/recipes/token_generation`
#      - A token takes :measured:`token_generation:one-token.1.graph-by-hand.wall`; without compiling it takes
#        :measured:`token_generation:one-token.1.without-compiling.wall`
#      - The sizes are fixed
#    * - The GPU is busy
#      - No graph; compile instead: :doc:`/recipes/compile_modes`
#      - The GPU does not wait for launches, so a graph has nothing to remove
#      - You wait for the compiler
#
# Conditions and costs
# --------------------
#
# ``look`` in :doc:`/recipes/where_time_goes` prints how busy the GPU is. Below 80 %, it waits; from 95 % on, it is
# busy: record nothing. Between the two, try it. A part needs the CPU if it reads a value of the GPU (``.item()``, or
# an ``if`` that tests a tensor) or computes on the CPU. Only what you record counts: read the loss after the replay.
# In training, first set ``fused=True`` in the optimizer, which needs no compiler.
#
# **What it costs:** a graph by hand repeats the recorded addresses, sizes and numbers. Copy each input into the
# recorded tensor, clone results that you keep, and make the learning rate a tensor, or results are wrong and nothing
# warns. Change the rate with ``lr.fill_(...)``. Give the loader ``drop_last=True``: a smaller last batch does not
# fit.
#
# A graph by hand needs no compiler: in training, it is ready after :measured:`training-by-hand.one-graph.ready`. The
# graph keeps memory between its replays, :measured:`training-by-hand.one-graph.kept` with gradients and the state of
# the optimizer. With the same fused optimizer and no graph, an iteration needs
# :measured:`training-by-hand.fused.memory` at its peak. Record several graphs into one pool (``pool=``). :claim:`All
# graphs of one pool together need about the memory of the largest <graphs-of-four-batches.one-pool.kept < 1.1 *
# graphs-of-four-batches.largest-alone.kept>`. Record the largest first, and copy a result before you replay another
# graph of the pool.
#
# With ``reduce-overhead``, the compiler has to start, which takes :measured:`process.compiler.start_up` once per
# process. Compiling and recording a training iteration then take
# :measured:`training-by-pytorch.reduce-overhead.ready`. After
# :measured:`training-by-pytorch.reduce-overhead.break_even` iterations, the run has won back both waits, compared
# with no compiling and no fused optimizer. In your job, add the seconds of the compiler's start and of the first
# iterations, and divide the sum by the seconds saved per iteration.
#
# **Up to PyTorch 2.14, not both:** do not use graphs by hand and ``reduce-overhead`` in one process. There,
# ``reduce-overhead`` may free memory that a graph by hand uses, and a replay can then end in an illegal memory access
# (see the pitfalls).
#
# Results in words
# ----------------
#
# In training, a graph by hand holds forward, backward, clipping and the step of the optimizer. So the CPU launches an
# iteration with one call. Without a graph, an iteration takes :measured:`training-by-hand.not-compiled.wall`. In one
# graph, :claim:`it takes less than a third of that <3 * training-by-hand.one-graph.wall <
# training-by-hand.not-compiled.wall>`: :measured:`training-by-hand.one-graph.wall`. With ``reduce-overhead``,
# clipping and the step stay outside of the graphs, and the GPU still waits for the CPU there: an iteration takes
# :measured:`training-by-pytorch.reduce-overhead.wall`. If you compile the blocks and then record the iteration by
# hand, the GPU has less to do as well: an iteration takes
# :measured:`training-by-hand.blocks-compiled-one-graph.wall`.
#
# In inference, a call takes :measured:`inference-by-hand.one-graph.wall` in one graph by hand. With
# ``reduce-overhead``, in another test, it takes
# :measured:`inference-by-pytorch.reduce-overhead.wall`. :claim:`A graph by hand is ready sooner
# <inference-by-hand.one-graph.ready < inference-by-pytorch.reduce-overhead.ready>`, because nothing is compiled: it
# is ready after :measured:`inference-by-hand.one-graph.ready`. ``reduce-overhead`` needs
# :measured:`inference-by-pytorch.reduce-overhead.ready` once the compiler has started, and is one line.
#
# If the GPU is busy, there is little that a graph can save. In :doc:`/recipes/compiling_optimizer`, an iteration
# takes :measured:`compiling_optimizer:adamw-in-an-iteration.fused.wall` without a graph, and
# :measured:`compiling_optimizer:adamw-in-an-iteration.all-in-one-graph.wall` in one graph.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%
# The model has four blocks of a transformer, each 512 wide, and gets eight texts of 128 tokens.

bench = Bench()
bench.batch_seconds = 0.02  # an iteration takes little time
bench.rounds = 8

import copy
import gc
import itertools
from time import perf_counter

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

DEPTH, WIDTH, HEADS, TEXTS, TOKENS = 4, 512, 8, 8, 128
IS_2_15 = torch.__version__ >= "2.15"
if not IS_2_15:
    print("Before PyTorch 2.15: what is new in 2.15 is left out.")
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

# sphinx_gallery_fold = "How an iteration is made"
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
# The next cell has three ways to use CUDA graphs. By hand, a function has to run once before it is recorded: this loads
# libraries and creates what exists once, such as the state of the optimizer. One run is enough; the code here makes
# two, because it records in its second call. In training, these runs need another stream: backward runs on the stream
# of its forward, and PyTorch's default stream cannot be recorded. In inference, any stream will do. Inputs are copied
# to the addresses that the graph reads.


def by_hand(function, *examples):
    """Return a function that records itself in one CUDA graph in its second call."""
    if not bench.gpu:
        return function
    places = [example.clone() for example in examples]
    side, graph, results = bench.side_stream, torch.cuda.CUDAGraph(), []
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


def count_graphs(call):
    """Return how many CUDA graphs a call launches."""
    activity = ProfilerActivity.CUDA if bench.gpu else ProfilerActivity.CPU
    with profile(activities=[activity], acc_events=True) as report:
        call()
        bench.synchronize()
    return sum(event.name.startswith("cudaGraphLaunch") for event in report.events())


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
# Pitfalls
# --------
#
# On a CPU, most of these cells print nothing. Short functions are recorded by this one:

# sphinx_gallery_fold = "How a function is recorded"
# sphinx_gallery_once = True


def record(function):
    """Return a function's CUDA graph, and the tensors that a replay writes."""
    function()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


# %%
# **A kept result changes.** Recorded by hand, each replay writes to the same addresses, and nothing warns.

# sphinx_gallery_fold = "A kept result of a graph by hand"
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
# With ``reduce-overhead``, reading a kept result of the first two calls, which prepare and record, raises an error.
# Results of later calls change silently; this follows from PyTorch's code. Rule: clone what you keep. If several compiled
# functions belong to one step, ``torch.compiler.cudagraph_mark_step_begin()`` says where a new step begins.

# sphinx_gallery_fold = "Kept results of reduce-overhead"
# sphinx_gallery_once = True
ones = torch.ones(2, device=bench.device)


def read_at_the_end(function):
    """Return four results that are read behind the last call, or what an error says."""
    results = [function(number * ones) for number in (1, 2, 3, 4)]
    try:
        return [result[0].item() for result in results]
    except RuntimeError as error:
        return str(error).split(". ")[0]


tenfold = torch.compile(lambda x: 10 * x, mode="reduce-overhead")
print("kept:", read_at_the_end(tenfold))
print("cloned:", read_at_the_end(lambda x: tenfold(x).clone()))
if IS_2_15:  # PyTorch clones what would be overwritten
    options = {
        "triton.cudagraphs": True,
        "triton.cudagraph_trees_generation_cloning": "user_visible",
    }
    tenfold = torch.compile(lambda x: 10 * x, options=options)
    print("cloned by PyTorch:", read_at_the_end(tenfold))

# %%
# **The step of the optimizer cannot be recorded.** Rule: ``Adam``, ``AdamW`` and others like them need
# ``capturable=True``. ``SGD`` has no ``capturable``; with a tensor as learning rate, give ``SGD`` ``fused=True``.
#
# **The learning rate stays as it was.** A Python number is fixed when you record. The next cell records a step, and then
# sets the rate to 0. It prints by how much a replay still changes a weight. Rule: make the learning rate a tensor on
# the GPU, and change it with ``fill_``.

# sphinx_gallery_fold = "How the rate is changed"
# sphinx_gallery_once = True


def change_rate(rate):
    """Set the rate to 0 when the step is recorded; return by how much a replay still changes a weight."""
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
# **Numbers drawn by Python repeat, or a counter stands still.** Python runs while you record, and not in a replay.
# Numbers that PyTorch draws on the GPU do not repeat: dropout is new in each replay. Rule: draw random numbers and count
# with tensors on the GPU; log outside of the graph.

# sphinx_gallery_fold = "What is frozen"
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
# **An input of another size gives wrong results.** If an input has one row only, ``copy_`` repeats it silently; other
# sizes raise an error. Rule: copy into a part of the place, and read the same part of the result. Or
# record one graph for each size.

# sphinx_gallery_fold = "An input of one row"
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
# **Gradients of micro-batches are wrong.** With ``make_graphed_callables``, the gradient of a weight lies where the
# graph writes. After the second backward, the first gradient is lost, and the second counts twice. With
# ``reduce-overhead``, the second backward can end in an error (`issue 169545
# <https://github.com/pytorch/pytorch/issues/169545>`__). Rule: make the tensors of ``.grad`` before, outside of the
# graphs, and set them to zero instead of ``None``: ``zero_grad(set_to_none=False)``. The next cell prints a gradient that
# has to be 8.

# sphinx_gallery_fold = "How gradients are accumulated"
# sphinx_gallery_once = True


def accumulate(layer, own_gradients):
    """Return a gradient after two micro-batches; it has to be 2 + 6.

    The gradients are tensors of our own, or those that backward makes.
    """
    for _ in range(3):  # with reduce-overhead, the third one is replayed
        layer.zero_grad(set_to_none=True)
        if own_gradients:
            for weight in layer.parameters():
                weight.grad = torch.zeros_like(weight)
        for factor in (1, 3):
            torch.compiler.cudagraph_mark_step_begin()
            layer(factor * ones[None].expand(2, 2)).sum().backward()
    return layer.weight.grad[0, 0].item()


def make_layer(kind):
    """Return a linear layer: as it is, compiled, or with graphs of its own."""
    layer = nn.Linear(2, 2).to(bench.device)
    if kind == "reduce-overhead":
        layer.compile(mode=kind)
    if kind == "make_graphed_callables":
        sample = torch.ones(2, 2, device="cuda")
        layer = torch.cuda.make_graphed_callables(layer, (sample,))
    return layer


kinds = ["without a graph", "reduce-overhead"]
if bench.gpu:
    kinds.append("make_graphed_callables")
for kind in kinds:
    for own_gradients in (True, False):
        made = "gradients of our own" if own_gradients else "gradients from backward"
        try:
            gradient = accumulate(make_layer(kind), own_gradients)
        except RuntimeError as error:
            print(f"{kind}, {made}: {str(error).split('. ')[0]}")
            continue
        bench.measure(made, kind, "gradient", gradient, unit="")
        print(f"{kind}, {made}: {gradient:.0f}")

# %%
# Why a graph helps, and what is in it
# ------------------------------------
#
# Without a graph, the CPU launches one kernel after the other. Here, an eager operation on a small tensor takes the
# CPU :measured:`process.eager-operation.launch_cost`. If the GPU is done before the next launch, it waits. A
# :term:`CUDA graph` is a list of kernels with their addresses and numbers, and the CPU launches all of it at once.
#
# Python is not in this list, and no work of the CPU. A replay does not look at a learning rate or a size: it
# computes with the numbers and the addresses that were recorded. From this follow all pitfalls on this page.
#
# - **By hand**, you record whatever a function launches, all of it or nothing. You must keep addresses and sizes the
#   same, and nothing in it may use the CPU.
# - With ``reduce-overhead``, **PyTorch** takes care of that. It records what it has compiled, leaves out what uses the
#   CPU, copies inputs, and records again for another size. In return you wait for the compiler, and each call checks
#   :term:`guards <guard>`.
#
# ``look`` tells how busy the GPU is, and the picture shows when the CPU launches and the GPU computes during one
# iteration.

# sphinx_gallery_fold = "The function look"

from _look import look

# %%

# sphinx_gallery_fold = "What look prints in one run, and how the picture is measured"
# sphinx_gallery_once = True
iteration = make_iteration(make_model(), fused=True, capturable=bench.gpu)
lanes = {}
for name, function in {
    "no graph": iteration,
    "one graph": by_hand(iteration, *BATCH),
}.items():
    print(name, end=": ")
    look(lambda function=function: function(*BATCH), calls=50)
    spans = bench.spans_of(lambda function=function: function(*BATCH))
    for lane, times in spans.items():
        lanes[f"{lane}, {name}"] = times
bench.publish_spans("one iteration", lanes)
del iteration, function

# %%
# .. spans:: one iteration
#
#    Without a graph, the CPU launches one kernel after the other, and there are gaps between them; the profiler adds to
#    the gaps. In the graph, the CPU launches once.
#
# A training iteration, recorded by PyTorch
# -----------------------------------------
#
# With ``mode="reduce-overhead"``, PyTorch records a graph of forward and another one of backward. Clipping and the step
# of the optimizer are not compiled and stay outside. We time this in tests of its own, before those of graphs by hand:
# while PyTorch up to 2.14 records, it frees memory that graphs by hand may still use (see the pitfalls).
#
# "Whole step" compiles the whole iteration, as PyTorch advises: the loss, clipping and the step of the optimizer, too.


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
iteration = make_iteration(make_model(), capturable=bench.gpu)
whole_step = torch.compile(iteration, mode="reduce-overhead")
calls["whole step"] = Start(by_pytorch(whole_step), BATCH)

# %%
# We check that all variants give the same loss in the third iteration, within a hundredth. ``wall`` is the wall time of
# an iteration and ``gpu`` the time in kernels. ``cpu`` is the time in which the CPU launches them. ``memory`` is the
# peak of later calls, and ``kept`` is what stays reserved between them. Below the table, the cell prints for one run how many seconds these three calls
# take (``ready``), and how many CUDA graphs a call launches (``graphs``). Tables, charts and text show the median of all
# processes. What is printed, and the tables of the notebook, show one run. A speed-up is computed in each process, and then
# the median is taken: so it can differ from the quotient of two times in the table.

case = "training, by PyTorch"
training = bench.compare(case, calls, tolerance=0.01, rehearse=False)
publish_start(case, calls)

# %%
# - In this test, an iteration takes :measured:`training-by-pytorch.not-compiled.wall` without compiling. With
#   ``reduce-overhead``, :claim:`it takes less <training-by-pytorch.reduce-overhead.wall <
#   training-by-pytorch.not-compiled.wall>`: :measured:`training-by-pytorch.reduce-overhead.wall`. It launches
#   :measured:`training-by-pytorch.reduce-overhead.graphs` graphs, and is ready after
#   :measured:`training-by-pytorch.reduce-overhead.ready`.
# - Compiling alone is not enough: with ``default``, an iteration takes :measured:`training-by-pytorch.default.wall`.
#   This was measured in one process, and its speed-up compares it with the iteration without compiling in the same
#   process.
# - If the whole step is compiled with ``reduce-overhead``, an iteration takes
#   :measured:`training-by-pytorch.whole-step.wall`, and launches :measured:`training-by-pytorch.whole-step.graphs` graphs.
#   It is ready after :measured:`training-by-pytorch.whole-step.ready` (in one process).
#
# Inference, recorded by PyTorch
# ------------------------------
#
# The same blocks compute without gradients, in ``bfloat16``.

# sphinx_gallery_fold = "How the model for inference is made"


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
# Without compiling, a call takes :measured:`inference-by-pytorch.not-compiled.wall`. With ``reduce-overhead``,
# :claim:`it takes less <inference-by-pytorch.reduce-overhead.wall < inference-by-pytorch.not-compiled.wall>`:
# :measured:`inference-by-pytorch.reduce-overhead.wall`.
#
# When something uses the CPU
# ---------------------------
#
# The next model has 16 linear layers, and between them a tensor may take a detour through the CPU. By hand, this
# cannot be recorded. With ``reduce-overhead``, PyTorch cuts the function there, and records the parts. One process
# measured this.

# sphinx_gallery_fold = "A model with detours"
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


DETOURS = {0: (), 3: (3, 7, 11)}
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
# With no detour, a call launches :measured:`detours.0.reduce-overhead.graphs` graph and takes
# :measured:`detours.0.reduce-overhead.wall`. With three, :claim:`it launches more <reduce-overhead.graphs: 0 < 3>`:
# :measured:`detours.3.reduce-overhead.graphs`. It takes :measured:`detours.3.reduce-overhead.wall` then; without
# compiling it takes :measured:`detours.3.not-compiled.wall`. At each detour, the CPU waits for the GPU, and no graph
# removes that. Rule: count ``cudaGraphLaunch`` in a profile; ``TORCH_LOGS=perf_hints`` names the reason of a cut.
#
# A training iteration, recorded by hand
# --------------------------------------
#
# "One graph" holds all of the iteration: forward, backward, clipping and the step. Its optimizer has
# ``capturable=True``, which keeps the number of the step on the GPU. "make_graphed_callables" records forward and
# backward of the model, and the rest runs without a graph. "Fused" has no graph, and all variants but the first have
# ``fused=True``. The warning about a stream is expected: ``make_graphed_callables`` keeps the autograd graph that it has
# recorded.


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
# .. chart:: wall
#    :case: training, by hand
#
#    Wall time of a training iteration.
#
# - Without a graph and without compiling, :claim:`the GPU waits for the CPU <1.25 * training-by-hand.not-compiled.gpu <
#   training-by-hand.not-compiled.wall>`: an iteration takes
#   :measured:`training-by-hand.not-compiled.wall`. In one graph, :claim:`it takes less than a third of that <3 *
#   training-by-hand.one-graph.wall < training-by-hand.not-compiled.wall>`:
#   :measured:`training-by-hand.one-graph.wall`. The graph is ready after :measured:`training-by-hand.one-graph.ready`.
# - In one graph, :claim:`the GPU no longer waits for the CPU <training-by-hand.one-graph.wall < 1.25 *
#   training-by-hand.one-graph.gpu>`. The CPU is busy for :measured:`training-by-hand.one-graph.cpu`; with "fused" it
#   is busy for :measured:`training-by-hand.fused.cpu`.
# - Compiled blocks have :claim:`fewer kernels <training-by-hand.blocks-compiled-one-graph.kernels <
#   training-by-hand.one-graph.kernels>`. In one graph, they need
#   :measured:`training-by-hand.blocks-compiled-one-graph.gpu` of GPU time; without compiling, the graph needs
#   :measured:`training-by-hand.one-graph.gpu`. In wall time, :claim:`an iteration takes less, too
#   <training-by-hand.blocks-compiled-one-graph.wall < training-by-hand.one-graph.wall>`:
#   :measured:`training-by-hand.blocks-compiled-one-graph.wall`.
# - With compiled blocks, the graph is ready after :measured:`training-by-hand.blocks-compiled-one-graph.ready`. Compared
#   with no graph and no compiling, it has paid for its start after
#   :measured:`training-by-hand.blocks-compiled-one-graph.break_even` iterations.
# - If the blocks are compiled and nothing is recorded, an iteration takes
#   :measured:`training-by-hand.blocks-compiled.wall` (in one process). The GPU has less to do, but it still waits for
#   the CPU, which checks :term:`guards <guard>` for each block.
# - ``make_graphed_callables`` :claim:`takes more time than one graph <training-by-hand.one-graph.wall <
#   training-by-hand.make_graphed_callables.wall>`: :measured:`training-by-hand.make_graphed_callables.wall`. It
#   launches :measured:`training-by-hand.make_graphed_callables.graphs` graphs, and clipping and the step are outside.
# - With ``reduce-overhead``, :claim:`an iteration takes more than twice as long as in one graph <2 *
#   training-by-hand.one-graph.wall < training-by-pytorch.reduce-overhead.wall>`.
# - ``reduce-overhead`` :claim:`is ready later than one graph of compiled blocks
#   <training-by-hand.blocks-compiled-one-graph.ready < training-by-pytorch.reduce-overhead.ready>`, because it
#   compiles the whole model. It needs about the same GPU time. We expected it to come near to one
#   graph in wall time, too, but for clipping and the step :claim:`the GPU still waits for the CPU <1.25 *
#   training-by-pytorch.reduce-overhead.gpu < training-by-pytorch.reduce-overhead.wall>`.
# - Between its replays, one graph keeps :measured:`training-by-hand.one-graph.kept` of memory. "Fused" keeps
#   :measured:`training-by-hand.fused.kept`, and needs :measured:`training-by-hand.fused.memory` at its peak. A graph keeps
#   its gradients and intermediate results at addresses of their own.
#
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
# .. chart:: wall
#    :case: inference, by hand
#
#    Wall time of a call without gradients.
#
# Without a graph, compiled blocks take :measured:`inference-by-hand.blocks-compiled.wall`. In one graph,
# :claim:`they take less <inference-by-hand.blocks-compiled-one-graph.wall < inference-by-hand.blocks-compiled.wall>`:
# :measured:`inference-by-hand.blocks-compiled-one-graph.wall`. The graph of the model that is not compiled takes
# :measured:`inference-by-hand.one-graph.wall`. It :claim:`is ready sooner than with reduce-overhead
# <inference-by-hand.one-graph.ready < inference-by-pytorch.reduce-overhead.ready>`: after
# :measured:`inference-by-hand.one-graph.ready`. With ``reduce-overhead``, this takes
# :measured:`inference-by-pytorch.reduce-overhead.ready`. Graphs keep memory: beside weights and input, one graph keeps
# :measured:`inference-by-hand.one-graph.kept`; without a graph, a call needs
# :measured:`inference-by-hand.not-compiled.memory` at its peak.
#
# A graph does not change what is computed. Compiling does: it rounds less often. The next cell prints by how much results
# differ from those without a graph and without compiling.

# sphinx_gallery_once = True
eager = calls["not compiled"]().float().clone()
differences = {}
for name, call in calls.items():
    differences[name] = (call().float() - eager).abs().max().item()
    bench.measure(case, name, "difference", differences[name], unit="")
print({name: f"{difference:.3g}" for name, difference in differences.items()})

# %%
# In one graph, results differ by :measured:`inference-by-hand.one-graph.difference`; with compiled blocks, they differ by
# :measured:`inference-by-hand.blocks-compiled.difference`. This was measured in one process.
#
# What a fixed address costs
# --------------------------
#
# A graph reads its input from a fixed address. If the next input lies elsewhere on the GPU, it has to be copied. The
# next cell doubles 64 million numbers, and nothing else. It was measured in one process.

# sphinx_gallery_fold = "How the copy is timed"
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
# With the input in place, a replay takes :measured:`a-large-input.input-in-place.gpu` of GPU time. If the input is
# copied before, :claim:`it takes more <a-large-input.input-in-place.gpu < a-large-input.input-copied.gpu>`:
# :measured:`a-large-input.input-copied.gpu`. Without a graph nothing is copied, and it takes
# :measured:`a-large-input.without-a-graph.gpu`. Rule: let whatever makes the input write it to this address. A batch
# that comes from the CPU is copied anyway: ``place.copy_(batch)`` instead of ``batch.cuda()`` costs nothing more.
#
# Memory of several graphs
# ------------------------
#
# Each graph keeps the memory of its intermediate results. Graphs that do not run at the same time can share it: pass
# ``pool=first.pool()`` to ``torch.cuda.graph``. The next cells record the model for batches of 64, 32, 16 and 8 texts.

# sphinx_gallery_fold = "How memory is measured"
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
# The graph of 64 texts alone keeps :measured:`graphs-of-four-batches.largest-alone.kept`. With a pool for
# each, the four graphs keep :measured:`graphs-of-four-batches.a-pool-each.kept`. In one pool, :claim:`they keep less
# <graphs-of-four-batches.one-pool.kept < graphs-of-four-batches.a-pool-each.kept>`:
# :measured:`graphs-of-four-batches.one-pool.kept`. With ``reduce-overhead``, all graphs share one pool by themselves.

# %%
# Pitfalls that can end the process
# ---------------------------------
#
# **A replay ends with "an illegal memory access was encountered".** If ``reduce-overhead`` warms up
# or records after you have recorded a graph by hand, PyTorch up to 2.14 frees the workspace of cuBLAS, which your graph
# may still use. A new size is enough for that. Rule: use one of the two in a process, and drop all graphs by hand
# together. If you cannot avoid both, run all sizes of ``reduce-overhead`` first, and no new one afterwards. PyTorch 2.15
# keeps no such workspace. There, the next cell records by hand, lets ``reduce-overhead`` record two sizes, and counts the
# results of a replay that differ from before.

# sphinx_gallery_fold = "Both kinds of graphs in one process"
# sphinx_gallery_once = True
if bench.gpu and IS_2_15:
    options = dict(device=bench.device, dtype=bench.dtype)
    layer = nn.Linear(WIDTH, WIDTH, **options).requires_grad_(False)
    graph, result = record(lambda: layer(*INPUT))
    graph.replay()
    expected = result.clone()
    other = torch.compile(copy.deepcopy(layer), mode="reduce-overhead", dynamic=False)
    try:
        for texts in (TEXTS, TEXTS // 2):
            for _ in range(3):
                other(INPUT[0][:texts])
        torch.cuda.empty_cache()
        graph.replay()
        differing = (result != expected).sum().item()
    except RuntimeError as error:
        print(str(error).splitlines()[0])
    else:
        bench.measure("both kinds of graphs", "replay", "differing", differing, unit="")
        print("results that differ:", differing)

# %%
# **Calls in another thread end in an error.** Up to PyTorch 2.11, what ``reduce-overhead`` has compiled runs in one
# thread only. In 2.15 each thread records its own graphs, and keeps their memory. The next cell runs one
# function in two threads.

# sphinx_gallery_fold = "Calls in two threads"
# sphinx_gallery_once = True
from concurrent.futures import ThreadPoolExecutor

if IS_2_15:
    twofold = torch.compile(lambda x: 2 * x, mode="reduce-overhead")

    def call_three_times():
        """Return a copy of the third result."""
        for _ in range(3):
            doubled = twofold(ones)
        return doubled.clone()

    try:
        with ThreadPoolExecutor(1) as other:
            results = [call_three_times(), other.submit(call_three_times).result()]
        print("results of two threads:", [result.tolist() for result in results])
    except (AssertionError, RuntimeError) as error:
        print(f"{type(error).__name__}: {error}".splitlines()[0])

# %%
# **An error says "operation not permitted when stream is capturing".** What you record waits for the GPU or copies
# to the CPU: ``.item()``, ``print(tensor)``, ``if tensor:``, a mask as an index. Rule: keep it in tensors on the GPU, or
# leave it outside of the graph. After such an error, start the process again. So this cell is the last one.

# sphinx_gallery_fold = "A function that cannot be recorded"
# sphinx_gallery_once = True
if bench.gpu:
    x = torch.ones(2, device="cuda")
    try:
        record(lambda: x / x.sum().item())
    except RuntimeError as error:
        print(str(error.__context__ or error).splitlines()[0])

# %%
# Serving
# -------
#
# - **Serving**: before the first request comes, record one graph by hand for each of a few known sizes, all in one
#   pool (``pool=``), the largest first. Replay one after the other, and copy each result before the next replay. If
#   sizes are many or unknown, use ``reduce-overhead``: first call the model with two sizes, and with a batch of one
#   if that can come; then three times with each size. Pad to a few sizes, with a mask, only if new sizes keep coming.
#   Warm up in the mode in which requests run (``no_grad`` or ``inference_mode``), and, up to PyTorch 2.11, make all
#   calls in one thread (:ref:`for-serving`). With vLLM and SGLang there is nothing to do, unless graphs were switched
#   off (in vLLM ``enforce_eager``).
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# The list of measurements at the end of this page says how many processes and hosts each of them comes from. Where
# there is one host, trust the order of the figures, and not their size. One GPU and one small model were measured.
# Several GPUs were not: with ``DistributedDataParallel``, record after eleven
# iterations. Neither was ``float16`` with ``GradScaler``, whose step looks at a number on the CPU.
# :doc:`/recipes/where_time_goes` tells whether the GPU waits for the CPU in your job, and
# :doc:`/recipes/regional_compilation` has graphs of compiled blocks for inference.
#
# This recipe builds on PyTorch's `notes on CUDA graphs
# <https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs>`__, which record a whole iteration by hand, on
# `Accelerating PyTorch with CUDA Graphs <https://pytorch.org/blog/accelerating-pytorch-with-cuda-graphs/>`__, and on
# the page on `CUDA graph trees
# <https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html>`__, which ``reduce-overhead`` makes.

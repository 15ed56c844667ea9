"""
CUDA graphs in PyTorch: capture manually or use reduce-overhead
===============================================================

Does your GPU wait for the CPU to launch kernels? :ref:`Measure it <busy-share>`.

.. answer::

   **If the GPU is busy less than 80% of the time, capture the whole iteration in one CUDA graph.** This requires
   static shapes and no CPU syncs, such as ``.item()``. Failing that, or for a quick one-line test, use
   ``reduce-overhead``. Each replay overwrites the last result: overlook this or another :ref:`pitfall <graph-pitfalls>`,
   and results are silently wrong.

   .. chart:: busy
      :case: training, by hand
      :only: not compiled, fused, make_graphed_callables, one graph
      :best: one graph
      :hero:

      One training iteration of a small transformer. With ``reduce-overhead``, timed separately:
      :measured:`training-by-pytorch.reduce-overhead.speedup`

   - :measured:`training-by-hand.one-graph.speedup` speed-up per iteration with one graph
   - :measured:`training-by-hand.one-graph.ready` for the first three iterations, capture included; no compilation
   - :measured:`inference-by-hand.one-graph.speedup` speed-up per call in inference
   - :measured:`training-by-hand.one-graph.kept` held by the graph, optimizer state included

   .. code-block:: diff
      :caption: What changes

      - optimizer = AdamW(parameters)
      + lr = torch.tensor(1e-3).cuda()
      + optimizer = AdamW(
      +     parameters, lr,
      +     fused=True, capturable=True)
      + batches = iter(loader)
      + x = next(batches).cuda()
      - def iteration(x):
      + def iteration():  # always reads this x
            optimizer.zero_grad()
            model(x).norm().backward()
            optimizer.step()
      + torch.cuda.synchronize()  # x is ready
      + other = torch.cuda.Stream()
      + with torch.cuda.stream(other):
      +     iteration()  # a real first step
      + graph = torch.cuda.CUDAGraph()
      + with torch.cuda.graph(graph):
      +     iteration()  # only captures
      - for batch in loader:
      -     iteration(batch.cuda())
      + for batch in batches:
      +     x.copy_(batch)
      +     graph.replay()

   .. code-block:: python
      :caption: Training, manually

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      x = torch.randn(32, 64).cuda()
      # a float would be baked in
      lr = torch.tensor(1e-3).cuda()
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
          iteration()  # captures, does not run
      x.copy_(torch.randn(32, 64))  # a batch
      graph.replay()

   .. code-block:: python
      :caption: Inference, manually

      import torch
      model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
      x = torch.randn(32, 64).cuda()
      model(x)  # run once first
      with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
          result = model(x)  # only captures
      for _ in range(3):
          x.copy_(torch.randn(32, 64))  # a batch
          graph.replay()
          # the next replay overwrites it
          print(result.norm())

   .. code-block:: python
      :caption: reduce-overhead

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      optimizer = torch.optim.AdamW(model.parameters(), fused=True)
      # up to PyTorch 2.13, torch.nn modules need
      # model = torch.compile(model, ...) instead;
      # use 2.15: 2.10 to 2.14 can lose gradients
      model.compile(mode="reduce-overhead")
      # compiles, captures, replays
      for _ in range(3):
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
   * - GPU busy below 80% (:doc:`measure it </recipes/where_time_goes>` with ``look``)
     - Capture the whole iteration, or the whole call, in one graph
   * - GPU busy 80 to 95%
     - Try a graph: it saves at most the idle share
   * - GPU busy 95% or above
     - Compile instead: :doc:`Modes </recipes/compile_modes>`
   * - ``.item()``, ``if tensor:``, or many shapes in the model
     - ``reduce-overhead``; for shapes, see :doc:`Dynamic shapes </recipes/varying_sizes>`
   * - You generate text
     - Static KV cache and a graph: :doc:`Token generation </recipes/token_generation>`

**In your library**

.. libraries::

   - **Transformers**: for ``generate``, ``cache_implementation="static"`` is all you need. For the ``Trainer``, pass
     ``TrainingArguments(torch_compile=True, torch_compile_mode="reduce-overhead")`` without gradient accumulation.
   - **Accelerate**: use ``TorchDynamoPlugin(backend="inductor", mode="reduce-overhead")``. If shapes vary, pass
     ``--dynamo_use_dynamic`` to ``accelerate launch``, which otherwise sets ``dynamic=False``; ``torchrun`` does not.
   - **Lightning**: pass ``torch.compile(module, mode="reduce-overhead")`` to ``trainer.fit``.
   - **vLLM** captures graphs automatically, as does SGLang; check that ``enforce_eager`` is not set.

**What you need**

- PyTorch 2.11 or newer, and pandas. Compiled training :ref:`needs 2.15 <newer-pytorch>`.
- A CUDA GPU with compute capability 7.5 (Turing) or above. On a CPU, the recipe runs without graphs and needs a C++
  compiler."""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# .. _capture-manually:
#
# When to capture manually, and when to use ``reduce-overhead``
# -------------------------------------------------------------
#
# Capture **manually**, with ``torch.cuda.graph``, if shapes are static and nothing you capture syncs with the CPU: no
# ``.item()``, ``.cpu()``, ``print(tensor)``, ``if tensor:`` or ``x[mask]``. Read the loss after the replay. In other
# cases, choose yours below.
#
# .. list-table::
#    :header-rows: 1
#
#    * - Your case
#      - Use
#      - Speed-up here
#      - First three calls
#    * - Static shapes, no syncs
#      - One manual graph: the whole iteration, or the call
#      - :measured:`training-by-hand.one-graph.speedup` in training, :measured:`inference-by-hand.one-graph.speedup` in
#        inference
#      - :measured:`training-by-hand.one-graph.ready`
#    * - Shapes are static, but the rest of the loop syncs
#      - ``torch.cuda.make_graphed_callables(model, (x,))`` (beta)
#      - :measured:`training-by-hand.make_graphed_callables.speedup`
#      - :measured:`training-by-hand.make_graphed_callables.ready`
#    * - The model syncs, or sees many or unknown shapes
#      - ``model.compile(mode="reduce-overhead")``
#      - :measured:`training-by-pytorch.reduce-overhead.speedup`
#      - :measured:`training-by-pytorch.reduce-overhead.ready` plus :ref:`startup <compiler-startup>`
#    * - A few known shapes
#      - One manual graph each, :ref:`in one pool <graph-pools>`, the largest first
#      - not measured
#      - not measured
#    * - Static shapes, very long run
#      - ``block.compile()`` for each block, then one manual graph
#      - :measured:`training-by-hand.blocks-compiled-one-graph.speedup` instead of
#        :measured:`training-by-hand.one-graph.speedup`
#      - :measured:`training-by-hand.blocks-compiled-one-graph.ready` plus startup
#
# **Explore with** ``reduce-overhead``, **ship a manual graph**: it needs no compiler and :claim:`makes training faster
# still <training-by-hand.one-graph.wall < training-by-pytorch.reduce-overhead.wall>`. But it reuses captured
# addresses, shapes and numbers, hence most :ref:`pitfalls <graph-pitfalls>`.
# First run the code once (in training, on a side stream), then compare a replay with eager on new inputs. In PyTorch
# 2.15, ``torch.cuda.graph(..., check_input_liveness=True)`` raises an error if a captured input was freed.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Model size: four transformer blocks"
# sphinx_gallery_fold_output = True

bench = Bench()
bench.batch_seconds = 0.02  # iterations are short
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

# sphinx_gallery_fold = "A transformer block, and a model of several"
import types


class Block(nn.Module):
    """Attention and an MLP, each with a norm in front and a residual connection."""

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
    """A stack of blocks, with a norm at the end."""

    def __init__(self, kind, depth):
        super().__init__()
        self.blocks = nn.ModuleList(kind() for _ in range(depth))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def own_code(kind):
    """Return a copy of a class, so that variants share no compiled code."""
    copied = types.FunctionType(kind.forward.__code__.replace(), globals())
    return type(kind.__name__, (kind,), {"forward": copied})


def make_model(depth=DEPTH, compiled=None):
    """Return a model with the same random weights each time. ``compiled`` is "blocks", a
    mode in which to compile the whole model, or None for eager."""
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

# sphinx_gallery_fold = "One training iteration"
HALF = bench.dtype == torch.bfloat16
torch.manual_seed(1)
BATCH = tuple(torch.randn(2, TEXTS, TOKENS, WIDTH, device=bench.device))


def mixed_precision():
    """Compute in ``bfloat16`` if the GPU supports it, without caching cast weights."""
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

# sphinx_gallery_fold = "Three ways to use CUDA graphs"


def by_hand(function, *examples):
    """Return a function that captures itself in one CUDA graph on its second call."""
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
            with torch.cuda.graph(graph):  # captures, does not run
                results.append(function(*places))
        return result

    return run


def graphed_at_first_call(model):
    """Return a forward that captures itself and its backward on its first call."""
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
    """Return a function that marks a new step before each call, for reduce-overhead."""

    def run(*inputs):
        torch.compiler.cudagraph_mark_step_begin()  # earlier results may be overwritten
        return function(*inputs)

    return run


# %%

# sphinx_gallery_fold = "Helpers: time first calls and count graph launches"
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
    """Publish how long the first three calls of each variant took, and its number of graphs."""
    table = {}
    for name, call in calls.items():
        table[name] = dict(ready=sum(call.seconds), graphs=count_graphs(call))
        bench.measure(case, name, "ready", table[name]["ready"])
        if bench.gpu:
            bench.measure(case, name, "graphs", table[name]["graphs"], unit="")
    print(pd.DataFrame(table).T)


# %%

# sphinx_gallery_fold = "Helpers: capture a function"
# sphinx_gallery_once = True


def record(function):
    """Return a function's CUDA graph, and the tensors that a replay writes."""
    function()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


# %%
# .. _graph-pitfalls:
#
# Pitfalls
# --------
#
# A result I kept has changed
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Clone what you keep: each replay writes to the same addresses.

# sphinx_gallery_fold = "Keep a result of a manual graph"
# sphinx_gallery_fold_output = True
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
# "accessing tensor output of CUDAGraphs that has been overwritten"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Clone here, too: later ``reduce-overhead`` calls can overwrite results without raising this error. PyTorch 2.15 can
# clone for you: ``triton.cudagraph_trees_generation_cloning``. If a step calls several compiled functions, start it
# with ``torch.compiler.cudagraph_mark_step_begin()``.

# sphinx_gallery_fold = "Keep results of reduce-overhead"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
ones = torch.ones(2, device=bench.device)


def read_at_the_end(function):
    """Return four results, read after the last call, or the error message."""
    results = [function(number * ones) for number in (1, 2, 3, 4)]
    try:
        return [result[0].item() for result in results]
    except RuntimeError as error:
        return str(error).split(". ")[0]


tenfold = torch.compile(lambda x: 10 * x, mode="reduce-overhead")
print("kept:", read_at_the_end(tenfold))
print("cloned:", read_at_the_end(lambda x: tenfold(x).clone()))
if IS_2_15:  # PyTorch clones results before it overwrites them
    options = {
        "triton.cudagraphs": True,
        "triton.cudagraph_trees_generation_cloning": "user_visible",
    }
    tenfold = torch.compile(lambda x: 10 * x, options=options)
    print("cloned by PyTorch:", read_at_the_end(tenfold))

# %%
# "Attempting CUDA graph capture of step() … but param_groups' capturable is False"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Pass ``capturable=True``. ``SGD`` has no such option: if its learning rate is a tensor, pass ``fused=True``.
#
# The learning rate stays the same
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Make it a GPU tensor and update it with ``fill_``. A capture bakes in Python numbers: even with the rate set to 0,
# the weight below still moves.

# sphinx_gallery_fold = "Change the learning rate after the capture"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def change_rate(rate):
    """Set the rate to 0 after the capture; return how much a replay still changes a weight."""
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
# Random numbers repeat, or a counter does not advance
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Generate random numbers and keep counters on the GPU: Python code runs only during the capture.

# sphinx_gallery_fold = "What the capture bakes in"
# sphinx_gallery_fold_output = True
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
# The last batch gives wrong results
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Pass ``drop_last=True`` to the loader, or copy into part of the captured input and read that part of the result.
# ``copy_`` silently broadcasts a single row.

# sphinx_gallery_fold = "Pass an input with one row"
# sphinx_gallery_fold_output = True
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
# Accumulated gradients are wrong
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Allocate ``.grad`` before the capture, and keep it with ``zero_grad(set_to_none=False)``. Otherwise
# ``make_graphed_callables`` silently counts the last micro-batch twice and skips the first: the gradient below is
# :measured:`gradients-from-backward.make_graphed_callables.gradient` instead of
# :measured:`gradients-from-backward.without-a-graph.gradient` (`issue 181723
# <https://github.com/pytorch/pytorch/issues/181723>`__), and ``reduce-overhead`` fails with "accessing gradient tensor
# output of CUDAGraphs that has been overwritten" (`issue 169545
# <https://github.com/pytorch/pytorch/issues/169545>`__).

# sphinx_gallery_fold = "Accumulate gradients, with and without graphs"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def accumulate(layer, own_gradients):
    """Return a gradient after two micro-batches, which must be 2 + 6.

    The tensors of gradients are allocated here or by the backward pass.
    """
    for _ in range(3):  # with reduce-overhead, the third replays
        layer.zero_grad(set_to_none=True)
        if own_gradients:
            for weight in layer.parameters():
                weight.grad = torch.zeros_like(weight)
        for factor in (1, 3):
            torch.compiler.cudagraph_mark_step_begin()
            layer(factor * ones[None].expand(2, 2)).sum().backward()
    return layer.weight.grad[0, 0].item()


def make_layer(kind):
    """Return a linear layer: eager, compiled, or as a graphed callable."""
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
# Why a graph helps
# -----------------
#
# In eager mode, the CPU spends :measured:`training-by-hand.not-compiled.cpu` launching an iteration's
# :measured:`training-by-hand.not-compiled.kernels` :term:`kernels <kernel>`. A :term:`CUDA graph` stores kernels with
# their addresses and arguments, and the CPU launches them all at once. With ``reduce-overhead``, the first call
# compiles, the second captures, the third replays.

# sphinx_gallery_fold = "The function look"

from _look import look

# %%

# sphinx_gallery_fold = "What look printed in one run, and the code for the timeline"
# sphinx_gallery_fold_output = True
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
#    Without a graph, the CPU launches each kernel separately; the profiler widens the gaps.
#
# ``reduce-overhead`` leaves out the optimizer
# --------------------------------------------
#
# .. chart:: busy
#    :case: training, by PyTorch
#    :best: reduce-overhead
#
#    One training iteration, timed separately. First three calls: whole step
#    :measured:`training-by-pytorch.whole-step.ready`, ``reduce-overhead``
#    :measured:`training-by-pytorch.reduce-overhead.ready`
#
# ``reduce-overhead`` captures the model's forward and backward passes and makes an iteration
# :claim:`{training-by-pytorch.reduce-overhead.speedup} as fast <training-by-pytorch.reduce-overhead.wall <
# training-by-pytorch.not-compiled.wall>`. The CPU still launches clipping and the optimizer step, so :claim:`the GPU
# still waits <1.25 * training-by-pytorch.reduce-overhead.gpu < training-by-pytorch.reduce-overhead.wall>`. PyTorch
# `advises <https://docs.pytorch.org/docs/stable/compile/programming_model.where_to_apply_compile.html>`__ compiling the
# whole step: :measured:`training-by-pytorch.whole-step.speedup` with :measured:`training-by-pytorch.whole-step.graphs`
# graphs (1 run).

# sphinx_gallery_fold = "Helpers: compile the model of an iteration"


def train_by_pytorch(compiled, depth=DEPTH):
    """Return an iteration with a compiled model and ``fused=True``."""
    model = make_model(depth, compiled)
    return Start(by_pytorch(make_iteration(model, fused=True)), BATCH)


rehearsal = train_by_pytorch("reduce-overhead", depth=1)
for _ in range(3):
    rehearsal()  # loads whatever PyTorch loads on first use
del rehearsal

# %%

# sphinx_gallery_fold = "Eager and reduce-overhead"

calls = {
    "not compiled": Start(make_iteration(make_model()), BATCH),
    "reduce-overhead": train_by_pytorch("reduce-overhead"),
}

# %%

# sphinx_gallery_fold = "Default mode, and the whole step"
# sphinx_gallery_once = True
calls["default"] = train_by_pytorch("default")
iteration = make_iteration(make_model(), capturable=bench.gpu)
whole_step = torch.compile(iteration, mode="reduce-overhead")
calls["whole step"] = Start(by_pytorch(whole_step), BATCH)

# %%

# sphinx_gallery_fold = "All variants must return the same loss; first calls in one run"
# sphinx_gallery_fold_output = True

case = "training, by PyTorch"
training = bench.compare(case, calls, tolerance=0.01, rehearse=False)
publish_start(case, calls)

# %%
# In inference, ``reduce-overhead`` makes a call :claim:`{inference-by-pytorch.reduce-overhead.speedup} as fast as eager
# <inference-by-pytorch.reduce-overhead.wall < inference-by-pytorch.not-compiled.wall>`.

# sphinx_gallery_fold = "Compare eager and reduce-overhead in inference; first calls in one run"
# sphinx_gallery_fold_output = True


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
# Each sync in the model splits the graph
# ---------------------------------------
#
# Sixteen linear layers fit into :measured:`detours.0.reduce-overhead.graphs` graph. With three round trips through the
# CPU, :claim:`they need {detours.3.reduce-overhead.graphs} <reduce-overhead.graphs: 0 < 3>`, and the speed-up is
# :measured:`detours.3.reduce-overhead.speedup` instead of :measured:`detours.0.reduce-overhead.speedup` (1 run).
# ``TORCH_LOGS=cudagraphs`` prints the reason.

# sphinx_gallery_fold = "A model with round trips through the CPU"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


class Chain(nn.Module):
    """Linear layers; after some of them, the tensor makes a round trip through the CPU."""

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
# One graph for the whole iteration keeps the GPU busy
# ----------------------------------------------------
#
# .. chart:: busy
#    :case: training, by hand
#    :best: one graph
#
#    One training iteration: forward, backward, clipping and AdamW. Compiled blocks cost seconds at startup
#
# With one graph, :claim:`the GPU is busy more than 80% of the time <training-by-hand.one-graph.wall < 1.25 *
# training-by-hand.one-graph.gpu>`, and an iteration :claim:`drops from {training-by-hand.not-compiled.wall} to
# {training-by-hand.one-graph.wall} <training-by-hand.one-graph.wall < training-by-hand.not-compiled.wall>`.
# ``make_graphed_callables`` :claim:`saves less time <training-by-hand.one-graph.wall <
# training-by-hand.make_graphed_callables.wall>`, because the optimizer stays outside. Compare compiled blocks with the
# graph alone, not with eager: :claim:`they cut an iteration from {training-by-hand.one-graph.wall} to
# {training-by-hand.blocks-compiled-one-graph.wall} <training-by-hand.blocks-compiled-one-graph.wall <
# training-by-hand.one-graph.wall>`, so compiling pays off only in very long runs.

# sphinx_gallery_fold = "Four ways to run the iteration, without and with graphs"


def train_by_hand(compiled=None):
    """Return an iteration that is captured in one graph."""
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

# sphinx_gallery_fold = "Compiled blocks without a graph"
# sphinx_gallery_once = True
model = make_model(compiled="blocks")
calls["blocks compiled"] = Start(make_iteration(model, fused=True), BATCH)

# %%

# sphinx_gallery_fold = "Training, captured manually: the same loss, and first calls in one run"
# sphinx_gallery_fold_output = True

case = "training, by hand"
training = bench.compare(case, calls, tolerance=0.01, rehearse=False)
publish_start(case, calls)

# %%
# Inference: one graph, bitwise identical to eager
# ------------------------------------------------
#
# .. chart:: busy
#    :case: inference, by hand
#    :best: one graph
#
#    One call without gradients. Compiled blocks cost seconds at startup
#
# One manual graph makes a call :claim:`{inference-by-hand.one-graph.speedup} as fast <inference-by-hand.one-graph.wall
# < inference-by-hand.not-compiled.wall>`; its first three calls cost :measured:`inference-by-hand.one-graph.ready`,
# those of ``reduce-overhead`` :claim:`{inference-by-pytorch.reduce-overhead.ready} <inference-by-hand.one-graph.ready <
# inference-by-pytorch.reduce-overhead.ready>` plus startup.

# sphinx_gallery_fold = "Inference, captured manually; first calls in one run"
# sphinx_gallery_fold_output = True

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
# A graph's results are bitwise identical (difference:
# :measured:`inference-by-hand.one-graph.difference`). Compiled blocks differ by up to
# :measured:`inference-by-hand.blocks-compiled.difference` (outputs with a standard deviation of 1), because fused
# ``bfloat16`` kernels round less often. See :ref:`how to check results, or round as often as eager
# <different-results>`.

# sphinx_gallery_fold = "Compare the results"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
eager = calls["not compiled"]().float().clone()
differences = {}
for name, call in calls.items():
    differences[name] = (call().float() - eager).abs().max().item()
    bench.measure(case, name, "difference", differences[name], unit="")
print({name: f"{difference:.3g}" for name, difference in differences.items()})

# %%
# A copied input can cost as much as the work
# -------------------------------------------
#
# Write a large input directly to the captured address. If it is copied first, multiplying 67 million numbers by 2
# costs :claim:`{a-large-input.input-copied.gpu} instead of {a-large-input.input-in-place.gpu}
# <a-large-input.input-in-place.gpu < a-large-input.input-copied.gpu>` (1 run).

# sphinx_gallery_fold = "Time the copy"
# sphinx_gallery_once = True
x = torch.randn(2**26 if bench.gpu else 2**16, device=bench.device, dtype=bench.dtype)


def double(x):
    """Do little work on a large input."""
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
# .. _graph-pools:
#
# Graphs in one pool share memory
# -------------------------------
#
# Graphs for four batch sizes hold :measured:`graphs-of-four-batches.a-pool-each.kept` in separate pools. In one pool,
# :claim:`they hold {graphs-of-four-batches.one-pool.kept} <graphs-of-four-batches.one-pool.kept <
# graphs-of-four-batches.a-pool-each.kept>`, :claim:`about as much as the largest alone
# <graphs-of-four-batches.one-pool.kept < 1.1 * graphs-of-four-batches.largest-alone.kept>`. Pass
# ``pool=first.pool()``, capture the largest first, and clone a result before you replay another graph.
# ``reduce-overhead`` shares memory automatically.

# sphinx_gallery_fold = "Helpers: measure what graphs hold"
BATCHES = (64, 32, 16, 8) if bench.gpu else (4, 2)


def keep_memory(batches, shared):
    """Return the bytes that graphs for some batch sizes hold, captured in this order."""
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

# sphinx_gallery_fold = "Four batch sizes"
# sphinx_gallery_fold_output = True

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
# Errors that kill the process
# ----------------------------
#
# .. _mixing-graphs:
#
# "an illegal memory access was encountered"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Up to PyTorch 2.14, do not mix manual graphs with ``reduce-overhead`` in one process, and free all manual graphs
# together: otherwise PyTorch frees a cuBLAS workspace that another graph still uses. PyTorch 2.15 keeps no such
# workspace, and you can mix both (:measured:`both-kinds-of-graphs.replay.differing` wrong values).

# sphinx_gallery_fold = "Both kinds of graphs in one process"
# sphinx_gallery_fold_output = True
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
# AssertionError in another thread
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# In PyTorch 2.11, make all ``reduce-overhead`` calls from one thread. In 2.15, each thread captures and keeps its own
# graphs.

# sphinx_gallery_fold = "Calls in two threads"
# sphinx_gallery_fold_output = True
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
# "operation not permitted when stream is capturing"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Captured code syncs with the CPU. Remove the sync or keep the value on the GPU, and restart the process.

# sphinx_gallery_fold = "A function that cannot be captured"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
if bench.gpu:
    x = torch.ones(2, device="cuda")
    try:
        record(lambda: x / x.sum().item())
    except RuntimeError as error:
        print(str(error.__context__ or error).splitlines()[0])

# %%
# Limits and next steps
# ---------------------
#
# - We measured one small model on an H200; on :ref:`another GPU <other-gpus>`, it may not be launch-bound.
# - ``DistributedDataParallel`` needs eleven iterations before the capture, and ``GradScaler`` syncs unless the
#   optimizer has ``fused=True`` (not measured).
# - To serve a model, see the :doc:`serving checklist </serving>`.
#
# Thanks to Vinh Nguyen, Michael Carilli and others for `Accelerating PyTorch with CUDA Graphs
# <https://pytorch.org/blog/accelerating-pytorch-with-cuda-graphs/>`__. It reports speed-ups of 1.12 to 1.70× on
# clusters. Thanks also for the `notes on CUDA graphs
# <https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs>`__ and on the `CUDA graph trees
# <https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html>`__ of ``reduce-overhead``.

"""
Adam is slow: fused=True or torch.compile?
==========================================

A keyword, a compiler, or neither?

.. answer::

   **Pass** ``fused=True`` **to Adam, AdamW, SGD and, since PyTorch 2.12, Adagrad.** It needs no compiler. Compile the
   step of other optimizers, such as NAdam, only in long runs: compiler startup costs
   :measured:`process.compiler.start_up` per process, and the first call comes on top. If the step is below a tenth of an
   iteration, do not compile it.

   .. chart:: busy
      :case: Adam.10
      :only: foreach, compiled, fused
      :best: fused
      :hero:

      One step of Adam over ten layers

   - :measured:`adam.10.fused.speedup` speed-up of this step, against foreach
   - :measured:`adamw-in-an-iteration.fused.speedup` speed-up of a whole iteration with AdamW
   - :measured:`nadam-in-an-iteration.compiled.first_call` for the first call of a compiled NAdam step
   - :measured:`nadam-in-an-iteration.compiled.break_even` iterations until compiled NAdam breaks even

   .. code-block:: diff
      :caption: What changes

        optimizer = torch.optim.AdamW(
            model.parameters(),
      +     fused=True,
        )

   .. code-block:: python
      :caption: Adam, AdamW, SGD, Adagrad

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      optimizer = torch.optim.AdamW(
          model.parameters(), fused=True
      )
      for _ in range(3):
          optimizer.zero_grad()
          x = torch.randn(32, 64).cuda()
          model(x).norm().backward()
          optimizer.step()

   .. code-block:: python
      :caption: Others

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      rate = torch.tensor(1e-3).cuda()  # schedules do not compile again
      optimizer = torch.optim.NAdam(model.parameters(), lr=rate)
      step = torch.compile(lambda: optimizer.step())
      for _ in range(3):
          optimizer.zero_grad()
          x = torch.randn(32, 64).cuda()
          model(x).norm().backward()
          step()  # the first one compiles

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as :doc:`look </recipes/where_time_goes>` prints it
     - Pass ``fused=True``, then capture a graph: :doc:`CUDA graphs </recipes/cuda_graphs>`
   * - GPU busy above 95 %
     - Pass ``fused=True``; compiling the step adds little to it
   * - The step is below a tenth of an iteration
     - Do not compile the step
   * - NAdam, RAdam, Muon or your own optimizer
     - Compile the step; put the learning rate into a tensor
   * - LBFGS, SparseAdam or Adafactor
     - Leave it: the compiler compiles nothing in this step

**In your library**

.. libraries::

   - **Transformers**: there is nothing to do; in Transformers 5, fused AdamW is the default.
   - **Lightning**: return ``AdamW(..., fused=True)`` from ``configure_optimizers``. With ``precision="16-mixed"``,
     Lightning then refuses to clip gradients: train with ``"bf16-mixed"`` if you clip. Older versions of Lightning
     refuse with ``"bf16-mixed"``, too; update Lightning, or leave ``fused`` out.
   - **Accelerate**: ``accelerator.prepare`` takes the optimizer as you made it, with ``fused=True``.

**What you need**

- PyTorch 2.11 or newer, and pandas. Compiled optimizers came with PyTorch 2.2, as a beta.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton. On other machines the recipe runs small sizes on the CPU, and needs a C++ compiler. A T4 (7.5)
  has no ``bfloat16``: there the training iteration runs in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What to choose
# --------------
#
# A **variant** is one way to do the same work. For Adam, AdamW, SGD, NAdam and RAdam on a GPU, PyTorch
# takes *foreach* if you choose none. Times in the table are those of one training iteration; the start of
# the compiler and the first call come once per run. SGD, RAdam and Muon were not timed.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Choose
#      - What it gives
#      - What it costs
#    * - Your optimizer is Adam, AdamW or SGD, or Adagrad in PyTorch 2.12 or newer
#      - ``fused=True``
#      - AdamW: the GPU time is :measured:`adamw-in-an-iteration.fused.gpu`; with foreach it is
#        :measured:`adamw-in-an-iteration.foreach.gpu`
#      - No time and no memory: an iteration needs :measured:`adamw-in-an-iteration.fused.memory`
#    * - Your optimizer is NAdam, RAdam, Muon or your own, and the run is long
#      - A compiled step
#      - NAdam: the wall time is :measured:`nadam-in-an-iteration.compiled.wall`; with foreach it is
#        :measured:`nadam-in-an-iteration.foreach.wall`
#      - The start of the compiler takes :measured:`process.compiler.start_up`. NAdam: the first call then takes
#        :measured:`nadam-in-an-iteration.compiled.first_call`, and the memory stays about the same. If a
#        schedule changes the learning rate, it has to be a tensor
#    * - The run is too short to win back the wait, even if the compiler's cache is kept
#      - No compiling
#      - You do not wait for the compiler
#      - The step of NAdam stays slow. With an empty cache, compiling this step would pay after
#        :measured:`nadam-in-an-iteration.compiled.break_even` iterations
#    * - The optimizer is below a tenth of an iteration: compare the wall times that ``look`` prints
#      - Do not compile the step; ``fused=True`` is worth having anyway
#      - You do not wait for the compiler. Here, a fused step of AdamW is
#        :measured:`adamw-in-an-iteration.fused.optimizer_share` of an iteration
#      - Nothing
#    * - The GPU waits for the CPU: it is busy for less than 80 % of the time
#      - First ``fused=True``. Then set ``capturable=True`` (SGD has no such argument), and record the whole iteration
#        in one CUDA graph by hand if sizes are few and known and nothing in it needs the CPU. Otherwise compile the
#        model with ``reduce-overhead``: :doc:`/recipes/cuda_graphs`
#      - AdamW: the CPU is busy for :measured:`adamw-in-an-iteration.all-in-one-graph.cpu`; with
#        ``fused=True`` alone it is busy for :measured:`adamw-in-an-iteration.fused.cpu`
#      - Inputs have to be copied to fixed addresses, and their sizes are fixed. The learning rate has to
#        be a tensor, or a schedule has no effect. With AdamW, the graph keeps
#        :measured:`adamw-in-an-iteration.all-in-one-graph.kept` of memory
#    * - You consider a CUDA graph for the step alone
#      - ``fused=True`` without a graph
#      - AdamW: the wall time is :measured:`adamw-in-an-iteration.fused.wall`; with the step alone in CUDA
#        graphs it is :measured:`adamw-in-an-iteration.cuda-graphs.wall`. The graph needs gradients at fixed
#        addresses, so each iteration fills them with zeros
#      - Nothing
#    * - You use ``float16`` with `GradScaler <https://docs.pytorch.org/docs/stable/amp.html>`__
#      - ``fused=True``, which also unscales gradients
#      - Not measured here
#      - Call ``scaler.unscale_(optimizer)`` before you clip gradients
#    * - Your optimizer is LBFGS, SparseAdam or Adafactor
#      - Leave it as it is
#      - You do not wait for the compiler. The compiler compiles nothing in this step (see the pitfalls)
#      - Nothing
#
# Conditions and costs
# --------------------
#
# ``look`` is in :doc:`/recipes/where_time_goes`, and below. Call ``look(iteration)``; then, after a backward pass,
# call ``look(optimizer.step)``. Compare the wall times. Use a copy of the model and its optimizer: ``look`` takes 201
# real steps.
#
# **What it costs:** ``fused=True`` costs no time and no memory. A compiled step of NAdam makes you wait: the start of
# the compiler takes :measured:`process.compiler.start_up`, once per process. The first call comes on top: it takes
# :measured:`nadam-in-an-iteration.compiled.first_call`. After :measured:`nadam-in-an-iteration.compiled.break_even`
# iterations, the run has won back both waits. :claim:`With more parameters, the first call takes longer
# <adam.10.compiled.first_call < adam.100.compiled.first_call>`: for Adam over 100 layers, it takes
# :measured:`adam.100.compiled.first_call`. In your job, add the seconds of the compiler's start and of the first
# calls, and divide the sum by the seconds of wall time saved per iteration. The compiled step needs no more memory,
# but a learning rate that changes has to be a tensor. Leave LBFGS, SparseAdam and Adafactor as they are: the compiler
# compiles nothing in their step.
#
# Results in words
# ----------------
#
# On a CUDA GPU, a step of Adam over ten layers takes :measured:`adam.10.foreach.gpu` of GPU time with *foreach*, the
# default. With ``fused=True``, :claim:`it takes less <adam.10.fused.gpu < adam.10.foreach.gpu>`:
# :measured:`adam.10.fused.gpu`. If you compile this step instead, the first call takes
# :measured:`adam.10.compiled.first_call`. With AdamW, :claim:`a training iteration with a compiled step takes at most
# 10 % less time than one with fused=True <0.9 * adamw-in-an-iteration.fused.wall <
# adamw-in-an-iteration.compiled.wall>`.
#
# NAdam has no fused kernel. Without compiling, a training iteration takes
# :measured:`nadam-in-an-iteration.foreach.wall` of wall time. With a compiled step, :claim:`it takes less
# <nadam-in-an-iteration.compiled.wall < nadam-in-an-iteration.foreach.wall>`:
# :measured:`nadam-in-an-iteration.compiled.wall`.
#
# The experiment
# --------------

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Does the GPU wait? How to look"

from _look import look

# %%

bench = Bench()

import pandas as pd
import torch
from torch import nn

ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 12 * 2**30
LAYERS = (10, 100) if bench.gpu else (10, 15, 20)  # a CPU compiles for longer
WIDTH = 1024 if ROOMY else 512 if bench.gpu else 32
LR = 0.01

ADAM = {
    "foreach": dict(foreach=True),  # the default on a GPU
    "foreach, capturable": dict(foreach=True, capturable=bench.gpu),
    "for-loop": dict(foreach=False),  # one parameter after the other
    "fused": dict(fused=True),  # a kernel written by hand
    "compiled": dict(compiled=True),
}

# %%
# Pitfalls
# --------
#
# **The step compiles again and again.** A learning rate that is a Python number is part of the compiled
# code. Each time a schedule changes it, PyTorch compiles anew, up to eight times
# (``torch.compiler.config.recompile_limit``). Then it warns, and goes on without compiling. The next cell
# takes twelve steps with ``OneCycleLR`` in each variant.

# sphinx_gallery_fold = "A backend that counts graphs and runs, and generates no code"


class Counter:
    """Count the graphs that are compiled, and how often they run."""

    def __init__(self):
        self.graphs = self.runs = 0

    def __call__(self, graph, inputs):
        compiled = torch._dynamo.lookup_backend("aot_eager")(graph, inputs)
        self.graphs += 1

        def run(*arguments):
            self.runs += 1
            return compiled(*arguments)

        return run


def make_tiny(kind=torch.optim.Adam, **options):
    """Return an optimizer of one small weight with a gradient."""
    torch.compiler.reset()
    weight = nn.Parameter(torch.ones(8, 8, device=bench.device))
    weight.grad = torch.ones_like(weight)
    if kind is torch.optim.SparseAdam:
        weight.grad = weight.grad.to_sparse()
    return kind([weight], **options)


# %%

# sphinx_gallery_fold = "How compilations are counted"
# sphinx_gallery_once = True


def with_schedule(kind, rate, cycle_momentum=False):
    """Return how many of twelve steps compile, and how many run without compiling."""
    options = dict(lr=rate, foreach=True) if isinstance(rate, float) else dict(lr=rate)
    optimizer, counter = make_tiny(kind, **options), Counter()
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=LR, total_steps=24, cycle_momentum=cycle_momentum
    )
    step = torch.compile(lambda: optimizer.step(), backend=counter)
    for _ in range(12):
        step()
        schedule.step()
    return {"compilations": counter.graphs, "not_compiled": 12 - counter.runs}


def rate():
    """Return the learning rate as a tensor."""
    return torch.tensor(LR, device=bench.device)


counts = {
    "a number": with_schedule(torch.optim.Adam, LR),
    "a tensor": with_schedule(torch.optim.Adam, rate()),
    "a tensor, NAdam": with_schedule(torch.optim.NAdam, rate()),
    "a tensor, momentum cycled": with_schedule(torch.optim.Adam, rate(), True),
}
print(pd.DataFrame(counts).T)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for variant, quantities in counts.items():
    for quantity, count in quantities.items():
        bench.measure("a schedule", variant, quantity, count, unit="")

# %%
# With a number as learning rate, the twelve steps take :measured:`a-schedule.a-number.compilations`
# compilations. :claim:`With a tensor they take fewer <a-schedule.a-tensor.compilations <
# a-schedule.a-number.compilations>`: :measured:`a-schedule.a-tensor.compilations`. ``OneCycleLR`` also
# changes the momentum unless told otherwise. The momentum is a number, so :claim:`the step is compiled
# again and again in spite of the tensor <a-schedule.a-tensor.compilations <
# a-schedule.a-tensor-momentum-cycled.compilations>`. Rule: make the learning rate a tensor, and pass
# ``cycle_momentum=False``. If you do not compile the step, keep the number. If you record the step in a
# CUDA graph, make it a tensor, or the schedule has no effect.
#
# **The compiler compiles nothing.** It leaves fused kernels as they are: :claim:`with fused=True, a
# compiled step gives no graph <graphs-of-a-step.adam-fused.graphs < graphs-of-a-step.adam.graphs>`, and
# PyTorch does not warn. Rule: choose one of the two. Some other optimizers give no graph either, because
# PyTorch keeps the compiler away from them, or because the compiler cannot follow their code.

# sphinx_gallery_fold = "How graphs are counted"
# sphinx_gallery_once = True


def count_graphs(kind, *arguments, **options):
    """Return the number of graphs in a compiled step; 0 if it fails."""
    optimizer, counter = make_tiny(kind, **options), Counter()
    try:
        torch.compile(lambda: optimizer.step(*arguments), backend=counter)()
    except Exception as error:
        print(f"{kind.__name__} fails: {type(error).__name__}")
        return 0
    return counter.graphs


graphs = {"Adam, fused": count_graphs(torch.optim.Adam, fused=True)}
for name in ("Adam", "NAdam", "RAdam", "Muon", "Adafactor", "SparseAdam"):
    graphs[name] = count_graphs(getattr(torch.optim, name))
graphs["LBFGS"] = count_graphs(torch.optim.LBFGS, lambda: torch.ones(()))
print(graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, count in graphs.items():
    bench.measure("graphs of a step", name, "graphs", count, unit="")

# %%
# :claim:`LBFGS <graphs-of-a-step.lbfgs.graphs < graphs-of-a-step.adam.graphs>`, :claim:`SparseAdam
# <graphs-of-a-step.sparseadam.graphs < graphs-of-a-step.adam.graphs>` and :claim:`Adafactor
# <graphs-of-a-step.adafactor.graphs < graphs-of-a-step.adam.graphs>` give no graph.
#
# **A loaded checkpoint undoes the choice.** It brings along ``fused``, ``capturable`` and the
# learning rate of the optimizer that was saved. If that rate is a number, the compiled step compiles again.
# Rule: set ``fused``, ``capturable`` and ``lr`` in the loaded state, ``lr`` as a tensor.

# sphinx_gallery_fold = "Load a checkpoint"
# sphinx_gallery_once = True
saved, optimizer = make_tiny().state_dict(), make_tiny(fused=True)
optimizer.load_state_dict(saved)
print("fused after loading:", optimizer.param_groups[0]["fused"])
for group in saved["param_groups"]:
    group |= dict(fused=True, foreach=None, capturable=False)
optimizer.load_state_dict(saved)
print("fused after the change:", optimizer.param_groups[0]["fused"])

# %%
# **Something fails.** ``TORCH_LOGS=recompiles,graph_breaks`` prints what is compiled again or left out.
# If the step fails with ``backend="eager"``, the compiler cannot follow the Python code. If it fails with
# ``"aot_eager"`` but not with ``"eager"``, AOTAutograd fails. If it fails only with ``"inductor"``,
# generating code fails. ``fullgraph=True`` fails with Adam, NAdam, RAdam and most others, because
# ``step()`` breaks the graph on purpose.
#
# Why a step takes long
# ---------------------
#
# Adam computes little, but it touches every parameter and two running means: :math:`m` of the
# gradient and :math:`v` of its square. A step reads the parameter :math:`p`, the gradient :math:`g`,
# :math:`m` and :math:`v`, and it writes :math:`p`, :math:`m` and :math:`v`. These are seven times four
# bytes, **28 bytes per parameter** in ``float32``.
#
# *Foreach* does one operation after the other, each of them over all parameters. Each operation reads
# from memory and writes to memory, and together they move 72 bytes per parameter. A kernel that does
# everything at once keeps its intermediate results in registers, so it moves only the 28.
#
# .. chart:: moved
#    :case: bytes of a step
#
#    Bytes that a step of Adam moves per parameter.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
operations = {"move m": 12, "scale v": 8, "add g² to v": 12, "square root": 8}
operations |= {"divide": 8, "add epsilon": 8, "update p": 16}
moved = {"foreach": sum(operations.values()), "fused or compiled": 28}
for variant, count in moved.items():
    bench.measure("bytes of a step", variant, "moved", count, unit="B")
for operation, count in operations.items():
    bench.measure("operations of foreach", operation, "moved", count, unit="B")
print(moved, operations)

# %%
# So the **limit** is the time in which the device copies 28 bytes per parameter. It does
# not hold for data that are in a cache.
#
# Launching kernels is the other cost. Here, an eager operation on a small tensor takes the CPU
# :measured:`process.eager-operation.launch_cost`. A compiled step also checks its :term:`guards <guard>`
# for every parameter: these are the conditions under which its code is valid. **The GPU waits for the
# CPU** if it is busy for less than 80 % of the time. If the CPU is slow, the GPU can also wait
# with foreach and with fused.
#
# A step alone
# ------------
#
# The model is that of the original recipe: ten layers of 1024 by 1024, without bias.
#
# Each variant has an optimizer of its own. Up to PyTorch 2.14, the compiler sets ``capturable=True`` in the optimizer that
# it compiles, which moves the step counter to the GPU. Without compiling, :claim:`a step of such an
# optimizer takes longer <adam.10.foreach.wall < adam.10.foreach-capturable.wall>`. The variant "foreach,
# capturable" shows by how much.


def make_step(kind, layers, compiled=False, **options):
    """Return a step of an optimizer over some layers; it returns their weights."""
    torch.manual_seed(0)  # the same weights and gradients for each variant
    weights = [
        nn.Linear(WIDTH, WIDTH, False, bench.device).weight for _ in range(layers)
    ]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    optimizer = kind(weights, lr=LR, **options)
    take_step = torch.compile(lambda: optimizer.step()) if compiled else optimizer.step

    def step():
        take_step()
        return weights

    return step


def steps_of_adam(layers):
    """Return the variants of a step of Adam."""
    kind = torch.optim.Adam
    return {name: make_step(kind, layers, **options) for name, options in ADAM.items()}


def limit(layers):
    """Return the seconds in which 28 bytes per parameter are copied."""
    return 28 * layers * WIDTH**2 / bench.bandwidth


# %%
# We check that all variants have the same weights after three steps, within a hundredth of the learning rate.
# ``wall`` is the wall time of a step and ``gpu`` the time in kernels. ``cpu`` is the time in which the
# CPU launches them. ``cpu`` is timed separately, so it can be above ``wall``. ``share`` is the time that the work takes
# at best (the limit), divided by ``gpu``. Tables, charts and text show the median of all processes. What is printed,
# and the tables of the notebook, show one run.

alone = bench.compare(
    "Adam",
    steps_of_adam,
    sizes=("layers", LAYERS[:1]),
    limit=limit,
    tolerance=LR / 100,
)

# %%
# .. chart:: gpu
#    :case: Adam.10
#
#    GPU time of a step of Adam over ten layers, and the limit.
#
# - The for-loop :claim:`launches more kernels than foreach <adam.10.foreach.kernels <
#   adam.10.for-loop.kernels>`: :measured:`adam.10.for-loop.kernels`. :claim:`The GPU waits for the CPU
#   <1.25 * adam.10.for-loop.gpu < adam.10.for-loop.wall>`.
# - Foreach reaches only :measured:`adam.10.foreach.share` of the limit.
# - Fused reaches :measured:`adam.10.fused.share` of the limit.
# - Compiled reaches :measured:`adam.10.compiled.share` of the limit. It :claim:`needs the least GPU time
#   <adam.10.compiled.gpu < adam.10.fused.gpu>`, but :claim:`the GPU waits for the CPU <1.25 *
#   adam.10.compiled.gpu < adam.10.compiled.wall>`. The wall time is :measured:`adam.10.compiled.wall`; with a fused step,
#   it is :measured:`adam.10.fused.wall`.
# - Foreach :claim:`needs more memory while it works <adam.10.fused.memory < adam.10.foreach.memory>`,
#   because its intermediate results are as large as the parameters. With the two running means, it takes
#   :measured:`adam.10.foreach.memory`; fused takes :measured:`adam.10.fused.memory`.
#
# The original recipe reports 747 µs without compiling and 392 µs with it. Here the two take
# :measured:`adam.10.foreach.wall` and :measured:`adam.10.compiled.wall`. The GPUs differ. The original's
# step without compiling is slower, because the compiler had already set ``capturable=True`` in the optimizer, as PyTorch
# did up to 2.14.
# ``capturable`` alone
# :claim:`makes foreach launch more kernels <adam.10.foreach.kernels < adam.10.foreach-capturable.kernels>`, and raises
# its wall time here from :measured:`adam.10.foreach.wall` to :measured:`adam.10.foreach-capturable.wall`.
#
# Larger models
# -------------
#
# The same step over 100 layers was measured in one process.

# sphinx_gallery_once = True
for name in ("foreach, capturable", "for-loop"):
    del ADAM[name]
large = bench.compare(
    "Adam",
    steps_of_adam,
    sizes=("layers", LAYERS[1:]),
    limit=limit,
    tolerance=LR / 100,
    rehearse=False,
)

# %%
# .. chart:: gpu
#    :case: Adam.100
#
#    GPU time of a step of Adam over 100 layers, and the limit.
#
# The step now has ten times as much to do, and the compiled step :claim:`still needs the least GPU
# time <adam.100.compiled.gpu < adam.100.fused.gpu>`: :measured:`adam.100.compiled.gpu`. But it has guards
# for ten times as many parameters, and the compiler generates code for all of them. So :claim:`the first
# call takes longer than with ten layers <adam.10.compiled.first_call < adam.100.compiled.first_call>`: it
# takes :measured:`adam.100.compiled.first_call`. In this process, the wall time of the compiled
# step is :measured:`adam.100.compiled.wall`; that of the fused step is :measured:`adam.100.fused.wall`.
#
# An optimizer without a fused kernel
# -----------------------------------
#
# NAdam keeps the same two means, so its limit is the same. This, too, was measured in one process.

# sphinx_gallery_once = True


def steps_of_nadam(layers):
    """Return the variants of a step of NAdam."""
    options = {"foreach": dict(foreach=True), "compiled": dict(compiled=True)}
    kind = torch.optim.NAdam
    return {name: make_step(kind, layers, **chosen) for name, chosen in options.items()}


nadam = bench.compare(
    "NAdam",
    steps_of_nadam,
    sizes=("layers", LAYERS[:1]),
    limit=limit,
    tolerance=LR / 100,
    rehearse=False,
)

# %%
# With foreach, a step of NAdam takes :measured:`nadam.10.foreach.gpu` of GPU time. Compiled,
# :claim:`it takes less than half of that <2 * nadam.10.compiled.gpu < nadam.10.foreach.gpu>`:
# :measured:`nadam.10.compiled.gpu`.
#
# Adagrad
# -------
#
# Adagrad keeps one sum, so its limit is that of 20 bytes per parameter. Since PyTorch 2.12 it has a fused kernel for GPUs.
# It was measured in one process.

# sphinx_gallery_once = True


def has_fused_adagrad():
    """Return whether this release has a fused kernel of Adagrad here, and tell if not."""
    weight = nn.Parameter(torch.ones(8, device=bench.device))
    weight.grad = torch.ones_like(weight)
    try:
        torch.optim.Adagrad([weight], fused=True).step()  # its first step refuses
    except RuntimeError as error:
        print(f"Adagrad with fused=True is left out: {error}")
        return False
    return True


def steps_of_adagrad(layers):
    """Return the variants of a step of Adagrad."""
    options = {"foreach": dict(foreach=True)}
    if has_fused_adagrad():
        options["fused"] = dict(fused=True)
    options["compiled"] = dict(compiled=True)
    kind = torch.optim.Adagrad
    return {name: make_step(kind, layers, **chosen) for name, chosen in options.items()}


def limit_of_adagrad(layers):
    """Return the seconds in which 20 bytes per parameter are copied."""
    return 20 * layers * WIDTH**2 / bench.bandwidth


adagrad = bench.compare(
    "Adagrad",
    steps_of_adagrad,
    sizes=("layers", LAYERS[:1]),
    limit=limit_of_adagrad,
    tolerance=LR / 100,
    rehearse=False,
)

# %%
# With foreach, a step of Adagrad takes :measured:`adagrad.10.foreach.gpu` of GPU time. Compiled, it takes
# :measured:`adagrad.10.compiled.gpu`. ``fused=True`` needs PyTorch 2.12 or newer here.
#
# A whole training iteration
# --------------------------
#
# A step is one part of an iteration, and it can make work for the other parts. Here one
# transformer layer goes through forward, backward, clipping and step.
#
# Two variants use **CUDA graphs**, which the CPU launches with one call:
#
# - "CUDA graphs" compiles the step with ``mode="reduce-overhead"``. The graph reads gradients where they lay when it
#   was recorded, so they have to stay there: ``zero_grad`` fills them with zeros, and backward adds to them. If the
#   addresses of gradients changed, each step would have to copy the gradients.
# - "All in one graph" records the whole iteration by hand, with a fused step. Each replay
#   writes gradients to the same addresses. Nothing fills them with zeros, and nothing is added to them.

# sphinx_gallery_fold = "How iterations are made"
WIDE, HEADS, SHAPE = (2048, 16, (16, 512)) if ROOMY else (512, 8, (16, 512))
if not bench.gpu:
    WIDE, HEADS, SHAPE = 64, 2, (2, 16)
HALF = bench.dtype == torch.bfloat16


def make_iteration(kind, mode=None, static=False, **options):
    """Return a training iteration that returns its loss, and its optimizer's step."""
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(
        WIDE, HEADS, 4 * WIDE, dropout=0.0, batch_first=True, device=bench.device
    )
    x, target = torch.randn(2, *SHAPE, WIDE, device=bench.device)
    optimizer = kind(model.parameters(), lr=1e-4, **options)
    step = optimizer.step
    if mode:
        step = torch.compile(lambda: optimizer.step(), mode=mode)
    if static:
        for weight in model.parameters():
            weight.grad = torch.zeros_like(weight)
            torch._dynamo.mark_static_address(weight.grad)

    def iteration():
        optimizer.zero_grad(set_to_none=not static)
        with torch.autocast(bench.device.type, bench.dtype, enabled=HALF):
            loss = nn.functional.mse_loss(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        step()
        return loss.detach()

    return iteration, step


def record_at_first_call(iteration):
    """Return an iteration that runs and is recorded in its first call, and then replayed."""
    if not bench.gpu:
        print("There are no CUDA graphs here: the iteration runs as it is.")
        return iteration
    graph, recorded = torch.cuda.CUDAGraph(), []

    def replay():
        if recorded:
            graph.replay()
            return recorded[0]
        side = torch.cuda.Stream()  # recording needs a call on another stream before
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = iteration()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):  # records, and does not run
            recorded.append(iteration())
        return loss

    return replay


def make_iterations(kind, options):
    """Return the iterations of all variants, and the steps of their optimizers."""
    iterations, steps = {}, {}
    for name, chosen in options.items():
        iterations[name], steps[name] = make_iteration(kind, **chosen)
    return iterations, steps


OPTIONS = {
    "foreach": dict(foreach=True),
    "fused": dict(fused=True),
    "compiled": dict(mode="default"),
    "CUDA graphs": dict(mode="reduce-overhead", static=True),
    "all in one graph": dict(fused=True, capturable=bench.gpu),
}

# %%
# We check that all variants give the same loss in the third iteration, within a hundredth. Only the step is compiled, and
# forward and backward are not. One iteration runs first, and is not timed.

make_iteration(torch.optim.AdamW)[0]()
iterations, steps = make_iterations(torch.optim.AdamW, OPTIONS)
iterations["all in one graph"] = record_at_first_call(iterations["all in one graph"])
adamw = bench.compare(
    "AdamW in an iteration", iterations, tolerance=0.01, rehearse=False
)

# %%
# .. chart:: gpu
#    :case: AdamW in an iteration
#
#    GPU time of a training iteration with AdamW.
#
# - With ``fused=True``, :claim:`an iteration needs less GPU time than with foreach
#   <adamw-in-an-iteration.fused.gpu < adamw-in-an-iteration.foreach.gpu>`. In wall time it takes
#   :measured:`adamw-in-an-iteration.fused.wall`; with foreach it takes
#   :measured:`adamw-in-an-iteration.foreach.wall`.
# - With a compiled step it takes :measured:`adamw-in-an-iteration.compiled.wall`. Here the GPU does not
#   wait for the guards, because the CPU checks them while the GPU still computes the gradients.
# - With the step in CUDA graphs, :claim:`the GPU has more to do than with a fused step
#   <adamw-in-an-iteration.fused.gpu < adamw-in-an-iteration.cuda-graphs.gpu>`, because it fills gradients
#   with zeros and adds to them.
# - With all in one graph an iteration takes :measured:`adamw-in-an-iteration.all-in-one-graph.wall`, and
#   its first call compiles nothing. :claim:`The CPU is done sooner than with a fused step
#   <adamw-in-an-iteration.all-in-one-graph.cpu < adamw-in-an-iteration.fused.cpu>`: it launches the whole
#   graph with one call. Here, the GPU does not wait for the CPU. Where it does, try this variant.
#   :doc:`/recipes/cuda_graphs` shows how.
#
# If you add up gradients over several micro-batches, filling them with zeros comes once for all of them. Keep
# ``zero_grad(set_to_none=False)`` and the fixed addresses. This was not measured here.
#
# NAdam goes through the same test.

OPTIONS = {name: OPTIONS[name] for name in ("foreach", "compiled", "CUDA graphs")}
iterations, _steps = make_iterations(torch.optim.NAdam, OPTIONS)
nadam_iteration = bench.compare(
    "NAdam in an iteration", iterations, tolerance=0.01, rehearse=False
)

# %%
# .. chart:: gpu
#    :case: NAdam in an iteration
#
#    GPU time of a training iteration with NAdam.
#
# With a compiled step an iteration takes :measured:`nadam-in-an-iteration.compiled.wall` of wall time;
# without compiling it takes :measured:`nadam-in-an-iteration.foreach.wall`. With CUDA graphs it takes
# :measured:`nadam-in-an-iteration.cuda-graphs.wall`: :claim:`here, too, the GPU has more to do
# <nadam-in-an-iteration.compiled.gpu < nadam-in-an-iteration.cuda-graphs.gpu>`, because it also fills gradients with
# zeros.
#
# How large is the part of the optimizer in your job? Look first at your iteration, and then at the step of your optimizer.
# ``look`` takes real steps, so give it a copy of the model. Let the iteration start with ``zero_grad``, because the step
# needs gradients. These are lines of one run.

# sphinx_gallery_once = True
iteration, step = make_iteration(torch.optim.AdamW, fused=True)
look(iteration, calls=20)
look(step, calls=20)

# %%

# sphinx_gallery_plumbing = True

for name in ("foreach", "fused"):
    if bench.gpu:
        share = bench.profile(steps[name], 10)[0] / adamw.gpu[name]
    else:
        share = bench.time(steps[name], 10) / adamw.wall[name]
    bench.measure("AdamW in an iteration", name, "optimizer_share", share, unit="share")

# %%
# Here, :claim:`a fused step is a smaller part of an iteration than a step with foreach
# <adamw-in-an-iteration.fused.optimizer_share < adamw-in-an-iteration.foreach.optimizer_share>`: fused, it is
# :measured:`adamw-in-an-iteration.fused.optimizer_share`; with foreach, it is
# :measured:`adamw-in-an-iteration.foreach.optimizer_share`. A step takes the same time for any number of
# tokens in a batch, so its part of an iteration depends on that number.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# All weights and states here are ``float32``, on one GPU. States of 8 bits would move fewer bytes: `torchao
# <https://github.com/pytorch/ao>`__ has them. With `FSDP2
# <https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html>`__ each GPU steps over its own
# part of the weights only, so its kernels are shorter and launching them counts more.
# ``torch._dynamo.mark_static_address`` is not a stable interface. :doc:`/recipes/where_time_goes` tells
# whether the optimizer is what your job waits for. :doc:`/recipes/varying_sizes` shows how to find what else is
# compiled again, such as a last batch of another size.
#
# This recipe builds on `Compiling the optimizer with torch.compile
# <https://docs.pytorch.org/tutorials/recipes/compiling_optimizer.html>`__ by
# `Michael Lazos <https://github.com/mlazos>`__, its `Korean translation
# <https://tutorials.pytorch.kr/recipes/compiling_optimizer.html>`__ by 김승환 and its Chinese
# translation, on his `recipe on schedules
# <https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html>`__, and on his
# article `Compiling the optimizer with PT2
# <https://dev-discuss.pytorch.org/t/compiling-the-optimizer-with-pt2/1669>`__. The original does
# not time ``fused=True``, and the compiler had already changed the optimizer that the recipe times without compiling.

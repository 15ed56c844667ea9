"""
Speed up optimizer.step(): fused=True or torch.compile
======================================================

Is ``optimizer.step()`` slow with Adam, AdamW, NAdam or a custom optimizer? One keyword may be all you need.

.. answer::

   **Pass** ``fused=True`` **to Adam, AdamW, SGD and, since PyTorch 2.12, Adagrad.** This compiles nothing and needs no
   extra memory. Optimizers without a fused kernel, such as NAdam, are worth compiling only in long runs. If the step is
   under a tenth of the iteration time, do not compile it.

   .. chart:: busy
      :case: Adam.10
      :only: foreach, compiled, fused
      :best: fused
      :hero:

      One Adam step over ten layers. The compiled step is slightly faster here, but costs seconds at startup

   - :measured:`adam.10.fused.speedup` speed-up over foreach, the default, for one Adam step
   - :measured:`adamw-in-an-iteration.fused.speedup` speed-up for a whole iteration with AdamW
   - :measured:`nadam-in-an-iteration.compiled.first_call` for the first call of a compiled NAdam step, plus startup
   - :measured:`nadam-in-an-iteration.compiled.break_even` iterations until compiled NAdam breaks even, startup included

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
      # a tensor: a schedule won't recompile
      rate = torch.tensor(1e-3).cuda()
      optimizer = torch.optim.NAdam(model.parameters(), lr=rate)
      step = torch.compile(lambda: optimizer.step())
      for _ in range(3):
          optimizer.zero_grad()
          x = torch.randn(32, 64).cuda()
          model(x).norm().backward()
          step()  # the first call compiles

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:doc:`measure it </recipes/where_time_goes>` with ``look``)
     - Pass ``fused=True``, then capture the iteration: :doc:`CUDA graphs </recipes/cuda_graphs>`
   * - GPU busy 80% or more
     - Pass ``fused=True``; compiling the step adds little
   * - Long run with NAdam, RAdam, Muon or your own optimizer
     - Compile the step; make the learning rate a tensor
   * - The step is under a tenth of the iteration time
     - Do not compile it; :doc:`look elsewhere </recipes/where_time_goes>`
   * - LBFGS, SparseAdam or Adafactor
     - Leave it alone: its step does not compile

**In your library**

.. libraries::

   - **Transformers**: nothing to do. In Transformers 5, ``Trainer`` uses fused AdamW by default.
   - **Lightning**: return ``AdamW(..., fused=True)`` from ``configure_optimizers``. If you clip gradients in
     mixed precision, leave ``fused=True`` out: Lightning 2.6.6 raises an error.
   - **Accelerate**: pass an optimizer created with ``fused=True`` to ``accelerator.prepare``.

**What you need**

- PyTorch 2.11 or newer, and pandas. Compiled optimizers have been in beta since 2.2.
- A CUDA GPU of compute capability 7.5 (Turing) or above, with Triton. Otherwise, the recipe falls back to small problem
  sizes on the CPU and needs a C++ compiler. On a T4, the training iteration runs in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Is the GPU idle? Measure it with look"

from _look import look

# %%

# sphinx_gallery_fold = "What is compared"
# sphinx_gallery_fold_output = True
bench = Bench()

import pandas as pd
import torch
from torch import nn

ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 12 * 2**30
LAYERS = (10, 100) if bench.gpu else (10, 15, 20)  # compiling for a CPU takes longer
WIDTH = 1024 if ROOMY else 512 if bench.gpu else 32
LR = 0.01

ADAM = {
    "foreach": dict(foreach=True),  # the default on a GPU
    "foreach, capturable": dict(foreach=True, capturable=bench.gpu),
    "for-loop": dict(foreach=False),  # one parameter at a time
    "fused": dict(fused=True),  # a handwritten kernel
    "compiled": dict(compiled=True),
}

# %%
# Pitfalls
# --------
#
# "hit config.recompile_limit", or a step that recompiles with each learning rate
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Make the learning rate a tensor, and pass** ``cycle_momentum=False`` **to** ``OneCycleLR``. A Python number becomes
# a constant in the compiled code, so each new value triggers a recompilation. After eight compilations, PyTorch falls
# back to eager mode with a warning. A CUDA graph bakes the number in, so the schedule has no effect.

# sphinx_gallery_fold = "A backend that counts graphs and calls, but generates no code"
# sphinx_gallery_fold_output = True


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
    """Return an optimizer for one small weight with a gradient."""
    torch.compiler.reset()
    weight = nn.Parameter(torch.ones(8, 8, device=bench.device))
    weight.grad = torch.ones_like(weight)
    if kind is torch.optim.SparseAdam:
        weight.grad = weight.grad.to_sparse()
    return kind([weight], **options)


# %%

# sphinx_gallery_fold = "How compilations are counted"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def with_schedule(kind, rate, cycle_momentum=False):
    """Return how many of twelve steps compile, and how many run in eager mode."""
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
# Twelve steps with a schedule trigger :measured:`a-schedule.a-number.compilations` compilations if the learning rate is
# a number, and :claim:`{a-schedule.a-tensor.compilations} if it is a tensor <a-schedule.a-tensor.compilations <
# a-schedule.a-number.compilations>`. :claim:`Cycling the momentum undoes that <a-schedule.a-tensor.compilations <
# a-schedule.a-tensor-momentum-cycled.compilations>`, because the momentum stays a number.
#
# The compiled step runs, but nothing is compiled
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Choose one: fused or compiled.** The compiler leaves fused kernels alone, so :claim:`compiling a fused Adam produces
# no graphs <graphs-of-a-step.adam-fused.graphs < graphs-of-a-step.adam.graphs>` and no warning. :claim:`LBFGS
# <graphs-of-a-step.lbfgs.graphs < graphs-of-a-step.adam.graphs>`, :claim:`SparseAdam
# <graphs-of-a-step.sparseadam.graphs < graphs-of-a-step.adam.graphs>` and :claim:`Adafactor
# <graphs-of-a-step.adafactor.graphs < graphs-of-a-step.adam.graphs>` produce none, either.

# sphinx_gallery_fold = "How graphs are counted"
# sphinx_gallery_fold_output = True
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
# The speed-up is gone after loading a checkpoint
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Set** ``fused``, ``capturable`` **and** ``lr`` **in the saved state before you load it**, and make ``lr`` a tensor.
# The saved settings overwrite yours.

# sphinx_gallery_fold = "Load a checkpoint"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
saved, optimizer = make_tiny().state_dict(), make_tiny(fused=True)
optimizer.load_state_dict(saved)
print("fused after loading:", optimizer.param_groups[0]["fused"])
for group in saved["param_groups"]:
    group |= dict(fused=True, foreach=None, capturable=False)
optimizer.load_state_dict(saved)
print("fused after the change:", optimizer.param_groups[0]["fused"])

# %%
# Gradient clipping fails or clips too much with GradScaler
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Call** ``scaler.unscale_(optimizer)`` **before you clip.** A fused optimizer unscales gradients inside ``step()``;
# until then, they are still scaled.
#
# ``fullgraph=True`` fails
# ~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Leave it out.** The ``step()`` of Adam, NAdam, RAdam and most others breaks the graph on purpose. For other
# failures, ``TORCH_LOGS=recompiles,graph_breaks`` prints the reason. If ``backend="eager"`` fails too, the compiler
# cannot trace your Python code; if only ``"inductor"`` fails, code generation is at fault.
#
# Why the default is slow: it moves 72 bytes, not 28
# --------------------------------------------------
#
# An Adam step does little arithmetic but moves a lot of data. It reads the parameter, its gradient and two running
# means, and writes all but the gradient: seven four-byte values in ``float32``. A single
# kernel keeps all intermediate values in registers and moves only these
# :measured:`bytes-of-a-step.fused-or-compiled.moved`. *Foreach*, the default, runs one operation after another over
# all parameters, each reading from memory and writing back. Together, they move
# :measured:`bytes-of-a-step.foreach.moved` per parameter.
#
# .. chart:: moved
#    :case: bytes of a step
#    :best: fused or compiled
#
#    Bytes moved per parameter in one Adam step

# sphinx_gallery_fold = "Code for this figure"
# sphinx_gallery_fold_output = True
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
# The :term:`limit` below is the time to move 28 bytes per parameter. Launch overhead is the other cost:
# :measured:`process.eager-operation.launch_cost` per eager operation on our hosts. A compiled step also checks
# :term:`guards <guard>` for each parameter.
#
# Evidence
# --------
#
# ``fused=True`` brings Adam close to the bandwidth limit
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: gpu
#    :case: Adam.10
#    :best: fused
#
#    GPU time of one Adam step over ten layers, and the limit. The compiled step costs seconds at startup
#
# A fused step is :claim:`{adam.10.fused.speedup} as fast as foreach <adam.10.fused.wall < adam.10.foreach.wall>`:
# :measured:`adam.10.foreach.wall` → :measured:`adam.10.fused.wall`. It reaches :measured:`adam.10.fused.share` of the
# limit, compared with :measured:`adam.10.foreach.share` for foreach. Including the two running means, it
# needs :measured:`adam.10.fused.memory` during the step, compared with :measured:`adam.10.foreach.memory`.


# sphinx_gallery_fold = "How a step is built"
# sphinx_gallery_fold_output = True
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
    """Return the variants of an Adam step."""
    kind = torch.optim.Adam
    return {name: make_step(kind, layers, **options) for name, options in ADAM.items()}


def limit(layers):
    """Return the seconds it takes to move 28 bytes per parameter."""
    return 28 * layers * WIDTH**2 / bench.bandwidth


# %%
# :claim:`A compiled step needs the least GPU time <adam.10.compiled.gpu < adam.10.fused.gpu>`: it reaches
# :measured:`adam.10.compiled.share` of the limit. It also :claim:`beats the fused step in wall time
# <adam.10.compiled.wall < adam.10.fused.wall>`: :measured:`adam.10.compiled.wall` versus
# :measured:`adam.10.fused.wall`. But its first call costs :measured:`adam.10.compiled.first_call`. With PyTorch 2.11,
# :claim:`the step was slower <adam.10.fused.wall < adam.10.compiled.wall@2.11>`; see :doc:`both releases compared on
# one host </pytorch_2_15>`.
#
# After three steps, the weights of all variants agree to within a hundredth of the learning rate.

# sphinx_gallery_fold = "Run it: ten layers of 1024 by 1024, as in the original recipe"
# sphinx_gallery_fold_output = True
alone = bench.compare(
    "Adam",
    steps_of_adam,
    sizes=("layers", LAYERS[:1]),
    limit=limit,
    tolerance=LR / 100,
)

# %%
# Compile time grows with the model
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: gpu
#    :case: Adam.100
#    :best: fused
#
#    GPU time of one Adam step over 100 layers. Compiling costs seconds at startup
#
# With ten times as many layers, :claim:`the compiled step still needs the least GPU time <adam.100.compiled.gpu <
# adam.100.fused.gpu>`. But :claim:`its first call is slower <adam.10.compiled.first_call <
# adam.100.compiled.first_call>`: :measured:`adam.10.compiled.first_call` → :measured:`adam.100.compiled.first_call`.
# The CPU also checks guards for ten times as many parameters, so :claim:`the fused step is faster in wall time
# <adam.100.fused.wall < adam.100.compiled.wall>`: :measured:`adam.100.fused.wall` versus
# :measured:`adam.100.compiled.wall`.

# sphinx_gallery_fold = "Run it: the same step over 100 layers"
# sphinx_gallery_fold_output = True
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
# Without a fused kernel, compiling more than halves the GPU time
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# NAdam keeps the same two running means as Adam, but has no fused kernel. Compiling its step :claim:`cuts GPU time by
# more than half <2 * nadam.10.compiled.gpu < nadam.10.foreach.gpu>`: :measured:`nadam.10.foreach.gpu` →
# :measured:`nadam.10.compiled.gpu`.

# sphinx_gallery_fold = "Run it: an NAdam step"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def steps_of_nadam(layers):
    """Return the variants of an NAdam step."""
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
# Adagrad has had a fused kernel since PyTorch 2.12, which makes a step :claim:`{adagrad.10.fused.speedup} as fast
# <adagrad.10.fused.wall < adagrad.10.foreach.wall>`: :measured:`adagrad.10.foreach.wall` →
# :measured:`adagrad.10.fused.wall`. A compiled step takes :measured:`adagrad.10.compiled.wall`.

# sphinx_gallery_fold = "Run it: an Adagrad step"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def has_fused_adagrad():
    """Return whether this release has a fused Adagrad on this device; print why if not."""
    weight = nn.Parameter(torch.ones(8, device=bench.device))
    weight.grad = torch.ones_like(weight)
    try:
        torch.optim.Adagrad([weight], fused=True).step()  # its first step raises
    except RuntimeError as error:
        print(f"Adagrad with fused=True is left out: {error}")
        return False
    return True


def steps_of_adagrad(layers):
    """Return the variants of an Adagrad step."""
    options = {"foreach": dict(foreach=True)}
    if has_fused_adagrad():
        options["fused"] = dict(fused=True)
    options["compiled"] = dict(compiled=True)
    kind = torch.optim.Adagrad
    return {name: make_step(kind, layers, **chosen) for name, chosen in options.items()}


def limit_of_adagrad(layers):
    """Return the seconds it takes to move 20 bytes per parameter."""
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

# sphinx_gallery_fold = "How iterations are built"
# sphinx_gallery_fold_output = True
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
    """Return an iteration that runs and is captured on its first call, and then replayed."""
    if not bench.gpu:
        print("There are no CUDA graphs here: the iteration runs as it is.")
        return iteration
    graph, recorded = torch.cuda.CUDAGraph(), []

    def replay():
        if recorded:
            graph.replay()
            return recorded[0]
        side = torch.cuda.Stream()  # capturing needs a call on another stream first
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = iteration()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):  # captures, does not run
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
# In a whole iteration, fused and compiled are about equal
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: busy
#    :case: AdamW in an iteration
#    :best: fused
#
#    One iteration of a transformer layer with AdamW. Shorter bars cost more setup
#
# With ``fused=True``, an iteration is :claim:`{adamw-in-an-iteration.fused.speedup} as fast as with foreach
# <adamw-in-an-iteration.fused.wall < adamw-in-an-iteration.foreach.wall>`. Compiling the step instead :claim:`makes
# little difference <0.9 * adamw-in-an-iteration.fused.wall < adamw-in-an-iteration.compiled.wall>`:
# :measured:`adamw-in-an-iteration.fused.wall` fused, :measured:`adamw-in-an-iteration.compiled.wall` compiled. The CPU
# checks guards while the GPU is still computing gradients, so the checks add no time here.

# sphinx_gallery_fold = "Run it: AdamW, five variants"
# sphinx_gallery_fold_output = True
make_iteration(torch.optim.AdamW)[0]()
iterations, steps = make_iterations(torch.optim.AdamW, OPTIONS)
iterations["all in one graph"] = record_at_first_call(iterations["all in one graph"])
adamw = bench.compare(
    "AdamW in an iteration", iterations, tolerance=0.01, rehearse=False
)

# %%
# Do not capture just the step. :claim:`The GPU would do more work than with a fused step
# <adamw-in-an-iteration.fused.gpu < adamw-in-an-iteration.cuda-graphs.gpu>`: gradients have to stay at fixed addresses,
# so ``zero_grad`` zeroes them in place and backward adds to them. If the GPU is waiting on the CPU, :ref:`capture the
# whole iteration <capture-manually>` instead, with ``fused=True, capturable=True``. :claim:`The CPU then launches
# everything in one call <adamw-in-an-iteration.all-in-one-graph.cpu < adamw-in-an-iteration.fused.cpu>`, cutting CPU
# time: :measured:`adamw-in-an-iteration.fused.cpu` → :measured:`adamw-in-an-iteration.all-in-one-graph.cpu`. The graph
# holds :measured:`adamw-in-an-iteration.all-in-one-graph.kept`. Here, the GPU is busy anyway, so wall time stays about
# the same.

# sphinx_gallery_fold = "Run it: NAdam, three variants"
# sphinx_gallery_fold_output = True
OPTIONS = {name: OPTIONS[name] for name in ("foreach", "compiled", "CUDA graphs")}
iterations, _steps = make_iterations(torch.optim.NAdam, OPTIONS)
nadam_iteration = bench.compare(
    "NAdam in an iteration", iterations, tolerance=0.01, rehearse=False
)

# %%
# Compiled NAdam pays off only in long runs
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: busy
#    :case: NAdam in an iteration
#    :best: compiled
#
#    One iteration of the same layer with NAdam
#
# Compiling the step makes an iteration :claim:`{nadam-in-an-iteration.compiled.speedup} as fast
# <nadam-in-an-iteration.compiled.wall < nadam-in-an-iteration.foreach.wall>`:
# :measured:`nadam-in-an-iteration.foreach.wall` → :measured:`nadam-in-an-iteration.compiled.wall`. With an empty cache,
# it breaks even after :measured:`nadam-in-an-iteration.compiled.break_even` iterations. The cost includes
# :measured:`nadam-in-an-iteration.compiled.first_call` for the first call and :measured:`process.compiler.start_up` for
# :ref:`compiler startup <compiler-startup>`.

# sphinx_gallery_fold = "How much of the iteration is the optimizer?"
# sphinx_gallery_fold_output = True
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
# A fused step is a small part of the iteration
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# :claim:`Passing fused=True shrinks the step <adamw-in-an-iteration.fused.optimizer_share <
# adamw-in-an-iteration.foreach.optimizer_share>` from :measured:`adamw-in-an-iteration.foreach.optimizer_share` to
# :measured:`adamw-in-an-iteration.fused.optimizer_share` of the iteration's GPU time. A step costs the same at
# any batch size, so your share will differ. To measure it, call ``look(iteration)`` and, after a backward pass,
# ``look(optimizer.step)``. Use a copy of the model, because ``look`` runs real steps.
#
# Limits and next steps
# ---------------------
#
# - Weights and optimizer states are ``float32``, on one GPU. We did not time SGD, RAdam, Muon or gradient accumulation.
# - With `FSDP2 <https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html>`__, each GPU updates its own
#   shard of the weights, so its kernels are shorter and launch overhead matters more. 8-bit states, as in `torchao
#   <https://github.com/pytorch/ao>`__, move fewer bytes. We measured neither.
# - Up to PyTorch 2.14, compiling a step sets ``capturable=True`` in the live optimizer, and :claim:`that makes its
#   eager step slower <adam.10.foreach.wall < adam.10.foreach-capturable.wall>`: :measured:`adam.10.foreach.wall` →
#   :measured:`adam.10.foreach-capturable.wall`. PyTorch 2.15 restores the setting.
# - ``torch._dynamo.mark_static_address``, which one variant needs, is not a stable API.
# - Next: :doc:`CUDA graphs </recipes/cuda_graphs>` if the GPU is waiting on the CPU, :doc:`dynamic shapes
#   </recipes/varying_sizes>` if something else recompiles.
#
# Thanks to `Michael Lazos <https://github.com/mlazos>`__ for `Compiling the optimizer with torch.compile
# <https://docs.pytorch.org/tutorials/recipes/compiling_optimizer.html>`__, its `sequel on schedules
# <https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html>`__ and the article `Compiling the
# optimizer with PT2 <https://dev-discuss.pytorch.org/t/compiling-the-optimizer-with-pt2/1669>`__, to 김승환 for the
# `Korean translation <https://tutorials.pytorch.kr/recipes/compiling_optimizer.html>`__, and to the Chinese
# translators. The original recipe reports 392 µs compiled and 747 µs eager. We measured
# :measured:`adam.10.compiled.wall` and :measured:`adam.10.foreach.wall` on a different GPU. In the original, compiling
# had already made the eager optimizer capturable. It does not time ``fused=True``.

"""
Adam is slow: fused=True or torch.compile?
==========================================

Choose between a keyword and a compiled step, by what each costs the GPU and the CPU.

**Adam, AdamW, SGD: pass** ``fused=True``. A step of Adam over ten million parameters then takes
:measured:`adam.10.fused.gpu` of GPU time instead of :measured:`adam.10.foreach.gpu`, and
:claim:`it is done sooner than a compiled step, in {adam.10.fused.wall} instead of
{adam.10.compiled.wall} of wall time <adam.10.fused.wall < adam.10.compiled.wall>`. The compiled step needs only
:measured:`adam.10.compiled.gpu` of GPU time, but the GPU waits for the CPU to launch it. **An
optimizer without a fused kernel, in a long run: compile its step**. :claim:`NAdam's GPU time falls
from {nadam.10.foreach.gpu} to {nadam.10.compiled.gpu} <nadam.compiled.gpu < nadam.foreach.gpu>`; in wall time a step takes
:measured:`nadam.10.compiled.wall`, eagerly :measured:`nadam.10.foreach.wall`, which pays after
:measured:`nadam.10.compiled.break_even` steps.

.. code-block:: python
   :caption: Adam, AdamW, SGD: ``fused=True``

   import torch

   model = torch.nn.Linear(1024, 1024, device="cuda")
   optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)  # that is all

   model(torch.randn(32, 1024, device="cuda")).sum().backward()
   optimizer.step()

.. code-block:: python
   :caption: Others: a compiled step

   import torch

   model = torch.nn.Linear(1024, 1024, device="cuda")
   rate = torch.tensor(1e-3, device="cuda")  # a tensor: schedules do not compile again
   optimizer = torch.optim.NAdam(model.parameters(), lr=rate)  # has no fused kernel
   step = torch.compile(lambda: optimizer.step())

   model(torch.randn(32, 1024, device="cuda")).sum().backward()
   step()  # the first one compiles

.. code-block:: python
   :caption: Others, the GPU waits: CUDA graphs

   import torch

   model = torch.nn.Linear(1024, 1024, device="cuda")
   rate = torch.tensor(1e-3, device="cuda")
   optimizer = torch.optim.NAdam(model.parameters(), lr=rate)
   for weight in model.parameters():
       weight.grad = torch.zeros_like(weight)
       torch._dynamo.mark_static_address(weight.grad)  # the graph reads it where it is
   step = torch.compile(lambda: optimizer.step(), mode="reduce-overhead")
   optimizer.zero_grad(set_to_none=False)  # gradients stay at their addresses
   model(torch.randn(32, 1024, device="cuda")).sum().backward()
   step()

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib. Compiled optimizers came with 2.2, as a beta.
- A CUDA GPU of compute capability 7.0 or above, with Triton, for results like the ones on this page.
  Elsewhere small sizes run on the CPU, which takes a C++ compiler. A T4 (7.5) has no ``bfloat16``:
  there the training iteration runs in ``float32``.

.. names::

   :foreach:
   :fused:
   :compiled:
   :graphs: CUDA graphs
   :for-loop:
   :Adam.10: Adam, 10 layers
   :Adam.100: Adam, 100 layers
   :NAdam.10: NAdam, 10 layers
   :iteration: a training iteration
   :layers:
   :limit: limit, 28 bytes per parameter
   :move m:
   :scale v:
   :add g² to v:
   :square root:
   :divide:
   :add epsilon:
   :update p:
   :all at once:
   :tensors.40: as many bytes in 40 tensors
   :origin: the original's optimizer
   :eager:
   :optimizer_share: the optimizer's share
   :gpu_gain: speed-up of GPU time
   :rate: bytes a second
   :claim.graphs: graphs
   :claim.compiled: compilations
   :claim.eager: eager steps
   :float:
   :tensor:
   :tensor, momentum cycled:
   :NAdam, tensor:
   :Adam.30: Adam, 30 layers
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600
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
#      - What it gives (GPU time of a step, unless said)
#      - What it costs
#    * - Adam, AdamW, SGD
#      - ``fused=True``
#      - 10 layers: :measured:`adam.10.fused.gpu`; foreach :measured:`adam.10.foreach.gpu`
#      - Nothing
#    * - The same, large, in a run of several hundred thousand steps
#      - Try ``mode="reduce-overhead"``, which uses CUDA graphs
#      - 100 layers: :claim:`compiled {adam.100.compiled.gpu}; fused {adam.100.fused.gpu}
#        <adam.100.compiled.gpu < adam.100.fused.gpu>`. Wall time with CUDA graphs :measured:`adam.100.graphs.wall`, compiled
#        without them :measured:`adam.100.compiled.wall`; fused :measured:`adam.100.fused.wall`
#      - First call :measured:`adam.100.graphs.first_call`
#    * - NAdam, RAdam, Muon, your own
#      - Compile the step
#      - NAdam: :measured:`nadam.10.compiled.gpu`; foreach :measured:`nadam.10.foreach.gpu`
#      - First call :measured:`nadam.10.compiled.first_call`, pays after
#        :measured:`nadam.10.compiled.break_even` steps; a learning rate that is a tensor
#    * - In the compiled step, the GPU waits for the CPU
#      - ``mode="reduce-overhead"``
#      - Wall time :measured:`nadam.10.graphs.wall`; compiled without CUDA graphs
#        :measured:`nadam.10.compiled.wall`
#      - Pays after :measured:`nadam.10.graphs.break_even` steps; gradients have to stay at their
#        addresses
#    * - LBFGS, SparseAdam, Adafactor
#      - Leave them as they are
#      - Not measured here
#      - They :claim:`give no graph <no-graph>`
#    * - ``float16`` with `GradScaler <https://docs.pytorch.org/docs/stable/amp.html>`__
#      - ``fused=True``, which takes its scale
#      - Not measured here
#      - Nothing
#    * - The optimizer is a small part of an iteration
#      - Leave it as it is
#      - Share of an iteration: foreach :measured:`iteration.foreach.optimizer_share`; fused
#        :measured:`iteration.fused.optimizer_share`
#      - Nothing
#
# .. chart:: break-even
#    :cases: Adam.10, Adam.100, NAdam.10, iteration
#    :arms: foreach, fused, compiled, graphs
#
#    Time of all steps of a run: with the first calls and the start of the compiler.
#
# Why a step takes long
# ---------------------
#
# Adam computes little, but it touches every parameter and two running means, :math:`m` of the
# gradient and :math:`v` of its square. A step reads the parameter :math:`p`, the gradient :math:`g`,
# :math:`m` and :math:`v`, and writes :math:`p`, :math:`m` and :math:`v`: seven times four bytes, **28
# bytes per parameter** in ``float32``.
#
# *foreach*, the default on a GPU, does one operation after the other, each over all parameters, from
# memory to memory: 72 bytes. A kernel that does everything at once keeps what is in between in
# registers.
#
# .. chart:: stacked
#    :unit: B
#
#    Bytes that a step of Adam reads and writes for each parameter.
#
#    :foreach: move m 12, scale v 8, add g² to v 12, square root 8, divide 8, add epsilon 8, update p 16
#    :fused: all at once 28

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Stacked bars of the bytes that a step of Adam moves per parameter: foreach has seven operations of 8 to 16 bytes, 72 together; fused has one of 28 bytes"
import pandas as pd
from matplotlib import pyplot as plt

operations = {"move m": 12, "scale v": 8, "add g² to v": 12, "square root": 8}
operations |= {"divide": 8, "add epsilon": 8, "update p": 16}
moved = pd.DataFrame({"foreach": operations, "fused": {"all at once": 28}}).T.fillna(0)
axes = moved.iloc[::-1].plot.barh(stacked=True, figsize=(7, 2.4), legend=False)
for bars, hatch in zip(axes.containers, 2 * ["", "//", "xx", ".."], strict=True):
    for bar in bars:
        bar.set(hatch=hatch, edgecolor="white")
    name = bars.get_label().replace(" ", "\n", 1)
    names = [name if bar.get_width() else "" for bar in bars]
    box = dict(facecolor="white", edgecolor="none", pad=1)
    axes.bar_label(bars, names, label_type="center", fontsize=7, bbox=box)
axes.set(xlabel="bytes per parameter")
plt.show()

# %%
# So the **limit** here is the time in which the device copies 28 bytes per parameter. It is a guide:
# it supposes ``float32``, data that come from memory and not from a cache, and the rate of a copy.
#
# Launching is the other cost. Each kernel costs the CPU some microseconds, and a compiled step checks
# its *guards*, the conditions under which its code is valid, for every parameter. If the wall time
# is above 1.2 times the GPU time, the GPU waits for that.
#
# The experiment
# --------------
#
# The model is that of the original recipe: ten layers of 1024 by 1024 without bias, and then 30 and
# 100 of them.

# sphinx_gallery_fold = "The harness: how arms are timed"

from _bench import Bench

# %%

bench = Bench()

import pandas as pd
import torch
from matplotlib import pyplot as plt
from torch import nn

ON_GPU = bench.device.type == "cuda"
ROOMY = ON_GPU and torch.cuda.mem_get_info()[0] > 16 * 2**30
LAYERS = (10, 30, 100) if ROOMY else (3, 10, 30) if ON_GPU else (1, 2, 4)
WIDTH, COPIED, BATCH = (1024, 2**28, 32) if ON_GPU else (128, 2**22, 2)
LR = 0.01

WAYS = {
    "foreach": dict(foreach=True),  # the default on a GPU
    "for-loop": dict(foreach=False),  # one parameter after the other
    "fused": dict(fused=True),  # a kernel written by hand
    "compiled": dict(mode="default"),
}
if ON_GPU:
    WAYS["graphs"] = dict(mode="reduce-overhead")

# %%
# Each version has an optimizer of its own, because the compiler sets ``capturable=True`` in it, which
# keeps the step counter on the GPU: an eager step with the same optimizer is no longer the one that
# people use. A CUDA graph reads from fixed addresses, so gradients would be copied to it at each
# step if they were not marked.


def make_step(kind, layers, mode=None, width=WIDTH, **options):
    """Return weights with gradients, and a step of an optimizer that changes them."""
    torch.manual_seed(0)  # the same weights for each version
    weights = [
        nn.Linear(width, width, False, bench.device).weight for _ in range(layers)
    ]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
        if mode == "reduce-overhead":
            torch._dynamo.mark_static_address(weight.grad)
    optimizer = kind(weights, lr=LR, **options)

    def step():
        optimizer.step()

    return weights, torch.compile(step, mode=mode) if mode else step


# %%
# Before anything is timed, all versions take the same five steps with small models. They round in
# different orders and may differ by a hundredth of the learning rate.

# sphinx_gallery_fold = "How the versions are compared"


def agree(kind, ways):
    """Assert that all versions of an optimizer lead to the same weights."""
    ends = []
    for options in ways.values():
        weights, step = make_step(kind, 2, **options)
        for number in range(5):
            torch.manual_seed(number)
            for weight in weights:
                weight.grad.normal_()
            step()
        ends.append(torch.stack(weights).detach())
    assert all((end - ends[0]).abs().max() <= LR / 100 for end in ends)


# %%
# Then they take turns. The limit needs the bandwidth of a copy: each byte is read and written.
# ``wall`` is the wall time of a step, ``gpu`` the time in kernels, ``cpu`` that of launching them, ``share`` the
# limit divided by ``gpu``.

source, target = torch.zeros(2, COPIED, device=bench.device)


def copy():
    target.copy_(source)


bench.warm_up(copy)
seconds = bench.profile(copy)[0] if ON_GPU else bench.time(copy, 10)
bandwidth = 2 * source.nbytes / seconds
print(f"copying: {bandwidth / 1e9:,.0f} GB/s")


def climb(kind, layers, ways):
    """Compare the versions of an optimizer with each other and with the limit."""
    arms = {way: make_step(kind, layers, **ways[way])[1] for way in ways}
    limit = 28 * layers * WIDTH**2 / bandwidth

    def rehearse():
        return layers > LAYERS[0] or agree(kind, ways)  # once is enough

    return bench.compare(kind.__name__, arms, layers, limit, rehearse)


adam = {LAYERS[0]: climb(torch.optim.Adam, LAYERS[0], WAYS)}

# %%
# Printed output and notebooks' tables show one run, and all else the median of all processes, so they
# differ where the CPU decides.
#
# - The for-loop :claim:`launches {adam.10.for-loop.kernels} kernels instead of
#   {adam.10.foreach.kernels} <adam.10.foreach.kernels < for-loop.kernels>`, and :claim:`the GPU waits <1.2 * for-loop.gpu < for-loop.wall>`.
# - Foreach :claim:`keeps the GPU busy <adam.10.foreach.wall < 1.2 * adam.10.foreach.gpu>`, but at :measured:`adam.10.foreach.share` of the
#   limit.
# - Fused reaches :measured:`adam.10.fused.share` with :measured:`adam.10.fused.kernels` kernels.
# - Compiled reaches :measured:`adam.10.compiled.share` with :measured:`adam.10.compiled.kernels`,
#   :claim:`in less GPU time than any eager version <compiled-least-gpu-small>`, but :claim:`its wall
#   time is above 1.2 times that <1.2 * adam.10.compiled.gpu < adam.10.compiled.wall>`.
# - With CUDA graphs the wall time is :measured:`adam.10.graphs.wall`, without them
#   :measured:`adam.10.compiled.wall`.
#
# .. chart:: ladder
#    :case: Adam.10
#    :arms: for-loop, foreach, fused, compiled, graphs
#    :quantities: wall, gpu
#    :limit:
#
#    A step of Adam over ten layers.
#
# The original recipe reports 747 µs for the eager and 392 µs for the compiled step. Here they take
# :measured:`origin.eager.wall` and :measured:`adam.10.compiled.wall`. The GPU is another, and so is
# the eager step: there the compiler had made it ``capturable``.

# sphinx_gallery_once = True
if ON_GPU:
    arms = {"eager": make_step(torch.optim.Adam, 10)[1]}
    arms["capturable"] = make_step(torch.optim.Adam, 10, capturable=True)[1]
    origin = bench.compare("origin", arms)

# %%
# That alone takes the wall time from :measured:`origin.eager.wall` to :measured:`origin.capturable.wall`, in :claim:`more
# kernels, {origin.capturable.kernels} instead of {origin.eager.kernels} <origin.eager.kernels < capturable.kernels>`.
#
# Larger models
# -------------

# sphinx_gallery_once = True
for layers in LAYERS[1:]:
    left_out = ["for-loop", "" if layers == LAYERS[-1] else "graphs"]
    ways = {way: WAYS[way] for way in WAYS if way not in left_out}
    adam[layers] = climb(torch.optim.Adam, layers, ways)

# %%
# Is it the bytes or the number of tensors? These are the bytes of ten layers in four times as many
# tensors, with half the side.

# sphinx_gallery_fold = "As many bytes in four times as many tensors"
# sphinx_gallery_once = True
count = 4 * LAYERS[0]
ways = {way: WAYS[way] for way in ("foreach", "fused", "compiled")}
arms = {
    way: make_step(torch.optim.Adam, count, width=WIDTH // 2, **options)[1]
    for way, options in ways.items()
}
cut = bench.compare("tensors", arms, count, rounds=20)

# %%
# .. chart:: lines
#    :case: Adam
#    :arms: foreach, fused, compiled
#    :quantities: wall
#    :sizes: 10, 30, 100
#    :x: layers
#    :limit:
#
#    Wall time of a step of Adam, by the number of layers.
#
# .. chart:: lines
#    :case: Adam
#    :arms: foreach, fused, compiled
#    :quantities: gpu
#    :sizes: 10, 30, 100
#    :x: layers
#    :limit:
#
#    GPU time of the same steps.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Two log-log plots of milliseconds of a step against millions of parameters, wall time and GPU time; one line each for foreach, for-loop, fused, compiled and CUDA graphs, and a dashed line for the limit of 28 bytes per parameter"
times = [time for time in ("wall", "gpu") if time in adam[LAYERS[0]]]
shape = dict(figsize=(7, 3.6), sharey=True, squeeze=False, layout="constrained")
fig, axes = plt.subplots(1, len(times), **shape)
millions = [layers * WIDTH**2 / 1e6 for layers in LAYERS]
for ax, time in zip(axes[0], times, strict=True):
    ms = 1e3 * pd.DataFrame({n: table[time] for n, table in adam.items()})
    for way, marker in zip(WAYS, "sv^oD", strict=False):
        some = ms.loc[way].notna()
        ax.loglog(ms.columns[some] * WIDTH**2 / 1e6, ms.loc[way, some], marker=marker)
    ax.loglog(millions, [28e9 * m / bandwidth for m in millions], "--", color="grey")
    ax.set(xlabel="millions of parameters", title=f"{time} time (ms)")
    ax.set_xticks(millions, [f"{each:.2g}" for each in millions])
    ax.set_xticks([], minor=True)
fig.legend([*WAYS, "limit"], ncols=3, loc="outside upper center")
plt.show()

# %%

# sphinx_gallery_plumbing = True


def claim_less(key, less, more, unit="s"):
    bench.claim(key, less < more, f"{less:.4g} {unit} against {more:.4g} {unit}")


small = adam[LAYERS[0]]
claim_less("fused-before-compiled", small.wall["fused"], small.wall["compiled"])
if ON_GPU:
    gpu, kernels = small.gpu, small.kernels
    eager = gpu[["foreach", "for-loop", "fused"]].min()
    claim_less("compiled-least-gpu-small", gpu["compiled"], eager)
    claim_less("compiled-waits", 1.2 * gpu["compiled"], small.wall["compiled"])
    claim_less("loop-waits", 1.2 * gpu["for-loop"], small.wall["for-loop"])
    claim_less("foreach-busy", small.wall["foreach"], 1.2 * gpu["foreach"])
    few, many = kernels[["foreach", "for-loop"]]
    claim_less("loop-launches-more", few, many, "kernels")

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for layers, table in adam.items():
    if "gpu" in table:
        for way, moves in {"foreach": 72, "fused": 28, "compiled": 28}.items():
            rate = moves * layers * WIDTH**2 / table.gpu[way]
            bench.figure("Adam", way, "rate", rate, layers, unit="B/s")
        gain = table.gpu["foreach"] / table.gpu["compiled"]
        bench.figure("Adam", "compiled", "gpu_gain", gain, layers, unit="x")
if ON_GPU:
    large = adam[LAYERS[-1]]
    claim_less("compiled-least-gpu", large.gpu["compiled"], large.gpu["fused"])
    claim_less("compiled-before-foreach", *large.gpu[["compiled", "foreach"]])
    bytes_moved = LAYERS[-1] * WIDTH**2 * pd.Series({"foreach": 72, "compiled": 28})
    rates = bytes_moved / large.gpu[["foreach", "compiled"]]
    claim_less("compiled-moves-at-higher-rate", *rates, "B/s")
    firsts = small.first_call["compiled"], large.first_call["compiled"]
    claim_less("first-call-grows", *firsts)
    many, few = (table.loc["compiled"] for table in (cut, small))
    claim_less("tensors-take-launching", few.cpu, many.cpu)
    claim_less("tensors-take-compiling", few.first_call, many.first_call)
    claim_less("capturable-more-kernels", *origin.kernels, "kernels")

# %%
# With 100 layers :claim:`the compiled step takes {adam.100.compiled.gpu} of GPU time and foreach
# {adam.100.foreach.gpu} <adam.100.compiled.gpu < adam.100.foreach.gpu>`: a factor of :measured:`adam.100.compiled.gpu_gain,
# number`. From the bytes alone one expects 72 / 28, about 2.6. The rest is the bandwidth that is
# reached: :claim:`{adam.100.compiled.rate} instead of {adam.100.foreach.rate}
# <adam.100.foreach.rate < adam.100.compiled.rate>`.
#
# What depends on the CPU grows with the number of tensors. :claim:`The first call takes
# {adam.100.compiled.first_call}, with ten layers {adam.10.compiled.first_call} <adam.compiled.first_call: 10 < 100>`. As many
# bytes in 40 tensors as in ten take a compiled step :measured:`tensors.40.compiled.gpu` of GPU time
# (in ten: :measured:`adam.10.compiled.gpu`), but :claim:`launching takes longer <adam.10.compiled.cpu < tensors.compiled.cpu>`: the wall
# time is :measured:`tensors.40.compiled.wall` (in ten: :measured:`adam.10.compiled.wall`), and :claim:`the first call
# takes {tensors.40.compiled.first_call} <adam.10.compiled.first_call < tensors.compiled.first_call>`. Because the CPU decides, wall times of compiled steps differ between hosts,
# and between processes of one; the ranges stand at :doc:`/results`.
#
# An optimizer without a fused kernel
# -----------------------------------
#
# NAdam keeps the same two means, so its limit is the same.

nadam_ways = {way: WAYS[way] for way in WAYS if way not in ("for-loop", "fused")}
nadam = climb(torch.optim.NAdam, LAYERS[0], nadam_ways)

# %%
# Compiled, :claim:`its GPU time falls to {nadam.10.compiled.gpu} <nadam.compiled.gpu < nadam.foreach.gpu>`, but :claim:`the GPU
# waits here, too: the wall time is {nadam.10.compiled.wall} <1.2 * nadam.compiled.gpu < nadam.compiled.wall>`. With CUDA graphs it is
# :measured:`nadam.10.graphs.wall`.
#
# A whole training iteration
# --------------------------
#
# Two transformer layers with forward, backward, clipping and step; only the optimizer changes.


def make_iteration(mode=None, **options):
    """Return a training iteration, and the step of its optimizer."""
    torch.manual_seed(0)
    options, half = dict(lr=1e-4) | options, bench.dtype == torch.bfloat16
    layer = nn.TransformerEncoderLayer(WIDTH, 8, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(bench.device)
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    step = torch.compile(lambda: optimizer.step()) if mode else optimizer.step
    x = torch.randn(BATCH, 16 * BATCH, WIDTH, device=bench.device)

    def iteration():
        optimizer.zero_grad()
        with torch.autocast(bench.device.type, bench.dtype, enabled=half):
            loss = model(x).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        step()

    return iteration, step


chosen = {way: WAYS[way] for way in ("foreach", "fused", "compiled")}
jobs = {way: make_iteration(**options) for way, options in chosen.items()}
arms = {way: iteration for way, (iteration, _step) in jobs.items()}
whole = bench.compare("iteration", arms)
steps = {way: step for way, (_iteration, step) in jobs.items()}
if ON_GPU:
    alone = {way: bench.profile(step)[0] for way, step in steps.items()}
else:
    alone = {way: bench.time(step, 10) for way, step in steps.items()}
shares = pd.Series(alone) / (whole.gpu if ON_GPU else whole.wall)
print("the step in an iteration:", shares.map("{:.0%}".format).to_dict())

# %%

# sphinx_gallery_plumbing = True

if ON_GPU:
    claim_less("nadam-gains", nadam.gpu["compiled"], nadam.gpu["foreach"])
    claim_less("nadam-waits", 1.2 * nadam.gpu["compiled"], nadam.wall["compiled"])
    claim_less("iteration-gains", *whole.gpu[["fused", "foreach"]])
for way, share in shares.items():
    bench.figure("iteration", way, "optimizer_share", share, unit="share")

# %%
# With the fused optimizer :claim:`an iteration takes {iteration.fused.gpu} of GPU time instead of
# {iteration.foreach.gpu} <iteration.fused.gpu < iteration.foreach.gpu>`. Five lines tell the share in your job: call ``busy``
# with your iteration, then with the step of your optimizer.
#
# .. code-block:: python
#
#    def busy(fn):
#        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as report:
#            fn(), torch.cuda.synchronize()
#        kernels = [e for e in report.events() if e.device_type.name == "CUDA"]
#        return sum(e.time_range.elapsed_us() for e in kernels if not e.is_user_annotation)
#
# Pitfalls
# --------
#
# **It compiles again and again.** A learning rate that is a Python number is part of the compiled code. A schedule that changes
# it makes PyTorch compile anew, eight times (``torch._dynamo.config.recompile_limit``); then it warns
# and goes on eagerly. Of twelve steps with ``OneCycleLR`` the table shows how often one was ``compiled``,
# and how many ran ``eager``.

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

# sphinx_gallery_once = True
rate, counts = torch.tensor(LR, device=bench.device), {}
for case in ("float", "tensor, momentum cycled", "tensor", "NAdam, tensor"):
    options = dict(lr=LR, foreach=True) if case == "float" else dict(lr=rate.clone())
    kind = torch.optim.NAdam if "NAdam" in case else torch.optim.Adam
    optimizer, counter = make_tiny(kind, **options), Counter()
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=LR, total_steps=24, cycle_momentum="cycled" in case
    )
    step = torch.compile(lambda optimizer=optimizer: optimizer.step(), backend=counter)
    for _ in range(12):
        step(), schedule.step()
    counts[case] = {"compiled": counter.graphs, "eager": 12 - counter.runs}
print(pd.DataFrame(counts).T)

# %%
# Rule: with a tensor as learning rate, and without a cycled momentum, :claim:`one compilation serves
# all steps <tensor-compiles-once>`. Eager steps need neither.
#
# **It compiles nothing.** A fused kernel is kept away from the compiler: ``fused=True`` in a compiled
# step :claim:`gives no graph <fused-gives-no-graph>`, and no warning. Rule: choose one of the two.

# sphinx_gallery_once = True
optimizer, counter = make_tiny(fused=True), Counter()
torch.compile(lambda: optimizer.step(), backend=counter)()
print("graphs of a compiled step with fused=True:", counter.graphs)

# %%
# Some other optimizers are kept away as a whole, or do what the compiler cannot trace.

# sphinx_gallery_fold = "How the graphs of other optimizers are counted"
# sphinx_gallery_once = True
graphs = {}
for kind in ("Adam", "NAdam", "RAdam", "Muon", "Adafactor", "SparseAdam", "LBFGS"):
    tiny, found = make_tiny(getattr(torch.optim, kind)), Counter()
    arguments = [lambda: torch.ones(())] if kind == "LBFGS" else []
    step = torch.compile(lambda o=tiny, a=arguments: o.step(*a), backend=found)
    try:
        step()
        graphs[kind] = found.graphs
    except Exception as error:
        graphs[kind] = type(error).__name__
print(graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

once = {"compiled": 1, "eager": 0}
kept = all(counts[case] == once for case in ("tensor", "NAdam, tensor"))
again = all(counts[case]["eager"] for case in ("float", "tensor, momentum cycled"))
bench.claim("tensor-compiles-once", kept and again, str(counts))
none = {name: graphs[name] for name in ("LBFGS", "SparseAdam", "Adafactor")}
usable = [name for name, found in none.items() if isinstance(found, int) and found]
bench.claim("no-graph", not usable, f"graphs: {none}")
bench.claim("fused-gives-no-graph", counter.graphs == 0, f"{counter.graphs} graphs")

# %%
# **A loaded checkpoint undoes the choice.** It brings ``fused`` and ``capturable`` of the optimizer that
# was saved. Rule: change them in what is loaded.

# sphinx_gallery_once = True
saved, optimizer = make_tiny().state_dict(), make_tiny(fused=True)
optimizer.load_state_dict(saved)
print("fused after loading:", optimizer.param_groups[0]["fused"])
for group in saved["param_groups"]:
    group |= dict(fused=True, foreach=None, capturable=False)
optimizer.load_state_dict(saved)
print("fused after the change:", optimizer.param_groups[0]["fused"])

# %%
# **When it fails.** ``TORCH_LOGS=recompiles,graph_breaks`` tells what is compiled again or left out,
# ``backend="aot_eager"`` whether tracing or generating code is to blame. ``fullgraph=True`` is
# refused: ``step()`` breaks the graph on purpose.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# Weights and states are ``float32``, on one GPU. States of 8 bits move fewer bytes: `torchao
# <https://github.com/pytorch/ao>`__. With `FSDP2
# <https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html>`__ each GPU steps over its
# part of the weights only, and launching counts the more. ``torch._dynamo.mark_static_address`` is no
# stable interface. :doc:`/recipes/where_time_goes` tells whether to mend the optimizer at all.
#
# This recipe builds on `Compiling the optimizer with torch.compile
# <https://docs.pytorch.org/tutorials/recipes/compiling_optimizer.html>`__ by
# `Michael Lazos <https://github.com/mlazos>`__, its `Korean translation
# <https://tutorials.pytorch.kr/recipes/compiling_optimizer.html>`__ by 김승환 and its Chinese
# translation, on his `recipe on schedules
# <https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html>`__, and on his
# article `Compiling the optimizer with PT2
# <https://dev-discuss.pytorch.org/t/compiling-the-optimizer-with-pt2/1669>`__.

"""
Compiling the optimizer with torch.compile
==========================================

Compile ``optimizer.step()``, compare it with the for-loop, foreach and fused versions,
and see how far each is from the bandwidth limit.

**What you will learn**

- How to compile an optimizer step, and what the compiler gains by fusing it.
- How to measure a step fairly, and how to compute the limit no version can beat.
- How to change the learning rate without compiling again.
- When ``fused=True`` is the better answer, and when ``torch.compile`` is.

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib.
- A CUDA GPU with Triton for results like the ones on this page. Without one, a small
  configuration runs on the CPU; there ``torch.compile`` needs a C++ compiler.

This recipe builds on the PyTorch recipe `Compiling the optimizer with torch.compile
<https://docs.pytorch.org/tutorials/recipes/compiling_optimizer.html>`__ by Michael
Lazos and its `Korean translation
<https://tutorials.pytorch.kr/recipes/compiling_optimizer.html>`__ by 김승환.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 900
# sphinx_gallery_thumbnail_number = 1

# %%
# Why the optimizer can be the bottleneck
# ---------------------------------------
#
# An optimizer does little arithmetic, but it touches every parameter. Adam keeps two
# more numbers for each parameter: the running mean :math:`m` of the gradient and the
# running mean :math:`v` of its square. A step has to read the parameter :math:`p`, the
# gradient :math:`g`, :math:`m` and :math:`v`, and to write :math:`p`, :math:`m` and
# :math:`v`. In ``float32`` that is seven times four bytes: **28 bytes per parameter**.
# No version of Adam can move less.
#
# The default version on a GPU, called *foreach*, runs one operation after the other,
# each over all parameters at once. Every operation reads its inputs from memory and
# writes its result back:
#
# .. list-table::
#    :header-rows: 1
#
#    * - Operation
#      - Reads
#      - Writes
#      - Bytes per parameter
#    * - move ``m`` towards ``g``
#      - ``m``, ``g``
#      - ``m``
#      - 12
#    * - scale ``v``
#      - ``v``
#      - ``v``
#      - 8
#    * - add the square of ``g`` to ``v``
#      - ``v``, ``g``
#      - ``v``
#      - 12
#    * - square root of ``v``
#      - ``v``
#      - ``s``
#      - 8
#    * - divide ``s``
#      - ``s``
#      - ``s``
#      - 8
#    * - add epsilon to ``s``
#      - ``s``
#      - ``s``
#      - 8
#    * - update ``p``
#      - ``p``, ``m``, ``s``
#      - ``p``
#      - 16
#
# Together these are 72 bytes. A fused kernel keeps the intermediate values in
# registers, so for large models it can be up to 72 / 28, about 2.6 times, faster. For
# small models another cost shows: Python has to launch every kernel, and the GPU waits.
#
# The setting
# -----------
#
# All sizes are chosen here, once. The program takes the first configuration that this
# machine can run.

import copy
import importlib.util
import inspect
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch._inductor.utils import fresh_cache

try:
    from IPython.display import display
except ImportError:  # a plain Python without Jupyter prints instead
    display = print

pd.set_option("display.max_columns", None, "display.width", 120)
# One harmless notice per compilation would fill the page.
torch._logging.set_logs(dynamo=logging.ERROR)

# %%


@dataclass(frozen=True)
class Config:
    """Sizes of one run: the models, the copy that gives the limit, the sampling."""

    device: str
    layers: tuple[int, ...]
    copy_mib: int
    batch_seconds: float
    rounds: int
    needs_gib: int = 0
    width: int = 1024


LARGE = Config("cuda", (10, 30, 100), 1024, 0.02, 40, needs_gib=24)
SMALL = Config("cuda", (3, 10, 30), 512, 0.02, 40, needs_gib=6)
ON_CPU = Config("cpu", (2, 4, 6), 64, 0.05, 15)

# %%


def choose_config() -> tuple[Config, str]:
    """Return the largest configuration that fits, and a sentence that says why."""
    if not torch.cuda.is_available():
        return ON_CPU, "No CUDA GPU: the small configuration runs on the CPU."
    if importlib.util.find_spec("triton") is None:
        return ON_CPU, "CUDA without Triton: the small configuration runs on the CPU."
    free_gib = torch.cuda.mem_get_info()[0] / 2**30
    for config in (LARGE, SMALL):
        if free_gib >= config.needs_gib:
            size = "full" if config is LARGE else "reduced (too little free memory)"
            return config, f"{torch.cuda.get_device_name()}: the {size} configuration."
    return ON_CPU, "Too little free GPU memory: the CPU is used instead."


CONFIG, reason = choose_config()
DEVICE = torch.device(CONFIG.device)
LR = 0.01
print(f"PyTorch {torch.__version__}. {reason}")
if DEVICE.type == "cpu":
    print(
        "What cannot be seen here: the cost of launching many GPU kernels, "
        "the GPU time, and the fused GPU kernels."
    )

# %%
# The first compilation in a process also starts the compiler itself: it imports modules
# and launches worker processes. A trivial compilation pays for that now, so that it
# does not count against the first arm. It also shows whether compilation works on this
# machine.


def synchronize() -> None:
    """Wait until the device has finished; a CPU always has."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


BACKEND = "inductor"
try:
    with fresh_cache():
        torch.compile(lambda x: x.sin() + x.cos())(torch.ones(1000, device=DEVICE))
        synchronize()
except Exception as error:
    # Usually a missing C++ compiler. The recipe can still run to its end.
    BACKEND = "aot_eager"
    print(f"torch.compile cannot generate code here ({type(error).__name__}).")
    print("Is a C++ compiler installed? 'compiled' shows no speed-up without one.")
torch.compiler.reset()

# %%
# Four arms, each with its own state
# ----------------------------------
#
# The model is a stack of ``Linear(1024, 1024, bias=False)`` layers. There is no forward
# pass: an optimizer does not care where a gradient comes from, so each gradient is
# filled with random numbers.
#
# Four arms perform the same Adam step:
#
# - **for-loop** handles one parameter after the other;
# - **foreach** handles all parameters with one call per operation, the default on a
#   GPU;
# - **fused** is a kernel written by hand that does everything at once;
# - **compiled** is the default optimizer, compiled.
#
# Each arm gets a deep copy of the model and an optimizer of its own. This matters.
# While it traces the step on a GPU, the compiler sets ``capturable=True`` in the
# optimizer, which keeps the step counters on the GPU. An arm that shared this optimizer
# would no longer be the eager version that people use.


@dataclass
class Arm:
    """One way to perform a step, with its own model, optimizer and state."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: Callable[[], object]
    wrapper_seconds: float | None = None
    first_seconds: float = 0.0
    gpu_seconds: float | None = None

    def set_gradients(self, seed: int) -> None:
        """Fill the gradients; the same seed gives every arm the same ones."""
        generator = torch.Generator(DEVICE).manual_seed(seed)
        for parameter in self.model.parameters():
            parameter.grad.normal_(generator=generator)


# %%
# The step is compiled through a small function. ``fullgraph=True`` is not possible
# here: ``step()`` contains deliberate graph breaks, which keep the update itself in one
# graph without autograd. The call of ``torch.compile`` is timed on its own.


def make_arm(
    template: nn.Module,
    optimizer_class: type[torch.optim.Optimizer],
    compiled: bool = False,
    **options: bool,
) -> Arm:
    """Copy the model and give it an optimizer and a way to step."""
    model = copy.deepcopy(template)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer = optimizer_class(model.parameters(), lr=LR, **options)
    if not compiled:
        return Arm(model, optimizer, optimizer.step)

    def step() -> None:
        optimizer.step()

    start = time.perf_counter()
    compiled_step = torch.compile(step, backend=BACKEND)
    return Arm(model, optimizer, compiled_step, time.perf_counter() - start)


# %%
# The first call is timed for every arm. For the compiled arm it contains the
# compilation, and an empty cache makes sure that nothing is found from an earlier run.
# For the others it is the creation of the optimizer's state.

ADAM_ARMS = {
    "for-loop": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
    "compiled": {"compiled": True},
}


def build_arms(layers: int, optimizer_class: type, choices: dict) -> dict[str, Arm]:
    """Create the arms of one model size and perform the first step of each."""
    torch.manual_seed(0)
    width = CONFIG.width
    template = nn.Sequential(
        *(nn.Linear(width, width, bias=False, device=DEVICE) for _ in range(layers))
    )
    arms = {}
    for name, options in choices.items():
        arms[name] = arm = make_arm(template, optimizer_class, **options)
        arm.set_gradients(seed=0)
        synchronize()
        with fresh_cache():
            start = time.perf_counter()
            arm.step()
            synchronize()
            arm.first_seconds = time.perf_counter() - start
    return arms


adam = {n: build_arms(n, torch.optim.Adam, ADAM_ARMS) for n in CONFIG.layers}
SMALLEST, LARGEST = min(CONFIG.layers), max(CONFIG.layers)

# %%
# Do they agree?
# --------------
#
# Before any speed, correctness. All arms take a few more steps with new random
# gradients. Their parameters are compared with those of the for-loop arm; the table
# shows the largest difference.
#
# Bit-for-bit equality is not expected: the arms round in a different order, and the
# compiled arm computes its correction factors in ``float32`` on the device. A
# difference of up to one hundredth of the learning rate is accepted.

TOLERANCE = LR / 100


@torch.no_grad()
def largest_difference(arm: Arm, reference: Arm) -> float:
    """Return the largest absolute difference of any parameter."""
    pairs = zip(arm.model.parameters(), reference.model.parameters(), strict=True)
    return max((p - q).abs().max().item() for p, q in pairs)


def check_agreement(arms: dict[str, Arm], steps: int = 5) -> pd.DataFrame:
    """Take the same steps in every arm and compare each arm with the first."""
    for arm in arms.values():
        for seed in range(1, steps + 1):
            arm.set_gradients(seed)
            arm.step()
    reference = next(iter(arms.values()))
    rows = {}
    for name, arm in arms.items():
        difference = largest_difference(arm, reference)
        assert difference <= TOLERANCE, f"{name} differs by {difference}"
        capturable = arm.optimizer.param_groups[0]["capturable"]
        rows[name] = [f"{difference:.1e}", str(capturable)]
    return pd.DataFrame(rows, index=["largest difference", "capturable"]).T


tables = {layers: check_agreement(arms) for layers, arms in adam.items()}
display(tables[LARGEST])

# %%
# On a GPU the last column shows what the compiler has changed: ``capturable`` is now
# true in the compiled arm, and only there.
#
# How fast, and how close to the limit
# ------------------------------------
#
# Two times are measured for the steady state.
#
# **Wall time per step**: a batch of steps, between two synchronizations, divided by the
# number of steps. The arms take turns, round after round, so that a change of the clock
# frequency meets all of them. The tables show the median and the quartiles.
#
# **The limit**: a plain copy of a large tensor takes its turn in every round too. Its
# bandwidth is the rate at which this very device can move data, and 28 bytes per
# parameter at that rate take the time that no Adam step should be able to beat.


def timed(step: Callable[[], object], calls: int) -> float:
    """Return the mean wall time of one call in seconds."""
    synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        step()
    synchronize()
    return (time.perf_counter() - start) / calls


def take_turns(steps: dict[str, Callable[[], object]]) -> pd.DataFrame:
    """Time all steps in every round; one row per round, one column per step."""
    calls = {}
    for name, step in steps.items():
        timed(step, calls=3)
        calls[name] = max(1, round(CONFIG.batch_seconds / timed(step, calls=3)))
    rows = []
    for _ in range(CONFIG.rounds):
        rows.append({name: timed(step, calls[name]) for name, step in steps.items()})
    return pd.DataFrame(rows)


# %%
# The arms of each model size are sampled together with the copy. From the copy follows
# the limit of the same round.

BYTES_PER_PARAMETER = 28
source = torch.zeros(CONFIG.copy_mib * 2**20 // 4, device=DEVICE)
target = torch.empty_like(source)


def sample(layers: int, arms: dict[str, Arm]) -> pd.DataFrame:
    """Return the seconds per step of every arm, and the limit, for each round."""
    steps = {name: arm.step for name, arm in arms.items()}
    samples = take_turns({**steps, "copy": lambda: target.copy_(source)})
    bandwidth = 2 * source.nbytes / samples.pop("copy")
    parameters = layers * CONFIG.width**2
    samples["limit"] = BYTES_PER_PARAMETER * parameters / bandwidth
    return samples


samples = {layers: sample(layers, arms) for layers, arms in adam.items()}
moved = BYTES_PER_PARAMETER * LARGEST * CONFIG.width**2
print(f"Copy bandwidth: {moved / samples[LARGEST]['limit'].median() / 1e9:,.0f} GB/s")

# %%
# **GPU time per step** is the sum of the durations of all kernels, as the profiler
# records them. The gaps between kernels, in which the GPU waits for Python, are not in
# it. CUDA events around the step would count those gaps and repeat the wall time. The
# profiler slows launches down while it records, so it runs after the wall times have
# been taken.


def gpu_time(step: Callable[[], object], calls: int = 5) -> float | None:
    """Return the kernel time of one step in seconds, or None without a GPU."""
    if DEVICE.type != "cuda":
        return None
    synchronize()
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        for _ in range(calls):
            step()
        synchronize()
    # An annotation spans the kernels of a whole step and would count them twice.
    on_gpu = [
        event.time_range.elapsed_us()
        for event in profile.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
        and not event.is_user_annotation
    ]
    return sum(on_gpu) / calls * 1e-6 or None


for layers in (SMALLEST, LARGEST):
    for arm in adam[layers].values():
        arm.gpu_seconds = gpu_time(arm.step)

# %%
# The table keeps four quantities apart: the call of ``torch.compile``, which returns at
# once; the first call; the wall time per step; and the GPU time per step. The last
# column divides the limit by the wall time: 100 % is the limit.


def digits(value: float) -> str:
    """Format a number with three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(values: pd.Series, scale: float = 1.0) -> str:
    """Format the median and the quartiles of some values."""
    low, middle, high = values.quantile([0.25, 0.5, 0.75]) * scale
    return f"{digits(middle)} ({digits(low)} to {digits(high)})"


def four_quantities(arms: dict[str, Arm], samples: pd.DataFrame) -> pd.DataFrame:
    """Tabulate what each arm costs once and what it costs at every step."""
    rows = {}
    for name, arm in arms.items():
        wrapper, gpu = arm.wrapper_seconds, arm.gpu_seconds
        rows[name] = {
            "wrapper (ms)": "-" if wrapper is None else f"{wrapper * 1e3:.3g}",
            "first call (ms)": digits(arm.first_seconds * 1e3),
            "wall per step (ms)": spread(samples[name], 1e3),
            "GPU per step (ms)": "-" if gpu is None else f"{gpu * 1e3:.3g}",
            "share of limit (%)": spread(samples["limit"] / samples[name], 100),
        }
    return pd.DataFrame(rows).T


print(f"{SMALLEST} layers; limit {spread(samples[SMALLEST]['limit'], 1e3)} ms")
display(four_quantities(adam[SMALLEST], samples[SMALLEST]))

# %%

print(f"{LARGEST} layers; limit {spread(samples[LARGEST]['limit'], 1e3)} ms")
display(four_quantities(adam[LARGEST], samples[LARGEST]))

# %%
# Compare the wall time with the GPU time. Where they are nearly equal, the GPU is
# always busy, and only moving fewer bytes helps. Where the wall time is much longer,
# the GPU waits for the CPU. A compiled step also costs CPU time at every call: it
# checks the *guards*, the conditions under which its code is valid. In a training loop
# some of this CPU time is hidden, because the GPU is still busy with the backward pass
# when the step is launched.
#
# The figure shows the wall time of all model sizes beside the limit.

# sphinx_gallery_alt = "Log-log plot of wall time per step against millions of parameters; one curve each for for-loop, foreach, fused and compiled Adam, and a dashed line for the 28-byte limit"
STYLES = {
    "for-loop": ("#CC79A7", "v", ":"),
    "foreach": ("#D55E00", "s", "-."),
    "fused": ("#009E73", "^", (0, (5, 1, 1, 1, 1, 1))),
    "compiled": ("#0072B2", "o", "-"),
}
millions = [layers * CONFIG.width**2 / 1e6 for layers in CONFIG.layers]
medians = pd.DataFrame({layers: samples[layers].median() * 1e3 for layers in samples})

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, (color, marker, line) in STYLES.items():
    times = medians.loc[name]
    ax.plot(millions, times, color=color, marker=marker, ls=line, label=name)
ax.plot(millions, medians.loc["limit"], color="grey", ls="--", label="limit")
ax.set(xscale="log", yscale="log")
ax.set(xlabel="parameters (millions)", ylabel="wall time per step (ms)")
ax.legend()
plt.show()

# %%
# On a GPU, expect three things. The for-loop and foreach arms stay well above the line,
# because they move more bytes or launch more kernels. The fused and the compiled arm
# come much closer for the largest model. For the smallest model the compiled arm leaves
# the line again, because its CPU cost per call shows.
#
# The limit is a guide, not a law. A model whose state fits into a cache can be faster
# than it, and so can a step that reads more than it writes. On a CPU a copy may also
# have to load the memory that it overwrites; there a good step can be faster than the
# line.
#
# A learning-rate schedule without recompiling
# --------------------------------------------
#
# A Python number is part of the compiled code. A scheduler that changes a float
# learning rate therefore breaks a guard, and the step is compiled again. After eight
# compilations (``torch._dynamo.config.recompile_limit``) PyTorch gives up and runs the
# step eagerly.
#
# A tensor is an input of the compiled code. The scheduler then writes the new value
# into the same tensor, and the code stays valid.
#
# To count instead of guessing, the step is compiled with a backend of our own. It
# passes the work on to the usual backend, counts how often it is asked to compile, and
# counts how often the compiled code runs.


class CountingBackend:
    """Compile as usual, but count the compilations and the runs."""

    def __init__(self) -> None:
        """Start with both counts at zero."""
        self.compiled = 0
        self.runs = 0
        self.inner = torch._dynamo.lookup_backend(BACKEND)

    def __call__(self, graph: torch.fx.GraphModule, inputs: list) -> Callable:
        """Compile one graph and return a function that counts its runs."""
        self.compiled += 1
        function = self.inner(graph, inputs)

        def run(*args: object) -> object:
            self.runs += 1
            return function(*args)

        return run


# %%
# Four schedules are followed for twelve steps on a tiny model. Every step falls into
# one of three classes: it compiled, it reused compiled code, or it ran eagerly.
#
# The last two use ``OneCycleLR``. This scheduler changes the learning rate and, unless
# told otherwise, also the momentum: for Adam that is the first beta, which is a float
# again.

STEPS = 12


def follow(optimizer: torch.optim.Optimizer, schedule: Callable) -> tuple[list, float]:
    """Take some steps with a schedule; say what each did, and how long all took."""
    torch.compiler.reset()
    backend = CountingBackend()

    def step() -> None:
        optimizer.step()

    compiled_step = torch.compile(step, backend=backend)
    scheduler = schedule(optimizer)
    history = []
    start = time.perf_counter()
    with fresh_cache():
        for _ in range(STEPS):
            compiled, runs = backend.compiled, backend.runs
            compiled_step()
            scheduler.step()
            done = "reused" if backend.runs > runs else "eager"
            history.append("compiled" if backend.compiled > compiled else done)
        synchronize()
    return history, time.perf_counter() - start


# %%
# ``foreach=True`` is written out for the float case, only because it is not the
# default on a CPU. The for-loop version can keep a float learning rate symbolic and then
# compiles just twice; the foreach version cannot.


def tiny_adam(lr: float | torch.Tensor, **options: bool) -> torch.optim.Adam:
    """Return Adam over one small parameter with a constant gradient."""
    torch.manual_seed(0)
    parameter = nn.Parameter(torch.randn(64, 64).to(DEVICE))
    parameter.grad = torch.randn(64, 64).to(DEVICE)
    return torch.optim.Adam([parameter], lr=lr, **options)


def linear(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
    """Raise the learning rate a little at every step."""
    return torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=2 * STEPS)


def one_cycle(cycle_momentum: bool) -> Callable:
    """Return a OneCycleLR schedule with or without its change of the betas."""
    return lambda optimizer: torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=LR, total_steps=2 * STEPS, cycle_momentum=cycle_momentum
    )


# %%


def tensor_lr() -> torch.Tensor:
    """Return the learning rate as a tensor; each optimizer needs its own."""
    return torch.tensor(LR, device=DEVICE)


cases = {
    "float": (tiny_adam(LR, foreach=True), linear),
    "tensor": (tiny_adam(tensor_lr()), linear),
    "tensor, betas cycled": (tiny_adam(tensor_lr()), one_cycle(True)),
    "tensor, betas fixed": (tiny_adam(tensor_lr()), one_cycle(False)),
}
histories, rows = {}, {}
for name, (optimizer, schedule) in cases.items():
    histories[name], seconds = follow(optimizer, schedule)
    kinds = ("compiled", "reused", "eager")
    rows[name] = {f"steps {kind}": str(histories[name].count(kind)) for kind in kinds}
    rows[name]["total (s)"] = f"{seconds:.3g}"
display(pd.DataFrame(rows).T)

# The float and the tensor learning rate must lead to the same parameters.
(by_float,) = cases["float"][0].param_groups[0]["params"]
(by_tensor,) = cases["tensor"][0].param_groups[0]["params"]
assert (by_float - by_tensor).abs().max().item() <= TOLERANCE

# %%
# The figure counts the steps that had to compile. A flat curve after eight does not
# mean that all is well: as the table says, those steps no longer use compiled code.

# sphinx_gallery_alt = "Number of steps that compiled so far against the step number: the float learning rate and the cycled betas climb until the recompile limit, the tensor learning rate and the fixed betas stay at one"
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
steps = np.arange(1, STEPS + 1)
# Large hollow markers for the first two curves keep the other two visible.
looks = zip(histories, STYLES.values(), (11, 11, 5, 5), strict=True)
for name, (color, marker, line), size in looks:
    total = np.cumsum([what == "compiled" for what in histories[name]])
    look = {"color": color, "marker": marker, "ms": size, "ls": line}
    ax.plot(steps, total, **look, mfc="none" if size > 5 else color, label=name)
limit = torch._dynamo.config.recompile_limit
ax.axhline(limit, color="grey", ls="--", label="recompile limit")
ax.set(xlabel="step", ylabel="steps that compiled", ylim=(0, limit + 1.5))
ax.legend(loc="center right")
plt.show()

# %%
# So there are two rules for a compiled optimizer:
#
# - pass the learning rate as a tensor: ``Adam(params, lr=torch.tensor(0.01,
#   device=device))``;
# - with ``OneCycleLR`` or ``CyclicLR``, add ``cycle_momentum=False``, unless you need
#   it.
#
# The scheduler itself stays outside the compiled function. A fused or foreach optimizer
# without ``torch.compile`` needs none of this: there a float is just an argument.
#
# An optimizer without a fused kernel
# -----------------------------------
#
# Somebody has to write a fused kernel by hand, and that has been done for only a few
# optimizers. The signatures tell which. (Adagrad has its fused kernel on the CPU only.)

choices = {}
for name, kind in inspect.getmembers(torch.optim, inspect.isclass):
    if issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer:
        accepted = inspect.signature(kind).parameters
        choices[name] = ["yes" if o in accepted else "-" for o in ("foreach", "fused")]
display(pd.DataFrame(choices, index=["foreach", "fused"]).T)

# %%
# NAdam, which is Adam with Nesterov momentum, has no fused kernel. It keeps the same
# two running means, so its limit is 28 bytes per parameter as well. Its eager step
# needs one more pass over the parameters than Adam does. Here the compiler has no
# rival.

NADAM_ARMS = {"foreach": {"foreach": True}, "compiled": {"compiled": True}}

# The arms of Adam are no longer needed: their memory and their code are released.
adam_first = {layers: arms["compiled"].first_seconds for layers, arms in adam.items()}
eager_first = {name: arm.first_seconds for name, arm in adam[LARGEST].items()}
del adam, arm
torch.compiler.reset()

nadam = build_arms(LARGEST, torch.optim.NAdam, NADAM_ARMS)
check_agreement(nadam)
nadam_samples = sample(LARGEST, nadam)
for arm in nadam.values():
    arm.gpu_seconds = gpu_time(arm.step)
print(f"NAdam, {LARGEST} layers; limit {spread(nadam_samples['limit'], 1e3)} ms")
display(four_quantities(nadam, nadam_samples))

# %%
# Is it worth it?
# ---------------
#
# Compiling pays once the time it saves exceeds the time it took. The break-even is the
# first call divided by the saving per step.


@dataclass(frozen=True)
class Comparison:
    """One arm against another, from samples of the same rounds."""

    samples: pd.DataFrame
    arm: str
    baseline: str
    first_seconds: float | None = None

    def speedup(self) -> pd.Series:
        """Return how many times faster the arm is, for each round."""
        return self.samples[self.baseline] / self.samples[self.arm]

    def break_even(self) -> pd.Series | None:
        """Return the steps until the first call has paid, or None if it never has."""
        if self.first_seconds is None:
            return None
        saving = self.samples[self.baseline] - self.samples[self.arm]
        if saving.quantile(0.25) <= 0:
            return None
        return self.first_seconds / saving[saving > 0]


# %%

small, large = samples[SMALLEST], samples[LARGEST]
nadam_first = nadam["compiled"].first_seconds
comparisons = {
    f"Adam, {SMALLEST} layers": [
        Comparison(small, "compiled", "foreach", adam_first[SMALLEST]),
    ],
    f"Adam, {LARGEST} layers": [
        Comparison(large, "compiled", "foreach", adam_first[LARGEST]),
        Comparison(large, "compiled", "fused", adam_first[LARGEST]),
        Comparison(large, "fused", "foreach"),
    ],
    f"NAdam, {LARGEST} layers": [
        Comparison(nadam_samples, "compiled", "foreach", nadam_first),
    ],
}

# %%
# The fused arm has no compilation to pay for. "does not pay" means that there is no
# saving, or none that stands out from the spread.

rows, index = [], []
for case, group in comparisons.items():
    for each in group:
        steps, first = each.break_even(), each.first_seconds
        unpaid = "-" if first is None else "does not pay"
        index.append(f"{case}: {each.arm}")
        rows.append(
            {
                "compared with": each.baseline,
                "first call (s)": "-" if first is None else f"{first:.3g}",
                "speed-up (times)": spread(each.speedup()),
                "break-even (steps)": unpaid if steps is None else spread(steps),
            }
        )
display(pd.DataFrame(rows, index=index))


# %%
# The figure adds up the time for Adam on the largest model, the first call included.
# Where two curves cross, the dearer start has paid for itself.

# sphinx_gallery_alt = "Log-log plot of total time against the number of steps for foreach, fused and compiled Adam; the compiled curve starts high because of compilation and meets the foreach curve at the break-even"
steps = np.logspace(0, 6, 200)
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name in ("foreach", "fused", "compiled"):
    color, _, line = STYLES[name]
    total = eager_first[name] + (steps - 1) * large[name].median()
    ax.plot(steps, total, color=color, ls=line, label=name)
ax.set(xscale="log", yscale="log", xlabel="steps", ylabel="total time (s)")
ax.legend()
plt.show()

# %%
# In short:
#
# - **Adam, AdamW and SGD: use the fused kernel.** ``fused=True`` is one argument. It
#   compiles nothing, costs little CPU time, and a schedule needs no care. Compile only
#   if the table above shows a gain over it on your machine.
# - **An optimizer without a fused kernel: compile it.** The same holds for an
#   optimizer of your own that uses plain tensor operations. The longer the training,
#   the more it pays.
# - **A short run: do not compile.** Below the break-even, the eager step takes less
#   time in total.
# - **Look at the whole iteration.** If the step is a small part of it, even a perfect
#   step changes little.
#
# The page :doc:`/how_we_measure` explains the four quantities and the spread, and
# :doc:`/faq` answers what to do when your numbers differ.


def publish(rows: list[dict]) -> None:
    """Hand the headline figures to the results page; a notebook shows nothing."""
    if "get_ipython" in globals():
        bundle = {"application/vnd.recipe-gallery.headline+json": {"rows": rows}}
        display(bundle, raw=True)


def figures(values: pd.Series) -> dict[str, float]:
    """Return the median and the quartiles as plain numbers."""
    low, middle, high = values.quantile([0.25, 0.5, 0.75]).tolist()
    return {"value": middle, "low": low, "high": high}


headline = []
for case, group in comparisons.items():
    for each in group:
        steps = each.break_even()
        row = {"case": f"{case}: {each.arm}", "baseline": each.baseline}
        row["speedup"] = figures(each.speedup())
        row["share_of_limit"] = figures(each.samples["limit"] / each.samples[each.arm])
        row["break_even_calls"] = None if steps is None else figures(steps)
        headline.append(row)
publish(headline)

"""
Cutting cold-start compile time with regional compilation
=========================================================

Compile the block that a model repeats, not the whole model: the first call gets much shorter, and this recipe measures the price.

**What you will learn**

* why the time of the first call grows with the depth of a model;
* how to compile a repeated region in place, so that ``state_dict`` keeps its names;
* how to measure a cold start fairly;
* what regional compilation costs in every later call, and after how many calls that matters;
* what silently breaks the reuse, and how to guard against it.

**What you need**

* PyTorch 2.11 or newer, pandas and matplotlib;
* a GPU with Triton, or a CPU with a C++ compiler (a smaller configuration is used there);
* some practice with ``torch.compile``.

Builds on the PyTorch recipe `Reducing torch.compile cold start compilation time with regional compilation <https://docs.pytorch.org/tutorials/recipes/regional_compilation.html>`__ by Animesh Jain.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 900
# sphinx_gallery_thumbnail_number = 1

# %%
# Setting up
# ----------
#
# All sizes stand in one place. The GPU gets transformer blocks of a usual width; the CPU gets narrow blocks
# and fewer of them, so that the recipe ends in a reasonable time.

import copy
import importlib.util
import logging
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.utils import fresh_cache
from torch.profiler import ProfilerActivity, profile

try:
    from IPython.display import display
except ImportError:  # a plain Python without Jupyter prints instead
    display = print
pd.set_option("display.max_columns", 10, "display.width", 120)

# %%


@dataclass(frozen=True)
class Config:
    """Sizes of everything below."""

    depths: tuple[int, ...]
    width: int
    heads: int
    dtype: torch.dtype
    short: tuple[int, int]  # batch, tokens
    long: tuple[int, int]
    long_depth: int
    small_depth: int
    copy_bytes: int
    matmul_size: int
    repeats: int = 3
    sweep_seconds: float = 75.0  # no repeat starts later than this


# %%


ON_GPU = Config(
    depths=(4, 16, 64),
    width=1024,
    heads=16,
    dtype=torch.bfloat16,
    short=(1, 128),
    long=(8, 1024),
    long_depth=16,
    small_depth=64,
    copy_bytes=2**30,
    matmul_size=8192,
)
ON_CPU = Config(
    depths=(2, 4, 8),
    width=64,
    heads=4,
    dtype=torch.float32,
    short=(1, 32),
    long=(8, 256),
    long_depth=2,
    small_depth=32,
    copy_bytes=2**26,
    matmul_size=1024,
    sweep_seconds=55.0,
)

# %%

has_triton = importlib.util.find_spec("triton") is not None
if torch.cuda.is_available() and has_triton:
    DEVICE, CONFIG = torch.device("cuda"), ON_GPU
    print("Running on", torch.cuda.get_device_name())
    if torch.cuda.mem_get_info()[0] < 14 * 2**30:
        CONFIG = replace(ON_GPU, depths=(4, 8, 16), width=512, heads=8, long_depth=4)
        print("Less than 14 GiB of GPU memory is free: smaller blocks are used.")
else:
    DEVICE, CONFIG = torch.device("cpu"), ON_CPU
    # Operations this small gain nothing from threads, and one thread is steadier.
    torch.set_num_threads(1)
    if torch.cuda.is_available():
        print("This GPU has no Triton, which torch.compile needs: the CPU is used.")
    print(
        "Running on one CPU thread with small sizes: compiling C++ takes a large part "
        "of a first call, and GPU kernel launches cannot be seen here."
    )

# Serving a model needs no gradients. Training adds a backward graph to each compilation.
torch.set_grad_enabled(False)
# Lets float32 products use TF32 on a GPU, in every arm alike.
torch.set_float32_matmul_precision("high")
torch.manual_seed(0)
print(f"PyTorch {torch.__version__}, blocks in {CONFIG.dtype}")

# %%
# Why compile time grows with depth
# ---------------------------------
#
# ``torch.compile`` follows the Python code of ``forward`` and writes down every operation. It steps into the
# layers it meets on the way. A loop over 64 layers therefore becomes one graph with 64 copies of the same
# operations.
#
# Everything after that works on the whole graph: decomposing it, fusing operations, planning memory and
# writing the code that launches the kernels. Twice the layers, about twice the work. Equal kernels are built
# only once, but the work before that is not shared.
#
# Yet the layers of most models differ only in their weights. Weights are inputs of the compiled code, not
# part of it. One layer's code can serve all layers: compile the *region* that repeats, and compile it once.

# %%
# Two models that repeat a region
# -------------------------------
#
# The first model is that of the original recipe: one leading linear layer, then 64 small layers
# (fewer on a CPU). It is so small that it shows compile time and little else.


class Layer(nn.Module):
    """Two small linear layers with a ReLU and a sigmoid."""

    def __init__(self, width: int = 10) -> None:
        super().__init__()
        self.linear1 = nn.Linear(width, width)
        self.linear2 = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., width) to the same shape."""
        return torch.sigmoid(self.linear2(torch.relu(self.linear1(x))))


# %%


class Model(nn.Module):
    """A leading linear layer, then the given layers."""

    def __init__(self, width: int, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layers one after another."""
        x = self.linear(x)
        for layer in self.layers:
            x = layer(x)
        return x


# %%
# The second model puts real transformer blocks into the same frame: attention and an MLP, each with
# a normalization in front and a residual connection around it.


class Block(nn.Module):
    """A pre-norm transformer block with causal attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, tokens, width) to the same shape."""
        qkv = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(-2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


# %%


def small_model() -> Model:
    """Build the model of the original recipe."""
    with DEVICE:
        return Model(10, [Layer() for _ in range(CONFIG.small_depth)]).eval()


def block_model(depth: int, block: type[Block] = Block) -> Model:
    """Build a model of ``depth`` transformer blocks."""
    width = CONFIG.width
    with DEVICE:
        layers = [block(width, CONFIG.heads) for _ in range(depth)]
        return Model(width, layers).to(CONFIG.dtype).eval()


def tokens(shape: tuple[int, int]) -> Tensor:
    """Return a random input of (batch, tokens, width)."""
    return torch.randn(*shape, CONFIG.width, device=DEVICE, dtype=CONFIG.dtype)


# %%
# Compiling a region in place
# ---------------------------
#
# There are two ways to compile a layer. ``torch.compile(layer)`` returns a wrapper, which has to take the
# layer's place in the model. ``layer.compile()`` changes the layer itself. Look at the names in
# ``state_dict``: the wrapper adds a prefix, and checkpoints saved before no longer fit.

wrapped, in_place = small_model(), small_model()
for i, layer in enumerate(wrapped.layers):
    wrapped.layers[i] = torch.compile(layer)
for layer in in_place.layers:
    layer.compile()

for how, model in (("torch.compile(layer)", wrapped), ("layer.compile()", in_place)):
    print(f"{how}:", *[name for name in model.state_dict() if "layers.0." in name])

# %%
# So the regional form is one short loop. Nothing is compiled yet: that happens in the first call.
#
# ``dynamic=False`` keeps each arm to the one shape it is given. It is here for the measurement;
# leave it out when your shapes vary.


def compile_arm(model: Model, arm: str, backend: str) -> None:
    """Compile the whole model (``full``) or each of its layers (``regional``)."""
    regions = model.layers if arm == "regional" else [model]
    for region in regions:
        region.compile(backend=backend, dynamic=False)


# %%
# Measuring a cold start fairly
# -----------------------------
#
# Three things distort the time of a first call.
#
# * The first compilation in a process also imports the compiler and starts its worker processes.
#   So does the first compilation of each kind of layer, for the parts of the compiler that it needs.
#   A trivial compilation at the start pays for the one, an untimed rehearsal for the other.
# * Compiled code is kept on disk, and ``torch.compiler.reset()`` does not clear it. Each arm gets an empty
#   cache from ``fresh_cache``. ``reset`` is still needed, to forget what this process holds in memory.
# * The first use of the GPU's matrix library takes time, too. Each model runs once uncompiled before.


def synchronize() -> None:
    """Wait until the device has finished its work."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def warm_up_compiler() -> str:
    """Compile a trivial function; return the backend that works here."""
    try:
        with fresh_cache():
            torch.compile(lambda x: x.sin() + 1)(torch.ones(64, device=DEVICE))
            AsyncCompile.wait_pool_ready()
        return "inductor"
    except Exception as error:  # whatever is missing, the page should go on
        print("Inductor does not work here:", str(error).strip().splitlines()[0])
        print("It needs a C++ compiler (CPU) or Triton (GPU). Going on with aot_eager,")
        print("which builds the graphs but no kernels: later calls get no faster.")
        return "aot_eager"


start = time.perf_counter()
BACKEND = warm_up_compiler()
print(f"One-off start-up of the compiler: {time.perf_counter() - start:.1f} s")

# %%
# ``cold_start`` times the call of ``compile`` and the first call of the model apart from each other, and
# checks the result against the uncompiled model.

TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 5e-2}


def difference(result: Tensor, expected: Tensor) -> float:
    """Return the norm of the difference relative to the expected norm."""
    result, expected = result.double(), expected.double()
    return ((result - expected).norm() / expected.norm()).item()


def cold_start(model: Model, x: Tensor, arm: str) -> tuple[float, float]:
    """Return the seconds of ``compile`` and of the first call; check the result."""
    expected = model(x)
    with fresh_cache():
        synchronize()
        start = time.perf_counter()
        compile_arm(model, arm, BACKEND)
        compiled = time.perf_counter()
        result = model(x)
        synchronize()
        done = time.perf_counter()
    assert difference(result, expected) < TOLERANCE[x.dtype]
    return compiled - start, done - compiled


# %%
# The rehearsal compiles one layer of each kind. Nothing of it is kept, as every arm starts from an empty cache.

x_small = torch.randn(10, 10, device=DEVICE)
x_short = tokens(CONFIG.short)
with DEVICE:
    one_layer = Model(10, [Layer()]).eval()
for model, x in ((one_layer, x_small), (block_model(1), x_short)):
    cold_start(copy.deepcopy(model), x, "full")
    cold_start(copy.deepcopy(model), x, "regional")

# %%
# Now the small model, in both orders. If the method is fair, an arm's time does not depend on its place.

base = small_model()
small_cold: dict[str, list[float]] = {"full": [], "regional": []}
rows = {}
for order in (("full", "regional"), ("regional", "full")):
    torch.compiler.reset()
    small = {"eager": base}
    for arm in order:
        small[arm] = copy.deepcopy(base)
        wrapper, first = cold_start(small[arm], x_small, arm)
        small_cold[arm].append(first)
        place = "first" if arm == order[0] else "second"
        rows[f"{arm}, measured {place}"] = (f"{1e3 * wrapper:.3g}", f"{first:.3g}")

columns = ["compile() itself (ms)", "first call (s)"]
display(pd.DataFrame.from_dict(rows, orient="index", columns=columns).sort_index())

# %%
# Compare the two rows of the same arm first: their distance is the noise. The distance between the arms is
# what regional compilation saves. The call of ``compile`` itself is short: it only wraps.
#
# Regional compilation leaves the leading linear layer uncompiled, and it fuses nothing across the border of
# two layers. Full compilation may do both. That is the price, and the sections below put a figure on it.

# %%
# Compile time against depth
# --------------------------
#
# Next come the transformer blocks, at three depths. The deepest model is compiled in every repeat, the others
# once, each time from an empty cache. The order of the arms changes with every repeat.

cold: dict[tuple[str, int], list[float]] = {}
began = time.perf_counter()
for repeat in range(CONFIG.repeats):
    if time.perf_counter() - began > CONFIG.sweep_seconds:
        print(f"Compiling is slow here: repeats done: {repeat}.")
        break
    order = ("full", "regional") if repeat % 2 == 0 else ("regional", "full")
    for depth in CONFIG.depths if repeat == 0 else CONFIG.depths[-1:]:
        # Forgets the code compiled for the depth before; the last depth stays alive.
        torch.compiler.reset()
        blocks = {"eager": block_model(depth)}
        for arm in order:
            blocks[arm] = copy.deepcopy(blocks["eager"])
            seconds = cold_start(blocks[arm], x_short, arm)[1]
            cold.setdefault((arm, depth), []).append(seconds)

# %%

# sphinx_gallery_alt = "First call in seconds against the number of blocks: full compilation rises with depth, regional compilation stays flat."

COLOURS = {"eager": "#CC79A7", "full": "#D55E00", "regional": "#0072B2"}
MARKERS = {"eager": "^", "full": "s", "regional": "o"}
STYLES = {"eager": ":", "full": "--", "regional": "-"}

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for arm in ("full", "regional"):
    samples = [cold[arm, depth] for depth in CONFIG.depths]
    middle = [statistics.median(s) for s in samples]
    below = [m - min(s) for m, s in zip(middle, samples, strict=True)]
    above = [max(s) - m for m, s in zip(middle, samples, strict=True)]
    ax.errorbar(
        CONFIG.depths,
        middle,
        yerr=(below, above),
        color=COLOURS[arm],
        marker=MARKERS[arm],
        linestyle=STYLES[arm],
        capsize=3,
        label=arm,
    )
ax.set(xlabel="blocks", ylabel="first call (s)", xticks=CONFIG.depths, ylim=(0, None))
ax.legend()
plt.show()

# %%
# The point of the deepest model is a median; its bar reaches from the shortest to the longest first call.

rows = {}
for depth in CONFIG.depths:
    cells = {}
    for arm in ("full", "regional"):
        s = cold[arm, depth]
        cells[f"{arm} (s)"] = f"{statistics.median(s):.3g}"
        if len(s) > 1:
            cells[f"{arm} (s)"] += f" ({min(s):.3g}-{max(s):.3g})"
    pairs = zip(cold["full", depth], cold["regional", depth], strict=True)
    ratio = statistics.median(full / regional for full, regional in pairs)
    rows[f"{depth} blocks"] = {**cells, "full / regional": f"{ratio:.3g}"}
display(pd.DataFrame.from_dict(rows, orient="index"))

shallow, deep = CONFIG.depths[0], CONFIG.depths[-1]
for arm in ("full", "regional"):
    growth = statistics.median(cold[arm, deep]) - statistics.median(cold[arm, shallow])
    print(f"{arm}: {1e3 * growth / (deep - shallow):.3g} ms for each further block")

# %%
# A slope close to zero, of either sign, is noise.
#
# Regional compilation still does a little work for each block: the first call has to find out that the code
# at hand fits this block too. It does so by checking *guards*, the conditions under which compiled code is valid.

# %%
# The price: every later call
# ---------------------------
#
# A fully compiled model enters compiled code once a call. A regionally compiled one enters it once
# a *layer*, and checks the guards each time. Between two layers it is back in plain Python.
#
# The next helper takes the steady wall time per call. It runs the arms in turn, so that a change of
# the clock speed hits all of them alike. Each sample is the mean of a batch of calls.


def steady(
    calls: dict[str, Callable[[], object]], samples: int = 21
) -> dict[str, list[float]]:
    """Return wall seconds per call, sampled round-robin over the arms."""
    batch, times = {}, {name: [] for name in calls}
    for name, call in calls.items():
        for _ in range(5):
            call()
        synchronize()
        start = time.perf_counter()
        call()
        synchronize()
        batch[name] = max(1, round(0.02 / (time.perf_counter() - start)))
    for _ in range(samples):
        for name, call in calls.items():
            synchronize()
            start = time.perf_counter()
            for _ in range(batch[name]):
                call()
            synchronize()
            times[name].append((time.perf_counter() - start) / batch[name])
    return times


# %%
# Wall time does not tell whether the GPU was busy. GPU time per call is here the sum of the times of all
# kernels, taken from the profiler. CUDA events around the call would not do: they count the gaps in which
# the GPU waits for the next launch, and these gaps are the question.


def gpu_busy(call: Callable[[], object], calls: int = 5) -> float | None:
    """Return the GPU seconds per call spent in kernels, None without a GPU."""
    if DEVICE.type != "cuda":
        return None
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as trace:
        for _ in range(calls):
            call()
        synchronize()
    kernels = [
        event.self_device_time_total
        for event in trace.key_averages()
        if event.device_type == torch.autograd.DeviceType.CUDA
        and not event.is_user_annotation
    ]
    return 1e-6 * sum(kernels) / calls or None


# %%
# The limit beside the results is the larger of two times. Every weight must be read once, and input and
# output moved once, at the copy bandwidth measured here. And every weight of a matrix takes
# a multiplication and an addition a token, at the rate of a large product measured here. The arithmetic
# inside attention is left out, so the limit is a little too low, never too high.


def best_time(call: Callable[[], object], tries: int = 10) -> float:
    """Return the shortest of several timed calls in seconds."""
    call()
    times = []
    for _ in range(tries):
        synchronize()
        start = time.perf_counter()
        call()
        synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def device_rates() -> tuple[float, float]:
    """Return copied bytes and arithmetic operations per second of this device."""
    source = torch.ones(CONFIG.copy_bytes, dtype=torch.int8, device=DEVICE)
    target = torch.empty_like(source)
    n = CONFIG.matmul_size
    matrix = torch.randn(n, n, device=DEVICE, dtype=CONFIG.dtype)
    copied = 2 * CONFIG.copy_bytes / best_time(lambda: target.copy_(source))
    return copied, 2 * n**3 / best_time(lambda: matrix @ matrix)


bandwidth, peak = device_rates()
print(f"copy {bandwidth / 1e9:,.0f} GB/s, product {peak / 1e12:.3g} TFLOP/s")

# %%


def limit(model: Model, x: Tensor) -> float:
    """Return the least seconds a call can take on this device."""
    weights = list(model.parameters())
    moved = sum(w.nbytes for w in weights) + 2 * x.nbytes
    products = sum(w.numel() for w in weights if w.dim() == 2)
    return max(moved / bandwidth, 2 * products * x[..., 0].numel() / peak)


# %%
# Three workloads are measured:
#
# * the small model, where there is almost nothing to compute;
# * the deepest model of blocks with a short input, where the device has little to do for each launch;
# * blocks with a long input, where the device has plenty to do.
#
# The deepest models of blocks are still at hand, compiled. The other two workloads are compiled here.
# Nothing calls ``reset`` between compiling a workload and measuring it: that would forget the code.


@dataclass
class Measured:
    """What is known of one workload; a list of samples for each arm."""

    name: str
    cold: dict[str, list[float]]
    steady: dict[str, list[float]]
    busy: dict[str, float | None]
    limit: float


def measure(
    name: str, models: dict[str, Model], x: Tensor, cold: dict[str, list[float]]
) -> Measured:
    """Take steady and GPU times of the compiled models."""
    calls = {
        arm: lambda model=models[arm]: model(x) for arm in ("eager", "full", "regional")
    }
    times = steady(calls)
    busy = {arm: gpu_busy(call) for arm, call in calls.items()}
    # Its first call compiles nothing, so an eager model starts at its steady time.
    cold = {"eager": [statistics.median(times["eager"])], **cold}
    return Measured(name, cold, times, busy, limit(models["eager"], x))


# %%

deep_cold = {arm: cold[arm, deep] for arm in ("full", "regional")}
results = [measure(f"{deep} blocks, short input", blocks, x_short, deep_cold)]

x_long = tokens(CONFIG.long)
others = [
    (f"{CONFIG.small_depth} small layers", base, x_small, small_cold),
    (
        f"{CONFIG.long_depth} blocks, long input",
        block_model(CONFIG.long_depth),
        x_long,
        {"full": [], "regional": []},
    ),
]
for name, eager, x, first_calls in others:
    torch.compiler.reset()
    models = {"eager": eager}
    for arm in ("full", "regional"):
        models[arm] = copy.deepcopy(eager)
        first_calls[arm].append(cold_start(models[arm], x, arm)[1])
    results.append(measure(name, models, x, first_calls))

# %%


def quartiles(values: Iterable[float]) -> dict[str, float]:
    """Return median and quartiles; of fewer than 8 values, median and range."""
    values = sorted(values)
    low, high = values[0], values[-1]
    if len(values) >= 8:
        low, _, high = statistics.quantiles(values, n=4)
    return {"value": statistics.median(values), "low": low, "high": high}


rows = {}
for result in results:
    for arm in ("eager", "full", "regional"):
        q = quartiles(result.steady[arm])
        busy = result.busy[arm]
        rows[f"{result.name}: {arm}"] = {
            "wall (ms)": f"{1e3 * q['value']:.3g}",
            "quartiles (ms)": f"{1e3 * q['low']:.3g}-{1e3 * q['high']:.3g}",
            "GPU busy (ms)": "-" if busy is None else f"{1e3 * busy:.3g}",
            "limit (ms)": f"{1e3 * result.limit:.2g}",
        }
display(pd.DataFrame.from_dict(rows, orient="index"))

# %%
# How to read the table:
#
# * Where the wall time is far above the GPU time, the GPU waits for the host. There each entry into compiled
#   code counts, and regional compilation pays for one entry a layer. In small layers the entry
#   can cost more than the compiled code saves: regional can then be slower than eager.
# * Where wall and GPU time are close, the host is ahead of the GPU and the entries are hidden. There regional
#   and full compilation should be about equal.
# * For the small layers the limit means nothing: starting a single kernel takes longer.
#   For the long input it says how far the kernels are from the best the device can do.
# * On a CPU the host does the arithmetic itself, so nothing hides the entries. With narrow blocks the weights stay
#   in the CPU's caches, so the limit of the copy bandwidth is a rough one there.

# %%
# After how many calls does it matter?
# ------------------------------------
#
# A process that lives for few calls is best served by a short first call; one that runs for days, by short
# later calls. The break-even is the first-call cost over the saving per call.


def break_even(result: Measured, arm: str, baseline: str) -> dict[str, float] | None:
    """Return the calls after which ``arm`` has overtaken ``baseline``, if ever."""
    cost_arm, cost_base = quartiles(result.cold[arm]), quartiles(result.cold[baseline])
    saved = quartiles(
        b - a for a, b in zip(result.steady[arm], result.steady[baseline], strict=True)
    )
    if saved["low"] <= 0:
        return None
    return {
        "value": max(0, cost_arm["value"] - cost_base["value"]) / saved["value"],
        "low": max(0, cost_arm["low"] - cost_base["high"]) / saved["high"],
        "high": max(0, cost_arm["high"] - cost_base["low"]) / saved["low"],
    }


rows = {}
for result in results:
    rows[result.name] = {}
    for arm, rival in (("regional", "eager"), ("full", "eager"), ("full", "regional")):
        calls = break_even(result, arm, rival)
        text = "not seen" if calls is None else f"{calls['value']:,.0f}"
        rows[result.name][f"{arm} beats {rival} (calls)"] = text
display(pd.DataFrame.from_dict(rows, orient="index"))

# %%
# "not seen" means that the saving per call is not clearly above zero here, so the first call is never earned back.
#
# The figure shows the same for the deepest model of blocks: the total time since the start,
# against the number of calls. The lowest line is the best choice for that many calls.

# %%

# sphinx_gallery_alt = "Total time against number of calls, both logarithmic: eager starts lowest, regional follows, full starts highest; the lines cross where an arm has paid off; a dashed line is the limit."

result = results[0]
counts = [2**k for k in range(21)]
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for arm in ("eager", "full", "regional"):
    first = statistics.median(result.cold[arm])
    later = statistics.median(result.steady[arm])
    total = [first + (count - 1) * later for count in counts]
    ax.loglog(
        counts,
        total,
        color=COLOURS[arm],
        marker=MARKERS[arm],
        markevery=4,
        linestyle=STYLES[arm],
        label=arm,
    )
total = [count * result.limit for count in counts]
ax.loglog(counts, total, color="grey", linestyle="--", label="limit")
ax.set(xlabel="calls", ylabel="total time (s)")
ax.legend(loc="lower right")
plt.show()

# %%
# What breaks the reuse
# ---------------------
#
# Compiled code is reused for the next layer only if all its guards hold there. Weights may differ.
# A Python number that ``forward`` uses may not: it is built into the code. An index of the layer
# or a dropout rate that grows with depth gives each layer a graph of its own, even in evaluation mode.
#
# The counter below shows it. A tiny backend stands in for the compiler: it counts the graphs it is given, and how
# many layers run in one. Reuse is decided before any backend is asked.


class Plain(nn.Module):
    """A layer that differs from its neighbours by its weights only."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.linear = nn.Linear(10, 10)
        self.dropout = nn.Dropout(0.1)
        self.index = index

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., 10) to the same shape."""
        return self.dropout(self.linear(x))


class UsesInt(Plain):
    """Uses a number of its own in forward."""

    def forward(self, x: Tensor) -> Tensor:
        """Scale the result by the layer's index."""
        return super().forward(x) / (1 + self.index)


# %%


class OwnRate(Plain):
    """Has a dropout rate of its own."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.dropout = nn.Dropout(0.01 * index)

    def forward(self, x: Tensor) -> Tensor:
        """Call the parent; the rate is read there."""
        return super().forward(x)


class UsesTensor(Plain):
    """Holds its number in a tensor buffer instead."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.register_buffer("scale", torch.tensor(1.0 / (1 + index)))

    def forward(self, x: Tensor) -> Tensor:
        """Scale the result by a tensor, which is an input of the graph."""
        return super().forward(x) * self.scale


# %%


def count_reuse(layers: list[nn.Module], x: Tensor) -> dict[str, int]:
    """Count layers, graphs built, and layers that run compiled."""
    built, ran = [], []

    def counting(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable:
        built.append(graph)

        def run(*args: Tensor) -> object:
            ran.append(graph)
            return graph.forward(*args)

        return run

    torch.compiler.reset()
    for layer in layers:
        layer.eval().compile(backend=counting)
        layer(x)
    # Only the second round shows which layers run compiled in the long term.
    ran.clear()
    for layer in layers:
        layer(x)
    return {"layers": len(layers), "graphs": len(built), "run compiled": len(ran)}


# %%


class OwnEncoder(nn.TransformerEncoderLayer):
    """Makes forward a function of this file instead of one of PyTorch."""

    def forward(self, *args: object, **kwargs: object) -> Tensor:
        """Call the parent."""
        return super().forward(*args, **kwargs)


# The warning at the recompile limit is long; the table says the same.
torch._logging.set_logs(dynamo=logging.ERROR)
rows = {}
for kind in (Plain, UsesInt, OwnRate, UsesTensor):
    layers = [kind(index) for index in range(12)]
    rows[kind.__name__] = count_reuse(layers, torch.randn(4, 10))
for kind in (nn.TransformerEncoderLayer, OwnEncoder):
    layers = [kind(16, 2, 32, batch_first=True) for _ in range(12)]
    rows[kind.__name__] = count_reuse(layers, torch.randn(2, 4, 16))
torch._logging.set_logs()

print("recompile_limit:", torch._dynamo.config.recompile_limit)
display(pd.DataFrame.from_dict(rows, orient="index"))

# %%
# Two different failures show here, and neither raises an error.
#
# * With a number of its own, each layer has its own graph until ``recompile_limit`` is reached. The layers beyond
#   run uncompiled; only a warning tells. Keep such a number in a tensor, as ``UsesTensor`` does.
# * A layer class that comes with ``torch.nn`` gets no graph at all when its ``compile`` method is called: Dynamo does
#   not start at a function defined inside PyTorch. A subclass with a ``forward`` of your own helps. So does
#   ``layer.forward = torch.compile(layer.forward)``, which keeps the names in ``state_dict`` as well.
#
# To see the reason of each recompilation, start the program with ``TORCH_LOGS="recompiles"`` in its environment.
# It names the guard that failed. ``TORCH_LOGS="graph_code"`` prints each graph.

# %%
# A guard for production
# ----------------------
#
# Once the model is warm, no call should compile again. ``torch.compiler.set_stance("fail_on_recompile")``
# turns a silent recompilation into an error. Use it in a test that calls the warm model with every shape you
# expect, or around the serving loop.

torch.compiler.reset()
guarded = small_model()
compile_arm(guarded, "regional", "eager")
guarded(x_small)

with torch.compiler.set_stance("fail_on_recompile"):
    guarded(x_small)
    print("same shape: nothing compiled")
    try:
        guarded(x_small[:3])
    except RuntimeError as error:
        message = str(error)
        print("another shape:", message.split(". ")[0])
        print(next((m for m in message.splitlines() if "0/0:" in m), "").split("#")[0])

# %%
# Inside a full compilation: ``nested_compile_region``
# ----------------------------------------------------
#
# ``torch.compiler.nested_compile_region`` marks a function as a region that repeats *within* one full
# compilation. The model is still one graph and is entered once a call, but the region is optimized once
# and its code is called for each layer. Without ``torch.compile`` the mark does nothing.


class NestedBlock(Block):
    """A block that is compiled once inside a full compilation."""

    @torch.compiler.nested_compile_region
    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, tokens, width) to the same shape."""
        return super().forward(x)


rows = {}
for depth in (shallow, deep):
    torch.compiler.reset()
    nested = block_model(depth, NestedBlock)
    seconds = cold_start(nested, x_short, "full")[1]
    rows[f"{depth} blocks"] = {
        "full (s)": f"{statistics.median(cold['full', depth]):.3g}",
        "nested, one run (s)": f"{seconds:.3g}",
        "regional (s)": f"{statistics.median(cold['regional', depth]):.3g}",
    }
display(pd.DataFrame.from_dict(rows, orient="index"))

# %%
# Its steady time is compared with the same eager model as before.

again = steady(
    {"eager": lambda: blocks["eager"](x_short), "nested": lambda: nested(x_short)}
)
arms = {
    "full": results[0].steady,
    "regional": results[0].steady,
    "nested": again,
}
rows = {}
for arm, samples in arms.items():
    q = quartiles(a / b for a, b in zip(samples["eager"], samples[arm], strict=True))
    rows[arm] = {
        "eager / arm": f"{q['value']:.3g}",
        "quartiles": f"{q['low']:.3g}-{q['high']:.3g}",
    }
display(pd.DataFrame.from_dict(rows, orient="index"))

# %%
# What it cannot do yet, in PyTorch 2.11:
#
# * Dynamo still follows each call of the region, so the first call goes on growing with depth, only more slowly.
# * The region has to be captured whole. A graph break inside is an error, not a fallback.
# * Nothing is fused across the border of the region, as in regional compilation.
# * A Python number that differs from layer to layer gives one region each here too.
# * In training, a region must not change its inputs or buffers in place.

# %%
# Which form to choose
# --------------------
#
# * Few calls in a process, or frequent new deployments: regional. It also suits a model whose outer code
#   cannot be captured whole.
# * Many calls and a device that waits for the host: full, if the first call can be borne. Compile it
#   ahead of traffic, or keep the cache on disk from one process to the next: see :doc:`/faq`.
# * Many calls and a device that is busy: regional gives nearly all, for a fraction of the first call.
# * Layers of a few small operations: look at the steady times before choosing regional.
#
# What the spread of each figure means is told in :doc:`/how_we_measure`.

# %%


def headline(result: Measured, arm: str, baseline: str, kind: str) -> dict[str, object]:
    """Build one row from the ``cold`` or ``steady`` samples of a workload."""
    samples = getattr(result, kind)
    pairs = zip(samples[baseline], samples[arm], strict=True)
    what = "first call" if kind == "cold" else "later calls"
    share = None
    if kind == "steady" and result is not results[1]:
        share = quartiles(result.limit / seconds for seconds in samples[arm])
    return {
        "case": f"{result.name}, {what}: {arm}",
        "baseline": baseline,
        "speedup": quartiles(base / own for base, own in pairs),
        "share_of_limit": share,
        "break_even_calls": break_even(result, arm, baseline)
        if kind == "steady"
        else None,
    }


# %%


def publish(rows: list[dict[str, object]]) -> None:
    """Hand the headline figures to the site's results page; a notebook shows nothing."""
    if "get_ipython" in globals():
        kind = "application/vnd.recipe-gallery.headline+json"
        display({kind: {"rows": rows}}, raw=True)


deep_blocks, small_layers, long_input = results
publish(
    [
        headline(deep_blocks, "regional", "full", "cold"),
        headline(small_layers, "regional", "full", "cold"),
        headline(deep_blocks, "regional", "eager", "steady"),
        headline(deep_blocks, "full", "regional", "steady"),
        headline(small_layers, "regional", "eager", "steady"),
        headline(long_input, "full", "regional", "steady"),
    ]
)

"""
Choosing a torch.compile mode
=============================

Four modes of ``torch.compile`` in four experiments: what each mode costs, what it
saves, and after how many calls it has paid.

**What you will learn**

* what the four main modes switch on, and how to read it from PyTorch itself;
* how to compare modes fairly: first call, steady time, GPU time and break-even apart;
* how to tell whether code is bound by launches, by memory or by arithmetic, and which
  mode helps in each case;
* why a better formula can beat every compiler mode;
* what CUDA graphs ask of your code.

**What you need**

* PyTorch 2.11 or newer, pandas and matplotlib;
* torchvision and Transformers for two of the experiments (no weights are downloaded);
* a GPU with Triton to see CUDA graphs and GPU autotuning. The page also runs on a CPU
  with a C++ compiler, at smaller sizes.

Builds on the compile-modes chapter of `PyTorch实用教程(第二版)
<https://github.com/TingsongYu/PyTorch-Tutorial-2nd>`__ by TingsongYu, which compares
modes on the same four kinds of work. Text and code of this page are written afresh.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 900
# sphinx_gallery_thumbnail_number = 1

# %%
# Setup
# -----
#
# All sizes are in one place. Without CUDA, or without Triton, a small CPU configuration
# takes over.

import importlib.util
import logging
import os
import shutil
import time
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch._dynamo.utils import counters
from torch._inductor import config as inductor_config
from torch._inductor.utils import fresh_cache
from torch.utils.flop_counter import FlopCounterMode

try:
    from IPython.display import display
except ImportError:  # a plain Python without Jupyter prints instead
    display = print
pd.set_option("display.max_columns", None, "display.width", 160)

# %%


@dataclass(frozen=True)
class Config:
    """The sizes of one kind of device."""

    modes: tuple[str, ...]
    sweep: tuple[int, ...]  # exponents of two
    image: tuple[int, int, int, int]
    image_dtypes: tuple[torch.dtype, ...]
    bert_layers: int
    bert_width: int
    bert_dtype: torch.dtype
    bert_batches: tuple[tuple[int, int], tuple[int, int]]
    pairs: tuple[int, int]
    copy_bytes: int
    matmul: int
    rounds: int = 21


# %%

CPU = Config(
    modes=("default", "max-autotune-no-cudagraphs"),
    sweep=(0, 10, 15, 19, 23),
    image=(2, 3, 64, 64),
    image_dtypes=(torch.float32,),
    bert_layers=2,
    bert_width=128,
    bert_dtype=torch.float32,
    bert_batches=((1, 8), (4, 64)),
    pairs=(256, 128),
    copy_bytes=2**26,
    matmul=1024,
    rounds=15,
)
GPU = Config(
    modes=(
        "default",
        "reduce-overhead",
        "max-autotune-no-cudagraphs",
        "max-autotune",
    ),
    sweep=(0, 10, 18, 20, 22, 24, 26),
    image=(16, 3, 224, 224),
    image_dtypes=(torch.float32, torch.bfloat16),
    bert_layers=6,
    bert_width=768,
    bert_dtype=torch.bfloat16,
    bert_batches=((1, 8), (16, 128)),
    pairs=(1024, 256),
    copy_bytes=2**30,
    matmul=8192,
)

# %%


def choose_config() -> tuple[Config, bool]:
    """Pick the configuration for this machine and say what is missing."""
    has_triton = importlib.util.find_spec("triton") is not None
    if not (torch.cuda.is_available() and has_triton):
        missing = "Triton" if torch.cuda.is_available() else "CUDA"
        print(f"Without {missing} this page runs small sizes on the CPU.")
        print("There are no CUDA graphs there: reduce-overhead equals default, and")
        print("max-autotune equals max-autotune-no-cudagraphs, so two modes are left.")
        compilers = (os.environ.get("CXX", "g++"), "g++", "clang++", "cl")
        if not any(shutil.which(name) for name in compilers):
            print("No C++ compiler found: what cannot be compiled runs eagerly,")
            print("and the figures below compare eager with eager.")
            torch._dynamo.config.suppress_errors = True
            torch._logging.set_logs(dynamo=logging.ERROR)
        return CPU, False
    free, _ = torch.cuda.mem_get_info()
    if free > 8 * 2**30:
        return GPU, True
    print("Less than 8 GiB of GPU memory is free, so the largest sizes are left out.")
    small = replace(GPU, sweep=GPU.sweep[:-2], pairs=CPU.pairs)
    return replace(small, copy_bytes=2**28, matmul=4096), True


CONFIG, ON_GPU = choose_config()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
print(f"PyTorch {torch.__version__}, modes: {', '.join(CONFIG.modes)}")

# %%
# Autotuning can take minutes, most of it for convolutions: each shape has many Triton
# candidates to compile and to time. This page sets a bound. Convolutions keep the
# choice of cuDNN (``"ATEN"``), while matrix products are searched in full. Set
# ``max_autotune_conv_backends`` to ``"ATEN,TRITON"`` to search those too, and wait.
#
# The other settings keep the log of the search off the page.

inductor_config.max_autotune_conv_backends = "ATEN"
inductor_config.max_autotune_gemm_backends = "ATEN,TRITON" if ON_GPU else "ATEN"
inductor_config.autotune_num_choices_displayed = 0
inductor_config.max_autotune_report_choices_stats = False
warnings.filterwarnings("ignore", message="TypedStorage is deprecated")
warnings.filterwarnings("ignore", message="IProgress not found")

# %%
# What a mode is
# --------------
#
# A mode is a name for a few settings of Inductor, the compiler behind
# ``torch.compile``. PyTorch lists them.

options = pd.DataFrame(torch._inductor.list_mode_options()).T
display(options.loc[list(GPU.modes)].dropna(axis="columns", how="all").fillna("–"))

# %%
# Two switches explain the four modes.
#
# * ``triton.cudagraphs`` records the kernels of a call once and replays them together.
#   The CPU then launches one graph instead of many kernels.
# * ``max_autotune`` times several kernels for each matrix product and keeps the
#   fastest. ``coordinate_descent_tuning`` does the same for the block sizes of other
#   generated kernels.
#
# ``max-autotune`` turns both on. Only ``max-autotune-no-cudagraphs`` tells the effect
# of tuning from the effect of CUDA graphs, which is why it takes part.
#
# Three common beliefs are not true:
#
# * Dynamo does not analyze the syntax tree. It reads and rewrites bytecode.
# * ``reduce-overhead`` does not compile faster. The overhead that it reduces is that of
#   launching kernels.
# * ``max-autotune`` is not always the fastest. It can lose to ``default`` where CUDA
#   graphs have to copy large inputs.

# %%
# One fair comparison
# -------------------
#
# Four durations are kept apart:
#
# * ``torch.compile()`` itself, which only wraps the function and returns at once;
# * the first call, which compiles;
# * the wall time per call in the steady state, with calls issued back to back;
# * the GPU time per call: how long the GPU needs when the CPU is never late.
#
# CUDA events around launch-bound code also count the gaps in which the GPU waits for
# the CPU. Here the calls queue up behind a kernel that sleeps, so that all of them are
# launched when the first one starts. What the events then see is the GPU alone. If the
# wall time is much longer than this, the code is launch-bound. (The sleeping kernel,
# ``torch.cuda._sleep``, is a private helper of PyTorch's own tests.)


@dataclass
class Arm:
    """One contestant: what to call, what its first call cost, and its samples."""

    call: Callable[..., Any]
    wrap_s: float = 0.0
    first_s: float = 0.0
    reused: bool = False  # found tuned kernels in the cache
    wall_s: list[float] = field(default_factory=list)
    gpu_s: list[float] = field(default_factory=list)


def synchronize() -> None:
    """Wait until the GPU is idle; nothing to do on a CPU."""
    if ON_GPU:
        torch.cuda.synchronize()


def wall_seconds(call: Callable[[], Any], repeat: int = 1) -> float:
    """Return the wall time per call, in seconds, of calls issued back to back."""
    synchronize()
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    synchronize()
    return (time.perf_counter() - start) / repeat


# %%


def gpu_seconds(call: Callable[[], Any], wall: float) -> float:
    """Return the GPU time per call, in seconds, without gaps between launches."""
    repeat = max(1, min(20, int(1e-3 / wall)))
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    # The GPU sleeps for about twice as long as the CPU needs to launch everything.
    cycles = int(2e9 * (2 * wall * repeat + 5e-4))
    torch.cuda.synchronize()
    torch.cuda._sleep(cycles)
    start.record()
    for _ in range(repeat):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3 / repeat


# %%
# Compiled and eager results must agree. The measure is the relative error of the whole
# output, so that single elements near zero do not decide.


def relative_error(actual: Any, expected: Any) -> float:
    """Return the norm of the difference over the norm of what was expected."""
    actual = torch.as_tensor(actual).double()
    expected = torch.as_tensor(expected).double()
    return float((actual - expected).norm() / expected.norm())


def compile_arm(
    fn: Callable[..., Any], inputs: tuple, mode: str, expected: Any, tolerance: float
) -> Arm:
    """Compile, time the first call, check the result and warm up."""
    start = time.perf_counter()
    call = torch.compile(fn, mode=mode, dynamic=False)
    arm = Arm(call, wrap_s=time.perf_counter() - start)
    arm.first_s = wall_seconds(lambda: call(*inputs))
    # With CUDA graphs the first call warms up and the second one records.
    for _ in range(4):
        call(*inputs)
    error = relative_error(call(*inputs), expected)
    assert error <= tolerance, f"{mode}: relative error {error:.1e} > {tolerance:.1e}"
    return arm


# %%
# Now ``compare``, which serves all four experiments. Each mode starts with an empty
# compile cache. There is one exception: both tuning modes make the same search, so
# ``max-autotune`` makes it and is timed, and ``max-autotune-no-cudagraphs`` reuses it.
#
# The functions compared here change no state, so that the arms can share their weights
# and inputs. Samples are taken in turn, so that a drifting clock hits all arms alike.

FAMILIES = (
    ("default",),
    ("reduce-overhead",),
    ("max-autotune", "max-autotune-no-cudagraphs"),
)


def compare(
    fn: Callable[..., Any],
    inputs: tuple,
    *,
    modes: tuple[str, ...] | None = None,
    baseline: Callable[..., Any] | None = None,
    tolerance: float = 1e-5,
    on_gpu: bool = ON_GPU,
) -> dict[str, Arm]:
    """Run fn eagerly (or its baseline) and in several modes, and sample all in turn."""
    modes = CONFIG.modes if modes is None else modes
    torch.compiler.reset()
    eager = baseline or fn
    arms = {"eager": Arm(eager)}
    expected = eager(*inputs)
    for family in FAMILIES:
        with fresh_cache():
            for position, mode in enumerate(m for m in family if m in modes):
                arms[mode] = compile_arm(fn, inputs, mode, expected, tolerance)
                arms[mode].reused = position > 0
    take_samples(arms, inputs, on_gpu)
    return {name: arms[name] for name in ("eager", *modes)}


# %%


def take_samples(arms: dict[str, Arm], inputs: tuple, on_gpu: bool) -> None:
    """Add one wall and one GPU sample per arm and round, arm after arm."""
    calls = {name: lambda arm=arm: arm.call(*inputs) for name, arm in arms.items()}
    repeats = {}
    for name, call in calls.items():
        call()
        rough = wall_seconds(call, 2)
        repeats[name] = max(1, min(200, int(3e-3 / rough)))
    for _ in range(CONFIG.rounds):
        for name, arm in arms.items():
            # One call outside the clock: the arm before left its data in the caches.
            calls[name]()
            arm.wall_s.append(wall_seconds(calls[name], repeats[name]))
            if on_gpu:
                arm.gpu_s.append(gpu_seconds(calls[name], arm.wall_s[-1]))


# %%
# A figure is a median with its quartiles. A speed-up is formed within each round and
# then summarized. The break-even is the cost of the first call over the saving per
# call.

Figure = namedtuple("Figure", "value low high")


def summary(samples: list[float]) -> Figure:
    """Return the median and the quartiles."""
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    return Figure(float(middle), float(low), float(high))


def speedup(arm: Arm, base: Arm) -> Figure:
    """Return how many times faster the arm is, round by round."""
    return summary([b / a for a, b in zip(arm.wall_s, base.wall_s, strict=True)])


def first_call(arms: dict[str, Arm], mode: str) -> float:
    """Return the first call in seconds; a reused search is charged in full."""
    return arms["max-autotune" if arms[mode].reused else mode].first_s


def break_even(arms: dict[str, Arm], mode: str, base: str = "eager") -> Figure | None:
    """Return after how many calls a mode has paid, or None if it never does."""
    cost = first_call(arms, mode) - arms[base].first_s
    pairs = zip(arms[base].wall_s, arms[mode].wall_s, strict=True)
    saving = summary([before - after for before, after in pairs])
    # With a lower quartile at or below zero the saving drowns in the noise.
    if saving.low <= 0:
        return None
    savings = (saving.value, saving.high, saving.low)
    return Figure(*(max(cost, 0.0) / saved for saved in savings))


# %%


def digits(value: float) -> str:
    """Format a number with about three digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def spread(figure: Figure, scale: float = 1.0) -> str:
    """Format the quartiles of a figure."""
    return f"{digits(figure.low * scale)}–{digits(figure.high * scale)}"


def whole_calls(calls: Figure | None) -> str:
    """Format a break-even as a number of calls."""
    if calls is None:
        return "never"
    return f"{calls.value:,.0f}" if calls.value >= 1 else "at once"


# %%


def table(arms: dict[str, Arm], limit_s: float | None = None) -> pd.DataFrame:
    """Format one comparison, one row per arm."""
    large = summary(arms["eager"].wall_s).value > 1e-3
    unit, scale = ("ms", 1e3) if large else ("µs", 1e6)
    rows = {}
    for name, arm in arms.items():
        wall, ratio = summary(arm.wall_s), speedup(arm, arms["eager"])
        row = {"torch.compile() (ms)": "–", "first call (s)": "–"}
        if name != "eager":
            row["torch.compile() (ms)"] = f"{arm.wrap_s * 1e3:.2f}"
            first = "as max-autotune" if arm.reused else f"{arm.first_s:.2f}"
            row["first call (s)"] = first
        row[f"wall ({unit})"] = digits(wall.value * scale)
        row[f"wall, quartiles ({unit})"] = spread(wall, scale)
        if arm.gpu_s:
            row[f"GPU ({unit})"] = digits(summary(arm.gpu_s).value * scale)
        row["speed-up"] = f"{digits(ratio.value)} ({spread(ratio)})"
        if limit_s is not None:
            row["share of limit"] = f"{limit_s / wall.value:.1%}"
        row["break-even (calls)"] = whole_calls(break_even(arms, name))
        rows[name] = row
    rows["eager"] |= {"speed-up": "1", "break-even (calls)": "–"}
    return pd.DataFrame(rows).T


# %%
# The first compilation in a process also starts the compiler. A trivial one takes that
# out of the figures. The NumPy experiment compiles for the CPU too, so there is one for
# each device.


def warm_up(x: torch.Tensor) -> torch.Tensor:
    """Do next to nothing."""
    return x + 1


for kind in dict.fromkeys((DEVICE.type, "cpu")):
    start = time.perf_counter()
    with fresh_cache():
        torch.compile(warm_up)(torch.ones(8, device=kind))
    synchronize()
    print(f"first compilation for {kind}: {time.perf_counter() - start:.1f} s")

# %%
# The limits come from this very device: the bandwidth of a copy, counting each byte
# read and each byte written, and the arithmetic rate of a large matrix product.
#
# In fp32 the page allows TF32, which lets fp32 data use the tensor cores. For
# convolutions in cuDNN that is the default. The settings below bring matrix products
# and the Triton convolutions of ``max-autotune`` into line. Without TF32 a Triton
# convolution multiplies on the ordinary cores, and tuning it takes several times
# longer.

if ON_GPU:
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.fp32_precision = "tf32"


def typical(call: Callable[[], Any], repeat: int = 20) -> float:
    """Return the median time of a call in seconds."""
    call()
    if ON_GPU:
        return summary([gpu_seconds(call, 1e-3) for _ in range(repeat)]).value
    return summary([wall_seconds(call) for _ in range(repeat)]).value


def copy_bandwidth() -> float:
    """Return the bytes read and written per second by a large copy."""
    source = torch.ones(CONFIG.copy_bytes, dtype=torch.uint8, device=DEVICE)
    target = torch.empty_like(source)
    return 2 * CONFIG.copy_bytes / typical(lambda: target.copy_(source))


def matmul_rate(dtype: torch.dtype) -> float:
    """Return the operations per second of a large matrix product."""
    size = CONFIG.matmul
    a, b = torch.randn(2, size, size, device=DEVICE, dtype=dtype)
    return 2 * size**3 / typical(lambda: a @ b)


# %%

BANDWIDTH = copy_bandwidth()
print(f"copy bandwidth: {BANDWIDTH / 1e9:,.0f} GB/s")

PEAK = {}
for dtype in dict.fromkeys((*CONFIG.image_dtypes, CONFIG.bert_dtype)):
    PEAK[dtype] = matmul_rate(dtype)
    print(f"matrix product, {dtype}: {PEAK[dtype] / 1e12:,.1f} TFLOP/s")

# %%
# Experiment 1: sin + cos
# -----------------------
#
# Eager PyTorch runs three kernels here. Each reads its inputs from memory and writes
# its output back: 28 bytes per fp32 element. One fused kernel reads four bytes and
# writes four. If memory is the limit, compiling can make this at most 3.5 times faster.
#
# If the tensor is small, memory does not matter. Then three launches stand against one
# launch plus the checks that a compiled call makes first: are these inputs of the kind
# it was compiled for?


def wave(x: torch.Tensor) -> torch.Tensor:
    """Add sine and cosine."""
    return torch.sin(x) + torch.cos(x)


ENDS = (CONFIG.sweep[0], CONFIG.sweep[-1])
waves = {}
for exponent in CONFIG.sweep:
    # The tuning modes run at both ends only, which keeps the wait short.
    tuned = exponent in ENDS
    modes = tuple(m for m in CONFIG.modes if tuned or "autotune" not in m)
    x = torch.randn(2**exponent, device=DEVICE)
    waves[exponent] = compare(wave, (x,), modes=modes)
    del x

print("1 element:")
display(table(waves[ENDS[0]]))

# %%

print(f"2^{ENDS[1]} elements:")
wave_limit = 8 * 2 ** ENDS[1] / BANDWIDTH
display(table(waves[ENDS[1]], wave_limit))

# %%
# The crossover is where the flat part of a curve ends. Left of it the CPU is the limit,
# right of it the memory.

# sphinx_gallery_alt = "Wall time per call of sin + cos against the number of elements, both axes logarithmic, one curve per mode: flat for small tensors, then rising in parallel to the dashed line of 8 bytes per element."
STYLE = {
    "eager": dict(color="#D55E00", marker="s", linestyle="-"),
    "default": dict(color="#0072B2", marker="o", linestyle="-"),
    "reduce-overhead": dict(color="#009E73", marker="^", linestyle="--"),
    "max-autotune-no-cudagraphs": dict(color="#56B4E9", marker="x", linestyle=""),
    "max-autotune": dict(color="#CC79A7", marker="D", linestyle=""),
}
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name in ("eager", *CONFIG.modes):
    sizes = [e for e in waves if name in waves[e]]
    times = [summary(waves[e][name].wall_s).value * 1e6 for e in sizes]
    ax.plot([2**e for e in sizes], times, label=name, fillstyle="none", **STYLE[name])
limits = [8 * 2**e / BANDWIDTH * 1e6 for e in waves]
ax.plot([2**e for e in waves], limits, color="grey", linestyle="--", label="limit")
floor = min(summary(arm.wall_s).value for run in waves.values() for arm in run.values())
ax.set(xscale="log", yscale="log", xlabel="elements", ylabel="wall time per call (µs)")
ax.set_ylim(bottom=floor * 1e6 / 5)
ax.legend()
plt.show()

# %%
# Read the right end on a GPU with care. With CUDA graphs a kernel reads from the
# address that was recorded, so PyTorch first copies the input there. The copy moves
# another eight bytes per element, as many as the kernel itself. For one large and cheap
# operation, ``default`` is the better mode.
#
# At the left end there is one launch to save and a copy to add, so expect little from
# CUDA graphs there either. They need *many* small kernels to pay.
#
# On a CPU the picture is less pure. A sine costs more arithmetic than a copy, small
# tensors run on one thread, and those that fit into a cache need no main memory.

# %%
# Experiment 2: resnet18
# ----------------------
#
# The network is that of torchvision, with random weights: they do not change the speed.
# It is in evaluation mode, in the ``channels_last`` layout that convolutions on tensor
# cores prefer, and runs under ``torch.inference_mode()``.
#
# The limit is the larger of two times: moving the weights and the input once at the
# measured bandwidth, and the arithmetic at the measured rate of a matrix product.


def model_limit(fn: Callable[..., Any], inputs: tuple, params: list) -> float:
    """Return the least time of one call, in seconds, by bytes or by arithmetic."""
    moved = sum(t.numel() * t.element_size() for t in [*params, *inputs])
    with FlopCounterMode(display=False) as counter:
        fn(*inputs)
    by_arithmetic = counter.get_total_flops() / PEAK[params[0].dtype]
    return max(moved / BANDWIDTH, by_arithmetic)


# Rounding differs between kernels: fp32 on a CPU, TF32 and bf16 keep different digits.
TOLERANCE = {torch.float32: 1e-2 if ON_GPU else 1e-4, torch.bfloat16: 5e-2}
LABEL = {torch.float32: "TF32" if ON_GPU else "fp32", torch.bfloat16: "bf16"}

# %%
# On a GPU, only the two modes without tuning run in fp32, to keep the wait short. All
# modes run in bf16, the format to prefer there for inference. Tuning covers the generated
# kernels and the matrix products, not the convolutions (see Setup).

resnets = {}
resnet_limits = {}
if importlib.util.find_spec("torchvision") is None:
    print("torchvision is not installed: this experiment is left out.")
else:
    from torchvision.models import resnet18

    for dtype in CONFIG.image_dtypes:
        layout = dict(memory_format=torch.channels_last, dtype=dtype, device=DEVICE)
        net = resnet18(weights=None).eval().to(**layout)
        images = torch.randn(CONFIG.image).to(**layout)
        modes = CONFIG.modes
        if ON_GPU and dtype == torch.float32:
            modes = ("default", "reduce-overhead")
        with torch.inference_mode():
            limit = model_limit(net, (images,), list(net.parameters()))
            resnet_limits[dtype] = limit
            resnets[dtype] = compare(
                net, (images,), modes=modes, tolerance=TOLERANCE[dtype]
            )
        print(f"resnet18, {LABEL[dtype]}, images {'x'.join(map(str, images.shape))}")
        display(table(resnets[dtype], limit))

# %%
# Compare the columns of wall and GPU time. Where eager wall time is well above eager
# GPU time, the CPU cannot launch fast enough, and CUDA graphs help. What ``default``
# takes off the GPU time is fusion: batch normalization, ReLU and the residual sum no
# longer make trips to memory of their own.

# %%
# Experiment 3: BERT, a short and a long batch
# --------------------------------------------
#
# A pretrained checkpoint is used if it is in the local cache. Otherwise the model is
# built from its configuration with random weights, which run at the same speed. Nothing
# is downloaded, and the output says which one ran.
#
# Six of the twelve layers of BERT-base take part. All layers are alike, so the modes
# compare as they would on the whole model, and the compilations take half as long.


def build_bert() -> torch.nn.Module:
    """Return BERT-base from the local cache or its config; on a CPU a tiny BERT."""
    from transformers import BertConfig, BertModel

    if not ON_GPU:
        print("tiny BERT, built from a config with random weights")
        width = CONFIG.bert_width
        return BertModel(
            BertConfig(
                hidden_size=width,
                intermediate_size=4 * width,
                num_hidden_layers=CONFIG.bert_layers,
                num_attention_heads=width // 64,
            )
        )
    try:
        name = "google-bert/bert-base-uncased"
        model = BertModel.from_pretrained(
            name, local_files_only=True, num_hidden_layers=CONFIG.bert_layers
        )
        print(
            f"BERT-base, {CONFIG.bert_layers} layers, pretrained, from the local cache"
        )
    except (OSError, ValueError):
        model = BertModel(BertConfig(num_hidden_layers=CONFIG.bert_layers))
        print(f"BERT-base, {CONFIG.bert_layers} layers, built from its config")
    return model


# %%

berts = {}
bert_limits = {}
if importlib.util.find_spec("transformers") is None:
    print("Transformers is not installed: this experiment is left out.")
else:
    bert = build_bert().eval().to(DEVICE, CONFIG.bert_dtype)
    # Of the embedding tables a call reads a few rows only: they stay out of the limit.
    weights = [p for n, p in bert.named_parameters() if "embeddings" not in n]

    def encode(ids: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state of each token."""
        return bert(input_ids=ids).last_hidden_state

    SHORT, LONG = CONFIG.bert_batches
    for batch in (SHORT, LONG):
        # Tuning needs enough arithmetic to work on, so it takes part in the long batch.
        tuned = batch == LONG or not ON_GPU
        modes = tuple(m for m in CONFIG.modes if tuned or "autotune" not in m)
        ids = torch.randint(0, bert.config.vocab_size, batch, device=DEVICE)
        with torch.inference_mode():
            bert_limits[batch] = model_limit(encode, (ids,), weights)
            berts[batch] = compare(
                encode, (ids,), modes=modes, tolerance=TOLERANCE[CONFIG.bert_dtype]
            )
        print(f"BERT, {LABEL[CONFIG.bert_dtype]}, {batch[0]} x {batch[1]} tokens")
        display(table(berts[batch], bert_limits[batch]))

# %%
# The figure sets the wall time beside the GPU time. The gap between them is time in
# which the GPU waits. CUDA graphs close this gap; tuning can only shorten the GPU time.

# sphinx_gallery_alt = "Two panels of horizontal bars, a short and a long batch of BERT: wall time and GPU time per call for eager and each mode, with a dashed line at the limit."
if berts:
    fig, axes = plt.subplots(1, 2, figsize=(7, 3.5), layout="constrained", sharey=True)
    names = ("eager", *CONFIG.modes)
    for ax, (batch, arms) in zip(axes, berts.items(), strict=True):
        rows = np.array([names.index(name) for name in arms])
        wall = [summary(arm.wall_s).value * 1e6 for arm in arms.values()]
        ax.barh(rows - 0.18, wall, 0.34, color="#0072B2", label="wall")
        if ON_GPU:
            busy = [summary(arm.gpu_s).value * 1e6 for arm in arms.values()]
            ax.barh(rows + 0.18, busy, 0.34, color="#D55E00", hatch="//", label="GPU")
        limit = bert_limits[batch] * 1e6
        ax.axvline(limit, color="grey", linestyle="--", label="limit")
        ax.set(yticks=range(len(names)), yticklabels=names, xlabel="time per call (µs)")
        ax.set_title(f"{batch[0]} x {batch[1]} tokens")
    axes[0].invert_yaxis()
    axes[1].legend()
    plt.show()

# %%
# Look at the eager bars of both batches on a GPU. If they are about as long although
# one batch holds many times the tokens, the time is that of the launches. The short
# batch is where CUDA graphs gain most. In the long one the GPU has real work to do, so
# what counts is the quality of the kernels.

# %%
# Experiment 4: NumPy, and a better formula
# -----------------------------------------
#
# ``torch.compile`` accepts NumPy functions. It traces them as PyTorch operations and
# takes and returns NumPy arrays. The function below sums, for each row, the products of
# every element of ``x`` with every element of ``y``. NumPy first builds an array of all
# products, which is larger than an input by the length of a row.


def sum_of_products(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return, for each row, the sum of x[j] * y[k] over all pairs j, k."""
    return np.sum(x[:, :, None] * y[:, None, :], axis=(-2, -1))


rng = np.random.default_rng(0)
x, y = (rng.random(CONFIG.pairs, dtype=np.float32) for _ in range(2))
count = x.shape[0] * x.shape[1] ** 2
print(f"inputs {2 * x.nbytes / 1e6:.1f} MB, all products {4 * count / 1e6:,.0f} MB")

# Arrays of NumPy lie in CPU memory, where CUDA graphs have nothing to record.
on_cpu = compare(
    sum_of_products, (x, y), modes=("default",), tolerance=1e-4, on_gpu=False
)
display(table(on_cpu))

# %%
# ``torch.compiler.wrap_numpy`` makes the same NumPy function take tensors, so that the
# data can stay on the GPU. It only works inside ``torch.compile``, so the eager
# baseline is the same formula in PyTorch.


def sum_of_products_torch(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the same sums with PyTorch operations."""
    return torch.sum(x[:, :, None] * y[:, None, :], dim=(-2, -1))


resident = {}
if ON_GPU:
    tensors = tuple(torch.from_numpy(array).to(DEVICE) for array in (x, y))
    resident = compare(
        torch.compiler.wrap_numpy(sum_of_products),
        tensors,
        baseline=sum_of_products_torch,
        tolerance=1e-4,
    )
    display(table(resident))
else:
    print("Without a GPU there is no GPU-resident run to show.")

# %%
# Now look at the mathematics. Every element of a row of ``x`` meets every element of
# that row of ``y``, so the sum of products is the product of sums:
#
# .. math:: \sum_j \sum_k x_j \, y_k = \Bigl(\sum_j x_j\Bigr) \Bigl(\sum_k y_k\Bigr)
#
# The left side needs :math:`n^2` products per row of length :math:`n`, the right side
# one. No mode makes this step: in floating point both sides round differently, and a
# compiler must not assume that this is fine with you.


def product_of_sums(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the same sums by algebra."""
    return np.sum(x, axis=-1) * np.sum(y, axis=-1)


assert relative_error(product_of_sums(x, y), sum_of_products(x, y)) < 1e-4
algebra = compare(
    product_of_sums, (x, y), modes=("default",), tolerance=1e-4, on_gpu=False
)

numpy_arms = {
    "NumPy": on_cpu["eager"],
    "compiled, on the CPU": on_cpu["default"],
    **{f"compiled, on the GPU, {m}": resident[m] for m in resident if m != "eager"},
    "algebra, NumPy": algebra["eager"],
    "algebra, compiled, on the CPU": algebra["default"],
}
rows = {}
for name, arm in numpy_arms.items():
    wall, ratio = summary(arm.wall_s), speedup(arm, numpy_arms["NumPy"])
    rows[name] = {
        "wall (ms)": digits(wall.value * 1e3),
        "wall, quartiles (ms)": spread(wall, 1e3),
        "speed-up over NumPy": f"{digits(ratio.value)} ({spread(ratio)})",
    }
display(pd.DataFrame(rows).T)

# %%
# Compare plain NumPy after the rewrite with the compiled version before it. Look at the
# formula first, and choose a mode after that. For a formula that is already good, see
# whether compiling gains anything on top.
#
# .. note::
#
#    On PyTorch 2.11 do not call a compiled NumPy function under
#    ``torch.inference_mode()``: making its guards fails. ``torch.no_grad()`` works.

# %%
# What bites
# ----------
#
# CUDA graphs are the part of a mode that asks something of your code. The next cells
# run on a CPU as well, where the same calls show no such effect.
#
# **An output belongs to the next call.** A recorded graph writes to fixed addresses, so
# a call overwrites the result of the call before.


def check_output(call: Callable[[torch.Tensor], torch.Tensor]) -> str:
    """Call twice and say what became of the first result."""
    ones, twos = (torch.full((4,), value, device=DEVICE) for value in (1.0, 2.0))
    first = call(ones)
    right = wave(ones)
    second = call(twos)
    try:
        if torch.allclose(first, right):
            return "the first result is intact"
        same = torch.allclose(first, second)
        return f"the first result has changed silently; it equals the second: {same}"
    except RuntimeError as error:
        return f"RuntimeError: {str(error).splitlines()[0][:100]}"


torch.compiler.reset()
replayed = torch.compile(wave, mode="reduce-overhead", dynamic=False)
print("calls 1 and 2:", check_output(replayed))
print("calls 3 and 4:", check_output(replayed))
print("calls 5 and 6:", check_output(replayed))
print("with clone(): ", check_output(lambda x: replayed(x).clone()))

# %%
# While graphs warm up and are recorded, PyTorch marks a lost output, and using it is an
# error. In the steady state there is no such check. Whatever must outlive the next call
# needs a ``.clone()``, outside the compiled function.
#
# **A new shape records again.** Even if one dynamic kernel serves all shapes, a graph
# holds fixed sizes and addresses. Each new shape warms up and records before it
# replays; look at the first calls of each row. A shape seen before is replayed at once.

torch.compiler.reset()
dynamic = torch.compile(wave, mode="reduce-overhead", dynamic=True)
for _ in range(4):
    dynamic(torch.randn(500, device=DEVICE))

rows = {}
for visit, size in enumerate((1000, 2000, 3000, 1000), start=1):
    x = torch.randn(size, device=DEVICE)
    times = [wall_seconds(lambda x=x: dynamic(x)) for _ in range(5)]
    rows[f"{size} elements, visit {visit}"] = {
        f"call {i} (µs)": digits(t * 1e6) for i, t in enumerate(times, start=1)
    }
display(pd.DataFrame(rows).T)

# %%
# Each recording also keeps memory. If lengths vary, pad them to a few sizes, or use
# ``default``.
#
# **Graphs may not run at all.** Some functions cannot be recorded, for example those
# that change an input in place. They still give the right result, without the gain. A
# counter tells.


def step(x: torch.Tensor) -> torch.Tensor:
    """Change the input in place."""
    x.add_(1)
    return torch.sin(x)


def count_skips(fn: Callable[[torch.Tensor], torch.Tensor]) -> int:
    """Return how often CUDA graphs were skipped while fn ran four times."""
    torch.compiler.reset()
    counters.clear()
    compiled = torch.compile(fn, mode="reduce-overhead")
    x = torch.zeros(1000, device=DEVICE)
    for _ in range(4):
        compiled(x)
    return counters["inductor"]["cudagraph_skips"]


print("skips, pure function:    ", count_skips(wave))
print("skips, in-place function:", count_skips(step))

# %%
# On a GPU, zero means that graphs ran. On a CPU both functions are skipped: there is
# nothing to record, and ``reduce-overhead`` is ``default`` under another name.

# %%
# Which mode to choose
# --------------------
#
# First the speed-ups of all experiments side by side, then the calls after which each
# mode has paid for its first call.

results = {f"sin + cos, 2^{e} elements": waves[e] for e in ENDS}
results |= {f"resnet18, {LABEL[d]}": arms for d, arms in resnets.items()}
results |= {f"BERT, {b} x {n} tokens": arms for (b, n), arms in berts.items()}
results["NumPy, on the CPU"] = on_cpu
if resident:
    results["NumPy, on the GPU"] = resident


def overview(cell: Callable[[dict[str, Arm], str], str]) -> pd.DataFrame:
    """Lay out one figure for every experiment and mode."""
    return pd.DataFrame(
        {
            name: {m: cell(arms, m) if m in arms else "–" for m in CONFIG.modes}
            for name, arms in results.items()
        }
    ).T


print("speed-up over eager:")
display(overview(lambda arms, mode: digits(speedup(arms[mode], arms["eager"]).value)))

# %%


def calls_to_pay(arms: dict[str, Arm], mode: str) -> str:
    """Format the break-even of a mode and its spread."""
    calls = break_even(arms, mode)
    return whole_calls(calls) + (f" ({spread(calls)})" if calls else "")


print("break-even against eager, in calls (quartiles):")
display(overview(calls_to_pay))

# %%
# Against eager most modes pay in the end. The sharper question is what a mode adds to
# the cheapest one: after how many calls has its longer first call paid against
# ``default``? "never" means that no saving beyond the noise was seen, "at once" that
# the first call took no more time.


def calls_beyond_default(arms: dict[str, Arm], mode: str) -> str:
    """Format after how many calls a mode has overtaken default."""
    if mode == "default":
        return "–"
    return whole_calls(break_even(arms, mode, base="default"))


print("break-even against default, in calls:")
display(overview(calls_beyond_default))

# %%
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Mode to try
#      - Why
#    * - You do not know yet
#      - ``default``
#      - Fusion, the shortest wait and no duties
#    * - Wall time well above GPU time, fixed shapes
#      - ``reduce-overhead``
#      - Many launches become one
#    * - One large, cheap operation on fresh inputs
#      - ``default``
#      - CUDA graphs would copy the inputs
#    * - Wall time near GPU time, much of it in matrix products
#      - ``max-autotune-no-cudagraphs``
#      - Only better kernels can help
#    * - Launches and matrix products both cost time, in a service that runs for long
#      - ``max-autotune``
#      - Graphs and tuning, for the longest wait
#    * - Shapes that vary
#      - ``default`` with ``dynamic=True``
#      - Each new shape would be recorded again
#    * - A formula that does needless work
#      - a better formula
#      - No mode changes the mathematics
#
# Measure with your own inputs before choosing. :doc:`/how_we_measure` tells more about
# the figures on this page, and :doc:`/faq` answers what is often asked about them.

# %%


def headline(
    case: str, arms: dict[str, Arm], mode: str, limit_s: float | None = None
) -> dict[str, Any]:
    """Return one row for the results page; default stands in for an absent mode."""
    mode = mode if mode in arms else "default"
    share = None
    if limit_s is not None:
        share = summary([limit_s / wall for wall in arms[mode].wall_s])._asdict()
    calls = break_even(arms, mode)
    return {
        "case": f"{case}: {mode}",
        "baseline": "NumPy" if "NumPy" in case else "eager",
        "speedup": speedup(arms[mode], arms["eager"])._asdict(),
        "share_of_limit": share,
        "break_even_calls": calls._asdict() if calls else None,
    }


def publish(rows: list[dict[str, Any]]) -> None:
    """Hand the headline figures to the results page; a notebook shows nothing."""
    if "get_ipython" in globals():
        kind = "application/vnd.recipe-gallery.headline+json"
        display({kind: {"rows": rows}}, raw=True)


large = f"sin + cos, 2^{ENDS[1]} elements"
headlines = [headline(large, waves[ENDS[1]], "default", wave_limit)]
for dtype in list(resnets)[-1:]:
    case = f"resnet18, {LABEL[dtype]}, batch {CONFIG.image[0]}"
    limit = resnet_limits[dtype]
    headlines.append(headline(case, resnets[dtype], "max-autotune", limit))
for batch, mode in zip(berts, ("reduce-overhead", "max-autotune"), strict=False):
    case = f"BERT, {batch[0]} x {batch[1]} tokens"
    headlines.append(headline(case, berts[batch], mode, bert_limits[batch]))
# These rows are against NumPy, also where the data stay on the GPU. The arms come from
# separate comparisons, so their spread is a rough one.
products = {**resident, "eager": on_cpu["eager"]} if resident else on_cpu
place = "GPU" if resident else "CPU"
headlines.append(headline(f"NumPy function, on the {place}", products, "default"))
rewritten = {"eager": on_cpu["eager"], "product of sums": algebra["eager"]}
headlines.append(headline("NumPy rewritten", rewritten, "product of sums"))
publish(headlines)

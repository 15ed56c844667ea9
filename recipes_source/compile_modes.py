"""
Which mode of torch.compile should I choose?
============================================

Choose by what your job waits for: the GPU's memory, or the CPU.

**Start with** ``default``, **and compare GPU times.** ``sin(x) + cos(x)`` of 67 million numbers :claim:`takes
{sin-cos.2-26.default.gpu} of GPU time instead of {sin-cos.2-26.eager.gpu} <sin-cos.2-26.default.gpu < sin-cos.2-26.eager.gpu>`, but four layers of BERT with
64 long texts :measured:`bert.long.default.gpu`, eagerly :measured:`bert.long.eager.gpu`. On one number :claim:`a
call takes longer, {sin-cos.2-0.default.wall} of wall time instead of {sin-cos.2-0.eager.wall}
<sin-cos.2-0.eager.wall < sin-cos.2-0.default.wall>`. **If the GPU waits for the CPU, choose** ``reduce-overhead``. A sentence through these layers
:claim:`takes {bert.short.reduce-overhead.wall}, with default {bert.short.default.wall} <bert.short.reduce-overhead.wall < bert.short.default.wall>`,
eagerly :measured:`bert.short.eager.wall`, which pays after :measured:`bert.short.reduce-overhead.break_even`
calls. **Leave** ``max-autotune`` **for last**: tuned, a matrix product of one row takes
:measured:`product.1.max-autotune-no-cudagraphs.gpu` of GPU time, with ``default``
:measured:`product.1.default.gpu`.

.. code-block:: python
   :caption: First: ``default``

   import torch

   @torch.compile(mode="default")
   def layer(x, weight):
       return torch.nn.functional.gelu(x @ weight)

   x, weight = torch.randn(2, 1024, 1024, device="cuda")
   layer(x, weight)  # compiles
   y = layer(x, weight)

.. code-block:: python
   :caption: The GPU waits: ``reduce-overhead``

   import torch

   @torch.compile(mode="reduce-overhead")
   def layer(x, weight):
       return torch.nn.functional.gelu(x @ weight)

   x, weight = torch.randn(2, 1024, 1024, device="cuda")
   layer(x, weight)  # compiles
   layer(x, weight)  # records a CUDA graph
   y = layer(x, weight).clone()  # the next call overwrites what is not cloned

.. code-block:: python
   :caption: Last: ``max-autotune``

   import torch

   @torch.compile(mode="max-autotune")  # max-autotune-no-cudagraphs records no graph
   def layer(x, weight):
       return torch.nn.functional.gelu(x @ weight)

   x, weight = torch.randn(2, 1024, 1024, device="cuda")
   layer(x, weight)  # times several kernels; for a model that takes minutes
   layer(x, weight)  # records a CUDA graph
   y = layer(x, weight).clone()  # the next call overwrites what is not cloned

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib; torchvision and Transformers for two experiments.
  Modes are stable since 2.0; ``mark_dynamic`` may still change.
- A CUDA GPU of compute capability 7.0 or above, with Triton, for results like these. Elsewhere small
  sizes run on the CPU, with a C++ compiler. A T4 (7.5) has no ``bfloat16`` and runs ``float32``.

.. names::

   :eager:
   :default:
   :reduce-overhead:
   :BERT.short: BERT, one sentence
   :BERT.long: BERT, 64 long texts
   :resnet18.float32: resnet18
   :resnet18.half: resnet18, half precision
   :sin+cos.2^26: sine and cosine
   :elements:
   :limit: time of a copy
   :your function:
   :Dynamo:
   :AOTAutograd:
   :Inductor:
   :Triton, C++:
   :Python:
   :graph and guards:
   :forward and backward:
   :fused kernels:
   :program, cached:
   :sin+cos: sine and cosine
   :numpy: NumPy
   :product: product of matrices
   :algebra: better formula
   :products: all products
   :one thread:
   :threads: all threads
   :count: number
   :intact of 4: intact results of 4
   :as it is:
   :one step: in one step
   :clone: cloned
   :claim.graphs: graphs
   :skipped:
   :product.1: product of matrices, one row
   :tuned:
   :product.16: product of matrices, 16 rows
   :sin+cos.2^18: sine and cosine of 262,144 numbers
   :sin+cos.2^0: sine and cosine of one number
   :sin+cos.2^22: sine and cosine of four million numbers
   :gpu default: on the GPU, default
   :gpu reduce-overhead: on the GPU, reduce-overhead
   :gpu max-autotune-no-cudagraphs: on the GPU, tuned
   :process: one process
   :compiler:
   :start_up: start
   :claim.size-records: without CUDA graphs, and with them
   :claim.graphs-keep-memory: without CUDA graphs, and with them
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
#    * - What you see
#      - Choose
#      - What it gives here
#      - What it costs
#    * - You do not know yet
#      - ``default``; keep it if GPU time falls
#      - GPU time: resnet18 :measured:`resnet18.float32.default.gpu`, eager
#        :measured:`resnet18.float32.eager.gpu`
#      - First call :measured:`resnet18.float32.default.first_call`
#    * - The GPU waits: wall time above 1.2 times GPU time; sizes stay the same
#      - ``reduce-overhead``
#      - Wall time: BERT, a sentence :measured:`bert.short.reduce-overhead.wall`, ``default``
#        :measured:`bert.short.default.wall`
#      - First calls, paid after :measured:`bert.short.reduce-overhead.break_even` calls; outputs to clone;
#        memory
#    * - Element-wise operations in a row, on large inputs
#      - ``default``
#      - GPU time: sine and cosine :claim:`{sin-cos.2-26.default.gpu}, with reduce-overhead
#        {sin-cos.2-26.reduce-overhead.gpu} <sin-cos.2-26.default.gpu < sin-cos.2-26.reduce-overhead.gpu>`
#      - First call :measured:`sin-cos.2-26.default.first_call`, paid after
#        :measured:`sin-cos.2-26.default.break_even` calls
#    * - Matrix products with few rows, as in generating text
#      - No compiling, if there is nothing to fuse
#      - Wall time: one row :measured:`product.1.eager.wall`, ``default`` :measured:`product.1.default.wall`
#      - Nothing
#    * - Sizes vary
#      - ``default`` with ``mark_dynamic``
#      - :claim:`One compilation for all sizes <one-compilation>`
#      - No CUDA graphs
#    * - Tensors of a few numbers
#      - No compiling
#      - Wall time: one number :measured:`sin-cos.2-0.eager.wall`, ``default``
#        :measured:`sin-cos.2-0.default.wall`
#      - Nothing
#    * - A formula with needless work
#      - A better formula first
#      - Wall time: NumPy :measured:`numpy.algebra.numpy.wall`, before
#        :measured:`numpy.products.numpy.wall`
#      - Your time
#
# .. chart:: break-even
#    :cases: BERT.short, BERT.long, resnet18.float32, resnet18.half, sin+cos.2^26
#    :arms: eager, default, reduce-overhead
#
#    Time of all calls of a run, the first one and the start of the compiler included.
#
# What happens at the first call
# ------------------------------
#
# ``torch.compile`` itself only wraps a function. The first call has four stages:
#
# 1. **Dynamo** reads the bytecode, records what is done with tensors as a graph, and notes *guards*, the
#    conditions under which that is valid. What it cannot record breaks the graph.
# 2. **AOTAutograd** adds the backward graph, if gradients are needed, and breaks both down to basic
#    operations.
# 3. **Inductor** fuses operations that would pass data through memory, and plans which memory is used again.
# 4. It **generates code**, Triton for a GPU and C++ for a CPU, and has it compiled.
#
# A cache on disk keeps what stages 2 to 4 made. Each later call checks the guards and runs the program; if
# one fails, the stages run again. Times of first calls leave out the start of the compiler,
# :measured:`process.compiler.start_up` once a process, and are not ranked: ``default`` always compiles first.
#
# .. chart:: stages
#
#    What the first call makes of a function.
#
#    :your function: Python
#    :Dynamo: graph and guards
#    :AOTAutograd: forward and backward
#    :Inductor: fused kernels
#    :Triton, C++: program, cached

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Five boxes from left to right, joined by arrows: a Python function; Dynamo makes a graph and guards of it; AOTAutograd makes forward and backward graphs; Inductor makes fused kernels; Triton or C++ makes a program, which a cache keeps"
from matplotlib import pyplot as plt

stages = {"your function": "Python", "Dynamo": "graph, guards"}
stages |= {"AOTAutograd": "forward,\nbackward", "Inductor": "fused kernels"}
stages |= {"Triton, C++": "program, cached"}
fig, ax = plt.subplots(figsize=(7, 1.2), layout="constrained")
for place, (stage, result) in enumerate(stages.items()):
    box = dict(boxstyle="round,pad=0.5", facecolor="none", edgecolor="#0072B2")
    ax.text(place, 1, stage, ha="center", va="center", bbox=box)
    ax.text(place, 0.55, result, ha="center", va="top")
    if place:
        tip, tail = (place - 0.43, 1), (place - 0.57, 1)
        ax.annotate("", tip, tail, arrowprops=dict(arrowstyle="->"))
ax.set(xlim=(-0.5, len(stages) - 0.5), ylim=(-0.3, 1.4))
ax.axis("off")
plt.show()

# %%
# A mode is a name for settings of stages 3 and 4.

import functools
import gc
import warnings

import numpy as np
import pandas as pd
import torch
from torch._dynamo.utils import counters

TUNED = "max-autotune-no-cudagraphs"
MODES = ["default", "reduce-overhead"]
switches = pd.DataFrame(torch._inductor.list_mode_options()).T
switches = switches.loc[[*MODES, TUNED, "max-autotune"]]
print(switches.dropna(axis="columns", how="all").fillna("–").to_string())

# %%
# - ``triton.cudagraphs``: a *CUDA graph* records the kernels of a call, and the CPU launches them at once.
#   Launching is the overhead that is reduced, not compiling.
# - ``max_autotune`` times several kernels for each matrix product and settings of others;
#   ``coordinate_descent_tuning`` goes on from the best.
#
# The experiment
# --------------
#
# Gradients are off.

# sphinx_gallery_fold = "The harness: how arms are timed"

from _bench import Bench

# %%

bench = Bench()
ON_GPU = bench.device.type == "cuda"
if ON_GPU:
    POWERS, WIDTH, ROWS = (0, 18, 22, 26), 8192, (1, 16)
    IMAGES, LAYERS, LONG, PAIRS = (16, 3, 224, 224), 4, (64, 512), (1024, 640)
else:  # without CUDA graphs, and tuning a model for a CPU takes minutes
    POWERS, WIDTH, ROWS = (0, 9, 14, 18), 256, (1, 4)
    IMAGES, LAYERS, LONG, PAIRS = (2, 3, 32, 32), 1, (2, 16), (64, 32)
    MODES = ["default"]
torch.set_grad_enabled(False)


def ways(fn, *inputs, modes=MODES):
    """Return calls of a function: as it is, and compiled in each mode."""
    kinds = {m: torch.compile(fn, mode=m, dynamic=False) for m in modes}
    return {k: lambda f=f: f(*inputs) for k, f in ({"eager": fn} | kinds).items()}


# %%

# sphinx_gallery_fold = "How results are compared"

torch._inductor.config.max_autotune_report_choices_stats = False
torch._inductor.config.autotune_num_choices_displayed = 0
warnings.filterwarnings("ignore", message="TypedStorage is deprecated")
warnings.filterwarnings("ignore", message="IProgress not found")


def agree(calls, tolerance):
    """Assert that all calls return the same, but for rounding."""
    expected, *others = [torch.as_tensor(call()).double() for call in calls.values()]
    for other in others:
        assert (other.to(expected) - expected).norm() <= tolerance * expected.norm()


def look(case, calls, size, tolerance, **options):
    """Compare for a short time, and assert that all calls return the same."""
    table = bench.compare(case, calls, size, **{"rounds": 6} | options)
    agree(calls, tolerance)
    return table


# %%
# Sine and cosine
# ...............
#
# Eagerly, three kernels go from memory to memory: 28 bytes per number. A fused one reads four bytes and
# writes four. The limit is the time of a copy.
# ``wall`` is the wall time of a call, ``gpu`` the time in kernels, ``cpu`` that of launching them, ``share`` the
# limit divided by ``gpu``.


def wave(x):
    """Add sine and cosine."""
    return torch.sin(x) + torch.cos(x)


x = torch.randn(2 ** POWERS[-1], device=bench.device)
copy = functools.partial(torch.empty_like(x).copy_, x)
bench.warm_up(copy, 0.2)
bandwidth = 2 * x.nbytes / (bench.profile(copy)[0] if ON_GPU else bench.time(copy, 10))
cosine, calls = functools.partial(torch.compile(torch.cos), x), ways(wave, x)
many = bench.compare(
    "sin+cos", calls, f"2^{POWERS[-1]}", 8 * len(x) / bandwidth, cosine
)
agree(calls, 1e-5)

# %%
# Notebooks' tables show one run, and all else the median of all processes.
#
# Now other sizes:

waves = {}
for power in POWERS[:-1]:
    calls = ways(wave, x[: 2**power])
    waves[power] = look("sin+cos", calls, f"2^{power}", 1e-5)
one, waves[POWERS[-1]] = waves[POWERS[0]], many

# %%
# And ``max-autotune-no-cudagraphs`` (*tuned*):

# sphinx_gallery_once = True
calls = ways(wave, x, modes=[TUNED])
tuned = look("tuned", calls, f"2^{POWERS[-1]}", 1e-5)

# %%
# .. chart:: lines
#    :case: sin+cos
#    :arms: eager, default, reduce-overhead
#    :quantities: gpu
#    :sizes: 2^0, 2^18, 2^22, 2^26
#    :x: elements
#    :limit:
#
#    GPU time of sin + cos, by the number of elements.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Log-log plot of the wall time of sin + cos in microseconds against the number of elements: one line each for eager, default and reduce-overhead, and a dashed line for the time of a copy"
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
powers = sorted(waves)
for arm, marker in zip(one.index, "s^o", strict=False):
    times = [1e6 * waves[power].wall[arm] for power in powers]
    ax.loglog([2.0**power for power in powers], times, marker=marker, label=arm)
copies = [8e6 * 2**power / bandwidth for power in powers]
ax.loglog([2.0**power for power in powers], copies, "--", color="grey", label="copy")
ax.set(xlabel="elements", ylabel="wall time (µs)", ylim=(1, None))
ax.legend()
plt.show()

# %%

# sphinx_gallery_plumbing = True


def claim_less(key, less, more, unit="s"):
    bench.claim(key, less < more, f"{less:.4g} {unit} against {more:.4g} {unit}")


claim_less("one-number-loses", one.wall["eager"], one.wall.drop("eager").min())
if ON_GPU:
    claim_less("fusion-gains", many.gpu["default"], many.gpu["eager"])
    claim_less("graphs-copy", many.gpu["default"], many.gpu["reduce-overhead"])
    claim_less("fused-in-one", one.kernels["default"], one.kernels["eager"], "kernels")

# %%
# - One number: :claim:`{sin-cos.2-0.default.kernels} kernel instead of {sin-cos.2-0.eager.kernels}
#   <sin-cos.2-0.default.kernels < sin-cos.2-0.eager.kernels>`, and yet :claim:`a call takes {sin-cos.2-0.default.wall} instead of
#   {sin-cos.2-0.eager.wall} <sin-cos.2-0.eager.wall < sin-cos.2-0.default.wall>`, because the CPU checks guards first. Four million:
#   :measured:`sin-cos.2-22.default.wall`, eagerly :measured:`sin-cos.2-22.eager.wall`.
# - 67 million: ``default`` reaches :measured:`sin-cos.2-26.default.share` of the limit, which counts bytes alone. With
#   ``reduce-overhead`` GPU time is :measured:`sin-cos.2-26.reduce-overhead.gpu`: a CUDA graph reads from a
#   fixed address, so each call copies its input there.
#
# resnet18
# ........
#
# 16 images go through random weights: first in ``float32`` (cuDNN convolves in TF32 unless told otherwise),
# then in ``bfloat16`` with channels last.

# sphinx_gallery_fold = "Whether torchvision is installed"
# sphinx_gallery_once = True
try:
    from torchvision.models import resnet18
except ImportError:
    print("torchvision is not installed: this experiment is left out.")
    resnet18 = None

# %%

# sphinx_gallery_once = True
last = dict(memory_format=torch.channels_last, dtype=bench.dtype)
for name, options in {"float32": {}, "half": last}.items() if resnet18 else ():
    net = resnet18().eval().to(bench.device, **options)
    images = torch.randn(IMAGES, device=bench.device).to(**options)
    look("resnet18", ways(net, images), name, 5e-2)

# %%
# Fused, batch normalization, ReLU and sums make no trips to memory of their own: in ``bfloat16`` kernels run
# for :measured:`resnet18.half.default.gpu`, eagerly for :measured:`resnet18.half.eager.gpu`. Eager calls wait
# for the CPU in both formats.
#
# BERT, a sentence and a batch of long texts
# ..........................................
#
# Four of BERT-base's twelve layers run. Weights and tokens here are random.

# sphinx_gallery_fold = "The model and its sentence: pretrained, if they are on this disk"


def make_bert():
    """Return a BERT and the tokens of a sentence, without a network."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    name, sizes = "google-bert/bert-base-uncased", dict(num_hidden_layers=LAYERS)
    if not ON_GPU:
        sizes |= dict(hidden_size=64, num_attention_heads=2, intermediate_size=256)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=True)
        model = BertModel.from_pretrained(name, local_files_only=True, **sizes)
        ids = tokenizer("Here is a sentence to encode.", return_tensors="pt").input_ids
        print("BERT and its tokenizer: pretrained, from this disk.")
    except (OSError, ValueError, RuntimeError):
        with bench.device:
            model, ids = BertModel(BertConfig(**sizes)), torch.arange(2000, 2008)[None]
        print("BERT: random weights and tokens; pretrained ones are not on this disk.")
    return model.eval().to(bench.device, bench.dtype), ids.to(bench.device)


try:
    bert, sentence = make_bert()
except ImportError:
    print("Transformers is not installed: this experiment is left out.")
    bert = None

# %%


def encode(ids):
    """Return a vector for each token."""
    return bert(input_ids=ids).last_hidden_state


if bert:
    layer = torch.compile(bert.encoder.layer[0])
    start = functools.partial(layer, bert.embeddings(sentence))
    short = look("BERT", ways(encode, sentence), "short", 5e-2, rehearse=start)

# %%

# sphinx_gallery_once = True
if bert:
    texts = torch.randint(1000, 30000, LONG, device=bench.device)
    look("BERT", ways(encode, texts, modes=["default"]), "long", 5e-2)

# %%

# sphinx_gallery_plumbing = True

if ON_GPU and bert:
    claim_less("graphs-gain", *short.wall[["reduce-overhead", "default"]])
    claim_less("short-waits", 1.2 * short.gpu["eager"], short.wall["eager"])
    claim_less("default-waits", 1.2 * short.gpu["default"], short.wall["default"])

# %%
# With one sentence :claim:`the GPU waits: kernels run for {bert.short.eager.gpu} of a call's
# {bert.short.eager.wall} <1.2 * bert.short.eager.gpu < bert.short.eager.wall>`. ``default`` :claim:`leaves it waiting <1.2 * bert.short.default.gpu < bert.short.default.wall>`; with
# CUDA graphs launching takes :measured:`bert.short.reduce-overhead.cpu` instead of
# :measured:`bert.short.default.cpu`.
#
# With 64 texts of 512 tokens the GPU is busy, and compiling is what costs:
# :measured:`bert.long.default.gpu` of GPU time with ``default``, eagerly :measured:`bert.long.eager.gpu`. When
# traced, Transformers hands attention a mask although nothing is padded; FlashAttention takes none, so
# PyTorch computes attention in another way. Leave such a model eager, or compile its layers (not timed here).
#
# Does tuning pay?
# ................
#
# A few rows times 8192 by 8192 numbers: little to compute, much to read. The limit is to read them once, as
# a copy does.

weight = torch.randn(WIDTH, WIDTH, device=bench.device, dtype=bench.dtype)


def tune(rows):
    """Look at the product as it is, compiled, and tuned."""
    x = torch.randn(rows, WIDTH, device=bench.device, dtype=bench.dtype)
    calls = ways(lambda x: x @ weight.T, x, modes=["default", TUNED])
    return look("product", calls, rows, 2e-2, limit=weight.nbytes / bandwidth)


single = tune(ROWS[0])

# %%

# sphinx_gallery_once = True
sixteen = tune(ROWS[1])

# %%

# sphinx_gallery_plumbing = True

if ON_GPU:
    claim_less("tuning-gains-little", 0.9 * single.gpu["default"], single.gpu[TUNED])

# %%
# For one row ``default`` calls cuBLAS, which reaches :measured:`product.1.default.share` of the limit, so
# little is left. Tuned, one row becomes a sum of products in Triton, with settings that are chosen anew
# in each process: :claim:`that saves less than a tenth of the GPU time, if anything <0.9 * product.1.default.gpu < product.1.max-autotune-no-cudagraphs.gpu>`.
#
# NumPy, and a better formula
# ...........................
#
# ``torch.compile`` takes NumPy functions, too. This one normalizes two arrays of 1024 by 640
# ``float64`` numbers, multiplies each number of one with each of the other, row by row, adds up, clips and
# takes the exponential. NumPy stores all 419 million products.


def normalize(x):
    """Give each column mean 0 and standard deviation 1, but leave constant ones."""
    deviation = x.std(axis=0)
    deviation[deviation == 0] = 1
    return (x - x.mean(axis=0)) / deviation


def products(x, y):
    """Add up all products of an element of x with one of y, row by row."""
    return np.sum(x[:, :, None] * y[:, None, :], axis=(-2, -1))


def algebra(x, y):
    """Return the same, as the product of two sums."""
    return x.sum(axis=-1) * y.sum(axis=-1)


def numpy_fn(pair_sums, x, y):
    """Normalize, add up products, clip, take the exponential, regularize."""
    x, y = normalize(x), normalize(y)
    result = np.exp(np.clip(pair_sums(x, y), -1, 1))
    return result + 0.001 * np.sum(x**2 + y**2, axis=1)


# %%
# ``wrap_numpy`` makes it take tensors, which stay on the GPU, where each mode has a turn. NumPy uses one thread
# here and a compiled function all, so one arm is compiled for one thread.

# sphinx_gallery_once = True
arrays = np.random.default_rng(0).standard_normal((2, *PAIRS))
tensors = torch.from_numpy(arrays).to(bench.device)
bench.figure("NumPy", "threads", "count", torch.get_num_threads(), unit="")
print(f"{torch.get_num_threads()} threads")
start = functools.partial(torch.compile(normalize), arrays[0])
for formula in (products, algebra):
    fn = functools.partial(numpy_fn, formula)
    arms = {"numpy": functools.partial(fn, *arrays)}
    if formula is products:
        alone = torch.compile(fn, options={"cpp.threads": 1})
        arms["one thread"] = functools.partial(alone, *arrays)
        arms["threads"] = functools.partial(torch.compile(fn), *arrays)
    if ON_GPU:
        several = [*MODES, TUNED] if formula is products else MODES
        moved = ways(torch.compiler.wrap_numpy(fn), *tensors, modes=several)
        arms |= {f"gpu {mode}": moved[mode] for mode in several}
    look("NumPy", arms, formula.__name__, 1e-6, rehearse=start, rounds=3)

# %%
# Compiled on one thread it takes :measured:`numpy.products.one-thread.wall` instead of
# :measured:`numpy.products.numpy.wall`, because it stores no products. On :measured:`numpy.threads.count` it is
# :measured:`numpy.products.threads.wall`, on the GPU :measured:`numpy.products.gpu-default.wall`, tuned
# :measured:`numpy.products.gpu-max-autotune-no-cudagraphs.wall`. Another formula needs neither the array nor the
# products:
#
# .. math:: \sum_j \sum_k x_j \, y_k = \Bigl(\sum_j x_j\Bigr) \Bigl(\sum_k y_k\Bigr)
#
# With it NumPy takes :measured:`numpy.algebra.numpy.wall`, compiled on the GPU
# :measured:`numpy.algebra.gpu-default.wall`.
#
# Pitfalls
# --------
#
# **An output changes later.** A CUDA graph writes to fixed addresses, so a call overwrites what the one
# before returned. PyTorch raises an error only in the first calls, until the graph is recorded.

ones, twos = torch.ones(4, device=bench.device), torch.full((4,), 2.0).to(bench.device)


def keep(way):
    """Call twice, four times over; say what became of the first output each time."""
    torch.compiler.reset()
    compiled = torch.compile(wave, mode="reduce-overhead")
    for _ in range(4):
        if way == "one step":
            torch.compiler.cudagraph_mark_step_begin()
        first = compiled(ones)
        kept = first.clone() if way == "clone" else first
        compiled(twos)
        try:
            yield "intact" if torch.allclose(kept, wave(ones)) else "overwritten"
        except RuntimeError as error:
            yield str(error).rsplit(". ", 1)[-1].strip()


fates = {way: list(keep(way)) for way in ("as it is", "clone", "one step")}
for way, fate in fates.items():
    print(f"{way}:", *fate, sep="\n  ")

# %%
# Rule: clone outside of the compiled function, or say where a step begins: then :claim:`outputs of all
# calls in a step stay <step-keeps>`.
#
# **Each new size is recorded and keeps memory.** Mark the dimension that varies; ``dynamic=True`` makes all
# dimensions symbolic, and PyTorch advises against it.

# sphinx_gallery_fold = "How first calls and memory of several sizes are measured"
side = 1024 if ON_GPU else 64
tower = torch.nn.Sequential(*[torch.nn.Linear(side, side), torch.nn.GELU()] * 4)
tower.to(bench.device)
tower(torch.ones(2, side, device=bench.device))  # cuBLAS takes its memory


def visit(mode):
    """Call with one size after the other; return graphs, times of first calls, memory."""
    torch.compiler.reset(), gc.collect(), torch.cuda.empty_cache()
    before, graphs = torch.cuda.memory_reserved(), counters["stats"]["unique_graphs"]
    compiled, seen = torch.compile(tower, mode=mode), {}
    for rows in (256, 512, 1024):
        batch = torch.randn(rows, side, device=bench.device)
        torch._dynamo.mark_dynamic(batch, 0)
        call = functools.partial(compiled, batch)
        seen[f"{rows} rows, three calls (ms)"] = 3e3 * bench.time(call, 3)
    del batch, call
    torch.cuda.empty_cache()
    seen["graphs"] = counters["stats"]["unique_graphs"] - graphs
    seen["memory (MB)"] = (torch.cuda.memory_reserved() - before) / 1e6
    return seen


# %%

sizes = pd.DataFrame({mode: visit(mode) for mode in MODES})
print(sizes)

# %%
# Marked, :claim:`one compilation serves all sizes <one-compilation>`, but :claim:`a graph is recorded
# for each <size-records>` and :claim:`keeps its memory <graphs-keep-memory>`. Rule: pad to a few sizes, or take
# ``default``.
#
# **Graphs are skipped.** A function that changes an input in place (weights and buffers may change), or uses
# the CPU, is not recorded. Its result is right, the gain is gone.


def in_place(x):
    """Change the input."""
    return x.sin_()


torch.compiler.reset()
skips = {}
for fn in (wave, in_place):
    before = counters["inductor"]["cudagraph_skips"]
    compiled = torch.compile(fn, mode="reduce-overhead")
    compiled(ones), compiled(ones)
    skips[fn.__name__] = counters["inductor"]["cudagraph_skips"] - before
print("skipped:", skips)

# %%

# sphinx_gallery_plumbing = True

found = sizes.loc["graphs"]
bench.claim("one-compilation", (found == 1).all(), f"graphs: {found.to_dict()}")
if ON_GPU:
    kept = fates["one step"] == fates["clone"] == 4 * ["intact"]
    lost = "intact" not in fates["as it is"]
    counts = {way: fate.count("intact") for way, fate in fates.items()}
    bench.claim("step-keeps", kept and lost, f"intact of 4: {counts}")
    memory = 1e6 * sizes.loc["memory (MB)"]
    kept = memory["reduce-overhead"]  # by default it may be 0
    bench.figure("sizes", "reduce-overhead", "memory", max(kept, 0), unit="B")
    claim_less("graphs-keep-memory", memory["default"], kept, "B")
    again = sizes.loc["1024 rows, three calls (ms)"]
    claim_less("size-records", *again[["default", "reduce-overhead"]], "ms")
    found = skips["wave"] == 0 and skips["in_place"] > 0
    bench.claim("in-place-skips", found, f"skipped: {skips}")

# %%
# Rule: count the skips. :claim:`The function that changes its input is skipped, the other is not
# <in-place-skips>`. ``TORCH_LOGS=perf_hints`` tells the reason.
#
# **When it fails.**
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - What to do
#    * - A wrong result, or an error in the compiler
#      - The lines below: is it Dynamo (``eager``), AOTAutograd or Inductor?
#    * - A graph breaks
#      - ``fullgraph=True`` tells where; ``TORCH_LOGS=graph_breaks`` lists all
#    * - It compiles again and again
#      - ``TORCH_LOGS=recompiles`` names the guard; mark what varies
#    * - "Not enough SMs"
#      - Below 68 multiprocessors products are not tuned: ``default``
#    * - Compiling takes minutes
#      - ``default``, or :doc:`/recipes/regional_compilation`

# sphinx_gallery_once = True
for backend in ("eager", "aot_eager", "inductor"):
    torch.compiler.reset()
    result = torch.compile(wave, backend=backend)(ones)
    print(backend, "is right:", torch.allclose(result, wave(ones)))

# %%
# What is not measured here, and where to go on
# ---------------------------------------------
#
# Training, tuned convolutions and models, several GPUs. See also `varying sizes
# <https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html>`__ and `CUDA graph trees
# <https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html>`__;
# :doc:`/recipes/where_time_goes` tells what your job waits for.
#
# This recipe builds on the `chapter on PyTorch 2
# <https://tingsongyu.github.io/PyTorch-Tutorial-2nd/chapter-1/1.7-PyTorch2.0.html>`__ of PyTorch实用教程(第二版)
# by `TingsongYu <https://github.com/TingsongYu/PyTorch-Tutorial-2nd>`__. It reports about 90 % saved with NumPy, a
# speed-up of 10; here it is :measured:`numpy.products.one-thread.speedup` on one thread,
# :measured:`numpy.products.threads.speedup` on all.

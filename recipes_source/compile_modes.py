"""
Which mode of torch.compile should I choose?
============================================

Choose by what your job waits for: the GPU, or the CPU that launches its work.

.. answer::

   **Start with** ``default``; **then let the GPU's busy share decide.** Below 80 %, use ``reduce-overhead`` or capture a
   CUDA graph yourself. From 95 % on, stay with ``default``; if it makes the model slow, compile layer by layer. Leave
   ``max-autotune`` for last: tuning takes long and may not help. Compile only long runs: compiler startup costs
   :measured:`process.compiler.start_up` per process.

   .. chart:: busy
      :case: BERT, one sentence
      :only: not compiled, default, reduce-overhead
      :best: reduce-overhead
      :hero:

      One sentence through two layers of BERT

   - :measured:`bert-one-sentence.reduce-overhead.speedup` speed-up, against eager
   - :measured:`bert-one-sentence.reduce-overhead.first_call` for the first call, plus startup
   - :measured:`bert-one-sentence.reduce-overhead.break_even` calls to break even, startup included
   - :measured:`bert-one-sentence.reduce-overhead.kept` kept by the graph; each call overwrites the last output

   .. code-block:: diff
      :caption: What changes

      - y = model(x)
      + model.compile(mode="reduce-overhead")
      + y = model(x).clone()

   .. code-block:: python
      :caption: First: ``default``

      import torch
      model = torch.nn.Sequential(
          torch.nn.Linear(1024, 1024), torch.nn.GELU()
      ).to("cuda", torch.bfloat16)
      model.compile(mode="default")
      x = torch.randn(64, 1024).to("cuda", torch.bfloat16)
      with torch.no_grad():
          model(x)  # compiles
          y = model(x)

   .. code-block:: python
      :caption: The GPU waits: ``reduce-overhead``

      import torch
      model = torch.nn.Sequential(
          torch.nn.Linear(1024, 1024), torch.nn.GELU()
      ).to("cuda", torch.bfloat16)
      model.compile(mode="reduce-overhead")
      x = torch.randn(64, 1024).to("cuda", torch.bfloat16)
      with torch.no_grad():
          model(x)  # compiles
          model(x)  # records a CUDA graph
          y = model(x).clone()  # the next call overwrites what is not cloned

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as :doc:`look </recipes/where_time_goes>` prints it
     - ``reduce-overhead``, or a manual graph: :doc:`CUDA graphs </recipes/cuda_graphs>`
   * - GPU busy above 95 %
     - ``default``: a graph has nothing to remove
   * - With ``default``, the GPU time goes up
     - Compile layer by layer: :doc:`First call </recipes/regional_compilation>`
   * - Element-wise operations on large inputs
     - ``default``, not ``reduce-overhead``
   * - One matrix product and nothing else
     - Do not compile

**In your library**

.. libraries::

   - **Transformers**: ``generate`` with ``cache_implementation="static"`` compiles by itself, with
     ``reduce-overhead``. For the ``Trainer``: ``TrainingArguments(torch_compile=True, torch_compile_mode="default")``,
     which compiles the whole model; for its layers, see :doc:`/recipes/regional_compilation`.
   - **Diffusers**: ``pipe.transformer.compile_repeated_blocks(mode="default")``. Do not use ``reduce-overhead`` here:
     one block would overwrite another's output, unless ``cudagraph_mark_step_begin()`` comes before each call of the
     model.
   - **Accelerate**: ``TorchDynamoPlugin(backend="inductor", mode="default")``; ``mode="reduce-overhead"`` if the GPU
     waits for the CPU and the same sizes repeat. If sizes vary and ``accelerate launch`` starts the
     job, pass ``--dynamo_use_dynamic``; otherwise each size is compiled.
   - **Lightning**: ``torch.compile(module, mode="default")`` before ``trainer.fit``.

**What you need**

- PyTorch 2.11 or newer, and pandas; torchvision, and Transformers 5.18 or newer, for two of the
  experiments. Modes are stable since PyTorch 2.0.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton. On other machines the recipe runs small sizes on the CPU, and needs a C++ compiler. A T4 (7.5)
  has no ``bfloat16`` and runs ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What to choose
# --------------
#
# A **variant** is one way to do the same work. All cases run without gradients, as in inference. The start of the
# compiler takes :measured:`process.compiler.start_up`, once per process. Add it to the first-call times of this table.
# If the model repeats a block, compile the block. Compile the whole model if nothing repeats, or if the first call of
# the whole model is short enough.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Choose
#      - What it gives
#      - What it costs
#    * - You do not know what your job waits for
#      - ``default``; keep it if the wall time falls
#      - Sine and cosine: the GPU time is :measured:`sin-cos.default.gpu`; without compiling it is
#        :measured:`sin-cos.not-compiled.gpu`
#      - The first call takes :measured:`sin-cos.default.first_call`. :claim:`A call needs less memory
#        <sin-cos.default.memory < sin-cos.not-compiled.memory>`: :measured:`sin-cos.default.memory`. Without compiling
#        it needs :measured:`sin-cos.not-compiled.memory`. After :measured:`sin-cos.default.break_even` calls it has
#        saved more than the start took
#    * - With ``default``, the model takes more GPU time, as BERT with long texts does in PyTorch 2.11
#      - Compile layer by layer: ``layer.compile()`` for each layer. Then look for the cause in the names of kernels
#      - BERT, 64 long texts: the GPU time is :measured:`bert-long-texts.layer-by-layer.gpu`. For the whole model,
#        compiled, it is :measured:`bert-long-texts.default.gpu`; without compiling it is
#        :measured:`bert-long-texts.not-compiled.gpu`
#      - The first call takes :measured:`bert-long-texts.layer-by-layer.first_call`. A call needs
#        :measured:`bert-long-texts.layer-by-layer.memory` of memory; for the whole model, compiled, it needs
#        :measured:`bert-long-texts.default.memory`
#    * - The GPU waits for the CPU (it is busy for less than 80 % of the time), and the same sizes repeat
#      - A CUDA graph: by hand if sizes are few and known and nothing in the model needs the CPU
#        (:doc:`/recipes/cuda_graphs`), otherwise ``reduce-overhead``. Up to PyTorch 2.14, do not use both in one
#        process
#      - BERT, one sentence, with ``reduce-overhead``: the wall time is
#        :measured:`bert-one-sentence.reduce-overhead.wall`; with ``default`` it is
#        :measured:`bert-one-sentence.default.wall`
#      - With ``reduce-overhead``, the first call takes :measured:`bert-one-sentence.reduce-overhead.first_call`. After
#        :measured:`bert-one-sentence.reduce-overhead.break_even` calls, the run has won back the compiler's start and
#        this call. A graph by hand needs no compiler. The graph keeps its memory between calls. Each call overwrites the
#        output of the one before, unless you clone it
#    * - Element-wise operations follow each other, on large inputs
#      - ``default``, not ``reduce-overhead``
#      - Sine and cosine: the GPU time is :measured:`sin-cos.default.gpu`; with ``reduce-overhead`` it is
#        :measured:`sin-cos.reduce-overhead.gpu`
#      - The first call takes :measured:`sin-cos.default.first_call`
#    * - Large matrix products or convolutions take most of the time, and you have tried the rest
#      - ``max-autotune``
#      - Perhaps nothing: see "Does tuning pay?" below
#      - The first call tries many kernels, and takes time and memory for that: many seconds for one layer (see below),
#        and far more for a model
#    * - A matrix product and nothing else
#      - No compiling
#      - One row: the wall time is :measured:`a-product.not-compiled.wall`; with ``default`` it is
#        :measured:`a-product.default.wall`
#      - Nothing
#    * - Sizes vary
#      - ``default``, usually without ``mark_dynamic``. If the GPU waits for the CPU, see :doc:`/recipes/varying_sizes`
#      - Five sizes take :measured:`five-sizes.nothing-marked.compilations` compilations
#      - The second size is compiled once more
#    * - The model writes text, one token after the other
#      - A static cache and a CUDA graph: :doc:`/recipes/token_generation`
#      - Recorded by hand, a token takes :measured:`token_generation:one-token.1.graph-by-hand.wall`; without a graph it
#        takes :measured:`token_generation:one-token.1.without-compiling.wall`
#      - Recorded by hand, the graph is ready after :measured:`token_generation:one-token.1.graph-by-hand.ready`. With
#        ``reduce-overhead``, it is ready after :measured:`token_generation:one-token.1.reduce-overhead.ready`, once the
#        compiler has started. The batch size and the length of the cache are fixed, and the cache takes its memory from
#        the start
#
# Conditions and costs
# --------------------
#
# **The GPU waits for the CPU** if it is busy for less than 80 % of the time. ``look`` prints this:
# :doc:`/recipes/where_time_goes`. From 95 % on, the GPU is busy, and a graph has nothing to remove. In
# training, fuse the optimizer first: :doc:`/recipes/compiling_optimizer`. If a block repeats, compile the block:
# :doc:`/recipes/regional_compilation`. A part needs the CPU if it reads a value back (``.item()``) or computes on the
# CPU.
#
# **What it costs:** you wait once per process. The start of the compiler takes :measured:`process.compiler.start_up`.
# The first call comes on top: for a sentence through two layers of BERT, with ``default``, it takes
# :measured:`bert-one-sentence.default.first_call`. After :measured:`bert-one-sentence.default.break_even` calls, the
# run has won back both waits. This was measured without gradients: in training, backward is compiled, too, and you
# wait longer. In your job, add the seconds of the compiler's start and of the first calls, and divide the sum by the
# seconds saved per call.
#
# With ``default``, a model often needs less memory, but it can need more. With long texts, BERT takes
# :measured:`bert-long-texts.default.memory`; without compiling, it takes
# :measured:`bert-long-texts.not-compiled.memory`. If a model takes more when it is compiled, compile it layer by
# layer.
#
# With ``reduce-overhead``, the first call for the same input takes
# :measured:`bert-one-sentence.reduce-overhead.first_call`. After
# :measured:`bert-one-sentence.reduce-overhead.break_even` calls, the run has won back the compiler's start and this
# call. A CUDA graph keeps its memory between calls, and each call overwrites the output of the one before. A CUDA
# graph recorded by hand needs no compiler: :doc:`/recipes/cuda_graphs`. Up to PyTorch 2.14, do not use both kinds of
# graphs in one process.
#
# Results in words
# ----------------
#
# ``sin(x) + cos(x)`` of 64 million numbers takes :measured:`sin-cos.not-compiled.gpu` of GPU time without
# compiling. With ``default``, :claim:`it takes less than half of that <2 * sin-cos.default.gpu <
# sin-cos.not-compiled.gpu>`: :measured:`sin-cos.default.gpu`.
#
# A sentence through two layers of BERT takes :measured:`bert-one-sentence.not-compiled.wall` of wall time
# without compiling, and :claim:`the GPU waits for the CPU <1.25 * bert-one-sentence.not-compiled.gpu <
# bert-one-sentence.not-compiled.wall>`. With ``default`` it takes :measured:`bert-one-sentence.default.wall`.
# With ``reduce-overhead`` :claim:`it takes less <bert-one-sentence.reduce-overhead.wall <
# bert-one-sentence.default.wall>`: :measured:`bert-one-sentence.reduce-overhead.wall`.
#
# Not everything should be compiled. For a matrix product with one row, the CPU is busy for
# :measured:`a-product.not-compiled.cpu` without compiling. Compiled, :claim:`it is busy for longer
# <a-product.not-compiled.cpu < a-product.default.cpu>`: for :measured:`a-product.default.cpu`.
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

import copy
import functools
import warnings

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_grad_enabled(False)
if bench.gpu:
    NUMBERS, LAYERS, TEXTS = 64_000_000, 2, (64, 512)
    PRODUCT, LARGE = (1, 8192), (8192, 4096)  # rows, width
    IMAGES, PAIRS = (16, 3, 224, 224), (64, 640)
else:
    NUMBERS, LAYERS, TEXTS = 100_000, 1, (2, 16)
    PRODUCT, LARGE = (1, 256), (64, 64)
    IMAGES, PAIRS = (2, 3, 32, 32), (32, 64)

options = dict(device=bench.device, dtype=bench.dtype)
ones = torch.ones(64, device=bench.device)

# %%
# Each case is called without compiling, and compiled in several modes. ``wall`` is the wall time of a call and
# ``gpu`` the time in kernels and copies. ``cpu`` is the time in which the CPU launches them. ``share`` is the
# time that the work takes at best, divided by ``gpu``. Tables, charts and text show the median of all
# processes. What is printed, and the tables of the notebook, show one run.

# sphinx_gallery_fold = "What the compiler would print besides"
torch._inductor.config.max_autotune_report_choices_stats = False
torch._inductor.config.autotune_num_choices_displayed = 0
for message in ("TypedStorage is deprecated", "IProgress not found"):
    warnings.filterwarnings("ignore", message=message)

# %%


def in_modes(function, *inputs, modes=("default", "reduce-overhead")):
    """Return variants of a call: not compiled, and compiled in each mode."""
    variants = {"not compiled": functools.partial(function, *inputs)}
    for mode in modes:
        compiled = torch.compile(function, mode=mode)
        variants[mode] = functools.partial(compiled, *inputs)
    return variants


def wave(x):
    """Add sine and cosine."""
    return torch.sin(x) + torch.cos(x)


for call in in_modes(torch.cos, ones).values():
    call(), call(), call()  # loads what compiling and CUDA graphs need

# %%
# Pitfalls
# --------
#
# **A model in bfloat16 computes in float32.** PyTorch has fast kernels for attention, but not for every mask and
# every type. If none fits, it computes the formula step by step, in ``float32``. With PyTorch 2.11, this happens
# to BERT with long texts, below. The warning ``TensorFloat32 tensor cores ... available but not enabled`` is the first sign. Then look
# at the names of kernels in a profile, before and after compiling.

# sphinx_gallery_fold = "How kernels are listed, and two ways to compute attention"
# sphinx_gallery_once = True
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile


def list_events(call):
    """Return what the CPU does to launch a call, and what the GPU does then."""
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
        call()
        bench.synchronize()
    return report.events()


def list_kernels(call):
    """Return the names of a call's kernels."""
    return [e.name for e in list_events(call) if e.device_type.name == "CUDA"]


def attend():
    """Return attention, by whatever kernel PyTorch chooses."""
    return nn.functional.scaled_dot_product_attention(query, query, query)


def attend_by_formula():
    """Return the same, as PyTorch computes it if no kernel of its own fits."""
    with sdpa_kernel(SDPBackend.MATH):
        return attend()


# %%

# sphinx_gallery_once = True
if bench.gpu:
    query = torch.randn(16, 12, 512, 64, **options)
    torch.testing.assert_close(attend_by_formula(), attend(), rtol=0.02, atol=0.02)
    for attention in (attend, attend_by_formula):
        for name in list_kernels(attention):
            print(f"{attention.__name__}: {name[:60]}")

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

if bench.gpu:
    for variant, call in {"fast": attend, "formula": attend_by_formula}.items():
        slow = sum("f32f32" in name or "sgemm" in name for name in list_kernels(call))
        bench.measure("attention", variant, "float32_kernels", slow, unit="")
        bench.measure("attention", variant, "gpu", bench.profile(call, 20)[0])

# %%
# By the formula, :claim:`attention takes more than ten times the GPU time <10 * attention.fast.gpu <
# attention.formula.gpu>`: :measured:`attention.formula.gpu`. The fast kernel takes
# :measured:`attention.fast.gpu`. Rule: in a model in ``bfloat16``, look for ``f32f32`` or ``sgemm`` in the names
# of kernels; they mean that something fell back to ``float32``.
#
# **It compiles again for another size.** When a second size comes, PyTorch compiles once more, now for any
# size. This code serves all further sizes. Only sizes 0 and 1 get code of their own.

# sphinx_gallery_fold = "How compilations are counted"


class Counter:
    """A compiler that counts the graphs it is given, and generates no code."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph.forward


def count_compilations(mark=False, **options):
    """Return how often five sizes are compiled."""
    torch.compiler.reset()
    counter = Counter()
    run = torch.compile(wave, backend=counter, **options)
    for rows in (8, 16, 24, 32, 40):
        batch = torch.ones(rows, 8, device=bench.device)
        if mark:
            torch._dynamo.mark_dynamic(batch, 0)
        run(batch)
    return counter.graphs


# %%

# sphinx_gallery_fold = "Count the compilations of five sizes"
compilations = {
    "nothing marked": count_compilations(),
    "mark_dynamic": count_compilations(mark=True),
    "dynamic=False": count_compilations(dynamic=False),
}
print(compilations)

# %%

# sphinx_gallery_plumbing = True

for name, count in compilations.items():
    bench.measure("five sizes", name, "compilations", count, unit="")

# %%
# With nothing marked, five sizes take :measured:`five-sizes.nothing-marked.compilations` compilations. With
# ``mark_dynamic``, :claim:`they take fewer <five-sizes.mark_dynamic.compilations <
# five-sizes.nothing-marked.compilations>`: :measured:`five-sizes.mark_dynamic.compilations`. With ``dynamic=False``,
# :claim:`each size is compiled <five-sizes.nothing-marked.compilations < five-sizes.dynamic-false.compilations>`. Rule:
# usually, do not call ``mark_dynamic``. If you cannot wait for one more compilation, mark the dimension. Marking fails
# if the code uses the size as a number. With CUDA graphs, every size is recorded, and its graph keeps memory.
# :doc:`/recipes/varying_sizes` measures ``mark_dynamic``, CUDA graphs, and padding to a few sizes.
#
# **Parts of a function stay outside of the CUDA graph.** A function that uses the CPU in between is cut into
# several graphs. A function that changes its input gets none. (Weights and buffers may change.) In both cases the
# result is right, so only a profile shows how many graphs a call launches.

# sphinx_gallery_fold = "How graphs are counted"
# sphinx_gallery_once = True


def in_place(x):
    """Change the input."""
    return x.sin_()


def through_cpu(x):
    """Use the CPU in between."""
    return torch.cos(torch.sin(x).cpu().to(x.device))


def count_graphs(function):
    """Return how many CUDA graphs a call launches."""
    torch.compiler.reset()
    run = torch.compile(function, mode="reduce-overhead")
    for _ in range(3):  # compiles, records, and replays
        run(ones)
    events = list_events(lambda: run(ones))
    return sum(event.name.startswith("cudaGraphLaunch") for event in events)


# %%

# sphinx_gallery_fold = "Count the CUDA graphs of three functions"
# sphinx_gallery_once = True
if bench.gpu:
    graphs = {
        "all on the GPU": count_graphs(wave),
        "through the CPU": count_graphs(through_cpu),
        "changes its input": count_graphs(in_place),
    }
    print(graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

if bench.gpu:
    for name, count in graphs.items():
        bench.measure("CUDA graphs of a call", name, "graphs", count, unit="")

# %%
# A function that stays on the GPU launches one graph per call. Through the CPU, it :claim:`launches more than
# one <cuda-graphs-of-a-call.all-on-the-gpu.graphs < cuda-graphs-of-a-call.through-the-cpu.graphs>`:
# :measured:`cuda-graphs-of-a-call.through-the-cpu.graphs`. If it changes its input, :claim:`it launches none
# <cuda-graphs-of-a-call.changes-its-input.graphs < cuda-graphs-of-a-call.all-on-the-gpu.graphs>`. Rule: count
# ``cudaGraphLaunch`` in a profile. ``TORCH_LOGS=perf_hints`` names the reason.
#
# **Something fails.** If it fails with ``backend="eager"``, the compiler cannot follow the Python code. If it
# fails with ``"aot_eager"`` but not with ``"eager"``, AOTAutograd fails. If it fails only with ``"inductor"``,
# generating code fails. ``TORCH_LOGS=recompiles,graph_breaks`` prints what is compiled again or left out.
# PyTorch tunes matrix products only on a GPU of at least 68 multiprocessors. On others it warns "Not enough SMs".

# sphinx_gallery_fold = "Try one backend after the other"
# sphinx_gallery_once = True
for backend in ("eager", "aot_eager", "inductor"):
    torch.compiler.reset()
    result = torch.compile(wave, backend=backend)(ones)
    print(backend, "is right:", torch.allclose(result, wave(ones)))

# %%
# Why modes differ
# ----------------
#
# Without compiling, the CPU launches one kernel for each operation. Here, an eager operation on a small tensor
# takes the CPU :measured:`process.eager-operation.launch_cost`. If a kernel ends before the next one is
# launched, **the GPU waits for the CPU**. This is so if it is busy for less than 80 % of the time.
#
# - ``default`` fuses operations: intermediate results stay inside of a kernel and do not pass through memory.
#   In each call, the CPU first checks the :term:`guards <guard>`, the conditions under which the code is valid.
# - ``reduce-overhead`` has the same kernels, and records their launches as a :term:`CUDA graph`. The CPU then
#   launches all of them with one call. The overhead that is reduced is launching, not compiling. A graph reads
#   its inputs at fixed addresses, so each call copies them there.
# - ``max-autotune`` has CUDA graphs, too. It also times several kernels for each matrix product and each
#   convolution, and several settings of the other kernels, and takes the best.
#   ``max-autotune-no-cudagraphs`` does this without CUDA graphs.
#
# The figure shows one call of four small layers in each mode: what the CPU does to launch it, and the kernels of the
# GPU.
#
# .. spans:: one call
#
#    One call, not compiled and compiled in two modes: launches of the CPU, and kernels of the GPU.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True


def make_small_layers(width=256):
    """Return four layers that are small, so that the GPU is done sooner than the CPU."""
    blocks = []
    for _ in range(4):
        blocks += [nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width)]
    return nn.Sequential(*blocks).to(bench.device, bench.dtype)


torch.compiler.reset()
calls = in_modes(make_small_layers(), torch.randn(8, 256, **options))
lanes = {}
for name, call in calls.items():
    for _ in range(10):
        call()
    for processor, spans in bench.spans_of(call).items():
        lanes[f"{processor}, {name}"] = spans
bench.publish_spans("one call", lanes)

# %%
# ``look`` tells whether the GPU waits. These are lines of one run.

# sphinx_gallery_fold = "Look at each mode"
# sphinx_gallery_once = True
for name, call in calls.items():
    print(name, end=": ")
    look(call)

# %%
# ``torch.compile`` only wraps a function. The first call compiles it: Dynamo follows the Python code and makes
# a graph of it, AOTAutograd breaks the graph down to basic operations, and Inductor makes kernels of these.
#
# A mode is a name for settings of Inductor. A dash means that the setting is off.

# sphinx_gallery_fold = "The settings of all modes"
# sphinx_gallery_once = True
settings = pd.DataFrame(torch._inductor.list_mode_options()).T
settings = settings.drop(index="lite", errors="ignore")
print(settings.dropna(axis="columns", how="all").fillna("–").to_string())

# %%
# Element-wise operations
# -----------------------
#
# Without compiling, sine, cosine and sum are three kernels, and each of them reads from memory and writes to
# memory. They move 28 bytes per number. One fused kernel reads four bytes and writes four. The limit is the
# time in which the GPU copies these eight bytes.

x = torch.randn(NUMBERS, device=bench.device)
elements = bench.compare(
    "sin + cos",
    in_modes(wave, x),
    limit=2 * x.nbytes / bench.bandwidth,
    tolerance=1e-5,
    rehearse=False,
)

# %%
# .. chart:: gpu
#    :case: sin + cos
#
#    GPU time of sine and cosine of 64 million numbers, and the limit.
#
# - With ``default``, a call :claim:`launches fewer kernels <sin-cos.default.kernels <
#   sin-cos.not-compiled.kernels>` and reaches :measured:`sin-cos.default.share` of the limit.
# - With ``reduce-overhead``, :claim:`the GPU time is longer <sin-cos.default.gpu <
#   sin-cos.reduce-overhead.gpu>`, because each call also copies the input to the address that the graph reads.
#   A weight of a model is not copied.
#
# BERT, one sentence
# ------------------
#
# Two of the twelve layers of BERT-base run in ``bfloat16``, with random weights. The input has eight tokens.

# sphinx_gallery_fold = "BERT with random weights"
bert = None
try:
    from transformers import BertConfig, BertModel

    small = dict(hidden_size=64, num_attention_heads=2, intermediate_size=256)
    config = BertConfig(num_hidden_layers=LAYERS, **({} if bench.gpu else small))
    torch.manual_seed(0)
    bert = BertModel(config).eval().to(bench.device, bench.dtype)
except (ImportError, RuntimeError) as error:
    # RuntimeError: a torchvision of another release than PyTorch
    print(f"The experiment with BERT is left out: {error.__cause__ or error}")

# %%


def encode(ids):
    """Return one vector per text: the mean over its tokens."""
    return bert(input_ids=ids).last_hidden_state.mean(1)


if bert:
    sentence = torch.arange(2000, 2008, device=bench.device)[None]
    torch.compile(bert.encoder.layer[0])(bert.embeddings(sentence))  # rehearses
    short_calls = in_modes(encode, sentence)
    short = bench.compare(
        "BERT, one sentence", short_calls, tolerance=0.1, rehearse=False
    )

# %%
# .. chart:: wall
#    :case: BERT, one sentence
#
#    Wall time of one sentence through two layers of BERT.
#
# - With ``default``, :claim:`the GPU still waits for the CPU <1.25 * bert-one-sentence.default.gpu <
#   bert-one-sentence.default.wall>`. Its kernels run for :measured:`bert-one-sentence.default.gpu`.
# - With ``reduce-overhead``, the CPU is busy for :measured:`bert-one-sentence.reduce-overhead.cpu` per call;
#   with ``default`` it is busy for :measured:`bert-one-sentence.default.cpu`.
# - A graph keeps its memory from call to call. With a model and an input as small as these, that is little.
#
# Are results the same?
# ---------------------
#
# Not bit by bit. Without compiling, each operation rounds its result to ``bfloat16``. A compiled kernel does several
# operations in ``float32``, and rounds once at the end. With ``emulate_precision_casts``, the compiler rounds as often as
# PyTorch does without it. How far are the results from those in ``float64``, and from those without compiling? The
# greatest differences were measured in one process, in a chain of twelve element-wise operations whose results lie
# between -1 and 1, and in BERT, whose vectors have numbers around 1.

# sphinx_gallery_fold = "How far results are from float64"
# sphinx_gallery_once = True
EMULATED = {"emulate_precision_casts": True}


def chain(x):
    """Return a number of element-wise operations, which the compiler fuses."""
    for _ in range(4):
        x = torch.sin(1.1 * x + 0.3)
    return x


def greatest_difference(result, expected):
    """Return the greatest difference between two results."""
    return (result.double() - expected.double()).abs().max().item()


def compare_results(case, calls, exact):
    """Publish how far results are from exact ones, and from those without compiling."""
    results = {name: call().clone() for name, call in calls.items()}
    differences = {}
    for name, result in results.items():
        error = greatest_difference(result, exact)
        change = greatest_difference(result, results["not compiled"])
        bench.measure(case, name, "error", error, unit="")
        bench.measure(case, name, "difference", change, unit="")
        differences[name] = {"from float64": error, "from not compiled": change}
    print(pd.DataFrame(differences).T.rename_axis(columns=case).to_string())


# %%

# sphinx_gallery_once = True
x = torch.randn(4096, 64, device=bench.device).to(torch.bfloat16)
chain_calls = in_modes(chain, x, modes=["default"])
emulated = torch.compile(chain, options=dict(EMULATED))
chain_calls["emulate_precision_casts"] = functools.partial(emulated, x)
compare_results("twelve operations", chain_calls, chain(x.double()))

if bert:
    bert_calls = {name: short_calls[name] for name in ("not compiled", "default")}
    emulated = torch.compile(encode, options=dict(EMULATED))
    bert_calls["emulate_precision_casts"] = functools.partial(emulated, sentence)
    exact_bert = copy.deepcopy(bert).double()
    exact = exact_bert(input_ids=sentence).last_hidden_state.mean(1)
    compare_results("BERT, rounding", bert_calls, exact)

# %%
# - In the chain, :claim:`the compiled result is nearer to that in float64 <twelve-operations.default.error <
#   twelve-operations.not-compiled.error>`: the greatest difference is :measured:`twelve-operations.default.error`. Without
#   compiling, it is :measured:`twelve-operations.not-compiled.error`.
# - With ``emulate_precision_casts``, the greatest difference from the result without compiling is
#   :measured:`twelve-operations.emulate_precision_casts.difference`; with ``default``, it is
#   :measured:`twelve-operations.default.difference`.
# - The vectors of BERT are off by :measured:`bert-rounding.default.error` with ``default``, and by
#   :measured:`bert-rounding.not-compiled.error` without compiling. The two differ by
#   :measured:`bert-rounding.default.difference`.
#
# Rule: compare a compiled result with one in ``float64`` or ``float32``, and not only with the result without compiling:
# the compiled one may be the better one. If you need rounding as without compiling, pass ``options={"emulate_precision_casts": True}``
# to ``torch.compile``; ``options`` takes the place of ``mode``.
#
# BERT, long texts
# ----------------
#
# Now the input has 64 texts of 512 tokens, and the GPU is busy. One more variant compiles each layer by itself.

if bert:
    texts = torch.randint(1000, 30000, TEXTS, device=bench.device)
    by_layer = copy.deepcopy(bert)
    for layer in by_layer.encoder.layer:
        layer.compile()
    variants = in_modes(encode, texts, modes=["default"])
    variants["layer by layer"] = lambda: by_layer(texts).last_hidden_state.mean(1)
    long = bench.compare("BERT, long texts", variants, tolerance=0.1, rehearse=False)

# %%
# .. chart:: gpu
#    :case: BERT, long texts
#
#    GPU time of 64 long texts through two layers of BERT.
#
# - Layer by layer, :claim:`the GPU time falls <bert-long-texts.layer-by-layer.gpu <
#   bert-long-texts.not-compiled.gpu>` to :measured:`bert-long-texts.layer-by-layer.gpu`. Without compiling, it is
#   :measured:`bert-long-texts.not-compiled.gpu`.
# - With ``default`` on the whole model, the GPU time is :measured:`bert-long-texts.default.gpu`. A call needs
#   :measured:`bert-long-texts.default.memory` of memory; without compiling, it needs
#   :measured:`bert-long-texts.not-compiled.memory`.
# - Layer by layer, the first call takes :measured:`bert-long-texts.layer-by-layer.first_call`. For the whole model, it
#   takes :measured:`bert-long-texts.default.first_call`.
# - Compiling layer by layer pays after :measured:`bert-long-texts.layer-by-layer.break_even` calls, compared with not
#   compiling.
#
# With PyTorch 2.11, ``default`` on the whole model did harm here: the GPU time and the memory more than doubled, because
# of a mask, which tells attention what tokens it must not see. In these texts, it may see all tokens. So Transformers
# 5.18 and newer leave the mask out, unless the model is exported. But with PyTorch 2.11, Transformers mistakes compiling
# for an export (`issue 176347 <https://github.com/pytorch/pytorch/issues/176347>`__), and keeps the mask. With a mask,
# PyTorch does not use the fast kernel for attention. It computes the formula in ``float32``, and stores all intermediate
# results. With PyTorch 2.15, the compiled model has no mask any more.
#
# If each layer is compiled by itself, the code that decides about the mask is not compiled, and leaves the mask out with
# both releases.
#
# Rule: if a whole model takes more GPU time or more memory when it is compiled, compile it layer by layer.
# :doc:`/recipes/regional_compilation` has more on this, and the first pitfall above shows how to find the cause.
#
# resnet18
# --------
#
# 16 images go through a network with random weights, in ``float32``. cuDNN computes convolutions in TF32 unless
# told otherwise: the inputs of a product are rounded to 10 bits of mantissa. The next cell allows TF32 in
# matrix products, too. It also has a variant that compiles nothing and only stores images and weights in the
# order ``channels_last``. This was measured in one process.

# sphinx_gallery_fold = "Whether torchvision is installed"
# sphinx_gallery_once = True
try:
    from torchvision.models import resnet18
except (ImportError, RuntimeError) as error:
    # RuntimeError: a torchvision of another release than PyTorch
    print(f"The experiment with resnet18 is left out: {error}")
    resnet18 = None

# %%

# sphinx_gallery_once = True
if resnet18:
    torch.set_float32_matmul_precision("high")  # TF32 in products, as in convolutions
    torch.backends.cudnn.benchmark = True  # times algorithms, and takes the fastest
    net = resnet18().eval().to(bench.device)
    images = torch.randn(IMAGES, device=bench.device)
    variants = in_modes(net, images, modes=["default"])
    net_last = copy.deepcopy(net).to(memory_format=torch.channels_last)
    images_last = images.to(memory_format=torch.channels_last)
    variants["channels_last, not compiled"] = lambda: net_last(images_last)
    resnet = bench.compare(
        "resnet18", variants, tolerance=0.1, rehearse=False, rounds=5
    )
    torch.set_float32_matmul_precision("highest")

# %%
# .. chart:: gpu
#    :case: resnet18
#
#    GPU time of 16 images through resnet18.
#
# Without compiling, kernels run for :measured:`resnet18.not-compiled.gpu`. With ``channels_last`` alone,
# :claim:`they take less <resnet18.channels_last-not-compiled.gpu < resnet18.not-compiled.gpu>`:
# :measured:`resnet18.channels_last-not-compiled.gpu`. With ``default``, :claim:`they take the least
# <resnet18.default.gpu < resnet18.channels_last-not-compiled.gpu>`: :measured:`resnet18.default.gpu`. Part of this
# comes from the memory order, which the compiler changes too. The rest is fusion: after a convolution, batch
# normalization, ReLU and a sum become one kernel.
#
# With ``default``, :claim:`the GPU waits for the CPU <1.25 * resnet18.default.gpu < resnet18.default.wall>`: the wall
# time is :measured:`resnet18.default.wall`. So a CUDA graph is next.
#
# A matrix product and nothing else
# ---------------------------------
#
# One row times 8192 by 8192 numbers: there is little to compute and nothing to fuse. The limit is the time in
# which the GPU reads the weights.

rows, width = PRODUCT
layer = nn.Linear(width, width, bias=False, **options)
product = bench.compare(
    "a product",
    in_modes(layer, torch.randn(rows, width, **options), modes=["default"]),
    limit=layer.weight.nbytes / bench.bandwidth,
    tolerance=0.02,
    rehearse=False,
)

# %%
# Without compiling and with ``default``, PyTorch calls the same kernel of cuBLAS, which reaches
# :measured:`a-product.default.share` of the limit. But compiled, the CPU has more to do in each call: it checks
# guards, and then runs the Python code that the compiler has written. So :claim:`the
# CPU is busy for longer <a-product.not-compiled.cpu < a-product.default.cpu>`: for :measured:`a-product.default.cpu`.
# Without compiling, it is busy for :measured:`a-product.not-compiled.cpu`. If that is longer than the GPU takes, the GPU
# waits.
#
# This is no advice about generating text. There, much happens between the products, and the GPU waits for the CPU, as
# it does in BERT with one sentence. :doc:`/recipes/token_generation` is about such models.
#
# Does tuning pay?
# ----------------
#
# Tuning is meant for work that computes much. This is the layer of the short examples, but 4096 wide and with
# 8192 rows. It was measured in one process.

# sphinx_gallery_once = True
rehearsal = torch.compile(nn.Linear(64, 64, **options), mode="max-autotune")
rehearsal(torch.ones(1, 64, **options))

rows, width = LARGE
layer = nn.Sequential(nn.Linear(width, width, **options), nn.GELU())
large = bench.compare(
    "a large layer",
    in_modes(
        layer,
        torch.randn(rows, width, **options),
        modes=["default", "max-autotune-no-cudagraphs"],
    ),
    tolerance=0.02,
    rehearse=False,
    rounds=5,
)

# %%
# .. chart:: gpu
#    :case: a large layer
#
#    GPU time of a linear layer with GELU.
#
# Without compiling, a call takes :measured:`a-large-layer.not-compiled.gpu` of GPU time. With ``default``, it takes
# :measured:`a-large-layer.default.gpu`. Tuned, it takes
# :measured:`a-large-layer.max-autotune-no-cudagraphs.gpu`. The first call, which tunes, takes
# :measured:`a-large-layer.max-autotune-no-cudagraphs.first_call`; with ``default``, it takes
# :measured:`a-large-layer.default.first_call`. Most of the work is one product, and the kernel of
# cuBLAS is good at it. Whole models are not tuned here, because it takes too long: kernels are timed for each form of
# a product and of a convolution.
#
# NumPy, and a better formula
# ---------------------------
#
# ``torch.compile`` takes NumPy functions, too. This one multiplies each number of a row of ``x`` with each number
# of the same row of ``y``, and takes the mean. NumPy stores all products. Another formula needs none of them,
# because the mean of all products is the product of the means. NumPy uses one thread of the CPU here, so the
# function is compiled for one thread, too. This was measured in one process.

# sphinx_gallery_once = True


def products(x, y):
    """Return the mean of all products of a number of x and one of y, row by row."""
    return np.exp(np.mean(x[:, :, None] * y[:, None, :], axis=(-2, -1)))


def means(x, y):
    """Return the same, as the product of two means."""
    return np.exp(np.mean(x, axis=-1) * np.mean(y, axis=-1))


x, y = np.random.default_rng(0).standard_normal((2, *PAIRS))
ONE_THREAD = {"cpp.threads": 1}
# The first function in C++ also compiles headers, which all later ones share.
rehearsal = torch.compile(means, options=dict(ONE_THREAD))
rehearsal(x[:2, :3], y[:2, :3])
on_one_thread = torch.compile(products, options=dict(ONE_THREAD))
variants = {
    "NumPy": lambda: torch.tensor(products(x, y), device=bench.device),
    "NumPy, better formula": lambda: torch.tensor(means(x, y), device=bench.device),
    "compiled, one thread": lambda: torch.tensor(
        on_one_thread(x, y), device=bench.device
    ),
}
numpy_function = bench.compare(
    "a NumPy function", variants, tolerance=1e-9, rehearse=False, rounds=3
)

# %%
# .. chart:: wall
#    :case: a NumPy function
#
#    Wall time of a NumPy function.
#
# NumPy takes :measured:`a-numpy-function.numpy.wall`. Compiled for one thread, :claim:`the function takes less
# <a-numpy-function.compiled-one-thread.wall < a-numpy-function.numpy.wall>`, because it stores no products:
# :measured:`a-numpy-function.compiled-one-thread.wall`. :claim:`NumPy with the better formula takes the least
# <a-numpy-function.numpy-better-formula.wall < a-numpy-function.compiled-one-thread.wall>`:
# :measured:`a-numpy-function.numpy-better-formula.wall`.
#
# The first call takes :measured:`a-numpy-function.compiled-one-thread.first_call`, because a C++ compiler builds code
# for the CPU. After :measured:`a-numpy-function.compiled-one-thread.break_even` calls it has saved more than the start
# took, compared with NumPy. The other formula needs no compiler. Rule: look at the formula before you look for a mode.
#
# Serving
# -------
#
# - **Serving**: before the first request comes, call the model with two inputs that differ in every size that can
#   vary, and with a batch of one if that can come. With ``reduce-overhead``, then call the model three times with
#   each size. Warm up in the mode in which requests run (``no_grad`` or ``inference_mode``). Then call
#   ``torch.compiler.set_stance("eager_on_recompile")``: no request compiles, but a size or a mode that you forgot
#   runs without compiling, and nothing warns. With ``reduce-overhead`` and PyTorch 2.11, make all calls in one
#   thread: in another one, a new size ends in an ``AssertionError`` (:ref:`for-serving`). With ``reduce-overhead``, a
#   new size still records a graph during the request, even if nothing is compiled;
#   ``triton.cudagraph_dynamic_shape_rerecord_limit`` ends that, in PyTorch 2.15 (:doc:`/recipes/varying_sizes`).
# - **Serving with CUDA graphs**: for a few known sizes, record one graph by hand for each, the largest first, all in
#   one pool (``pool=``). Replay one graph after the other, and copy a result before you replay another. :claim:`All
#   graphs of one pool together need about the memory of the largest <cuda_graphs:graphs-of-four-batches.one-pool.kept
#   < 1.1 * graphs-of-four-batches.largest-alone.kept>`. If sizes are many or unknown, use ``reduce-overhead``: first
#   call the model with two sizes, and with a batch of one if that can come; then three times with each size. Pad to a
#   few sizes, with a mask, only if new sizes keep coming. Up to PyTorch 2.14, do not use both in one process:
#   ``reduce-overhead`` may free memory that a graph recorded by hand uses (illegal memory access). ``generate`` with
#   a static cache uses ``reduce-overhead``, so record nothing by hand beside it.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# Training, tuned convolutions and several GPUs were not measured. A large part of the weights of two layers of BERT stays
# in the GPU's cache from call to call, so the GPU time of one sentence is no measure of a full BERT.
#
# - What does your job wait for? :doc:`/recipes/where_time_goes`
# - The first call takes long: :doc:`/recipes/regional_compilation`
# - Sizes vary: :doc:`/recipes/varying_sizes`
# - Generating text: :doc:`/recipes/token_generation`
# - CUDA graphs by hand, and their pitfalls: :doc:`/recipes/cuda_graphs`
# - What stays outside of a CUDA graph: PyTorch's page on `CUDA graphs
#   <https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html>`__
#
# This recipe builds on the `chapter on PyTorch 2
# <https://tingsongyu.github.io/PyTorch-Tutorial-2nd/chapter-1/1.7-PyTorch2.0.html>`__ of
# PyTorch实用教程(第二版) by `TingsongYu <https://github.com/TingsongYu/PyTorch-Tutorial-2nd>`__. It reports that
# compiling a NumPy function saved about 90 % of the time, a speed-up of 10. Here the speed-up is
# :measured:`a-numpy-function.compiled-one-thread.speedup` on one thread. It says that ``reduce-overhead`` shortens
# compiling; in fact, it shortens launching. It recommends ``max-autotune`` for work that computes much; the
# large layer above is such work. And it times ``torch.compile()`` itself, which only wraps the function.

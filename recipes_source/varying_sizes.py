"""
Dynamic shapes: stop ``torch.compile`` from recompiling
=======================================================

Sequences of any length, images of any resolution, batches of one or sixteen?

.. answer::

   **Just compile: at the second shape, PyTorch compiles one version for varying shapes.** If the GPU waits on the CPU,
   add CUDA graphs: capture manually for a few known shapes; otherwise, use ``reduce-overhead``. Pad only if new shapes
   keep coming. On busy GPUs, skip graphs and padding. Compile only for long runs: startup costs about
   :measured:`process.compiler.start_up` per process.

   .. chart:: busy
      :case: few texts
      :only: without compiling, nothing marked, padded-cuda-graphs, CUDA graphs
      :best: CUDA graphs
      :hero:

      Twenty calls to a small, launch-bound model, each with a different length

   - :measured:`few-texts.cuda-graphs.speedup` speed-up over eager with CUDA graphs, in a small model
   - :measured:`few-texts.cuda-graphs.first_call` for the first 20 calls, plus startup
   - :measured:`few-texts.cuda-graphs.break_even` passes of 20 calls each to break even
   - :measured:`a-new-length.cuda-graphs.new_length` to capture each new length

   .. code-block:: diff
      :caption: What changes

      - model.compile(dynamic=False)
      + model.compile()

   .. code-block:: diff
      :caption: If the GPU waits

      - model.compile()
      + model.compile(mode="reduce-overhead")
      - result = model(x)
      + result = model(x).clone()

   .. code-block:: python
      :caption: Shapes vary

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      # up to PyTorch 2.13, torch.nn modules need
      # model = torch.compile(model, ...) instead
      model.compile()
      for length in (100, 37, 512, 60):
          x = torch.randn(8, length, 64).cuda()
          model(x)  # the first two calls compile

   .. code-block:: python
      :caption: Compile once

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      # up to PyTorch 2.13, torch.nn modules need
      # model = torch.compile(model, ...) instead
      model.compile(dynamic=True)
      for length in (100, 37, 512, 60):
          x = torch.randn(8, length, 64).cuda()
          model(x)  # the first call compiles

   .. code-block:: bash
      :caption: See the reason

      TORCH_LOGS=recompiles python train.py

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:doc:`measure it </recipes/where_time_goes>` with ``look``)
     - CUDA graphs: manual for a few shapes, otherwise ``reduce-overhead``
   * - GPU busy 80 to 95%
     - Compile. Try a graph: it saves at most the idle share
   * - GPU busy 95% or above
     - Compile; no graphs, no padding
   * - ``TORCH_LOGS=recompiles`` names a shape
     - Once: fine. Often: check ``dynamic=False``, sizes 0 and 1, dict keys
   * - ``TORCH_LOGS=recompiles`` names a Python number
     - Put the number in a tensor

**Code with CUDA graphs**

.. code-block:: python
   :caption: Manual, few shapes

   import torch
   # inference
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
   graphs, pool = {}, torch.cuda.graph_pool_handle()
   # the largest first
   for length in (512, 100, 60, 37):
       x = torch.randn(8, length, 64).cuda()
       model(x)  # run once first
       with torch.cuda.graph(graph := torch.cuda.CUDAGraph(), pool=pool):
           result = model(x)  # only captures
       graphs[length] = graph, x, result
   for length in 3 * (100, 37, 512, 60):
       graph, x, result = graphs[length]
       # the next input
       x.copy_(torch.randn(8, length, 64))
       graph.replay()
       # the next replay may overwrite it
       y = result.clone()

.. code-block:: python
   :caption: Many shapes

   import torch
   # inference
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
   # up to PyTorch 2.13, torch.nn modules need
   # model = torch.compile(model, ...) instead
   model.compile(mode="reduce-overhead")
   for length in 3 * (100, 37, 512, 60):
       x = torch.randn(8, length, 64).cuda()
       result = model(x).clone()

.. code-block:: python
   :caption: New shapes keep coming

   import torch
   # inference
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
   # up to PyTorch 2.13, torch.nn modules need
   # model = torch.compile(model, ...) instead
   model.compile(mode="reduce-overhead")
   for length in 3 * (100, 37, 512, 60):
       x = torch.randn(8, length, 64).cuda()
       # to the next multiple of 128
       to_add = -length % 128
       x = torch.nn.functional.pad(x, (0, 0, 0, to_add))
       result = model(x)[:, :length].clone()

**In your library**

.. libraries::

   - **Transformers**: for ``generate``, pass ``cache_implementation="static"``, which fixes the shapes of a decode step
     (:doc:`Token generation </recipes/token_generation>`). For other calls with CUDA graphs,
     ``DataCollatorWithPadding(tokenizer, pad_to_multiple_of=128)`` leaves only a few lengths.
   - **Accelerate**: pass ``--dynamo_use_dynamic`` to ``accelerate launch``, which otherwise sets ``dynamic=False`` and
     recompiles for each new shape. ``torchrun`` does not.
   - **Diffusers**: call ``pipe.transformer.compile_repeated_blocks()``; pass ``dynamic=True`` to compile once for all
     resolutions.
   - **Lightning**: pass ``torch.compile(module)`` to ``trainer.fit``; nothing else is needed.

**What you need**

- PyTorch 2.11 or newer, and pandas.
- A CUDA GPU of compute capability 7.5 (Turing) or above, with Triton. Elsewhere, the recipe falls back to small problem
  sizes on the CPU, and needs a C++ compiler. On a T4, it runs in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# Setup
# -----
#
# The model is two decoder blocks. A **pass** is 20 calls, each with a batch of a different length from 64 to 767
# tokens. Attention is causal, so padding at the end changes nothing.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "The function look"

from _look import look

# %%

# sphinx_gallery_fold = "Imports and sizes"
# sphinx_gallery_fold_output = True

bench = Bench()

import inspect
import itertools

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

BLOCKS, WIDTH, HEADS = (2, 512, 8) if bench.gpu else (1, 32, 2)
FEW, MANY = (8, 128) if bench.gpu else (2, 4)  # sequences in a batch
# 20 lengths from 64 to 767, in no particular order
LENGTHS = [64 + 37 * (7 * number % 20) for number in range(20)]
SIZES = [256, 448, 640, 768]  # lengths to pad to
if not bench.gpu:
    LENGTHS, SIZES = [length // 8 for length in LENGTHS[:3]], [56, 96]

# %%

# sphinx_gallery_fold = "The model, and how sequences go through it"


class Block(nn.Module):
    """A block of a decoder: a token sees itself and the tokens before it."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        """Return the hidden states after this block."""
        batch, length, _width = x.shape
        qkv = self.qkv(self.norms[0](x)).view(batch, length, 3, HEADS, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, -1))
        return x + self.mlp(self.norms[1](x))


torch.manual_seed(0)
model = nn.Sequential(*(Block() for _ in range(BLOCKS)), nn.LayerNorm(WIDTH))
model = model.to(bench.device, bench.dtype).eval().requires_grad_(False)
numbers = itertools.count()


def make_texts(batch, lengths=LENGTHS):
    """Return a batch of sequences of each length."""
    options = dict(device=bench.device, dtype=bench.dtype)
    return [torch.randn(batch, length, WIDTH, **options) for length in lengths]


def pad(x, sizes):
    """Return ``x``, padded with zeros to the next of the sizes."""
    length = x.shape[1]
    size = min(size for size in sizes if size >= length)
    return F.pad(x, (0, 0, 0, size - length))


class Visit:
    """Runs all batches through the model of a variant, one after the other."""

    def __init__(self, texts, sizes=None, marked=False, compiled=True, **options):
        def run(x):
            return model(x)

        # Dynamo stores the sizes it has seen with the function's code object.
        run.__code__ = run.__code__.replace(co_name=f"run_{next(numbers)}")
        self.run = torch.compile(run, **options) if compiled else run
        self.texts, self.sizes = texts, sizes
        if marked:
            self.texts = [
                text.clone() for text in texts
            ]  # a mark stays with its tensor
            for text in self.texts:
                torch._dynamo.mark_dynamic(text, 1)

    def __call__(self):
        last = []
        for text in self.texts:
            x = pad(text, self.sizes) if self.sizes else text
            last.append(self.run(x)[:, text.shape[1] - 1].clone())
        return torch.stack(last)  # the hidden states of the last tokens


# %%
# Pitfalls
# --------
#
# Most counts below are compilations in twelve calls, each with a different shape or number.
#
# "torch._dynamo hit config.recompile_limit (8)"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Remove** ``dynamic=False``. With it, twelve lengths trigger
# :measured:`twelve-calls.length-dynamic-false.compilations` compilations, and the rest run in eager mode; without it,
# :claim:`{twelve-calls.length.compilations} compilations cover all lengths <twelve-calls.length.compilations <
# twelve-calls.length-dynamic-false.compilations>`. If each shape needs its own code, raise the limit:
# ``torch.compile(model, recompile_limit=20)`` (PyTorch 2.15).

# sphinx_gallery_fold = "How compilations are counted"


class Counter:
    """Count the graphs that are compiled, and how often they run."""

    def __init__(self):
        self.graphs = self.runs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1

        def run(*arguments):
            self.runs += 1
            return graph(*arguments)

        return run


def count(calls, function=None, mark=None, stance="default", **options):
    """Return how often calls compile, and how many of them run in eager mode."""
    torch.compiler.reset()
    counter = Counter()
    compiled = torch.compile(function or scale, backend=counter, **options)
    with torch.compiler.set_stance(stance):
        for arguments in calls:
            if mark:
                mark(arguments[0], 0)
            compiled(*arguments)
    return {"compilations": counter.graphs, "not_compiled": len(calls) - counter.runs}


def count_second(calls, **options):
    """Return the same for the second ``torch.compile`` of a function; the first one has
    already compiled eight times, as often as PyTorch allows."""
    torch.compiler.reset()
    counter = Counter()
    first = torch.compile(scale, backend=Counter(), dynamic=False, **options)
    second = torch.compile(scale, backend=counter, dynamic=False, **options)
    for arguments in tensors(*range(20, 28)):
        first(*arguments)
    for arguments in calls:
        second(*arguments)
    return {"compilations": counter.graphs, "not_compiled": len(calls) - counter.runs}


def has_option(name):
    """Return whether ``torch.compile`` has an option; print a line if it does not."""
    if name in inspect.signature(torch.compile).parameters:
        return True
    print(f"PyTorch {torch.__version__} has no {name}=: it is left out.")
    return False


def scale(x, factor=2):
    """Return ``x`` multiplied by a factor."""
    return x * factor


class Counting(nn.Module):
    """A module that counts its calls."""

    calls = 0

    def forward(self, x):
        """Return ``x`` multiplied by the number of calls."""
        self.calls += 1
        return x * self.calls


WEIGHTS = {length: 1 / length for length in range(1, 64)}


def look_up(x):
    """Return ``x`` multiplied by the weight for its length."""
    return x * WEIGHTS[x.shape[0]]


def tensors(*lengths):
    """Return the arguments of calls with a tensor of each length."""
    return [(torch.ones(length, 8),) for length in lengths]


# %%

# sphinx_gallery_fold = "Count the compilations of twelve calls"
# sphinx_gallery_fold_output = True
from torch._dynamo import mark_dynamic, maybe_mark_dynamic
from torch._dynamo.decorators import mark_unbacked

TWELVE = range(2, 14)
EDGES = [2, 3, 1, 0, *range(4, 12)]
x = torch.ones(8)
counts = {
    "length": count(tensors(*TWELVE)),
    "length, marked": count(tensors(*TWELVE), mark=mark_dynamic),
    "length, dynamic=True": count(tensors(*TWELVE), dynamic=True),
    "length, eager then compile": count(tensors(*TWELVE), stance="eager_then_compile"),
    "length, dynamic=False": count(tensors(*TWELVE), dynamic=False),
    "0 and 1 among lengths": count(tensors(*EDGES)),
    "0 and 1, marked": count(tensors(*EDGES), mark=mark_dynamic),
    "0 and 1, unbacked": count(tensors(*EDGES), mark=mark_unbacked),
    "length as a key": count(tensors(*TWELVE), look_up),
    "length as a key, maybe marked": count(
        tensors(*TWELVE), look_up, mark=maybe_mark_dynamic
    ),
    "integer argument": count([(x, number) for number in TWELVE]),
    "float argument": count([(x, number / 2) for number in TWELVE]),
    "integer of a module": count([(x,)] * 12, Counting()),
}
with torch.compiler.config.patch(allow_unspec_int_on_nn_module=True):
    counts["integer of a module, allowed"] = count([(x,)] * 12, Counting())
with torch.compiler.config.patch(dynamic_sources="L['x']"):
    counts["length, in dynamic_sources"] = count(tensors(*TWELVE))
if has_option("recompile_limit"):
    counts["length, dynamic=False, limit raised"] = count(
        tensors(*TWELVE), dynamic=False, recompile_limit=12
    )
counts["compiled again"] = count_second(tensors(*TWELVE))
if has_option("isolate_recompiles"):
    counts["compiled again, isolated"] = count_second(
        tensors(*TWELVE), isolate_recompiles=True
    )
print(pd.DataFrame(counts).T)

# %%

# sphinx_gallery_plumbing = True

for variant, found in counts.items():
    for quantity, value in found.items():
        bench.measure("twelve calls", variant, quantity, value, unit="")

# %%
# It compiles twice, and that is too slow
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Pass** ``dynamic=True`` to :claim:`compile only once <twelve-calls.length-dynamic-true.compilations <
# twelve-calls.length.compilations>`. Or call ``torch.compiler.set_stance("eager_then_compile")``: the first call runs
# in eager mode, and :claim:`the second compiles for all shapes <twelve-calls.length-eager-then-compile.compilations <
# twelve-calls.length.compilations>`. For a single dimension, mark each input before the call, outside compiled code:
# ``torch._dynamo.mark_dynamic(x, 1)``.
#
# A function compiled in two places stays eager in the second
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Pass** ``isolate_recompiles=True`` to one ``torch.compile`` (PyTorch 2.15). Both share one limit: once the first has
# used it up, :claim:`the second stays eager; isolated, it compiles {twelve-calls.compiled-again-isolated.compilations}
# times <twelve-calls.compiled-again.compilations < twelve-calls.compiled-again-isolated.compilations>`.
#
# Batch size 1 recompiles
# ~~~~~~~~~~~~~~~~~~~~~~~
#
# **Warm up with a batch of one**, because PyTorch specializes on 0 and 1. Or use ``mark_unbacked(x, 0)`` from
# ``torch._dynamo.decorators``: :claim:`{twelve-calls.0-and-1-unbacked.compilations} compilation instead of
# {twelve-calls.0-and-1-marked.compilations} with mark_dynamic <twelve-calls.0-and-1-unbacked.compilations <
# twelve-calls.0-and-1-marked.compilations>`.
#
# A module's counter makes every call recompile
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Keep it in a tensor**, or set ``torch.compiler.config.allow_unspec_int_on_nn_module = True``. Numeric arguments
# become dynamic; :claim:`a module's integer attributes are baked in, so the counter hits the limit
# <twelve-calls.integer-argument.compilations < twelve-calls.integer-of-a-module.compilations>`.
#
# You cannot mark the tensor: it is created in a library
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Set** ``TORCH_COMPILE_DYNAMIC_SOURCES="L['x']"``, using the names that ``TORCH_LOGS=recompiles`` prints. In PyTorch
# 2.15, ``L['x']:0`` selects a single dimension.
#
# Each new process compiles twice despite the cache
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Set** ``TORCH_COMPILE_JOB_ID`` to a name that only this job's processes share, and keep the
# ``TORCHINDUCTOR_CACHE_DIR`` folder. With a job ID, the cache also remembers which sizes vary: the second process needs
# :claim:`{two-processes.cache-and-name-second-process.compilations} compilation instead of
# {two-processes.cache-second-process.compilations} <two-processes.cache-and-name-second-process.compilations <
# two-processes.cache-second-process.compilations>`.

# sphinx_gallery_fold = "Count the compilations of two processes"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
import os
import subprocess
import sys
import tempfile

PROGRAM = """
import torch

graphs = 0

def backend(graph, inputs):
    global graphs
    graphs += 1
    return graph.forward

def scale(x):
    return 2 * x

compiled = torch.compile(scale, backend=backend)
for length in (2, 3, 4, 5):
    compiled(torch.ones(length, 8))
print(graphs)
"""


def start_process(cache, **environment):
    """Start a process that uses a folder as its cache, and needs no GPU."""
    environment |= dict(TORCHINDUCTOR_CACHE_DIR=cache, CUDA_VISIBLE_DEVICES="")
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_count(process):
    """Wait for a process, and return how many graphs it has compiled."""
    output, _errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a process ended with {process.returncode}")
    return int(output)


JOBS = {"cache": {}, "cache and name": dict(TORCH_COMPILE_JOB_ID="lengths")}
compiled_graphs = {}
with tempfile.TemporaryDirectory() as folder:
    for order in ("", ", second process"):
        processes = {}
        for name, environment in JOBS.items():
            cache = os.path.join(folder, name)
            processes[name + order] = start_process(cache, **environment)
        for name, process in processes.items():
            compiled_graphs[name] = read_count(process)
print(compiled_graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, graphs in compiled_graphs.items():
    bench.measure("two processes", name, "compilations", graphs, unit="")

# %%
# "ConstraintViolationError"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Do not use a marked size as a dictionary key**: index a tensor instead. ``maybe_mark_dynamic`` avoids only the
# error, :claim:`not the recompilations <twelve-calls.length.compilations <
# twelve-calls.length-as-a-key-maybe-marked.compilations>`.

# sphinx_gallery_fold = "A length used as a key"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
x = torch.ones(5, 8)
mark_dynamic(x, 0)
try:
    torch.compile(look_up, backend="eager")(x)
except Exception as error:
    print(type(error).__name__)

# %%
# "Could not guard on data-dependent expression"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Tell the compiler the answer**: ``torch._check(x.shape[0] <= 64)``. An unbacked size has no value at compile time,
# so ``if length > 64`` has no answer. A call that violates the check raises an error.

# sphinx_gallery_fold = "Tell the compiler the answer"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def halve_long(x):
    """Return ``x``, or half of it if it is long."""
    torch._check(x.shape[0] <= 64)  # without this line, compiling fails
    return x / 2 if x.shape[0] > 64 else x


x = torch.ones(1, 8)
mark_unbacked(x, 0)
print(torch.compile(halve_long, backend="eager", fullgraph=True)(x).shape)

# %%
# A new shape is slow, but nothing compiles
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Call** ``torch.backends.cuda.enable_cudnn_sdp(False)`` **if most lengths are new.** cuDNN :ref:`builds a plan
# <new-lengths>` for each one.
#
# ``dynamic=True`` recompiles when only the width changes
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **With** ``dynamic=True``, **do not warm up with square images.** PyTorch assumes that sizes that are equal in the
# first call stay equal.
#
# Padding changes the result
# ~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Pass a mask, and exclude padding from averages.** There is no warning.
#
# Why it recompiles, and when it stops
# ------------------------------------
#
# The first call compiles for exactly the shapes it sees: sizes are baked into the code, and :term:`guards <guard>`
# reject any other shape. At the second shape, PyTorch recompiles with a symbol for each size that differs: **automatic
# dynamic shapes**. The new code handles all other sizes except 0 and 1. If your code branches on a size, as in ``if
# length > 512``, each branch needs its own compilation.
#
# A **CUDA graph** has no symbols: each shape needs its own graph, captured from the same compiled code. With
# ``reduce-overhead``, a shape's first call runs that code, the second captures it, and the third replays the graph.
# **Padding** leaves only a few shapes, but the GPU has to process the padding, too.
#
# .. chart:: tokens, padded_tokens
#    :case: eight texts
#
#    Tokens in eight sequences, padded to 256, 448 or 640. The first call compiles for length 64, the second for any
#    length.

# sphinx_gallery_fold = "Code for the figure"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
lengths, few_sizes = [64, 323, 582, 101, 360, 619, 138, 397], [256, 448, 640]
for number, length in enumerate(lengths, 1):
    padded = min(size for size in few_sizes if size >= length)
    call = f"call {number}"
    bench.measure("eight texts", call, "tokens", length, unit="")
    bench.measure("eight texts", call, "padded_tokens", padded, unit="")
    print(f"{call}: {length} tokens, {padded} with padding")

# %%
# CUDA graphs pay off when the GPU is idle
# ----------------------------------------
#
# .. chart:: busy
#    :case: few texts
#    :best: CUDA graphs
#
#    A pass over 20 lengths, at batch size 8. *Length marked* means ``mark_dynamic``.
#
# - :claim:`CUDA graphs are {few-texts.cuda-graphs.speedup} as fast as eager mode <2 * few-texts.cuda-graphs.wall <
#   few-texts.without-compiling.wall>`: :measured:`few-texts.without-compiling.wall` →
#   :measured:`few-texts.cuda-graphs.wall`. They hold :measured:`few-texts.cuda-graphs.kept` in one pool; clone the
#   outputs.
# - Compiling alone reaches :measured:`few-texts.nothing-marked.speedup`: :claim:`the GPU still idles more than half the
#   time <2 * few-texts.nothing-marked.gpu < few-texts.nothing-marked.wall>`.
# - We expected padding to four sizes to help, but it adds :measured:`padding.four-sizes.waste` more tokens, and
#   :claim:`GPU time rises from {few-texts.cuda-graphs.gpu} to {few-texts.padded-cuda-graphs.gpu}
#   <few-texts.cuda-graphs.gpu < few-texts.padded-cuda-graphs.gpu>`.

# sphinx_gallery_fold = "Twenty lengths at batch size 8"

VARIANTS = {
    "without compiling": dict(compiled=False),
    "nothing marked": {},
    "length marked": dict(marked=True),
    "CUDA graphs": dict(mode="reduce-overhead"),
    "padded, CUDA graphs": dict(sizes=SIZES, mode="reduce-overhead"),
}
few_texts = make_texts(FEW)
Visit(few_texts[:1])()  # warm up the compiler before anything is timed
visits = {name: Visit(few_texts, **options) for name, options in VARIANTS.items()}
few = bench.compare("few texts", visits, tolerance=0.1, rehearse=False)

# %%

# sphinx_gallery_fold = "What look prints in one run, which is not the median"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
for name in ("without compiling", "nothing marked", "CUDA graphs"):
    print(name, end=": ")
    look(visits[name], calls=10)

# %%
# .. _new-lengths:
#
# Each new length costs one capture
# ---------------------------------
#
# We timed eight new lengths. Eager mode runs first, and pays
# :measured:`a-new-length.without-compiling.new_length` per length for cuDNN's plans, which other variants reuse.
# Capturing a graph costs :measured:`a-new-length.cuda-graphs.new_length` per length; :claim:`a padded length costs
# almost nothing <10 * a-new-length.padded-cuda-graphs.new_length < a-new-length.cuda-graphs.new_length>`. But
# :claim:`padding slows a pass from {few-texts.cuda-graphs.wall} to {few-texts.padded-cuda-graphs.wall}
# <few-texts.cuda-graphs.wall < few-texts.padded-cuda-graphs.wall>`, so a capture pays off after a few hundred calls per
# length.
#
# PyTorch 2.15 can limit captures per graph: ``cudagraph_dynamic_shape_rerecord_limit`` in
# ``torch._inductor.config.triton`` (not in ``options=``). Beyond the limit, :claim:`a new length costs
# {a-new-length.cuda-graphs-limited.new_length} <a-new-length.cuda-graphs-limited.new_length <
# a-new-length.cuda-graphs.new_length>`, but :claim:`each later call takes {a-new-length.cuda-graphs-limited.later_call}
# instead of {a-new-length.cuda-graphs.later_call} <a-new-length.cuda-graphs.later_call <
# a-new-length.cuda-graphs-limited.later_call>`.

# sphinx_gallery_fold = "Time new lengths"


def meet(visit, texts):
    """Return, per length, the extra seconds of its first calls, the seconds of a later call,
    and the bytes kept."""
    visit.texts = texts
    if bench.gpu:
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0]
    first = sum(bench.time(visit) for _ in range(3))
    kept = 0
    if bench.gpu:
        torch.cuda.empty_cache()
        kept = free - torch.cuda.mem_get_info()[0]
    later = sum(bench.time(visit) for _ in range(3))
    return {
        "new_length": max(0, first - later) / len(texts),
        "later_call": later / 3 / len(texts),
        "kept": max(0, kept) / len(texts),
    }


new_texts = make_texts(FEW, [length + 5 for length in LENGTHS[:8]])
met = {name: meet(visits[name], new_texts) for name in visits}

# %%

# sphinx_gallery_fold = "The same with a limit"
# sphinx_gallery_once = True
has_limit = hasattr(
    torch._inductor.config.triton, "cudagraph_dynamic_shape_rerecord_limit"
)
if has_limit:
    limited = {"triton.cudagraph_dynamic_shape_rerecord_limit": len(LENGTHS)}
    other_texts = make_texts(FEW, [length + 11 for length in LENGTHS[:8]])
    meet(visits["without compiling"], other_texts)  # cuDNN builds its plans here
    with torch._inductor.config.patch(limited):
        met["CUDA graphs, limited"] = meet(visits["CUDA graphs"], other_texts)
else:
    print(f"PyTorch {torch.__version__} has no such limit: it is left out.")

# %%

# sphinx_gallery_fold = "Seconds and bytes per length in one run"
# sphinx_gallery_fold_output = True

print(pd.DataFrame(met).T)

# %%

# sphinx_gallery_plumbing = True

for name, quantities in met.items():
    for quantity, value in quantities.items():
        unit = "B" if quantity == "kept" else "s"
        bench.measure("a new length", name, quantity, value, unit=unit)
padded = sum(pad(text, SIZES).shape[1] for text in few_texts)
bench.measure("padding", "four sizes", "waste", padded / sum(LENGTHS) - 1, unit="share")

# %%
# A busy GPU needs neither graphs nor padding
# -------------------------------------------
#
# .. chart:: busy
#    :case: many texts
#    :best: nothing marked
#
#    A pass over 20 lengths, at batch size 128.
#
# Compiling fuses kernels: :claim:`GPU time drops from {many-texts.without-compiling.gpu} to
# {many-texts.nothing-marked.gpu} <many-texts.nothing-marked.gpu < many-texts.without-compiling.gpu>`, and :claim:`peak
# memory from {many-texts.without-compiling.memory} to {many-texts.nothing-marked.memory}
# <many-texts.nothing-marked.memory < many-texts.without-compiling.memory>`. Compiling breaks even after
# :measured:`many-texts.nothing-marked.break_even` passes. Padded graphs :claim:`need more GPU time than eager mode
# <many-texts.without-compiling.gpu < many-texts.padded-cuda-graphs.gpu>`.

# sphinx_gallery_fold = "Twenty lengths at batch size 128"

NAMES = ("without compiling", "nothing marked", "padded, CUDA graphs")
many_texts = make_texts(MANY)
visits = {name: Visit(many_texts, **VARIANTS[name]) for name in NAMES}
many = bench.compare("many texts", visits, tolerance=0.1, rehearse=False)

# %%
# Code for any length costs at most 5%
# ------------------------------------
#
# .. chart:: gpu
#    :case: five lengths
#    :best: compiled for any length
#
#    GPU time of a pass over five lengths. Code for any length uses ``mark_dynamic``; we did not time
#    ``dynamic=True``.
#
# ``dynamic=False`` :claim:`saves less than 5% of the GPU time per pass <0.95 * five-lengths.compiled-for-any-length.gpu
# < five-lengths.each-length-compiled.gpu>`, but the first pass takes
# :claim:`{five-lengths.each-length-compiled.first_call} instead of {five-lengths.compiled-for-any-length.first_call} <2
# * five-lengths.compiled-for-any-length.first_call < five-lengths.each-length-compiled.first_call>`. Padding without
# graphs :claim:`only adds work <five-lengths.each-length-compiled.gpu < five-lengths.padded-each-size-compiled.gpu>`.

# sphinx_gallery_fold = "Five lengths: dynamic code or code per length"
# sphinx_gallery_once = True
five = few_texts[:5]
visits = {
    "without compiling": Visit(five, compiled=False),
    "compiled for any length": Visit(five, marked=True),
    "padded, each size compiled": Visit(five, SIZES, dynamic=False),
    "each length compiled": Visit(five, dynamic=False),
}
sized = bench.compare("five lengths", visits, tolerance=0.1, rehearse=False)

# %%
# More sizes, less padding
# ------------------------
#
# .. chart:: gpu
#    :case: sizes to pad to
#
#    GPU time of a pass over 20 lengths, padded to one, two or eight sizes.
#
# :claim:`Padding to eight sizes instead of one cuts GPU time from {sizes-to-pad-to.1.padded-cuda-graphs.gpu} to
# {sizes-to-pad-to.8.padded-cuda-graphs.gpu} <sizes-to-pad-to.padded-cuda-graphs.gpu: 8 < 2 < 1>`. :claim:`In wall time,
# even one size beats eager <sizes-to-pad-to.1.padded-cuda-graphs.wall < sizes-to-pad-to.1.without-compiling.wall>`.

# sphinx_gallery_fold = "Pad to one, two or eight sizes; percentages are relative to the real tokens"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def spread(number):
    """Return that many sizes, evenly spaced, up to the longest sequence."""
    step = max(LENGTHS) / number
    return [round(step * (place + 1) + 0.5) for place in range(number)]


def pad_to(number):
    """Return variants that pad to a number of sizes."""
    options = dict(sizes=spread(number), mode="reduce-overhead")
    return {
        "without compiling": Visit(few_texts, compiled=False),
        "padded, CUDA graphs": Visit(few_texts, **options),
    }


NUMBERS = (1, 2, 8) if bench.gpu else (1, 2)
sizes = bench.compare(
    "sizes to pad to", pad_to, ("sizes", NUMBERS), tolerance=0.1, rehearse=False
)
for number in NUMBERS:
    padded = sum(pad(text, spread(number)).shape[1] for text in few_texts)
    print(f"{number} sizes: {padded / sum(LENGTHS) - 1:.0%} of the tokens are padding")

# %%
# Limits and next steps
# ---------------------
#
# - We timed inference for one model on one kind of GPU; training also compiles the backward pass. All variants agree
#   within 0.1; fused ``bfloat16`` code rounds less often. See :ref:`what carries over to other GPUs <other-gpus>` and
#   :ref:`what changed since PyTorch 2.11 <newer-pytorch>`.
# - Up to PyTorch 2.14, do not :doc:`mix manual graphs </recipes/cuda_graphs>` with ``reduce-overhead`` in one process,
#   and free all manual graphs together.
# - The marking functions are private (``torch._dynamo``) and may change, as may ``torch.compile(dynamic_shapes=...)``
#   in PyTorch 2.15.
# - For attention without padding, see `varlen_attn <https://docs.pytorch.org/docs/stable/nn.attention.varlen.html>`__,
#   or `FlexAttention <https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html>`__ with a document mask;
#   we measured neither.
# - Still recompiling? ``TORCH_LOGS=dynamic`` shows where a size was specialized, and ``tlparse`` turns the
#   ``TORCH_TRACE`` folder into a report of all compilations.
#
# Thanks to the PyTorch team for its chapter on `dynamic shapes
# <https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html>`__.

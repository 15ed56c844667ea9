"""
It recompiles: what do I do about varying sizes?
================================================

Texts of any length, images of any resolution, batches of one request or of sixteen?

.. answer::

   **Just compile: at the second shape, PyTorch compiles for any.** If the GPU waits for the CPU, add CUDA graphs:
   manually for a few known shapes, otherwise with ``reduce-overhead``. Pad only if new shapes keep coming. If the GPU is
   busy, use neither graphs nor padding. Compile only long runs: compiler startup costs
   :measured:`process.compiler.start_up` per process.

   .. chart:: busy
      :case: few texts
      :only: without compiling, nothing marked, padded-cuda-graphs, CUDA graphs
      :best: CUDA graphs
      :hero:

      Twenty calls, each with another length, in a small model

   - :measured:`few-texts.cuda-graphs.speedup` speed-up with CUDA graphs, against eager
   - :measured:`few-texts.nothing-marked.first_call` for the first 20 calls without graphs, plus startup
   - :measured:`few-texts.nothing-marked.break_even` passes of 20 calls to break even, without graphs
   - :measured:`a-new-length.cuda-graphs.new_length` to capture each new length once

   .. code-block:: diff
      :caption: What changes

      - model.compile(dynamic=False)
      + model.compile(mode="reduce-overhead")
      - result = model(x)
      + result = model(x).clone()

   .. code-block:: python
      :caption: Sizes vary

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      model.compile()
      for length in (100, 37, 512, 60):
          x = torch.randn(8, length, 64).cuda()
          model(x)  # the first two calls compile

   .. code-block:: bash
      :caption: See the reason

      TORCH_LOGS=recompiles python train.py

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as :doc:`look </recipes/where_time_goes>` prints it
     - CUDA graphs, as shown below
   * - GPU busy above 95 %
     - Compile; no graphs and no padding
   * - ``TORCH_LOGS=recompiles`` names a shape
     - Nothing, unless ``dynamic=False`` is set
   * - ``TORCH_LOGS=recompiles`` names a Python number
     - Put the number into a tensor
   * - A new shape takes long, and nothing compiles
     - With attention: ``torch.backends.cuda.enable_cudnn_sdp(False)``

**Code with CUDA graphs**

.. code-block:: python
   :caption: CUDA graphs by hand, few sizes

   import torch
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)  # inference
   graphs, pool = {}, torch.cuda.graph_pool_handle()
   for length in (512, 100, 60, 37):  # the largest first
       x = torch.randn(8, length, 64).cuda()
       model(x)  # run once first
       with torch.cuda.graph(graph := torch.cuda.CUDAGraph(), pool=pool):
           result = model(x)  # records, and does not run
       graphs[length] = graph, x, result
   for length in 3 * (100, 37, 512, 60):
       graph, x, result = graphs[length]
       x.copy_(torch.randn(8, length, 64))  # the next input
       graph.replay()
       y = result.clone()  # the next replay may overwrite it

.. code-block:: python
   :caption: CUDA graphs, many sizes

   import torch
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)  # inference
   model.compile(mode="reduce-overhead")
   for length in 3 * (100, 37, 512, 60):
       x = torch.randn(8, length, 64).cuda()
       result = model(x).clone()

.. code-block:: python
   :caption: CUDA graphs, new sizes keep coming

   import torch
   model = torch.nn.Linear(64, 64).cuda().requires_grad_(False)  # inference
   model.compile(mode="reduce-overhead")
   for length in 3 * (100, 37, 512, 60):
       x = torch.randn(8, length, 64).cuda()
       to_add = -length % 128  # up to 128, 256, ...
       x = torch.nn.functional.pad(x, (0, 0, 0, to_add))
       result = model(x)[:, :length].clone()

**In your library**

.. libraries::

   - **Transformers**: for ``generate``, pass ``cache_implementation="static"`` instead, which keeps the sizes of a
     step fixed: see :doc:`/recipes/token_generation`. For other calls, if you use CUDA graphs and new lengths keep
     coming, ``DataCollatorWithPadding(tokenizer, pad_to_multiple_of=128)`` leaves few lengths.
   - **Accelerate**: if ``accelerate launch`` starts a job that is compiled, pass ``--dynamo_use_dynamic``, also if the
     job uses ``Trainer``. Without this option the launcher asks for ``dynamic=False``, and each size is compiled.
   - **Diffusers**: ``pipe.transformer.compile_repeated_blocks()``. Pass ``dynamic=True`` if you cannot wait for two
     compilations.
   - **Lightning**: nothing is different. Compile the model as above.

**What you need**

- PyTorch 2.11 or newer, and pandas. Since PyTorch 2.1, sizes become dynamic by themselves.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton, for the short examples and for results
  like these. On other machines the recipe runs small sizes on the CPU, and needs a C++ compiler. A T4 (7.5)
  has no ``bfloat16``: there everything runs in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What to choose
# --------------
#
# Times in the table are those of a pass over batches of 20 lengths, on this page's model. The start of the compiler takes :measured:`process.compiler.start_up`, once per
# process. Add this time to each first pass. ``mark_dynamic`` and ``maybe_mark_dynamic`` are in
# ``torch._dynamo``, ``mark_unbacked`` is in ``torch._dynamo.decorators``, and ``set_stance`` in
# ``torch.compiler``.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Choose
#      - What it gives
#      - What it costs
#    * - Sizes vary
#      - Nothing: no mark, no padding
#      - PyTorch makes code for any size: twelve lengths take :measured:`twelve-calls.length.compilations` compilations
#      - The second size compiles once more: the first pass takes :measured:`few-texts.nothing-marked.first_call`.
#        It costs no memory: with 128 texts in a batch, a pass needs :measured:`many-texts.nothing-marked.memory`; without
#        compiling it needs :measured:`many-texts.without-compiling.memory`
#    * - Compiling twice, for the first size and then for any size, takes too long
#      - ``set_stance("eager_then_compile")``, or ``dynamic=True``; or ``mark_dynamic(x, 1)`` for each input, before the
#        call; ``1`` is the dimension that varies
#      - One compilation less. The first pass takes :measured:`few-texts.length-marked.first_call`. With nothing marked,
#        it takes :measured:`few-texts.nothing-marked.first_call`. That variant mostly ran first, so its time includes work
#        done once for both
#      - ``mark_dynamic`` raises an error if the code needs the size as a number. ``maybe_mark_dynamic`` raises none
#    * - The GPU waits for the CPU, and the same sizes come again
#      - A CUDA graph: by hand for each size if sizes are few and known and nothing in the model needs the CPU
#        (:doc:`/recipes/cuda_graphs`), otherwise ``mode="reduce-overhead"``. Mark nothing, and pad nothing
#      - With ``reduce-overhead``, a pass takes :measured:`few-texts.cuda-graphs.wall`; with the default mode it takes
#        :measured:`few-texts.nothing-marked.wall`
#      - A graph is recorded for each size: with ``reduce-overhead``, this takes
#        :measured:`a-new-length.cuda-graphs.new_length` once. With attention, a new size costs
#        :measured:`a-new-length.without-compiling.new_length` more, unless it is padded. The graphs share one pool, which
#        keeps :measured:`few-texts.cuda-graphs.kept` of memory. Outputs have to be cloned
#    * - The GPU waits for the CPU, and new sizes keep coming
#      - ``mode="reduce-overhead"``, and padding to a few sizes
#      - A pass takes :measured:`few-texts.padded-cuda-graphs.wall`; without compiling it takes
#        :measured:`few-texts.without-compiling.wall`. Nothing is recorded for a new length
#      - The GPU computes padding: with four sizes, :measured:`padding.four-sizes.waste` more tokens. In a test with
#        eight sizes, the graphs keep :measured:`sizes-to-pad-to.8.padded-cuda-graphs.kept` of memory
#    * - The GPU is busy
#      - No padding
#      - With 128 texts in a batch, a pass takes :measured:`many-texts.nothing-marked.wall`; padded, in CUDA graphs,
#        it takes :measured:`many-texts.padded-cuda-graphs.wall`
#      - Nothing. If most lengths are new and the model has attention, see the next row
#    * - A new size takes long, but ``TORCH_LOGS=recompiles`` prints nothing, and the model has attention
#      - ``torch.backends.cuda.enable_cudnn_sdp(False)``: another library than cuDNN computes attention
#      - In :doc:`/recipes/token_generation`, a token of a new length takes
#        :measured:`token_generation:growing-cache.without-cudnn.first_pass`; with cuDNN it takes
#        :measured:`token_generation:growing-cache.cudnn.first_pass`
#      - Attention may take more time then, for sizes that have come before. This was not measured with many texts
#    * - Sizes 0 or 1 are among them, such as a batch of one request
#      - ``mark_unbacked(x, 0)``, or a call with size 1 during warm-up
#      - Twelve sizes take :measured:`twelve-calls.0-and-1-unbacked.compilations` compilation; with ``mark_dynamic``
#        they take :measured:`twelve-calls.0-and-1-marked.compilations`
#      - It is no stable interface, and code that asks for the size needs ``torch._check``
#    * - Each size is compiled, and after eight it stays slow
#      - Leave out ``dynamic=False``, or pass ``--dynamo_use_dynamic`` to Accelerate's launcher
#      - Twelve lengths take :measured:`twelve-calls.length.compilations` compilations. With ``dynamic=False``, they take
#        :measured:`twelve-calls.length-dynamic-false.compilations`, and the rest runs without compiling
#      - Nothing
#    * - It is somebody else's code, or a tensor in the middle of a model
#      - Put the names that ``TORCH_LOGS=recompiles`` prints, such as ``L['x']``, into the environment variable
#        ``TORCH_COMPILE_DYNAMIC_SOURCES``
#      - Twelve lengths take :measured:`twelve-calls.length-in-dynamic_sources.compilations` compilation
#      - Names change with the code
#    * - An integer that a module keeps, such as a counter, is the reason
#      - Put it into a tensor, or allow such integers to vary (see the pitfalls)
#      - If they may vary, twelve calls take :measured:`twelve-calls.integer-of-a-module-allowed.compilations`
#        compilations. Otherwise they take :measured:`twelve-calls.integer-of-a-module.compilations`, and the rest runs
#        without compiling
#      - The setting holds for all modules
#    * - No request may wait for the compiler
#      - After warm-up, ``set_stance("eager_on_recompile")``
#      - A size that no code fits runs without compiling
#      - Such a call is not compiled, however often it is repeated. With CUDA graphs, a new size that the code
#        fits still gets a graph in its first calls: the stance forbids compiling, not recording. In PyTorch 2.15,
#        ``cudagraph_dynamic_shape_rerecord_limit`` forbids recording (see below)
#    * - The program starts again and again, and compiles twice each time
#      - Keep the compiler's cache, and name the job: ``TORCH_COMPILE_JOB_ID=my-service``
#      - The second process takes :measured:`two-processes.cache-and-name-second-process.compilations` compilation; with the
#        cache alone, it takes :measured:`two-processes.cache-second-process.compilations` (measured in one process)
#      - The folder of the cache has to stay
#
# Conditions and costs
# --------------------
#
# After eight compilations of a function, new sizes run without compiling. The reason is often ``dynamic=False``,
# which you can leave out, or a counter in a module, which you can keep in a tensor. In PyTorch 2.15,
# ``torch.compile(model, recompile_limit=20)`` moves the limit for one model.
#
# The **GPU waits for the CPU** if it is busy for less than 80 % of the time; :doc:`/recipes/where_time_goes` shows
# how to look. From 95 % on, it is busy. A part needs the CPU if it reads a value back (``.item()``) or
# computes on the CPU. The code with graphs is for inference; in training, see :doc:`/recipes/cuda_graphs`.
#
# **What it costs:** you wait once per process. The start of the compiler takes :measured:`process.compiler.start_up`.
# The first 20 calls, each with another size, come on top: together they take
# :measured:`few-texts.nothing-marked.first_call`. If the GPU waits for the CPU, the run has won back both waits after
# :measured:`few-texts.nothing-marked.break_even` passes of 20 calls. If the GPU is busy, it has won them back after
# :measured:`many-texts.nothing-marked.break_even` passes. This was measured without gradients: in training, backward
# is compiled, too, and you wait longer. Padding can change results, and nothing warns: pass a mask, and leave the
# padding out of means.
#
# With CUDA graphs, both waits are won back after more than :measured:`few-texts.cuda-graphs.break_even` passes. The
# exact number is not known, because this test reused code that an earlier one had compiled. In your job, add the
# seconds of the compiler's start and of the first calls, and divide the sum by the seconds saved per call.
#
# With CUDA graphs, each new size costs :measured:`a-new-length.cuda-graphs.new_length` once, for recording. If the
# model has attention, cuDNN prepares each new size as well. Even without compiling, a new length takes
# :measured:`a-new-length.without-compiling.new_length` here; if most lengths are new and you do not pad, call
# ``torch.backends.cuda.enable_cudnn_sdp(False)``. All graphs share one memory pool, so outputs have to be cloned.
# The graphs keep :measured:`few-texts.cuda-graphs.kept` of memory. Without compiling, a pass takes
# :measured:`few-texts.without-compiling.memory`, and keeps nothing.
#
# Results in words
# ----------------
#
# In the first test on this page, batches of 20 lengths go through a small model, and the GPU waits for the CPU.
# Without compiling, a pass over all of them takes :measured:`few-texts.without-compiling.wall` of wall time. With
# CUDA graphs and nothing marked, :claim:`it takes less <few-texts.cuda-graphs.wall <
# few-texts.without-compiling.wall>`: :measured:`few-texts.cuda-graphs.wall`.
#
# With 128 texts in each batch, the GPU is busy. There, a plain compiled pass takes
# :measured:`many-texts.nothing-marked.wall`. Without compiling, it takes
# :measured:`many-texts.without-compiling.wall`. With padding and CUDA graphs, :claim:`it takes longer
# <many-texts.nothing-marked.wall < many-texts.padded-cuda-graphs.wall>`:
# :measured:`many-texts.padded-cuda-graphs.wall`.
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

import inspect
import itertools

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

BLOCKS, WIDTH, HEADS = (2, 512, 8) if bench.gpu else (1, 32, 2)
FEW, MANY = (8, 128) if bench.gpu else (2, 4)  # texts in a batch
# 20 lengths between 64 and 767, in no order
LENGTHS = [64 + 37 * (7 * number % 20) for number in range(20)]
SIZES = [256, 448, 640, 768]  # to which texts are padded
if not bench.gpu:
    LENGTHS, SIZES = [length // 8 for length in LENGTHS[:3]], [56, 96]

# %%
#
# The model is two blocks of a decoder. One pass sends 20 batches through it, each with texts of another
# length.
#
# A token of a decoder sees only itself and those before it, so padding behind a text changes nothing.
# An encoder would need a mask.

# sphinx_gallery_fold = "The model, and how texts go through it"


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
    """Return a batch of texts of each length."""
    options = dict(device=bench.device, dtype=bench.dtype)
    return [torch.randn(batch, length, WIDTH, **options) for length in lengths]


def pad(x, sizes):
    """Return ``x`` with zeros behind its tokens, up to the next of the sizes."""
    length = x.shape[1]
    size = min(size for size in sizes if size >= length)
    return F.pad(x, (0, 0, 0, size - length))


class Visit:
    """All texts, one batch after the other, go through the model of a variant."""

    def __init__(self, texts, sizes=None, marked=False, compiled=True, **options):
        def run(x):
            return model(x)

        # The compiler notes the sizes it has seen with the code of a function.
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
# **It still compiles again.** The next cells call functions twelve times, each time with another size
# or another number. They count compilations, and calls that run without compiling: after eight
# compilations of a function (``torch.compiler.config.recompile_limit``) PyTorch warns, and compiles no
# more.

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
    """Return how often calls compile, and how many of them run without compiling."""
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
    """Return whether ``torch.compile`` of this release has an option, and tell if not."""
    if name in inspect.signature(torch.compile).parameters:
        return True
    print(f"PyTorch {torch.__version__} has no {name}=: it is left out.")
    return False


def scale(x, factor=2):
    """Return ``x`` multiplied by a factor."""
    return x * factor


class Counting(nn.Module):
    """A module that keeps a number."""

    calls = 0

    def forward(self, x):
        """Return ``x`` multiplied by the number of calls."""
        self.calls += 1
        return x * self.calls


WEIGHTS = {length: 1 / length for length in range(1, 64)}


def look_up(x):
    """Return ``x`` multiplied by a number that belongs to its length."""
    return x * WEIGHTS[x.shape[0]]


def tensors(*lengths):
    """Return the arguments of calls with a tensor of each length."""
    return [(torch.ones(length, 8),) for length in lengths]


# %%

# sphinx_gallery_fold = "Count the compilations of twelve calls"
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
# - **Lengths** take :measured:`twelve-calls.length.compilations` compilations. Marked, :claim:`they
#   take fewer <twelve-calls.length-marked.compilations < twelve-calls.length.compilations>`. With
#   ``dynamic=False`` they run into the limit:
#   :measured:`twelve-calls.length-dynamic-false.not_compiled` calls of twelve run without compiling. In PyTorch 2.15, you
#   can raise the limit of one model: ``torch.compile(model, recompile_limit=12)``.
# - **To compile only once**, pass ``dynamic=True``: :claim:`the lengths take fewer compilations
#   <twelve-calls.length-dynamic-true.compilations < twelve-calls.length.compilations>`. Or set
#   ``torch.compiler.set_stance("eager_then_compile")``: the first call runs without compiling, the second compiles, and
#   :claim:`there are fewer compilations, too <twelve-calls.length-eager-then-compile.compilations <
#   twelve-calls.length.compilations>`.
# - **One function, compiled in two places**, has one limit for both. If the first place has used it up, the second
#   :claim:`compiles less often <twelve-calls.compiled-again.compilations < twelve-calls.length-dynamic-false.compilations>`:
#   :measured:`twelve-calls.compiled-again.compilations` times. Rule: in PyTorch 2.15, pass ``isolate_recompiles=True``.
# - **0 and 1** get code of their own. If they are among the lengths, there are
#   :measured:`twelve-calls.0-and-1-among-lengths.compilations` compilations. If the length is marked, there are
#   :measured:`twelve-calls.0-and-1-marked.compilations`. ``mark_unbacked``
#   tells the compiler nothing about the size, and :claim:`there are fewer
#   <twelve-calls.0-and-1-unbacked.compilations < twelve-calls.0-and-1-marked.compilations>`:
#   :measured:`twelve-calls.0-and-1-unbacked.compilations`. Rule: in serving, call once with a batch of
#   one during warm-up.
# - **Numbers** that are arguments become dynamic as sizes do: an integer takes
#   :measured:`twelve-calls.integer-argument.compilations` compilations, a float
#   :measured:`twelve-calls.float-argument.compilations`.
# - **An integer that a module keeps** is fixed each time: :claim:`it runs into the limit
#   <twelve-calls.integer-argument.compilations < twelve-calls.integer-of-a-module.compilations>`. Rule:
#   keep it in a tensor, or set ``torch.compiler.config.allow_unspec_int_on_nn_module = True``.
#
# **A second process compiles twice again.** The compiler's cache keeps code, and not which sizes vary. It keeps those, too, if
# the job has a name. The next cell starts two processes, one after the other, which call a function with four lengths;
# once with a cache that is kept, and once with a name in ``TORCH_COMPILE_JOB_ID``, too. It was measured in one process.

# sphinx_gallery_fold = "Count the compilations of two processes"
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
# With the cache alone, the second process takes :measured:`two-processes.cache-second-process.compilations` compilations, as
# many as the first. With a name, :claim:`it takes fewer <two-processes.cache-and-name-second-process.compilations <
# two-processes.cache-second-process.compilations>`: :measured:`two-processes.cache-and-name-second-process.compilations`.
# Rule: keep the folder of ``TORCHINDUCTOR_CACHE_DIR``, and set ``TORCH_COMPILE_JOB_ID`` to a name that all processes of a
# job share, and no other job.
#
# **You do not see why.** ``TORCH_LOGS=recompiles`` prints each guard that failed, such as ``tensor 'x'
# size mismatch at index 1. expected 64, actual 323``. ``TORCH_LOGS=dynamic`` prints where a size was
# fixed. ``TORCH_TRACE=folder`` keeps a trace, from which ``tlparse folder`` makes a report of all
# compilations.
#
# **A length decides about a number.** If the length is a key of a dictionary, the code holds for this
# length only. ``mark_dynamic`` then raises an error, which tells where. ``maybe_mark_dynamic`` raises
# none, and :claim:`it helps nothing <twelve-calls.length.compilations <
# twelve-calls.length-as-a-key-maybe-marked.compilations>`. Rule: mark with ``mark_dynamic`` in a test,
# to find such places, and replace the dictionary by a tensor that is indexed.

# sphinx_gallery_fold = "What mark_dynamic says to a length that is a key"
# sphinx_gallery_once = True
x = torch.ones(5, 8)
mark_dynamic(x, 0)
try:
    torch.compile(look_up, backend="eager")(x)
except Exception as error:
    print(type(error).__name__)

# %%
# **The code asks for the size.** ``if length > 64`` needs an answer while compiling. With a size that
# is marked as unbacked, there is none, and compiling fails. Rule: promise the answer with
# ``torch._check``. A call that breaks the promise raises an error.

# sphinx_gallery_fold = "Promise the answer"
# sphinx_gallery_once = True


def halve_long(x):
    """Return ``x``, and half of it if it is long."""
    torch._check(x.shape[0] <= 64)  # without this line, compiling fails
    return x / 2 if x.shape[0] > 64 else x


x = torch.ones(1, 8)
mark_unbacked(x, 0)
print(torch.compile(halve_long, backend="eager", fullgraph=True)(x).shape)

# %%
# **Two sizes that were equal.** If height and width of the first image are equal, PyTorch supposes that
# they always are, and compiles once more when they differ. Rule: warm up with an image that is not
# square, or set ``torch.fx.experimental._config.use_duck_shape = False``.
#
# **Padding changes the result.** Means over tokens see the padding, and so does attention to tokens
# behind. Rule: pass a mask, or leave the padding out of the mean.
#
# **A request takes seconds.** Something is compiled in it. Rule: warm up as "Serving" says at the end of this page,
# and then set ``torch.compiler.set_stance("eager_on_recompile")``. In a test, ``"fail_on_recompile"``
# raises an error instead.
#
# Why it compiles again, and when it stops
# ----------------------------------------
#
# The first call compiles for exactly the sizes it gets: they are numbers in the code. Checks before the
# code, called :term:`guards <guard>`, let only these sizes in, so a second size breaks one of these checks. PyTorch
# compares the two inputs, and where a size differs, it compiles again with a symbol in the place of the number. It
# calls this **automatic dynamic shapes**. Code with a symbol serves all further sizes, with two exceptions: 0 and 1 are
# always fixed. And where your code asks for the size, such as ``if length > 512``, both branches are compiled, one
# after the other.
#
# A **CUDA graph** has no symbols. It is recorded for one size, so each size has a graph of its own,
# recorded from the same compiled code. With a new size, the first call runs the code, the second
# records, and only the third replays.
#
# **Padding** turns many sizes into a few. The price is what the GPU computes for the padding.
#
# In the chart, eight texts come in one after the other. The first call compiles for length 64, the second for any
# length, and the others find code that fits. If texts are padded to 256, 448 or 640, the GPU computes more tokens than
# they have.
#
# .. chart:: tokens, padded_tokens
#    :case: eight texts
#
#    Tokens of eight texts in the order of their calls, and tokens with padding up to 256, 448 or 640.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
lengths, few_sizes = [64, 323, 582, 101, 360, 619, 138, 397], [256, 448, 640]
for number, length in enumerate(lengths, 1):
    padded = min(size for size in few_sizes if size >= length)
    call = f"call {number}"
    bench.measure("eight texts", call, "tokens", length, unit="")
    bench.measure("eight texts", call, "padded_tokens", padded, unit="")
    print(f"{call}: {length} tokens, {padded} with padding")

# %%
# Eight texts in a batch
# ----------------------
#
# If the name of a variant does not say otherwise, nothing is marked and nothing is padded. The hidden
# states of the last tokens have to agree within 0.1, because they are ``bfloat16``. ``wall`` is the
# wall time of a pass and ``gpu`` the time in kernels. ``first_call`` is the first pass. Tables, charts
# and text show the median of all processes. What is printed, and the tables of the notebook, show one
# run.

VARIANTS = {
    "without compiling": dict(compiled=False),
    "nothing marked": {},
    "length marked": dict(marked=True),
    "CUDA graphs": dict(mode="reduce-overhead"),
    "padded, CUDA graphs": dict(sizes=SIZES, mode="reduce-overhead"),
}
few_texts = make_texts(FEW)
Visit(few_texts[:1])()  # the compiler has done everything once before it is timed
visits = {name: Visit(few_texts, **options) for name, options in VARIANTS.items()}
few = bench.compare("few texts", visits, tolerance=0.1, rehearse=False)

# %%

# sphinx_gallery_fold = "Look at three variants: lines of this run"
# sphinx_gallery_once = True
for name in ("without compiling", "nothing marked", "CUDA graphs"):
    print(name, end=": ")
    look(visits[name], calls=10)

# %%
# .. chart:: wall
#    :case: few texts
#
#    Wall time of a pass over 20 lengths, with eight texts in a batch.
#
# - With nothing marked, the first pass takes :measured:`few-texts.nothing-marked.first_call`, because
#   it compiles twice. With the length marked it compiles once, and :claim:`takes less time
#   <few-texts.length-marked.first_call < few-texts.nothing-marked.first_call>`:
#   :measured:`few-texts.length-marked.first_call`. Later passes run the same code.
# - With nothing marked, a pass takes :measured:`few-texts.nothing-marked.wall`; without compiling it takes
#   :measured:`few-texts.without-compiling.wall`. :claim:`The GPU still waits for the CPU <1.25 *
#   few-texts.nothing-marked.gpu < few-texts.nothing-marked.wall>`: it computes for only
#   :measured:`few-texts.nothing-marked.gpu`.
# - With CUDA graphs a pass :claim:`takes less time <few-texts.cuda-graphs.wall <
#   few-texts.nothing-marked.wall>`: :measured:`few-texts.cuda-graphs.wall`. The graphs of all lengths share
#   one pool, which keeps :measured:`few-texts.cuda-graphs.kept` of memory. The first pass of this variant
#   comes after those of the variants above. It finds a part of what they have compiled and loaded, so do not compare
#   its time with theirs.
# - With padding and CUDA graphs it takes :measured:`few-texts.padded-cuda-graphs.wall`. Padding itself
#   is a kernel, and the model has :measured:`padding.four-sizes.waste` more tokens to compute. Here,
#   :claim:`it loses against a graph for each length <few-texts.cuda-graphs.wall <
#   few-texts.padded-cuda-graphs.wall>`, which we did not expect.
#
# A length that is new
# --------------------
#
# Twenty lengths are few. What does it cost if yet another length comes? Eight new ones go through each variant in six
# passes, in the order of the table above. The price of new lengths is the time of the first three passes minus that of
# the last three. The next cell prints it divided by the number of lengths, and also the memory that the first three passes have taken and
# kept, and how long a later call takes.
#
# In PyTorch 2.15, recording has a limit: once a function has graphs of
# ``torch._inductor.config.triton.cudagraph_dynamic_shape_rerecord_limit`` sizes, further sizes run compiled, but without a
# graph. The last variant sets it to the 20 lengths that have their graphs. This was measured in one process.


def meet(visit, texts):
    """Return the seconds, per text, that a new length takes once and a later call takes;
    and the memory that is kept."""
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
    meet(visits["without compiling"], other_texts)  # cuDNN plans attention here
    with torch._inductor.config.patch(limited):
        met["CUDA graphs, limited"] = meet(visits["CUDA graphs"], other_texts)
else:
    print(f"PyTorch {torch.__version__} has no such limit: it is left out.")

# %%

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
# - The variant without compiling comes first, and a new length takes it
#   :measured:`a-new-length.without-compiling.new_length`. So the compiler is not the reason. The reason is cuDNN, which
#   PyTorch prefers for attention on this GPU: it plans attention anew for each length. The other variants come
#   later and find these plans ready.
# - :doc:`/recipes/token_generation` measures the same with a cache that grows by a place with each token. There,
#   a token of a new length takes :measured:`token_generation:growing-cache.cudnn.first_pass`. :claim:`Without
#   cuDNN it takes less <token_generation:growing-cache.without-cudnn.first_pass <
#   growing-cache.cudnn.first_pass>`: :measured:`token_generation:growing-cache.without-cudnn.first_pass`. If
#   most of your lengths are new and you do not pad, call ``torch.backends.cuda.enable_cudnn_sdp(False)``.
# - With CUDA graphs, a new length takes another :measured:`a-new-length.cuda-graphs.new_length`, because
#   a graph is recorded.
# - With padding, :claim:`it takes less <a-new-length.padded-cuda-graphs.new_length <
#   a-new-length.cuda-graphs.new_length>`: the padded size has come before, so cuDNN's plan and the graph are
#   there. So if the GPU waits for the CPU and most lengths come only once, pad.
# - With the limit, no graph is recorded: in PyTorch 2.15, a new length takes
#   :measured:`a-new-length.cuda-graphs-limited.new_length`, and a later call takes
#   :measured:`a-new-length.cuda-graphs-limited.later_call`. With a graph, a later call takes
#   :measured:`a-new-length.cuda-graphs.later_call`. The limit is read while the program runs, so set it for the process:
#   in ``options`` of ``torch.compile`` it has no effect.
#
# After eight sizes of one function PyTorch warns that it records many graphs
# (``torch._inductor.config.triton.cudagraph_dynamic_shape_warn_limit``).
#
# 128 texts in a batch
# --------------------
#
# Now each kernel has 16 times as much to do.

NAMES = ("without compiling", "nothing marked", "padded, CUDA graphs")
many_texts = make_texts(MANY)
visits = {name: Visit(many_texts, **VARIANTS[name]) for name in NAMES}
many = bench.compare("many texts", visits, tolerance=0.1, rehearse=False)

# %%
# .. chart:: wall
#    :case: many texts
#
#    Wall time of a pass over 20 lengths, with 128 texts in a batch.
#
# The GPU is busy, and compiling :claim:`saves time because kernels are fused <many-texts.nothing-marked.gpu
# < many-texts.without-compiling.gpu>`. It :claim:`also saves memory <many-texts.nothing-marked.memory <
# many-texts.without-compiling.memory>`: with nothing marked, a pass takes
# :measured:`many-texts.nothing-marked.memory`; without compiling, it takes
# :measured:`many-texts.without-compiling.memory`. CUDA graphs save nothing here, and padding adds work: with
# both, :claim:`the GPU has more to do than without compiling <many-texts.without-compiling.gpu
# < many-texts.padded-cuda-graphs.gpu>`.
#
# Code for one size, or for any
# -----------------------------
#
# Does code for any size take the GPU more time? The next cell compiles with ``dynamic=False`` for five lengths. It was
# measured in one process.

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
# .. chart:: gpu
#    :case: five lengths
#
#    GPU time of a pass over five lengths.
#
# Both take about the same GPU time: compiled for each length, a pass takes
# :measured:`five-lengths.each-length-compiled.gpu`; compiled for any length, it takes
# :measured:`five-lengths.compiled-for-any-length.gpu`. :claim:`Code for one size saves less than a twentieth <0.95 *
# five-lengths.compiled-for-any-length.gpu < five-lengths.each-length-compiled.gpu>`, and :claim:`the first pass takes
# longer <2 * five-lengths.compiled-for-any-length.first_call < five-lengths.each-length-compiled.first_call>`:
# :measured:`five-lengths.each-length-compiled.first_call`; compiled for any length, it takes
# :measured:`five-lengths.compiled-for-any-length.first_call`. So here ``dynamic=False`` has no use. With tuned kernels
# (``max-autotune``) that may be otherwise.
#
# Padding without CUDA graphs has no use, either: :claim:`it only adds work
# <five-lengths.each-length-compiled.gpu < five-lengths.padded-each-size-compiled.gpu>`.
#
# How many sizes to pad to
# ------------------------
#
# Few sizes waste time on padding, and each size needs a graph. This, too, was measured in one process.
# The percentages in the last lines that the cell prints tell how many tokens padding adds to those of the texts.
# The lines call them shares of all tokens, but they are shares of the texts' tokens.

# sphinx_gallery_once = True


def spread(number):
    """Return that many sizes, at equal distances, up to the longest text."""
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
# .. chart:: gpu
#    :case: sizes to pad to
#
#    GPU time of a pass over 20 lengths that are padded to one, two or eight sizes.
#
# :claim:`The fewer sizes, the more GPU time <sizes-to-pad-to.padded-cuda-graphs.gpu: 8 < 2 < 1>`. With
# one size, a pass takes :measured:`sizes-to-pad-to.1.padded-cuda-graphs.wall` of wall time; with eight, it
# takes :measured:`sizes-to-pad-to.8.padded-cuda-graphs.wall`. :claim:`Even one size takes less than not compiling
# <sizes-to-pad-to.1.padded-cuda-graphs.wall < sizes-to-pad-to.1.without-compiling.wall>`.
#
# Serving
# -------
#
# - **Serving**: before the first request comes, call the model with two inputs that differ in every size that can
#   vary, and with a batch of one if that can come. With ``reduce-overhead``, then call the model three times with
#   each size. Warm up in the mode in which requests run (``no_grad`` or ``inference_mode``). Then call
#   ``torch.compiler.set_stance("eager_on_recompile")``: no request compiles, but a size or a mode that you forgot
#   runs without compiling, and nothing warns. With ``reduce-overhead`` and PyTorch 2.11, make all calls in one
#   thread: in another one, a new size ends in an ``AssertionError`` (:ref:`for-serving`). For a few known sizes,
#   record :doc:`a graph by hand </recipes/cuda_graphs>` for each, the largest first, in one pool; copy a result
#   before you replay another graph. Up to PyTorch 2.14, do not use both in one process: a replay can then end in an
#   illegal memory access.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# The list of measurements at the end of this page says how many processes and hosts each of them comes from. One
# model was measured, on one GPU, without gradients. Training compiles a backward pass as well. If
# text is generated token by token, a static cache keeps the size fixed: see :doc:`/recipes/token_generation`.
# Attention without padding, over texts laid end to end, is what `varlen_attn
# <https://docs.pytorch.org/docs/stable/nn.attention.varlen.html>`__ and `FlexAttention
# <https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html>`__ are for; `nested tensors
# <https://docs.pytorch.org/docs/stable/nested.html>`__ are a prototype.
# ``torch._dynamo.mark_dynamic`` and the other functions with an underscore may change.
# :doc:`/recipes/compile_modes` shows what CUDA graphs ask of your code, and
# :doc:`/recipes/where_time_goes` shows whether the GPU waits at all.
#
# PyTorch's documentation has a chapter on `dynamic shapes
# <https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html>`__.

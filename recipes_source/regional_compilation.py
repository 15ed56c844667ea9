"""
The first call takes minutes: compile the model or its block?
=============================================================

What you compile decides how long the first call takes.

.. answer::

   **Compile the repeated block, not the whole model.** All blocks then share the code of one. If the GPU waits for the
   CPU, first capture the model in a CUDA graph, without a compiler; with many shapes, or if the model syncs with the CPU, use
   ``reduce-overhead``. In short runs, compile nothing: compiler startup costs :measured:`process.compiler.start_up` per
   process.

   .. chart:: first_call
      :case: long input
      :only: model, blocks
      :best: blocks
      :hero:

      First call of eight blocks with a long input, empty cache

   - :measured:`long-input.blocks.first_call` first call, from :measured:`long-input.model.first_call` for the whole model
   - :measured:`process.compiler.start_up` compiler startup, once per process
   - :measured:`long-input.blocks.break_even` calls to break even, startup included
   - :measured:`short-input.blocks-in-a-cuda-graph.speedup` speed-up, short input, blocks in one graph

   .. code-block:: diff
      :caption: What changes

      - model.compile()
      + for block in model.blocks:
      +     block.compile()

   .. code-block:: python
      :caption: The block

      import torch

      class Block(torch.nn.Linear):  # its forward has to be code of your own
          def forward(self, x):
              return x + torch.relu(super().forward(x))

      model = torch.nn.Sequential(*[Block(512, 512, device="cuda") for _ in range(32)])
      for block in model:
          block.compile()  # in place of model.compile()
      with torch.no_grad():
          result = model(torch.randn(64, 512, device="cuda"))  # compiles one block

   .. code-block:: python
      :caption: And one CUDA graph

      import torch
      class Block(torch.nn.Linear):
          def forward(self, x):
              return x + torch.relu(super().forward(x))
      model = torch.nn.Sequential(*[Block(512, 512) for _ in range(32)])
      for block in model.cuda().requires_grad_(False):
          block.compile()  # for very long runs; try without it first
      x, graph = torch.randn(64, 512).cuda(), torch.cuda.CUDAGraph()
      model(x)  # compiles one block
      with torch.cuda.graph(graph):
          result = model(x)  # records
      graph.replay()  # copy each input into x before; the next replay overwrites result

   .. code-block:: python
      :caption: It starts again

      import os
      os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.expanduser("~/compiler-cache")
      import torch
      class Block(torch.nn.Linear):
          def forward(self, x):
              return x + torch.relu(super().forward(x))
      model = torch.nn.Sequential(*[Block(512, 512) for _ in range(32)])
      for block in model.cuda():
          block.compile()
      with torch.no_grad():
          result = model(torch.randn(64, 512).cuda())  # the next process reuses the code

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as :doc:`look </recipes/where_time_goes>` prints it
     - Capture one CUDA graph; compiled blocks alone help little: :doc:`CUDA graphs </recipes/cuda_graphs>`
   * - GPU busy above 95 %
     - Compile the blocks
   * - No block repeats
     - Compile the whole model
   * - The program starts again and again
     - Keep the compiler's cache folder
   * - In PyTorch 2.11, compiled ``torch.nn`` layers change nothing
     - Put ``torch.compile(layer)`` in the layer's place

**In your library**

.. libraries::

   - **Diffusers**: ``pipe.transformer.compile_repeated_blocks()``.
   - **Accelerate**: ``TorchDynamoPlugin(backend="inductor", use_regional_compilation=True)``. If sizes vary and
     ``accelerate launch`` starts the job, pass ``--dynamo_use_dynamic``; otherwise each size is compiled.
   - **Transformers**: ``for layer in model.model.layers: layer.compile()``. The list of layers has another name in
     some models. For scoring or training, call the model with ``use_cache=False``: with a KV cache, each layer would
     compile separately. To generate, see :doc:`/recipes/token_generation`. ``torch_compile=True`` of
     ``TrainingArguments`` compiles the whole model.
   - **Lightning**: compile the blocks in ``configure_model``.

**What you need**

- PyTorch 2.11 or newer, and pandas. Blocks share compiled code since PyTorch 2.5.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton. On other machines the recipe runs small sizes on the CPU, and needs a C++ compiler. A GPU without
  ``bfloat16``, such as a T4, computes in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What to choose
# --------------
#
# A **variant** is one way to do the same work. "Blocks" means that each block is compiled, and "model" that the whole
# model is. Times of later calls are wall times. First calls have an empty cache, and the compiler has started before;
# its start takes :measured:`process.compiler.start_up`, once per process. If the model repeats a block, compile the
# block. Compile the whole model if nothing repeats, or if the first call of the whole model is short enough.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Choose
#      - What it gives
#      - What it costs
#    * - The first call takes too long, and the GPU is busy in later calls
#      - ``block.compile()`` for each block
#      - The first call takes :measured:`long-input.blocks.first_call`; with the whole model it takes
#        :measured:`long-input.model.first_call`
#      - Here, nothing: a later call takes :measured:`long-input.blocks.wall`; with the whole model it takes
#        :measured:`long-input.model.wall`. It needs :measured:`long-input.blocks.memory` of memory beside
#        weights and input; without compiling it needs :measured:`long-input.not-compiled.memory`
#    * - The GPU waits for the CPU, sizes are few and known, and nothing in the model needs the CPU
#      - The model in one CUDA graph by hand, without compiling
#      - A call takes :measured:`short-input.not-compiled-in-a-cuda-graph.wall`; without the graph it takes
#        :measured:`short-input.not-compiled.wall`
#      - The graph keeps :measured:`short-input.not-compiled-in-a-cuda-graph.kept` of memory. Inputs are copied
#        to a fixed address, and each call overwrites the result of the one before
#    * - The GPU waits for the CPU, sizes are few and known, nothing in the model needs the CPU, and the program runs
#        for very long
#      - ``block.compile()`` for each block, and then the model in one CUDA graph by hand
#      - A call takes :measured:`short-input.blocks-in-a-cuda-graph.wall`; without compiling it takes
#        :measured:`short-input.not-compiled.wall`
#      - The first call takes :measured:`short-input.blocks-in-a-cuda-graph.first_call`. The graph keeps
#        :measured:`short-input.blocks-in-a-cuda-graph.kept` of memory. Inputs are copied to a fixed address, and each call overwrites the
#        result of the one before
#    * - The GPU waits for the CPU, and sizes are many or unknown, or you want to change one line only
#      - ``model.compile(mode="reduce-overhead")``
#      - In another test, a call takes :measured:`reduce-overhead.model.wall`. There it takes
#        :measured:`reduce-overhead.not-compiled.wall` without compiling
#      - The first call takes :measured:`reduce-overhead.model.first_call`. In that test, the graph keeps
#        :measured:`reduce-overhead.model.kept` of memory. A second size is compiled once more, and each size is
#        recorded
#    * - The program starts again and again, on the same machine
#      - Keep the folder of the compiler's cache
#      - The first call of the model takes :measured:`fresh-process.model-cache-kept.first_call`; with an empty cache it
#        takes :measured:`fresh-process.model.first_call` (measured in one process)
#      - Imports and the start of the compiler take their time as before. You need a folder that stays. What it holds is
#        for one version of PyTorch and one kind of GPU
#    * - In PyTorch 2.11, compiling changes nothing, and the blocks are of a class of ``torch.nn`` itself, such as
#        ``TransformerEncoderLayer``
#      - A newer PyTorch; or a subclass with a ``forward`` of its own; or ``torch.compile(layer)``
#      - In PyTorch 2.11, ``compile()`` of such a block makes no graph
#      - Nothing
#    * - All later calls together save less than the compiler's start takes. With the long input of this page, compiled
#        blocks pay after :measured:`long-input.blocks.break_even` calls. With the short input, in one CUDA graph, they
#        pay after :measured:`short-input.blocks-in-a-cuda-graph.break_even` calls, compared with no graph, and much later
#        compared with a graph alone
#      - No compiling
#      - You do not wait for the compiler
#      - With a long input, a call takes :measured:`long-input.not-compiled.wall`; with compiled blocks it
#        takes :measured:`long-input.blocks.wall`
#
# Conditions and costs
# --------------------
#
# **The GPU waits for the CPU** if it is busy for less than 80 % of the time. ``look`` prints this:
# :doc:`/recipes/where_time_goes`. From 95 % on, the GPU is busy, and a graph has nothing to remove.
#
# If the GPU waits and neither kind of CUDA graph is possible, compiled blocks alone gain little, or lose: each
# block checks conditions (:term:`guards <guard>`) in each call. With the short input of this page, a call takes
# :measured:`short-input.blocks.wall`; without compiling, it takes :measured:`short-input.not-compiled.wall`. Compile
# the whole model if no block repeats, or if the first call of the whole model is short enough.
#
# - **Layers of torch.nn itself**: in PyTorch 2.11, but not in 2.15, ``compile()`` does nothing, without a warning, on
#   layers such as ``TransformerEncoderLayer``. There, put ``torch.compile(layer)`` into the model in place of the
#   layer.
#
# **What it costs:** you wait for the compiler once per process. A graph also keeps memory, its sizes are fixed, and
# each call overwrites the result of the one before. With a short input, a graph by hand keeps
# :measured:`short-input.not-compiled-in-a-cuda-graph.kept`. Without a graph, a call needs
# :measured:`short-input.not-compiled.memory`. The start of the compiler takes :measured:`process.compiler.start_up`.
# With a long input, the first call of compiled blocks comes on top: it takes
# :measured:`long-input.blocks.first_call`. This was measured without gradients: in training, backward is compiled,
# too, and you wait longer. After :measured:`long-input.blocks.break_even` calls, the run has won back both waits.
#
# With a short input, compiled blocks and one CUDA graph, the first call takes
# :measured:`short-input.blocks-in-a-cuda-graph.first_call`. Compared with no graph, the run has won back the
# compiler's start and this call after :measured:`short-input.blocks-in-a-cuda-graph.break_even` calls. But a graph
# without compiled blocks saves most of this time: :claim:`a call in it takes at most 1.5 times as long
# <short-input.not-compiled-in-a-cuda-graph.wall < 1.5 * short-input.blocks-in-a-cuda-graph.wall>`. Compared with that
# graph, compiled blocks pay much later. In your job, add the seconds of the compiler's start and of the first calls,
# and divide the sum by the seconds saved per call.
#
# Results in words
# ----------------
#
# The model has eight blocks of a transformer, and the input is long. If the blocks are compiled, the first call takes
# :measured:`long-input.blocks.first_call`. :claim:`If the whole model is compiled, the first call takes longer
# <long-input.blocks.first_call < long-input.model.first_call>`: :measured:`long-input.model.first_call`. Later
# calls take about the same time in both cases.
#
# With a short input, :claim:`the GPU waits for the CPU <1.25 * short-input.not-compiled.gpu <
# short-input.not-compiled.wall>`: it is busy for less than 80 % of the time. Without compiling, a call
# takes :measured:`short-input.not-compiled.wall`. Compiled blocks that are recorded in one CUDA graph
# :claim:`take less than half of that <2 * short-input.blocks-in-a-cuda-graph.wall <
# short-input.not-compiled.wall>`: :measured:`short-input.blocks-in-a-cuda-graph.wall`.
#
# The experiment
# --------------
#
# The blocks are those of a language model. On a large GPU there are eight of them, each 768 wide. The long
# input has 32 texts of 1024 tokens, and the short input is a single text of 128 tokens. All variants of an
# experiment get the same model and the same input.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Does the GPU wait? How to look"

from _look import look

# %%

bench = Bench()

import inspect

import pandas as pd
import torch
from torch import nn

torch.set_grad_enabled(False)
bench.rounds = 6  # most of the time goes into compiling
ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 16 * 2**30
WIDTH, DEPTH, SHORT, LONG = 128, 3, (1, 16), (2, 64)  # for a CPU
if bench.gpu:
    WIDTH, DEPTH, SHORT, LONG = 512, 6, (1, 128), (4, 512)
if ROOMY:
    WIDTH, DEPTH, SHORT, LONG = 768, 8, (1, 128), (32, 1024)

# %%
# These are the layer and the model of the original recipe:


class Layer(nn.Module):
    """Two small linear layers, as in the original recipe."""

    def __init__(self, width=10):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        x = torch.sigmoid(torch.relu(self.linear1(x)))
        return torch.relu(self.linear2(x))


class Model(nn.Module):
    """A leading linear layer, and the blocks behind it."""

    def __init__(self, width, blocks):
        super().__init__()
        self.linear, self.blocks = nn.Linear(width, width), nn.ModuleList(blocks)

    def forward(self, x):
        x = self.linear(x)
        for block in self.blocks:
            x = block(x)
        return x


# %%
# Variants that share Python code would also share compiled code, and only the first of them would compile.
# So each variant gets a copy of the block's code.

# sphinx_gallery_fold = "A transformer block, and how models are made"
import types


class Block(nn.Module):
    """Attention and two linear layers, each with a norm before and a sum behind it."""

    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        heads = self.qkv(self.norms[0](x)).unflatten(-1, (3, -1, 64))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(-2))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


def make_model(kind, width, depth, device, dtype):
    """Return a model of some blocks, with the same random weights each time."""
    torch.manual_seed(0)
    with torch.device(device):
        return Model(width, [kind(width) for _ in range(depth)]).to(dtype)


def own_code(kind):
    """Return a class like another one, so that variants share no compiled code."""
    copied = types.FunctionType(kind.forward.__code__.replace(), globals())
    return type(kind.__name__, (kind,), {"forward": copied})


def make_input(tokens, width, device, dtype):
    """Return a random input, the same each time."""
    torch.manual_seed(1)
    return torch.randn(*tokens, width, device=device, dtype=dtype)


MACHINE = dict(width=WIDTH, device=bench.device, dtype=bench.dtype)

# %%
# The next cell makes the variants. ``compile()`` of a module only prepares: its first call compiles. Before a graph is
# recorded by hand, the model runs once, which compiles it. Without gradients, any stream will do for that run; in
# training, it must not be the default stream (:doc:`/recipes/cuda_graphs`).


def compile_blocks(model, x, **options):
    """Have each block compiled in place, in its first call."""
    for block in model.blocks:
        block.compile(**options)
    return model


def compile_model(model, x, **options):
    """Have the whole model compiled in place, in its first call."""
    model.compile(**options)
    return model


def fewer_guards(model, x):
    """Have each block compiled, without the guards on its modules."""
    skip = torch.compiler.skip_guard_on_all_nn_modules_unsafe
    for block in model.blocks:
        # torch.compile() empties the dictionary: each block needs its own
        block.compile(options={"guard_filter_fn": skip})
    return model


def reduce_overhead(model, x):
    """Have the whole model compiled, and recorded in CUDA graphs by the compiler."""
    compile_model(model, x, mode="reduce-overhead")

    def run(x):
        torch.compiler.cudagraph_mark_step_begin()  # earlier results may be overwritten
        return model(x)

    return run


def in_a_graph(model, x):
    """Return a model that its first call records in a CUDA graph, and later ones replay."""
    if not bench.gpu:
        print("There are no CUDA graphs here: the model runs as it is.")
        return model
    graph, place, recorded = torch.cuda.CUDAGraph(), x.clone(), []

    def replay(x):
        if not recorded:
            model(place)  # compiles
            with torch.cuda.graph(graph):  # records, and does not run
                recorded.append(model(place))
        place.copy_(x)
        graph.replay()
        return recorded[0]  # the next replay overwrites it

    return replay


def blocks_in_a_graph(model, x):
    """Have each block compiled, and record the whole model in a CUDA graph."""
    return in_a_graph(compile_blocks(model, x), x)


# %%


def make_variants(ways, tokens, depth=DEPTH):
    """Return a call of each variant, with a model of its own and the same input."""
    calls = {}
    for name, prepare in ways.items():
        model = make_model(own_code(Block), depth=depth, **MACHINE)
        x = make_input(tokens, **MACHINE)
        run = prepare(model, x) if prepare else model
        calls[name] = lambda run=run, x=x: run(x)
    return calls


# %%
# Pitfalls
# --------
#
# **Each block is compiled, up to eight, and the rest is not.** The next block reuses the code if all its guards hold.
# Weights may differ. **An integer of a module may not**, because it is part of the code. The layers below look alike.
# Those of "Plain" differ by weights only, those of "OwnRate" by a dropout rate, and those of "UsesInt" by a number.
# "UsesTensor" has that number in a tensor.

# sphinx_gallery_fold = "Layers that look alike"


class Plain(nn.Module):
    """Differs from its neighbours by weights only."""

    def __init__(self, index):
        super().__init__()
        self.linear, self.dropout = nn.Linear(10, 10), nn.Dropout(0.1)
        self.index = index
        self.register_buffer("scale", torch.tensor(1 / (1 + index)))

    def forward(self, x):
        return self.dropout(self.linear(x))


class OwnRate(Plain):
    """Has a dropout rate of its own, which counts in evaluation mode, too."""

    def __init__(self, index):
        super().__init__(index)
        self.dropout.p = 0.01 * index


class UsesInt(Plain):
    """Uses a number of its own."""

    def forward(self, x):
        return self.linear(x) / (1 + self.index)


class UsesTensor(Plain):
    """Has put that number into a tensor."""

    def forward(self, x):
        return self.linear(x) * self.scale


class OwnEncoder(nn.TransformerEncoderLayer):
    """Has a forward of this file."""

    def forward(self, x):
        return super().forward(x)


# %%

# sphinx_gallery_fold = "How compilations are counted"
# sphinx_gallery_once = True


def count(layers, x, **options):
    """Return how many graphs are compiled for layers, and how many layers run without one."""
    torch.compiler.reset()
    graphs = runs = 0

    def backend(graph, inputs):
        nonlocal graphs
        graphs += 1

        def run(*arguments):
            nonlocal runs
            runs += 1
            return graph.forward(*arguments)

        return run

    for layer in layers:
        layer.eval().compile(backend=backend)
    for _ in range(2):  # the second round shows what stays
        runs, y = 0, x
        for layer in layers:
            y = layer(y)
    return {"compilations": graphs, "not_compiled": len(layers) - runs}


# %%

# sphinx_gallery_fold = "Count the compilations of twelve layers"
# sphinx_gallery_once = True
x, counts = torch.ones(4, 10), {}
for kind in (Plain, OwnRate, UsesInt, UsesTensor):
    counts[kind.__name__] = count([kind(index) for index in range(12)], x)
with torch.enable_grad():
    counts["Plain, gradients"] = count([Plain(index) for index in range(12)], x)
with torch.compiler.config.patch(allow_unspec_int_on_nn_module=True):
    counts["UsesInt, allowed"] = count([UsesInt(index) for index in range(12)], x)
for kind in (nn.TransformerEncoderLayer, OwnEncoder):
    layers = [kind(10, 2, 20, batch_first=True) for _ in range(12)]
    counts[kind.__name__] = count(layers, x[None])
print(pd.DataFrame(counts).T)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for kind, quantities in counts.items():
    for quantity, number in quantities.items():
        bench.measure("12 layers", kind, quantity, number, unit="")

# %%
# - Where only weights and tensors differ, one graph serves all twelve layers. With gradients there are
#   :measured:`12-layers.plain-gradients.compilations`, because the input of the first layer needs no gradient.
# - Layers with different integers or dropout rates get a graph each, eight at most. Then
#   :claim:`the rest runs without compiling <12-layers.plain.not_compiled < 12-layers.usesint.not_compiled>`,
#   and only a warning tells ("torch._dynamo hit config.recompile_limit"). Rule: put the number into a tensor,
#   or set ``torch.compiler.config.allow_unspec_int_on_nn_module = True``.
# - In PyTorch 2.11, ``compile()`` of a class of ``torch.nn`` makes no graph, because the compiler does not start inside
#   PyTorch's own functions. PyTorch 2.15 makes one. Rule for 2.11: write a subclass with a ``forward``, or wrap the layer
#   in ``torch.compile(layer)``.
#
# ``TORCH_LOGS=recompiles`` names the guard that failed.
#
# **Now and then a call takes seconds.** The compiler compiles again for an input of another type or size. Rule:
# find such inputs in a test, with the stance ``fail_on_recompile``. In serving, the stance
# ``eager_on_recompile`` runs them without compiling. Both came with PyTorch 2.6. :doc:`/recipes/varying_sizes` says
# what to do about sizes that vary.

# sphinx_gallery_fold = "Find such inputs"
# sphinx_gallery_once = True
torch.compiler.reset()
layer = Layer()
layer.compile(backend="eager")
layer(torch.ones(4, 10))
with torch.compiler.set_stance("fail_on_recompile"):
    try:
        layer(torch.ones(3, 10))
    except RuntimeError as error:
        print(str(error).split(". ")[0])
with torch.compiler.set_stance("eager_on_recompile"):
    print("without compiling:", layer(torch.ones(3, 10)).shape)

# %%
# **"Output of CUDAGraphs that has been overwritten".** With
# ``block.compile(mode="reduce-overhead")``, each block is a CUDA graph of its own. A graph may overwrite what an earlier one has returned, and that is
# the input of the next block. Rule: record the whole model in one graph, or call
# ``torch.compiler.cudagraph_mark_step_begin()`` before each call of the model.

# sphinx_gallery_fold = "Blocks that are CUDA graphs of their own"
# sphinx_gallery_once = True
torch.compiler.reset()
model = nn.Sequential(*[Layer() for _ in range(4)]).to(bench.device)
for layer in model:
    layer.compile(mode="reduce-overhead")
for _ in range(3):
    try:
        print("sum:", model(torch.ones(10, device=bench.device)).sum().item() > 0)
    except RuntimeError as error:
        print(str(error).split(". ")[0])

# %%
# **A replay ends with "an illegal memory access was encountered".** If ``mode="reduce-overhead"`` warms up or records
# after you have recorded a graph by hand, PyTorch up to 2.14 frees the workspace of cuBLAS, which your graph may still use. A
# new size is enough for that. Rule: use one of the two in a process. If you cannot avoid both, run all sizes of
# ``reduce-overhead`` first, and no new one afterwards.
#
# **Results are wrong, and nothing warns.** If you skip the guards on modules, a block with another number runs the code
# of the first block, with the number of the first block. Rule: skip guards only where blocks differ in weights alone.
# Pass a new dictionary ``options`` to each block: ``torch.compile`` empties the one it gets.

# sphinx_gallery_fold = "Two blocks that share code, with and without guards"
# sphinx_gallery_once = True
skip = torch.compiler.skip_guard_on_all_nn_modules_unsafe
for options in (None, {"guard_filter_fn": skip}):
    torch.compiler.reset()
    layers = [UsesInt(index) for index in range(2)]
    right = layers[1](x)
    for layer in layers:
        layer.compile(backend="eager", options=options and dict(options))
        y = layer(x)
    print("right:", torch.allclose(y, right, atol=1e-3))

# %%
# **Checkpoints do not load.** ``torch.compile(model)`` returns a wrapper, which puts ``_orig_mod.`` before
# all names of weights. Rule: ``model.compile()`` and ``block.compile()`` work in place and keep the names.

# sphinx_gallery_fold = "Names of weights"
# sphinx_gallery_once = True
print(next(iter(torch.compile(Layer()).state_dict())))
layer = Layer()
layer.compile()
print(next(iter(layer.state_dict())))

# %%
# **The cache does not help.** It lies in a temporary folder, which a container forgets. It holds for one version
# of PyTorch and of Triton, and for one kind of GPU. Rule: set ``TORCHINDUCTOR_CACHE_DIR`` to the absolute path
# of a folder that stays, or carry the cache along with ``torch.compiler.save_cache_artifacts()`` (a beta since
# 2.7).
#
# **Compiling fails.** Try ``backend="eager"``. If the error stays, the compiler cannot follow the Python code. If
# it goes away, a later step fails.
#
# Why the first call takes long
# -----------------------------
#
# ``torch.compile`` follows the Python code of ``forward`` into every layer. A loop over 64 layers becomes one
# graph with 64 copies of the same operations. Each later step, up to the generated code, works on all of
# them.
#
# The layers differ in their weights only. **Weights are inputs of the graph**, as ``x`` is, so the code of
# one layer serves all layers. The next cell prints the graph of one layer. ``TORCH_LOGS=graph_code python
# job.py`` prints yours.

# sphinx_gallery_fold = "Print the graph of one layer"
# sphinx_gallery_once = True


def show(graph, inputs):
    """Print what a compiler is given, and compile nothing."""
    for node in graph.graph.nodes:
        print(f"{node.op:14} {node.name}")
    return graph.forward


compiled = torch.compile(Layer(), backend=show)(torch.ones(10))

# %%
# The next cell counts the operations that the compiler is given. ``nested_compile_region`` is a third
# variant, a prototype. With it, the whole model is one graph, which holds the block once and calls it many times. If the
# blocks differ by an integer, each gets a graph of its own. In PyTorch 2.15 there are at most
# ``max_reuse_entries`` of them, eight unless told otherwise. Then compiling fails.

# sphinx_gallery_fold = "How operations are counted"
# sphinx_gallery_once = True


def count_operations(model, parts):
    """Return the operations that the compiler is given if parts of the model are compiled."""
    operations = 0

    def backend(graph, inputs):
        nonlocal operations
        graphs = [part for part in graph.modules() if hasattr(part, "graph")]
        nodes = [node for part in graphs for node in part.graph.nodes]
        operations += sum("call" in node.op for node in nodes)
        return graph.forward

    for part in parts:
        part.compile(backend=backend)
    with torch.no_grad():
        model(torch.ones(10))
    return operations


def nested(kind, **options):
    """Return a class like another one, whose forward is one operation of a larger graph."""
    region = torch.compiler.nested_compile_region(kind.forward, **options)
    return type("Nested", (kind,), {"forward": region})


many = {name: Model(10, [Layer() for _ in range(64)]) for name in ("blocks", "model")}
nested_layer = nested(Layer)  # one class for all: another class breaks the reuse
many["model, nested"] = Model(10, [nested_layer() for _ in range(64)])
operations = {"blocks": count_operations(many["blocks"], many["blocks"].blocks)}
for name in ("model, nested", "model"):
    operations[name] = count_operations(many[name], [many[name]])
print(operations)

# %%

# sphinx_gallery_fold = "64 nested layers, each with a number of its own"
# sphinx_gallery_once = True


def count_numbered(**options):
    """Return the operations for 64 nested layers that differ by a number."""
    torch.compiler.reset()
    kind = nested(UsesInt, **options)
    numbered = Model(10, [kind(index) for index in range(64)])
    return count_operations(numbered.eval(), [numbered])


region_options = inspect.signature(torch.compiler.nested_compile_region).parameters
entries = {"with a number": {}}
if "max_reuse_entries" in region_options:
    entries["with a number, 64 entries"] = dict(max_reuse_entries=64)
for name, options in entries.items():
    try:
        operations[f"model, nested, {name}"] = count_numbered(**options)
        print(f"{name}: {operations[f'model, nested, {name}']} operations")
    except Exception as error:
        print(f"{name}: {str(error).splitlines()[0][:80]}")

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, count in operations.items():
    bench.measure("64 layers", name, "operations", count, unit="")

# %%
# .. chart:: operations
#    :case: 64 layers
#
#    Operations that the compiler is given for 64 layers.
#
# Blocks have a price in every call. Before Python enters compiled code, it checks the :term:`guards <guard>` of
# that code, which are the conditions under which it is valid. A model that is compiled as a whole is entered
# once per call. Compiled blocks are entered once per block. What stands between the blocks runs without
# compiling.
#
# A long input: the GPU is busy
# -----------------------------
#
# We check that all variants give the same result, within a tenth. ``wall`` is the wall time of a call and ``gpu`` the
# time in kernels. ``cpu`` is the time in which the CPU launches them. ``first_call`` has an empty cache.
# ``break_even`` says after how many calls the variant has saved as much time as its start took, compared with not
# compiling.
# Tables, charts and text show the median of all processes. What is printed, and the tables of the notebook,
# show one run.

WAYS = {"not compiled": None, "blocks": compile_blocks, "model": compile_model}
REHEARSED = {"blocks, in a CUDA graph": blocks_in_a_graph}
rehearsal = make_variants({"not compiled": None}, LONG, depth=1)
rehearsal |= make_variants(REHEARSED, SHORT, depth=1)
for call in rehearsal.values():
    call()  # loads what is loaded at first use

long_input = bench.compare(
    "long input", make_variants(WAYS, LONG), tolerance=0.1, rehearse=False
)

# %%
# .. chart:: first_call
#    :case: long input
#
#    First call of eight blocks with a long input, once the compiler has started.
#
# - The first call :claim:`takes less time if the blocks are compiled, and not the model
#   <long-input.blocks.first_call < long-input.model.first_call>`: it takes
#   :measured:`long-input.blocks.first_call`.
# - Later calls of the two are about equally fast, as the original recipe says. Compiled blocks take
#   :measured:`long-input.blocks.wall`; the compiled model takes :measured:`long-input.model.wall`.
# - Compiled blocks :claim:`need less GPU time than blocks that are not compiled <long-input.blocks.gpu <
#   long-input.not-compiled.gpu>`: they need :measured:`long-input.blocks.gpu`; without compiling, a call needs
#   :measured:`long-input.not-compiled.gpu`. GPU times come from other calls, with a profiler, so they can be a little
#   above wall times.
# - Compiled blocks also :claim:`need less memory than blocks that are not compiled <long-input.blocks.memory <
#   long-input.not-compiled.memory>`: :measured:`long-input.blocks.memory` beside weights and input. The
#   compiled model needs :measured:`long-input.model.memory`.
# - The blocks pay after :measured:`long-input.blocks.break_even` calls, compared with not compiling.
#
# A short input: the GPU waits for the CPU
# ----------------------------------------
#
# With one short text there is little to compute, and the CPU launches kernels one by one. A **CUDA graph** holds all
# these launches, and the CPU repeats them with one call. With ``mode="reduce-overhead"``, the compiler records it. This
# mode has its own test, before the others: when PyTorch up to 2.14 records, it frees memory that graphs by hand may still use
# (see the pitfalls).

WAYS = {"not compiled": None, "model": reduce_overhead}
by_compiler = bench.compare(
    "reduce-overhead", make_variants(WAYS, SHORT), tolerance=0.1, rehearse=False
)

# %%
# A second test times the other variants, and the uncompiled model again. Two of its variants record the model by
# hand.

WAYS = {
    "not compiled": None,
    "blocks": compile_blocks,
    "model": compile_model,
    "not compiled, in a CUDA graph": in_a_graph,
    "blocks, in a CUDA graph": blocks_in_a_graph,
}

# %%
# "Fewer guards" skips the guards on modules, which is unsafe (see the pitfalls). It was measured in one process.

# sphinx_gallery_once = True
WAYS["blocks, fewer guards"] = fewer_guards

# %%

short_calls = make_variants(WAYS, SHORT)
short_input = bench.compare("short input", short_calls, tolerance=0.1, rehearse=False)

# %%

# sphinx_gallery_fold = "Look at three variants: lines of this run"
# sphinx_gallery_once = True
for name in ("not compiled", "blocks", "not compiled, in a CUDA graph"):
    print(name, end=": ")
    look(short_calls[name])

# %%
# .. chart:: wall
#    :case: short input
#
#    Wall time of a later call with a short input.
#
# - Compiled blocks :claim:`need less GPU time than blocks that are not compiled <short-input.blocks.gpu <
#   short-input.not-compiled.gpu>`, but the CPU enters compiled code once per block. So a call takes
#   :measured:`short-input.blocks.wall`; without compiling, it takes :measured:`short-input.not-compiled.wall`.
# - The compiled model is entered once. A call takes :measured:`short-input.model.wall`. Which of the
#   two takes less depends on the host.
# - With fewer guards, a call takes :measured:`short-input.blocks-fewer-guards.wall` in the one process that tried them. So
#   they are not worth the risk here.
# - A replay of a CUDA graph checks no guards. :claim:`Compiled blocks take less time in a graph than without
#   one <short-input.blocks-in-a-cuda-graph.wall < short-input.blocks.wall>`:
#   :measured:`short-input.blocks-in-a-cuda-graph.wall`.
# - :claim:`Even without compiling, the graph saves more than half of the time <2 *
#   short-input.not-compiled-in-a-cuda-graph.wall < short-input.not-compiled.wall>`: a call takes
#   :measured:`short-input.not-compiled-in-a-cuda-graph.wall`.
# - The model with ``reduce-overhead`` takes :measured:`reduce-overhead.model.wall`. To get there, :claim:`its
#   first call takes longer than that of blocks in a graph <short-input.blocks-in-a-cuda-graph.first_call <
#   reduce-overhead.model.first_call>`: :measured:`reduce-overhead.model.first_call`.
#
# From ``import torch`` to the first result
# -----------------------------------------
#
# In the tests above, the compiler had started before. A program that starts again also imports PyTorch and its
# compiler, and the compiler starts its workers. Here each variant runs in a process of its own, one after the
# other, with all cores of the machine and the short input. These were measured once. The table is in seconds.
#
# "Cache kept" is a second process, which finds the cache that the first one left on disk.

# sphinx_gallery_fold = "What a fresh process does"
# sphinx_gallery_once = True
import importlib
import itertools
import time


def start(began, tokens, depth, **machine):
    """Go from importing PyTorch to a result; return the seconds of each part, and the result's size."""
    marks = {"import torch": time.perf_counter()}
    model, x = make_model(Block, depth=depth, **machine), make_input(tokens, **machine)
    marks["model and input"] = time.perf_counter()
    importlib.import_module("torch._inductor.compile_fx")
    compile_model(model, x)
    marks["import the compiler"] = time.perf_counter()
    size = model(x).float().norm().item()  # waits for the device
    marks["first call"] = time.perf_counter()
    ends = [began, *marks.values()]
    seconds = [end - start for start, end in itertools.pairwise(ends)]
    return dict(zip(marks, seconds, strict=True)), size


# %%

# sphinx_gallery_fold = "How code is sent to a fresh process"
# sphinx_gallery_once = True
import ast
import json
import os
import subprocess
import sys
import tempfile

FOLDER = tempfile.TemporaryDirectory()
JOB = dict(tokens=SHORT, depth=DEPTH, width=WIDTH, device=bench.device.type)
JOB |= dict(dtype=str(bench.dtype).removeprefix("torch."))

IMPORTS = """
import importlib, itertools, json, os, sys, time
began = time.perf_counter()
import torch
from torch import nn
"""
RUN = """
torch.set_grad_enabled(False)
job = json.loads(sys.argv[1])
job["dtype"] = getattr(torch, job["dtype"])
print(json.dumps(start(began, **job)), flush=True)
os._exit(0)  # or else it would wait for the compiler's workers
"""


def source(function):
    """Return the source of a function, or of the class that it belongs to."""
    lines, name = inspect.findsource(function)[0], function.__qualname__.split(".")[0]
    parts = ast.parse("".join(lines)).body
    return next(ast.unparse(p) for p in parts if getattr(p, "name", None) == name)


SENT = [Model.forward, Block.forward, make_model, make_input, compile_model, start]
PROGRAM = "\n".join([IMPORTS, *map(source, SENT), RUN])


def start_in_process():
    """Call ``start`` in a fresh process, and return what it returns."""
    cache = os.path.join(FOLDER.name, "cache")
    environment = dict(TORCHINDUCTOR_CACHE_DIR=cache, PYTHONWARNINGS="ignore")
    environment |= dict(TRITON_CACHE_DIR=os.path.join(cache, "triton"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(JOB)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


# %%

# sphinx_gallery_fold = "How the processes are started"
# sphinx_gallery_once = True
seconds, sizes = {}, {}
for name in ("model", "model, cache kept"):
    seconds[name], sizes[name] = start_in_process()
print(pd.DataFrame.from_dict(seconds, orient="index").round(2).to_string())
assert max(sizes.values()) <= 1.02 * min(sizes.values()), sizes

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, parts in seconds.items():
    bench.measure("fresh process", name, "first_result", sum(parts.values()))
    bench.measure("fresh process", name, "first_call", parts["first call"])

# %%
# .. chart:: first_result
#    :case: fresh process
#
#    Time from ``import torch`` to the first result of a fresh process.
#
# - With an empty cache, the compiled model has its first result after
#   :measured:`fresh-process.model.first_result`. Its first call takes :measured:`fresh-process.model.first_call`
#   of that; the imports take most of the rest.
# - With the cache kept, :claim:`the first call of the model takes less time
#   <fresh-process.model-cache-kept.first_call < fresh-process.model.first_call>`:
#   :measured:`fresh-process.model-cache-kept.first_call`. The Python code is still followed, and guards are
#   still made.
#
# The layers of the original recipe
# ---------------------------------
#
# Its 64 layers are ten wide and compute next to nothing. They were measured in one process. "Model, nested" is the
# whole model, whose layers are marked by ``nested_compile_region``.

# sphinx_gallery_fold = "How the original layers are timed"
# sphinx_gallery_once = True


def nested_works():
    """Return whether this release can compile nested regions here, and tell if not."""
    kind = nested(own_code(Layer))
    model = Model(10, [kind(), kind()]).to(bench.device)
    model.compile()
    try:
        model(torch.ones(10, device=bench.device))
    except Exception as error:
        print(f"Nested regions are left out: {type(error).__name__}")
        return False
    return True


def tiny_variants():
    """Return a call of each variant of the original recipe's model."""
    calls, x = {}, torch.ones(10, device=bench.device)
    ways = {"not compiled": None, "blocks": compile_blocks, "model": compile_model}
    if nested_works():
        ways["model, nested"] = compile_model
    for name, prepare in ways.items():
        torch.manual_seed(0)
        kind = own_code(Layer)
        if name == "model, nested":
            kind = nested(kind)
        model = Model(10, [kind() for _ in range(64)]).to(bench.device)
        if prepare:
            prepare(model, x)
        calls[name] = lambda model=model: model(x)
    return calls


# %%

# sphinx_gallery_once = True
tiny = bench.compare("64 layers", tiny_variants(), tolerance=0.01, rehearse=False)

# %%
# The original recipe reports a first call of 9.7 s for the whole model, and 0.7 s for its layers. Here the two
# take :measured:`64-layers.model.first_call` and :measured:`64-layers.blocks.first_call`: host, PyTorch and
# cache differ. The original does not compare with layers that are not compiled. Compiled layers take
# :measured:`64-layers.blocks.wall` in later calls; without compiling, they take :measured:`64-layers.not-compiled.wall`.
# Each call enters compiled code 64 times, and checks guards each time. The compiled model takes
# :measured:`64-layers.model.wall`. It :claim:`needs less GPU time <64-layers.model.gpu < 64-layers.not-compiled.gpu>`, but
# the GPU waits for the CPU. What the CPU does in that time was not measured. If the layers are marked as nested regions,
# :claim:`the first call of the model takes less time <64-layers.model-nested.first_call < 64-layers.model.first_call>`:
# :measured:`64-layers.model-nested.first_call`. All layers have to be of one class: a class of its own for each breaks
# the reuse, as an integer does.
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
#   new size still records a graph during the request, even if nothing is compiled: see :doc:`/recipes/varying_sizes`.
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
# One GPU, two inputs of fixed size and one kind of block were measured. Training and activation checkpointing were
# not. How soon a process has its first result depends on the host and its disk. With FSDP2,
# compile each block before ``fully_shard``; this was not measured, either. The functions that skip guards say "unsafe" in
# their names.
#
# `Regional AOT <https://docs.pytorch.org/tutorials/recipes/regional_aot.html>`__ compiles only the block ahead
# of time. `Compile Time Caching
# <https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_tutorial.html>`__ explains all caches.
# :doc:`/recipes/where_time_goes` tells whether your GPU waits for the CPU. :doc:`/recipes/compile_modes` shows a
# model that should not be compiled as a whole. :doc:`/recipes/token_generation` records the compiled blocks of a
# decoder in one CUDA graph.
#
# This recipe builds on `Reducing torch.compile cold start compilation time with regional compilation
# <https://docs.pytorch.org/tutorials/recipes/regional_compilation.html>`__ by `Animesh Jain
# <https://github.com/anijain2305>`__ and its Chinese translation. The original compiles both variants in one
# process, the whole model first, so the layers profit from what the model's run has loaded. It says that later calls are about
# equally fast, and does not time them without compiling.

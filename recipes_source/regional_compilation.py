"""
Cut torch.compile time: compile the repeated block
==================================================

Is your first call slow, and does your model repeat a layer?

.. answer::

   **To cut the first call, compile the repeated block, not the whole model**: all blocks share its code. In long runs,
   time both. If the GPU is waiting, first capture the eager model in a CUDA graph; with many shapes or CPU syncs, use
   ``reduce-overhead``. For short runs, skip compiling: startup costs about :measured:`process.compiler.start_up` per
   process.

   .. chart:: first_call
      :case: long input
      :only: model, blocks
      :best: blocks
      :hero:

      First call of eight blocks with a long input, empty cache, after compiler startup

   - :measured:`long-input.blocks.first_call` first call, down from :measured:`long-input.model.first_call` for the
     whole model
   - :measured:`process.compiler.start_up` compiler startup, once per process
   - :measured:`long-input.blocks.break_even` calls to break even with eager, including startup;
     :measured:`long-input.model.break_even` for the whole model
   - :measured:`long-input.blocks.speedup` as fast per call as eager, with compiled blocks

   .. code-block:: diff
      :caption: What changes

      - model.compile()
      + for block in model.blocks:
      +     block.compile()

   .. code-block:: python
      :caption: The block

      import torch

      class Block(torch.nn.Linear):
          def forward(self, x):
              return x + torch.relu(super().forward(x))

      model = torch.nn.Sequential(*[Block(512, 512, device="cuda") for _ in range(32)])
      for block in model:
          block.compile()  # not model.compile()
      with torch.no_grad():  # compiles one block
          result = model(torch.randn(64, 512, device="cuda"))

   .. code-block:: python
      :caption: With a CUDA graph

      import torch
      class Block(torch.nn.Linear):
          def forward(self, x):
              return x + torch.relu(super().forward(x))
      model = torch.nn.Sequential(*[Block(512, 512) for _ in range(32)])
      for block in model.cuda().requires_grad_(False):
          # for very long runs; try without first
          block.compile()
      x, graph = torch.randn(64, 512).cuda(), torch.cuda.CUDAGraph()
      model(x)  # compiles one block
      with torch.cuda.graph(graph):
          result = model(x)  # captures
      # first copy the next input into x;
      # each replay overwrites result
      graph.replay()

   .. code-block:: python
      :caption: After a restart

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
          # the next process reuses the code
          result = model(torch.randn(64, 512).cuda())

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:ref:`measure it <busy-share>` with ``look``)
     - Capture one CUDA graph first: :doc:`CUDA graphs </recipes/cuda_graphs>`
   * - GPU busy 80 to 95%
     - Compile blocks. Try a graph: it saves at most the idle share
   * - GPU busy 95% or above
     - Compile the blocks; in long runs, time the whole model, too
   * - No block repeats
     - Compile the whole model: :doc:`Modes </recipes/compile_modes>`
   * - The program restarts often
     - Keep the compiler's cache: :doc:`Saved models </recipes/saved_models>`

**In your library**

.. libraries::

   - **Diffusers**: call ``pipe.transformer.compile_repeated_blocks()``.
   - **Accelerate**: use ``TorchDynamoPlugin(backend="inductor", use_regional_compilation=True)``; with FSDP2, use
     Accelerate 1.15 or newer. If shapes vary, pass ``--dynamo_use_dynamic`` to ``accelerate launch``, which
     otherwise sets ``dynamic=False``; ``torchrun`` does not.
   - **Transformers**: ``for layer in model.model.layers: layer.compile()``; some models name the list differently. For
     scoring or training, call the model with ``use_cache=False``: with a KV cache, each layer would compile separately.
     To generate, see :doc:`Token generation </recipes/token_generation>`. ``TrainingArguments(torch_compile=True)``
     compiles the whole model.
   - **Lightning**: compile the blocks in ``configure_model``.

**What you need**

- PyTorch 2.11 or newer, and pandas. Blocks have shared compiled code since PyTorch 2.5.
- A CUDA GPU of compute capability 7.5 (Turing) or above, with Triton. On a T4, the recipe runs in
  ``float32``. Without a GPU, it falls back to small problem sizes on the CPU and needs a C++ compiler.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# The model has eight transformer blocks, 768 wide, and runs without gradients. Text and charts show medians over all
# machines; printed output comes from one run.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Is the GPU idle? Measure it with look"

from _look import look

# %%

# sphinx_gallery_fold = "Problem sizes"
# sphinx_gallery_fold_output = True
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


# sphinx_gallery_fold = "Layer and model of the original recipe"
class Layer(nn.Module):
    """Two small linear layers, as in the original recipe."""

    def __init__(self, width=10):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        x = torch.sigmoid(torch.relu(self.linear1(x)))
        return torch.relu(self.linear2(x))


class Model(nn.Module):
    """A linear layer followed by blocks."""

    def __init__(self, width, blocks):
        super().__init__()
        self.linear, self.blocks = nn.Linear(width, width), nn.ModuleList(blocks)

    def forward(self, x):
        x = self.linear(x)
        for block in self.blocks:
            x = block(x)
        return x


# %%

# sphinx_gallery_fold = "A transformer block, and how models are built"
import types


class Block(nn.Module):
    """Attention and an MLP, each with a norm in front and a residual connection."""

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
    """Return a copy of a class, so that variants share no compiled code."""
    copied = types.FunctionType(kind.forward.__code__.replace(), globals())
    return type(kind.__name__, (kind,), {"forward": copied})


def make_input(tokens, width, device, dtype):
    """Return a random input, the same each time."""
    torch.manual_seed(1)
    return torch.randn(*tokens, width, device=device, dtype=dtype)


MACHINE = dict(width=WIDTH, device=bench.device, dtype=bench.dtype)

# %%


# sphinx_gallery_fold = "Ways to compile a model, and to capture it"
def compile_blocks(model, x, **options):
    """Compile each block in place, on its first call."""
    for block in model.blocks:
        block.compile(**options)
    return model


def compile_model(model, x, **options):
    """Compile the whole model in place, on its first call."""
    model.compile(**options)
    return model


def fewer_guards(model, x):
    """Compile each block without the guards on its modules."""
    skip = torch.compiler.skip_guard_on_all_nn_modules_unsafe
    for block in model.blocks:
        # torch.compile() empties the dictionary: each block needs its own
        block.compile(options={"guard_filter_fn": skip})
    return model


def reduce_overhead(model, x):
    """Compile the whole model with reduce-overhead, which captures CUDA graphs."""
    compile_model(model, x, mode="reduce-overhead")

    def run(x):
        torch.compiler.cudagraph_mark_step_begin()  # earlier results may be overwritten
        return model(x)

    return run


def in_a_graph(model, x):
    """Return a model whose first call captures a CUDA graph that later ones replay."""
    if not bench.gpu:
        print("There are no CUDA graphs here: the model runs as it is.")
        return model
    graph, place, recorded = torch.cuda.CUDAGraph(), x.clone(), []

    def replay(x):
        if not recorded:
            model(place)  # compiles
            with torch.cuda.graph(graph):  # captures, does not run
                recorded.append(model(place))
        place.copy_(x)
        graph.replay()
        return recorded[0]  # the next replay overwrites it

    return replay


def blocks_in_a_graph(model, x):
    """Compile each block, and capture the whole model in one CUDA graph."""
    return in_a_graph(compile_blocks(model, x), x)


# %%


# sphinx_gallery_fold = "One call per variant"
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
# "torch._dynamo hit config.recompile_limit (8)"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# If your blocks differ in a number, put it in a tensor, or, if it is an integer, set
# ``torch.compiler.config.allow_unspec_int_on_nn_module = True``. Weights may differ between blocks, but an integer or a
# dropout rate is baked into the code. Twelve layers, each with its own integer, trigger
# :measured:`12-layers.usesint.compilations` compilations, and :claim:`the other layers run eagerly
# <12-layers.plain.not_compiled < 12-layers.usesint.not_compiled>`; with the number in a tensor,
# :measured:`12-layers.usestensor.compilations` graph serves all layers. ``TORCH_LOGS=recompiles`` names the guard that
# failed.

# sphinx_gallery_fold = "Layers that look alike"


class Plain(nn.Module):
    """Differs from its neighbours in its weights only."""

    def __init__(self, index):
        super().__init__()
        self.linear, self.dropout = nn.Linear(10, 10), nn.Dropout(0.1)
        self.index = index
        self.register_buffer("scale", torch.tensor(1 / (1 + index)))

    def forward(self, x):
        return self.dropout(self.linear(x))


class OwnRate(Plain):
    """Has its own dropout rate, which has a guard in evaluation mode, too."""

    def __init__(self, index):
        super().__init__(index)
        self.dropout.p = 0.01 * index


class UsesInt(Plain):
    """Divides by its own number."""

    def forward(self, x):
        return self.linear(x) / (1 + self.index)


class UsesTensor(Plain):
    """Keeps that number in a tensor."""

    def forward(self, x):
        return self.linear(x) * self.scale


class OwnEncoder(nn.TransformerEncoderLayer):
    """Has a forward that is defined in this file."""

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
    for _ in range(2):  # only the second round counts
        runs, y = 0, x
        for layer in layers:
            y = layer(y)
    return {"compilations": graphs, "not_compiled": len(layers) - runs}


# %%

# sphinx_gallery_fold = "Count the compilations of twelve layers"
# sphinx_gallery_fold_output = True
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
# Compiling a ``torch.nn`` layer changes nothing
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Up to PyTorch 2.13, replace the layer with ``torch.compile(layer)``, or write a subclass with its own ``forward``:
# calling ``compile()`` on a layer such as ``TransformerEncoderLayer`` compiles nothing and gives no warning. PyTorch
# 2.14 compiles the layer.
#
# Now and then a call takes seconds
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# In tests, use ``torch.compiler.set_stance("fail_on_recompile")`` to find inputs that trigger a recompilation. In
# production, ``eager_on_recompile`` runs them in eager mode: no request waits for the compiler, but you get no warning.
# If shapes vary, see :doc:`Dynamic shapes </recipes/varying_sizes>`.

# sphinx_gallery_fold = "Find such inputs"
# sphinx_gallery_fold_output = True
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
# "Output of CUDAGraphs that has been overwritten by a subsequent run"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Capture the whole model in one graph, or call ``torch.compiler.cudagraph_mark_step_begin()`` before each model
# call. With ``block.compile(mode="reduce-overhead")``, each block becomes its own graph, which may overwrite another
# block's input.

# sphinx_gallery_fold = "Blocks that are separate CUDA graphs"
# sphinx_gallery_fold_output = True
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
# "CUDA error: an illegal memory access was encountered"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Up to PyTorch 2.14, use either manual captures or ``reduce-overhead`` in one process, not both. When
# ``reduce-overhead`` captures a new shape, it frees cuBLAS memory that your graph may still use (see :doc:`CUDA graphs
# </recipes/cuda_graphs>`).
#
# Results are silently wrong
# ~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Skip guards only if your blocks differ in nothing but weights. With ``skip_guard_on_all_nn_modules_unsafe``, a block
# with a different number runs the first block's code, with the first number baked in. Pass each block its own
# ``options`` dictionary: ``torch.compile`` empties the one you pass.

# sphinx_gallery_fold = "Two blocks that share code, with and without guards"
# sphinx_gallery_fold_output = True
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
# Unexpected keys: ``_orig_mod.``
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Use ``block.compile()``, which works in place. ``torch.compile(block)`` returns a wrapper that adds this prefix to
# weight names.

# sphinx_gallery_fold = "Names of weights"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
print(next(iter(torch.compile(Layer()).state_dict())))
layer = Layer()
layer.compile()
print(next(iter(layer.state_dict())))

# %%
# Why the first call is slow
# --------------------------
#
# The compiler traces the ``forward`` of every layer. A loop over 64 layers becomes one graph with 64 copies of the
# same operations, and every later compiler pass works through all of them. But the layers differ only in their weights,
# and weights are inputs of the graph, like ``x``. One layer's graph therefore serves all layers:

# sphinx_gallery_fold = "Print the graph of one layer"
# sphinx_gallery_once = True


def show(graph, inputs):
    """Print the graph that a compiler gets, and compile nothing."""
    for node in graph.graph.nodes:
        print(f"{node.op:14} {node.name}")
    return graph.forward


compiled = torch.compile(Layer(), backend=show)(torch.ones(10))

# %%

# sphinx_gallery_fold = "How operations are counted"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def count_operations(model, parts):
    """Return how many operations the compiler gets if parts of the model are compiled."""
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
    """Return a copy of a class whose forward is a single operation in a larger graph."""
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
# sphinx_gallery_fold_output = True
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
#    :best: blocks
#
#    Operations in the compiler's graphs of 64 layers.
#
# Compiling blocks has a cost: each call checks :term:`guards <guard>` and enters compiled code once per block, and
# whatever is between blocks runs in eager mode. ``nested_compile_region``, a prototype feature, avoids this: the model
# is one graph that contains the block once. In PyTorch 2.15, it fails after ``max_reuse_entries`` different blocks,
# eight by default.
#
# On a busy GPU, compiled blocks are as fast as the model
# -------------------------------------------------------
#
# With 32 sequences of 1024 tokens, the GPU is busy. Compiling blocks :claim:`cuts the first call
# <long-input.blocks.first_call < long-input.model.first_call>` from :measured:`long-input.model.first_call` to
# :measured:`long-input.blocks.first_call`. Later calls are :claim:`as fast as the whole model's <long-input.blocks.gpu
# < 1.1 * long-input.model.gpu>`: :measured:`long-input.blocks.wall` versus :measured:`long-input.model.wall`; eager
# takes :measured:`long-input.not-compiled.wall`. Blocks break even after :measured:`long-input.blocks.break_even`
# calls, the whole model after :measured:`long-input.model.break_even`. In the :doc:`Memory
# </recipes/memory>` recipe, blocks broke even after :measured:`memory:training-step.blocks.break_even` steps, the whole model
# after :measured:`memory:training-step.model.break_even`. :claim:`Blocks cut peak memory per call
# <long-input.blocks.memory < long-input.not-compiled.memory>` from :measured:`long-input.not-compiled.memory` in
# eager mode to :measured:`long-input.blocks.memory`.

# sphinx_gallery_fold = "Time a long input"
WAYS = {"not compiled": None, "blocks": compile_blocks, "model": compile_model}
REHEARSED = {"blocks, in a CUDA graph": blocks_in_a_graph}
rehearsal = make_variants({"not compiled": None}, LONG, depth=1)
rehearsal |= make_variants(REHEARSED, SHORT, depth=1)
for call in rehearsal.values():
    call()  # triggers lazy loading

long_input = bench.compare(
    "long input", make_variants(WAYS, LONG), tolerance=0.1, rehearse=False
)

# %%
# When the GPU waits, one CUDA graph helps most
# ---------------------------------------------
#
# With one sequence of 128 tokens, :claim:`the GPU is waiting on the CPU <1.25 * short-input.not-compiled.gpu <
# short-input.not-compiled.wall>`. One graph, captured manually and without a compiler, makes a call
# :claim:`{short-input.not-compiled-in-a-cuda-graph.speedup} as fast <2 * short-input.not-compiled-in-a-cuda-graph.wall
# < short-input.not-compiled.wall>`: :measured:`short-input.not-compiled.wall` →
# :measured:`short-input.not-compiled-in-a-cuda-graph.wall`. Compiled blocks in the graph reduce this to
# :measured:`short-input.blocks-in-a-cuda-graph.wall`. They :claim:`save little over the graph alone
# <short-input.not-compiled-in-a-cuda-graph.wall < 1.5 * short-input.blocks-in-a-cuda-graph.wall>`: weigh compiler
# startup against that.

# sphinx_gallery_fold = "Time reduce-overhead first: up to 2.14, it may free the memory of manual captures"
WAYS = {"not compiled": None, "model": reduce_overhead}
by_compiler = bench.compare(
    "reduce-overhead", make_variants(WAYS, SHORT), tolerance=0.1, rehearse=False
)

# %%

# sphinx_gallery_fold = "The other variants"
WAYS = {
    "not compiled": None,
    "blocks": compile_blocks,
    "model": compile_model,
    "not compiled, in a CUDA graph": in_a_graph,
    "blocks, in a CUDA graph": blocks_in_a_graph,
}

# %%

# sphinx_gallery_fold = "Fewer guards: unsafe, see the pitfalls"
# sphinx_gallery_once = True
WAYS["blocks, fewer guards"] = fewer_guards

# %%

# sphinx_gallery_fold = "Time a short input"
short_calls = make_variants(WAYS, SHORT)
short_input = bench.compare("short input", short_calls, tolerance=0.1, rehearse=False)

# %%

# sphinx_gallery_fold = "What look prints for three variants in one run"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
for name in ("not compiled", "blocks", "not compiled, in a CUDA graph"):
    print(name, end=": ")
    look(short_calls[name])

# %%
# .. chart:: busy
#    :case: short input
#    :only: not-compiled, blocks, model, not-compiled-in-a-cuda-graph, blocks-in-a-cuda-graph
#    :best: not-compiled-in-a-cuda-graph
#
#    A call with a short input, after warm-up. Compiled blocks in the graph save a little more, but their first call
#    takes :measured:`short-input.blocks-in-a-cuda-graph.first_call`, and compiler startup
#    :measured:`process.compiler.start_up`.
#
# With ``reduce-overhead``, a call runs in :measured:`reduce-overhead.model.wall`, but the first takes
# :measured:`reduce-overhead.model.first_call`, :claim:`longer than with blocks in a graph
# <short-input.blocks-in-a-cuda-graph.first_call < reduce-overhead.model.first_call>`:
# :measured:`short-input.blocks-in-a-cuda-graph.first_call`. Without a graph, blocks run at
# :measured:`short-input.blocks.speedup` the speed of eager, and the whole model at
# :measured:`short-input.model.speedup`. In PyTorch 2.11, we measured
# :measured:`short-input.blocks.speedup@2.11` and :measured:`short-input.model.speedup@2.11`.
#
# A warm cache shortens the first call, not the imports
# -----------------------------------------------------
#
# A fresh process returns its first result after :measured:`fresh-process.model.first_result`. :claim:`Its first call is
# slower than in a process that has already compiled <short-input.model.first_call < fresh-process.model.first_call>`:
# :measured:`fresh-process.model.first_call` versus :measured:`short-input.model.first_call`, delaying break-even.
# With the cache of an earlier process, :claim:`the first call shrinks <fresh-process.model-cache-kept.first_call <
# fresh-process.model.first_call>` to :measured:`fresh-process.model-cache-kept.first_call`, and the first result comes
# after :measured:`fresh-process.model-cache-kept.first_result` (1 run). By default, the cache is in a temporary folder
# that is lost with the container. Set ``TORCHINDUCTOR_CACHE_DIR``; see :doc:`Saved models </recipes/saved_models>`.

# sphinx_gallery_fold = "What a fresh process does"
# sphinx_gallery_once = True
import importlib
import itertools
import time


def start(began, tokens, depth, **machine):
    """Import PyTorch, build a model and call it; return the seconds of each part, and a norm."""
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
# sphinx_gallery_fold_output = True
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
#    From ``import torch`` to the first result of a fresh process.
#
# 64 tiny layers: blocks cut the first call
# -----------------------------------------
#
# The layers of the original recipe are ten wide and do almost no work. Compiling blocks :claim:`cuts the first call
# <64-layers.blocks.first_call < 64-layers.model.first_call>` from :measured:`64-layers.model.first_call` to
# :measured:`64-layers.blocks.first_call`; nested regions cut it to :measured:`64-layers.model-nested.first_call`. In
# later calls, :claim:`the GPU is waiting on the CPU <1.25 * 64-layers.not-compiled.gpu < 64-layers.not-compiled.wall>`,
# compiled or not: eager mode :measured:`64-layers.not-compiled.wall`, blocks :measured:`64-layers.blocks.wall`, the
# model :measured:`64-layers.model.wall` (1 run).

# sphinx_gallery_fold = "How the original layers are timed"
# sphinx_gallery_once = True


def nested_works():
    """Return whether this release can compile nested regions here; print why if not."""
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

# sphinx_gallery_fold = "Time the original layers"
# sphinx_gallery_once = True
tiny = bench.compare("64 layers", tiny_variants(), tolerance=0.01, rehearse=False)

# %%
# Limits and next steps
# ---------------------
#
# - We measured two inputs of fixed shape and one kind of block, without gradients. See also :ref:`how break-even is
#   computed <break-even>` and the :doc:`serving checklist </serving>`.
# - With FSDP2, compile the blocks before ``fully_shard`` (not measured). For training on one GPU, PyTorch recommends
#   compiling the whole step (see :doc:`Modes </recipes/compile_modes>`). Out of memory? See :doc:`Memory
#   </recipes/memory>`.
# - Up to PyTorch 2.14, do not mix ``reduce-overhead`` and manual captures in one process. Compiled training with 2.10
#   to 2.14 :ref:`can silently lose gradients <newer-pytorch>`.
#
# Thanks to `Animesh Jain <https://github.com/anijain2305>`__, on whose recipe `Reducing torch.compile cold start
# compilation time with regional compilation <https://docs.pytorch.org/tutorials/recipes/regional_compilation.html>`__
# this one builds, and to its Chinese translators. The original reports a first call of 9.7 s for the 64-layer model and
# 0.7 s for blocks; host, release and cache differ here. It compiles both in one process, the model first, so its blocks
# benefit from what the model's run already loaded. It does not time eager mode.

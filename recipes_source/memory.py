"""
CUDA out of memory: activation checkpointing and torch.compile
==============================================================

Does training run out of memory, or did checkpointing stop helping once you compiled?

.. answer::

   **Compile each block, and reduce** ``activation_memory_budget`` **until training fits.** A budget of 0.9 is almost
   free; at 0.1, a step takes about as long as in eager mode. Set it before the first call, and use PyTorch 2.15: with
   2.10 to 2.14, compiled training :ref:`can lose gradients <newer-pytorch>`. Without ``torch.compile``, checkpoint each
   block, not the model.

   .. chart:: memory
      :case: training step
      :only: eager, blocks, budget.0-5.blocks, budget.0-1.blocks, eager-checkpoint
      :best: budget.0-1.blocks
      :hero:

      Peak memory of a training step. With checkpoints, :claim:`a step takes {training-step.eager-checkpoint.wall}
      instead of {budget.0-1.blocks.wall} <budget.0-1.blocks.wall < training-step.eager-checkpoint.wall>`

   - :measured:`budget.0-1.blocks.memory` peak with a budget of 0.1, down from :measured:`training-step.eager.memory`
     eager
   - :measured:`budget.0-1.blocks.wall` per step at that budget, versus :measured:`training-step.eager.wall` eager
   - :measured:`longest-in-24-gb.blocks-budget-0-1.longest` tokens per sequence fit in 24 GB at that budget, up from
     :measured:`longest-in-24-gb.eager.longest` eager
   - :measured:`budget.0-1.blocks.first_call` for the first step, plus startup

   .. code-block:: diff
      :caption: What changes

        model = Transformer().cuda()
      + import torch._functorch.config as config
      + budget = 0.9  # lower until training fits
      + config.activation_memory_budget = budget
      + for block in model.blocks:
      +     block.compile()  # use PyTorch 2.15

   .. code-block:: python
      :caption: Compiled

      import torch
      import torch._functorch.config as config

      class Block(torch.nn.Linear):
          def forward(self, x):
              return x + torch.nn.functional.silu(super().forward(x))

      model = torch.nn.Sequential(*[Block(512, 512) for _ in range(8)]).cuda()
      # before the first call;
      # lower it until training fits: 0.5, 0.1
      config.activation_memory_budget = 0.9
      # use 2.15: 2.10 to 2.14 can lose gradients
      for block in model:
          block.compile()
      model(torch.randn(64, 512).cuda()).square().mean().backward()

   .. code-block:: python
      :caption: PyTorch 2.15

      import torch
      from torch.autograd.graph import region_activation_memory_budget

      class Block(torch.nn.Linear):
          def forward(self, x):
              # around all of the forward
              with region_activation_memory_budget(0.9):
                  return x + torch.nn.functional.silu(super().forward(x))

      model = torch.nn.Sequential(*[Block(512, 512) for _ in range(8)]).cuda()
      for block in model:
          block.compile()
      model(torch.randn(64, 512).cuda()).square().mean().backward()

   .. code-block:: python
      :caption: Eager

      import torch
      from torch.utils.checkpoint import checkpoint

      blocks = [torch.nn.Linear(512, 512).cuda() for _ in range(8)]
      x = torch.randn(64, 512).cuda()
      for block in blocks:
          x = checkpoint(block, x, use_reentrant=False)
      x.square().mean().backward()

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:doc:`measure it </recipes/where_time_goes>` with ``look``)
     - Unless memory runs out, :doc:`find your bottleneck </recipes/where_time_goes>` first
   * - ``OutOfMemoryError`` in ``backward``, or late in ``forward``
     - Keep fewer activations: reduce the budget or checkpoint blocks
   * - ``OutOfMemoryError`` before the first step, or in the optimizer
     - Weights and optimizer states are too large: `shard
       <https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html>`__ or quantize them
   * - You checkpoint, but the peak stays the same
     - Checkpoint each block, not the model
   * - You set a budget, but the peak stays the same
     - Set it before the first call

**In your library**

.. libraries::

   - **Transformers**: ``model.activation_checkpointing_enable()`` (``gradient_checkpointing_enable()`` in earlier
     releases) checkpoints each layer. To use a budget instead, leave this off, set the budget, compile the layers
     (``for layer in model.model.layers: layer.compile()``), and call the model with ``use_cache=False``, as ``Trainer``
     does. With a KV cache, each layer compiles separately.
   - **Accelerate**: ``TorchDynamoPlugin(backend="inductor", use_regional_compilation=True)`` compiles the blocks. Set
     the budget before the first step.
   - **Lightning**: set the budget and compile the blocks in ``configure_model``.
   - **torchtitan**: ``activation_checkpoint.mode`` can select a memory budget; enable ``compile``, too.

**What you need**

- PyTorch 2.15, and pandas. With 2.11, the recipe runs, but compiled training :ref:`can lose gradients
  <newer-pytorch>`. ``region_activation_memory_budget`` is a prototype feature in 2.15.
- A CUDA GPU of compute capability 7.5 (Turing) or above, with Triton. Without one, the recipe falls back to small
  problem sizes on the CPU, measures no memory, and needs a C++ compiler.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import REPLICATE, Bench

# %%

# sphinx_gallery_fold = "Fewer rounds, because compiling dominates"
# sphinx_gallery_fold_output = True
bench = Bench()
bench.rounds = 6  # most of the time goes into compiling
bench.warm_up_seconds = (0.5, 1)  # least and most

# %%

# sphinx_gallery_fold = "The model and its sizes"
# sphinx_gallery_fold_output = True

import functools
import gc
import types

import torch
import torch._functorch.config as functorch_config
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

# An H200 has room for the large sizes, and so does a 40 GB GPU.
ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 32 * 2**30
# Narrow blocks and many sequences: a step that fills 24 GB still takes only seconds.
WIDTH, HEADS, DEPTH = (1024, 8, 8) if ROOMY else (256, 4, 2)
BATCH, LENGTH = (64, 512) if ROOMY else (2, 128)


class Block(nn.Module):
    """A block of a Transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        hidden = 8 * width // 3 // 128 * 128
        self.before_attention, self.before_gate = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        qkv = self.qkv(self.before_attention(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.before_gate(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Stack(nn.Module):
    """A linear layer, then blocks, each called through ``call``."""

    def __init__(self, blocks, call):
        super().__init__()
        # Its output requires a gradient, so the first block compiles like the others.
        self.first = nn.Linear(WIDTH, WIDTH, bias=False)
        self.blocks = nn.ModuleList(blocks)
        self.call = call

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = self.call(block, x)
        return x


class OneCheckpoint(Stack):
    """Wraps all of its blocks in a single checkpoint."""

    def forward(self, x):
        return checkpointed(functools.partial(Stack.forward, self), x)


def plain(block, x):
    """Call a block."""
    return block(x)


def checkpointed(block, x):
    """Call a block whose activations backward recomputes."""
    return checkpoint(block, x, use_reentrant=False)


def own_code(kind):
    """Return a copy of a class, so that variants share no compiled code."""
    copied = types.FunctionType(kind.forward.__code__.replace(), globals())
    return type(kind.__name__, (kind,), {"forward": copied})


def make_model(call=plain, kind=Stack, depth=DEPTH):
    """Return a model, always with the same weights."""
    torch.manual_seed(0)
    block = own_code(Block)
    with torch.device(bench.device):
        model = own_code(kind)([block(WIDTH, HEADS) for _ in range(depth)], call)
    return model.to(bench.dtype)


def make_batch(length=LENGTH):
    """Return random embeddings, the same each time."""
    torch.manual_seed(1)
    shape = (BATCH, length, WIDTH)
    return torch.randn(shape, device=bench.device, dtype=bench.dtype)


def compute_loss(model, x):
    """Return a scalar that depends on all outputs."""
    return WIDTH * model(x).square().mean(dtype=torch.float32)


def train(model, x):
    """Take a training step without an optimizer; return the loss and a gradient's norm."""
    loss = compute_loss(model, x)
    loss.backward()
    size = model.first.weight.grad.norm(dtype=torch.float32)
    model.zero_grad(set_to_none=True)
    return loss.detach(), size


# %%

# sphinx_gallery_fold = "The variants: eager, checkpoints, compiled blocks, compiled model"
# sphinx_gallery_fold_output = True


def compile_blocks(call=plain, depth=DEPTH, **options):
    """Return a model whose blocks are compiled."""
    model = make_model(call, depth=depth)
    for block in model.blocks:
        block.compile(**options)
    return model


def compile_inside(**options):
    """Return a model that calls each block with its checkpoint in a compiled function."""
    function = types.FunctionType(checkpointed.__code__.replace(), globals())
    return make_model(torch.compile(function, **options))


def compile_model(call=plain, **options):
    """Return a model that is compiled as a whole."""
    model = make_model(call)
    model.compile(**options)
    return model


def with_budget(function, budget, *arguments):
    """Call a function under a budget for saved activations."""
    with functorch_config.patch(activation_memory_budget=budget):
        return function(*arguments)


def make_steps(models, budget=1.0):
    """Return a training step for each model."""
    x = make_batch()
    steps = {}
    for name, model in models.items():
        steps[name] = functools.partial(with_budget, train, budget, model, x)
    return steps


MODELS = {
    "eager": make_model,
    "eager, checkpoint": functools.partial(make_model, checkpointed),
    "blocks": compile_blocks,
    "blocks, checkpoint inside": compile_inside,
}
ONLY_ON_THE_PAGE = {
    "eager, one checkpoint": functools.partial(make_model, kind=OneCheckpoint),
    "blocks, checkpoint outside": functools.partial(compile_blocks, checkpointed),
    "model": compile_model,
    "model, checkpoint": functools.partial(compile_model, checkpointed),
    "model, CUDA graphs": functools.partial(compile_model, mode="reduce-overhead"),
}
if REPLICATE == 0:
    MODELS |= ONLY_ON_THE_PAGE
train(
    make_model(checkpointed, depth=1), make_batch()
)  # triggers lazy loading before anything is timed

# %%
# Pitfalls
# --------
#
# I set a budget, but the peak stays the same
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Set it before the first call, in** ``torch._functorch.config``. The compiler reads it only while it
# compiles. Some posts set it in ``torch._dynamo``, which has no such setting; neither does ``options=``.

# sphinx_gallery_fold = "How saved bytes are counted"
# sphinx_gallery_fold_output = True


def count_saved_bytes(block, function, x):
    """Return the bytes that a function saves for backward, without the block's weights."""
    weights = {weight.untyped_storage().data_ptr() for weight in block.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = function(x)  # keeps all storages alive, so that no address is reused
    del result
    return sum(sizes.values())


def make_block(kind=Block):
    """Return a block that shares no compiled code, and its input."""
    torch.compiler.reset()
    with torch.device(bench.device):
        block = own_code(kind)(WIDTH, HEADS).to(bench.dtype)
    return block, make_batch().requires_grad_()


# It decides what to save just as the compiler does, but generates no code.
QUICK = dict(backend="aot_eager_decomp_partition")


def count_with_budget(budget, late=False):
    """Return the bytes that a compiled block saves per token, within a budget."""
    block, x = make_block()
    block.compile(**QUICK)
    with_budget(block, 1.0 if late else budget, x)  # compiles
    saved = with_budget(count_saved_bytes, budget, block, block, x)
    return saved / (BATCH * LENGTH)


# %%

# sphinx_gallery_fold = "A budget set too late, or in the wrong place"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
in_time, late = count_with_budget(0.5), count_with_budget(0.5, late=True)
print(
    f"bytes per token: {in_time:,.0f} set before the first call, {late:,.0f} after it"
)
for owner in (torch._dynamo.config, torch._dynamo):
    try:
        owner.activation_memory_budget = 0.5
        print("accepted in silence, and nobody reads it:", owner.__name__)
        del owner.activation_memory_budget
    except AttributeError as error:
        print(error)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

bench.measure("when it is set", "before the first call", "bytes", in_time, unit="B")
bench.measure("when it is set", "after the first call", "bytes", late, unit="B")

# %%
# If you set a budget of 0.5 in time, a block keeps :claim:`{when-it-is-set.before-the-first-call.bytes} per token for
# backward; if you set it too late, {when-it-is-set.after-the-first-call.bytes}
# <when-it-is-set.before-the-first-call.bytes < when-it-is-set.after-the-first-call.bytes>`, as much as without a
# budget.
#
# I checkpoint, but the peak stays the same
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Checkpoint each block.** If a single checkpoint wraps the whole model, backward first recomputes all activations and
# then holds them all at once. The measured model peaks at :measured:`training-step.eager.memory` in eager mode, :claim:`at
# {training-step.eager-one-checkpoint.memory} with one checkpoint, and at {training-step.eager-checkpoint.memory} with a
# checkpoint per block <training-step.eager-checkpoint.memory <
# training-step.eager-one-checkpoint.memory>`.
#
# My block runs in eager mode since I checkpoint it
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Checkpoint where you call the block**, or compile a function that does so. If you replace ``block.forward`` with
# ``functools.partial(checkpoint, block.forward)``, :claim:`compile() captures no graph
# <graphs-of-a-block.forward-replaced.graphs < graphs-of-a-block.checkpoint-inside.graphs>` and does not warn you.

# sphinx_gallery_fold = "How graphs are counted"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def count_graphs(prepare):
    """Return how many graphs are compiled for a prepared block."""
    block, x = make_block()
    counts = torch._dynamo.utils.counters["stats"]
    before = counts["unique_graphs"]
    prepare(block)(x).sum().backward()
    return counts["unique_graphs"] - before


def replace_forward(block):
    """Replace forward with a checkpointed version of it."""
    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
    block.compile(**QUICK)
    return block


def checkpoint_outside(block):
    """Compile the block, and checkpoint its call."""
    block.compile(**QUICK)
    return functools.partial(checkpointed, block)


def checkpoint_inside(block):
    """Compile a function that checkpoints the call of the block."""
    return torch.compile(lambda x: checkpointed(block, x), **QUICK)


graphs = {
    "forward replaced": count_graphs(replace_forward),
    "checkpoint outside": count_graphs(checkpoint_outside),
    "checkpoint inside": count_graphs(checkpoint_inside),
}
print(graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, count in graphs.items():
    bench.measure("graphs of a block", name, "graphs", count, unit="")

# %%
# "must cover the entire forward of a graph"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Enter** ``region_activation_memory_budget`` **on the first line of the block's** ``forward``. It must cover
# everything in the same graph, and all budgets in one graph must be equal.
#
# "A different number of tensors was saved during the original forward and recomputation"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Put the checkpoint inside the compiled function, or compile with** ``dynamic=True``. If the checkpoint is outside,
# forward and recomputation may run different compiled versions of a block (`issue 166926
# <https://github.com/pytorch/pytorch/issues/166926>`__; not reproduced here).
#
# My blocks keep few activations, but the peak stays high
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Compile the blocks, or put** ``torch._dynamo.graph_break()`` **between two passes through the same blocks.**
# Recomputation needs memory, too. If one graph contains both passes, backward may hold the activations of several
# blocks at once (`issue 193193 <https://github.com/pytorch/pytorch/issues/193193>`__).
#
# Why: what a block keeps for backward
# ------------------------------------
#
# In eager mode, each operation keeps what its own backward needs. The compiler sees forward and backward together, so
# it recomputes element-wise operations such as SiLU instead of keeping their results. A checkpoint keeps only the
# block's input. **A budget is in between**: at 1, the compiler keeps what it would keep anyway; at 0, only the input.
# To stay within the budget, it chooses the recomputation that costs the fewest FLOPs.
#
# .. chart:: bytes
#    :case: one block
#
#    Bytes per token that a block keeps for backward. Variants with a budget are compiled

# sphinx_gallery_fold = "How the saved bytes of a block are compared"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True

block, x = make_block()
saved = {"eager": count_saved_bytes(block, block, x) / (BATCH * LENGTH)}
for budget in (1.0, 0.9, 0.7, 0.5, 0.3, 0.1):
    saved[f"budget {budget:g}"] = count_with_budget(budget)
saved["checkpoint"] = count_saved_bytes(
    block, functools.partial(checkpointed, block), x
) / (BATCH * LENGTH)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, number in saved.items():
    bench.measure("one block", name, "bytes", number, unit="B")

# %%
# With ``region_activation_memory_budget`` in its ``forward``, a block keeps as many bytes.

# sphinx_gallery_fold = "A budget in forward: same bytes"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


class Budgeted(Block):
    """Sets its own budget."""

    def forward(self, x):
        with torch.autograd.graph.region_activation_memory_budget(0.5):
            return Block.forward(self, x)


if hasattr(torch.autograd.graph, "region_activation_memory_budget"):
    block, x = make_block(Budgeted)
    block.compile(**QUICK)
    block(x)  # compiles
    in_forward = count_saved_bytes(block, block, x) / (BATCH * LENGTH)
    print(f"{in_forward:,.0f} bytes per token")
    assert in_forward == saved["budget 0.5"], (in_forward, saved)
else:
    print("This PyTorch has no region_activation_memory_budget: it is left out.")

# %%
# Evidence
# --------
#
# Compiling pays for the checkpoint
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: wall memory
#    :case: training step
#    :only: eager, eager-checkpoint, eager-one-checkpoint, blocks, blocks-checkpoint-inside,
#       blocks-checkpoint-outside, model, model-checkpoint
#    :best: blocks-checkpoint-inside
#
#    Peak memory of a training step, without weights and batch, versus its time. Lower left is better
#
# In eager mode, checkpointing each block :claim:`cuts the peak to less than a quarter <4 *
# training-step.eager-checkpoint.memory < training-step.eager.memory>`, :measured:`training-step.eager.memory` →
# :measured:`training-step.eager-checkpoint.memory`, but :claim:`each step takes longer <training-step.eager.wall <
# training-step.eager-checkpoint.wall>`: :measured:`training-step.eager.wall` →
# :measured:`training-step.eager-checkpoint.wall`. Compared with eager mode, compiled blocks :claim:`are faster
# <training-step.blocks.wall < training-step.eager.wall>` and :claim:`need less memory <training-step.blocks.memory <
# training-step.eager.memory>`: :measured:`training-step.blocks.wall` and :measured:`training-step.blocks.memory`. With
# a checkpoint inside, a step takes about as long as in eager mode,
# :measured:`training-step.blocks-checkpoint-inside.wall`, and peaks at
# :measured:`training-step.blocks-checkpoint-inside.memory`.

# sphinx_gallery_fold = "Run it: nine ways to train"
# sphinx_gallery_fold_output = True
models = {name: make() for name, make in MODELS.items()}
step = bench.compare(
    "training step", make_steps(models), tolerance=0.02, rehearse=False
)

# %%
# A checkpoint outside the compiled block :claim:`needs less memory than one inside
# <training-step.blocks-checkpoint-outside.memory < training-step.blocks-checkpoint-inside.memory>`:
# :measured:`training-step.blocks-checkpoint-outside.memory`, at
# :measured:`training-step.blocks-checkpoint-outside.wall` per step. Compiling the whole model instead of its blocks
# changes little except the first call, which goes from :measured:`training-step.blocks.first_call` to
# :measured:`training-step.model.first_call`. With ``reduce-overhead``, CUDA graphs hold
# :measured:`training-step.model-cuda-graphs.kept` between steps. Eager code cannot use this memory, and the
# peak in the table does not include it.
#
# All variants agree on the loss, and their gradients differ from those of eager mode by less than 5% in norm.

# sphinx_gallery_fold = "How gradients are compared"
# sphinx_gallery_fold_output = True


def find_gradients(model):
    """Return copies of the gradients of all weights, as one vector."""
    compute_loss(model, make_batch()).backward()
    gradients = [weight.grad.flatten().clone() for weight in model.parameters()]
    model.zero_grad(set_to_none=True)
    return torch.cat(gradients).float()


expected = find_gradients(models["eager"])
for name, model in models.items():
    difference = (find_gradients(model) - expected).norm() / expected.norm()
    print(f"{name}: {difference:.1e}")
    assert difference < 0.05, name
del models, model, expected

# %%
# A budget of 0.9 is almost free; compile blocks, not the model
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: wall memory
#    :case: budget
#
#    Peak memory of a training step versus its time, by budget
#
# At 0.9, the compiler recomputes no matmuls: :claim:`the peak drops from {budget.1.blocks.memory} to
# {budget.0-9.blocks.memory} <budget.0-9.blocks.memory < budget.1.blocks.memory>`, and the time per step stays
# about the same, :measured:`budget.0-9.blocks.wall`. At 0.5, training needs :measured:`budget.0-5.blocks.memory` and
# :measured:`budget.0-5.blocks.wall` per step. At 0.1, it :claim:`needs less than half as much memory as without a
# budget <2 * budget.0-1.blocks.memory < training-step.blocks.memory>`: :measured:`budget.0-1.blocks.memory`, at
# :measured:`budget.0-1.blocks.wall` per step.
#
# If you compile the whole model, one budget covers all of it, so the compiler may keep a lot for one block and nothing
# for another. At 0.1, this :claim:`needs more memory than a budget per block <budget.0-1.blocks.memory <
# budget.0-1.model.memory>`: :measured:`budget.0-1.model.memory`.

# sphinx_gallery_fold = "Run it: five budgets"
# sphinx_gallery_fold_output = True
BUDGETS = [0.1, 0.5] if REPLICATE else [0.1, 0.3, 0.5, 0.9, 1.0]
BUDGETS_OF_MODELS = [] if REPLICATE else [0.1]


def make_budget(budget):
    """Return a step for compiled blocks and, for some budgets, for a compiled model."""
    models = {"blocks": compile_blocks()}
    if budget in BUDGETS_OF_MODELS:
        models["model"] = compile_model()
    return make_steps(models, budget)


budgets = bench.compare(
    "budget", make_budget, sizes=("budget", BUDGETS), tolerance=0.02, rehearse=False
)

# %%
# To fit long sequences, keep only the inputs of blocks
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: longest
#    :case: longest in 24 GB
#    :best: blocks-budget-0
#
#    Longest sequence, in tokens, for which a step fits in 24 GB
#
# In eager mode, 64 sequences of :measured:`longest-in-24-gb.eager.longest` tokens fit. Compiled blocks reach
# :measured:`longest-in-24-gb.blocks.longest` without a budget, :measured:`longest-in-24-gb.blocks-budget-0-5.longest`
# with a budget of 0.5, and :claim:`{longest-in-24-gb.blocks-budget-0-1.longest} with 0.1
# <longest-in-24-gb.eager.longest < longest-in-24-gb.blocks-budget-0-1.longest>`. At 0, they keep what checkpoints keep
# and reach :measured:`longest-in-24-gb.blocks-budget-0.longest`; checkpoints in eager mode reach
# :measured:`longest-in-24-gb.eager-checkpoint.longest`. For this search, the model is twice as deep and is compiled
# with ``dynamic=True``. The search stops when the next length, 4% more, does not fit.

# sphinx_gallery_fold = "How the longest sequence is found"
# sphinx_gallery_fold_output = True

LIMIT = 24e9 if ROOMY else 1e9  # bytes
SHORT = 256 if ROOMY else 128  # tokens
DEEP = 2 * DEPTH  # number of blocks


def measure_step(model, budget, length):
    """Return the peak of allocated bytes in a step; ``None`` if it does not fit."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    try:
        with_budget(train, budget, model, make_batch(length))
        return torch.cuda.max_memory_allocated()
    except torch.OutOfMemoryError:
        model.zero_grad(set_to_none=True)
        return None


def find_longest(model, budget, allowed):
    """Return the longest sequence length with which a step fits into the allowed bytes."""
    measure_step(model, budget, SHORT)  # compiles
    least = measure_step(model, budget, SHORT)
    slope = (measure_step(model, budget, 2 * SHORT) - least) / SHORT
    length = round_down(SHORT + (allowed - least) / slope)
    fitting = failing = None
    while fitting is None or failing is None:
        if measure_step(model, budget, length):
            fitting = length
            length = max(length + 32, round_down(1.04 * length))
        else:
            failing = length
            length = round_down(length / 1.04)
    return fitting


def round_down(length):
    """Return a length that is a multiple of 32."""
    return int(length // 32) * 32


def limit_memory():
    """Limit the allocator to what is held already and ``LIMIT`` more; return the sum."""
    gc.collect()
    torch.cuda.empty_cache()
    allowed = torch.cuda.memory_reserved() + LIMIT
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, allowed / total))
    return allowed


# %%

# sphinx_gallery_fold = "Find the longest sequence of each variant in one run"
# sphinx_gallery_fold_output = True

deep_blocks = functools.partial(compile_blocks, depth=DEEP, dynamic=True)
SEARCHED = {
    "eager": (functools.partial(make_model, depth=DEEP), 1.0),
    "eager, checkpoint": (functools.partial(make_model, checkpointed, depth=DEEP), 1.0),
    "blocks, budget 0.1": (deep_blocks, 0.1),
}
if REPLICATE == 0:
    SEARCHED |= {
        "blocks": (deep_blocks, 1.0),
        "blocks, budget 0.5": (deep_blocks, 0.5),
        "blocks, budget 0": (deep_blocks, 0.0),
    }
longest = {}
if bench.gpu:
    torch.compiler.reset()
    allowed = limit_memory()
    try:
        for name, (make, budget) in SEARCHED.items():
            gc.collect()  # frees the previous model
            longest[name] = find_longest(make(), budget, allowed)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    print(f"tokens in each of {BATCH} sequences, in {LIMIT / 1e9:g} GB:", longest)
else:
    print("The CPU has no such limit: this is left out.")

# %%

# sphinx_gallery_plumbing = True

for name, tokens in longest.items():
    bench.measure("longest in 24 GB", name, "longest", tokens, unit="tokens")

# %%
# Limits and next steps
# ---------------------
#
# - We measured one model on one kind of GPU, without an optimizer. Its states and ``float32`` weights would need
#   extra memory in every variant.
# - The 24 GB limit applies to the allocator; a 24 GB card also holds the CUDA context.
# - Not measured: an LM head with a large vocabulary, which may set the peak once blocks are checkpointed; selective
#   checkpointing (``context_fn=``), offloading, and FSDP2.
# - A budget limits what is kept, not the peak: in `issue 197838 <https://github.com/pytorch/pytorch/issues/197838>`__
#   the peak does not always fall when the budget does.
# - Next: :doc:`why to compile blocks instead of the model </recipes/regional_compilation>`, :doc:`how to handle varying
#   lengths </recipes/varying_sizes>`, and :doc:`how much memory a CUDA graph holds </recipes/cuda_graphs>`.
#
# Thanks to the authors of issues `120381 <https://github.com/pytorch/pytorch/issues/120381>`__, `143176
# <https://github.com/pytorch/pytorch/issues/143176>`__, `161650 <https://github.com/pytorch/pytorch/issues/161650>`__
# and `161889 <https://github.com/pytorch/pytorch/issues/161889>`__, to torchtitan for `its budget mode
# <https://github.com/pytorch/torchtitan/pull/1731>`__, and to the authors of `Current and New Activation Checkpointing
# Techniques in PyTorch <https://pytorch.org/blog/activation-checkpointing-techniques/>`__, which explains the idea of
# the budget. Two expectations turned out to be wrong. Issue 143176, from 2024, expects no savings from a checkpoint
# outside compiled code; :claim:`here, it needs less memory than one inside
# <training-step.blocks-checkpoint-outside.memory < training-step.blocks-checkpoint-inside.memory>`. We also expected a
# budget of 0.1 to fit sequences as long as checkpoints do, but only a budget of 0 does.

"""
How do I make token generation fast?
====================================

Slow inference of a language model (LLM), few tokens per second, in a script or in serving?

.. answer::

   **Use a static KV cache, and run each decode step as one CUDA graph.** In Transformers,
   ``cache_implementation="static"`` does both; skip that for a few short texts, because compiler startup alone costs
   :measured:`process.compiler.start_up` per process. If a token takes about as long as reading all weights once, a graph
   helps little: quantize, or batch more texts.

   .. chart:: busy
      :case: one token.1
      :only: without compiling, default, graph by hand, reduce-overhead
      :best: reduce-overhead
      :hero:

      Time per token, one text, a decoder of twelve blocks

   - :measured:`one-token.1.reduce-overhead.speedup` per decode step of this page's decoder, against eager
   - :measured:`one-token.1.reduce-overhead.ready` until the step is compiled and captured, plus startup
   - :measured:`one-token.1.reduce-overhead.break_even` tokens to break even, startup included
   - :measured:`one-token.1.reduce-overhead.kept` kept by the graph; batch and cache size are fixed

   .. code-block:: diff
      :caption: What changes

        text = model.generate(
            prompt,
      +     cache_implementation="static",
        )

   .. code-block:: python
      :caption: Transformers

      import torch
      import transformers as hf
      config = hf.LlamaConfig(
          num_hidden_layers=2
      )
      model = hf.LlamaForCausalLM(config)
      model.to("cuda", torch.bfloat16)
      prompt = torch.ones(1, 128).long()
      for _ in range(3):  # the first one compiles
          text = model.generate(
              prompt.cuda(),
              cache_implementation="static")

   .. code-block:: python
      :caption: Your own model

      import torch
      from torch.nn.functional import scaled_dot_product_attention as attend
      torch.set_default_device("cuda")
      torch.set_grad_enabled(False)
      cache, position = torch.zeros(2, 1, 8, 512, 64), torch.tensor([-1])  # 512 places
      q, new = torch.randn(1, 8, 1, 64), torch.randn(2, 1, 8, 1, 64)
      def step():  # your model, for one token; texts of one batch are equally long
          k, v = cache.index_copy_(3, position.add_(1), new)
          return attend(q, k, v, attn_mask=torch.arange(512) <= position[:, None])
      step()
      with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
          output = step()  # records, and does not run
      position.fill_(-1)  # before each text; after a prompt: its length - 1
      graph.replay(), graph.replay()  # copy the next token into q and new before each

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as :doc:`look </recipes/where_time_goes>` prints it
     - Use a static cache, and a graph for the step
   * - GPU busy above 95 %
     - A graph has nothing to remove. Quantize, or batch more texts
   * - The step calls ``.item()`` or computes on the CPU
     - Use ``reduce-overhead``; such a step cannot be captured manually
   * - Only the first token is slow
     - The prompt is the cause: see the table below
   * - You serve with vLLM or SGLang
     - Nothing, unless ``enforce_eager`` is set

**In your library**

.. libraries::

   - **Transformers**: pass ``cache_implementation="static"`` to ``generate``. On a GPU, it then compiles the step with
     ``reduce-overhead``; but not if parts of the model are offloaded to the CPU or the disk, or if its quantizer
     cannot be compiled, and nothing tells so. A text longer than all before, and a batch of another size, get a new
     cache, and the step is compiled again. So begin with the longest text that can come, and keep the batch size.
     Without a static cache, ``generate`` compiles nothing.
   - **vLLM and SGLang** record CUDA graphs by themselves: there is nothing to do, unless graphs were switched off (in
     vLLM ``enforce_eager``).

**What you need**

- PyTorch 2.11 or newer, Transformers 5.17 or newer, and pandas. CUDA graphs are stable;
  ``reduce-overhead`` is a mode of ``torch.compile``.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton. On other machines the recipe runs small sizes on the CPU without CUDA graphs, and needs a C++
  compiler. A GPU without ``bfloat16``, such as a T4, computes in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What to choose
# --------------
#
# A **static cache** has a fixed number of places for the keys and values of all tokens, so its address and
# its size do not change. Times in the table are wall times per token, for one text. The start of the compiler takes
# :measured:`process.compiler.start_up`, once per process. Add this time where something is compiled.
# :doc:`/recipes/where_time_goes` shows how to find out whether the GPU waits for the CPU.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - Choose
#      - What it gives
#      - What it costs
#    * - Tokens come slowly, and the GPU waits for the CPU: it is busy for less than 80 % of the time
#      - A static cache, and the step for one token in a CUDA graph recorded by hand
#      - A token takes :measured:`one-token.1.graph-by-hand.wall`; without compiling it takes
#        :measured:`one-token.1.without-compiling.wall`
#      - The batch size is fixed. Beside weights and cache, the graph keeps
#        :measured:`one-token.1.graph-by-hand.kept` of memory
#    * - Tokens come slowly, and very many of them are to be written
#      - A static cache, compiled blocks, and the step in a CUDA graph recorded by hand
#      - A token takes :measured:`one-token.1.blocks-compiled-graph-by-hand.wall`
#      - The start of the compiler takes :measured:`process.compiler.start_up`, once per process. The graph is then
#        ready after :measured:`one-token.1.blocks-compiled-graph-by-hand.ready`, and keeps
#        :measured:`one-token.1.blocks-compiled-graph-by-hand.kept` of memory. After
#        :measured:`one-token.1.blocks-compiled-graph-by-hand.break_even` tokens it has saved more than the start took,
#        compared with no graph, and much later compared with a graph alone. The batch size is fixed
#    * - You can wait longer for the compiler, or do not want to record a graph yourself
#      - ``torch.compile(step, mode="reduce-overhead")``, with a static cache
#      - A token takes :measured:`one-token.1.reduce-overhead.wall`
#      - The start of the compiler takes :measured:`process.compiler.start_up`, once per process. The step is then
#        ready after :measured:`one-token.1.reduce-overhead.ready`, and keeps
#        :measured:`one-token.1.reduce-overhead.kept` of memory. Each call overwrites the result of the one
#        before
#    * - You compile with the mode ``default``, and tokens still come slowly
#      - The mode ``reduce-overhead``, with a static cache
#      - With ``default``, a token takes :measured:`one-token.1.default.wall`; with ``reduce-overhead`` it takes
#        :measured:`one-token.1.reduce-overhead.wall`
#      - The batch size is fixed, and each call overwrites the result of the one before
#    * - The first text takes seconds, though nothing is compiled: the cache gets a new place with each token
#      - A static cache. If you need a growing cache, call ``torch.backends.cuda.enable_cudnn_sdp(False)``
#      - The first token at a new length takes :measured:`growing-cache.cudnn.first_pass`; without
#        cuDNN it takes :measured:`growing-cache.without-cudnn.first_pass`
#      - A static cache of 256 places takes :measured:`one-token.1.cache.bytes` of memory per text. Attention reads the
#        whole cache, empty places too
#    * - The wall time of a token is near the bytes of the weights divided by the memory bandwidth
#      - Weights of 8 or 4 bits, or more texts in a batch
#      - Not measured here
#      - Weights are rounded; or each text waits for the others of its batch
#    * - You wait for the first token
#      - If prompts are few, change nothing. If many short ones come, pad them to a few lengths, with a graph for each:
#        :doc:`/recipes/varying_sizes`. Not measured for prompts
#      - No prompt waits for the compiler. One of 128 tokens takes :measured:`a-prompt.without-compiling.wall` if its
#        length came before; a new length can take much longer
#      - With long prompts the GPU is busy; what helps then is in :doc:`/recipes/varying_sizes`
#
# Conditions and costs
# --------------------
#
# The GPU waits for the CPU if it is busy for less than 80 % of the time: ``look`` in :doc:`/recipes/where_time_goes`
# prints it. If the GPU is busy instead, a graph does not help. Record the step by hand if sizes are few and known and
# nothing in it reads a value back (``.item()``) or computes on the CPU. Otherwise use ``reduce-overhead``, with cache
# and position as buffers of a module (``register_buffer``): if they are none, no graph is recorded. Up to PyTorch
# 2.14, do not use both in one process. In a graph, the batch size and the length of the cache are fixed. Reading all
# weights once takes as long as their bytes divided by the memory bandwidth.
#
# **What it costs:** with Transformers, you wait for the compiler: for its start, for the first text, and for each
# text that does not fit into the cache. With a Llama of two layers, the first text takes
# :measured:`transformers.static.first_call`. Each later text of 64 tokens takes :measured:`transformers.static.wall`;
# with a growing cache it takes :measured:`transformers.growing.wall`. In your job, add the seconds of the start and
# of the first text, and divide the sum by the seconds saved per text: after so many texts, you have won them back. A
# graph recorded by hand needs no compiler. Beside weights and cache, such a graph keeps
# :measured:`one-token.1.graph-by-hand.kept` of memory. A step without a graph needs
# :measured:`one-token.1.without-compiling.memory` at its peak. A cache for 256 tokens takes
# :measured:`one-token.1.cache.bytes` per text, from the start. Attention reads the whole cache, empty places too, so
# :claim:`a cache that is too long costs time <one-token.16.graph-by-hand.wall < long-cache.graph-by-hand.wall>`.
#
# With compiled blocks, the compiler has to start, which takes :measured:`process.compiler.start_up` once per process.
# The graph is then ready after :measured:`one-token.1.blocks-compiled-graph-by-hand.ready`. Compared with no graph at
# all, the run has won back both waits after :measured:`one-token.1.blocks-compiled-graph-by-hand.break_even` tokens.
# But a graph without compiled blocks saves most of this time: :claim:`a token in it takes at most 1.5 times as long
# <one-token.1.graph-by-hand.wall < 1.5 * one-token.1.blocks-compiled-graph-by-hand.wall>`. Compared with that graph,
# compiled blocks pay much later. In your job, add the seconds of the compiler's start and of the first calls, and
# divide the sum by the seconds saved per token. Leave prompts uncompiled: with a few long prompts, compiling takes
# more time than it saves. If long prompts keep coming, compile them as a function of their own, for any length: see
# :doc:`/recipes/varying_sizes`. That was not measured here.
#
# Results in words
# ----------------
#
# A decoder of twelve blocks writes one text, with a static cache in all variants. Without compiling,
# :claim:`the GPU waits for the CPU <1.25 * one-token.1.without-compiling.gpu <
# one-token.1.without-compiling.wall>`: a token takes :measured:`one-token.1.without-compiling.wall`. In a CUDA
# graph recorded by hand, :claim:`it takes less than a third of that <3 * one-token.1.graph-by-hand.wall <
# one-token.1.without-compiling.wall>`: :measured:`one-token.1.graph-by-hand.wall`. The graph is ready after
# :measured:`one-token.1.graph-by-hand.ready`. Beside weights and cache, it keeps
# :measured:`one-token.1.graph-by-hand.kept` of memory.
#
# If the blocks are compiled before the graph is recorded, :claim:`a token takes less time still
# <one-token.1.blocks-compiled-graph-by-hand.wall < one-token.1.graph-by-hand.wall>`:
# :measured:`one-token.1.blocks-compiled-graph-by-hand.wall`. With ``reduce-overhead``, the compiler records the
# graph. A token then takes :measured:`one-token.1.reduce-overhead.wall`, about as long as with compiled blocks. But
# the whole model has to be compiled: the step is ready after :measured:`one-token.1.reduce-overhead.ready`. Compiling
# alone is not enough: with the mode ``default``, a token takes :measured:`one-token.1.default.wall`, and :claim:`the
# GPU still waits for the CPU <1.25 * one-token.1.default.gpu < one-token.1.default.wall>`.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%
# The decoder has twelve blocks with random weights. It reads a prompt of 128 tokens.

bench = Bench()

import copy
import itertools
from time import perf_counter

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

torch.set_grad_enabled(False)  # generating needs no gradients
ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 24 * 2**30
BLOCKS, WIDTH, HEADS, WORDS = (12, 1024, 16, 32_000) if bench.gpu else (2, 64, 2, 500)
PROMPT, NEW = (128, 64) if bench.gpu else (8, 8)  # tokens
PLACES = 2 * PROMPT  # of a static cache
TEXTS = (1, 16)  # in a batch
bench.batch_seconds = 0.02  # a token takes little time, and profiles of many take long
if not bench.gpu:
    print("There are no CUDA graphs here: a graph by hand runs without compiling.")

# %%

# sphinx_gallery_fold = "A decoder with a static cache"


class StaticCache(nn.Module):
    """Keys and values of a block, with a fixed number of places."""

    def __init__(self, batch, width, places):
        super().__init__()
        shape = (batch, HEADS, places, width // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, keys, values, positions):
        """Write to these positions, and return all places."""
        self.keys.index_copy_(2, positions, keys)
        self.values.index_copy_(2, positions, values)
        return self.keys, self.values


class Block(nn.Module):
    """A block of a decoder."""

    def __init__(self, width, cache):
        super().__init__()
        self.cache = cache
        self.before_attention, self.before_mlp = (
            nn.LayerNorm(width),
            nn.LayerNorm(width),
        )
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x, positions, mask):
        """Return the hidden states after this block."""
        batch, tokens, width = x.shape
        qkv = self.qkv(self.before_attention(x)).view(batch, tokens, 3, HEADS, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        keys, values = self.cache(k, v, positions)
        attended = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.mlp(self.before_mlp(x))


class Decoder(nn.Module):
    """A language model; the token that comes next and its position are buffers."""

    def __init__(self, batch, width, caches, places=None):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.blocks = nn.ModuleList(Block(width, cache) for cache in caches)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, WORDS, bias=False)
        self.register_buffer("token", torch.zeros(batch, 1, dtype=torch.long))
        self.register_buffer("chosen", torch.zeros(batch, 1, dtype=torch.long))
        self.register_buffer("position", torch.full((1,), PROMPT))
        self.register_buffer("places", torch.arange(places) if places else None)

    def forward(self, tokens, positions):
        """Return the logits of the token that follows, and keep the likeliest one."""
        mask = None
        if self.places is not None:  # a token sees itself and the tokens before it
            mask = self.places <= positions[:, None]
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, positions, mask)
        logits = self.head(self.norm(x[:, -1:]))
        self.chosen.copy_(logits.argmax(-1))
        return logits

    def step(self):
        """Return the logits that follow on the token."""
        return self(self.token, self.position)


def make_decoder(batch, width=WIDTH, places=PLACES, blocks=BLOCKS):
    """Return a decoder with a static cache that has read a prompt."""
    torch.manual_seed(0)
    with bench.device:
        caches = [StaticCache(batch, width, places) for _ in range(blocks)]
        decoder = Decoder(batch, width, caches, places)
        prompt = torch.randint(WORDS, (batch, PROMPT))
        positions = torch.arange(PROMPT)
    decoder.to(bench.dtype).requires_grad_(False).eval()
    decoder(prompt, positions)
    decoder.token.copy_(decoder.chosen)
    return decoder


def with_own_cache(decoder):
    """Return a decoder with the same weights, and a cache of its own."""
    return copy.deepcopy(
        decoder, {id(weight): weight for weight in decoder.parameters()}
    )


# %%

# sphinx_gallery_fold = "How variants are made"


def record_at_first_call(function):
    """Return a function that is recorded in a CUDA graph when it is called first."""
    if not bench.gpu:
        return function
    graph, recorded = torch.cuda.CUDAGraph(), []

    def replay():
        if not recorded:
            side = bench.side_stream  # recording needs calls on another stream before
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):
                    function()
            torch.cuda.current_stream().wait_stream(side)
            with torch.cuda.graph(graph):  # records, and does not run
                recorded.append(function())
        graph.replay()
        return recorded[0]

    return replay


def make_step(decoder, mode=None, blocks=False, by_hand=False):
    """Return a function that writes one token, in one of the variants."""
    if blocks:
        for block in decoder.blocks:
            block.compile()
    if mode:
        return torch.compile(decoder.step, mode=mode)
    return record_at_first_call(decoder.step) if by_hand else decoder.step


VARIANTS = {
    "without compiling": {},
    "default": dict(mode="default"),
    "reduce-overhead": dict(mode="reduce-overhead"),
    "graph by hand": dict(by_hand=True),
    "blocks compiled, graph by hand": dict(blocks=True, by_hand=True),
}
FEW = ("without compiling", "graph by hand", "blocks compiled, graph by hand")


def in_turn(decoder, step, seconds):
    """Return a function that writes one token after the other; it appends the seconds of
    its first two calls. The token read is always the same: rounding can make variants
    choose different ones, and then their results could not be compared."""
    calls = itertools.count()

    def write():
        number = next(calls)
        if number < 2:
            bench.synchronize()
            start = perf_counter()
        decoder.position.fill_(PROMPT + number % NEW)
        logits = step()
        if number < 2:
            bench.synchronize()
            seconds.append(perf_counter() - start)
        return logits

    return write


def make_writers(names, decoder):
    """Return a writer for each variant, and the seconds of their first calls."""
    writers, seconds = {}, {name: [] for name in names}
    for name in names:
        own = with_own_cache(decoder)
        step = make_step(own, **VARIANTS[name])
        writers[name] = in_turn(own, step, seconds[name])
    return writers, seconds


def count_bytes(tensors):
    """Return the bytes of tensors."""
    return sum(tensor.nbytes for tensor in tensors)


def read_once(decoder):
    """Return the bytes that a token reads: all weights but the embedding, and the cache."""
    read = count_bytes(decoder.parameters()) - decoder.embed.weight.nbytes
    return read + count_bytes(decoder.blocks.buffers())


# %%
# Pitfalls
# --------
#
# **A kept result changes, or an error says that it was overwritten.** With ``reduce-overhead``, the next call writes
# to the same addresses.

# sphinx_gallery_fold = "A kept result of reduce-overhead"
# sphinx_gallery_once = True
double = torch.compile(lambda x: 2 * x, mode="reduce-overhead")
ones = torch.ones(4, device=bench.device)
kept = [double(ones) for _ in range(3)]
try:
    print("kept:", kept[0])
except RuntimeError as error:
    print(str(error).split(". ")[0])
kept = [double(ones).clone() for _ in range(3)]
print("cloned:", kept[0])

# %%
# Rule: clone what you keep. ``torch.compiler.cudagraph_mark_step_begin()`` tells PyTorch where a new step begins, if
# several compiled functions belong to one step. A graph by hand gives no error, and ``reduce-overhead``
# gives one in its first calls only.
#
# **Prompts compile again and again.** If prompts and single tokens go through the same compiled function, the compiler
# sees several sizes. The next cell counts the graphs for two prompts and two tokens.

# sphinx_gallery_fold = "How graphs are counted"


class Counter:
    """A backend that counts graphs and runs, and generates no code."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph


def count_graphs(sizes):
    """Return how many graphs a compiled decoder needs for inputs of these sizes."""
    torch.compiler.reset()
    counter, decoder = Counter(), make_decoder(1, blocks=1)
    compiled = torch.compile(decoder, backend=counter)
    for size in sizes:
        tokens = torch.zeros(1, size, dtype=torch.long, device=bench.device)
        compiled(tokens, torch.arange(size, device=bench.device))
    return counter.graphs


graphs = {
    "tokens only": count_graphs([1, 1, 1, 1]),
    "prompts and tokens": count_graphs([PROMPT, 1, PROMPT - 1, 1]),
}
print(graphs)

# %%

# sphinx_gallery_plumbing = True

for name, count in graphs.items():
    bench.measure("sizes", name, "graphs", count, unit="")

# %%
# Single tokens need :measured:`sizes.tokens-only.graphs` graph. :claim:`With prompts among them there are more
# <sizes.tokens-only.graphs < sizes.prompts-and-tokens.graphs>`: :measured:`sizes.prompts-and-tokens.graphs`.
# Rule: compile the step for one token, and run prompts without compiling.
# :doc:`/recipes/regional_compilation` shows what else compiles again.
#
# **A graph by hand computes with old values.** It reads the addresses that it was recorded with. Rule: copy the next
# token and position into the same tensors, as ``position.fill_(...)`` does here.
#
# **Texts of a batch differ in length.** Here, a batch has one position for all its texts. Rule: give each text its own
# position, and use the position to write the row of this text in the cache and to make its row of the mask. This was
# not measured.
#
# **The static cache is full.** It has as many places as it was made with, and a position behind the last one is an
# error, after which the process has to start again. Rule: make it for the longest prompt and the longest answer together, or stop in time.
#
# **A batch of another size comes.** A graph has one batch size. Rule: fill the batch up to the next size that was
# recorded. Graphs that run one after the other can share memory: pass ``pool=first.pool()`` to
# ``torch.cuda.graph``.
#
# Why a token takes long
# ----------------------
#
# To write a token, a decoder reads all its weights, and it does little with each of them. So the **limit** is
# the time in which the GPU reads the weights and the cache once: their bytes divided by the memory bandwidth. Here, a
# token reads :measured:`one-token.1.a-token.bytes`, and the GPU copies with :measured:`process.copy.bandwidth`.
#
# But first the kernels have to be launched. Without compiling, a token takes
# :measured:`one-token.1.without-compiling.kernels` kernels, and an eager operation on a small tensor takes the
# CPU :measured:`process.eager-operation.launch_cost` here. The GPU has finished each of them before the next
# one comes. This is what "**the GPU waits for the CPU**" means: it is busy for less than 80 % of the time.
# A CUDA graph holds all kernels of a token, and the CPU launches it with one call.
#
# A graph repeats the same kernels on the same addresses. A growing cache has another size and another
# address for each token, and so it cannot be part of a graph. A static cache can: the
# position of the token is a tensor, and a mask hides the places that are still empty.
#
# ``look`` tells how busy the GPU is, and the picture shows when the CPU launches and the GPU computes during one token.

# sphinx_gallery_fold = "The function look"

from _look import look

# %%

# sphinx_gallery_fold = "What look prints in one run, and how the picture is measured"
# sphinx_gallery_once = True
decoder = make_decoder(1)
lanes = {}
for name, options in {"no graph": {}, "one graph": dict(by_hand=True)}.items():
    step = make_step(with_own_cache(decoder), **options)
    print(name, end=": ")
    look(step, calls=50)
    for lane, times in bench.spans_of(step).items():
        lanes[f"{lane}, {name}"] = times
bench.publish_spans("kernels of a token", lanes)

# %%
# .. spans:: kernels of a token
#
#    Without a graph, the CPU launches one kernel after the other, and there are gaps between them; the profiler adds to
#    the gaps. In the graph, the CPU launches once.
#
# One token
# ---------
#
# The variants write one token after the other into the same kind of static cache. "Graph by hand" runs the step twice
# and then records it in a CUDA graph; to run it once would be enough (:doc:`/recipes/cuda_graphs` says why). We check that
# all variants give the same logits after three tokens, within a tenth.
# ``wall`` is the wall time of a token and ``gpu`` the time in kernels. ``cpu`` is the time in which the CPU
# launches them. ``share`` is the time that the work takes at best (the limit), divided by ``gpu``. Tables, charts and
# text show the median of all processes. What is printed, and the tables of the notebook, show one run. A speed-up is
# computed in each process, and then the median is taken: so it can differ from the quotient of two times in the table.

make_step(make_decoder(1, blocks=1), mode="reduce-overhead")()  # is not timed
decoder = make_decoder(TEXTS[0])
writers, seconds = make_writers(VARIANTS, decoder)
alone = bench.compare(
    "one token",
    lambda texts: writers,
    sizes=("texts", TEXTS[:1]),
    limit=read_once(decoder) / bench.bandwidth,
    tolerance=0.1,
    rehearse=False,
)
skipped = torch._dynamo.utils.counters["inductor"]["cudagraph_skips"]
print("graphs that reduce-overhead did not record:", skipped)

# %%

# sphinx_gallery_plumbing = True

for name, value in {
    "weights": count_bytes(decoder.parameters()),
    "cache": count_bytes(decoder.blocks.buffers()),
    "a token": read_once(decoder),
}.items():
    bench.measure("one token", name, "bytes", value, size=TEXTS[0], unit="B")
for name, taken in seconds.items():
    bench.measure("one token", name, "ready", sum(taken[:2]), size=TEXTS[0])

# %%
# .. chart:: wall
#    :case: one token.1
#
#    Wall time of a token, for one text.
#
# - Without compiling, a token takes :measured:`one-token.1.without-compiling.gpu` of GPU time, and its wall
#   time is :measured:`one-token.1.without-compiling.wall`.
# - ``default`` fuses operations: :claim:`it launches fewer kernels <one-token.1.default.kernels <
#   one-token.1.without-compiling.kernels>`, :measured:`one-token.1.default.kernels`. The CPU still launches
#   them one by one, and it checks :term:`guards <guard>` before.
# - The graph by hand has the kernels of the model without compiling. It is ready after
#   :measured:`one-token.1.graph-by-hand.ready`, because nothing is compiled. :claim:`The GPU no longer waits
#   for the CPU <one-token.1.graph-by-hand.wall < 1.25 * one-token.1.graph-by-hand.gpu>`.
# - ``reduce-overhead`` compiles the whole model, then it records a graph. :claim:`It is ready later than a
#   graph with compiled blocks <one-token.1.blocks-compiled-graph-by-hand.ready <
#   one-token.1.reduce-overhead.ready>`: after :measured:`one-token.1.reduce-overhead.ready`. It fuses
#   operations across blocks as well, so :claim:`it launches fewer kernels than compiled blocks
#   <one-token.1.reduce-overhead.kernels < one-token.1.blocks-compiled-graph-by-hand.kernels>`.
# - Compiled blocks in a graph by hand need :measured:`one-token.1.blocks-compiled-graph-by-hand.gpu` of GPU
#   time. The blocks share their compiled code, so :claim:`they are ready sooner than the whole model
#   <one-token.1.blocks-compiled-graph-by-hand.ready < one-token.1.default.ready>`.
# - ``reduce-overhead`` reaches :measured:`one-token.1.reduce-overhead.share` of the limit. The rest of
#   the time goes into many kernels that are too short to use all of the GPU's bandwidth.
#
# The first token of an answer takes a different path: the model reads the whole prompt at once.
#
# A batch of 16 texts
# -------------------
#
# The weights are read once for all texts of a batch, so more texts cost little more time. This was measured in
# one process.

# sphinx_gallery_once = True
decoder = make_decoder(TEXTS[1])
writers, seconds = make_writers(FEW, decoder)
batch = bench.compare(
    "one token",
    lambda texts: writers,
    sizes=("texts", TEXTS[1:]),
    limit=read_once(decoder) / bench.bandwidth,
    tolerance=0.1,
    rehearse=False,
    rounds=10,
)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

cache = count_bytes(decoder.blocks.buffers())
bench.measure("one token", "cache", "bytes", cache, size=TEXTS[1], unit="B")
for name, taken in seconds.items():
    bench.measure("one token", name, "ready", sum(taken[:2]), size=TEXTS[1])

# %%
# Without compiling, a token for each of 16 texts takes :measured:`one-token.16.without-compiling.wall`. In a graph by
# hand, :claim:`it takes less <one-token.16.graph-by-hand.wall < one-token.16.without-compiling.wall>`:
# :measured:`one-token.16.graph-by-hand.wall`. With compiled blocks, it takes
# :measured:`one-token.16.blocks-compiled-graph-by-hand.wall`. The caches of the 16 texts take
# :measured:`one-token.16.cache.bytes`.
#
# The prompt
# ----------

decoder = make_decoder(1)
prompt = torch.zeros(1, PROMPT, dtype=torch.long, device=bench.device)
positions = torch.arange(PROMPT, device=bench.device)
seconds = bench.time(lambda: decoder(prompt, positions), 10)
bench.measure("a prompt", "without compiling", "wall", seconds)
print(f"a prompt of {PROMPT} tokens: {1e3 * seconds:.3g} ms")

# %%
# The whole prompt takes :measured:`a-prompt.without-compiling.wall` without compiling, and this comes once for
# each answer. Its length differs from text to text, so a graph would have to be recorded for each length.
#
# A wider model
# -------------
#
# With wider layers, each kernel has more to read, while the CPU launches as many as before. The next model is
# four times as wide; a token reads :measured:`wide-model.a-token.bytes`. This, too, was measured in one process.

# sphinx_gallery_once = True
WIDE = (4 * WIDTH) if ROOMY or not bench.gpu else 2 * WIDTH
decoder = make_decoder(1, WIDE)
read = read_once(decoder)
bench.measure("wide model", "a token", "bytes", read, unit="B")
writers, _seconds = make_writers(FEW, decoder)
wide = bench.compare(
    "wide model",
    writers,
    limit=read / bench.bandwidth,
    tolerance=0.1,
    rehearse=False,
    rounds=10,
)

# %%
# Without compiling, a token takes :measured:`wide-model.without-compiling.wall`. With compiled blocks in a graph,
# :claim:`it takes less <wide-model.blocks-compiled-graph-by-hand.wall < wide-model.without-compiling.wall>`:
# :measured:`wide-model.blocks-compiled-graph-by-hand.wall`. This is
# :measured:`wide-model.blocks-compiled-graph-by-hand.share` of the limit. Reading weights then takes most of the time.
# From here, only fewer bytes per token help: weights of 8 or 4 bits, or more texts in a batch.
#
# A cache of 4096 places
# ----------------------
#
# Attention reads all places of a static cache, whether there is a token or not. Now each of the 16 texts has a
# cache of 4096 places. One process measured this.

# sphinx_gallery_once = True
LONG = (16 if ROOMY or not bench.gpu else 4) * PLACES
decoder = make_decoder(TEXTS[1], places=LONG)
cache = count_bytes(decoder.blocks.buffers())
bench.measure("long cache", "cache", "bytes", cache, unit="B")
writers, _seconds = make_writers(FEW[:2], decoder)
long = bench.compare("long cache", writers, tolerance=0.1, rehearse=False, rounds=6)

# %%
# The cache takes :measured:`long-cache.cache.bytes`. In a graph by hand, :claim:`a token takes longer than with
# 256 places <one-token.16.graph-by-hand.wall < long-cache.graph-by-hand.wall>`:
# :measured:`long-cache.graph-by-hand.wall`. Rule: choose as many places as your texts need.
# If lengths differ much, have caches of two or three lengths, each with a graph of its own.
#
# Reading the tokens
# ------------------
#
# If the CPU reads a token, it waits until the GPU has written it. Then the GPU waits for the next launch.
# Here, eight tokens are read one by one, or all at the end.

MANY = 8  # tokens

# %%

# sphinx_gallery_once = True


def generate(decoder, step, read_each):
    """Return a function that generates some tokens, and reads them one by one or all."""

    def run():
        tokens = []
        for number in range(MANY):
            decoder.position.fill_(PROMPT + number)
            step()
            decoder.token.copy_(decoder.chosen)
            chosen = decoder.chosen.clone()
            tokens.append(chosen.tolist() if read_each else chosen)
        return tokens if read_each else torch.stack(tokens).tolist()

    return run


decoder = make_decoder(1)
step = make_step(decoder, **VARIANTS["graph by hand"])
reading = bench.compare(
    "8 tokens",
    {
        "read at the end": generate(decoder, step, read_each=False),
        "each one read": generate(decoder, step, read_each=True),
    },
    rounds=10,
)

# %%
# Eight tokens take :measured:`8-tokens.each-one-read.wall` if each one is read, and
# :measured:`8-tokens.read-at-the-end.wall` if they are read at the end. Rule: look for the end of the text every
# few tokens, or show each token while the next one is being written.
#
# A growing cache
# ---------------
#
# Without compiling, a cache can be of any size: each token appends one place. This looks like the simplest way,
# but attention then meets a new size with each token. cuDNN, which PyTorch prefers for attention on this GPU,
# plans its kernels for each size anew. The next cell writes the same lengths three times, without compiling.

# sphinx_gallery_fold = "A growing cache"


class GrowingCache:
    """Keys and values of a block, which get longer with each token."""

    def __init__(self, batch, width):
        shape = (2, batch, HEADS, PROMPT, width // HEADS)
        options = dict(device=bench.device, dtype=bench.dtype)
        self.keys, self.values = torch.randn(shape, **options)

    def __call__(self, keys, values, positions):
        self.keys = torch.cat([self.keys, keys], 2)
        self.values = torch.cat([self.values, values], 2)
        return self.keys, self.values


PASSES = ("first_pass", "second_pass", "third_pass")


def grow(blocks, keep=lambda cache: None, **options):
    """Return the seconds a token in passes over the same lengths, each from the prompt on."""
    caches = [GrowingCache(1, WIDTH) for _ in range(blocks)]
    beginnings = [(cache.keys, cache.values) for cache in caches]
    with bench.device:
        decoder = Decoder(1, WIDTH, caches).to(bench.dtype)
    step = torch.compile(decoder.step, **options) if options else decoder.step
    found = []
    for _ in PASSES:
        for cache, (keys, values) in zip(caches, beginnings, strict=True):
            cache.keys, cache.values = keys, values

        def write():
            step()
            for cache in caches:
                keep(cache)

        found.append(bench.time(write, MANY))
    return found


growing = {}
for name, allowed in {"cuDNN": True, "without cuDNN": False}.items():
    torch.backends.cuda.enable_cudnn_sdp(allowed)
    growing[name] = grow(BLOCKS)
torch.backends.cuda.enable_cudnn_sdp(True)
print(1e3 * pd.DataFrame(growing, PASSES).T.rename_axis(columns="ms a token"))

# %%

# sphinx_gallery_plumbing = True

for name, found in growing.items():
    for quantity, value in zip(PASSES, found, strict=True):
        bench.measure("growing cache", name, quantity, value)

# %%
# With cuDNN, a token takes :measured:`growing-cache.cudnn.first_pass` when its length comes for the first time,
# and :measured:`growing-cache.cudnn.third_pass` when it has come before. :claim:`Without cuDNN a new length takes
# less time <growing-cache.without-cudnn.first_pass < growing-cache.cudnn.first_pass>`:
# :measured:`growing-cache.without-cudnn.first_pass`. If you need a growing cache, switch cuDNN off for attention:
#
# .. code-block:: python
#
#    torch.backends.cuda.enable_cudnn_sdp(False)
#
# A compiled model treats a growing cache as a varying size. The next cell compiles a decoder of one block,
# without cuDNN, in one process.

# sphinx_gallery_once = True


def clone_both(cache):
    """Copy what a later replay would overwrite."""
    cache.keys, cache.values = cache.keys.clone(), cache.values.clone()


torch.backends.cuda.enable_cudnn_sdp(False)
counts = torch._dynamo.utils.counters["stats"]
compiled = {}
for name, options in {
    "default": dict(mode="default"),
    "reduce-overhead": dict(mode="reduce-overhead", keep=clone_both),
}.items():
    torch.compiler.reset()
    counts.clear()
    found = grow(1, **options)
    compiled[name] = dict(zip(PASSES, found, strict=True))
    compiled[name]["compilations"] = counts["unique_graphs"]
torch.backends.cuda.enable_cudnn_sdp(True)
print(pd.DataFrame(compiled).T)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, found in compiled.items():
    for quantity, value in found.items():
        unit = "" if quantity == "compilations" else "s"
        bench.measure("growing, one block", name, quantity, value, unit=unit)

# %%
# - With ``default``, there are :measured:`growing-one-block.default.compilations` compilations: one for the first
#   length, and one for any length.
# - ``reduce-overhead`` records a graph for each length: a token takes
#   :measured:`growing-one-block.reduce-overhead.second_pass` in the second pass. In the third pass, the graphs are
#   replayed, and :claim:`a token still takes longer than without graphs <growing-one-block.default.third_pass <
#   growing-one-block.reduce-overhead.third_pass>`. In each call, the cache is copied into the graph and out of
#   it, because otherwise the next replay would overwrite it.
#
# Do not count on a static cache alone: without a graph, a token takes
# :measured:`growing-cache.without-cudnn.third_pass` with a growing cache (cuDNN off), and
# :measured:`one-token.1.without-compiling.wall` with a static one. Only the graph, which needs the static cache, makes
# tokens come quickly.
#
# Transformers
# ------------
#
# ``generate`` has a growing cache unless you ask for a static one. With ``cache_implementation="static"`` and on a
# GPU, it compiles the step for one token with ``reduce-overhead``. The model here is a Llama of two layers with random
# weights, and it writes 64 tokens. One process measured this.

# sphinx_gallery_once = True
from transformers import LlamaConfig, LlamaForCausalLM

torch.compiler.reset()
config = LlamaConfig(
    vocab_size=WORDS,
    hidden_size=WIDTH,
    intermediate_size=4 * WIDTH,
    num_hidden_layers=2,
    num_attention_heads=HEADS,
)
with bench.device:
    llama = LlamaForCausalLM(config).to(bench.dtype).eval()
    tokens = torch.randint(WORDS, (1, PROMPT))


def write_text(**options):
    """Return a function that generates a text of a fixed length."""
    options |= dict(max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False)
    mask = torch.ones_like(tokens)
    return lambda: llama.generate(
        tokens, attention_mask=mask, pad_token_id=0, **options
    )


llamas = {}
for name, options in {
    "growing": {},
    "static": dict(cache_implementation="static"),
}.items():
    write = write_text(**options)
    first = bench.time(write)
    llamas[name] = dict(first_call=first, wall=bench.time(write, 3))
print(pd.DataFrame(llamas).T)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, found in llamas.items():
    for quantity, value in found.items():
        bench.measure("Transformers", name, quantity, value)

# %%
# With a growing cache, the first text takes :measured:`transformers.growing.first_call`: nothing is compiled, but
# cuDNN meets 64 new lengths. Each later text takes :measured:`transformers.growing.wall`. With a static cache, the first
# text takes :measured:`transformers.static.first_call`, which goes into compiling. Then :claim:`a text takes less
# <transformers.static.wall < transformers.growing.wall>`: :measured:`transformers.static.wall`.
#
# Serving
# -------
#
# - **Serving your own model**: if texts of a batch differ in length, give each its own position; the code above has
#   one for all. Before the first request comes, make one cache for the largest batch. Then record one graph by hand
#   for each of a few batch sizes, the largest first, all in one pool (``pool=``); each uses a slice of the cache,
#   such as ``cache[:, :8]`` in the code above for a batch of 8. Replay one graph after the other, and copy a result
#   before you replay another. :claim:`All graphs of one pool together need about the memory of the largest
#   <cuda_graphs:graphs-of-four-batches.one-pool.kept < 1.1 * graphs-of-four-batches.largest-alone.kept>`. Fill a
#   batch up to the next size that was recorded. Stop each text before the cache is full: a position behind its last
#   place is an error, and the process has to start again. If sizes are many or unknown, use ``reduce-overhead``.
#   First call the model with two sizes, and with a batch of one if that can come; then three times with each size.
#   Pad to a few sizes, with a mask, only if new sizes keep coming. Warm up in the mode in which requests run
#   (``no_grad`` or ``inference_mode``), and, up to PyTorch 2.11, make all calls in one thread (:ref:`for-serving`).
#   Up to PyTorch 2.14, do not use graphs by hand and ``reduce-overhead`` in one process: a replay can then end in an
#   illegal memory access.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# The list of measurements at the end of this page says how many processes and hosts each of them comes from. All
# weights are ``bfloat16``, on one GPU, and the next token is always the likeliest one. Weights of fewer bits mean
# fewer bytes to read: `torchao <https://github.com/pytorch/ao>`__ has them. Speculative decoding, paged caches and several GPUs
# are not measured. The decoder is small and has no grouped queries, so its share of the limit is not that of a large
# model. :doc:`/recipes/where_time_goes` tells whether the GPU waits for the CPU in your job, and
# :doc:`/recipes/compile_modes` compares the modes.
#
# This recipe builds on `gpt-fast <https://github.com/meta-pytorch/gpt-fast>`__, which made the static cache with
# ``reduce-overhead`` known, on the `guide of Transformers to caches
# <https://huggingface.co/docs/transformers/kv_cache>`__, and on the `notes on CUDA graphs
# <https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs>`__.

"""
Fast LLM token generation: static KV cache and CUDA graphs
==========================================================

Too few tokens per second from your language model, with or without ``torch.compile``?

.. answer::

   **Use a static KV cache, and run each decode step as one CUDA graph.** In your own decoder, capture manually,
   without a compiler. In Transformers, pass ``cache_implementation="static"``, which compiles and pays off only in long
   runs: startup costs about :measured:`process.compiler.start_up`. If the GPU is busy, quantize or
   batch more sequences instead.

   .. chart:: busy
      :case: one token.1
      :only: without compiling, default, graph by hand, reduce-overhead
      :best: graph by hand
      :hero:

      Time per token, batch size 1. The manual graph needs no compiler

   - :measured:`one-token.1.graph-by-hand.speedup` as fast per token in this page's decoder, captured manually
   - :measured:`transformers.static.wall` instead of :measured:`transformers.growing.wall` for 64 tokens (two-layer
     Llama)
   - :measured:`one-token.1.graph-by-hand.ready` for the first two calls, capture included; nothing compiles
   - :measured:`one-token.1.graph-by-hand.kept` kept by a manual graph; batch size and cache length are fixed

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
      # 512 slots
      cache, position = torch.zeros(2, 1, 8, 512, 64), torch.tensor([-1])
      q, new = torch.randn(1, 8, 1, 64), torch.randn(2, 1, 8, 1, 64)
      # your model, for one token;
      # sequences in a batch have equal length
      def step():
          k, v = cache.index_copy_(3, position.add_(1), new)
          return attend(q, k, v, attn_mask=torch.arange(512) <= position[:, None])
      step()
      with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
          output = step()  # only captures
      # before each sequence;
      # after a prompt: its length - 1
      position.fill_(-1)
      # before each: copy the token into q and new
      graph.replay(), graph.replay()

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:doc:`measure it </recipes/where_time_goes>` with ``look``)
     - A static cache, and a CUDA graph of the decode step
   * - GPU busy 80 to 95%
     - Try a graph: it saves at most the idle share
   * - GPU busy 95% or above
     - No graph: quantize, or batch more sequences
   * - ``.item()`` or ``.cpu()`` in the decode step
     - ``reduce-overhead``: a manual capture cannot sync with the CPU
   * - The first answer is slow, but nothing compiles
     - Make the cache static, or turn off cuDNN attention

**In your library**

.. libraries::

   - **Transformers**: pass ``cache_implementation="static"`` to ``generate``, which then compiles the decode step with
     ``reduce-overhead``. It silently stays eager if parts of the model are offloaded, or if the quantizer cannot be
     compiled. A new batch size or a sequence that does not fit in the cache triggers recompilation: start with the
     longest sequence you expect, and keep the batch size fixed.
   - **Your own decoder**: register the cache and position as buffers, and try ``torch.compile(step,
     mode="reduce-overhead")`` to see whether a graph pays off. If it does, capture it manually. See :doc:`CUDA graphs
     </recipes/cuda_graphs>` for what you can capture.
   - **vLLM and SGLang**: both capture CUDA graphs automatically. Do not set ``enforce_eager`` (vLLM) or
     ``--disable-decode-cuda-graph`` (SGLang).

**What you need**

- PyTorch 2.11 or newer, Transformers 5.18 or newer, and pandas.
- A CUDA GPU of compute capability 7.5 (Turing) or above, with Triton. Elsewhere, the recipe falls back to small problem
  sizes on the CPU, without CUDA graphs, and needs a C++ compiler. On a T4, it runs in ``float32``.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# Setup
# -----
#
# A twelve-block decoder with random ``bfloat16`` weights and a 128-token prompt.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Imports and sizes"
# sphinx_gallery_fold_output = True

bench = Bench()

import copy
import itertools
from time import perf_counter

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

torch.set_grad_enabled(False)  # generation needs no gradients
ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 24 * 2**30
BLOCKS, WIDTH, HEADS, WORDS = (12, 1024, 16, 32_000) if bench.gpu else (2, 64, 2, 500)
PROMPT, NEW = (128, 64) if bench.gpu else (8, 8)  # tokens
PLACES = 2 * PROMPT  # of a static cache
TEXTS = (1, 16)  # in a batch
bench.batch_seconds = 0.02  # tokens are fast, and profiling many is slow
if not bench.gpu:
    print("There are no CUDA graphs here: a graph by hand runs without compiling.")

# %%

# sphinx_gallery_fold = "A decoder with a static cache"


class StaticCache(nn.Module):
    """Keys and values of a block, with a fixed number of slots."""

    def __init__(self, batch, width, places):
        super().__init__()
        shape = (batch, HEADS, places, width // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, keys, values, positions):
        """Write to these positions, and return all slots."""
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
    """A language model whose input token and position are buffers."""

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
        """Return the logits of the next token, and keep the likeliest token."""
        mask = None
        if self.places is not None:  # a token attends to itself and to earlier tokens
            mask = self.places <= positions[:, None]
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, positions, mask)
        logits = self.head(self.norm(x[:, -1:]))
        self.chosen.copy_(logits.argmax(-1))
        return logits

    def step(self):
        """Run one decode step, and return its logits."""
        return self(self.token, self.position)


def make_decoder(batch, width=WIDTH, places=PLACES, blocks=BLOCKS):
    """Return a decoder whose static cache holds a prompt."""
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

# sphinx_gallery_fold = "How variants are built"


def record_at_first_call(function):
    """Return a function that is captured in a CUDA graph at its first call."""
    if not bench.gpu:
        return function
    graph, recorded = torch.cuda.CUDAGraph(), []

    def replay():
        if not recorded:
            side = bench.side_stream  # a capture needs warm-up calls on another stream
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):
                    function()
            torch.cuda.current_stream().wait_stream(side)
            with torch.cuda.graph(graph):  # captures, does not run
                recorded.append(function())
        graph.replay()
        return recorded[0]

    return replay


def make_step(decoder, mode=None, blocks=False, by_hand=False):
    """Return a function that runs one decode step, in one of the variants."""
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
    """Return a function that decodes one token per call, and appends the seconds of its
    first two calls. The input token is always the same: rounding can make variants choose
    different ones, and then their results could not be compared."""
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
    """Return each variant's decode function, and the seconds of their first calls."""
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
# "accessing tensor output of CUDAGraphs that has been overwritten"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Clone the outputs you keep.** The next call writes to the same addresses. ``reduce-overhead`` checks for this only
# in its first calls; later calls silently overwrite your tensor, as do manual graphs.

# sphinx_gallery_fold = "Keep a result, and clone it"
# sphinx_gallery_fold_output = True
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
# Every prompt recompiles
# ~~~~~~~~~~~~~~~~~~~~~~~
#
# **Compile only the decode step, and run prefill in eager mode.** A function that handles both sees several shapes: two
# prompts and two decode steps need :claim:`{sizes.prompts-and-tokens.graphs} graphs; four decode steps, only
# {sizes.tokens-only.graphs} <sizes.tokens-only.graphs < sizes.prompts-and-tokens.graphs>`.

# sphinx_gallery_fold = "Count the graphs"
# sphinx_gallery_fold_output = True


class Counter:
    """A backend that counts graphs, and generates no code."""

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
# "skipping cudagraphs due to mutated inputs"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Register the cache and the position as buffers** (``register_buffer``). If a call writes to its arguments,
# ``reduce-overhead`` runs it without a graph.
#
# The graph keeps repeating the same token
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **With a manual graph, copy the next token and position into the captured tensors**, as with ``position.fill_()``. A
# graph reads addresses, not Python variables.
#
# "CUDA error: device-side assert triggered"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Allocate a cache long enough for the prompt and answer, or stop before it is full.** A position past the last slot
# raises this error, and you must restart the process.
#
# Sequences in a batch differ in length
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Give each sequence its own position** in the cache and the mask.
#
# The batch size changes
# ~~~~~~~~~~~~~~~~~~~~~~
#
# **Pad the batch up to the next captured size.** Graphs for several sizes :doc:`share memory </recipes/cuda_graphs>` if
# you capture the largest first and pass ``pool=``.
#
# Why launches are the bottleneck, not the GPU
# --------------------------------------------
#
# A decode step reads all weights once and does little math. Memory bandwidth sets the **limit**:
# :measured:`one-token.1.a-token.bytes` at :measured:`process.copy.bandwidth`. But in eager mode, the CPU spends
# :measured:`one-token.1.without-compiling.cpu` in Python and PyTorch launching
# :measured:`one-token.1.without-compiling.kernels` kernels that run for :measured:`one-token.1.without-compiling.gpu`.
#
# A CUDA graph launches the whole step at once. It replays the same kernels on the same addresses, so it cannot handle a
# growing cache. A **static cache** is allocated once: the position is a tensor, and a mask hides the empty slots.

# sphinx_gallery_fold = "The function look"

from _look import look

# %%

# sphinx_gallery_fold = "What look prints in one run, and how the timeline is measured"
# sphinx_gallery_fold_output = True
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
#    One decode step. In eager mode, the GPU idles between kernels; the profiler widens these gaps. A graph needs one
#    launch.
#
# Compiling alone leaves the GPU idle; a graph does not
# -----------------------------------------------------
#
# .. chart:: busy
#    :case: one token.1
#    :best: graph by hand
#
#    Time per token at batch size 1. The manual graph needs no compiler.
#
# - :claim:`A manual graph is {one-token.1.graph-by-hand.speedup} as fast as eager mode <3 *
#   one-token.1.graph-by-hand.wall < one-token.1.without-compiling.wall>`:
#   :measured:`one-token.1.without-compiling.wall` → :measured:`one-token.1.graph-by-hand.wall`, or over 1,000 tokens
#   per second. Eager time depends on the CPU and varies within a process. The first two calls take
#   :measured:`one-token.1.graph-by-hand.ready`, capture included: nothing compiles.
# - ``default`` launches :claim:`{one-token.1.default.kernels} kernels instead of
#   {one-token.1.without-compiling.kernels} <one-token.1.default.kernels < one-token.1.without-compiling.kernels>`, but
#   still one by one: :claim:`the GPU idles more than half the time <2 * one-token.1.default.gpu <
#   one-token.1.default.wall>`.
# - Compiling the blocks in the graph :claim:`saves a little more: {one-token.1.graph-by-hand.wall} →
#   {one-token.1.blocks-compiled-graph-by-hand.wall} <one-token.1.blocks-compiled-graph-by-hand.wall <
#   one-token.1.graph-by-hand.wall>`. Compare with the plain graph, not eager mode: :claim:`during compiler startup
#   alone, the plain graph could generate over 5,000 tokens <5000 * one-token.1.graph-by-hand.wall <
#   process.compiler.start_up>`.
# - ``reduce-overhead`` needs no capture code and reaches :measured:`one-token.1.reduce-overhead.wall`. It compiles the
#   whole model: :claim:`its first two calls take {one-token.1.reduce-overhead.ready}, compared with
#   {one-token.1.blocks-compiled-graph-by-hand.ready} for compiled blocks
#   <one-token.1.blocks-compiled-graph-by-hand.ready < one-token.1.reduce-overhead.ready>`, each plus startup.

# sphinx_gallery_fold = "One token, in five variants"
# sphinx_gallery_fold_output = True

make_step(make_decoder(1, blocks=1), mode="reduce-overhead")()  # not timed
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
# Sixteen sequences cost about as much as one
# -------------------------------------------
#
# A step reads the weights once for the whole batch. In a manual graph, :claim:`GPU time goes from
# {one-token.1.graph-by-hand.gpu} at batch size 1 to {one-token.16.graph-by-hand.gpu} at 16
# <one-token.16.graph-by-hand.gpu < 1.1 * one-token.1.graph-by-hand.gpu>`. Only the cache scales with the batch, to
# :measured:`one-token.16.cache.bytes` here.

# sphinx_gallery_fold = "One step at batch size 16"
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
# Leave prefill eager
# -------------------
#
# Prefilling 128 tokens takes :measured:`a-prompt.without-compiling.wall` once per answer, and each length would need
# its own graph. For many long prompts, compile prefill separately, with :doc:`dynamic shapes </recipes/varying_sizes>`
# (not measured).

# sphinx_gallery_fold = "Time a prompt in one run"
# sphinx_gallery_fold_output = True

decoder = make_decoder(1)
prompt = torch.zeros(1, PROMPT, dtype=torch.long, device=bench.device)
positions = torch.arange(PROMPT, device=bench.device)
seconds = bench.time(lambda: decoder(prompt, positions), 10)
bench.measure("a prompt", "without compiling", "wall", seconds)
print(f"a prompt of {PROMPT} tokens: {1e3 * seconds:.3g} ms")

# %%
# In a wide model, reading the weights dominates
# ----------------------------------------------
#
# At four times the width, each token reads :measured:`wide-model.a-token.bytes`. A graph with compiled blocks reaches
# :claim:`{wide-model.blocks-compiled-graph-by-hand.share} of the limit, up from
# {one-token.1.blocks-compiled-graph-by-hand.share} in the small model <one-token.1.blocks-compiled-graph-by-hand.share
# < wide-model.blocks-compiled-graph-by-hand.share>`, and :claim:`{wide-model.blocks-compiled-graph-by-hand.speedup} the
# speed of eager mode; a plain graph reaches {wide-model.graph-by-hand.speedup}
# <wide-model.blocks-compiled-graph-by-hand.wall < wide-model.graph-by-hand.wall < wide-model.without-compiling.wall>`.
# Beyond that, read fewer bytes per token: 8- or 4-bit weights, or more sequences per batch.

# sphinx_gallery_fold = "A wider decoder"
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
# Empty cache slots cost time
# ---------------------------
#
# Attention reads all slots. With 4,096 slots per sequence instead of 256, a step at batch size 16 :claim:`goes from
# {one-token.16.graph-by-hand.wall} to {long-cache.graph-by-hand.wall} <one-token.16.graph-by-hand.wall <
# long-cache.graph-by-hand.wall>`, and the cache occupies :measured:`long-cache.cache.bytes`. If lengths vary widely,
# keep caches of two or three lengths, each with its own graph.

# sphinx_gallery_fold = "A cache of 4,096 slots per sequence"
# sphinx_gallery_once = True
LONG = (16 if ROOMY or not bench.gpu else 4) * PLACES
decoder = make_decoder(TEXTS[1], places=LONG)
cache = count_bytes(decoder.blocks.buffers())
bench.measure("long cache", "cache", "bytes", cache, unit="B")
writers, _seconds = make_writers(FEW[:2], decoder)
long = bench.compare("long cache", writers, tolerance=0.1, rehearse=False, rounds=6)

# %%
# Reading each token makes the GPU wait
# -------------------------------------
#
# After ``.tolist()``, the GPU idles until the next launch. Eight tokens take :measured:`8-tokens.each-one-read.wall` if
# you read each one, and :measured:`8-tokens.read-at-the-end.wall` if you read all at the end, so check for the end of a
# sequence only every few tokens.

# sphinx_gallery_fold = "How many tokens are read"

MANY = 8  # tokens

# %%

# sphinx_gallery_fold = "Read each token, or all at the end"
# sphinx_gallery_once = True


def generate(decoder, step, read_each):
    """Return a function that generates tokens, and reads each one or all at the end."""

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
# A growing cache stalls at each new length
# -----------------------------------------
#
# PyTorch prefers cuDNN for attention on this GPU, and cuDNN builds a plan for every new length: a token takes
# :measured:`growing-cache.cudnn.first_pass` at a new length and :measured:`growing-cache.cudnn.third_pass`
# afterwards. :claim:`Without cuDNN, a new length takes only {growing-cache.without-cudnn.first_pass} <5 *
# growing-cache.without-cudnn.first_pass < growing-cache.cudnn.first_pass>`. If you keep a growing cache, call
# ``torch.backends.cuda.enable_cudnn_sdp(False)``.

# sphinx_gallery_fold = "A growing cache, with and without cuDNN: one run"
# sphinx_gallery_fold_output = True


class GrowingCache:
    """Keys and values of a block, which grow with each token."""

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
    """Return the seconds per token of passes over the same lengths, after the same prompt."""
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
# ``reduce-overhead`` does not help here: it captures a graph for each length and copies the cache in and out. One block
# takes :claim:`{growing-one-block.reduce-overhead.third_pass} per token, versus {growing-one-block.default.third_pass}
# in default mode <growing-one-block.default.third_pass < growing-one-block.reduce-overhead.third_pass>`.

# sphinx_gallery_fold = "A growing cache, compiled: seconds per token in one run"
# sphinx_gallery_fold_output = True
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
# One argument is enough in Transformers
# --------------------------------------
#
# A two-layer Llama generates 64 tokens :claim:`in {transformers.static.wall} instead of {transformers.growing.wall}
# <transformers.static.wall < transformers.growing.wall>`. The first ``generate`` call takes
# :measured:`transformers.static.first_call` plus startup, because it compiles. With the growing cache, it takes
# :measured:`transformers.growing.first_call` without compiling, because cuDNN sees 64 new lengths.

# sphinx_gallery_fold = "Generate 64 tokens with Transformers: seconds in one run"
# sphinx_gallery_fold_output = True
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
# Limits and next steps
# ---------------------
#
# - Up to PyTorch 2.14, do not :doc:`mix manual graphs </recipes/cuda_graphs>` with ``reduce-overhead`` in one process,
#   and free all manual graphs together.
# - Compiled results differ slightly, because fused ``bfloat16`` operations round less often. All logits agree within
#   0.1, but even that can flip a close choice between two tokens.
# - We did not measure 8- or 4-bit weights (`torchao <https://github.com/pytorch/ao>`__), speculative decoding, paged KV
#   caches (PagedAttention), grouped-query attention or multiple GPUs. See :ref:`what carries over to other GPUs
#   <other-gpus>` and :ref:`what changed since PyTorch 2.11 <newer-pytorch>`.
#
# Thanks to `gpt-fast <https://github.com/meta-pytorch/gpt-fast>`__, which popularized the static cache with
# ``reduce-overhead``, to Transformers for its `guide to caches <https://huggingface.co/docs/transformers/kv_cache>`__,
# and to PyTorch for the `notes on CUDA graphs <https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs>`__.
# gpt-fast reports 1,397 GB/s for Llama-2-7B on an A100, about four fifths of what a copy reaches there. Our wide
# decoder reaches :measured:`wide-model.blocks-compiled-graph-by-hand.share`; kernels in the small decoder are too short
# for that.

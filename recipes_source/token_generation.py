"""
How do I make token generation fast?
====================================

TODO
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600
# sphinx_gallery_thumbnail_number = 1

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

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


def record_at_first_call(function):
    """Return a function that is recorded in a CUDA graph when it is called first."""
    if not bench.gpu:
        return function
    graph, recorded = torch.cuda.CUDAGraph(), []

    def replay():
        if not recorded:
            side = torch.cuda.Stream()  # recording needs calls on another stream before
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

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Two rows of bars that show when the device computes during one token: without compiling many short bars with gaps between them, in a CUDA graph one dense block of bars at the beginning"
from matplotlib import pyplot as plt
from torch.profiler import ProfilerActivity, profile


def busy_times(function):
    """Return begin and length, in ms, of all kernels of a call (on a CPU: operations)."""
    kind = "CUDA" if bench.gpu else "CPU"
    function()
    bench.synchronize()
    activity = getattr(ProfilerActivity, kind)
    with profile(activities=[activity], acc_events=True) as report:
        function()
        bench.synchronize()
    events = [e for e in report.events() if e.device_type.name == kind]
    times = [e.time_range for e in events if not e.is_user_annotation]
    first = min(time.start for time in times)
    return [(1e-3 * (t.start - first), 1e-3 * t.elapsed_us()) for t in times]


decoder = make_decoder(1)
figure, axes = plt.subplots(figsize=(7, 2.2), layout="constrained")
shown = {"without compiling": {}, "graph by hand": dict(by_hand=True)}
for row, options in enumerate(shown.values()):
    step = make_step(with_own_cache(decoder), **options)
    step()
    axes.broken_barh(busy_times(step), (-row - 0.3, 0.6), color=f"C{row}")
axes.set_yticks([0, -1], [*shown])
axes.set(xlabel="ms since the first kernel")
plt.show()

# %%

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

decoder = make_decoder(1)
prompt = torch.zeros(1, PROMPT, dtype=torch.long, device=bench.device)
positions = torch.arange(PROMPT, device=bench.device)
seconds = bench.time(lambda: decoder(prompt, positions), 10)
bench.measure("a prompt", "without compiling", "wall", seconds)
print(f"a prompt of {PROMPT} tokens: {1e3 * seconds:.3g} ms")

# %%

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

# sphinx_gallery_once = True
LONG = (16 if ROOMY or not bench.gpu else 4) * PLACES
decoder = make_decoder(TEXTS[1], places=LONG)
cache = count_bytes(decoder.blocks.buffers())
bench.measure("long cache", "cache", "bytes", cache, unit="B")
writers, _seconds = make_writers(FEW[:2], decoder)
long = bench.compare("long cache", writers, tolerance=0.1, rehearse=False, rounds=6)

# %%

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

"""
It recompiles: what do I do about varying sizes?
================================================

TODO
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600
# sphinx_gallery_thumbnail_number = 1

# %%
# TODO

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "TODO"
from matplotlib import pyplot as plt

lengths, sizes = [64, 323, 582, 101, 360, 619, 138, 397], [256, 448, 640]
padded = [min(size for size in sizes if size >= length) for length in lengths]
calls = [f"call {number}" for number in range(1, 9)]
figure, axes = plt.subplots(figsize=(7, 2.8))
axes.bar(calls, padded, color="none", edgecolor="C1", hatch="///", label="padding")
axes.bar(calls, lengths, color="C0", label="tokens")
notes = {0: "compiles\nfor 64", 1: "compiles\nfor any\nlength"}
for call, note in notes.items():
    axes.text(call, padded[call] + 12, note, ha="center", fontsize=8)
axes.set(ylabel="length", ylim=(0, 780))
axes.legend(loc="upper center", ncols=2)
plt.show()

# %%
# TODO

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

bench = Bench()

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
# TODO

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
# TODO

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
# TODO


def meet(visit, texts):
    """Return the seconds that it takes, per text, that a length is new; and memory kept."""
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
    return max(0, first - later) / len(texts), max(0, kept) / len(texts)


new_texts = make_texts(FEW, [length + 5 for length in LENGTHS[:8]])
met = {name: meet(visits[name], new_texts) for name in visits}
print(pd.DataFrame(met, index=["seconds", "bytes"]).T)

# %%

# sphinx_gallery_plumbing = True

for name, (seconds, kept) in met.items():
    bench.measure("a new length", name, "new_length", seconds)
    bench.measure("a new length", name, "kept", kept, unit="B")
padded = sum(pad(text, SIZES).shape[1] for text in few_texts)
bench.measure("padding", "four sizes", "waste", padded / sum(LENGTHS) - 1, unit="share")

# %%
# TODO

NAMES = ("without compiling", "nothing marked", "padded, CUDA graphs")
many_texts = make_texts(MANY)
visits = {name: Visit(many_texts, **VARIANTS[name]) for name in NAMES}
many = bench.compare("many texts", visits, tolerance=0.1, rehearse=False)

# %%
# TODO

# sphinx_gallery_once = True
eight = few_texts[:8]
visits = {
    "without compiling": Visit(eight, compiled=False),
    "compiled for any length": Visit(eight, marked=True),
    "padded, each size compiled": Visit(eight, SIZES, dynamic=False),
    "each length compiled": Visit(eight, dynamic=False),
}
each = bench.compare("eight lengths", visits, tolerance=0.1, rehearse=False)

# %%
# TODO

# sphinx_gallery_once = True


def spread(number):
    """Return that many sizes, at equal distances, up to the longest text."""
    step = max(LENGTHS) / number
    return [round(step * (each + 1) + 0.5) for each in range(number)]


def pad_to(number):
    """Return variants that pad to a number of sizes."""
    options = dict(sizes=spread(number), mode="reduce-overhead")
    return {
        "without compiling": Visit(few_texts, compiled=False),
        "padded, CUDA graphs": Visit(few_texts, **options),
    }


NUMBERS = (1, 2, 4, 8) if bench.gpu else (1, 2)
sizes = bench.compare(
    "sizes to pad to", pad_to, ("sizes", NUMBERS), tolerance=0.1, rehearse=False
)
for number in NUMBERS:
    padded = sum(pad(text, spread(number)).shape[1] for text in few_texts)
    print(f"{number} sizes: {padded / sum(LENGTHS) - 1:.0%} of the tokens are padding")

# %%

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


def count(calls, function=None, mark=None, **options):
    """Return how often calls compile, and how many of them run without compiling."""
    torch.compiler.reset()
    counter = Counter()
    compiled = torch.compile(function or scale, backend=counter, **options)
    for arguments in calls:
        if mark:
            mark(arguments[0], 0)
        compiled(*arguments)
    return {"compilations": counter.graphs, "not_compiled": len(calls) - counter.runs}


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
from torch._dynamo import mark_dynamic, maybe_mark_dynamic
from torch._dynamo.decorators import mark_unbacked

TWELVE = range(2, 14)
EDGES = [2, 3, 1, 0, *range(4, 12)]
x = torch.ones(8)
counts = {
    "length": count(tensors(*TWELVE)),
    "length, marked": count(tensors(*TWELVE), mark=mark_dynamic),
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
with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True):
    counts["integer of a module, allowed"] = count([(x,)] * 12, Counting())
with torch.compiler.config.patch(dynamic_sources="L['x']"):
    counts["length, in dynamic_sources"] = count(tensors(*TWELVE))
print(pd.DataFrame(counts).T)

# %%

# sphinx_gallery_plumbing = True

for variant, found in counts.items():
    for quantity, value in found.items():
        bench.measure("twelve calls", variant, quantity, value, unit="")

# %%
# TODO

# sphinx_gallery_once = True
x = torch.ones(5, 8)
mark_dynamic(x, 0)
try:
    torch.compile(look_up, backend="eager")(x)
except Exception as error:
    print(type(error).__name__)

# %%
# TODO

# sphinx_gallery_once = True


def halve_long(x):
    """Return ``x``, and half of it if it is long."""
    torch._check(x.shape[0] <= 64)  # without this line, compiling fails
    return x / 2 if x.shape[0] > 64 else x


x = torch.ones(1, 8)
mark_unbacked(x, 0)
print(torch.compile(halve_long, backend="eager", fullgraph=True)(x).shape)

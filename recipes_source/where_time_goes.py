"""
My job is slow: where do I start?
=================================

Slow training or inference, low GPU utilization?

**Look first: what does an iteration wait for?** **Fix that, then look again.** **While it waits for data,
compile nothing.**

.. code-block:: python

   import time, torch

   def look(iteration, calls=100):
       for _ in range(2):  # 1st: warm-up
           torch.cuda.synchronize()
           start = time.perf_counter()
           for _ in range(calls): iteration()
           torch.cuda.synchronize()
       print((time.perf_counter() - start) / calls, "s")
       with torch.profiler.profile(acc_events=True) as report:
           iteration(), torch.cuda.synchronize()
       print(report.key_averages().table().splitlines()[-1])

   model = torch.nn.Linear(64, 8).cuda()
   def train(batch): model(batch.cuda()).norm().backward()
   batches = iter(torch.ones(999, 4, 64))  # iter(loader)
   batch = next(batches)
   look(lambda: train(next(batches)))  # new batches
   look(lambda: train(batch))  # the same batch

- If an iteration takes far more time with new batches, the job **waits for data**.
- If its time with the same batch is above 1.2 times the GPU time, **the GPU waits for the CPU**.
- If these two times are about equal, **the GPU is busy**.

In the training job on this page, an iteration takes :measured:`iteration.before.wall` before anything is
changed. Waiting for data is :measured:`iteration.before.data_share` of it, and no compiler shortens that. With worker
processes, a fused optimizer and a compiled model in CUDA graphs, :claim:`an iteration takes less
<iteration.cuda-graphs.wall < iteration.before.wall>`: :measured:`iteration.cuda-graphs.wall`. The worker processes
alone are :measured:`iteration.workers.gain_share` of this gain. The price is paid once: the first compiled step takes
:measured:`small-model.cuda-graphs.first_call`.

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600
# sphinx_gallery_thumbnail_number = 1

# %%
# What you see, and where to go
# -----------------------------
#
# Table.
#
# Why an iteration waits
# ----------------------
#
# Text.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Timelines of three jobs, each with a line for the loader, the CPU and the GPU. In the first the loader is busy all the time, in the second the CPU is, and in the third the GPU is; the other two wait"
from matplotlib import pyplot as plt

COLOURS = {"loader": "tab:orange", "CPU": "tab:blue", "GPU": "tab:green"}
WORK = {  # by job: how long loader, CPU and GPU are busy in an iteration of 10
    "it waits for data": (9.4, 3, 1.5),
    "the GPU waits for the CPU": (3, 9.4, 4),
    "the GPU is busy": (3, 3, 9.4),
}
figure, axes = plt.subplots(3, sharex=True, figsize=(7, 5.2), layout="constrained")
for axis, (job, lengths) in zip(axes, WORK.items(), strict=True):
    for line, (name, length) in enumerate(zip(COLOURS, lengths, strict=True)):
        begin = 0.3 * line
        spans = [(begin + 10 * number, length) for number in range(3)]
        axis.broken_barh(spans, (-line - 0.4, 0.8), color=COLOURS[name])
    axis.set_yticks([0, -1, -2], [*COLOURS])
    axis.set_title(job, loc="left", fontsize=12)
    axis.tick_params(labelsize=12)
axes[-1].set_xticks([0, 10, 20], ["iteration 1", "iteration 2", "iteration 3"])
plt.show()

# %%
# A job to look at
# ----------------
#
# Text.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import REPLICATE, Bench

# %%

bench = Bench()

import pandas as pd
import torch
from torch import nn

ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 24 * 2**30
BATCH, WINDOW = (64, 128) if bench.gpu else (8, 16)  # documents, words of each
SMALL = (384, 2) if bench.gpu else (32, 1)  # width and blocks of the models
LARGE = (2048, 2) if ROOMY else (512, 2) if bench.gpu else (64, 1)
BATCHES, LENGTH, VOCABULARY, TOPICS = 80 if bench.gpu else 20, 600, 8000, 16

# %%

# sphinx_gallery_fold = "The job: documents, and the model that reads them"

import os
import random
import re
import time

from torch.utils.data import DataLoader, Dataset

random.seed(0)
HALF = bench.dtype == torch.bfloat16
WORKERS = 0
if hasattr(os, "sched_getaffinity"):  # on Linux, where a process is cheap to copy
    WORKERS = min(8, len(os.sched_getaffinity(0)))
LOADING = dict(num_workers=WORKERS, pin_memory=bench.gpu)
LOADING["multiprocessing_context"] = "fork" if WORKERS else None


class Documents(Dataset):
    """Random documents, read as real ones are."""

    def __init__(self):
        words = ["".join(random.choices("abcdefghij", k=5)) for _ in range(VOCABULARY)]
        self.numbers = {word: number for number, word in enumerate(words)}
        self.texts = [" ".join(random.choices(words, k=LENGTH)) for _ in range(500)]

    def __len__(self):
        """Return the number of documents in an epoch; texts come again."""
        return BATCH * BATCHES

    def __getitem__(self, index):
        """Return a piece of a text as numbers, and the topic."""
        words = re.findall(r"\w+|[^\w\s]", self.texts[index % 500].lower())
        numbers = [self.numbers.get(word, 0) for word in words]
        start = random.randrange(LENGTH - WINDOW)
        return torch.tensor(numbers[start : start + WINDOW]), index % TOPICS


class Reader(nn.Module):
    """A transformer that tells the topic of a document."""

    def __init__(self, width, depth):
        super().__init__()
        options = dict(dropout=0.0, batch_first=True, norm_first=True)
        layer = nn.TransformerEncoderLayer(width, width // 32, 4 * width, **options)
        self.words = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.topics = nn.Linear(width, TOPICS)

    def forward(self, words):
        """Return a score for each topic."""
        return self.topics(self.blocks(self.words(words)).mean(1))


class Job:
    """A model with its optimizer, compiled if ``mode`` is given."""

    def __init__(self, size, fused=None, mode=None, mixed=HALF, precision="highest"):
        torch.manual_seed(0)  # the same model for each variant
        self.mixed, self.precision = mixed, precision
        with bench.device:
            self.reader = Reader(*size)
        parameters = self.reader.parameters()
        self.optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=fused)
        self.model = torch.compile(self.reader, mode=mode) if mode else self.reader

    def step(self, words, topics, note=lambda: None):
        """Train on a batch, note the end of each part, and return the loss."""
        torch.set_float32_matmul_precision(self.precision)
        with torch.autocast(bench.device.type, bench.dtype, enabled=self.mixed):
            scores = self.model(words)
            loss = nn.functional.cross_entropy(scores, topics)
        note()
        loss.backward()
        note()
        self.optimizer.step()
        self.optimizer.zero_grad()
        note()
        self.scores = scores.detach()
        return loss.detach()


# %%
# First it is looked at.

# sphinx_gallery_fold = "The function look, as above"
# sphinx_gallery_once = True
from torch.profiler import profile


def look(iteration, calls=100):
    """Print the seconds of an iteration, and the time that the GPU computes in one."""
    for _ in range(2):  # the first round uses up batches that lie ready
        bench.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            iteration()
        bench.synchronize()
    print(f"{(time.perf_counter() - start) / calls:.5f} s")
    with profile(acc_events=True) as report:
        iteration()
        bench.synchronize()
    print(report.key_averages().table().splitlines()[-1])


# %%

# sphinx_gallery_once = True
job, documents = Job(SMALL), Documents()


def train(batch):
    """Take a batch to the device, and train on it."""
    words, topics = (each.to(bench.device) for each in batch)
    job.step(words, topics)


batches = iter(DataLoader(documents, BATCH))
batch = next(batches)
calls = BATCHES // 2 - 1
look(lambda: train(next(batches)), calls)  # new batches
look(lambda: train(batch), calls)  # the same batch

# %%
# The GPU waits for the CPU
# -------------------------
#
# Text.

documents = Documents()
batch = next(iter(DataLoader(documents, BATCH)))
words, topics = (each.to(bench.device) for each in batch)
jobs = {
    "before": Job(SMALL),
    "fused optimizer": Job(SMALL, fused=True),
    "compiled": Job(SMALL, fused=True, mode="default"),
    "CUDA graphs": Job(SMALL, fused=True, mode="reduce-overhead"),
}


def steps_of(jobs):
    """Return a step of each job with the same batch."""
    return {name: lambda job=job: job.step(words, topics) for name, job in jobs.items()}


rehearsal = torch.compile(nn.Linear(8, 8, device=bench.device))  # not timed
rehearsal(torch.ones(8, 8, device=bench.device)).sum().backward()
small = bench.compare("small model", steps_of(jobs), tolerance=0.02, rehearse=False)

# %%
# All changes together
# --------------------
#
# Text.

# sphinx_gallery_fold = "How the parts of an iteration are timed"
PARTS = ["data", "forward", "backward", "optimizer"]


def moment():
    """Note when the device gets here."""
    if not bench.gpu:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def epoch(job, loading):
    """Train on all batches; return the mean seconds of each part."""
    moments = [moment()]
    for batch in DataLoader(documents, BATCH, **loading):
        words, topics = (each.to(bench.device, non_blocking=True) for each in batch)
        moments.append(moment())
        job.step(words, topics, lambda: moments.append(moment()))
    if bench.gpu:
        torch.cuda.synchronize()
        moments = [moments[0].elapsed_time(each) / 1e3 for each in moments]
    parts = pd.Series(moments).diff()[1:].to_numpy().reshape(-1, len(PARTS))
    return pd.Series(parts[BATCHES // 4 :].mean(0), PARTS)  # without the first quarter


# %%

variants = {"before": (jobs["before"], {}), "workers": (jobs["before"], LOADING)}
for name in ("fused optimizer", "compiled", "CUDA graphs"):
    variants[name] = (jobs[name], LOADING)
epochs = {name: [] for name in variants}
for _ in range(1 if REPLICATE else 3):
    for name, (job, loading) in variants.items():
        epochs[name].append(epoch(job, loading))
means = pd.DataFrame({name: pd.DataFrame(epochs[name]).median() for name in variants}).T
means["wall"] = means.sum(axis=1)
print((1e3 * means).map("{:.2f} ms".format).to_string())

# %%

# sphinx_gallery_plumbing = True

for name, row in means.iterrows():
    bench.measure("iteration", name, "wall", row.wall)
    for part in PARTS:
        share = row[part] / row.wall
        bench.measure("iteration", name, f"{part}_share", share, unit="share")

# %%
# The GPU is busy
# ---------------
#
# Text.

large = {
    "float32": Job(LARGE, fused=True, mixed=False),
    "TF32": Job(LARGE, fused=True, mixed=False, precision="high"),
    "mixed precision": Job(LARGE, fused=True),
}
busy = bench.compare("large model", steps_of(large), tolerance=0.05, rehearse=False)

# %%
# Compiled?

# sphinx_gallery_once = True
pair = {
    "without compiling": Job(LARGE, fused=True),
    "compiled": Job(LARGE, fused=True, mode="default"),
}
compiled = bench.compare(
    "large model, compiled", steps_of(pair), tolerance=0.05, rehearse=False
)

# %%
# A line of code waits for the GPU
# --------------------------------
#
# Text.


def count_hits():
    """Train on the batch, and tell for each document whether its topic was found."""
    job = large["mixed precision"]
    job.step(words, topics)
    return job.scores.argmax(1) == topics


reading = {
    "added up on the GPU": lambda: count_hits().sum(),
    "sum read": lambda: count_hits().sum().item(),
    "each hit read": lambda: sum(hit.item() for hit in count_hits()),
}
stopped = bench.compare("reading results", reading, rehearse=False)

# %%
# Which lines wait?

# sphinx_gallery_fold = "How lines are found that wait"
import warnings

side = 4096 if bench.gpu else 256
x = torch.randn(side, side, device=bench.device)
pageable = torch.randn(2**20)
lines = {
    "item": lambda: x[0, 0].item(),
    "if": lambda: bool(x[0, 0] > 1),
    "mask": lambda: x[0][x[0] > 1],
    "where": lambda: torch.where(x[0] > 1, x[0], 0),
    "pageable copy": lambda: pageable.to(bench.device),
    "pageable copy, non_blocking": lambda: pageable.to(bench.device, non_blocking=True),
}
if bench.gpu:
    pinned = pageable.pin_memory()
    lines["pinned copy, non_blocking"] = lambda: pinned.to("cuda", non_blocking=True)


def time_behind_work(line):
    """Return for how long a line holds up the CPU while the device has work to do."""
    samples = []
    for _ in range(6):
        bench.synchronize()
        for _ in range(4):
            x @ x
        start = time.perf_counter()
        line()
        samples.append(time.perf_counter() - start)
    return pd.Series(samples[1:]).median()


def count_warnings(line):
    """Return how often a line is reported as one that waits for the GPU."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        line()
        torch.cuda.set_sync_debug_mode("default")
    return sum("called a synchronizing" in str(each.message) for each in caught)


torch.set_float32_matmul_precision("highest")
if bench.gpu:
    waits = {name: [time_behind_work(line)] for name, line in lines.items()}
    for name, line in lines.items():
        waits[name].append(count_warnings(line))
    waits = pd.DataFrame(waits, ["cpu (s)", "warnings"]).T
    print(waits)

# %%

# sphinx_gallery_plumbing = True

if bench.gpu:
    work = bench.time(lambda: x @ x, 4)
    bench.measure("a line behind work", "the work", "wall", 4 * work)
    for name, (seconds, reports) in waits.iterrows():
        bench.measure("a line behind work", name, "cpu", seconds)
        bench.measure("a line behind work", name, "warnings", reports, unit="")

# %%
# Pitfalls
# --------
#
# **A full queue.**

# sphinx_gallery_fold = "A loader with a slow disk"
# sphinx_gallery_once = True


class Disk(Dataset):
    """A disk that takes 20 ms to read a batch."""

    def __len__(self):
        """Return the number of batches."""
        return 1000

    def __getitem__(self, index):
        """Return a batch."""
        time.sleep(0.02)
        return torch.ones(32, 64)


def time_batches(warm_up, calls):
    """Return the seconds of an iteration behind some that are not timed."""
    torch.compiler.reset()  # the first iteration compiles
    batches = iter(DataLoader(Disk(), None, **LOADING))
    compiled = torch.compile(nn.Linear(64, 64, device=bench.device))

    def iteration():
        compiled(next(batches).to(bench.device))

    bench.time(iteration, warm_up)
    return bench.time(iteration, calls)


# %%

# sphinx_gallery_once = True
queue = {
    "one call before": time_batches(1, 2 * max(WORKERS, 1)),
    "look": time_batches(100, 100),
    "long run": time_batches(200, 300),
}
print(pd.Series(queue).map("{:.5f} s".format).to_string())

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for name, seconds in queue.items():
    bench.measure("full queue", name, "wall", seconds)

# %%
# **A clock without synchronization sees only the launches.**

# sphinx_gallery_once = True
product = x @ x  # the first call loads libraries
bench.synchronize()
began = time.perf_counter()
product = x @ x @ x @ x
print(f"queued:   {1e3 * (time.perf_counter() - began):.3f} ms")
print(f"computed: {1e3 * bench.time(lambda: x @ x @ x @ x, 3):.3f} ms")

# %%
# What is not measured here, and where to go on
# ---------------------------------------------
#
# Text.

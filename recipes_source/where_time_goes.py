"""
My job is slow: where do I start?
=================================

Slow training or inference, low GPU utilization? Ten lines tell what your job waits for.

**Look first: what does an iteration wait for?** **Fix that, then look again.** **While it waits for data,
compile nothing.**

.. code-block:: python

   import torch
   from torch.profiler import ProfilerActivity, profile
   from torch.utils.benchmark import Timer

   def look(iteration, calls=100):
       timer = Timer("f()", globals={"f": iteration})
       timer.timeit(calls)  # uses up batches that lie ready
       wall = timer.timeit(calls).mean
       with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
           iteration(), torch.cuda.synchronize()
       events = [e for e in report.events() if e.device_type.name == "CUDA"]
       busy = sum(e.time_range.elapsed_us() for e in events if not e.is_user_annotation)
       print(f"{1e3 * wall:.2f} ms, of which the GPU computes {busy / 1e3:.2f} ms")

   batch, batches = next(iter(loader)), iter(loader)  # of 205 batches or more
   look(lambda: train(next(batches)))  # with loading
   look(lambda: train(batch))  # the same batch every time

``train`` is a function of yours: it moves a batch to the GPU and trains on it. That changes the model, so take
a copy. In serving, use a function that answers a request.

- If an iteration takes far more time with loading, the job **waits for data**.
- If its time with the same batch is above 1.2 times the GPU time, **the GPU waits for the CPU**.
- If these two times are about equal, **the GPU is busy**.

In the training job on this page, an iteration takes :measured:`iteration.as-it-is.wall` before anything is
changed, and :claim:`waiting for data is its longest part <data-is-longest>`. With worker processes, a fused
optimizer and a compiled model in CUDA graphs, :claim:`an iteration takes less: {iteration.mended.wall}
<iteration.mended.wall < iteration.as-it-is.wall>`. The price is paid once: the first compiled step takes
:measured:`step.graphs.first_call`, and before it the compiler starts. If no step waits for data, all of this has
saved the time of its start after :measured:`step.graphs.break_even` steps, compared with the unchanged job.

``look`` does not time its first calls. One of them may compile for seconds, and meanwhile worker processes fill
their queue. If ``look`` timed the batches that lie ready, it would not see the wait for data. So ``calls`` has to
exceed the number of workers times ``prefetch_factor``, which is 2 unless you change it.

**What you need**

- PyTorch 2.11 or newer, pandas and Matplotlib.
- A CUDA GPU of compute capability 7.0 or above, with Triton, for results like the ones on this page.
  Without one, small sizes run on the CPU; there ``torch.compile`` needs a C++ compiler.

.. names::

   :as it is:
   :fused: fused optimizer
   :compiled: compiled model
   :graphs: CUDA graphs
   :workers: with workers
   :mended:
   :step: one step
   :data_share: data
   :forward_share: forward
   :backward_share: backward
   :optimizer_share: optimizer
   :iteration: one iteration
   :claim.of an iteration: share of an iteration
   :claim.data-is-longest: the next longest part, and data, in the later output
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600
# sphinx_gallery_thumbnail_number = 1

# %%
# What you see, and where to go
# -----------------------------
#
# The first three lines tell what an iteration waits for: take the first that fits. The last three
# may hold as well: check each. Mend one thing, then look again: what was hidden behind it comes to
# light.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - On this page
#      - What helps
#      - Where
#    * - With the same batch every time, an iteration takes much less time.
#      - Waiting for data is :measured:`iteration.as-it-is.data_share` of it.
#      - Worker processes, pinned memory, less work per sample. Compiling does not.
#      - Below
#    * - With the same batch, the wall time is above 1.2 times the time in kernels, and
#        ``torch.cuda.set_sync_debug_mode("warn")`` reports lines of your loop. (It is a prototype, and
#        does not find all such lines.)
#      - Not here
#      - These lines make the CPU wait for the GPU. Add up on the GPU what ``.item()`` reads, use
#        ``torch.where`` instead of a boolean mask, and copy from pinned memory with ``non_blocking=True``.
#      - Below
#    * - With the same batch, the wall time is above 1.2 times the time in kernels, and no line is
#        reported.
#      - GPU time :measured:`step.as-it-is.gpu`, wall time :measured:`step.as-it-is.wall`,
#        :measured:`step.as-it-is.kernels` kernels
#      - Fewer launches: compile the model, then try CUDA graphs.
#      - :doc:`/recipes/compile_modes`
#    * - The two are nearly equal.
#      - Not here
#      - Less work for the GPU: ``torch.set_float32_matmul_precision("high")`` if matrix products are in
#        ``float32``, ``bfloat16``, a compiled model.
#      - :doc:`/recipes/compile_modes`
#    * - The optimizer takes more than a tenth: ``look(optimizer.step)``, after a backward pass.
#      - :measured:`iteration.workers.optimizer_share` once data is there
#      - ``fused=True``, or a compiled step.
#      - :doc:`/recipes/compiling_optimizer`
#    * - The first iteration takes minutes.
#      - :measured:`step.compiled.first_call` for the compiled model
#      - Compile one block and reuse it; keep the cache.
#      - :doc:`/recipes/regional_compilation`
#    * - Later iterations take seconds now and then.
#      - Not here
#      - Find what is compiled again: ``TORCH_LOGS=recompiles`` prints the reason. ``TORCH_TRACE=folder``
#        keeps a trace, from which ``tlparse folder`` makes a report of all compilations.
#      - :doc:`/recipes/regional_compilation`
#
# Why an iteration waits
# ----------------------
#
# An iteration is a chain of three. The **data loader** reads samples and makes a batch of them. The
# **CPU** runs Python and launches kernels: it puts them into a queue and goes on. The **GPU** takes
# them from there. If the three work at the same time, an iteration lasts as long as one of them,
# the one with the most to do. If they take turns, it lasts as long as all of them together.
#
# A ``DataLoader`` without worker processes makes them take turns: it reads a batch when it is asked
# for one, and by then the queue of the GPU is empty. Looking at the GPU alone does not tell whether
# it waits for data or for launches. Training on the same batch again does: nothing is loaded.
#
# If the wall time is above 1.2 times the GPU time although the batch is there, the job is
# **launch-bound**. Each kernel costs the CPU some microseconds, whatever it computes, so only
# fewer kernels help, or a CUDA graph, which launches all of them at once. If the two times are
# nearly equal, the job is **GPU-bound**, and only less work for the GPU helps.
#
# A job to look at
# ----------------
#
# The job sorts documents by topic, with a small transformer in mixed precision. The documents are
# random, but reading one costs what it costs with real ones: a regular expression splits the text
# into words, a dictionary turns the words into numbers, and a piece is cut out at random.

# sphinx_gallery_fold = "The harness: how arms are timed"

from _bench import Bench

# %%

bench = Bench()
ON_GPU = bench.device.type == "cuda"
BATCH, WINDOW, WIDTH, DEPTH = (64, 128, 384, 2) if ON_GPU else (8, 16, 32, 1)
BATCHES, LENGTH, VOCABULARY, TOPICS = 100 if ON_GPU else 20, 600, 8000, 16

# %%

# sphinx_gallery_fold = "The job: documents, and the model that reads them"

import os
import random
import re
import time

import pandas as pd
import torch
from matplotlib import pyplot as plt
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(0)
MIXED = bench.dtype == torch.bfloat16
WORKERS = 0
if hasattr(os, "sched_getaffinity"):  # on Linux, where a process is cheap to copy
    WORKERS = min(8, len(os.sched_getaffinity(0)))
FORK = "fork" if WORKERS else None


class Documents(Dataset):
    """Random documents, read as real ones are."""

    def __init__(self):
        """Make up words, and texts of them."""
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

    def __init__(self):
        """Make layers for words, context and topic."""
        super().__init__()
        options = dict(dropout=0.0, batch_first=True, norm_first=True)
        layer = nn.TransformerEncoderLayer(WIDTH, WIDTH // 32, 4 * WIDTH, **options)
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
        self.topics = nn.Linear(WIDTH, TOPICS)

    def forward(self, words):
        """Return a score for each topic."""
        return self.topics(self.blocks(self.words(words)).mean(1))


# %%
# The parts of an iteration
# -------------------------
#
# An iteration has four parts. At the end of each the job notes the moment: on a GPU with an
# *event*, which goes through the queue like a kernel. The parts add up to the iteration as the GPU
# sees it, and hold what events and new batches cost the CPU.

PARTS = ["data", "forward", "backward", "optimizer"]
documents = Documents()


def moment():
    """Note when the device gets here."""
    if not ON_GPU:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


class Job:
    """A model with its optimizer, compiled if ``mode`` is given."""

    def __init__(self, fused=False, mode=None):
        torch.manual_seed(0)  # the same model for each job
        self.reader = Reader().to(bench.device)
        self.optimizer = torch.optim.AdamW(self.reader.parameters(), fused=fused)
        self.model = torch.compile(self.reader, mode=mode) if mode else self.reader

    def step(self, words, topics, note=lambda: None):
        """Train on a batch and note the end of each part."""
        with torch.autocast(bench.device.type, bench.dtype, enabled=MIXED):
            loss = nn.functional.cross_entropy(self.model(words), topics)
        note()
        loss.backward()
        note()
        self.optimizer.step()
        self.optimizer.zero_grad()
        note()
        return loss.detach()


def epoch(job, **loading):
    """Train on all batches; return the mean seconds of each part."""
    moments = [moment()]
    for batch in DataLoader(documents, BATCH, **loading):
        words, topics = (each.to(bench.device, non_blocking=True) for each in batch)
        moments.append(moment())
        job.step(words, topics, lambda: moments.append(moment()))
    if ON_GPU:
        torch.cuda.synchronize()
        moments = [moments[0].elapsed_time(each) / 1e3 for each in moments]
    parts = pd.Series(moments).diff()[1:].to_numpy().reshape(-1, len(PARTS))
    return pd.Series(parts[BATCHES // 4 :].mean(0), PARTS)  # without the first quarter


# %%
# This is the job as it is:

# sphinx_gallery_once = True
parts = epoch(Job())
print((1e3 * parts).map("{:.2f} ms".format).to_string())

# %%
# :claim:`Waiting for data is the longest of the four <data-is-longest>`, so it is the first thing
# to mend. Printed output and notebooks' tables show one run, and all else the median of all
# processes, so they differ where the CPU decides.
#
# With the batch at hand
# ----------------------
#
# Now the same batch is used every time, so that only launching and computing are left. Each arm
# changes one thing more: the fused optimizer is one keyword, the compiled model merges kernels,
# and CUDA graphs (``mode="reduce-overhead"``) launch what is left of the model at once.
#
# ``wall`` is the wall time, ``gpu`` the time in kernels and ``cpu`` that of launching them.

batch = next(iter(DataLoader(documents, BATCH)))
words, topics = (each.to(bench.device) for each in batch)
jobs = {"as it is": Job(), "fused": Job(fused=True), "compiled": Job(True, "default")}
if ON_GPU:
    jobs["graphs"] = Job(True, "reduce-overhead")
arms = {name: lambda job=job: job.step(words, topics) for name, job in jobs.items()}
small = torch.compile(nn.Linear(8, 8, device=bench.device, dtype=bench.dtype))
x = words[:, :8].to(bench.dtype)
steps = bench.compare("step", arms, rehearse=lambda: small(x).sum().backward())

start = Job().reader.state_dict()
for job in jobs.values():
    job.reader.load_state_dict(start)
losses = pd.Series({name: arm().item() for name, arm in arms.items()})
assert (losses - losses["as it is"]).abs().max() < 0.02, losses

# %%
# This is how to read the table:
#
# - As it is, :claim:`the wall time is above 1.2 times the GPU time <1.2 * step.as-it-is.gpu < step.as-it-is.wall>`: the step is
#   launch-bound.
# - :claim:`The fused optimizer takes {step.fused.kernels} kernels instead of
#   {step.as-it-is.kernels} <fused.kernels < as-it-is.kernels>`, and :claim:`the compiled model leaves
#   {step.compiled.kernels} <compiled.kernels < fused.kernels>`.
# - CUDA graphs launch the model's kernels together: :claim:`launching a step takes {step.graphs.cpu},
#   as it is {step.as-it-is.cpu} <graphs.cpu < as-it-is.cpu>`, with the compiled model alone
#   :measured:`step.compiled.cpu`. Loss and optimizer stay outside of the graph, so the wall time,
#   :measured:`step.graphs.wall`, is still above 1.2 times the :measured:`step.graphs.gpu` of GPU time.
#
# All arms start from the same parameters and give the same loss, within 0.02.
#
# .. chart:: ladder
#    :case: step
#    :arms: as it is, fused, compiled, graphs
#    :quantities: wall, gpu
#
#    A step with the batch at hand.
#
# .. chart:: break-even
#    :cases: step
#    :arms: as it is, fused, compiled, graphs
#
#    Time of all steps of a run, the first call and the start of the compiler included.
#
# Doing what was found
# --------------------
#
# Worker processes read batches while the GPU computes. From pinned memory a batch is copied to
# the GPU in the background, if ``non_blocking=True`` asks for it. The last way adds the mended step:
# a fused optimizer and a compiled model, on a GPU with CUDA graphs.

loading = dict(num_workers=WORKERS, multiprocessing_context=FORK, pin_memory=ON_GPU)
plain, best = jobs["as it is"], jobs["graphs" if ON_GPU else "compiled"]
ways = {"as it is": (plain, {}), "workers": (plain, loading), "mended": (best, loading)}
epochs = {way: [] for way in ways}
for _ in range(2):
    for way, (job, options) in ways.items():
        epochs[way].append(epoch(job, **options))
means = pd.DataFrame({way: pd.DataFrame(epochs[way]).mean() for way in ways}).T
means["wall"] = means.sum(axis=1)
print((1e3 * means).map("{:.2f} ms".format).to_string())

# %%

# sphinx_gallery_plumbing = True

found = means[PARTS].div(means.wall, axis=0).add_suffix("_share")
found["wall"] = means.wall
found["speedup"] = (means.wall["as it is"] / means.wall).iloc[1:]
for way, figures in found.iterrows():
    for quantity, value in figures.dropna().items():
        kind, unit = f"iteration, {quantity}", "s" if quantity == "wall" else "share"
        bench.figure("iteration", way, quantity, value, kind=kind, unit=unit)


def claim_less(key, a, b, unit="s"):
    bench.claim(key, a < b, f"{a:.4g} {unit} against {b:.4g} {unit}")


claim_less("mended-is-shorter", means.wall["mended"], means.wall["as it is"])
shares = found.data_share
claim_less(
    "workers-wait-less", shares["workers"], shares["as it is"], "of an iteration"
)
others = means[PARTS[1:]].loc["as it is"].max()
claim_less("data-is-longest", others, means.data["as it is"])
if ON_GPU:
    claim_less("step-waits", 1.2 * steps.gpu["as it is"], steps.wall["as it is"])
    claim_less("graphs-launch-less", steps.cpu["graphs"], steps.cpu["as it is"])
    whole, fused, compiled = steps.kernels[["as it is", "fused", "compiled"]]
    claim_less("fused-fewer-kernels", fused, whole, "kernels")
    claim_less("compiled-fewer-kernels", compiled, fused, "kernels")

# %%
# .. chart:: stacked
#    :case: iteration
#    :arms: as it is, workers, mended
#    :quantities: data_share, forward_share, backward_share, optimizer_share
#    :whole: wall
#
#    The parts of an iteration.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_once = True
# sphinx_gallery_alt = "Stacked bars of the milliseconds of an iteration, divided into data, forward, backward and optimizer; one bar each for the job as it is, with worker processes, and mended"
axes = (1e3 * means[PARTS]).iloc[::-1].plot.barh(stacked=True, figsize=(7, 2.6))
for bars, hatch in zip(axes.containers, ["", "//", "xx", ".."], strict=True):
    for bar in bars:
        bar.set(hatch=hatch, edgecolor="white")
axes.set(xlabel="ms per iteration")
axes.legend(ncols=len(PARTS), loc="lower center", bbox_to_anchor=(0.5, 1))
plt.show()

# %%
# :claim:`With workers {iteration.workers.data_share} of an iteration is waiting for data instead of
# {iteration.as-it-is.data_share} <workers.data_share < as-it-is.data_share>`. With the mended step as well, the speed-up
# is :measured:`iteration.mended.speedup`. The job as it is was run twice in one process, and its times differ:
# what the CPU does varies that much, and so does a speed-up. Look again at this point: a
# mended step asks for batches at a higher rate, so waiting for data may be the first line that fits
# once more.
#
# Pitfalls
# --------
#
# **A clock without synchronization sees only the launches.** On a GPU the first line of output is the
# time in which the work is queued, the second that in which it is done. Rule: synchronize before
# each reading of the clock, or use ``torch.utils.benchmark.Timer``, which does.

# sphinx_gallery_once = True
x = torch.randn(4000 if ON_GPU else 400, 4000 if ON_GPU else 400, device=bench.device)
product = x @ x  # the first call loads libraries
began = time.perf_counter()
product = x @ x @ x @ x
print(f"queued:   {1e3 * (time.perf_counter() - began):.3f} ms")
print(f"computed: {1e3 * bench.time(lambda: x @ x @ x @ x, 3):.3f} ms")

# %%
# **Reading the loss in every iteration stops the queue.** ``loss.item()`` waits for the GPU, which
# then waits for the next launch. Rule: read it every hundred iterations, and look for ``.item()``,
# ``.cpu()``, ``print(tensor)`` and ``if tensor`` in the loop.

# sphinx_gallery_once = True
row = torch.ones(1000, device=bench.device)
total = row.sum().item()  # the first call loads libraries
print(f"without .item(): {1e6 * bench.time(lambda: row.sum(), 1000):.1f} µs")
print(f"with .item():    {1e6 * bench.time(lambda: row.sum().item(), 1000):.1f} µs")

# %%
# **The profiler slows the CPU down.** A launch-bound job looks worse under it than it is. Rule: take
# wall times without it, and from the profile only kernels.
#
# **Workers have to start.** In the first iterations of each epoch a batch is not ready yet; a mean
# over a short epoch is mostly that wait. Rule: ``persistent_workers=True`` if epochs are short.
#
# **More workers than cores help nobody.** They take turns, and the process that launches kernels
# waits with them. Rule: count the cores that your job may use, not those of the machine.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# The documents stand in memory: a disk or a network may be slower than any preprocessing, and then
# more workers help only as far as these allow. One GPU is used; with several, look at the
# communication too. The parts are seen from the GPU: what the CPU does while the GPU is busy counts
# in none of them. Figures that depend on the CPU, such as the wall time of a launch-bound step,
# differ from host to host; :doc:`/results` shows by how much.
#
# The table at the top leads on. The names of kernels and operators are told by the
# `PyTorch profiler <https://docs.pytorch.org/tutorials/recipes/recipes/profiler_recipe.html>`__.

"""
Why is my PyTorch job slow? Find the bottleneck first
=====================================================

Slow training or inference? Low GPU utilization? Find out what your job is waiting for before you compile.

.. answer::

   **First, run** ``look`` **(below) on one iteration: it prints how busy the GPU is.** If new batches are slow, load
   them in worker processes. If the GPU is under 80% busy, remove syncs, pass ``fused=True`` and capture a CUDA
   graph. If it stays busy, train in ``bfloat16``. Compile last, only for long runs: startup costs about
   :measured:`cuda_graphs:process.compiler.start_up`.

   .. chart:: busy
      :case: iteration
      :only: before, workers, fused optimizer, CUDA graphs
      :best: CUDA graphs
      :hero:

      One training iteration; each bar adds a change. The last also compiles (``reduce-overhead``) and :ref:`breaks even
      <break-even>` after :measured:`small-model.cuda-graphs.break_even` steps on one batch

   - :measured:`iteration.cuda-graphs.wall` per iteration, down from :measured:`iteration.before.wall`
   - :measured:`iteration.fused-optimizer.wall` with ``fused=True``, not compiled
   - :measured:`iteration.workers.wall` with workers alone
   - :measured:`small-model.cuda-graphs.first_call` for the first compiled step, plus startup

   .. code-block:: python
      :caption: Measure it

      import time, torch, torch.profiler as tp
      def look(iteration, calls=100):
          for _ in range(2):  # 1st: warm-up
              torch.cuda.synchronize()
              start = time.perf_counter()
              for _ in range(calls): iteration()
              torch.cuda.synchronize()
          wall = (time.perf_counter() - start) / calls
          gpu = [tp.ProfilerActivity.CUDA]
          run = tp.profile(activities=gpu, acc_events=True)
          with run:
              iteration()
              torch.cuda.synchronize()
          busy = 1e-6 * sum(
              event.time_range.elapsed_us()
              for event in run.events()
              if event.device_type.name == "CUDA")
          print(f"{1e3 * wall:.2f} ms per iteration, "
                f"GPU busy {100 * busy / wall:.0f} %")
      # look really trains: use a copy of a model
      model = torch.nn.Linear(64, 8).cuda()
      def train(batch):  # your training step
          model(batch.cuda()).norm().backward()
      data = iter(torch.ones(999, 64))  # loader
      batch = next(data)  # look takes 201 more
      look(lambda: train(next(data)))  # new
      look(lambda: train(batch))  # the same

   .. code-block:: diff
      :caption: What changes

      - loader = DataLoader(documents, 64)
      + loader = DataLoader(documents, 64,
      +     num_workers=8, pin_memory=True)
      - optimizer = AdamW(parameters)
      + optimizer = AdamW(parameters, fused=True)

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - New batches take 1.5 times as long as a repeated one
     - Worker processes, pinned memory, less work per sample. Then look again
   * - GPU busy below 80% with the same batch
     - Remove syncs, pass ``fused=True``, :ref:`capture a CUDA graph <capture-manually>`
   * - GPU busy 80 to 95%
     - Try a graph: it saves at most the idle share. Then ``bfloat16``
   * - GPU busy 95% or above
     - ``bfloat16`` or TF32, then :doc:`compile </recipes/compile_modes>`
   * - The first call or a later one takes seconds
     - That call compiles: :doc:`First call </recipes/regional_compilation>`, :doc:`Dynamic shapes
       </recipes/varying_sizes>`

**In your library**

.. libraries::

   - **Transformers**: ``Trainer`` loads data in the main process unless you set ``dataloader_num_workers``. It already
     pins memory and uses fused AdamW.
   - **Lightning**: ``Trainer(profiler="simple")`` prints how long an iteration waits for data
     (``train_dataloader_next``).
   - **Accelerate**: ``DataLoaderConfiguration(non_blocking=True)`` copies batches asynchronously if the loader uses
     ``pin_memory=True``.
   - **vLLM**: it captures CUDA graphs unless you set ``enforce_eager``.

**What you need**

- PyTorch 2.11 or newer, and pandas. Compiled training :ref:`needs 2.15 <newer-pytorch>`.
- A CUDA GPU of compute capability 7.5 (Turing) or above. On a CPU, the recipe needs a C++ compiler.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# .. _busy-share:
#
# Read the busy share, then act
# -----------------------------
#
# ``look`` prints one line, such as ``8.45 ms per iteration, GPU busy 22 %``. The **busy share** is the time the GPU
# spends on kernels and copies, divided by wall time. Call ``look`` twice, once with new batches and once with a
# repeated batch. Then start at the top of the table above: first data, then launches, then the GPU. Fix one thing, and
# look again.
#
# - **New batches are slow**: the loop is waiting for data, so the GPU idles whatever you do about launches.
# - **GPU busy below 80%**: launch-bound, which means that the GPU is waiting on the CPU.
# - **GPU busy 95% or above**: GPU-bound. In between, it is some of both.
# - In inference, call ``look(lambda: model(x))``.
# - ``data`` is ``iter(loader)``. For a short loader, pass ``calls=20``, which takes 41 batches.
# - After a backward pass, ``look(optimizer.step)`` times the optimizer alone. If it takes a tenth of an iteration or
#   more, see :doc:`Optimizers </recipes/compiling_optimizer>`.
# - Busy does not mean efficient: a kernel that :ref:`waits for memory <nvidia-smi>` is busy, too.
#
# The measured job
# ----------------
#
# A small transformer classifies random documents by topic, in mixed precision. Tokenizing them puts real load on the
# CPU.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Problem sizes"
# sphinx_gallery_fold_output = True

bench = Bench()

import pandas as pd
import torch
from torch import nn

ROOMY = bench.gpu and torch.cuda.mem_get_info()[0] > 24 * 2**30
BATCH, WINDOW = (64, 128) if bench.gpu else (8, 16)  # documents, and words of each
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
if hasattr(os, "sched_getaffinity"):  # on Linux, where forking a process is cheap
    WORKERS = min(8, len(os.sched_getaffinity(0)))
LOADING = dict(num_workers=WORKERS, pin_memory=bench.gpu)
LOADING["multiprocessing_context"] = "fork" if WORKERS else None


class Documents(Dataset):
    """Random documents, tokenized like real ones."""

    def __init__(self):
        words = ["".join(random.choices("abcdefghij", k=5)) for _ in range(VOCABULARY)]
        self.numbers = {word: number for number, word in enumerate(words)}
        self.texts = [" ".join(random.choices(words, k=LENGTH)) for _ in range(500)]

    def __len__(self):
        """Return the number of documents in an epoch; texts repeat."""
        return BATCH * BATCHES

    def __getitem__(self, index):
        """Return a window of a text as token IDs, and its topic."""
        words = re.findall(r"\w+|[^\w\s]", self.texts[index % 500].lower())
        numbers = [self.numbers.get(word, 0) for word in words]
        start = random.randrange(LENGTH - WINDOW)
        return torch.tensor(numbers[start : start + WINDOW]), index % TOPICS


class Reader(nn.Module):
    """A transformer that classifies documents by topic."""

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


documents = Documents()
batch = next(iter(DataLoader(documents, BATCH)))
words, topics = (part.to(bench.device) for part in batch)

# %%
# Pitfalls
# --------
#
# The loader looks fast at first
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Drain the queue before you time anything: it holds ``prefetch_factor`` batches per worker, 2 by default. ``look``
# discards its first 100 calls. While the first call compiles, workers fill the queue; right afterward, an iteration
# that reads from a slow disk :claim:`appears to take {full-queue.one-call-before.wall} instead of
# {full-queue.long-run.wall} <full-queue.one-call-before.wall < full-queue.long-run.wall>`.

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
    """Return the seconds per iteration after an untimed warm-up."""
    torch.compiler.reset()  # the first iteration compiles
    batches = iter(DataLoader(Disk(), None, **LOADING))
    compiled = torch.compile(nn.Linear(64, 64, device=bench.device))

    def iteration():
        compiled(next(batches).to(bench.device))

    bench.time(iteration, warm_up)
    return bench.time(iteration, calls)


# %%

# sphinx_gallery_fold = "Three measurements of one loader"
# sphinx_gallery_fold_output = True
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
# Timings are too good to be true
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Call ``torch.cuda.synchronize()`` before you read the clock. A launch only queues work: this cell prints the time to
# queue three matmuls and to finish them.

# sphinx_gallery_fold = "Two readings of the clock"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
side = 4096 if bench.gpu else 256
x = torch.randn(side, side, device=bench.device)
product = x @ x  # the first call loads libraries
bench.synchronize()
began = time.perf_counter()
product = x @ x @ x @ x
print(f"queued:   {1e3 * (time.perf_counter() - began):.3f} ms")
print(f"computed: {1e3 * bench.time(lambda: x @ x @ x @ x, 3):.3f} ms")

# %%
# Compiled training silently goes wrong
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Train with PyTorch 2.15, or set ``TORCHINDUCTOR_MIX_ORDER_REDUCTION=0``. From 2.10 to 2.14, compiled code can drop
# gradients of a scale or shift that several norms share (`issue 193061
# <https://github.com/pytorch/pytorch/issues/193061>`__). In PyTorch 2.15, the relative error against eager
# gradients is :measured:`norms-that-share-a-parameter.compiled.error`.

# sphinx_gallery_fold = "Norms that share a parameter"
# sphinx_gallery_fold_output = True
ROWS_OF_NORMS, WIDTH_OF_NORMS = (32_768, 1024) if ROOMY else (512, 64)


def add_two_norms(x, shared):
    """Add two norms, each shifted and scaled by its own part of one parameter."""
    parts = shared.chunk(4, dim=1)
    for shift, scale in (parts[:2], parts[2:]):
        normed = nn.functional.layer_norm(x, (WIDTH_OF_NORMS,))
        x = x + normed * (1 + scale) + shift
    return x


def find_gradient(function):
    """Return the gradient of the shared parameter."""
    torch.manual_seed(0)
    with bench.device:
        x = torch.randn(1, ROWS_OF_NORMS, WIDTH_OF_NORMS)
        shared = torch.zeros(1, 4, WIDTH_OF_NORMS).requires_grad_()
    function(x, shared).square().mean().backward()
    return shared.grad


expected = find_gradient(add_two_norms)
gradient = find_gradient(torch.compile(add_two_norms))
error = ((gradient - expected).norm() / expected.norm()).item()
error = min(error, 1e6) if error == error else 1e6  # a lost gradient can be any number
bench.measure("norms that share a parameter", "compiled", "error", error, unit="")
print(f"relative error of the gradient: {error:.2g}")

# %%
# The GPU idles only under the profiler
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Measure wall time without the profiler, and GPU time with it. Profiling adds CPU time to every launch.
#
# Every epoch starts slowly
# ~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Pass ``persistent_workers=True``. Otherwise, each epoch starts new workers, and its first batches are not ready.
#
# More workers do not help
# ~~~~~~~~~~~~~~~~~~~~~~~~
#
# Count the cores your job may use (``len(os.sched_getaffinity(0))``), not those of the machine. Beyond that, workers
# compete with the process that launches kernels.
#
# Now and then an iteration takes seconds
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Run with ``TORCH_LOGS=recompiles``, which prints what changed: :ref:`a shape or a number <recompiles>`. For a report
# of all compilations, set ``TORCH_TRACE=folder`` and run ``tlparse folder``.
#
# Why an iteration waits
# ----------------------
#
# The **loader** prepares batches, the **CPU** runs Python and queues :term:`kernels <kernel>`, and the **GPU** works
# through the queue. If the three overlap, the busiest one sets the pace and the other two idle. Without worker
# processes, loading and launching alternate, so their times add up.

# sphinx_gallery_fold = "How the timelines are measured"
# sphinx_gallery_once = True
job, wider = Job(SMALL), Job(LARGE, fused=True)
batches = iter(DataLoader(documents, BATCH))


def train(batch, job=job):
    """Move a batch to the device, and train on it."""
    words, topics = (part.to(bench.device) for part in batch)
    job.step(words, topics)


pictures = {
    "new batches": lambda: train(next(batches)),
    "same batch": lambda: train(batch),
    "wider model": lambda: wider.step(words, topics),
}
for name, function in pictures.items():
    bench.publish_spans(name, bench.spans_of(function, calls=2))

# %%
# .. spans:: new batches
#
#    New batches: the GPU is waiting for data.
#
# .. spans:: same batch
#
#    The same batch: Python runs between launches.
#
# .. spans:: wider model
#
#    A wider model: the GPU is busy.
#
# One bottleneck hides another
# ----------------------------
#
# :claim:`With new batches, an iteration takes more than 1.5 times as long as with a repeated batch <1.5 *
# small-model.before.wall < iteration.before.wall>`, so fix data loading first. It hides the next bottleneck: with a
# repeated batch, :claim:`the GPU still idles more than half the time <2 * small-model.before.gpu <
# small-model.before.wall>`.

# sphinx_gallery_fold = "The function look"

from _look import look

# %%

# sphinx_gallery_fold = "What look printed in one run: new batches, then the same batch"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
batches = iter(DataLoader(documents, BATCH))
calls = BATCHES // 2 - 1
look(lambda: train(next(batches)), calls)  # new batches
look(lambda: train(batch), calls)  # the same batch

# %%
# Small model: launches are the bottleneck
# ----------------------------------------
#
# .. chart:: busy
#    :case: small model
#    :best: CUDA graphs
#
#    One training step with the same batch; each bar adds one change
#
# CUDA graphs, here from ``reduce-overhead``, make a step :claim:`{small-model.cuda-graphs.speedup} as fast,
# {small-model.before.wall} → {small-model.cuda-graphs.wall}; compiling without them gives
# {small-model.compiled.speedup} <small-model.cuda-graphs.wall < small-model.compiled.wall>`. Timed separately,
# launching the :measured:`small-model.before.kernels` eager kernels takes :measured:`small-model.before.cpu`. The loss
# and the optimizer stay outside these graphs, so :claim:`the GPU still waits <1.25 * small-model.cuda-graphs.gpu <
# small-model.cuda-graphs.wall>`; to remove that wait, too, :ref:`capture the whole iteration <capture-manually>`.

# sphinx_gallery_fold = "The four variants; all must return the same loss"

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
# All together: data first, then launches
# ---------------------------------------
#
# .. chart:: data_share, forward_share, backward_share, optimizer_share
#    :case: iteration
#    :whole: wall
#
#    The parts of an iteration with new batches
#
# :claim:`Worker processes cut the wait for data from {iteration.before.data_share} of an iteration to
# {iteration.workers.data_share} <iteration.workers.data_share < iteration.before.data_share>`; ``fused=True``
# :claim:`cuts the optimizer's share from {iteration.workers.optimizer_share} to
# {iteration.fused-optimizer.optimizer_share} <iteration.fused-optimizer.optimizer_share <
# iteration.workers.optimizer_share>`. Overall, an iteration :claim:`drops from {iteration.before.wall} to
# {iteration.cuda-graphs.wall} <iteration.cuda-graphs.wall < iteration.workers.wall < iteration.before.wall>`. Now the
# loader may be the bottleneck.

# sphinx_gallery_fold = "How the parts of an iteration are timed"
PARTS = ["data", "forward", "backward", "optimizer"]


def moment():
    """Record when the device gets to this line."""
    if not bench.gpu:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def epoch(job, loading):
    """Train on all batches; return the mean seconds of each part."""
    moments = [moment()]
    for batch in DataLoader(documents, BATCH, **loading):
        words, topics = (part.to(bench.device, non_blocking=True) for part in batch)
        moments.append(moment())
        job.step(words, topics, lambda: moments.append(moment()))
    if bench.gpu:
        torch.cuda.synchronize()
        moments = [moments[0].elapsed_time(event) / 1e3 for event in moments]
    parts = pd.Series(moments).diff()[1:].to_numpy().reshape(-1, len(PARTS))
    return pd.Series(parts[BATCHES // 4 :].mean(0), PARTS)  # without the first quarter


# %%

# sphinx_gallery_fold = "An epoch per variant; each adds a change"
# sphinx_gallery_fold_output = True

variants = {"before": (jobs["before"], {}), "workers": (jobs["before"], LOADING)}
for name in ("fused optimizer", "compiled", "CUDA graphs"):
    variants[name] = (jobs[name], LOADING)
means = {name: epoch(job, loading) for name, (job, loading) in variants.items()}
means = pd.DataFrame(means).T
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
# Large model: ``bfloat16`` autocast first, then compile
# ------------------------------------------------------
#
# .. chart:: busy
#    :case: large-model
#    :best: mixed precision
#
#    One training step of the large model, by number format
#
# In ``float32``, :claim:`the GPU is busy <0.95 * large-model.float32.wall < large-model.float32.gpu>`, so a graph has
# no idle time to remove. One line helps: :claim:`TF32 makes a step {large-model.tf32.speedup} as fast <2 *
# large-model.tf32.wall < large-model.float32.wall>` (``torch.set_float32_matmul_precision("high")``), mixed precision
# :claim:`{large-model.mixed-precision.speedup} <large-model.mixed-precision.wall < large-model.tf32.wall>`
# (``torch.autocast``). Both use fewer mantissa bits in matmuls, 10 and 7 instead of 23, so check that your model still
# converges.

# sphinx_gallery_fold = "Three number formats"

large = {
    "float32": Job(LARGE, fused=True, mixed=False),
    "TF32": Job(LARGE, fused=True, mixed=False, precision="high"),
    "mixed precision": Job(LARGE, fused=True),
}
busy = bench.compare("large model", steps_of(large), tolerance=0.05, rehearse=False)

# %%
# Compiling the model as well :claim:`makes a step {large-model-compiled.compiled.speedup} as fast
# <large-model-compiled.compiled.wall < large-model-compiled.without-compiling.wall>`, after a first step of
# :measured:`large-model-compiled.compiled.first_call` (1 run).

# sphinx_gallery_fold = "The large model, compiled"
# sphinx_gallery_once = True
pair = {
    "without compiling": Job(LARGE, fused=True),
    "compiled": Job(LARGE, fused=True, mode="default"),
}
compiled = bench.compare(
    "large model, compiled", steps_of(pair), tolerance=0.05, rehearse=False
)

# %%
# A single line can block the CPU
# -------------------------------
#
# A line that needs a value from the GPU blocks the CPU until the queue is empty; the GPU then idles until the next
# launch. ``torch.cuda.set_sync_debug_mode("warn")``, an experimental mode, warns about most such lines.
#
# - Reading each prediction with ``.item()`` :claim:`slows an iteration from {reading-results.added-up-on-the-gpu.wall}
#   to {reading-results.each-hit-read.wall} <reading-results.added-up-on-the-gpu.wall <
#   reading-results.each-hit-read.wall>`. Sum on the GPU, and read the sum every hundred iterations.
# - With :measured:`a-line-behind-work.the-work.wall` of work queued, ``.item()`` :claim:`blocks the CPU for
#   {a-line-behind-work.item.cpu} <0.5 * a-line-behind-work.the-work.wall < a-line-behind-work.item.cpu>`. ``if
#   tensor:`` :claim:`blocks the CPU, too <0.5 * a-line-behind-work.the-work.wall < a-line-behind-work.if.cpu>`, and so
#   does :claim:`boolean indexing <0.5 * a-line-behind-work.the-work.wall < a-line-behind-work.mask.cpu>`.
#   ``torch.where`` :claim:`returns after {a-line-behind-work.where.cpu} <2 * a-line-behind-work.where.cpu <
#   a-line-behind-work.the-work.wall>`.
# - A copy from pageable memory with ``non_blocking=True`` :claim:`still blocks the CPU <0.5 *
#   a-line-behind-work.the-work.wall < a-line-behind-work.pageable-copy-non_blocking.cpu>`, and :claim:`the debug mode
#   misses this case <a-line-behind-work.pageable-copy-non_blocking.warnings <
#   a-line-behind-work.pageable-copy.warnings>`. From pinned memory, the copy :claim:`returns after
#   {a-line-behind-work.pinned-copy-non_blocking.cpu} <2 * a-line-behind-work.pinned-copy-non_blocking.cpu <
#   a-line-behind-work.the-work.wall>`.

# sphinx_gallery_fold = "Three ways to count hits"


def count_hits():
    """Train on the batch; return for each document whether its topic was predicted."""
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

# sphinx_gallery_fold = "How lines that block the CPU are found"
# sphinx_gallery_fold_output = True

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
    """Return how long a line blocks the CPU while the device has work queued."""
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
    """Return the number of sync warnings that a line triggers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        line()
        torch.cuda.set_sync_debug_mode("default")
    messages = [str(warning.message) for warning in caught]
    return sum("called a synchronizing" in message for message in messages)


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
# Limits and next steps
# ---------------------
#
# - The documents are in memory. If disk or network bandwidth is the bottleneck, more workers do not help.
# - We measured one GPU. With multiple GPUs, check communication as well. A T4 has neither ``bfloat16`` nor TF32: use
#   ``float16`` with ``GradScaler`` (not measured). See :ref:`what carries over to other GPUs <other-gpus>`.
# - Host-bound times differ between hosts; :doc:`/results` shows by how much.
# - We did not time inference. To do so, pass ``look`` a function that handles one request; see the :doc:`serving
#   checklist </serving>`.
#
# Thanks to Szymon Migacz, whose `Performance Tuning Guide
# <https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html>`__ lists many more changes; this page says
# which to make first. Thanks to Vincent Moens for the `guide to non_blocking and pin_memory
# <https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html>`__: it advises ``non_blocking=True`` in
# general; here, with work queued, only copies from pinned memory returned immediately.

"""
My job is slow: where do I start?
=================================

Slow training or inference, low GPU utilization? Find out what your job waits for.

.. answer::

   **Look first:** ``look`` **prints how busy the GPU is.** If the loop waits for data, load it in worker processes. If
   the GPU waits for the CPU, pass ``fused=True`` to the optimizer and use a CUDA graph. If the GPU is busy, train in
   ``bfloat16``. Compile only long runs: compiler startup alone costs :measured:`process.compiler.start_up` per process.

   .. chart:: busy
      :case: iteration
      :only: before, workers, fused optimizer, CUDA graphs
      :best: CUDA graphs
      :hero:

      One training iteration, each bar with one more change

   - :measured:`iteration.cuda-graphs.wall` per iteration, from :measured:`iteration.before.wall`
   - :measured:`small-model.cuda-graphs.first_call` for the first step in CUDA graphs, plus startup
   - :measured:`small-model.cuda-graphs.break_even` steps to break even, startup included
   - :measured:`small-model.cuda-graphs.kept` kept between steps, optimizer state included

   .. code-block:: diff
      :caption: What changes

      - loader = DataLoader(documents, 64)
      + loader = DataLoader(documents, 64,
      +     num_workers=8, pin_memory=True)
      - optimizer = AdamW(parameters)
      + optimizer = AdamW(parameters, fused=True)
      + model.compile(mode="reduce-overhead")

   .. code-block:: python
      :caption: Measure it

      import time, torch
      from torch.profiler import ProfilerActivity, profile
      def look(iteration, calls=100):
          for _ in range(2):  # 1st: warm-up
              torch.cuda.synchronize()
              start = time.perf_counter()
              for _ in range(calls):
                  iteration()
              torch.cuda.synchronize()
          wall = (time.perf_counter() - start) / calls
          gpu = [ProfilerActivity.CUDA]
          with profile(activities=gpu, acc_events=True) as run:
              iteration()
              torch.cuda.synchronize()
          busy = 1e-6 * sum(
              event.time_range.elapsed_us() for event in run.events()
              if event.device_type.name == "CUDA")
          print(f"{1e3 * wall:.2f} ms per iteration, "
                f"GPU busy {100 * busy / wall:.0f} %")

      model = torch.nn.Linear(64, 8).cuda()
      def train(batch):
          model(batch.cuda()).norm().backward()
      data = iter(torch.ones(999, 4, 64))
      batch = next(data)
      look(lambda: train(next(data)))  # new
      look(lambda: train(batch))  # the same

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80 %, as ``look`` prints it
     - The GPU waits: remove syncs, fuse the optimizer, use a CUDA graph
   * - GPU busy above 95 %
     - Train in ``bfloat16``, then compile the model
   * - New batches take 1.5 times as long as a repeated one
     - Load data in worker processes; compile nothing
   * - The first iteration takes seconds
     - Compile the repeated block: :doc:`First call </recipes/regional_compilation>`
   * - Now and then, a later iteration takes seconds
     - It recompiles: :doc:`Dynamic shapes </recipes/varying_sizes>`

**In your library**

.. libraries::

   - **Transformers**: ``Trainer`` loads data without worker processes unless you set ``dataloader_num_workers``.
   - **Lightning**: ``Trainer(profiler="simple")`` prints how long an iteration waits for data
     (``train_dataloader_next``).
   - **Accelerate**: ``DataLoaderConfiguration(non_blocking=True)`` copies batches in the background, if the loader has
     ``pin_memory=True``.

**What you need**

- PyTorch 2.11 or newer, and pandas.
- You need a CUDA GPU of compute capability 7.0 or above, with Triton. On other machines the recipe runs small sizes on the CPU, and needs a C++ compiler. A T4 (7.5) has
  neither ``bfloat16`` nor TF32: there all variants compute in ``float32``. Where ``bfloat16`` is advised, use ``float16``
  with ``GradScaler`` on such a GPU (not measured here).
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# What you see, and where to go
# -----------------------------
#
# The first four rows tell what an iteration waits for: take the first that fits. Then check each of the last
# four rows. Fix one thing, and then look again, because the next reason may have been hidden behind it. The **GPU time** is the time in which kernels run.
#
# .. list-table::
#    :header-rows: 1
#
#    * - What you see
#      - What helps
#      - On this page
#      - More
#    * - With new batches, the wall time is above 1.5 times that with the same batch
#      - Worker processes, pinned memory, or less work per sample. Compiling does not help
#      - Waiting for data is :measured:`iteration.before.data_share` of an iteration; with worker processes it
#        is :measured:`iteration.workers.data_share`
#      - :ref:`All changes together <where-all-changes>`
#    * - With the same batch, the GPU is busy for less than 80 % of the time, and
#        ``torch.cuda.set_sync_debug_mode("warn")`` names lines of your loop
#      - These lines make the CPU wait for the GPU. Add up on the GPU what ``.item()`` reads, use
#        ``torch.where`` instead of a boolean mask, and copy from pinned memory with ``non_blocking=True``
#      - An iteration that reads each result takes :measured:`reading-results.each-hit-read.wall`; one that adds
#        them up on the GPU takes :measured:`reading-results.added-up-on-the-gpu.wall`
#      - :ref:`A line of code waits for the GPU <where-line-waits>`
#    * - With the same batch, the GPU is busy for less than 80 % of the time, and no line is named
#      - First look for copies with ``non_blocking=True`` from memory that is not pinned (*pageable*): the debug mode
#        does not name them. Then launch less often: a fused optimizer, and then a CUDA graph. Record the
#        graph by hand if sizes are few and known and nothing in it needs the CPU; otherwise use ``reduce-overhead``. Up
#        to PyTorch 2.14, do not use both in one process
#      - With a fused optimizer and ``reduce-overhead``, the wall time of a step is
#        :measured:`small-model.cuda-graphs.wall`; before the changes it is :measured:`small-model.before.wall`
#      - :ref:`The GPU waits for the CPU <where-launches>`, :doc:`/recipes/compile_modes` and
#        :doc:`/recipes/cuda_graphs`
#    * - With the same batch, the GPU is busy for 95 % of the time or more
#      - Less work for the GPU: ``bfloat16``; or TF32, if matrix products have to stay in ``float32``; then a
#        compiled model
#      - The GPU time of a step is :measured:`large-model.mixed-precision.gpu` in mixed precision; in ``float32``
#        it is :measured:`large-model.float32.gpu`
#      - :ref:`The GPU is busy <where-gpu-busy>` and :doc:`/recipes/compile_modes`
#    * - The optimizer takes more than a tenth of an iteration: call ``look(optimizer.step)`` after a backward
#        pass
#      - ``fused=True``, or a compiled step
#      - When worker processes load the data, the optimizer is :measured:`iteration.workers.optimizer_share` of
#        an iteration; fused, it is :measured:`iteration.fused-optimizer.optimizer_share`
#      - :doc:`/recipes/compiling_optimizer`
#    * - The first iteration takes seconds or minutes
#      - Compile one block and reuse it, and keep the cache
#      - The first step of the small model, compiled without CUDA graphs, takes
#        :measured:`small-model.compiled.first_call`
#      - :doc:`/recipes/regional_compilation`
#    * - Later iterations take seconds now and then
#      - Something is compiled again: ``TORCH_LOGS=recompiles`` prints the reason. ``TORCH_TRACE=folder`` keeps
#        a trace, from which ``tlparse folder`` makes a report of all compilations
#      - Not measured here. In the recipe on varying sizes, 12 lengths take
#        :measured:`varying_sizes:twelve-calls.length.compilations` compilations
#      - If a size varies: :doc:`/recipes/varying_sizes`. If a number varies: :ref:`the questions <recompiles>`
#    * - The job writes text token by token, and the GPU waits for the CPU
#      - A static cache, and the step for one token in a CUDA graph
#      - Not measured here. In the recipe on tokens, a token takes
#        :measured:`token_generation:one-token.1.graph-by-hand.wall`; without compiling it takes
#        :measured:`token_generation:one-token.1.without-compiling.wall`
#      - :doc:`/recipes/token_generation`
#
# Conditions and costs
# --------------------
#
# Each ``look`` prints one line, such as ``8.45 ms per iteration, GPU busy 22 %``: the wall time of an iteration, and
# the share of it in which the GPU computes.
#
# - If the wall time with new batches is above 1.5 times that with the same batch, the job **waits for data**: load
#   them in worker processes, and compile nothing. If sizes vary, measure ``next(data)`` alone first: a new size costs
#   time, too (:doc:`/recipes/varying_sizes`).
# - Now take the line of the same batch. If the GPU is busy for less than 80 % of the time, **the GPU waits for the
#   CPU**: first take out what makes the CPU wait, such as ``.item()`` in each step. Then fuse the optimizer
#   (``fused=True``), and then use a CUDA graph (:doc:`/recipes/cuda_graphs`): by hand if sizes are few and known and
#   nothing in it reads a value back (``.item()``) or computes on the CPU, otherwise with ``reduce-overhead``. Up to
#   PyTorch 2.14, do not use both in one process.
# - From 95 % on, **the GPU is busy**: train under ``torch.autocast`` with ``bfloat16``, and check that the model
#   learns as well. Then compile the model.
# - Between 80 and 95 %, both can help a little: try them.
#
# ``train`` is a function of yours, and ``data`` is ``iter(loader)``. ``look`` trains for real: give it a copy of the
# model. The first ``look`` uses 201 batches: if the loader has fewer, ``next`` raises ``StopIteration``; then pass
# ``calls=20``.
#
# **What it costs:** only compiling makes you wait. The start of the compiler takes
# :measured:`process.compiler.start_up`, once per process. The first step of the model on this page, compiled and in
# CUDA graphs, comes on top: it takes :measured:`small-model.cuda-graphs.first_call`. Compared with the model before
# all changes, the run has won back both waits after :measured:`small-model.cuda-graphs.break_even` steps. In your
# job, add the seconds of the compiler's start and of the first steps, and divide the sum by the seconds saved per
# step.
#
# A CUDA graph recorded by hand needs no compiler, but it keeps memory, its sizes are fixed, and each replay
# overwrites the result of the one before. With graphs that the compiler records, the model on this page keeps
# :measured:`small-model.cuda-graphs.kept` of memory between steps, the state of the optimizer included. Before the
# changes, it keeps :measured:`small-model.before.kept`, and a step takes :measured:`small-model.before.memory` at its
# peak. Worker processes take memory of the host, which was not measured.
#
# Results in words
# ----------------
#
# In the training job on this page, an iteration takes :measured:`iteration.before.wall` before anything is
# changed. Waiting for data is :measured:`iteration.before.data_share` of it, and no compiler shortens that.
# With worker processes that load the data, :claim:`an iteration takes less <iteration.workers.wall <
# iteration.before.wall>`: :measured:`iteration.workers.wall`. If the optimizer is fused and the model runs in
# CUDA graphs as well, :claim:`it takes still less <iteration.cuda-graphs.wall < iteration.workers.wall>`:
# :measured:`iteration.cuda-graphs.wall`.
#
# A job to look at
# ----------------
#
# The job sorts documents by topic with a small transformer, in mixed precision. The documents are random,
# but reading one costs what it costs with real ones: a regular expression splits the text into words, a
# dictionary turns the words into numbers, and a piece is cut out at random.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

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


documents = Documents()
batch = next(iter(DataLoader(documents, BATCH)))
words, topics = (part.to(bench.device) for part in batch)

# %%
# Pitfalls
# --------
#
# **A full queue hides the wait for data.** While the first call compiles, worker processes fill their queue. If
# you time the batches that lie ready, you do not see the wait. Here each batch comes from a slow disk, and one
# of three measurements times only the batches that are already in the queue.

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
# ``look`` first makes 100 calls that are not timed, and then it times 100 more.

# sphinx_gallery_fold = "Three measurements of one loader"
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
# Timed after one call, :claim:`an iteration seems to take less than in a long run <full-queue.one-call-before.wall <
# full-queue.long-run.wall>`: :measured:`full-queue.one-call-before.wall`. Really it takes
# :measured:`full-queue.long-run.wall`; ``look`` finds :measured:`full-queue.look.wall`. Rule: first
# use up more batches than the number of workers times ``prefetch_factor``, which is 2 unless you change it.
#
# **A clock without synchronization sees only the launches.** In the next cell the first line of output tells
# when the CPU has launched the work, and the second line tells when the GPU has done it. Rule: call
# ``torch.cuda.synchronize()`` before each reading of the clock.

# sphinx_gallery_fold = "Two readings of the clock"
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
# **Compiled gradients are wrong, and nothing warns.** From PyTorch 2.10 to 2.14, the compiler can lose gradients of a
# parameter that several norms share, one after the other, if there are very many rows (`issue 193061
# <https://github.com/pytorch/pytorch/issues/193061>`__). Rule: train with PyTorch 2.15, or set the variable
# ``TORCHINDUCTOR_MIX_ORDER_REDUCTION=0``. The next cell prints by how much gradients differ, relative to their size.

# sphinx_gallery_fold = "Norms that share a parameter"
ROWS_OF_NORMS, WIDTH_OF_NORMS = (32_768, 1024) if ROOMY else (512, 64)


def add_two_norms(x, shared):
    """Add two norms, each with a shift and a scale of its own from one parameter."""
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
error = min(error, 1e6) if error == error else 1e6  # what is lost can be any number
bench.measure("norms that share a parameter", "compiled", "error", error, unit="")
print(f"relative error of the gradient: {error:.2g}")

# %%
# With the release of this page, the error is :measured:`norms-that-share-a-parameter.compiled.error`.
#
# **The profiler slows the CPU down.** If you read the wall time under it, the GPU seems to wait for the CPU even
# where it does not. Rule: take wall times without the profiler, and take from it only the GPU time.
#
# **Workers have to start.** In the first iterations of each epoch no batch is ready yet. If epochs are short, a
# mean over one epoch consists mostly of that wait. Rule: pass ``persistent_workers=True`` if epochs are short.
#
# **There are more workers than cores.** Then workers take turns, and the process that launches kernels waits with
# them. Rule: count the cores that your job may use, ``len(os.sched_getaffinity(0))``, and not those of the
# machine.
#
# Why an iteration waits
# ----------------------
#
# Three parts work on an iteration. The **data loader** reads samples and makes a batch of them. The **CPU**
# runs Python and launches :term:`kernels <kernel>`: it puts them into a queue and goes on. The **GPU** takes
# them from the queue. If the three work at the same time, an iteration takes as long as the part that has
# most to do, and the other two wait. If they take turns, an iteration takes as long as all three together.
#
# A ``DataLoader`` without worker processes takes turns with the CPU: it reads a batch when it is asked for one,
# and meanwhile nothing is launched.
#
# The pictures show two iterations of three jobs: with new batches and without worker processes, with the same batch, and
# with a wider model. The CPU row has the launches, and the GPU row the kernels.

# sphinx_gallery_fold = "How the pictures are measured"
# sphinx_gallery_once = True
job, wider = Job(SMALL), Job(LARGE, fused=True)
batches = iter(DataLoader(documents, BATCH))


def train(batch, job=job):
    """Take a batch to the device, and train on it."""
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
#    New batches: the GPU waits for data.
#
# .. spans:: same batch
#
#    The same batch: the GPU waits for launches.
#
# .. spans:: wider model
#
#    A wider model: the GPU is busy.
#
# A first look
# ------------
#
# ``look`` is the function at the top of this page. Here it also runs on a CPU.

# sphinx_gallery_fold = "The function look"

from _look import look

# %%
# Without worker processes there is no queue of batches, but the first calls load libraries. So ``look`` times
# only its second round of calls.

# sphinx_gallery_once = True
batches = iter(DataLoader(documents, BATCH))
calls = BATCHES // 2 - 1
look(lambda: train(next(batches)), calls)  # new batches
look(lambda: train(batch), calls)  # the same batch

# %%
# :claim:`With new batches, an iteration takes more than 1.5 times as long as with the same batch <1.5 *
# small-model.before.wall < iteration.before.wall>`. So the job waits for data, and compiling would not help yet.
# But with the same batch, the GPU is still idle most of the time. So behind the wait for data the next reason
# is hidden: the GPU waits for the CPU.
#
# Printed output and the tables of the notebook show one run. Tables, charts and text show the median of all
# processes.
#
# .. _where-launches:
#
# The GPU waits for the CPU
# -------------------------
#
# Each kernel costs the CPU some microseconds, whatever the kernel computes. Here, an operation that is not
# compiled takes the CPU :measured:`process.eager-operation.launch_cost`. If the kernels are short, the GPU is
# done with each before the next one is launched. Then fewer kernels help, or a :term:`CUDA graph`, which launches
# many kernels with one call.
#
# Now the same batch is used every time, so that only launching and computing are left. Each **variant**
# changes one thing more:
#
# - The optimizer is fused.
# - The model is compiled, too.
# - The compiled model runs in CUDA graphs (``mode="reduce-overhead"``).
#
# ``wall`` is the wall time of a step, ``gpu`` the time in kernels, and ``cpu`` the time in which the CPU launches them.
# We check that all variants give the same loss in the third step, within 0.02.

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
# .. chart:: wall, gpu
#    :case: small model
#
#    Wall time and GPU time of a step with the same batch.
#
# - Before the changes, the wall time is :measured:`small-model.before.wall`. :claim:`The GPU is busy for less than 80 % of it
#   <1.25 * small-model.before.gpu < small-model.before.wall>`: for :measured:`small-model.before.gpu`.
# - The fused optimizer :claim:`needs fewer kernels <small-model.fused-optimizer.kernels <
#   small-model.before.kernels>`: :measured:`small-model.fused-optimizer.kernels`; before the changes there
#   are :measured:`small-model.before.kernels`.
# - The compiled model :claim:`needs still fewer <small-model.compiled.kernels <
#   small-model.fused-optimizer.kernels>`: :measured:`small-model.compiled.kernels`.
# - With CUDA graphs :claim:`the CPU is done sooner <small-model.cuda-graphs.cpu < small-model.compiled.cpu>`:
#   launching a step takes :measured:`small-model.cuda-graphs.cpu`; with the compiled model alone it takes
#   :measured:`small-model.compiled.cpu`. The loss and the optimizer are not part of the graph, so :claim:`the
#   GPU still waits for the CPU <1.25 * small-model.cuda-graphs.gpu < small-model.cuda-graphs.wall>`.
#
# .. chart:: break-even
#    :case: small model
#
#    Time of all steps of a run, the first call and the start of the compiler included.
#
# .. _where-all-changes:
#
# All changes together
# --------------------
#
# Now new batches come again. Worker processes read them while the GPU computes. From pinned memory, a batch
# is copied to the GPU in the background if ``non_blocking=True`` asks for it. Each variant again changes one
# thing more.
#
# An iteration has four parts: data, forward, backward and optimizer. At the end of each part the job notes the moment.
# On a GPU it does so with an *event*, which goes through the queue like a kernel. So the parts are seen from the GPU,
# and together they are the iteration.

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
        words, topics = (part.to(bench.device, non_blocking=True) for part in batch)
        moments.append(moment())
        job.step(words, topics, lambda: moments.append(moment()))
    if bench.gpu:
        torch.cuda.synchronize()
        moments = [moments[0].elapsed_time(event) / 1e3 for event in moments]
    parts = pd.Series(moments).diff()[1:].to_numpy().reshape(-1, len(PARTS))
    return pd.Series(parts[BATCHES // 4 :].mean(0), PARTS)  # without the first quarter


# %%

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
# .. chart:: data_share, forward_share, backward_share, optimizer_share
#    :case: iteration
#    :whole: wall
#
#    The parts of an iteration.
#
# The parts in the chart are medians of their own, so their sum can differ a little from the iteration time in the text.
#
# :claim:`With worker processes, waiting for data is a smaller part of an iteration
# <iteration.workers.data_share < iteration.before.data_share>`: :measured:`iteration.workers.data_share`.
# :claim:`The fused optimizer, too, is a smaller part <iteration.fused-optimizer.optimizer_share <
# iteration.workers.optimizer_share>`: :measured:`iteration.fused-optimizer.optimizer_share`. With workers, the fused
# optimizer and the compiled model, :claim:`an iteration takes less than with workers alone <iteration.compiled.wall <
# iteration.workers.wall>`: :measured:`iteration.compiled.wall`. After each change, the job asks for batches at a higher
# rate. So look again at the end: the job may wait for data once more.
#
# These times depend on the CPU, and they differ from host to host. :doc:`/results` shows by how much.
#
# .. _where-gpu-busy:
#
# The GPU is busy
# ---------------
#
# A model that is wider has about as many kernels, but each has more to compute. Then the GPU has work all the
# time, and fewer launches gain nothing. The GPU itself needs less work.
#
# In ``float32``, PyTorch multiplies matrices without tensor cores unless you allow otherwise.
# ``torch.set_float32_matmul_precision("high")`` allows **TF32**: numbers keep their range, but products are
# computed with 10 bits of precision instead of 23. ``torch.autocast`` computes them in ``bfloat16``, with 7
# bits. We check that all variants give the same loss in the third step, within 0.05.

large = {
    "float32": Job(LARGE, fused=True, mixed=False),
    "TF32": Job(LARGE, fused=True, mixed=False, precision="high"),
    "mixed precision": Job(LARGE, fused=True),
}
busy = bench.compare("large model", steps_of(large), tolerance=0.05, rehearse=False)

# %%
# .. chart:: gpu
#    :case: large-model
#
#    GPU time of a step of the large model.
#
# In ``float32``, :claim:`the GPU is busy <0.95 * large-model.float32.wall < large-model.float32.gpu>`: its time
# is :measured:`large-model.float32.gpu`, and the wall time is :measured:`large-model.float32.wall`. With TF32,
# :claim:`a step needs less than half of the GPU time <2 * large-model.tf32.gpu < large-model.float32.gpu>`:
# :measured:`large-model.tf32.gpu`. In mixed precision, :claim:`it needs still less
# <large-model.mixed-precision.gpu < large-model.tf32.gpu>`: :measured:`large-model.mixed-precision.gpu`.
# These two changes are a line each, and nothing has to be compiled. Check that your model still learns as
# well as before.
#
# Does compiling help after that? This was measured in one process.

# sphinx_gallery_once = True
pair = {
    "without compiling": Job(LARGE, fused=True),
    "compiled": Job(LARGE, fused=True, mode="default"),
}
compiled = bench.compare(
    "large model, compiled", steps_of(pair), tolerance=0.05, rehearse=False
)

# %%
# Here :claim:`the compiled model needs less GPU time <large-model-compiled.compiled.gpu <
# large-model-compiled.without-compiling.gpu>`: :measured:`large-model-compiled.compiled.gpu`; without compiling
# it needs :measured:`large-model-compiled.without-compiling.gpu`. The first step takes
# :measured:`large-model-compiled.compiled.first_call`.
#
# .. _where-line-waits:
#
# A line of code waits for the GPU
# --------------------------------
#
# The CPU normally runs ahead: it launches the next kernels while the GPU still computes. But a line that needs a
# value from the GPU stops it until the GPU has computed the value. The queue is then empty, and the GPU waits
# until the CPU has launched something again.
#
# The large model trains on a batch, and then the job counts for how many documents the topic was found. "Added
# up on the GPU" leaves the count there. "Sum read" calls ``.item()`` once. "Each hit read" calls it for each
# document.


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
# Reading each hit :claim:`makes an iteration longer <reading-results.added-up-on-the-gpu.wall <
# reading-results.each-hit-read.wall>`: it takes :measured:`reading-results.each-hit-read.wall`; added up on the
# GPU it takes :measured:`reading-results.added-up-on-the-gpu.wall`. Rule: add up on the GPU, and read the sum
# every hundred iterations.
#
# Which lines wait? In the next cell the GPU first gets four large matrix products to compute. Then a line
# runs, and the cell measures for how long the CPU is held up. It also counts how often
# ``torch.cuda.set_sync_debug_mode("warn")`` names the line. This debug mode is experimental.

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
# The four products take :measured:`a-line-behind-work.the-work.wall`.
#
# - :claim:`.item() holds up the CPU for more than half of that time <0.5 * a-line-behind-work.the-work.wall <
#   a-line-behind-work.item.cpu>`. So does :claim:`an if that tests a tensor <0.5 * a-line-behind-work.the-work.wall <
#   a-line-behind-work.if.cpu>`, and so does :claim:`a boolean mask <0.5 * a-line-behind-work.the-work.wall <
#   a-line-behind-work.mask.cpu>`. The debug mode :claim:`names the mask <a-line-behind-work.where.warnings <
#   a-line-behind-work.mask.warnings>`.
# - With ``torch.where``, :claim:`the CPU goes on at once <2 * a-line-behind-work.where.cpu <
#   a-line-behind-work.the-work.wall>`: it needs :measured:`a-line-behind-work.where.cpu`.
# - A copy from ordinary memory, which is called *pageable*, :claim:`holds up the CPU even with
#   non_blocking=True <0.5 * a-line-behind-work.the-work.wall <
#   a-line-behind-work.pageable-copy-non_blocking.cpu>`: for
#   :measured:`a-line-behind-work.pageable-copy-non_blocking.cpu`. The debug mode :claim:`does not name this line
#   <a-line-behind-work.pageable-copy-non_blocking.warnings < a-line-behind-work.pageable-copy.warnings>`.
# - During a copy from pinned memory with ``non_blocking=True``, :claim:`the CPU goes on at once <2 *
#   a-line-behind-work.pinned-copy-non_blocking.cpu < a-line-behind-work.the-work.wall>`: it needs
#   :measured:`a-line-behind-work.pinned-copy-non_blocking.cpu`.
#
# Serving
# -------
#
# - **Serving**: instead of ``train``, use a function that answers a request. For the first ``look``, prepare a new
#   request in each call; for the second, reuse one request. The costs above are those of training; in
#   :doc:`/recipes/cuda_graphs`, inference in a graph by hand is ready after
#   :measured:`cuda_graphs:inference-by-hand.one-graph.ready`, and keeps
#   :measured:`cuda_graphs:inference-by-hand.one-graph.kept` of memory.
#
# What is not measured here, and where to go on
# ---------------------------------------------
#
# The documents are in memory. A disk or a network may read slower than the workers ask, and then more workers
# do not help. One GPU is used; with several GPUs, look at the communication, too. Inference and ``float16``
# were not measured.
#
# The `Performance Tuning Guide <https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html>`__ by
# Szymon Migacz lists many such changes; this page tells which of them to make first. The `guide on
# non_blocking and pin_memory <https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html>`__ by
# Vincent Moens advises ``non_blocking=True`` in general. But if the GPU has other work queued, a pageable copy waits
# for it, even with ``non_blocking=True``, as measured here. The `PyTorch profiler
# <https://docs.pytorch.org/tutorials/recipes/recipes/profiler_recipe.html>`__ tells the names of kernels and operators.

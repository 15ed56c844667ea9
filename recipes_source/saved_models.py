"""
Save a compiled model: start containers fast with torch.compile
===============================================================

Does every new container compile before it answers, even though the model has not changed?

.. answer::

   **Ship the compiler's cache.** Set ``TORCHINDUCTOR_CACHE_DIR``, run the model once on the type of GPU you serve
   on, and copy the folder into the image. If shapes vary, also set ``TORCH_COMPILE_JOB_ID``. If the GPU is waiting on
   the CPU and shapes are few, capture the eager model in a CUDA graph instead.

   .. chart:: first_result
      :case: fresh process
      :only: nothing, cache-folder, aot_compile
      :best: cache-folder
      :hero:

      From process start to first result. Eager needs :measured:`fresh-process.not-compiled.first_result`: where the GPU
      waits, as here, do not compile

   - :measured:`fresh-process.cache-folder.first_result` to the first result, down from
     :measured:`fresh-process.nothing.first_result` with nothing shipped
   - :measured:`fresh-process.cache-folder.load` of that to import the compiler, which no cache avoids
   - :measured:`manual-cuda-graph.cache-folder.capture` to capture a CUDA graph, in each process
   - :measured:`fresh-process.cache-folder.shipped` to ship: code, without the weights

   .. code-block:: diff
      :caption: What changes

        FROM app
      + ENV TORCHINDUCTOR_CACHE_DIR=/cache
      + ENV TORCH_COMPILE_JOB_ID=v1
      + COPY --chown=server cache /cache
        USER server
        CMD ["python", "serve.py"]

   .. code-block:: python
      :caption: Fill the folder

      # docker run --gpus all -v ./cache:/cache \\
      #     -e TORCH_COMPILE_JOB_ID=v1 \\
      #     -e TORCHINDUCTOR_CACHE_DIR=/cache \\
      #     app python warm_up.py
      import torch

      model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()).cuda()
      # the job ID works only if model is global
      serve = torch.compile(lambda x: model(x))
      with torch.no_grad():
          # two lengths, if they vary
          for length in (128, 96):
              serve(torch.randn(length, 512, device="cuda"))

   .. code-block:: python
      :caption: One file

      from pathlib import Path
      import torch

      model = torch.nn.Linear(512, 512).cuda()
      saved = Path("model.cache")
      if saved.exists():  # before the first call
          torch.compiler.load_cache_artifacts(saved.read_bytes())
      model = torch.compile(model)
      # use the grad mode that filled the cache
      with torch.no_grad():
          model(torch.randn(64, 512, device="cuda"))
      if not saved.exists():
          saved.write_bytes(torch.compiler.save_cache_artifacts()[0])

   .. code-block:: python
      :caption: A compiled function

      import torch
      # 2.11 needs, in torch._dynamo.config:
      # enable_aot_compile = True

      model, x = torch.nn.Linear(512, 512).cuda(), torch.randn(64, 512, device="cuda")
      def forward(model, x):
          return model(x)
      # it rejects calls in another grad mode
      with torch.no_grad():
          compiled = torch.compile(forward, fullgraph=True).aot_compile(((model, x), {}))
      # without the weights
      compiled.save_compiled_function("forward.aot")
      # in the container
      with open("forward.aot", "rb") as file:
          forward = torch.compiler.load_compiled_function(file)
      with torch.no_grad():
          result = forward(model, x)

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:doc:`measure it </recipes/where_time_goes>` with ``look``)
     - Few shapes: :ref:`capture the eager model <capture-manually>`. Many: ``reduce-overhead`` and the folder
   * - GPU busy 80% or more, and every start compiles
     - Ship the cache folder
   * - Shapes vary, and every start compiles twice
     - Ship the folder with ``TORCH_COMPILE_JOB_ID`` (no effect in Transformers)
   * - You have an object store or a database, but no shared folder
     - ``save_cache_artifacts``, which puts the cache into one file
   * - Even the very first start has to be fast
     - Compile less: :doc:`First call </recipes/regional_compilation>`

**In your library**

.. libraries::

   - **vLLM**: stores compiled graphs in ``~/.cache/vllm`` (``VLLM_CACHE_ROOT``). Copy this folder into the image,
     or put it on a volume.
   - **SGLang**: ``--enable-torch-compile`` calls ``torch.compile``, so set ``TORCHINDUCTOR_CACHE_DIR`` in its
     environment.
   - **Transformers, Diffusers**: set ``TORCHINDUCTOR_CACHE_DIR``.
   - **Accelerate, Lightning**: set ``TORCHINDUCTOR_CACHE_DIR`` on each node.

**What you need**

- PyTorch 2.11 or newer, and pandas. ``aot_compile`` is experimental; in 2.11 it needs
  ``torch._dynamo.config.enable_aot_compile = True``. ``torch.compiler.precompile`` is a prototype feature in 2.15.
- A CUDA GPU of compute capability 7.5 (Turing) or above, with Triton, and a C++ compiler. Without a GPU, the recipe
  falls back to a small model on the CPU and leaves out CUDA graphs.
- In the image: a C compiler such as gcc and Python's headers, because Triton builds a C extension at run time. You do
  not need the CUDA toolkit: Triton ships ``ptxas``. We did not test an image without a compiler.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%

# sphinx_gallery_fold = "The harness: how variants are timed"
from _harness import REPLICATE, Bench, empty_compiler_cache

# %%

# sphinx_gallery_fold = "Problem sizes, and what runs here"
# sphinx_gallery_fold_output = True
import ast
import functools
import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

torch.set_grad_enabled(False)
bench = Bench()
DEVICE, DTYPE = bench.device.type, bench.dtype
WIDTH, DEPTH, LENGTHS = 128, 3, (16, 12)  # for a CPU
if bench.gpu:
    WIDTH, DEPTH, LENGTHS = 768, 6, (128, 96)
TOLERANCE = 0.1 if bench.dtype == torch.bfloat16 else 1e-2


def offers(way):
    """Return whether this release can ship a model this way; print a line if not."""
    if way == "precompile" and not hasattr(torch.compiler, "precompile"):
        print(f"PyTorch {torch.__version__} has no torch.compiler.precompile.")
        return False
    if way == "aot_compile":  # it has to be switched on in PyTorch 2.11
        torch._dynamo.config.enable_aot_compile = True
    return True


# %%
# The measured model is a small transformer that processes one sequence.

# sphinx_gallery_fold = "The model"
# sphinx_gallery_fold_output = True


class Block(nn.Module):
    """Attention and a multilayer perceptron."""

    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.attention = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        parts = self.attention(self.norms[0](x)).chunk(3, dim=-1)
        heads = [part.unflatten(-1, (-1, 64)).transpose(1, 2) for part in parts]
        attended = F.scaled_dot_product_attention(*heads)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Model(nn.Module):
    """Blocks, one after the other."""

    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def make_model():
    """Return the model with the same weights in each process."""
    torch.manual_seed(0)
    with torch.device(DEVICE):
        return Model(WIDTH, DEPTH).to(DTYPE).eval()


def make_input(length):
    """Return one sequence of some length, the same in each process."""
    torch.manual_seed(length)
    return torch.randn(1, length, WIDTH, device=DEVICE, dtype=DTYPE)


def call_model(model, x):
    """Call the model, which is an argument: its weights are not part of the function."""
    return model(x)


# %%

# sphinx_gallery_fold = "How each variant is loaded"
# sphinx_gallery_fold_output = True


def load_eager(shipped):
    """Compile nothing."""
    return make_model()


def load_compiled(shipped):
    """Compile, and reuse what is in the folder ``TORCHINDUCTOR_CACHE_DIR``."""
    importlib.import_module("torch._inductor.compile_fx")  # as the first call would
    model = make_model()
    model.compile()
    return model


def load_reduce_overhead(shipped):
    """Compile, and let PyTorch capture a CUDA graph."""
    model = make_model()
    model.compile(mode="reduce-overhead")
    return model


def load_artifacts(shipped):
    """Fill the cache from one file, then compile."""
    torch.compiler.load_cache_artifacts(Path(shipped).read_bytes())
    return load_compiled(shipped)


def load_aot_compiled(shipped):
    """Load a compiled function, which gets the model as an argument."""
    with open(shipped, "rb") as file:
        function = torch.compiler.load_compiled_function(file)
    return functools.partial(function, make_model())


def load_precompiled(shipped):
    """Load a compiled function and its kernels."""
    load = torch.compiler.precompile.load
    function = load(f"{shipped}/model.py", f"{shipped}/model.cache")
    return functools.partial(function, make_model())


def load_aot_inductor(shipped):
    """Load generated code and weights; a CUDA graph needs ``run_single_threaded``."""
    return torch._inductor.aoti_load_package(shipped, run_single_threaded=True)


# %%

# sphinx_gallery_fold = "What is timed in a fresh process"
# sphinx_gallery_fold_output = True


def synchronize():
    """Wait until the GPU has done all its work."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def time_calls(call):
    """Return the median seconds of later calls."""
    call()
    samples = []
    for _ in range(5):
        synchronize()
        start = time.perf_counter()
        for _ in range(20):
            call()
        synchronize()
        samples.append((time.perf_counter() - start) / 20)
    return sorted(samples)[2]


def capture(function, x):
    """Capture a call in a CUDA graph; return the seconds that took, and the replay."""
    synchronize()
    start = time.perf_counter()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function(x)
    graph.replay()
    captured = result.cpu()
    return time.perf_counter() - start, graph.replay, captured


def count_bytes(path):
    """Return the bytes of a file, or of all files in a folder."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def count_graphs():
    """Return how many graphs this process has compiled."""
    utilities = importlib.import_module("torch._dynamo.utils")  # no public counter
    return utilities.counters["stats"]["unique_graphs"]


def meet_second_length(function, folder, answer):
    """Call with another length, and add the compilations that this takes."""
    before = count_graphs()
    start = time.perf_counter()
    result = function(make_input(LENGTHS[1])).cpu()
    answer["second_length"] = time.perf_counter() - start
    answer["compilations"] += count_graphs() - before
    torch.save(result, folder / "second.pt")


def save_what_was_compiled(folder, answer):
    """Save the cache artifacts, and measure the cache folder."""
    saved = torch.compiler.save_cache_artifacts()
    (folder / "model.artifacts").write_bytes(saved[0])
    answer["folder"] = count_bytes(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]))


def tell(answer):
    """Print all results so far, because a later step may crash the process."""
    print(json.dumps(answer), flush=True)


def start(began, imported, load, shipped, folder, steps):
    """Go from nothing to results, and print how many seconds each part took."""
    folder = Path(folder)
    torch.set_grad_enabled(False)
    function = globals()[load](shipped)
    x = make_input(LENGTHS[0])
    loaded = time.time()
    result = function(x).cpu()  # waits for the device
    answer = {"imports": imported - began, "load": loaded - imported}
    answer["first_result"] = time.time() - began
    for _ in range(2):
        function(x).cpu()
    answer["ready"] = time.time() - began
    torch.save(result, folder / "result.pt")
    answer["wall"] = time_calls(lambda: function(x))
    tell(answer)
    if "save" in steps:
        save_what_was_compiled(folder, answer)
    if "reduce-overhead" in steps:  # users of the cache may compile in this mode
        answer["compilations"] = count_graphs()
        load_reduce_overhead(shipped)(x)
    if "second length" in steps:
        answer.setdefault("compilations", count_graphs())
        meet_second_length(function, folder, answer)
    tell(answer)
    if "capture" in steps:
        answer["capture"], replay, captured = capture(function, x)
        torch.save(captured, folder / "captured.pt")
        answer["replay"] = time_calls(replay)
        tell(answer)
    os._exit(0)  # or else it would wait for the compiler's workers


# %%

# sphinx_gallery_fold = "How fresh processes are started"
# sphinx_gallery_fold_output = True

TEMPORARY = tempfile.TemporaryDirectory()
FOLDER = Path(TEMPORARY.name)
CACHE, KEPT = FOLDER / "cache", FOLDER / "kept"  # what a process uses, what is shipped
JOB_ID = "saved-models"
PARTS = [Block.__init__, Model.__init__, make_model, make_input, call_model]
PARTS += [load_eager, load_compiled, load_reduce_overhead, load_artifacts]
PARTS += [load_aot_compiled, load_precompiled, load_aot_inductor]
PARTS += [synchronize, time_calls, capture, count_bytes, count_graphs]
PARTS += [meet_second_length, save_what_was_compiled, tell, start]
HEAD = f"""
import functools
import importlib
import json
import os
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

DEVICE, DTYPE = {DEVICE!r}, {DTYPE}
WIDTH, DEPTH, LENGTHS = {WIDTH}, {DEPTH}, {LENGTHS}
"""
BEGIN = """
import json, sys, time
job = json.loads(sys.argv[1])
sys.path.insert(0, job["folder"])
import torch
imported = time.time()
import shipped_model
shipped_model.start(imported=imported, **job)
"""
LONGEST = 120  # seconds; a process that takes longer is killed and left out


def source_of(part):
    """Return the source of a function, or of the class that it belongs to."""
    text = "".join(inspect.findsource(part)[0])  # of the file, or of a notebook's cell
    name = part.__qualname__.split(".")[0]
    for statement in ast.parse(text).body:
        if getattr(statement, "name", None) == name:
            return ast.get_source_segment(text, statement)
    raise LookupError(name)


def start_process(load, shipped=None, cache=None, job_id=None, steps=()):
    """Start a fresh process that loads what was shipped; return what it printed.

    Its cache is empty, or is a copy of ``cache``. Returns ``None`` if it printed nothing.
    """
    for name in EXPECTED:
        (FOLDER / name).unlink(missing_ok=True)
    shutil.rmtree(CACHE, ignore_errors=True)
    if cache:
        shutil.copytree(cache, CACHE)
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(CACHE)
    environment["TRITON_CACHE_DIR"] = str(CACHE / "triton")
    environment.pop("TORCH_COMPILE_JOB_ID", None)
    if job_id:
        environment["TORCH_COMPILE_JOB_ID"] = job_id
    job = {"load": load, "shipped": shipped and str(shipped), "folder": str(FOLDER)}
    job |= {"steps": list(steps), "began": time.time()}
    try:
        process = subprocess.run(
            [sys.executable, "-c", BEGIN, json.dumps(job)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        print(f"{load} was ended after {LONGEST} seconds.")
        return None
    if process.returncode:
        reason = process.stderr.strip().splitlines() or [""]
        print(f"{load} ends with {process.returncode}: {reason[-1]}")
    lines = process.stdout.splitlines()
    return json.loads(lines[-1]) if lines else None


(FOLDER / "shipped_model.py").write_text(
    HEAD + "\n\n\n".join(source_of(part) for part in PARTS), "utf-8"
)
sys.path.insert(0, str(FOLDER))
shipped_model = importlib.import_module("shipped_model")
model = shipped_model.make_model()
x = shipped_model.make_input(LENGTHS[0])
other = shipped_model.make_input(LENGTHS[1])
# The files in which a process leaves its results, and what they have to hold
EXPECTED = {"result.pt": model(x).cpu(), "second.pt": model(other).cpu()}
EXPECTED["captured.pt"] = EXPECTED["result.pt"]
told = {}


def measure_start(variant, load, shipped=None, size=None, **options):
    """Run a variant in a fresh process, compare its results, and publish its seconds."""
    answer = start_process(load, shipped, **options)
    if answer is None:
        return
    told[variant] = answer
    for name, expected in EXPECTED.items():
        if (FOLDER / name).exists():
            torch.testing.assert_close(
                torch.load(FOLDER / name),
                expected,
                rtol=TOLERANCE,
                atol=TOLERANCE,
                msg=f"{variant} and eager disagree: {{}}".format,
            )
    for quantity in ("first_result", "ready", "imports", "load", "wall"):
        bench.measure("fresh process", variant, quantity, answer[quantity])
    if size is not None:
        bench.measure("fresh process", variant, "shipped", size, unit="B")
    if "replay" in answer:
        bench.measure("manual CUDA graph", variant, "capture", answer["capture"])
        bench.measure("manual CUDA graph", variant, "wall", answer["replay"])
    if "second_length" in answer:
        count, seconds = answer["compilations"], answer["second_length"]
        bench.measure("two lengths", variant, "compilations", count, unit="")
        bench.measure("two lengths", variant, "second_length", seconds)


def attempt(way, build, name):
    """Build what is shipped, with an empty cache; return its path, or ``None``.

    Publishes how long that took. What this machine cannot build is left out.
    """
    if not offers(way):
        return None
    path = FOLDER / name
    torch.compiler.reset()
    try:
        with empty_compiler_cache():
            seconds = bench.time(lambda: build(path))
    except Exception as error:  # prototypes raise whatever they like
        print(f"{way} cannot be built here: {first_line(error)}")
        return None
    bench.measure("build", way, "wall", seconds)
    return path


def first_line(error):
    """Return the type of an error and the first line of its message."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[0]}"


# %%
# Pitfalls
# --------
#
# Startup is as slow as without a cache, and nothing says why
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Build the cache with the code, versions, options and GPU model that you serve with, and count cache hits after each
# deployment.** All of these are part of the cache key; the driver is not. If the key differs, everything recompiles
# without a warning. To catch this, check ``torch._dynamo.utils.counters["inductor"]`` after the warm-up:
# ``fxgraph_cache_hit`` must be above 0, ``fxgraph_cache_miss`` and ``fxgraph_cache_bypass`` 0 (tested on a CPU). To
# try this out, change the key yourself, as another release would: set ``TORCH_COMPILE_CACHE_KEY_TAG``.

# sphinx_gallery_fold = "Cache hits with the same key, and with another one"
# sphinx_gallery_fold_output = True


def count_hits():
    """Compile a small function again, and return the number of cache hits."""
    torch.compiler.reset()
    counts = torch._dynamo.utils.counters["inductor"]  # no public API
    hits = counts["fxgraph_cache_hit"]
    torch.compile(torch.cos)(torch.ones(64, device=bench.device))
    return counts["fxgraph_cache_hit"] - hits


with empty_compiler_cache():
    hits = {"empty": count_hits(), "same key": count_hits()}
    with torch.compiler.config.patch(cache_key_tag="another release"):
        hits["another key"] = count_hits()
print(hits)

# %%

# sphinx_gallery_plumbing = True

for name, count in hits.items():
    bench.measure("cache key", name, "hits", count, unit="")

# %%
# Compiled again, a function :claim:`hits the cache {cache-key.same-key.hits} time with the same key, and
# {cache-key.another-key.hits} times with another <cache-key.another-key.hits < cache-key.same-key.hits>`.
#
# "GuardManager check failed"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Build one function for each shape.** A function from ``aot_compile`` does not recompile, so it rejects shapes,
# dtypes, devices and grad modes that it was not built for.

# sphinx_gallery_fold = "Call a function with a length that it was not built for"


def build_aot_compiled(path):
    """Compile ahead of time, and save the function."""
    compiled = torch.compile(shipped_model.call_model, fullgraph=True)
    compiled.aot_compile(((model, x), {})).save_compiled_function(str(path))


aot_compiled = attempt("aot_compile", build_aot_compiled, "model.aot")
if aot_compiled:
    with open(aot_compiled, "rb") as file:
        function = torch.compiler.load_compiled_function(file)
    try:
        function(model, other)
    except RuntimeError as error:
        print("\n".join(str(error).splitlines()[:3]))

# %%
# "Compile package was created with a different PyTorch version"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Build one file for each GPU model and each release.** ``load_compiled_function`` rejects files built with another
# PyTorch, Python, CUDA toolkit, Triton or GPU. This is what PyTorch's source code
# says; we did not try the file on a different machine.
#
# "PrecompileError: cache does not match python_code"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Ship the two files from** ``precompile`` **as a pair.** If you add even an empty line to the code, the cache no
# longer matches. If the cache is unreadable or comes from another PyTorch build, ``load`` raises no error: it warns and
# recompiles the kernels.

# sphinx_gallery_fold = "Two files that do not belong together"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def build_precompiled(path):
    """Run the model once, and write its code and its kernels."""
    files = {"artifact_path": path / "model.py", "cache_path": path / "model.cache"}
    capture_call = torch.compiler.precompile.capture(shipped_model.call_model, **files)
    with capture_call as captured:
        captured(model, x)


precompiled = attempt("precompile", build_precompiled, "precompiled")
if precompiled:
    changed = FOLDER / "changed.py"
    changed.write_bytes((precompiled / "model.py").read_bytes() + b"\n")
    try:
        torch.compiler.precompile.load(changed, precompiled / "model.cache")
    except torch.compiler.PrecompileError as error:
        print(first_line(error).split(" (")[0])

# %%
# The image builds, but the folder is empty
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Warm up in a container with** ``--gpus all``, **and copy the folder into the image.** ``docker build`` does not see
# the GPU.
#
# "Illegal instruction" on a CPU
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Compile on the oldest CPU that you serve on.** The compiler generates code for the CPU that it runs on (not
# measured).
#
# An AOTInductor package crashes the process with signal 11
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Ship the cache folder instead.** Building took :measured:`build.aotinductor.wall`, but loading caused a segmentation
# fault here, with PyTorch 2.15; a package of one layer loaded. We :ref:`do not know why <aoti-crash>`. An
# :term:`AOTInductor` package (``.pt2``) also contains the weights and can run from C++ without Python. For another
# shape, it can return wrong values unless you set ``AOTI_RUNTIME_CHECK_INPUTS=1`` (tested on a CPU).
#
# Anyone who can write to the cache can run code in your service
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# **Ship the cache with your code**, and let only your service write to it: PyTorch runs what it loads from caches and
# packages. The service's user must own the folder (``COPY --chown``). On a read-only or ``noexec`` volume, the first
# call fails: PyTorch 2.15 creates lock files and loads libraries there (tested on a CPU).
#
# Why startup is slow: import, trace, compile
# -------------------------------------------
#
# A fresh process imports PyTorch and its compiler, traces your Python code, and generates and compiles kernels. A cache
# stores code and kernels, so most of the remaining time goes into imports:
# :measured:`fresh-process.cache-folder.imports` for PyTorch and :measured:`fresh-process.cache-folder.load` for the
# compiler. Files from ``aot_compile`` and ``precompile`` also store what was traced. You cannot ship a CUDA graph,
# because its memory addresses are valid only in one process.
#
# .. spans:: start with nothing
#    :beside: start with a cache folder
#
#    From process start to first result, with nothing shipped
#
# .. spans:: start with a cache folder
#    :beside: start with nothing
#
#    The same with a cache folder

# sphinx_gallery_fold = "Run it: nothing, a cache folder, a compiled function"
# sphinx_gallery_fold_output = True
page = REPLICATE == 0
captures = ["capture"] if bench.gpu else []
lengths = ["second length"] if page else []
if page:
    measure_start("not compiled", "load_eager", steps=captures)
first_steps = ["save", *lengths, *(["reduce-overhead"] if page and bench.gpu else [])]
measure_start("nothing", "load_compiled", job_id=JOB_ID, steps=first_steps)
shutil.copytree(CACHE, KEPT)
folder_size = told["nothing"]["folder"]
measure_start(
    "cache folder",
    "load_compiled",
    cache=KEPT,
    size=folder_size,
    steps=[*lengths, *captures],
)
if aot_compiled:
    size = count_bytes(aot_compiled)
    measure_start(
        "aot_compile", "load_aot_compiled", aot_compiled, size, steps=captures
    )

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

for case, variant in {
    "start with nothing": "nothing",
    "start with a cache folder": "cache folder",
}.items():
    answer = told[variant]
    imported = answer["imports"]
    loaded = imported + answer["load"]
    lanes = {
        "import PyTorch": [(0, imported)],
        "import the compiler": [(imported, loaded)],
        "first call": [(loaded, answer["first_result"])],
    }
    bench.publish_spans(case, lanes)

# %%
# Evidence
# --------
#
# A cache folder skips compiling, not importing the compiler
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: first_result
#    :case: fresh process
#    :only: nothing, cache-folder, cache-artifacts, torch_compile_job_id, aot_compile, precompile, not-compiled
#    :best: cache-folder
#
#    Time to the first result. Eager compiles nothing
#
# The first result arrives :claim:`after {fresh-process.cache-folder.first_result} instead of
# {fresh-process.nothing.first_result} <fresh-process.cache-folder.first_result < fresh-process.nothing.first_result>`.
# Eager code :claim:`is faster still <fresh-process.not-compiled.first_result <
# fresh-process.cache-folder.first_result>`, at :measured:`fresh-process.not-compiled.first_result`: it does not import
# the compiler.
#
# We expected ``aot_compile`` and ``precompile`` to come first, because they skip tracing. But loading their files
# imports the compiler anyway, and their first results arrived after :measured:`fresh-process.aot_compile.first_result`
# and :measured:`fresh-process.precompile.first_result`. The file from ``save_cache_artifacts`` :claim:`was slower than
# the folder, too <fresh-process.cache-folder.first_result < fresh-process.cache-artifacts.first_result>`, at
# :measured:`fresh-process.cache-artifacts.first_result`. But four variants ran only once, and importing PyTorch alone
# took between :measured:`fresh-process.not-compiled.imports` and :measured:`fresh-process.cache-artifacts.imports`.
# Even the same folder with a job ID took :measured:`fresh-process.torch_compile_job_id.first_result`, so treat a few
# seconds as noise, and do not rank ``precompile`` against ``save_cache_artifacts``.

# sphinx_gallery_fold = "Run it: the other variants"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True


def build_aot_inductor(path):
    """Export the model, and package generated code and weights."""
    exported = torch.export.export(model, (x,))
    torch._inductor.aoti_compile_and_package(exported, package_path=str(path))


measure_start(
    "TORCH_COMPILE_JOB_ID",
    "load_compiled",
    cache=KEPT,
    job_id=JOB_ID,
    steps=lengths,
)
artifacts = FOLDER / "model.artifacts"
measure_start("cache artifacts", "load_artifacts", artifacts, count_bytes(artifacts))
if bench.gpu:
    measure_start("reduce-overhead, cache folder", "load_reduce_overhead", cache=KEPT)
if precompiled:
    size = count_bytes(precompiled)
    measure_start("precompile", "load_precompiled", precompiled, size, steps=captures)
package = attempt("AOTInductor", build_aot_inductor, "model.pt2")
if package:
    size = count_bytes(package)
    measure_start("AOTInductor", "load_aot_inductor", package, size, steps=captures)
table = pd.DataFrame.from_dict(told, orient="index")
print(table.rename_axis(columns="seconds").round(4).to_string())

# %%
# You ship a few megabytes of code, and no weights
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: shipped
#    :case: fresh process
#    :best: cache-folder
#
#    Size of what you ship with the program
#
# You still load the weights separately, so new weights need no new cache. Building took
# :measured:`build.aot_compile.wall` with ``aot_compile`` and :measured:`build.precompile.wall` with ``precompile``.
#
# ``TORCH_COMPILE_JOB_ID`` avoids the second compilation
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# A cache stores code but not which lengths vary. A process that sees two lengths therefore compiles
# :measured:`two-lengths.cache-folder.compilations` graphs despite the folder, but :claim:`only
# {two-lengths.torch_compile_job_id.compilations} with a job ID <two-lengths.torch_compile_job_id.compilations <
# two-lengths.cache-folder.compilations>`, because the folder then also records which sizes varied. With the ID,
# the second length takes :measured:`two-lengths.torch_compile_job_id.second_length` instead of
# :measured:`two-lengths.cache-folder.second_length`. Every process needs the same ID, the same model source, and a
# ``forward`` without a decorator or closure.
#
# A CUDA graph of the eager model needs no compiler
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# .. chart:: wall
#    :case: manual CUDA graph
#    :best: not-compiled
#
#    Time to replay one call of this small model, by how it was loaded
#
# Every process captures its own graph, in :measured:`manual-cuda-graph.cache-folder.capture` with ``torch.cuda.graph``.
# Here, the GPU is waiting on the CPU, so :claim:`a graph of the eager model is faster than compiled calls
# <manual-cuda-graph.not-compiled.wall < fresh-process.cache-folder.wall>`:
# :measured:`manual-cuda-graph.not-compiled.wall` versus :measured:`fresh-process.cache-folder.wall`. Compiled code in
# a graph :claim:`reduces this to {manual-cuda-graph.cache-folder.wall} <manual-cuda-graph.cache-folder.wall <
# manual-cuda-graph.not-compiled.wall>`. With ``reduce-overhead``, the first call compiles, the second captures and the
# third replays. With a cache folder, the third result arrived
# :measured:`fresh-process.reduce-overhead-cache-folder.ready` after the process started.
#
# Limits and next steps
# ---------------------
#
# - We measured one small model on one kind of GPU, without gradients.
# - We loaded all files on the host that built them. The key names the GPU model, not the host, so hosts with the same
#   GPU can share a cache.
# - On a CPU, only the folder preserved compiled C++ code. All other variants recompiled it on loading.
# - ``aot_compile`` may pay off for models that trace slowly; this one traces quickly.
# - Next: :doc:`compile one block </recipes/regional_compilation>`, :doc:`handle varying shapes
#   </recipes/varying_sizes>`, :ref:`capture a graph <capture-manually>`.
#
# Thanks to Oguz Ulgen for `Compile Time Caching
# <https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_tutorial.html>`__, and to the authors of `Regional
# AOT <https://docs.pytorch.org/tutorials/recipes/regional_aot.html>`__ and of the `guide to aot_compile
# <https://docs.pytorch.org/docs/2.15/user_guide/torch_compiler/torch.compiler_aot_compile.html>`__. People asked for
# this in PyTorch (`saving <https://github.com/pytorch/pytorch/issues/101107>`__, `loading
# <https://github.com/pytorch/pytorch/issues/113287>`__, `the cache
# <https://github.com/pytorch/pytorch/issues/137591>`__, `artifacts
# <https://github.com/pytorch/pytorch/issues/172547>`__), vLLM (`cold starts
# <https://github.com/vllm-project/vllm/issues/20264>`__, `compiled files
# <https://github.com/vllm-project/vllm/issues/34399>`__) and torchtitan (`2092
# <https://github.com/pytorch/torchtitan/issues/2092>`__).

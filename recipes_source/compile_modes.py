"""
Which torch.compile mode: default, reduce-overhead or max-autotune?
===================================================================

Choose the mode by how busy your GPU is.

.. answer::

   **Start with** ``default``, **then check how busy the GPU is.** Below 80%, use ``reduce-overhead`` or capture a CUDA
   graph manually. At 95% or above, stay with ``default``. Try ``max-autotune`` last: tuning is slow and changed little
   here. Compiling pays off only in long runs: startup costs about :measured:`process.compiler.start_up` per process.

   .. chart:: busy
      :case: BERT, one sentence
      :only: not compiled, default, reduce-overhead
      :best: reduce-overhead
      :hero:

      One sentence through two layers of BERT

   - :measured:`bert-one-sentence.reduce-overhead.speedup` speed-up over eager
   - :measured:`bert-one-sentence.reduce-overhead.first_call` for the first call, plus startup
   - :measured:`bert-one-sentence.reduce-overhead.break_even` calls to break even, startup included
   - :measured:`bert-one-sentence.reduce-overhead.kept` held by the graph; each call overwrites the previous output

   .. code-block:: diff
      :caption: What changes

      - y = model(x)
      + model.compile(mode="reduce-overhead")
      + y = model(x).clone()

   .. code-block:: python
      :caption: First: ``default``

      import torch
      model = torch.nn.Sequential(
          torch.nn.Linear(1024, 1024), torch.nn.GELU()
      ).to("cuda", torch.bfloat16)
      # up to PyTorch 2.13, torch.nn modules need
      # model = torch.compile(model, ...) instead
      model.compile(mode="default")
      x = torch.randn(64, 1024).to("cuda", torch.bfloat16)
      with torch.no_grad():
          model(x)  # compiles
          y = model(x)

   .. code-block:: python
      :caption: Launch-bound: ``reduce-overhead``

      import torch
      model = torch.nn.Sequential(
          torch.nn.Linear(1024, 1024), torch.nn.GELU()
      ).to("cuda", torch.bfloat16)
      # up to PyTorch 2.13, torch.nn modules need
      # model = torch.compile(model, ...) instead
      model.compile(mode="reduce-overhead")
      x = torch.randn(64, 1024).to("cuda", torch.bfloat16)
      with torch.no_grad():
          model(x)  # compiles
          model(x)  # captures a CUDA graph
          # the next call overwrites the output
          y = model(x).clone()

   .. code-block:: python
      :caption: Training: the whole step

      import torch
      model = torch.nn.Linear(64, 64).cuda()
      # a schedule of numbers would recompile
      lr = torch.tensor(1e-3).cuda()
      optimizer = torch.optim.AdamW(model.parameters(), lr, capturable=True)
      # use 2.15: 2.10 to 2.14 can lose gradients;
      # launch-bound: mode="reduce-overhead"
      @torch.compile
      def train_step(x, target):
          loss = (model(x) - target).square().mean()
          loss.backward()
          optimizer.step()
          optimizer.zero_grad()
          return loss
      x, target = torch.randn(2, 32, 64).cuda()
      train_step(x, target)  # compiles

**Does this apply to you?**

.. list-table::
   :header-rows: 1

   * - What you see
     - What to do
   * - GPU busy below 80% (:ref:`measure it <busy-share>` with ``look``)
     - Use ``reduce-overhead``, or capture manually: :doc:`CUDA graphs </recipes/cuda_graphs>`
   * - GPU busy 80 to 95%
     - Try a graph: it saves at most the idle share
   * - GPU busy 95% or above
     - ``default``: a graph would only add input copies
   * - ``default`` increases GPU time (seen in PyTorch 2.11)
     - Compile layer by layer: :doc:`First call </recipes/regional_compilation>`
   * - A single matmul and nothing else
     - Do not compile

**In your library**

.. libraries::

   - **Transformers**: ``generate`` with ``cache_implementation="static"`` compiles automatically, in
     ``reduce-overhead`` mode. ``TrainingArguments(torch_compile=True, torch_compile_mode="default")`` compiles the
     whole model; to compile layer by layer, see :doc:`First call </recipes/regional_compilation>`.
   - **Diffusers**: call ``pipe.transformer.compile_repeated_blocks(mode="default")``. With ``reduce-overhead``, each
     block gets its own graph and overwrites other blocks' outputs unless you call
     ``torch.compiler.cudagraph_mark_step_begin()`` before each model call.
   - **Accelerate**: use ``TorchDynamoPlugin(backend="inductor", mode="default")``, or ``mode="reduce-overhead"`` if the
     model is launch-bound and shapes repeat. If shapes vary, pass ``--dynamo_use_dynamic`` to
     ``accelerate launch``, which otherwise sets ``dynamic=False``; ``torchrun`` does not.
   - **Lightning**: pass ``torch.compile(module, mode="default")`` to ``trainer.fit``.
   - **vLLM** compiles and captures CUDA graphs automatically. ``--enforce-eager`` turns both off.

**What you need**

- PyTorch 2.11 or newer, and pandas. Compiled training :ref:`needs 2.15 <newer-pytorch>`, two
  experiments torchvision and Transformers 5.18.
- A CUDA GPU with compute capability 7.5 (Turing) or above, and Triton. On a T4, it runs in ``float32``. Without a GPU, it
  runs small problem sizes on the CPU and needs a C++ compiler.
"""

# sphinx_gallery_cell_timeout = 300
# sphinx_gallery_deadline = 600

# %%
# All cases run with gradients disabled. Text and charts show medians across all machines; printed output comes from
# one run.

# sphinx_gallery_fold = "The harness: how variants are timed"

from _harness import Bench

# %%

# sphinx_gallery_fold = "Is the GPU idle? Measure it with look"

from _look import look

# %%

# sphinx_gallery_fold = "Problem sizes"
# sphinx_gallery_fold_output = True
bench = Bench()

import copy
import functools
import warnings

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_grad_enabled(False)
if bench.gpu:
    NUMBERS, LAYERS, TEXTS = 64_000_000, 2, (64, 512)
    PRODUCT, LARGE = (1, 8192), (8192, 4096)  # rows, width
    IMAGES, PAIRS = (16, 3, 224, 224), (64, 640)
else:
    NUMBERS, LAYERS, TEXTS = 100_000, 1, (2, 16)
    PRODUCT, LARGE = (1, 256), (64, 64)
    IMAGES, PAIRS = (2, 3, 32, 32), (32, 64)

options = dict(device=bench.device, dtype=bench.dtype)
ones = torch.ones(64, device=bench.device)

# %%

# sphinx_gallery_fold = "Silence the compiler's extra output"
torch._inductor.config.max_autotune_report_choices_stats = False
torch._inductor.config.autotune_num_choices_displayed = 0
for message in ("TypedStorage is deprecated", "IProgress not found"):
    warnings.filterwarnings("ignore", message=message)

# %%


# sphinx_gallery_fold = "Compile a function in several modes"
def in_modes(function, *inputs, modes=("default", "reduce-overhead")):
    """Return variants of a call: eager, and compiled in each mode."""
    variants = {"not compiled": functools.partial(function, *inputs)}
    for mode in modes:
        compiled = torch.compile(function, mode=mode)
        variants[mode] = functools.partial(compiled, *inputs)
    return variants


def wave(x):
    """Add sine and cosine."""
    return torch.sin(x) + torch.cos(x)


for call in in_modes(torch.cos, ones).values():
    call(), call(), call()  # warms up the compiler and CUDA graphs

# %%
# Pitfalls
# --------
#
# "TensorFloat32 tensor cores ... available but not enabled"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# For a ``float32`` model, call ``torch.set_float32_matmul_precision("high")``. In a ``bfloat16`` model, something still
# runs in ``float32``, such as attention that no fused kernel supports: look for ``f32f32`` or ``sgemm`` in kernel
# names. PyTorch 2.15 reports this only with ``TORCH_LOGS=perf_hints``. Unfused attention :claim:`costs more than ten
# times the GPU time <10 * attention.fast.gpu < attention.formula.gpu>`: :measured:`attention.formula.gpu` instead of
# :measured:`attention.fast.gpu`.

# sphinx_gallery_fold = "Helpers: list kernels, and compute attention in two ways"
# sphinx_gallery_once = True
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile


def list_events(call):
    """Return the profiler's events of a call: launches on the CPU, kernels on the GPU."""
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
        call()
        bench.synchronize()
    return report.events()


def list_kernels(call):
    """Return the names of a call's kernels."""
    return [e.name for e in list_events(call) if e.device_type.name == "CUDA"]


def attend():
    """Return attention, computed by whatever kernel PyTorch chooses."""
    return nn.functional.scaled_dot_product_attention(query, query, query)


def attend_by_formula():
    """Return the same, as PyTorch computes it if no fused kernel fits."""
    with sdpa_kernel(SDPBackend.MATH):
        return attend()


# %%

# sphinx_gallery_fold = "List the kernels of fused and unfused attention"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
if bench.gpu:
    query = torch.randn(16, 12, 512, 64, **options)
    torch.testing.assert_close(attend_by_formula(), attend(), rtol=0.02, atol=0.02)
    for attention in (attend, attend_by_formula):
        for name in list_kernels(attention):
            print(f"{attention.__name__}: {name[:60]}")

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

if bench.gpu:
    for variant, call in {"fast": attend, "formula": attend_by_formula}.items():
        slow = sum("f32f32" in name or "sgemm" in name for name in list_kernels(call))
        bench.measure("attention", variant, "float32_kernels", slow, unit="")
        bench.measure("attention", variant, "gpu", bench.profile(call, 20)[0])

# %%
# It recompiles when a shape changes
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# This is usually harmless. The second shape triggers one recompilation with dynamic shapes, which covers the rest: five
# batch sizes need :measured:`five-sizes.nothing-marked.compilations` compilations. Only ``dynamic=False``
# :claim:`compiles for each size <five-sizes.nothing-marked.compilations < five-sizes.dynamic-false.compilations>`. To
# compile only once, pass ``dynamic=True``, or call ``torch.compiler.set_stance("eager_then_compile")`` before the first
# call. With ``reduce-overhead``, each shape needs its own graph (:doc:`Dynamic shapes </recipes/varying_sizes>`).

# sphinx_gallery_fold = "Helpers: count compilations"


class Counter:
    """A compiler that counts the graphs it is given, and generates no code."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph.forward


def count_compilations(mark=False, **options):
    """Return the number of compilations for five batch sizes."""
    torch.compiler.reset()
    counter = Counter()
    run = torch.compile(wave, backend=counter, **options)
    for rows in (8, 16, 24, 32, 40):
        batch = torch.ones(rows, 8, device=bench.device)
        if mark:
            torch._dynamo.mark_dynamic(batch, 0)
        run(batch)
    return counter.graphs


# %%

# sphinx_gallery_fold = "Count the compilations for five batch sizes"
# sphinx_gallery_fold_output = True
compilations = {
    "nothing marked": count_compilations(),
    "mark_dynamic": count_compilations(mark=True),
    "dynamic=False": count_compilations(dynamic=False),
}
print(compilations)

# %%

# sphinx_gallery_plumbing = True

for name, count in compilations.items():
    bench.measure("five sizes", name, "compilations", count, unit="")

# %%
# ``reduce-overhead`` launches several graphs, or none
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Keep the function on the GPU, and do not modify its inputs in place. A round trip through the CPU splits the call
# into :claim:`several graphs <cuda-graphs-of-a-call.all-on-the-gpu.graphs <
# cuda-graphs-of-a-call.through-the-cpu.graphs>`, :measured:`cuda-graphs-of-a-call.through-the-cpu.graphs` here;
# modifying an input :claim:`means no graph <cuda-graphs-of-a-call.changes-its-input.graphs <
# cuda-graphs-of-a-call.all-on-the-gpu.graphs>`. Results stay correct, but nothing warns of a split:
# count ``cudaGraphLaunch`` calls in a profile. ``TORCH_LOGS=cudagraphs`` prints the reason.

# sphinx_gallery_fold = "Helpers: count CUDA graphs"
# sphinx_gallery_once = True


def in_place(x):
    """Modify the input in place."""
    return x.sin_()


def through_cpu(x):
    """Make a round trip through the CPU."""
    return torch.cos(torch.sin(x).cpu().to(x.device))


def count_graphs(function):
    """Return how many CUDA graphs a call launches."""
    torch.compiler.reset()
    run = torch.compile(function, mode="reduce-overhead")
    for _ in range(3):  # compiles, captures, replays
        run(ones)
    events = list_events(lambda: run(ones))
    return sum(event.name.startswith("cudaGraphLaunch") for event in events)


# %%

# sphinx_gallery_fold = "Count the CUDA graphs of three functions"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
if bench.gpu:
    graphs = {
        "all on the GPU": count_graphs(wave),
        "through the CPU": count_graphs(through_cpu),
        "changes its input": count_graphs(in_place),
    }
    print(graphs)

# %%

# sphinx_gallery_once = True
# sphinx_gallery_plumbing = True

if bench.gpu:
    for name, count in graphs.items():
        bench.measure("CUDA graphs of a call", name, "graphs", count, unit="")

# %%
# "Output of CUDAGraphs that has been overwritten by a subsequent run"
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# ``clone()`` what you keep: each call overwrites the previous output. PyTorch 2.15 can clone for you:
# ``torch._inductor.config.triton.cudagraph_trees_generation_cloning = "user_visible"``.
#
# Unexpected keys: ``_orig_mod.``
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#
# Use ``model.compile()``. ``torch.compile(model)`` returns a wrapper that adds this prefix to weight names.
#
# Compilation fails
# ~~~~~~~~~~~~~~~~~
#
# Try these ``backend=`` values in turn. If ``"eager"`` fails, Dynamo cannot trace your Python code; if ``"aot_eager"``
# is the first to fail, suspect AOTAutograd; if only ``"inductor"`` fails, suspect Inductor. ``TORCH_LOGS=graph_breaks``
# shows every graph break.

# sphinx_gallery_fold = "Try one backend after another"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
for backend in ("eager", "aot_eager", "inductor"):
    torch.compiler.reset()
    result = torch.compile(wave, backend=backend)(ones)
    print(backend, "is right:", torch.allclose(result, wave(ones)))

# %%
# Why modes differ
# ----------------
#
# In eager mode, the CPU launches every kernel separately. Even a simple addition costs it
# :measured:`process.eager-operation.launch_cost`. If a kernel finishes before the next launch, the GPU idles.
#
# .. spans:: one call
#
#    One call to four small layers, eager and in two modes.

# sphinx_gallery_fold = "Code for this figure"
# sphinx_gallery_once = True


def make_small_layers(width=256):
    """Return four layers so small that the GPU works faster than the CPU launches."""
    blocks = []
    for _ in range(4):
        blocks += [nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width)]
    return nn.Sequential(*blocks).to(bench.device, bench.dtype)


torch.compiler.reset()
calls = in_modes(make_small_layers(), torch.randn(8, 256, **options))
lanes = {}
for name, call in calls.items():
    for _ in range(10):
        call()
    for processor, spans in bench.spans_of(call).items():
        lanes[f"{processor}, {name}"] = spans
bench.publish_spans("one call", lanes)

# %%
# - ``default`` fuses operations, so intermediate results stay out of memory. Each call first checks :term:`guards
#   <guard>`, the conditions under which compiled code is valid.
# - ``reduce-overhead`` captures the same kernels in a :term:`CUDA graph`, which the CPU launches with a single call.
#   It reduces launch overhead, not compile time.
# - ``max-autotune`` also captures a graph, and benchmarks several kernels for each matmul and convolution.
#
# To see if a graph helps, pass ``mode="reduce-overhead"``. If it does, :ref:`capture manually <capture-manually>`,
# without a compiler.

# sphinx_gallery_fold = "What look prints for each mode in one run"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
for name, call in calls.items():
    print(name, end=": ")
    look(call)

# %%
# Each mode is a preset of Inductor ``options``:

# sphinx_gallery_fold = "The settings of all modes"
# sphinx_gallery_once = True
settings = pd.DataFrame(torch._inductor.list_mode_options()).T
settings = settings.drop(index="lite", errors="ignore")
print(settings.dropna(axis="columns", how="all").fillna("–").to_string())

# %%
# In training, PyTorch recommends compiling the whole step
# --------------------------------------------------------
#
# *The answer* shows how. With ``reduce-overhead``, :claim:`compiling the whole step beats compiling only the model
# <cuda_graphs:training-by-pytorch.whole-step.wall < training-by-pytorch.reduce-overhead.wall>`,
# :measured:`cuda_graphs:training-by-pytorch.whole-step.wall` versus
# :measured:`cuda_graphs:training-by-pytorch.reduce-overhead.wall` per iteration, but :claim:`the first call is slower
# <cuda_graphs:training-by-pytorch.reduce-overhead.first_call < training-by-pytorch.whole-step.first_call>`:
# :measured:`cuda_graphs:training-by-pytorch.whole-step.first_call` instead of
# :measured:`cuda_graphs:training-by-pytorch.reduce-overhead.first_call` (1 run). :claim:`Capturing the iteration
# manually beats both <cuda_graphs:training-by-hand.one-graph.wall < training-by-pytorch.whole-step.wall>`.
#
# ``default`` cuts element-wise time by more than half; a graph adds a copy
# -------------------------------------------------------------------------
#
# Fusing sine, cosine and addition into one kernel :claim:`cuts GPU time by more than half <2 * sin-cos.default.gpu <
# sin-cos.not-compiled.gpu>`: :measured:`sin-cos.not-compiled.gpu` → :measured:`sin-cos.default.gpu`.
# ``reduce-overhead`` :claim:`gives part of that back <sin-cos.default.gpu < sin-cos.reduce-overhead.gpu>`, because
# each call copies the input to the address that the graph reads. Weights need no copy.

# sphinx_gallery_fold = "Time sine and cosine in three modes"
x = torch.randn(NUMBERS, device=bench.device)
elements = bench.compare(
    "sin + cos",
    in_modes(wave, x),
    limit=2 * x.nbytes / bench.bandwidth,
    tolerance=1e-5,
    rehearse=False,
)

# %%
# .. chart:: gpu
#    :case: sin + cos
#    :best: default
#
#    64 million elements; the limit is the time to copy them. GPU times are profiled separately and can exceed wall
#    times.
#
# ``default`` leaves the GPU mostly idle in BERT
# ----------------------------------------------
#
# The input is one sentence of eight tokens. With ``default``, :claim:`the GPU is idle most of the time <2 *
# bert-one-sentence.default.gpu < bert-one-sentence.default.wall>`: :measured:`bert-one-sentence.default.gpu` of GPU
# time in a :measured:`bert-one-sentence.default.wall` call. ``reduce-overhead`` launches the same kernels as one
# graph and is :claim:`{bert-one-sentence.reduce-overhead.speedup} as fast as eager
# <bert-one-sentence.reduce-overhead.wall < bert-one-sentence.default.wall>`.

# sphinx_gallery_fold = "BERT with random weights"
bert = None
try:
    from transformers import BertConfig, BertModel

    small = dict(hidden_size=64, num_attention_heads=2, intermediate_size=256)
    config = BertConfig(num_hidden_layers=LAYERS, **({} if bench.gpu else small))
    torch.manual_seed(0)
    bert = BertModel(config).eval().to(bench.device, bench.dtype)
except (ImportError, RuntimeError) as error:
    # RuntimeError: torchvision and PyTorch releases do not match
    print(f"The experiment with BERT is left out: {error.__cause__ or error}")

# %%


# sphinx_gallery_fold = "Time one sentence in three modes"
# sphinx_gallery_fold_output = True
def encode(ids):
    """Return one vector per text: the mean over its tokens."""
    return bert(input_ids=ids).last_hidden_state.mean(1)


if bert:
    sentence = torch.arange(2000, 2008, device=bench.device)[None]
    torch.compile(bert.encoder.layer[0])(bert.embeddings(sentence))  # warms up
    short_calls = in_modes(encode, sentence)
    short = bench.compare(
        "BERT, one sentence", short_calls, tolerance=0.1, rehearse=False
    )

# %%
# Results differ after compiling, because of rounding
# ---------------------------------------------------
#
# Compare with ``float64``, not only with eager: eager rounds after every operation, a fused kernel only at the end.
# After twelve operations in ``bfloat16``, :claim:`the compiled result has the smaller error
# <twelve-operations.default.error < twelve-operations.not-compiled.error>`:
# :measured:`twelve-operations.default.error` versus :measured:`twelve-operations.not-compiled.error`. BERT's outputs,
# on the order of 1, are off by up to :measured:`bert-rounding.default.error` compiled and
# :measured:`bert-rounding.not-compiled.error` eager (1 run).
#
# To round as often as eager, pass ``options={"emulate_precision_casts": True}`` instead of ``mode``. BERT then matches
# eager exactly (difference: :measured:`bert-rounding.emulate_precision_casts.difference`), but the twelve operations
# still differ by :measured:`twelve-operations.emulate_precision_casts.difference`. In 2.15,
# ``{"numerics": "strict"}`` goes further.

# sphinx_gallery_fold = "Helpers: measure the difference from float64"
# sphinx_gallery_once = True
EMULATED = {"emulate_precision_casts": True}


def chain(x):
    """Apply twelve element-wise operations, which the compiler fuses."""
    for _ in range(4):
        x = torch.sin(1.1 * x + 0.3)
    return x


def greatest_difference(result, expected):
    """Return the largest difference between two results."""
    return (result.double() - expected.double()).abs().max().item()


def compare_results(case, calls, exact):
    """Publish how far results are from the exact ones, and from those of eager mode."""
    results = {name: call().clone() for name, call in calls.items()}
    differences = {}
    for name, result in results.items():
        error = greatest_difference(result, exact)
        change = greatest_difference(result, results["not compiled"])
        bench.measure(case, name, "error", error, unit="")
        bench.measure(case, name, "difference", change, unit="")
        differences[name] = {"from float64": error, "from not compiled": change}
    print(pd.DataFrame(differences).T.rename_axis(columns=case).to_string())


# %%

# sphinx_gallery_fold = "Compare results with float64"
# sphinx_gallery_fold_output = True
# sphinx_gallery_once = True
x = torch.randn(4096, 64, device=bench.device).to(torch.bfloat16)
chain_calls = in_modes(chain, x, modes=["default"])
emulated = torch.compile(chain, options=dict(EMULATED))
chain_calls["emulate_precision_casts"] = functools.partial(emulated, x)
compare_results("twelve operations", chain_calls, chain(x.double()))

if bert:
    bert_calls = {name: short_calls[name] for name in ("not compiled", "default")}
    emulated = torch.compile(encode, options=dict(EMULATED))
    bert_calls["emulate_precision_casts"] = functools.partial(emulated, sentence)
    exact_bert = copy.deepcopy(bert).double()
    exact = exact_bert(input_ids=sentence).last_hidden_state.mean(1)
    compare_results("BERT, rounding", bert_calls, exact)

# %%
# BERT with long sequences: compile it whole in 2.15, by layer in 2.11
# --------------------------------------------------------------------
#
# 64 sequences of 512 tokens keep the GPU busy. :claim:`Compiled as a whole, BERT needs the least GPU time
# <bert-long-texts.default.gpu < bert-long-texts.layer-by-layer.gpu < bert-long-texts.not-compiled.gpu@2.15>`:
# :measured:`bert-long-texts.not-compiled.gpu` → :measured:`bert-long-texts.default.gpu`, versus
# :measured:`bert-long-texts.layer-by-layer.gpu` layer by layer.

# sphinx_gallery_fold = "Time 64 long sequences"
if bert:
    texts = torch.randint(1000, 30000, TEXTS, device=bench.device)
    by_layer = copy.deepcopy(bert)
    for layer in by_layer.encoder.layer:
        layer.compile()
    variants = in_modes(encode, texts, modes=["default"])
    variants["layer by layer"] = lambda: by_layer(texts).last_hidden_state.mean(1)
    long = bench.compare("BERT, long texts", variants, tolerance=0.1, rehearse=False)

# %%
# .. chart:: gpu
#    :case: BERT, long texts
#    :best: default
#
#    64 sequences of 512 tokens through two layers of BERT.
#
# In PyTorch 2.11, on other hosts, compiling the whole model :claim:`more than doubled its GPU time <2 *
# bert-long-texts.not-compiled.gpu < bert-long-texts.default.gpu@2.11>`, to
# :measured:`bert-long-texts.default.gpu@2.11`, and compiling layer by layer :claim:`was best
# <bert-long-texts.layer-by-layer.gpu < bert-long-texts.not-compiled.gpu@2.11>`. Transformers mistook compilation for
# an export and kept an attention mask (`issue 176347 <https://github.com/pytorch/pytorch/issues/176347>`__), which
# rules out FlashAttention. Since 5.18, Transformers builds no mask with PyTorch 2.14 or newer.
#
# ResNet-18: part of the speed-up comes from ``channels_last``
# ------------------------------------------------------------
#
# Try ``channels_last`` first, without compiling. :claim:`It cuts GPU time <resnet18.channels_last-not-compiled.gpu <
# resnet18.not-compiled.gpu>`: :measured:`resnet18.not-compiled.gpu` →
# :measured:`resnet18.channels_last-not-compiled.gpu`. ``default`` :claim:`cuts it further <resnet18.default.gpu <
# resnet18.channels_last-not-compiled.gpu>`, to :measured:`resnet18.default.gpu` (1 run), because it also switches the
# format and fuses operations after convolutions. :claim:`That leaves the GPU partly idle <1.25 *
# resnet18.default.gpu < resnet18.default.wall>`, so try a CUDA graph next.

# sphinx_gallery_fold = "Check that torchvision is installed"
# sphinx_gallery_once = True
try:
    from torchvision.models import resnet18
except (ImportError, RuntimeError) as error:
    # RuntimeError: torchvision and PyTorch releases do not match
    print(f"The experiment with resnet18 is left out: {error}")
    resnet18 = None

# %%

# sphinx_gallery_fold = "Time resnet18"
# sphinx_gallery_once = True
if resnet18:
    torch.set_float32_matmul_precision("high")  # TF32 in matmuls, as in convolutions
    torch.backends.cudnn.benchmark = True  # times algorithms and picks the fastest
    net = resnet18().eval().to(bench.device)
    images = torch.randn(IMAGES, device=bench.device)
    variants = in_modes(net, images, modes=["default"])
    net_last = copy.deepcopy(net).to(memory_format=torch.channels_last)
    images_last = images.to(memory_format=torch.channels_last)
    variants["channels_last, not compiled"] = lambda: net_last(images_last)
    resnet = bench.compare(
        "resnet18", variants, tolerance=0.1, rehearse=False, rounds=5
    )
    torch.set_float32_matmul_precision("highest")

# %%
# .. chart:: gpu
#    :case: resnet18
#    :best: default
#
#    16 images through ResNet-18, in ``float32`` with TF32.
#
# A single matmul: compiling only adds CPU time
# ---------------------------------------------
#
# Eager or compiled, PyTorch calls the same cuBLAS kernel, at :measured:`a-product.default.share` of the bandwidth
# limit. But compiled code checks guards, so :claim:`each call costs more CPU time <a-product.not-compiled.cpu <
# a-product.default.cpu>`: :measured:`a-product.not-compiled.cpu` → :measured:`a-product.default.cpu`.

# sphinx_gallery_fold = "Time a matmul with one row"
rows, width = PRODUCT
layer = nn.Linear(width, width, bias=False, **options)
product = bench.compare(
    "a product",
    in_modes(layer, torch.randn(rows, width, **options), modes=["default"]),
    limit=layer.weight.nbytes / bench.bandwidth,
    tolerance=0.02,
    rehearse=False,
)

# %%
# ``max-autotune`` tunes for seconds and changes little here
# ----------------------------------------------------------
#
# For a large linear layer (8192 rows of 4096 features), the first call took
# :measured:`a-large-layer.max-autotune-no-cudagraphs.first_call`, and :claim:`GPU time barely changed
# <a-large-layer.not-compiled.gpu < 1.1 * a-large-layer.max-autotune-no-cudagraphs.gpu>`:
# :measured:`a-large-layer.not-compiled.gpu` → :measured:`a-large-layer.max-autotune-no-cudagraphs.gpu` (1 run). PyTorch
# tunes matmuls only on GPUs with 68 or more SMs; on others, it warns "Not enough SMs".

# sphinx_gallery_fold = "Tune a large layer"
# sphinx_gallery_once = True
rehearsal = torch.compile(nn.Linear(64, 64, **options), mode="max-autotune")
rehearsal(torch.ones(1, 64, **options))

rows, width = LARGE
layer = nn.Sequential(nn.Linear(width, width, **options), nn.GELU())
large = bench.compare(
    "a large layer",
    in_modes(
        layer,
        torch.randn(rows, width, **options),
        modes=["default", "max-autotune-no-cudagraphs"],
    ),
    tolerance=0.02,
    rehearse=False,
    rounds=5,
)

# %%
# NumPy: a better formula beats the compiler
# ------------------------------------------
#
# Compiled for one thread, a NumPy function is :claim:`{a-numpy-function.compiled-one-thread.speedup} as fast
# <a-numpy-function.compiled-one-thread.wall < a-numpy-function.numpy.wall>` (:measured:`a-numpy-function.numpy.wall` →
# :measured:`a-numpy-function.compiled-one-thread.wall`), because it no longer stores the individual products. The mean
# of all products equals the product of the means, and :claim:`that formula is faster still
# <a-numpy-function.numpy-better-formula.wall < a-numpy-function.compiled-one-thread.wall>`, without a compiler:
# :measured:`a-numpy-function.numpy-better-formula.wall` (1 run).

# sphinx_gallery_fold = "Time a NumPy function"
# sphinx_gallery_once = True


def products(x, y):
    """Return, for each row, exp of the mean of all products of an x and a y."""
    return np.exp(np.mean(x[:, :, None] * y[:, None, :], axis=(-2, -1)))


def means(x, y):
    """Return the same, as the product of two means."""
    return np.exp(np.mean(x, axis=-1) * np.mean(y, axis=-1))


x, y = np.random.default_rng(0).standard_normal((2, *PAIRS))
ONE_THREAD = {"cpp.threads": 1}
# The first C++ function also compiles headers, which all later ones share.
rehearsal = torch.compile(means, options=dict(ONE_THREAD))
rehearsal(x[:2, :3], y[:2, :3])
on_one_thread = torch.compile(products, options=dict(ONE_THREAD))
variants = {
    "NumPy": lambda: torch.tensor(products(x, y), device=bench.device),
    "NumPy, better formula": lambda: torch.tensor(means(x, y), device=bench.device),
    "compiled, one thread": lambda: torch.tensor(
        on_one_thread(x, y), device=bench.device
    ),
}
numpy_function = bench.compare(
    "a NumPy function", variants, tolerance=1e-9, rehearse=False, rounds=3
)

# %%
# Limits and next steps
# ---------------------
#
# - Two layers of BERT fit into the GPU's cache, so do not extrapolate their GPU time to twelve.
# - Up to PyTorch 2.14, do not mix ``reduce-overhead`` and manual captures in one process (:ref:`changes in 2.15
#   <newer-pytorch>`).
# - See :ref:`how break-even is computed <break-even>`, the :doc:`serving checklist </serving>` and PyTorch on
#   `CUDA graphs <https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html>`__.
#
# Thanks to `TingsongYu <https://github.com/TingsongYu/PyTorch-Tutorial-2nd>`__: this recipe builds on the `chapter on
# PyTorch 2 <https://tingsongyu.github.io/PyTorch-Tutorial-2nd/chapter-1/1.7-PyTorch2.0.html>`__ in PyTorch实用教程(第二版).
# The chapter reports a speed-up of 10 for a NumPy function; we measured
# :measured:`a-numpy-function.compiled-one-thread.speedup` on one thread.

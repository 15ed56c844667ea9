"""The experiments of ``release_checks.py``, which runs each in a process of its own, on a GPU.

An experiment puts the figures that it measures into a dictionary, as it goes, and returns whether
the results are right. Whatever it raises is its outcome, too. Only PyTorch is needed.
"""

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._inductor.config
import torch._inductor.metrics
from torch import nn
from torch.nn.functional import layer_norm, linear

DEVICE = "cuda"
MOST = 0.02  # the largest error, as a part of the largest number, of results that count as right
MIB = 2**20
# Sums of this length are split by cuBLAS, which keeps the parts in its workspace.
ROWS, WIDTH = 32768, 640

Figures = dict[str, Any]
Tensor = torch.Tensor


class NotInThisReleaseError(Exception):
    """What an experiment is about does not exist in this release of PyTorch."""


# Graphs captured manually, with torch.cuda.graph


class CapturedProduct:
    """A product of two matrices in a CUDA graph that was captured manually."""

    def __init__(self, stream: torch.cuda.Stream, pool: Any = None, rows: int = ROWS) -> None:
        self.left = torch.randn(rows, WIDTH, device=DEVICE, dtype=torch.bfloat16)
        self.right = torch.randn_like(self.left)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, pool=pool, stream=stream):
            self.product = self.left.T @ self.right

    def replay(self) -> float:
        """Replay the graph with new numbers; return the error of the product."""
        self.left.normal_()
        self.graph.replay()
        torch.cuda.synchronize()
        return relative_error(self.product, self.left.T @ self.right)


def replay_all(products: Sequence[CapturedProduct]) -> float:
    """Replay all graphs, twice; return the largest error."""
    errors = [product.replay() for _ in range(2) for product in products]
    return largest(errors)


def warm_up(stream: torch.cuda.Stream) -> None:
    """Call cuBLAS in a stream, as one does before capturing."""
    left = torch.randn(ROWS, WIDTH, device=DEVICE, dtype=torch.bfloat16)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        left.T @ left
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def manual_graphs_beside_reduce_overhead(figures: Figures) -> bool:
    """Warm up in one stream and capture in another, as PyTorch's documentation does."""
    return replay_beside_reduce_overhead(figures, torch.cuda.Stream(), torch.cuda.Stream())


def manual_graphs_of_the_warm_stream(figures: Figures) -> bool:
    """Capture in the stream of the warm-up: its workspace lies outside the graph's pool."""
    stream = torch.cuda.Stream()
    return replay_beside_reduce_overhead(figures, stream, stream)


def replay_beside_reduce_overhead(
    figures: Figures, warm: torch.cuda.Stream, stream: torch.cuda.Stream
) -> bool:
    """Capture two graphs, let ``reduce-overhead`` record new shapes, and replay the two.

    Memory that was freed under a graph shows in three ways: wrong products, numbers of others that
    a replay overwrites, and, once the memory went back to the GPU, an illegal access.
    """
    warm_up(warm)
    products = [CapturedProduct(stream), CapturedProduct(stream)]
    errors = [replay_all(products)]
    figures["error before"] = errors[-1]

    multiply = torch.compile(multiply_relu, mode="reduce-overhead", dynamic=False)
    with torch.no_grad():
        for rows in (16, 32, 64):
            left, right = make_factors(rows)
            for _ in range(4):
                multiply(left, right)
    torch.cuda.synchronize()
    errors.append(replay_all(products))
    figures["error afterwards"] = errors[-1]

    with torch.cuda.stream(stream):  # a block is only given to the stream that freed it
        sizes = [32 * MIB, 33 * MIB] * 8
        others = [torch.full((size,), 7, device=DEVICE, dtype=torch.uint8) for size in sizes]
    torch.cuda.synchronize()
    errors.append(replay_all(products))
    figures["bytes of others overwritten"] = sum(int((other != 7).sum()) for other in others)

    others.clear()
    torch.cuda.empty_cache()
    errors.append(replay_all(products))
    figures["error after emptying the cache"] = errors[-1]
    return largest(errors) <= MOST and figures["bytes of others overwritten"] == 0


def one_of_several_graphs_reset(figures: Figures) -> bool:
    """Reset the first of four graphs that share a pool."""
    return replay_without_the_first(figures, shared_pool=True, reset=True)


def one_of_several_graphs_deleted(figures: Figures) -> bool:
    """Delete the first of four graphs that share a pool."""
    return replay_without_the_first(figures, shared_pool=True, reset=False)


def one_of_several_graphs_with_own_pools_reset(figures: Figures) -> bool:
    """Reset the first of four graphs that share a stream, and no pool."""
    return replay_without_the_first(figures, shared_pool=False, reset=True)


def replay_without_the_first(figures: Figures, *, shared_pool: bool, reset: bool) -> bool:
    """Capture four graphs in one stream, drop the first, and replay the others."""
    stream = torch.cuda.Stream()
    warm_up(torch.cuda.Stream())
    pool = torch.cuda.graph_pool_handle() if shared_pool else None
    products = [CapturedProduct(stream, pool, rows) for rows in (ROWS, 24576, 16384, 8192)]
    errors = [replay_all(products)]
    figures["error before"] = errors[-1]

    first = products.pop(0)
    if reset:
        first.graph.reset()
    del first
    gc.collect()
    errors.append(replay_all(products))
    figures["error without the first"] = errors[-1]

    torch.cuda.empty_cache()
    errors.append(replay_all(products))
    figures["error after emptying the cache"] = errors[-1]
    return largest(errors) <= MOST


# Graphs recorded by the compiler


def multiply_relu(left: Tensor, right: Tensor) -> Tensor:
    """Return what the experiments compile."""
    return torch.relu(left @ right)


def make_factors(rows: int) -> tuple[Tensor, Tensor]:
    """Return two matrices."""
    return torch.randn(rows, 256, device=DEVICE), torch.randn(256, 256, device=DEVICE)


def calls_from_two_threads(figures: Figures) -> bool:
    """Call a function with ``reduce-overhead`` from one thread, a second, and the first again."""
    multiply = torch.compile(multiply_relu, mode="reduce-overhead")

    def call() -> float:
        errors = []
        with torch.no_grad():
            for _ in range(4):
                left, right = make_factors(64)
                result = multiply(left, right).clone()
                errors.append(relative_error(result, multiply_relu(left, right)))
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        return largest(errors)

    errors = [call()]
    figures["error in the first thread"] = errors[0]
    reserved = torch.cuda.memory_reserved()
    with ThreadPoolExecutor(1) as second:
        errors.append(second.submit(call).result())
        figures["error in the second thread"] = errors[1]
        figures["bytes that its graphs keep"] = torch.cuda.memory_reserved() - reserved
    errors.append(call())
    figures["error in the first thread again"] = errors[2]
    return largest(errors) <= MOST


def accumulate_after_an_eager_iteration(figures: Figures) -> bool:
    """Have an iteration without the compiler make the gradients' memory."""

    def prepare(model: nn.Module, batch: Tensor) -> None:
        model(batch).square().mean().backward()
        model.zero_grad(set_to_none=False)

    return accumulate_gradients(figures, prepare)


def accumulate_into_zeros(figures: Figures) -> bool:
    """Make the gradients' memory as zeros."""

    def prepare(model: nn.Module, _batch: Tensor) -> None:
        for weight in model.parameters():
            weight.grad = torch.zeros_like(weight)

    return accumulate_gradients(figures, prepare)


def accumulate_into_none(figures: Figures) -> bool:
    """Leave it to the backward of ``reduce-overhead`` to make the gradients' memory."""
    return accumulate_gradients(figures, None)


def accumulate_gradients(
    figures: Figures, prepare: Callable[[nn.Module, Tensor], None] | None
) -> bool:
    """Add up gradients over four batches, in four iterations, and compare them with eager ones."""
    layers = nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)
    model = nn.Sequential(*layers).to(DEVICE)
    batches = torch.randn(4, 64, 256, device=DEVICE)
    for batch in batches:
        model(batch).square().mean().backward()
    expected = [gradient_of(weight).clone() for weight in model.parameters()]
    model.zero_grad()

    if prepare:
        prepare(model, batches[0])
    compiled = torch.compile(model, mode="reduce-overhead")
    errors = []
    for iteration in range(4):
        figures["iterations"] = iteration + 1
        for batch in batches:
            compiled(batch).square().mean().backward()
        for weight, gradient in zip(model.parameters(), expected, strict=True):
            errors.append(relative_error(gradient_of(weight), gradient))
        figures["largest error"] = largest(errors)
        model.zero_grad(set_to_none=prepare is None)
    return largest(errors) <= MOST


def kept_results_by_default(figures: Figures) -> bool:
    """Keep results of ``reduce-overhead`` over later calls, without more."""
    return keep_results(figures, {})


def kept_results_with_generation_cloning(figures: Figures) -> bool:
    """Keep results over later calls, with the option for it."""
    require(torch._inductor.config.triton, "cudagraph_trees_generation_cloning")
    return keep_results(figures, {"triton.cudagraph_trees_generation_cloning": "user_visible"})


def keep_results(figures: Figures, options: dict[str, Any]) -> bool:
    """Call a function with CUDA graphs four times, and look at all four results afterwards."""
    multiply = torch.compile(multiply_relu, options={"triton.cudagraphs": True} | options)
    factors = [make_factors(64) for _ in range(4)]
    with torch.no_grad():
        for _ in range(3):  # warms up, records, replays
            multiply(*factors[0])
        kept = [multiply(left, right) for left, right in factors]
        errors = []
        for result, (left, right) in zip(kept, factors, strict=True):
            errors.append(relative_error(result, multiply_relu(left, right)))
    figures["largest error"] = largest(errors)
    return largest(errors) <= MOST


RERECORD_LIMIT = "cudagraph_dynamic_shape_rerecord_limit"


def rerecord_limit_as_an_option(figures: Figures) -> bool:
    """Limit the graphs of several shapes by ``options=``."""
    require(torch._inductor.config.triton, RERECORD_LIMIT)
    return count_recorded_shapes(figures, {f"triton.{RERECORD_LIMIT}": 2})


def rerecord_limit_for_the_process(figures: Figures) -> bool:
    """Limit the graphs of several shapes by the compiler's configuration."""
    require(torch._inductor.config.triton, RERECORD_LIMIT)
    setattr(torch._inductor.config.triton, RERECORD_LIMIT, 2)
    return count_recorded_shapes(figures, {})


def count_recorded_shapes(figures: Figures, options: dict[str, Any]) -> bool:
    """Call a function with five shapes, four times each; count shapes that end up as a graph."""
    options = {"triton.cudagraphs": True} | options
    multiply = torch.compile(multiply_relu, dynamic=True, options=options)
    graph = torch.cuda.CUDAGraph
    recorded, errors = 0, []
    with torch.no_grad():
        for rows in (16, 32, 48, 64, 80):
            left, right = make_factors(rows)
            for _ in range(3):
                multiply(left, right)
            with mock.patch.object(
                graph, "replay", autospec=True, side_effect=graph.replay
            ) as replay:
                result = multiply(left, right).clone()
            recorded += replay.call_count
            errors.append(relative_error(result, multiply_relu(left, right)))
    figures["limit"] = 2
    figures["graphs for five shapes"] = recorded
    figures["largest error"] = largest(errors)
    return recorded == 2 and largest(errors) <= MOST


# What the compiler makes


def gradients_of_modulated_norms(figures: Figures) -> bool:
    """Compare gradients of two modulated LayerNorms in a row with eager ones in float32.

    Shifts and scales are parts of one parameter, so that parts of its gradient are written by
    several kernels. Memory of that size is filled with NaN first, or else a part that nobody
    writes could hold the right numbers by chance.
    """
    cases = [
        (1, 4096, 1024, torch.float32),
        (1, 32768, 1024, torch.float32),
        (2, 16384, 512, torch.float32),
        (1, 32768, 1024, torch.bfloat16),
    ]
    errors = []
    for batch, length, width, dtype in cases:
        torch.manual_seed(0)
        x = torch.randn(batch, length, width, device=DEVICE, dtype=dtype)
        table = torch.randn(1, 4, width, device=DEVICE, dtype=dtype) / 4
        weight = torch.randn_like(x)
        expected = table_gradient(modulate_twice, x.float(), table.float(), weight.float())
        torch.compiler.reset()
        spoiled = [torch.full_like(table, torch.nan) for _ in range(256)]
        torch.cuda.synchronize()
        spoiled.clear()
        gradient = table_gradient(torch.compile(modulate_twice, dynamic=False), x, table, weight)
        parts = zip(gradient.unbind(1), expected.unbind(1), strict=True)
        errors.append(largest([relative_error(part, right) for part, right in parts]))
        name = f"error {batch} × {length} × {width}, {str(dtype).removeprefix('torch.')}"
        figures[name] = errors[-1]
    fusions = getattr(torch._inductor.metrics, "codegen_mix_order_reduction", None)
    figures["reductions of mixed order"] = "unknown" if fusions is None else fusions
    return largest(errors) <= 2.5 * MOST  # bfloat16


def gradients_without_mixed_reductions(figures: Figures) -> bool:
    """Do the same in a process with TORCHINDUCTOR_MIX_ORDER_REDUCTION=0."""
    return gradients_of_modulated_norms(figures)


def modulate_twice(x: Tensor, table: Tensor) -> Tensor:
    """Return what two blocks with modulated LayerNorms make of ``x``."""
    first_shift, first_scale, second_shift, second_scale = table.chunk(4, dim=1)
    width = (x.shape[-1],)
    x = x + layer_norm(x, width) * (1 + first_scale) + first_shift
    return x + layer_norm(x, width) * (1 + second_scale) + second_shift


def table_gradient(
    function: Callable[[Tensor, Tensor], Tensor], x: Tensor, table: Tensor, weight: Tensor
) -> Tensor:
    """Return the gradient of the shifts and scales."""
    x, table = x.detach().requires_grad_(), table.detach().requires_grad_()
    function(x, table).backward(weight)
    torch.cuda.synchronize()
    return gradient_of(table)


class Layer(nn.Module):
    """A layer whose Python number can differ from one layer to the next."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 64)
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        """Return what the layer makes of ``x``."""
        return torch.relu(self.linear(x)) * self.factor


def nested_regions_alike(figures: Figures) -> bool:
    """Compile 64 layers as nested regions."""
    return compile_regions(figures, [1.0] * 64, "inductor")


def nested_regions_that_differ(figures: Figures) -> bool:
    """Compile 64 layers as nested regions, each with another number in Python."""
    return compile_regions(figures, [1 + number / 64 for number in range(64)], "eager")


def nested_regions_that_differ_with_more_entries(figures: Figures) -> bool:
    """Do the same, with room for all of them."""
    factors = [1 + number / 64 for number in range(64)]
    return compile_regions(figures, factors, "eager", max_reuse_entries=64)


def compile_regions(
    figures: Figures, factors: Sequence[float], backend: str, **options: int
) -> bool:
    """Compile a model of regions, and compare it with the eager one."""
    try:
        region = torch.compiler.nested_compile_region(Layer.forward, **options)
    except TypeError as error:
        raise NotInThisReleaseError(str(error)) from error
    kind = type("Region", (Layer,), {"forward": region})
    figures["layers"] = len(factors)
    model = nn.Sequential(*[kind(factor) for factor in factors]).to(DEVICE)
    x = torch.randn(16, 64, device=DEVICE)
    with torch.no_grad():
        expected = model(x)
        result = torch.compile(model, backend=backend, fullgraph=True)(x)
    figures["largest error"] = relative_error(result, expected)
    return figures["largest error"] <= MOST


def memory_of_the_first_call(figures: Figures) -> bool:
    """Look for a buffer of the size of the L2 cache while a tiny function is compiled, and later.

    With it the compiler clears the cache between the kernels that it times.
    """
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    figures["bytes of the L2 cache"] = cache
    x = torch.randn(1024, 1024, device=DEVICE)
    compiled = torch.compile(lambda x: torch.softmax(x * 2, dim=-1))
    with torch.no_grad():
        figures["bytes at most, first call"] = peak_of(compiled, x)
        figures["bytes at most, later calls"] = peak_of(compiled, x)
    return figures["bytes at most, first call"] >= cache > figures["bytes at most, later calls"]


def peak_of(function: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """Return how many bytes more than before three calls need at most."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        function(x)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


# Compiled code that another process loads


def precompile_in_another_process(figures: Figures) -> bool:
    """Save with ``torch.compiler.precompile`` and load."""
    require(torch.compiler, "precompile")
    require(torch.compiler.precompile, "capture")
    return load_in_another_process(figures, "precompile", save_precompiled)


def aot_compile_in_another_process(figures: Figures) -> bool:
    """Save with ``aot_compile`` and load with ``torch.compiler.load_compiled_function``."""
    require(torch.compiler, "load_compiled_function")
    require(torch.compile(multiply_relu, fullgraph=True), "aot_compile")
    return load_in_another_process(figures, "aot_compile", save_aot_compiled)


def aotinductor_in_another_process(figures: Figures) -> bool:
    """Save a package with AOTInductor and load it."""
    return load_in_another_process(figures, "aotinductor", save_package)


def save_precompiled(folder: Path, model: Layer, x: Tensor) -> None:
    """Save what ``precompile`` captures."""
    with torch.compiler.precompile.capture(
        call_model, artifact_path=folder / "model.py", cache_path=folder / "model.cache"
    ) as capture:
        capture(model, x)


def save_aot_compiled(folder: Path, model: Layer, x: Tensor) -> None:
    """Save a compiled function of the weights."""
    compiled = torch.compile(call_linear, fullgraph=True)
    arguments = x, model.linear.weight, model.linear.bias
    compiled.aot_compile((arguments, {})).save_compiled_function(str(folder / "function"))


def save_package(folder: Path, model: Layer, x: Tensor) -> None:
    """Save a package with code and weights."""
    exported = torch.export.export(model, (x,))
    torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / "model.pt2"))


def call_model(model: nn.Module, x: Tensor) -> Tensor:
    """Call the model: what ``precompile`` captures."""
    return model(x)


def call_linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Call the layer without a module: what ``aot_compile`` compiles."""
    return torch.relu(linear(x, weight, bias))


def load_in_another_process(
    figures: Figures, kind: str, save: Callable[[Path, Layer, Tensor], None]
) -> bool:
    """Save compiled code, load it in a fresh process with empty caches, and compare results."""
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        folder = Path(name)
        model, x = Layer().to(DEVICE), torch.randn(16, 64, device=DEVICE)
        torch.save((model.state_dict(), x, model(x)), folder / "expected.pt")
        save(folder, model, x)
        caches = {"TORCHINDUCTOR_CACHE_DIR": name, "TRITON_CACHE_DIR": f"{name}/triton"}
        done = subprocess.run(
            [sys.executable, __file__, "--load", kind, name, DEVICE],
            env=os.environ | caches,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode < 0:
        raise RuntimeError(f"the process that loads it ended with signal {-done.returncode}")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RuntimeError(f"the process that loads it failed: {last}")
    figures["largest error"] = json.loads(done.stdout.splitlines()[-1])
    return figures["largest error"] <= MOST


def load(kind: str, folder: Path) -> float:
    """Load compiled code that another process saved; return the error of its result."""
    state, x, expected = torch.load(folder / "expected.pt", map_location=DEVICE)
    model = Layer().to(DEVICE)
    model.load_state_dict(state)
    with torch.no_grad():
        if kind == "precompile":
            files = folder / "model.py", folder / "model.cache"
            result = torch.compiler.precompile.load(*files)(model, x)
        elif kind == "aot_compile":
            with (folder / "function").open("rb") as file:
                function = torch.compiler.load_compiled_function(file)
            result = function(x, model.linear.weight, model.linear.bias)
        else:
            result = torch._inductor.aoti_load_package(str(folder / "model.pt2"))(x)
    return relative_error(result, expected)


# What all of them use


def relative_error(result: Tensor, expected: Tensor) -> float:
    """Return the largest difference, as a part of the largest number; NaN if one is NaN."""
    result, expected = result.double(), expected.double()
    return ((result - expected).abs().max() / expected.abs().max()).item()


def gradient_of(weight: Tensor) -> Tensor:
    """Return the gradient that a backward has left."""
    if weight.grad is None:
        raise RuntimeError("backward has left no gradient")
    return weight.grad


def largest(errors: Sequence[float]) -> float:
    """Return the largest number, and NaN if there is one, which ``max`` might pass over."""
    return torch.tensor(errors, dtype=torch.float64).max().item()


def require(place: object, name: str) -> None:
    """Raise NotInThisReleaseError if this release lacks a name."""
    if not hasattr(place, name):
        raise NotInThisReleaseError(f"no {name}")


def first_line(error: Exception) -> str:
    """Return what an error says first, with its kind, without what differs from run to run."""
    text = re.sub(r" at 0x[0-9a-f]+", "", str(error))
    for folder in (Path(__file__).parent, Path(torch.__file__).parents[1]):
        text = text.replace(f"{folder}/", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def answer(name: str, file: Path) -> None:
    """Run one experiment, and write its outcome into a file."""
    figures: Figures = {}
    error = None
    try:
        outcome = "right" if globals()[name](figures) else "wrong"
    except NotInThisReleaseError as missing:
        outcome, error = "not in this release", str(missing)
    except Exception as failure:
        outcome, error = "error", first_line(failure)
    file.write_text(json.dumps({"outcome": outcome, "figures": figures, "error": error}))


def main() -> None:
    """Do what ``release_checks.py``, or an experiment, started this process for."""
    global DEVICE
    if sys.argv[1] == "--load":
        kind, folder, DEVICE = sys.argv[2:]
        print(json.dumps(load(kind, Path(folder))))
    else:
        name, file = sys.argv[1:]
        answer(name, Path(file))
    sys.stdout.flush()
    os._exit(0)  # after an illegal access, a process can hang or abort while it cleans up


if __name__ == "__main__":
    main()

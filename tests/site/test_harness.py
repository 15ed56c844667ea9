"""The harness of the recipes, on a clock that only the functions under test move."""

import contextlib
import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # imports PyTorch

SOURCE = Path(__file__).parents[2] / "recipes_source/_harness.py"


class Clock:
    """A clock that stands still but for what functions take."""

    def __init__(self) -> None:
        self.now = 100.0
        self.counters: Any = {}  # of the compiler

    def __call__(self) -> float:
        return self.now

    def work(
        self, seconds: float, first: float = 0.0, graphs: int = 0, result: object = None
    ) -> Callable[..., Any]:
        """Return a function that takes some seconds, the first time more, as one that compiles."""
        fresh = [True]

        def call(*_arguments: object) -> object:
            self.now += seconds + first * fresh[0]
            self.counters["stats"]["unique_graphs"] += graphs * fresh[0]
            fresh[0] = False
            return result

        return call


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Any:
    """Return the harness as on a CPU, whose copies and operations take ten microseconds."""
    spec = importlib.util.spec_from_file_location("_harness", SOURCE)
    found = importlib.util.module_from_spec(spec)
    monkeypatch.delenv("RECIPE_REPLICATE", raising=False)
    spec.loader.exec_module(found)
    clock.counters = found.torch._dynamo.utils.counters
    monkeypatch.setattr(found, "perf_counter", clock)
    monkeypatch.setattr(found.torch, "compile", lambda _fn: clock.work(7.0))
    monkeypatch.setattr(found, "wait_for_workers", lambda: None)
    monkeypatch.setattr(found.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(found.gc, "collect", lambda: 0)  # it takes long
    monkeypatch.setattr(found.Bench, "measure_bandwidth", lambda _self: None)
    monkeypatch.setattr(found.Bench, "measure_launch_cost", lambda _self: None)
    return found


@pytest.fixture
def bench(module: Any) -> Any:
    return module.Bench()


@pytest.fixture
def rows(module: Any, bench: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the rows that are published in Jupyter from now on."""
    published: list[dict[str, Any]] = []

    def display(value: Any, raw: bool = False) -> None:
        if raw and module.ROWS in value:
            published.extend(value[module.ROWS]["rows"])

    jupyter = types.SimpleNamespace(
        get_ipython=object, display=types.SimpleNamespace(display=display)
    )
    monkeypatch.setattr(module, "IPYTHON", jupyter)
    return published


@pytest.fixture
def gpu(bench: Any, module: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the harness as on a GPU, where each call has 20 kernels of a millisecond."""
    for name in ("synchronize", "empty_cache", "reset_peak_memory_stats"):
        monkeypatch.setattr(module.torch.cuda, name, lambda: None)
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated"):
        monkeypatch.setattr(module.torch.cuda, name, lambda: 0)
    monkeypatch.setattr(bench, "load_cublas", lambda: None)
    monkeypatch.setattr(bench, "profile", lambda function, calls: (function(), (0.02, 20.0))[1])
    bench.gpu = True
    return bench


class Allocator:
    """The memory of a GPU, as PyTorch's allocator tells of it."""

    def __init__(self) -> None:
        self.allocated = self.reserved = self.peak = 1000

    def use(self, allocated: int, reserved: int = 0) -> None:
        """Allocate bytes for a moment, and keep some reserved ones."""
        self.peak = max(self.peak, self.allocated + allocated)
        self.reserved += reserved

    def reset_peak(self) -> None:
        self.peak = self.allocated


@pytest.fixture
def memory(gpu: Any, module: Any, monkeypatch: pytest.MonkeyPatch) -> Allocator:
    """Return the memory of the harness's GPU."""
    allocator = Allocator()
    cuda = module.torch.cuda
    monkeypatch.setattr(cuda, "memory_allocated", lambda: allocator.allocated)
    monkeypatch.setattr(cuda, "memory_reserved", lambda: allocator.reserved)
    monkeypatch.setattr(cuda, "max_memory_allocated", lambda: allocator.peak)
    monkeypatch.setattr(cuda, "reset_peak_memory_stats", allocator.reset_peak)
    return allocator


def test_importing_the_harness_imports_nothing_of_the_compiler() -> None:
    code = "import sys, _harness; print([m for m in sys.modules if m in ('torch._dynamo', "
    code += "'torch._inductor', 'triton')])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    run = [sys.executable, "-c", code]
    output = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert output.stdout == "[]\n"


def test_the_start_of_the_compiler_has_an_empty_cache_and_does_not_wait_for_its_workers(
    module: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor.async_compile import AsyncCompile

    folders = []

    def compile_sine(_function: object) -> Callable[..., Any]:
        folders.append(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]))
        assert not [*folders[0].iterdir()]
        return clock.work(7.0)

    monkeypatch.setattr(AsyncCompile, "wait_pool_ready", clock.work(20.0))
    monkeypatch.setattr(module.torch, "compile", compile_sine)
    assert module.Bench().start_up == pytest.approx(7)
    assert not folders[0].exists()


@pytest.mark.parametrize(
    ("capability", "has_triton", "used"),
    [
        ((9, 0), True, "torch.bfloat16 on cuda"),
        ((7, 5), True, "torch.float32 on cuda"),
        ((9, 0), False, "torch.float32 on cpu"),
        ((6, 1), True, "torch.float32 on cpu"),
    ],
)
def test_a_gpu_is_used_where_triton_can_and_that_is_said(
    module: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    capability: tuple[int, int],
    has_triton: bool,
    used: str,
) -> None:
    cuda = module.torch.cuda
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(
        module.importlib.util, "find_spec", lambda _name: object() if has_triton else None
    )
    monkeypatch.setattr(cuda, "Stream", lambda: None)
    monkeypatch.setattr(module.Bench, "load_cublas", lambda _self: None)
    monkeypatch.setattr(module.Bench, "measure_start_up", lambda _self: None)
    bench = module.Bench()
    assert f"{bench.dtype} on {bench.device.type}" == used
    asked = capability if has_triton else (0, 0)
    assert f": {used}.\nGPU capability {asked}; Triton needs (7, 0)" in capsys.readouterr().out


def test_figures_are_those_of_the_clock(bench: Any, clock: Clock) -> None:
    variants = {"eager": clock.work(0.004), "compiled": clock.work(0.001, first=2.0, graphs=1)}
    table = bench.compare("sum", variants, limit=0.0005, rehearse=False)
    assert table.wall.tolist() == pytest.approx([0.004, 0.001])
    assert table.first_call["compiled"] == pytest.approx(2.001)
    assert table.first_call.isna()["eager"]  # where nothing compiles, it is no cost of a variant
    assert table.speedup["compiled"] == pytest.approx(4)
    assert table.share.tolist() == pytest.approx([0.125, 0.5])
    assert table.break_even["compiled"] == pytest.approx((7 + 2) / 0.003)
    assert table.loc["eager", ["speedup", "break_even"]].isna().all()


def test_no_figure_includes_the_wait_for_processes_that_compile(
    bench: Any, module: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All variants find them ready, whichever is called first."""
    began = clock.now
    ready_at = []

    def wait() -> None:
        clock.now += 20.0
        ready_at.append(clock.now)

    monkeypatch.setattr(module, "wait_for_workers", wait)
    variants = {"compiled": clock.work(0.001, first=2.0, graphs=1)}
    table = bench.compare("sum", variants, rehearse=False)
    assert ready_at == [pytest.approx(began + 20)]  # before the first call
    assert table.first_call["compiled"] == pytest.approx(2.001)


def test_what_does_not_compile_or_gains_nothing_has_no_break_even(bench: Any, clock: Clock) -> None:
    for seconds, graphs in ((0.001, 0), (0.004, 1), (0.008, 1)):
        variants = {"eager": clock.work(0.004), "other": clock.work(seconds, 0.1, graphs)}
        assert "break_even" not in bench.compare("sum", variants, rehearse=False)


def test_a_speedup_is_the_median_of_the_ratios_of_rounds(
    bench: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "warm_up", lambda functions: dict.fromkeys(functions, 1))

    def take(*seconds: float) -> Callable[[], None]:
        durations = iter([1.0, 1.0, 1.0, *seconds])  # the first three are first calls

        def call() -> None:
            clock.now += next(durations)

        return call

    variants = {"eager": take(1, 2, 9), "compiled": take(1, 2 / 3, 2)}
    table = bench.compare("sum", variants, rehearse=False, rounds=3)
    assert table.wall.tolist() == pytest.approx([2, 1])
    assert table.speedup["compiled"] == pytest.approx(3)  # of 1, 3 and 4.5


@pytest.mark.parametrize(("replicate", "order"), [(0, "abc"), (1, "bca"), (5, "cab")])
def test_variants_take_turns_and_each_replicate_begins_with_another(
    bench: Any,
    module: Any,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    replicate: int,
    order: str,
) -> None:
    monkeypatch.setattr(module, "REPLICATE", replicate)
    called: list[str] = []

    def make(name: str) -> Callable[[], None]:
        def call() -> None:
            called.append(name)
            clock.now += 0.06  # longer than a sample, which then has one call

        return call

    table = bench.compare("sum", {name: make(name) for name in "abc"}, rounds=10)
    assert "".join(called[-30:]) == 10 * order
    assert [*table.index] == [*"abc"]


def test_warming_up_goes_on_until_batches_agree(gpu: Any, clock: Clock) -> None:
    gpu.warm_up_seconds, began = (1, 3), clock.now

    def faster() -> None:  # for a second and a half
        clock.now += 0.02 + max(0.0, 0.02 * (began + 1.5 - clock.now))

    gpu.warm_up({"faster": faster})
    assert 1.5 < clock.now - began < 2


@pytest.mark.parametrize("seconds", [0.00002, 0.0013, 0.04, 0.3])
def test_each_sample_lasts_as_long(bench: Any, clock: Clock, seconds: float) -> None:
    calls = bench.warm_up({"work": clock.work(seconds)})["work"]
    assert abs(calls * seconds - 0.05) <= seconds / 2 or calls == 1


def test_variants_that_disagree_are_named(bench: Any, clock: Clock, module: Any) -> None:
    ones = module.torch.ones(3)
    variants = {
        "eager": clock.work(0.004, result=ones),
        "near": clock.work(0.004, result=ones + 0.001),
        "far": clock.work(0.004, result=ones + 0.1),
    }
    with pytest.raises(AssertionError, match="sum: far and eager disagree"):
        bench.compare("sum", variants, tolerance=0.01)
    del variants["far"]
    bench.compare("sum", variants, tolerance=0.01)


def test_the_error_of_variants_that_disagree_names_the_line_that_compares(
    bench: Any, clock: Clock, module: Any
) -> None:
    from IPython.core.ultratb import VerboseTB

    variants = {
        name: clock.work(0.004, result=module.torch.ones(value))
        for name, value in {"eager": 3, "other": 2}.items()
    }
    try:
        bench.compare("sum", variants, tolerance=0.01, rehearse=False)
    except AssertionError as error:
        text = VerboseTB(theme_name="nocolor").text(type(error), error, error.__traceback__)
    assert f"/{SOURCE.name}:" not in text
    assert 'bench.compare("sum", variants, tolerance=0.01, rehearse=False)' in text


def test_results_are_compared_part_by_part(bench: Any, clock: Clock, module: Any) -> None:
    """The first variant writes to the same tensor in each call, as a CUDA graph does."""
    place = module.torch.ones(3)

    def overwrite() -> dict[str, Any]:
        place.add_(1)
        return {"loss": place, "parts": [1, place]}

    other = module.torch.full((3,), 4.0)
    same = {"loss": other, "parts": [1, other]}
    differs = {"loss": other, "parts": [1, other + 1]}
    variants = {"graph": overwrite, "same": clock.work(0.1, result=same)}
    variants["differs"] = clock.work(0.1, result=differs)
    with pytest.raises(AssertionError, match="sum: differs and graph disagree"):
        bench.compare("sum", variants, tolerance=0.01, rehearse=False)


def test_the_smallest_size_is_rehearsed_and_counts_for_nobody(bench: Any, clock: Clock) -> None:
    made, loaded = [], clock.work(0.0, first=3.0, graphs=1)

    def variants(size: int) -> dict[str, Callable[[], object]]:
        made.append(size)
        return {"eager": lambda: (loaded(), clock.work(0.001 * size)())}

    table = bench.compare("sum", variants, sizes=("layers", [8, 2, 4]))
    assert made == [2, 8, 2, 4]
    assert table.wall.tolist() == pytest.approx([0.008, 0.002, 0.004])
    assert "first_call" not in table


def test_rows_are_published_with_what_sizes_count(
    bench: Any, clock: Clock, rows: list[dict[str, Any]]
) -> None:
    variants = {"eager": clock.work(0.004), "compiled": clock.work(0.001, 2.0, graphs=1)}
    bench.compare("Adam", lambda _size: variants, sizes=("layers", [10]), rehearse=False)
    bench.compare("NAdam", variants)
    bench.measure("a schedule", "a number", "compilations", 8, unit="")
    first = {"case": "Adam", "variant": "eager", "size": 10, "sizes": "layers"}
    first |= {"quantity": "wall", "value": pytest.approx(0.004), "unit": "s"}
    assert rows[0] == first
    last = {"case": "a schedule", "variant": "a number", "size": None}
    assert rows[-1] == last | {"quantity": "compilations", "value": 8.0, "unit": ""}
    units = {(row["case"], row["variant"], row["quantity"]): row["unit"] for row in rows}
    assert units["Adam", "compiled", "break_even"] == "calls"
    assert units["NAdam", "compiled", "speedup"] == "x"


@pytest.fixture
def published(module: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return what is published for programs in Jupyter from now on, by MIME type."""
    published: list[dict[str, Any]] = []
    display = types.SimpleNamespace(
        display=lambda value, raw=False: published.append(value) if raw else None
    )
    jupyter = types.SimpleNamespace(get_ipython=object, display=display)
    monkeypatch.setattr(module, "IPYTHON", jupyter)
    return published


def test_a_comparison_publishes_what_its_table_shows(
    bench: Any, clock: Clock, module: Any, published: list[dict[str, Any]]
) -> None:
    variants = {"eager": clock.work(0.004), "compiled": clock.work(0.001, 2.0, graphs=1)}
    bench.compare("Adam", variants, rehearse=False)
    bench.measure("a schedule", "a number", "compilations", 8, unit="")
    comparison, single = published
    columns = ["wall", "first_call", "speedup", "break_even"]
    assert comparison[module.ROWS]["table"] == {"case": "Adam", "quantities": columns}
    assert [*single[module.ROWS]] == ["rows"]


def test_a_picture_of_time_is_published_by_lanes(
    bench: Any, module: Any, published: list[dict[str, Any]]
) -> None:
    lanes = {"CPU": [(0.0, 0.5)], "GPU": [(0.25, 1.0), (1.5, 2.0)]}
    bench.publish_spans("one iteration", lanes)
    assert published == [{module.SPANS: {"case": "one iteration", "unit": "s", "lanes": lanes}}]


def test_spans_are_those_of_the_last_calls_and_begin_at_zero(bench: Any, module: Any) -> None:
    ones = module.torch.ones(8, 8)
    calls = []

    def double_twice() -> None:
        calls.append(ones.mul(2).mul(2))

    spans = bench.spans_of(double_twice, calls=2)
    assert [*spans] == ["CPU"]
    assert len(calls) == 3 + 3 * 2
    assert len(spans["CPU"]) == 2 * 2  # operations of two calls
    assert spans["CPU"][0][0] == 0
    assert spans["CPU"] == sorted(spans["CPU"])
    assert all(0 <= start < end < 60 for start, end in spans["CPU"])


def test_on_a_gpu_spans_are_launches_and_kernels(
    gpu: Any, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def event(name: str, device: str, start: int, end: int, annotation: bool = False) -> Any:
        return types.SimpleNamespace(
            name=name,
            device_type=types.SimpleNamespace(name=device),
            time_range=types.SimpleNamespace(start=start, end=end),
            is_user_annotation=annotation,
        )

    events = [
        event("ProfilerStep#2", "CPU", 0, 900, annotation=True),
        event("ProfilerStep#2", "CUDA", 0, 900, annotation=True),
        event("cudaGraphLaunch", "CPU", 100, 140),
        event("cudaDeviceSynchronize", "CPU", 140, 400),
        event("gemm", "CUDA", 150, 400),
    ]
    report = types.SimpleNamespace(step=lambda: None, events=lambda: events)
    monkeypatch.setattr(module, "profile", lambda **_options: contextlib.nullcontext(report))
    spans = gpu.spans_of(lambda: None)
    assert spans == {"CPU": [(0.0, 40e-6)], "GPU": [(50e-6, 300e-6)]}


def test_a_page_takes_as_many_rounds_as_a_replicate(
    bench: Any, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REPLICATE", 1)
    assert bench.rounds == module.Bench().rounds == 10


def test_a_gpu_adds_its_time_and_kernels(gpu: Any, clock: Clock) -> None:
    table = gpu.compare("sum", {"eager": clock.work(0.03), "compiled": clock.work(0.02)})
    assert table.gpu.tolist() == [0.02, 0.02]
    assert table.kernels.tolist() == [20, 20]
    assert table.cpu.tolist() == pytest.approx([0.03, 0.02])


def test_memory_is_that_of_calls_after_the_first_three(
    gpu: Any, clock: Clock, memory: Allocator
) -> None:
    """While kernels are compiled, the compiler times them with a large buffer."""
    calls: list[int] = []

    def compiled() -> None:
        clock.now += 0.02
        calls.append(len(calls))
        memory.use(62_914_560 if len(calls) <= 3 else 5000)

    table = gpu.compare("sum", {"compiled": compiled}, rehearse=False)
    assert table.memory.tolist() == [5000]


def test_kept_is_what_stays_reserved_for_each_variant(
    gpu: Any, clock: Clock, memory: Allocator
) -> None:
    def take(kept: int) -> Callable[[], None]:
        kept_once = [kept]

        def call() -> None:
            clock.now += 0.02
            memory.use(700, reserved=kept_once.pop() if kept_once else 0)

        return call

    variants = {"eager": take(0), "graph": take(2_000_000), "frees": take(-500)}
    table = gpu.compare("sum", variants, rehearse=False)
    assert table.kept.tolist() == [0, 2_000_000, 0]


def test_workspaces_that_a_variant_freed_are_back_before_memory_is_read(
    gpu: Any, clock: Clock, memory: Allocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to PyTorch 2.14, reduce-overhead frees the workspaces of cuBLAS."""
    workspace = 34_000_000

    def load() -> None:
        memory.allocated = 1000 + workspace

    monkeypatch.setattr(gpu, "load_cublas", load)

    def reduce_overhead() -> None:
        clock.now += 0.02
        if memory.allocated > 1000 and not freed:
            memory.allocated = 1000
            freed.append(True)
        memory.use(5000)

    freed: list[bool] = []
    table = gpu.compare("sum", {"reduce-overhead": reduce_overhead}, rehearse=False)
    assert table.memory.tolist() == [5000]


@pytest.mark.parametrize(("version", "captures"), [("2.11.0", 2), ("2.15.0+cu132", 0)])
def test_workspaces_of_the_capture_stream_share_a_pool_up_to_2_14(
    bench: Any, module: Any, monkeypatch: pytest.MonkeyPatch, version: str, captures: int
) -> None:
    torch, streams, pools = module.torch, [], []

    def capture(graph: Any, pool: object) -> Any:
        pools.append(pool)
        return contextlib.nullcontext()

    def enter(stream: str) -> Any:
        streams.append(stream)
        return contextlib.nullcontext()

    graph = types.SimpleNamespace(pool=lambda: "pool of the first")
    monkeypatch.setattr(torch, "__version__", torch.torch_version.TorchVersion(version))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: "current")
    monkeypatch.setattr(torch.cuda, "stream", enter)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: graph)
    monkeypatch.setattr(torch.cuda, "graph", capture)
    bench.side_stream, bench.workspaces = "side", []
    bench.load_cublas()
    bench.load_cublas()
    assert streams == 2 * ["current", "side"]
    assert pools == [None, "pool of the first"][:captures]


def test_cublas_is_loaded_forward_and_backward_where_gradients_are_off(module: Any) -> None:
    torch = module.torch
    with torch.no_grad(), torch.profiler.profile() as report:
        module.multiply(torch.device("cpu"), torch.float32)
    names = [event.name for event in report.events()]
    assert "aten::addmm" in names
    assert "MmBackward0" in names


@pytest.mark.parametrize(("kernels", "calls"), [(0, 500), (20, 25), (499, 1), (2000, 1)])
def test_cpu_time_is_taken_below_a_full_queue_and_without_waiting(
    gpu: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch, kernels: int, calls: int
) -> None:
    taken, time = [], gpu.time

    def note(function: Any, calls: int = 1, wait: bool = True) -> Any:
        if not wait:
            taken.append(calls)
        return time(function, calls, wait)

    monkeypatch.setattr(gpu, "warm_up", lambda _functions: {"eager": 1000})
    monkeypatch.setattr(gpu, "profile", lambda _function, _calls: (0.02, float(kernels)))
    monkeypatch.setattr(gpu, "time", note)
    gpu.compare("sum", {"eager": clock.work(0.00001)}, rounds=3)
    assert taken == 3 * [calls]

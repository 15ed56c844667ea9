"""The harness of the recipes, on a clock that only the functions under test move."""

import importlib.util
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
    monkeypatch.setattr(found.AsyncCompile, "wait_pool_ready", lambda: None)
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
        if raw:
            published.extend(value[module.ROWS]["rows"])

    jupyter = types.SimpleNamespace(
        get_ipython=object, display=types.SimpleNamespace(display=display)
    )
    monkeypatch.setattr(module, "IPYTHON", jupyter)
    return published


@pytest.fixture
def gpu(bench: Any, module: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the harness as on a GPU, where each call has 20 kernels of a millisecond."""
    monkeypatch.setattr(module.torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(module.torch.cuda, "memory_allocated", lambda: 1000)
    monkeypatch.setattr(module.torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(module.torch.cuda, "max_memory_allocated", lambda: 1500)
    monkeypatch.setattr(bench, "profile", lambda function, calls: (function(), (0.02, 20.0))[1])
    bench.gpu = True
    return bench


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
    monkeypatch.setattr(module.torch.utils._triton, "has_triton_package", lambda: has_triton)
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


def test_a_gpu_adds_its_time_kernels_and_memory(gpu: Any, clock: Clock) -> None:
    table = gpu.compare("sum", {"eager": clock.work(0.03), "compiled": clock.work(0.02)})
    assert table.gpu.tolist() == [0.02, 0.02]
    assert table.kernels.tolist() == [20, 20]
    assert table.memory.tolist() == [500, 500]
    assert table.cpu.tolist() == pytest.approx([0.03, 0.02])


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

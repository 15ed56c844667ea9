"""The harness of the recipes, on a clock that only the functions under test move."""

import contextlib
import gc
import importlib.util
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recipe_gallery.recipes.rows import MIME, Published, parse

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "recipes_source/_bench.py"


class Clock:
    """A clock that stands still but for what functions take."""

    def __init__(self) -> None:
        self.now = 100.0
        self.counters: Any = {}  # of the compiler

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float, first: float = 0.0, graphs: int = 0) -> Callable[..., None]:
        """Return a function that takes some seconds, the first time more, as one that compiles."""
        fresh = [True]

        def call(*_arguments: object) -> None:
            self.now += seconds + first * fresh[0]
            self.counters["stats"]["unique_graphs"] += graphs * fresh[0]
            fresh[0] = False

        return call


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Any:
    spec = importlib.util.spec_from_file_location("_bench", SOURCE)
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    clock.counters = found.torch._dynamo.utils.counters
    monkeypatch.setattr(found.benchmark, "timer", clock)
    monkeypatch.setattr(found.torch, "compile", lambda _fn: clock.work(7.0))
    monkeypatch.setattr(found.AsyncCompile, "wait_pool_ready", lambda: None)
    monkeypatch.setattr(found.torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("RECIPE_REPLICATE", raising=False)
    return found


@pytest.fixture
def bench(module: Any) -> Any:
    return module.Bench()


@pytest.fixture
def published(module: Any, monkeypatch: pytest.MonkeyPatch) -> list[Published]:
    """Return what is displayed in Jupyter under the type for rows and claims."""
    shown: list[Published] = []

    def show(value: Any, raw: bool = False) -> None:
        if raw:
            shown.append(parse(value[MIME]))

    jupyter = types.SimpleNamespace(get_ipython=object)
    monkeypatch.setattr(module, "IPYTHON", jupyter)
    monkeypatch.setattr(module, "show", show)
    return shown


def test_the_harness_stays_short() -> None:
    assert len(SOURCE.read_text().splitlines()) <= 110


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capability", "device", "dtype"),
    [
        (None, "cpu", "float32"),
        ((6, 1), "cpu", "float32"),
        ((7, 5), "cuda", "float32"),
        ((9, 0), "cuda", "bfloat16"),
    ],
)
def test_what_the_machine_can_use_is_chosen_and_said(
    module: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    capability: tuple[int, int] | None,
    device: str,
    dtype: str,
) -> None:
    if capability:
        monkeypatch.setattr(module.torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(module.torch.cuda, "get_device_capability", lambda: capability)
        monkeypatch.setattr(module.torch, "ones", lambda _n, device: None)
        monkeypatch.setattr(module.torch.utils._triton, "has_triton_package", lambda: True)
    bench = module.Bench()
    assert (bench.device.type, str(bench.dtype)) == (device, f"torch.{dtype}")
    said = capsys.readouterr().out
    assert f"torch.{dtype} on {device}" in said
    assert f"capability {capability or (0, 0)}" in said


@pytest.mark.slow
def test_without_triton_it_is_the_cpu(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(module.torch.utils._triton, "has_triton_package", lambda: False)
    assert module.Bench().device.type == "cpu"


def test_first_calls_stand_apart_and_the_break_even_charges_them_with_the_start(
    bench: Any, clock: Clock
) -> None:
    arms = {"eager": clock.work(0.004), "compiled": clock.work(0.001, first=2.0, graphs=1)}
    table = bench.compare("sum", arms, limit=0.0005)
    assert table.wall.tolist() == pytest.approx([0.004, 0.001])
    assert table.first_call["compiled"] == pytest.approx(2.001)
    assert table.first_call.isna()["eager"]  # where nothing compiles, it is no cost of an arm
    assert table.speedup["compiled"] == pytest.approx(4)
    assert table.share.tolist() == pytest.approx([0.125, 0.5])
    assert table.break_even["compiled"] == pytest.approx((7 + 2) / 0.003)
    assert table.loc["eager", ["speedup", "break_even"]].isna().all()


@pytest.mark.parametrize(
    ("replicate", "asked", "rounds"), [("0", 40, 40), ("3", 40, 20), ("0", 6, 6), ("3", 3, 2)]
)
def test_a_replicate_takes_half_the_rounds_of_a_page(
    bench: Any,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    replicate: str,
    asked: int,
    rounds: int,
) -> None:
    monkeypatch.setenv("RECIPE_REPLICATE", replicate)
    monkeypatch.setattr(bench, "warm_up", lambda _fn, _least: 7)
    monkeypatch.setattr(bench, "profile", lambda _fn: (0.001, 1))
    bench.gpu = True
    timed, time = [], bench.time
    monkeypatch.setattr(
        bench, "time", lambda fn, calls=1: (timed.append(calls), time(fn, calls))[1]
    )
    bench.compare("sum", {"eager": clock.work(0.004)}, rounds=asked)
    assert timed.count(7) == rounds


@pytest.mark.parametrize("least", [0.0, -0.7])
def test_warming_up_for_no_time_is_refused(bench: Any, clock: Clock, least: float) -> None:
    with pytest.raises(AssertionError, match="no seconds to warm up"):
        bench.warm_up(clock.work(0.01), least)


@pytest.mark.parametrize("rounds", [3, 6, 40])
def test_every_comparison_warms_up_however_short_it_is(
    bench: Any, clock: Clock, rounds: int
) -> None:
    began = clock.now

    def settling() -> None:
        clock.now += 0.02 if clock.now < began + 0.07 else 0.01

    table = bench.compare("sum", {"eager": settling}, rounds=rounds)
    assert table.wall["eager"] == pytest.approx(0.01)


def test_arms_of_a_comparison_share_a_second_of_warming_up(bench: Any, clock: Clock) -> None:
    began = clock.now
    bench.warm_up(clock.work(0.01), 0.25)
    assert 0.25 < clock.now - began < 0.35


@pytest.mark.parametrize(("seconds", "graphs"), [(0.001, 0), (0.004, 1), (0.008, 1)])
def test_what_does_not_compile_or_gains_nothing_has_no_break_even(
    bench: Any, clock: Clock, seconds: float, graphs: int
) -> None:
    arms = {"eager": clock.work(0.004), "other": clock.work(seconds, 0.1, graphs)}
    assert "break_even" not in bench.compare("sum", arms)


@pytest.mark.parametrize("seconds", [0.00002, 0.0013, 0.04, 0.3])
def test_each_sample_lasts_as_long(bench: Any, clock: Clock, seconds: float) -> None:
    calls = bench.warm_up(clock.work(seconds))
    assert 0.05 <= calls * seconds <= 0.05 + seconds * 1.01


def test_warming_up_goes_on_until_batches_agree(bench: Any, clock: Clock) -> None:
    began = clock.now

    def faster() -> None:  # for a second and a half
        clock.now += 0.02 + max(0.0, 0.02 * (began + 1.5 - clock.now))

    bench.warm_up(faster)
    assert 1.4 < clock.now - began < 2


def test_warming_up_ends_where_batches_never_agree(bench: Any, clock: Clock) -> None:
    began, durations = clock.now, iter([0.05, 0.1] * 1000)

    def uneven() -> None:
        clock.now += next(durations)

    bench.warm_up(uneven)
    assert 5 < clock.now - began < 5.5


@pytest.mark.parametrize(("replicate", "order"), [("0", "abc"), ("1", "bca"), ("5", "cab")])
def test_each_process_takes_the_arms_in_another_order(
    bench: Any,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    replicate: str,
    order: str,
) -> None:
    monkeypatch.setenv("RECIPE_REPLICATE", replicate)
    arms = {name: clock.work(0.06) for name in "abc"}
    names = {fn: name for name, fn in arms.items()}
    timed, time = [], bench.time
    monkeypatch.setattr(
        bench, "time", lambda fn, calls=1: (timed.append(names[fn]), time(fn, calls))[1]
    )
    table = bench.compare("sum", arms)
    assert "".join(timed[-30:]) == 10 * order
    assert [*table.index] == [*"abc"]


def test_the_rehearsal_comes_first_and_counts_for_nobody(bench: Any, clock: Clock) -> None:
    work = clock.work(0.004, first=3.0)
    table = bench.compare("sum", {"eager": work}, rehearse=work)
    assert table.wall["eager"] == pytest.approx(0.004)


def test_garbage_is_not_collected_while_timing(bench: Any, clock: Clock) -> None:
    collecting = []

    def call() -> None:
        collecting.append(gc.isenabled())
        clock.now += 0.06

    frozen = gc.get_freeze_count()
    bench.compare("sum", {"eager": call})
    assert not any(collecting)
    assert gc.isenabled()
    assert gc.get_freeze_count() <= frozen


def test_rows_and_claims_are_published_in_jupyter(
    bench: Any, clock: Clock, published: list[Published]
) -> None:
    arms = {"eager": clock.work(0.004), "max-autotune": clock.work(0.001, 2.0, graphs=1)}
    bench.compare("Adam", arms, size=100)
    bench.claim("adam-gains", 4 > 1, "4 ms against 1 ms")
    rows = {row.key: row for each in published for row in each.rows}
    assert {"adam.100.eager.wall", "adam.100.max-autotune.speedup"} < rows.keys()
    assert rows["adam.100.eager.wall"].value == pytest.approx(0.004)
    assert rows["adam.100.eager.wall"].unit == "s"
    assert rows["adam.100.max-autotune.break_even"].unit == "calls"
    assert "adam.100.eager.speedup" not in rows
    (claim,) = [claim for each in published for claim in each.claims]
    assert (claim.key, claim.holds) == ("adam-gains", True)


def test_nothing_is_published_elsewhere(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    bench.claim("adam-gains", True, "4 ms against 1 ms")
    assert capsys.readouterr().out == ""


def test_a_gpu_adds_its_time_and_its_kernels(
    bench: Any, clock: Clock, published: list[Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.gpu = True
    busy = {"eager": (0.001, 12.0), "compiled": (0.0009, 1.0)}
    arms = {"eager": clock.work(0.004), "compiled": clock.work(0.001)}
    monkeypatch.setattr(
        bench, "profile", lambda fn: next(busy[arm] for arm in arms if arms[arm] is fn)
    )
    table = bench.compare("sum", arms, limit=0.0009)
    assert table.kernels.tolist() == [12, 1]
    assert table.cpu.tolist() == pytest.approx([0.0, 0.0], abs=1e-3)  # of a real clock
    assert table.share.tolist() == pytest.approx([0.9, 1.0])  # of the GPU's time


def test_kernels_are_counted_without_annotations_and_launches(
    module: Any, bench: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def event(device: str, microseconds: float, annotation: bool = False) -> Any:
        return types.SimpleNamespace(
            device_type=types.SimpleNamespace(name=device),
            time_range=types.SimpleNamespace(elapsed_us=lambda: microseconds),
            is_user_annotation=annotation,
        )

    events = 20 * [event("CUDA", 3.0)] + [event("CPU", 9.0), event("CUDA", 60.0, True)]
    report = types.SimpleNamespace(events=lambda: events)
    monkeypatch.setattr(module, "profile", lambda **_options: contextlib.nullcontext(report))
    calls = []
    assert bench.profile(lambda: calls.append(1)) == (pytest.approx(6e-6), 2)
    assert len(calls) == 10


def test_launching_is_timed_before_the_profiler_slows_it_down(
    bench: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.gpu, order = True, []
    monkeypatch.setattr(bench, "profile", lambda fn: (order.append("profile"), (1e-3, 1))[1])
    arms = {name: lambda: order.append("call") or clock.work(0.01)() for name in "ab"}
    bench.compare("sum", arms)
    assert order[-2:] == ["profile", "profile"]
    assert order.index("profile") == len(order) - 2


def test_arms_that_take_long_are_not_profiled(
    bench: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.gpu = True
    monkeypatch.setattr(bench, "profile", lambda _fn: pytest.fail("profiled"))
    assert {*bench.compare("sum", {"eager": clock.work(2.0)}, rounds=3)} == {"wall"}


def test_the_start_of_the_compiler_is_a_row(module: Any, published: list[Published]) -> None:
    module.Bench()
    (row,) = [row for each in published for row in each.rows]
    assert (row.key, row.unit) == ("process.compiler.start_up", "s")
    assert row.value == pytest.approx(7)


def test_a_table_names_its_case(
    bench: Any, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.compare("Adam", {"eager": clock.work(0.004)}, 10)
    assert capsys.readouterr().out.split()[-6:-4] == ["Adam", "10"]


def test_a_table_shows_milliseconds(
    bench: Any, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.compare("sum", {"eager": clock.work(0.004)})
    shown = capsys.readouterr().out
    assert "wall (ms)" in shown
    assert shown.split()[-2:] == ["eager", "4"]


def test_what_has_no_figure_is_empty_in_the_table(
    bench: Any, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.compare("sum", {"eager": clock.work(0.004), "other": clock.work(0.002)})
    assert "NaN" not in capsys.readouterr().out


@pytest.mark.slow
def test_real_code_is_compiled_and_compared(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    torch = module.torch
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    # The compiler tries nothing out, and starts no processes; it has read its variables already.
    config = torch._inductor.config
    monkeypatch.setattr(config.cpp, "vec_isa_ok", True)
    monkeypatch.setattr(config, "compile_threads", 1)
    x = torch.randn(300, 300)

    def work() -> Any:
        return (x.sin() + x.cos()).sum()

    bench = module.Bench()
    table = bench.compare("sum", {"eager": work, "compiled": torch.compile(work)}, rounds=8)
    assert {"wall", "first_call", "speedup"} <= {*table}
    assert bench.start_up > 0

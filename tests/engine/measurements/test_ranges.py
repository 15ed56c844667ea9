"""Values and ranges of measurements: what hosts have shown, and where a further one will fall."""

import math
import random

import pytest

from sphinx_recorded_gallery.measurements.processes import measure_all, suggest_keys
from sphinx_recorded_gallery.measurements.ranges import Measurement, measure
from sphinx_recorded_gallery.measurements.replicates import Process
from sphinx_recorded_gallery.measurements.rows import Row


def row(value: float, quantity: str = "gpu", unit: str = "s", variant: str = "a") -> Row:
    known = {"case": "c", "size": None, "unit": unit, "quantity": quantity}
    return Row(**known, variant=variant, value=value)


def found(*hosts: list[float], quantity: str = "gpu", unit: str = "s") -> Measurement:
    """Return what was measured, from the values of the processes of each host."""
    processes = [
        (str(number), [row(value, quantity, unit)])
        for number, values in enumerate(hosts)
        for value in values
    ]
    return next(iter(measure(processes).values()))


def test_what_the_host_bounds_has_the_range_that_hosts_have_shown() -> None:
    """Milliseconds of an eager BERT: one host of five is slow."""
    seen = found([2.05], [3.6, 4.2], [2.02], [2.08], [2.03], quantity="wall")
    assert (seen.value, seen.low, seen.high) == (2.05, 2.02, 3.9)
    assert not seen.is_predicted


def test_what_the_gpu_bounds_is_predicted_from_three_hosts_on() -> None:
    """By Student's t for 4 degrees of freedom: 2.776 times s times the root of 1.2."""
    hosts = [[1.00], [1.01], [1.02], [1.03], [1.04]]
    known = found(*hosts)
    center = math.exp(sum(math.log(value) for (value,) in hosts) / 5)
    deviation = math.sqrt(sum((math.log(value / center)) ** 2 for (value,) in hosts) / 4)
    half = 2.776 * deviation * math.sqrt(1.2)
    assert known.is_predicted
    assert known.low == pytest.approx(center * math.exp(-half), rel=1e-5)
    assert known.high == pytest.approx(center * math.exp(half), rel=1e-5)
    two = found(*hosts[:2])
    assert (two.low, two.high, two.is_predicted) == (1.0, 1.01, False)
    apart = found([1e6], [1e6], [40e6], quantity="memory", unit="B")  # of another kernel's room
    assert (apart.low, apart.high, apart.is_predicted) == (1e6, 40e6, False)


@pytest.mark.parametrize("hosts", [3, 5, 9])
def test_of_further_hosts_95_of_100_fall_into_a_prediction(hosts: int) -> None:
    chance = random.Random(1)
    inside, runs = 0, 1500
    for _ in range(runs):
        *known, further = ([3 * math.exp(chance.gauss(0, 0.01))] for _ in range(hosts + 1))
        expected = found(*known)
        inside += expected.low <= further[0] <= expected.high
    assert inside / runs == pytest.approx(0.95, abs=0.02)


def test_one_host_shows_the_range_of_its_processes() -> None:
    one = found([3.0, 2.0, 7.0])
    assert (one.low, one.value, one.high, one.hosts) == (2.0, 3.0, 7.0, 1)
    assert not one.is_predicted


def test_wall_time_is_the_gpus_where_it_is_near_to_it_and_ends_at_it() -> None:
    def both(factor: float) -> Measurement:
        values = [1.0, 1.001, 1.02, 1.03]
        processes = [
            (str(n), [row(each), row(each * factor, "wall")]) for n, each in enumerate(values)
        ]
        processes[0][1][1] = row(0.95 * factor, "wall")  # spreads more than GPU time
        return measure(processes)["c.a.wall"]

    near, far = both(1.02), both(1.4)
    assert near.is_predicted
    assert not far.is_predicted
    gpu = found([1.0], [1.001], [1.02], [1.03])
    assert near.low == gpu.low
    assert near.low <= near.value <= near.high


@pytest.mark.parametrize(("factor", "is_predicted"), [(1.02, True), (1.4, False)])
def test_a_speedup_is_predicted_where_both_wall_times_are_the_gpus(
    factor: float, is_predicted: bool
) -> None:
    rows = [row(1.0), row(factor, "wall"), row(2.0, variant="b"), row(2.0, "wall", variant="b")]
    processes = [(host, [*rows, row(1.9, "speedup", "x")]) for host in "123"]
    assert measure(processes)["c.a.speedup"].is_predicted == is_predicted


def test_a_share_of_the_limit_is_the_gpus_and_a_part_of_a_run_is_not() -> None:
    def share(*values: float) -> Measurement:
        rows = [[row(1.0), row(each, "share", "share")] for each in values]
        return measure([*zip("1234", rows, strict=True)])["c.a.share"]

    known = share(0.97, 0.99, 0.96, 0.97)
    assert known.is_predicted
    assert known.high == 1.0
    assert share(1.02, 1.04, 1.01, 1.02).high > 1  # data that stays in a cache
    part = found([0.97], [0.99], [0.96], [0.97], quantity="data_share", unit="share")
    assert not part.is_predicted


@pytest.mark.parametrize(
    ("hosts", "unit", "is_exact"),
    [
        ([[1234567, 1234567], [1234567], [1234567]], "", True),
        ([[1002, 1002], [1003], [1002]], "", False),
        ([[2, 2], [2], [2]], "ms", False),
    ],
)
def test_what_all_counted_alike_is_that_number(
    hosts: list[list[float]], unit: str, is_exact: bool
) -> None:
    known = found(*hosts, quantity="kernels", unit=unit)
    assert (known.low == known.value == known.high) == is_exact


def compare(*processes: tuple[str, list[Row]], quantity: str = "wall") -> Measurement | None:
    made = [
        Process(replicate=n, host=host, rows=tuple(rows))
        for n, (host, rows) in enumerate(processes)
    ]
    return measure_all(made).find_ratio(f"c.a.{quantity}", f"c.b.{quantity}")


def test_a_ratio_is_of_both_in_one_process() -> None:
    """Processes differ by a factor of two, and their ratios by no more than a hundredth."""
    pace = [("h1", 1.0), ("h1", 2.0), ("h1", 1.4), ("h2", 0.7), ("h2", 1.9), ("h3", 1.1)]
    lag = iter([0.99, 1.0, 1.01, 1.0, 0.995, 1.005])
    processes = [
        (host, [row(each * next(lag) / 3, "wall"), row(each, "wall", variant="b")])
        for host, each in pace
    ]
    ratio = compare(*processes, ("h3", [row(9.0, "wall")]))  # the last has but one of them
    assert ratio
    assert (ratio.processes, ratio.hosts, ratio.unit) == (6, 3, "x")
    assert 0.99 / 3 < ratio.low < ratio.value < ratio.high < 1.01 / 3
    assert not ratio.is_predicted


def test_what_one_process_alone_compared_is_paired_with_what_it_measured_beside() -> None:
    processes = []
    for number, (host, baseline) in enumerate([("h1", 2.0), ("h2", 4.0), ("h3", 6.0)]):
        rows = [row(baseline, "wall")]
        if host == "h1":
            rows.append(row(1.0, "wall", variant="b"))
        processes.append(Process(replicate=number, host=host, rows=tuple(rows)))
    measurements = measure_all(processes)
    assert measurements.by_key["c.a.wall"].value == 4.0
    paired = measurements.find_paired("c.a.wall", "c.b.wall")
    assert (paired.value, paired.processes) == (2.0, 1)
    with pytest.raises(KeyError):
        measurements.find_paired("c.a.wall", "c.none.wall")


def test_what_no_process_has_both_of_has_no_ratio() -> None:
    apart = ("1", [row(2.0, "wall")]), ("2", [row(1.0, "wall", variant="b")])
    assert compare(*apart) is None
    assert compare(("1", [row(2.0, "wall"), row(0.0, "wall", variant="b")])) is None
    assert compare(("1", [row(0.0, "wall"), row(1.0, "wall", variant="b")])) is None


@pytest.mark.parametrize(
    ("key", "best"),
    [
        ("2.compiled.wall", "squares.2.fast.wall"),  # the variant was renamed
        ("squares.2.fast.wal", "squares.2.fast.wall"),
        ("squars.4.fast.wall", "squares.4.fast.wall"),
        ("start-up", "process.compiler.start_up"),
    ],
)
def test_a_missing_key_suggests_those_that_share_its_parts(key: str, best: str) -> None:
    keys = ["process.compiler.start_up", "squares.2.fast.wall", "squares.4.fast.wall"]
    assert suggest_keys(key, keys).removeprefix("; similar: ").split(", ")[0] == best


def test_nothing_is_suggested_for_a_key_that_is_like_no_other() -> None:
    assert suggest_keys("zzz.qqq", ["squares.2.fast.wall"]) == ""

"""Where another recording's figures fall: simulated, and as three hosts were seen to differ."""

import math
import random
from collections.abc import Callable
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe_gallery.recipes.measurements import Figure
from recipe_gallery.recipes.rows import Row
from recipe_gallery.record.replicates.intervals import compute_figures, compute_ratios

PROCESSES = 5


def row(value: float, arm: str = "a", unit: str = "ms", spread_class: str = "gpu") -> Row:
    named = {"case": "c", "size": None, "quantity": "time", "unit": unit}
    return Row(arm=arm, value=value, spread_class=spread_class, **named)


def figures_of(*hosts: list[float], **named: str) -> Figure:
    """Return the figure of one row, from the values of the processes of each host."""
    processes = [(str(n), [row(each, **named)]) for n, host in enumerate(hosts) for each in host]
    return next(iter(compute_figures(processes).values()))


def coverage(
    hosts: int,
    ratio: float,
    noise: Callable[[random.Random], float],
    seed: int = 1,
    runs: int = 300,
) -> float:
    """Return how many figures of a further recording on another host fall into their intervals.

    Four figures of a class share most of what a host does to them, as they do on real hosts;
    ``ratio`` is the spread of hosts over that of processes, which is 1 %.
    """
    chance = random.Random(seed)
    arms, spread = ["a", "b", "c", "d"], 0.01
    inside = 0
    for _ in range(runs):

        def measure(host: str) -> list[tuple[str, list[Row]]]:
            shared = chance.gauss(0, 1)
            mixed = [math.sqrt(0.7) * shared + math.sqrt(0.3) * chance.gauss(0, 1) for _ in arms]
            return [
                (
                    host,
                    [
                        row(3 * math.exp(spread * (ratio * effect + noise(chance))), arm)
                        for arm, effect in zip(arms, mixed, strict=True)
                    ],
                )
                for _ in range(PROCESSES)
            ]

        stated = compute_figures(each for host in range(hosts) for each in measure(str(host)))
        later = measure("another")
        for number, arm in enumerate(arms):
            value = median(rows[number].value for _host, rows in later)
            inside += stated[f"c.{arm}.time"].low <= value <= stated[f"c.{arm}.time"].high
    return inside / (runs * len(arms))


def normal(chance: random.Random) -> float:
    return chance.gauss(0, 1)


def heavy(chance: random.Random) -> float:
    """One process of ten is disturbed."""
    return chance.gauss(0, 1 if chance.random() < 0.9 else 5)


@pytest.mark.parametrize("hosts", [1, 2, 3, 5])
@pytest.mark.parametrize(("ratio", "noise"), [(0, normal), (3, normal), (5, normal), (5, heavy)])
def test_later_figures_on_another_host_fall_inside(
    hosts: int, ratio: float, noise: Callable[[random.Random], float]
) -> None:
    assert coverage(hosts, ratio, noise) > 0.955


@pytest.mark.parametrize(("hosts", "least"), [(2, 0.93), (3, 0.96)])
def test_with_two_hosts_it_holds_for_hosts_that_differ_by_more_than_was_seen(
    hosts: int, least: float
) -> None:
    assert coverage(hosts, 15.0, normal) > least


def test_one_host_cannot_tell_that_hosts_differ_by_more_than_was_seen() -> None:
    assert coverage(1, 15.0, normal) < 0.75  # why CONTRIBUTING asks for two hosts


# Milliseconds of three hosts, Adam in seven recordings; of the third, three processes.
SEEN = {
    "wall, foreach": (0.244, 0.245, [0.243, 0.243, 0.243]),
    "wall, fused": (0.0847, 0.0852, [0.0852, 0.0855, 0.0855]),
    "wall, compiled, 10 layers": (0.103, 0.113, [0.131, 0.134, 0.128]),
    "GPU, compiled, 10 layers": (0.0725, 0.0719, [0.0716, 0.0713, 0.0717]),
    "wall, compiled, 100 layers": (0.754, 0.787, [0.910, 0.952, 0.872]),
    "GPU, compiled, 100 layers": (0.710, 0.709, [0.707, 0.704, 0.707]),
    "first call, 100 layers": (10.3, 12.7, [14.1, 16.1, 14.3]),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_two_hosts_measured_falls_into_the_interval_of_the_third(name: str) -> None:
    *others, third = SEEN[name]
    stated = figures_of(third)
    assert all(stated.low <= value <= stated.high for value in others)


def test_what_the_gpu_bounds_gets_a_narrow_interval_and_what_the_host_does_a_wide_one() -> None:
    widths = {
        name: figures_of([one], [two], three).width for name, (one, two, three) in SEEN.items()
    }
    assert widths["GPU, compiled, 100 layers"] < 0.03
    assert widths["wall, fused"] < 0.03
    assert 0.2 < widths["wall, compiled, 10 layers"] < 0.8


def test_the_value_is_the_median_of_processes_and_hosts_count_alike() -> None:
    assert figures_of([1.0, 9.0, 2.0]).value == 2.0
    two = figures_of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [4.0])
    assert (two.value, two.processes, two.hosts) == (2.0, 7, 2)
    assert figures_of([2.05], [3.6, 4.2], [2.02], [2.08], [2.03]).value == 2.05  # one host is slow


def test_no_interval_is_narrower_than_half_a_percent() -> None:
    hosts = [[2.0, 2.0, 2.0] for _ in range(20)]
    assert (figures_of(*hosts).low, figures_of(*hosts).high) == (1.99005, 2.01)
    assert 0.01 < figures_of(hosts[0]).width < 0.02  # another host may differ by more


def test_a_class_pools_its_spread() -> None:
    calm, noisy = [1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.1, 0.9, 1.2, 1.0]

    def widths(*classes: str) -> list[float]:
        processes = [
            (
                "h",
                [row(a, "calm", spread_class=classes[0]), row(b, "noisy", spread_class=classes[1])],
            )
            for a, b in zip(calm, noisy, strict=True)
        ]
        found = compute_figures(processes)
        return [found["c.calm.time"].width, found["c.noisy.time"].width]

    (alone, noisy_alone), (together, noisy_together) = widths("x", "y"), widths("x", "x")
    assert alone < 0.02
    assert together > 0.2
    assert noisy_together == noisy_alone  # it does not borrow calm


def test_a_figure_of_one_host_takes_the_spread_of_hosts_from_its_class() -> None:
    def width(once_class: str) -> float:
        processes = [
            (host, [row(value * step, "many", spread_class="x")])
            for host, value in (("1", 1.0), ("2", 2.0), ("3", 4.0))
            for step in (0.999, 1.0, 1.001)
        ]
        processes[0][1].append(row(5.0, "once", spread_class=once_class))
        return compute_figures(processes)["c.once.time"].width

    assert width("x") > 5
    assert width("y") < 1.5  # nothing is known: a factor of about two


def test_one_process_alone_gets_the_supposed_spread() -> None:
    alone = figures_of([3.0])
    assert (alone.value, alone.processes, alone.hosts) == (3.0, 1, 1)
    assert 1.3 < alone.low < 2.0 < 4.0 < alone.high < 7.0


def test_what_is_always_zero_is_zero() -> None:
    zero = figures_of([0, 0, 0], [0])
    assert (zero.value, zero.low, zero.high, zero.width) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("hosts", "unit", "is_exact"),
    [
        ([[1234567, 1234567], [1234567]], "", True),
        ([[1002]], "", False),  # who knows what others count
        ([[1002, 1002], [1003]], "", False),
        ([[33.1, 33.1]], "", False),
        ([[1002, 1002], [1002]], "calls", False),  # to break even: computed from times
        ([[2, 2], [2]], "ms", False),
    ],
)
def test_what_all_processes_counted_alike_is_exact(
    hosts: list[list[float]], unit: str, is_exact: bool
) -> None:
    figure = figures_of(*hosts, unit=unit)
    assert (figure.low == figure.value == figure.high) == is_exact


def test_a_part_of_a_whole_is_no_more_than_the_whole() -> None:
    part = figures_of([0.58, 0.6], [0.61, 0.4], unit="share")
    assert part.low < 0.4
    assert part.high == 1.0
    assert figures_of([0.58, 0.6], [0.61, 0.4], unit="x").high > 1


def test_the_share_of_a_limit_may_pass_it() -> None:
    named = {"case": "c", "size": None, "arm": "a", "quantity": "share", "unit": "share"}
    values = [("a", 0.97), ("a", 0.98), ("b", 0.95)]
    processes = [(host, [Row(value=v, spread_class="share", **named)]) for host, v in values]
    assert compute_figures(processes)["c.a.share"].high > 1


def test_what_is_sometimes_zero_has_an_interval_from_zero() -> None:
    some = figures_of([0, 1, 2, 3, 4])
    assert some.value == 2
    assert some.low == 0
    assert 4 < some.high < 100
    assert some.width == math.inf


def test_the_order_of_processes_changes_nothing() -> None:
    processes = [(str(n % 2), [row(1 + n / 7), row(2 + n, "b")]) for n in range(7)]
    assert compute_figures(processes) == compute_figures(processes[::-1])


@given(
    st.lists(
        st.lists(st.just(0.0) | st.floats(1e-15, 1e15), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    )
)
def test_any_values_have_an_interval_that_can_be_stored(hosts: list[list[float]]) -> None:
    found = figures_of(*hosts)
    assert 0 <= found.low <= found.value <= found.high <= 1e15
    assert all(math.isfinite(each) for each in (found.low, found.value, found.high))


def test_ratios_are_of_both_arms_in_one_process() -> None:
    """Processes differ by a factor of two, and their arms by no more than a hundredth."""
    pace = {"h1": [1.0, 2.0, 1.4], "h2": [0.7, 1.9, 1.1]}
    lag = iter([0.99, 1.0, 1.01, 1.0, 0.995, 1.005])
    processes = [
        (host, [row(each, "slow", "s"), row(each * next(lag) / 3, "a-b", "s"), row(9.0, "c")])
        for host, paces in pace.items()
        for each in paces
    ]
    processes.append(("h1", [row(5.0, "slow", "s"), row(0.0, "a-b", "s")]))
    (ratio,) = compute_ratios(processes).values()
    assert (ratio.key, ratio.over) == ("c.a-b.time", "c.slow.time")
    assert (ratio.processes, ratio.hosts) == (6, 2)  # the last has but one of them
    assert ratio.value == pytest.approx(1 / 3, rel=0.01)
    times = compute_figures(processes)
    assert ratio.high / ratio.low < 1.3 < 3 < times["c.slow.time"].high / times["c.slow.time"].low


def test_ratios_do_not_mix_cases_sizes_or_classes() -> None:
    def one(case: str, size: int, arm: str, quantity: str) -> Row:
        named = {"spread_class": quantity, "unit": "s", "value": 1.0}
        return Row(case=case, size=size, arm=arm, quantity=quantity, **named)

    rows = [
        one(case, size, arm, quantity)
        for case in ("c", "d")
        for size in (1, 2)
        for quantity in ("gpu", "wall")
        for arm in ("a", "b-c", "a-b", "c")
    ]
    ratios = compute_ratios([("h", rows)]).values()
    assert len({(each.key, each.over) for each in ratios}) == len(ratios) == 2 * 2 * 2 * 6
    assert all(
        each.key.split(".")[::3] == each.over.split(".")[::3]
        and each.key.split(".")[1] == each.over.split(".")[1]
        for each in ratios
    )


def test_one_wild_figure_does_not_widen_its_class() -> None:
    def widths(*wild: float) -> float:
        hosts = [("h", value, other) for value, other in zip((1.0, 1.01, 0.99), wild, strict=True)]
        processes = [
            (host, [row(value, "a"), row(value * 1.1, "b"), row(other, "wild")])
            for host, value, other in hosts
        ]
        return compute_figures(processes)["c.a.time"].width

    assert widths(1.0, 50.0, 900.0) < 1.5 * widths(1.0, 1.01, 0.99)


def test_hosts_are_not_supposed_to_differ_by_more_than_was_seen() -> None:
    wide = figures_of([1.0, 1.3, 0.8, 1.1, 1.2])  # 3 times this would be 60 %
    assert 2.5 < wide.high / wide.value < 4

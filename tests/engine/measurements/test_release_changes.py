"""What moved between two releases: pairs of hosts that have measured both."""

from collections.abc import Sequence

import pytest

from sphinx_recorded_gallery.measurements.processes import Measurements, measure_all
from sphinx_recorded_gallery.measurements.quantities import standard_quantities
from sphinx_recorded_gallery.measurements.release_changes import (
    Basis,
    ReleaseChanges,
    compare_releases,
    find_percents,
    summarize,
)
from sphinx_recorded_gallery.measurements.replicates import Process
from sphinx_recorded_gallery.measurements.rows import Row

UNITS = {"gpu": "s", "cpu": "s", "kernels": "", "start_up": "s", "speedup": "x", "wall": "s"}


def row(variant: str, quantity: str, value: float) -> Row:
    unit = UNITS[quantity]
    return Row(case="Adam", variant=variant, size=None, quantity=quantity, value=value, unit=unit)


def measured(*processes: tuple[str, Sequence[Row]]) -> Measurements:
    return measure_all(
        [
            Process(replicate=number, host=host, rows=tuple(rows))
            for number, (host, rows) in enumerate(processes)
        ]
    )


def gpu_times(**values: float) -> Measurements:
    """Return what hosts measured in a process each."""
    return measured(*((host, [row("a", "gpu", value)]) for host, value in values.items()))


def compare(now: Measurements, before: Measurements, *claims: str) -> ReleaseChanges:
    return compare_releases(now, before, standard_quantities(), claims)


def test_a_ratio_is_the_median_of_hosts_that_measured_both() -> None:
    now = gpu_times(x=0.8, y=1.6, z=3.2)
    before = gpu_times(x=1.0, y=2.0, w=9.0)
    changes = compare(now, before)
    [change] = changes.changes
    assert changes.hosts == change.hosts == 2
    assert (change.ratio, change.low, change.high) == (0.8, 0.8, 0.8)
    assert (change.basis, change.has_moved) == (Basis.VALUES, True)
    assert (change.before.value, change.now.value) == (1.5, pytest.approx(1.2))  # of both hosts


def test_a_host_counts_by_the_median_of_its_processes() -> None:
    values = (0.4, 0.5, 9.0)
    now = measured(*(("x", [row("a", "gpu", value)]) for value in values))
    before = measured(("x", [row("a", "gpu", 1.0)]))
    [change] = compare(now, before).changes
    assert change.ratio == 0.5
    assert not change.has_moved  # one process has measured more than before


@pytest.mark.parametrize(
    ("now", "before", "moved"),
    [
        ([1.01, 1.01], [1.0, 1.0], False),  # within 2 %
        ([1.1, 0.9], [1.0, 1.0], False),  # hosts disagree
        ([1.1, 1.03], [1.0, 1.0], False),  # two hosts that differ so much say little
        ([1.1, 1.1], [1.0, 1.0], True),
        ([1.1, 1.09, 1.12, 1.1], [1.0, 1.0, 1.0, 1.0], True),
        ([1.1, 1.0, 1.3, 1.02], [1.0, 1.0, 1.0, 1.0], False),
        ([1.0, 2.0], [0.0, 0.0], True),
        ([1.1], [1.0], True),
        ([0.0], [0.0], False),
        ([1.0], [0.0], True),
    ],
)
def test_what_differs_by_more_than_noise_has_moved(
    now: list[float], before: list[float], moved: bool
) -> None:
    hosts = "wxyz"
    new = gpu_times(**dict(zip(hosts, now, strict=False)))
    old = gpu_times(**dict(zip(hosts, before, strict=False)))
    [change] = compare(new, old).changes
    assert change.has_moved is moved


def test_what_the_host_bounds_is_compared_within_each_process() -> None:
    def process(host: str, luck: float, compiled: float) -> tuple[str, list[Row]]:
        rows = [row("eager", "cpu", 4 * luck), row("compiled", "cpu", compiled * luck)]
        return host, [*rows, row("compiled", "speedup", 2), row("a", "start_up", 3 * luck)]

    now = measured(process("x", 1.0, 1.5), process("y", 3.0, 1.5))
    before = measured(process("x", 2.0, 2.0), process("y", 1.5, 2.0))
    by_key = {change.now.key: change for change in compare(now, before).changes}
    compiled, eager = by_key["adam.compiled.cpu"], by_key["adam.eager.cpu"]
    assert (compiled.ratio, compiled.basis) == (0.75, Basis.WITHIN_PROCESS)
    assert compiled.has_moved
    assert (eager.basis, eager.has_moved) == (Basis.HOST, False)
    assert by_key["adam.a.start-up".replace("-", "_")].basis is Basis.HOST
    assert by_key["adam.compiled.speedup"].basis is Basis.WITHIN_PROCESS


def test_without_a_host_of_both_nothing_is_compared() -> None:
    changes = compare(measured(("x", [row("a", "gpu", 1)])), measured(("y", [row("a", "gpu", 2)])))
    assert (changes.hosts, changes.changes) == (0, ())


def test_keys_of_one_release_are_listed_and_wall_times_are_not_compared() -> None:
    now = measured(("x", [row("a", "gpu", 1), row("a", "wall", 1)]))
    before = measured(("x", [row("b", "gpu", 1), row("a", "wall", 2)]))
    changes = compare(now, before)
    assert changes.changes == ()
    assert (changes.only_now, changes.only_before) == (("adam.a.gpu",), ("adam.b.gpu",))


def test_claims_that_hold_in_one_release_alone_are_listed() -> None:
    def sides(first: float) -> Measurements:
        return measured(("x", [row("a", "gpu", first), row("b", "gpu", 2.0)]))

    changes = compare(sides(1.0), sides(3.0), "a.gpu < b.gpu", "b.gpu < 9 * a.gpu", "c < a.gpu")
    [claim] = changes.claims
    assert (claim.comparison, claim.holds_now) == ("a.gpu < b.gpu", True)
    assert claim.before.refuted
    [claim] = compare(sides(3.0), sides(1.0), "a.gpu < b.gpu").claims
    assert not claim.holds_now


def test_a_summary_counts_each_quantity() -> None:
    def side(*values: float) -> Measurements:
        rows = [row(name, "gpu", value) for name, value in zip("abcd", values, strict=True)]
        return measured(("x", [*rows, row("a", "kernels", 9)]))

    gpu, kernels = summarize(compare(side(0.5, 0.9, 1.0, 1.3), side(1, 1, 1, 1)).changes)
    assert (gpu.quantity, gpu.count, len(gpu.less), len(gpu.more)) == ("gpu", 4, 2, 1)
    assert find_percents(gpu.less) == (pytest.approx(0.1), pytest.approx(0.5))
    assert (kernels.quantity, kernels.has_moved) == ("kernels", False)

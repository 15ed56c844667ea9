"""What moved between two releases: computed from hosts that have measured both.

*Pairs.* Hosts differ more than releases do. So the ratio is that of the medians of a host's
processes, and the result is the median of these ratios over hosts. Its range is that of the hosts.

*Bound by the GPU* are the quantities that are marked so, and what else both releases measured
within the GPU's own spread: their ratio is that of the values. So is that of what is counted, such
as graphs, which no CPU changes.

*Bound by the host* is everything else, which also differs between the processes of one host. If a
case has a baseline of the same quantity, values are taken relative to the baseline of the same
process, so that the luck of a process cancels. If it has none, as startup has none, the values are
compared as they are, and marked.

*Moved* is what differs by more than 2% and more than noise. On several hosts the noise is that of
their ratios: Student's t interval of the mean of their logarithms, 95 of 100, has to leave out 1.
On a single host, what the host bounds is not known to have moved. What the GPU bounds has: if the
values of both releases do not overlap, and the new one lies outside the range of the old one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import fmean, median, stdev

from .processes import ClaimRecord, Measurements, NotMeasured, measure_all
from .quantities import Quantity, find_gpu_bound
from .ranges import STUDENT_T, Measurement, is_baseline
from .replicates import Process
from .rows import Row

SMALL = 1.02  # a ratio that counts as none
# Units whose changes are told as differences. A buffer that a release adds has the same size beside
# a small model as beside a large one, and 2,000 times as much of next to nothing says little.
UNITS_OF_DIFFERENCES = ("B",)


class Basis(Enum):
    """What the ratio of two releases compares."""

    VALUES = "values that no CPU changes"
    WITHIN_PROCESS = "values relative to the baseline of the same process"
    HOST = "values that the host bounds, which differ between its processes, too"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A measurement of one release compared with that of another."""

    now: Measurement  #: of the hosts that measured both
    before: Measurement
    ratio: float  #: now / before, median over hosts; infinite where it was 0 before
    low: float  #: the least of a host
    high: float
    by_host: Mapping[str, float]  # the ratio of each host that measured both
    basis: Basis
    has_moved: bool

    @property
    def hosts(self) -> int:
        """How many hosts measured it with both releases."""
        return len(self.by_host)

    @property
    def difference(self) -> float:
        """How much more it is now, in its unit; negative if it is less."""
        return self.now.value - self.before.value

    @property
    def is_difference(self) -> bool:
        """Whether the difference tells more than the ratio does."""
        return self.now.unit in UNITS_OF_DIFFERENCES

    @property
    def is_known(self) -> bool:
        """Whether the hosts tell if it moved; of what a host bounds, one alone does not."""
        return self.hosts > 1 or self.basis is Basis.VALUES


@dataclass(frozen=True, kw_only=True)
class ClaimChange:
    """A claim that holds in all processes of one release and not in all of the other."""

    comparison: str
    holds_now: bool
    now: ClaimRecord
    before: ClaimRecord


@dataclass(frozen=True, kw_only=True)
class ReleaseChanges:
    """What moved in a recipe between two releases."""

    hosts: int = 0  # that have measured both
    changes: tuple[Change, ...] = ()
    only_now: tuple[str, ...] = ()  # keys that one release alone has measured
    only_before: tuple[str, ...] = ()
    claims: tuple[ClaimChange, ...] = ()

    @property
    def moved(self) -> tuple[Change, ...]:
        """The changes that moved, the largest first."""
        moved = [change for change in self.changes if change.has_moved]
        moved.sort(key=lambda change: _distance(change.ratio), reverse=True)
        return tuple(moved)

    @property
    def unmoved(self) -> tuple[Change, ...]:
        """The changes that did not move."""
        return tuple(change for change in self.changes if not change.has_moved)

    @property
    def summaries(self) -> list[QuantitySummary]:
        """What moved, by quantity."""
        return summarize(self.changes)


def compare_releases(
    now: Measurements,
    before: Measurements,
    quantities: Mapping[str, Quantity],
    claims: Iterable[str] = (),
) -> ReleaseChanges:
    """Return what moved from one release to another; ``claims`` are comparisons of the text."""
    hosts = _hosts_of(now) & _hosts_of(before)
    shared_now = _measure_on(hosts, now, quantities)
    shared_before = _measure_on(hosts, before, quantities)
    gpu_bound = find_gpu_bound(quantities)
    changes = []
    for key in now.by_key.keys() & before.by_key.keys():
        measurement = now.by_key[key]
        quantity = quantities.get(measurement.quantity)
        is_compared = quantity is None or quantity.compared
        if not is_compared or measurement.unit != before.by_key[key].unit:
            continue
        is_gpu_bound = measurement.quantity in gpu_bound
        change = _compare(key, now, before, hosts, is_gpu_bound=is_gpu_bound)
        if change:
            new, old = shared_now.by_key[key], shared_before.by_key[key]
            changes.append(replace(change, now=new, before=old))
    positions = {name: position for position, name in enumerate(quantities)}

    def order(change: Change) -> tuple[int, str]:
        return positions.get(change.now.quantity, len(positions)), change.now.key

    changes.sort(key=order)
    return ReleaseChanges(
        hosts=len(hosts),
        changes=tuple(changes),
        only_now=tuple(sorted(now.by_key.keys() - before.by_key.keys())),
        only_before=tuple(sorted(before.by_key.keys() - now.by_key.keys())),
        claims=tuple(_compare_claims(now, before, claims)),
    )


def _hosts_of(measurements: Measurements) -> set[str]:
    return {process.host for process in measurements.processes}


def _measure_on(
    hosts: set[str], measurements: Measurements, quantities: Mapping[str, Quantity]
) -> Measurements:
    """Return the measurements of the processes that ran on certain hosts."""
    processes = [process for process in measurements.processes if process.host in hosts]
    return measure_all(processes, quantities)


def _compare(
    key: str, now: Measurements, before: Measurements, hosts: set[str], *, is_gpu_bound: bool
) -> Change | None:
    """Return how a measurement changed; None if no host has measured it with both releases."""
    new, old = now.by_key[key], before.by_key[key]
    is_counted = new.unit in ("", "B")  # numbers and bytes: how fast a host is changes neither
    if is_gpu_bound or is_counted or (new.gpu_bound and old.gpu_bound):
        basis, baseline = Basis.VALUES, ""
    else:
        basis, baseline = _choose_basis(new, now, before)
    pairs = {}
    for host in sorted(hosts):
        values_now = _read_values(now.processes, host, key, baseline)
        values_before = _read_values(before.processes, host, key, baseline)
        if values_now and values_before:
            pairs[host] = (values_now, values_before)
    if not pairs:
        return None
    by_host = {
        host: _divide(median(values), median(others)) for host, (values, others) in pairs.items()
    }
    ratios = list(by_host.values())
    ratio = median(ratios)
    if _distance(ratio) <= math.log(SMALL):
        has_moved = False
    elif len(pairs) > 1:
        has_moved = _is_beyond_noise(ratios)
    else:
        [(values_now, values_before)] = pairs.values()
        is_in_old_range = old.low <= new.value <= old.high
        is_apart = not _do_overlap(values_now, values_before) and not is_in_old_range
        has_moved = basis is Basis.VALUES and is_apart
    return Change(
        now=new,
        before=old,
        ratio=ratio,
        low=min(ratios),
        high=max(ratios),
        by_host=by_host,
        basis=basis,
        has_moved=has_moved,
    )


def _do_overlap(values: Sequence[float], others: Sequence[float]) -> bool:
    """Return whether the ranges of two lists of values have a point in common."""
    return min(values) <= max(others) and min(others) <= max(values)


def _is_beyond_noise(ratios: Sequence[float]) -> bool:
    """Return whether the ratios of several hosts show a change."""
    if not all(0 < ratio < math.inf for ratio in ratios):  # a value was 0 before, or is 0 now
        return min(ratios) > 1 or max(ratios) < 1
    logs = [math.log(ratio) for ratio in ratios]
    t = STUDENT_T[min(len(logs) - 1, len(STUDENT_T)) - 1]
    return abs(fmean(logs)) > t * stdev(logs) / math.sqrt(len(logs))


def _choose_basis(row: Row, now: Measurements, before: Measurements) -> tuple[Basis, str]:
    """Return what is compared of a measurement bound by the host, and the key of its baseline."""
    if row.quantity == "speedup":
        return Basis.WITHIN_PROCESS, ""  # it is relative to a baseline already
    baseline = _find_baseline(row, now, before)
    if baseline:
        return Basis.WITHIN_PROCESS, baseline
    return Basis.HOST, ""


def _find_baseline(row: Row, now: Measurements, before: Measurements) -> str:
    """Return the key of the same quantity of the variant that speed-ups refer to; "" if none."""
    if not _has_speedups(row, now):
        return ""
    quantity = (row.case, row.size, row.quantity)
    for key, other in now.by_key.items():
        is_other_variant = key != row.key and (other.case, other.size, other.quantity) == quantity
        if is_other_variant and key in before.by_key and is_baseline(other, now.by_key):
            return key
    return ""


def _has_speedups(row: Row, measurements: Measurements) -> bool:
    """Return whether there are speed-ups of the same case and size."""
    for other in measurements.by_key.values():
        if (other.case, other.size, other.quantity) == (row.case, row.size, "speedup"):
            return True
    return False


def _read_values(processes: Sequence[Process], host: str, key: str, baseline: str) -> list[float]:
    """Return the values of a host's processes, relative to the baseline if there is one."""
    values = []
    for process in processes:
        rows = process.by_key
        if process.host != host or key not in rows:
            continue
        if not baseline:
            values.append(rows[key].value)
        elif baseline in rows and rows[baseline].value:
            values.append(rows[key].value / rows[baseline].value)
    return values


def _divide(value: float, by: float) -> float:
    """Return a ratio: 1 if both are 0, infinite if only the divisor is."""
    if value == by:
        return 1.0
    if by == 0:
        return math.inf
    return value / by


def _distance(ratio: float) -> float:
    """Return how far a ratio is from 1, the same for half and double."""
    if ratio <= 0 or math.isinf(ratio):
        return math.inf
    return abs(math.log(ratio))


def _compare_claims(
    now: Measurements, before: Measurements, claims: Iterable[str]
) -> Iterable[ClaimChange]:
    """Yield the claims that hold with one of two releases only."""
    for comparison in dict.fromkeys(claims):
        try:
            new, old = now.check_claim(comparison), before.check_claim(comparison)
        except (NotMeasured, ValueError):
            continue  # reported on the recipe's page; the other release may lack a variant
        if bool(new.refuted) != bool(old.refuted):
            yield ClaimChange(comparison=comparison, holds_now=not new.refuted, now=new, before=old)


@dataclass(frozen=True, kw_only=True)
class QuantitySummary:
    """The changes of one quantity."""

    quantity: str
    changes: tuple[Change, ...]  # of all measurements that both releases have

    @property
    def count(self) -> int:
        """Of how many measurements it is known whether they moved."""
        return sum(change.is_known for change in self.changes)

    @property
    def less(self) -> tuple[Change, ...]:
        """What moved and became less."""
        return tuple(change for change in self.changes if change.has_moved and change.ratio < 1)

    @property
    def more(self) -> tuple[Change, ...]:
        """What moved and became more."""
        return tuple(change for change in self.changes if change.has_moved and change.ratio > 1)

    @property
    def is_known(self) -> bool:
        """Whether it is known of any measurement if it moved."""
        return any(change.is_known for change in self.changes)

    @property
    def has_moved(self) -> bool:
        """Whether anything moved."""
        return bool(self.less or self.more)


def summarize(changes: Sequence[Change]) -> list[QuantitySummary]:
    """Return a summary of each quantity, in the order of the changes."""
    by_quantity: dict[str, list[Change]] = {}
    for change in changes:
        by_quantity.setdefault(change.now.quantity, []).append(change)
    return [
        QuantitySummary(quantity=quantity, changes=tuple(group))
        for quantity, group in by_quantity.items()
    ]


def find_percents(changes: Sequence[Change]) -> tuple[float, float]:
    """Return the smallest and largest share by which measurements changed, as 0.08 and 0.51."""
    shares = [abs(change.ratio - 1) for change in changes]
    return min(shares), max(shares)


def find_differences(changes: Sequence[Change]) -> tuple[float, float]:
    """Return the smallest and largest amount by which measurements changed, in their unit."""
    amounts = [abs(change.difference) for change in changes]
    return min(amounts), max(amounts)

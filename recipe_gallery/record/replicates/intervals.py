"""Intervals of figures: where that of another recording, made so on another host, will fall.

A recording's figure is the median of its processes. Ratios, times and rates spread by factors, so
all is done with logarithms; there, for one figure,

    figure of a host = m + (effect of the host) + (median of what its processes add).

*Value.* The median of the hosts' medians: hosts count alike, however many processes each ran.

*Hosts are a random effect.* Another recording runs on another host, so what counts is V, the
variance of hosts' medians, and not how often one of them was asked: the interval is ``value ± t ·
sqrt(V · (1 + c / hosts))``; c = pi / 2, as medians of many vary, or 1 of one or two hosts.

*V is measured where it can be, and supposed where it cannot.* One host says nothing of others, and
two say little (their t with one degree of freedom is 32). What processes of one host do is known
well, though, and hosts were seen to differ by 1 to 5 times that, whatever was measured: 1.2 and 2.2
times for GPU time, 2 for wall time that the GPU bounds, 2 and 5 for that which launches bound, 3
for first calls (seven recordings on three hosts of a kind; tests hold their figures). So before any
second host it is supposed that they differ by ``HOSTS_OVER_PROCESSES`` = 3 times the standard
deviation of processes, by 0.3 % at least, as they did where processes did not, and by 25 % at most
(wall time that launches bound has differed by a factor of two since, and 113 of 114 such figures
fell inside). This counts as ``SUPPOSED`` = 4 degrees of freedom beside the ``hosts - 1`` that were
measured, and t has their sum. Where the measured variance is above what follows, it is taken alone.

*Spread is pooled within a class.* Few processes say little of their own spread. What counts is the
median of the variances in a class (`class` of the rows), divided by that of a chi-squared variable
over its degrees of freedom: their mean, but for the one that has nothing in common with the others.
A figure that spreads more than its class keeps its own. A figure of one host takes the variance of
hosts from those of its class that have more. The figures of one process share its luck, so pooling
adds no degrees of freedom.

*Bounds.* No interval is narrower than ±0.5 %: clocks, drivers and versions differ by that. Where no
figure of a class has two processes on a host, ±5 % is supposed of a process. A figure that is
sometimes 0 has no logarithm: the same is done with its values in parts of their mean, and the
interval ends at 0. One that is always 0 is 0; what was counted, a whole number without a unit that
is the same in several processes, is that number. A part of a whole (not of a limit) ends at 1.

*Ratios* of two times of one case, size and class are figures, too: what both took in one process is
divided, and the rest is as above. Processes that measured only one of them say nothing of it.

What this is worth is shown in the tests by simulation: with hosts that differ by up to 5 times the
spread of processes, at least 96 of 100 later figures fall inside, whether 1, 2, 3 or 5 hosts were
recorded; at 15 times, which nobody has seen, 95 with two hosts and 55 with one.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import fmean, median

from scipy.special import chdtri, stdtrit  # inverse functions of chi-squared and of t

from ...recipes.measurements import Figure, Ratio
from ...recipes.rows import LARGEST, SMALLEST, Row, Size

WITHIN = 0.98
HOSTS_OVER_PROCESSES = 3.0
LEAST_OF_HOSTS, MOST_OF_HOSTS = 0.003, 0.25
SUPPOSED = 4
FLOOR = math.log(1.005)
ONE_PROCESS = 0.05
LIMIT_SHARE = "share"  # the quantity; parts of a whole are called otherwise


@dataclass(frozen=True, kw_only=True)
class _Sample:
    """All that was measured of one figure."""

    row: Row  # of the first process
    scale: float  # 0 for logarithms; else what values are parts of
    hosts: tuple[tuple[float, ...], ...]  # values of the processes of each host, transformed

    @property
    def is_zero(self) -> bool:
        return not any(value for host in self.hosts for value in host) and bool(self.scale)

    @property
    def is_count(self) -> bool:
        values = [value for host in self.hosts for value in host]
        whole = not self.row.unit and float(self.row.value).is_integer()
        return whole and len(values) > 1 and len(set(values)) == 1

    @property
    def medians(self) -> list[float]:
        return [median(host) for host in self.hosts]

    @property
    def of_processes(self) -> float | None:
        """Variance of the processes of a host, if one has two."""
        freedom = sum(len(host) - 1 for host in self.hosts)
        return sum(map(_squares, self.hosts)) / freedom if freedom else None

    @property
    def of_hosts(self) -> float | None:
        """Variance of the hosts' medians, if there are two."""
        freedom = len(self.hosts) - 1
        return _squares(self.medians) / freedom if freedom else None


@dataclass(frozen=True, kw_only=True)
class _Spread:
    """Variances of a class, None where nothing tells them."""

    of_processes: float | None
    of_hosts: float | None
    hosts: int  # at most, of one figure


def _squares(values: Sequence[float]) -> float:
    """Return the sum of squares around the mean; ``statistics`` takes a hundred times as long."""
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)


def compute_figures(processes: Iterable[tuple[str, Sequence[Row]]]) -> dict[str, Figure]:
    """Return each figure with its interval, by key, from hosts and rows of all processes."""
    measured: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for host, rows in processes:
        for row in rows:
            measured[row.key].append((host, row))
    samples = {key: _make_sample(found) for key, found in measured.items()}
    classes: dict[str, list[_Sample]] = defaultdict(list)
    for sample in samples.values():
        if not sample.is_zero:  # says nothing of the spread of others
            classes[sample.row.spread_class].append(sample)
    spreads = {name: _pool(found) for name, found in classes.items()}
    return {
        key: _make_figure(key, sample, spreads.get(sample.row.spread_class))
        for key, sample in sorted(samples.items())
    }


def compute_ratios(processes: Iterable[tuple[str, Sequence[Row]]]) -> dict[tuple[str, str], Ratio]:
    """Return how many times as long one took as another of its case, size and class, by keys."""
    pairs: dict[str, tuple[str, str]] = {}
    divided = []
    for host, rows in processes:
        alike: dict[tuple[str, Size, str], list[Row]] = defaultdict(list)
        for row in rows:
            if row.unit == "s" and row.value:
                alike[row.case, row.size, row.spread_class].append(row)
        found = []
        for measured in alike.values():
            for row, over in combinations(sorted(measured, key=lambda each: each.key), 2):
                ratio = replace(
                    row,
                    arm=f"{row.arm}_over_{over.arm}",
                    quantity=f"{row.quantity}_over_{over.quantity}",
                    value=row.value / over.value,
                    unit="x",
                )
                pairs[ratio.key] = row.key, over.key
                found.append(ratio)
        divided.append((host, found))
    figures = compute_figures(divided)
    names = ("value", "low", "high", "processes", "hosts")
    return {
        (key, over): Ratio(
            key=key, over=over, **{name: getattr(figures[each], name) for name in names}
        )
        for each, (key, over) in pairs.items()
    }


def _make_sample(found: Sequence[tuple[str, Row]]) -> _Sample:
    values = [row.value for _host, row in found]
    scale = 0.0 if min(values) > 0 else fmean(values) or 1.0
    hosts: Mapping[str, list[float]] = defaultdict(list)
    for host, row in found:
        hosts[host].append(row.value / scale if scale else math.log(row.value))
    ordered = tuple(tuple(sorted(hosts[host])) for host in sorted(hosts))
    return _Sample(row=found[0][1], scale=scale, hosts=ordered)


def _make_figure(key: str, sample: _Sample, spread: _Spread | None) -> Figure:
    center = median(sample.medians)
    width = 0.0 if sample.is_zero or spread is None else _half_width(sample, spread)
    if sample.scale:
        ends = [sample.scale * (center + each) for each in (0.0, -width, width)]
    else:
        room = math.log(LARGEST)
        ends = [math.exp(max(-room, min(room, center + each))) for each in (0.0, -width, width)]
    # Six digits are more than any of them has, and the same whatever computed them.
    value, low, high = (_round(max(0.0, min(LARGEST, end))) for end in ends)
    row = sample.row
    if sample.is_count:
        value = low = high = row.value
    if row.unit == "share" and row.quantity != LIMIT_SHARE:
        high = max(value, min(high, 1.0))
    return Figure(
        **{**asdict(row), "value": value},
        key=key,
        low=low,
        high=high,
        processes=sum(map(len, sample.hosts)),
        hosts=len(sample.hosts),
    )


def _half_width(sample: _Sample, spread: _Spread) -> float:
    """Return how far the interval of a figure reaches, by what is known of its class."""
    of_process = ONE_PROCESS**2
    if spread.of_processes is not None:
        of_process = max(sample.of_processes or 0.0, spread.of_processes)
    supposed = min(MOST_OF_HOSTS**2, HOSTS_OVER_PROCESSES**2 * of_process)
    between = supposed = max(LEAST_OF_HOSTS**2, supposed, of_process)
    measured = spread.hosts - 1  # degrees of freedom
    if spread.of_hosts is not None:
        own = max(sample.of_hosts or 0.0, spread.of_hosts)
        between = max(own, (SUPPOSED * supposed + measured * own) / (SUPPOSED + measured))
    t = float(stdtrit(SUPPOSED + measured, 1 - (1 - WITHIN) / 2))
    of_value = (1 if len(sample.hosts) < 3 else math.pi / 2) / len(sample.hosts)
    return max(FLOOR, t * math.sqrt(between * (1 + of_value)))


def _pool(samples: Sequence[_Sample]) -> _Spread:
    """Return the variances of a class."""
    of_processes = [each for sample in samples if (each := sample.of_processes) is not None]
    of_hosts = [each for sample in samples if (each := sample.of_hosts) is not None]
    hosts = max(len(sample.hosts) for sample in samples)
    processes = max(sum(len(host) - 1 for host in sample.hosts) for sample in samples)
    return _Spread(
        of_processes=_find_typical(of_processes, processes),
        of_hosts=_find_typical(of_hosts, hosts - 1),
        hosts=hosts,
    )


def _find_typical(variances: Sequence[float], freedom: int) -> float | None:
    """Return what the mean of variances is likely to be, whatever a few of them are."""
    if not variances:
        return None
    if len(variances) == 1:
        return variances[0]
    return median(variances) * freedom / float(chdtri(freedom, 0.5))


def _round(value: float) -> float:
    rounded = float(f"{value:.6g}")
    return rounded if rounded >= SMALLEST else 0.0

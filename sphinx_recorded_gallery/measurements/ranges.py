"""How far a measurement can be trusted: its value, and the range in which other hosts lie.

*Value.* The median of the hosts' medians: hosts count alike, however many processes each ran.

*Bound by the GPU* are GPU time and what follows from it alone: kernels, memory, share of the limit,
wall time that no host has seen above GPU time by more than 5 %, and ratios of these. It repeats
within about 1 %. Where a further host falls in 95 of 100 cases is the prediction interval of a
normal sample of logarithms, ``mean ± t · s · sqrt(1 + 1 / hosts)`` with Student's t of as many
degrees of freedom as hosts but one, of three at least; never below ±0.3 %, as clocks differ. Where
hosts differ by more than 10 %, as memory does by the kernels that one has chosen, they are no such
sample, and the range is what they have shown.

*Bound by the host* are launches, first calls, start-up. Hosts differ by a factor of two, and so
do processes of one host, which no distribution foretells. So the range is what hosts have
shown. A further host is as likely at each place in the order of all: (n - 1) of (n + 1) fall
between the least and the greatest of n. The range of a single host is that of its processes.

*Nothing impossible.* Wall time does not end below the range of GPU time, no share above 1 unless
one was seen there, and what was counted alike everywhere is that number.

*Ratios* are taken within each process that measured both, where the luck of process and host
cancels, then as above; a speed-up that a recipe publishes itself is the median of the ratios of its
rounds, and is that of its wall times everywhere. ``benchmarks/repeatability.py`` scores all of this
by leaving out hosts.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median, stdev

from .quantities import name_gpu_bound, standard_quantities
from .rows import Row

MIN_HALF_WIDTH = 0.003
WALL_TO_GPU = 1.05  # of a wall time that the GPU bounds
MAX_HOST_SPREAD = 1.1  # of hosts that are a normal sample
# 97.5 % points of Student's t with 1 to 10 degrees of freedom; more than ten count as ten
STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclass(frozen=True, kw_only=True)
class Measurement(Row):
    """What all processes say of one row, or of the ratio of two."""

    low: float
    high: float
    gpu_bound: bool
    processes: int
    hosts: int

    @property
    def is_predicted(self) -> bool:
        """Whether a further host is expected in the range, which else is what hosts have shown."""
        return self.gpu_bound and self.hosts > 2 and self.low > 0


def measure(
    processes: Iterable[tuple[str, Sequence[Row]]],
    gpu_bound_quantities: Container[str] | None = None,
) -> dict[str, Measurement]:
    """Return what processes measured by key, from the host and the rows of each.

    ``gpu_bound_quantities`` are those that the GPU alone bounds; without them, the engine's.
    """
    if gpu_bound_quantities is None:
        gpu_bound_quantities = name_gpu_bound(standard_quantities())
    found: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for host, rows in processes:
        for row in rows:
            found[row.key].append((host, row))
    measured: dict[str, Measurement] = {}
    for key in sorted(found, key=lambda key: found[key][0][1].quantity == "speedup"):  # of others
        rows_of_key = found[key]
        row = rows_of_key[0][1]
        beneath = found.get(replace(row, quantity="gpu").key, [])
        gpu = find_range(beneath, gpu_bound=True) if beneath else None
        gpu_bound = row.quantity in gpu_bound_quantities or (
            row.quantity == "share" and gpu is not None
        )
        if row.quantity == "speedup":
            one = (row.case, row.size, "wall")
            bounds = [
                wall.gpu_bound
                for wall in measured.values()
                if (wall.case, wall.size, wall.quantity) == one
                and (wall.variant == row.variant or is_baseline(wall, found))
            ]
            gpu_bound = bool(bounds) and all(bounds)
        each = find_range(rows_of_key, gpu_bound=gpu_bound)
        if row.quantity == "wall" and gpu and each.high <= WALL_TO_GPU * gpu.value:
            each = find_range(rows_of_key, gpu_bound=True)
            each = replace(each, low=min(each.value, max(each.low, gpu.low)))
        measured[key] = each
    return dict(sorted(measured.items()))


def is_baseline(row: Row, known: Container[str]) -> bool:
    """Tell whether the speed-ups of a recipe are against a variant, which then has none itself."""
    return replace(row, quantity="speedup").key not in known


def find_range(found: Sequence[tuple[str, Row]], *, gpu_bound: bool) -> Measurement:
    """Return value and range of one measurement, from hosts and rows of its processes."""
    by_host: Mapping[str, list[float]] = defaultdict(list)
    for host, row in found:
        by_host[host].append(row.value)
    medians = [median(values) for values in by_host.values()]
    seen = medians if len(medians) > 1 else [row.value for _host, row in found]
    value, low, high = median(medians), min(seen), max(seen)
    row = found[0][1]
    gpu_bound = gpu_bound and high <= MAX_HOST_SPREAD * low
    most = max(1.0, high) if row.unit == "share" else math.inf
    was_counted = low == high and not row.unit
    if gpu_bound and len(medians) > 2 and low > 0 and not was_counted:
        logs = [math.log(each) for each in medians]
        t = STUDENT_T[min(len(logs) - 1, len(STUDENT_T)) - 1]
        half = max(MIN_HALF_WIDTH, t * stdev(logs) * math.sqrt(1 + 1 / len(logs)))
        low = min(value, math.exp(fmean(logs) - half))
        high = max(value, min(most, math.exp(fmean(logs) + half)))
    # six digits are more than any of them has
    value, low, high = (float(f"{each:.6g}") for each in (value, low, high))
    return Measurement(
        **{**asdict(row), "value": value},
        low=low,
        high=high,
        gpu_bound=gpu_bound,
        processes=len(found),
        hosts=len(medians),
    )

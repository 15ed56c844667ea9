"""How far a measurement can be trusted: its value, and the range in which other hosts lie.

*Value.* The median of the hosts' medians: hosts count alike, however many processes each ran.

*Bound by the GPU* are GPU time and what follows from it alone: kernels, memory, share of the limit,
wall time that no host has seen above GPU time by more than 5%, and ratios of these. It repeats
within about 1%. The range is where a further host falls in 95 of 100 cases: the prediction
interval of a normal sample of logarithms, ``mean ± t · s · sqrt(1 + 1 / hosts)``, with Student's t
of one degree of freedom less than there are hosts. It takes three hosts, and is never narrower than
±0.3%, as clocks differ. Where hosts differ by more than 10%, as in memory if they choose other
kernels, they are not a normal sample, and the range is what they measured.

*Bound by the host* are launches, first calls, start-up. Hosts differ by a factor of two, and so do
processes of one host, and no distribution describes this. So the range is what hosts measured. A
further host is as likely at each place in the order of all: (n - 1) of (n + 1) fall between the
least and the greatest of n. The range of a single host is that of its processes.

*Nothing impossible.* The range of wall time does not begin below that of GPU time, no range of a
share ends above 1 unless one was measured there, and a count that is the same everywhere has no
range.

*Ratios* are taken within each process that measured both, where the differences between processes
and hosts cancel, then as above. A speed-up that a recipe publishes itself is the median of the
ratios of its rounds, and stands for the ratio of its wall times everywhere.

``benchmarks/repeatability.py`` scores all of this by leaving out hosts.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median, stdev

from .quantities import find_gpu_bound, standard_quantities
from .rows import Row

MIN_HALF_WIDTH = 0.003
MAX_WALL_TO_GPU = 1.05  # wall time by GPU time, up to which the GPU bounds it
MAX_HOST_SPREAD = 1.1  # greatest by least value, up to which hosts are a normal sample
MIN_PREDICTED_HOSTS = 3
# 97.5% points of Student's t with 1 to 10 degrees of freedom; more than ten count as ten
STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclass(frozen=True, kw_only=True)
class Measurement(Row):
    """Value and range of one row in all processes, or of the ratio of two.

    It is called as its row is, by ``case``, ``variant``, ``size`` and ``quantity``, and by the
    ``key`` that joins them: ``adam.10.fused.wall``. ``size_name`` is what the size counts.
    ``value``, ``low`` and ``high`` are in ``unit``: ``s``, ``B``, ``B/s``, ``x`` for a ratio,
    ``share`` of one, or a word for what is counted. ``processes`` and ``hosts`` are how
    many measured it; ``gpu_bound`` tells that nothing but the GPU decides it.
    """

    low: float
    high: float
    gpu_bound: bool
    processes: int
    hosts: int

    @property
    def is_predicted(self) -> bool:
        """Whether the range is a prediction interval, rather than what hosts measured."""
        return self.gpu_bound and self.hosts >= MIN_PREDICTED_HOSTS and self.low > 0


def measure(
    processes: Iterable[tuple[str, Sequence[Row]]],
    gpu_bound_quantities: Container[str] | None = None,
) -> dict[str, Measurement]:
    """Return the measurements of processes by key, in the order of keys.

    ``processes`` are pairs of a host and the rows that a process measured there.
    ``gpu_bound_quantities`` are those that the GPU alone bounds; without them, the engine's.
    """
    if gpu_bound_quantities is None:
        gpu_bound_quantities = find_gpu_bound(standard_quantities())
    rows_by_key: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for host, rows in processes:
        for row in rows:
            rows_by_key[row.key].append((host, row))

    speedups = []
    others = []
    for key, host_rows in rows_by_key.items():
        _host, row = host_rows[0]
        if row.quantity == "speedup":
            speedups.append(key)
        else:
            others.append(key)

    measurements: dict[str, Measurement] = {}
    for key in [*others, *speedups]:  # these last: they need the wall times
        host_rows = rows_by_key[key]
        _host, row = host_rows[0]
        gpu_rows = rows_by_key.get(replace(row, quantity="gpu").key)
        gpu_time = find_range(gpu_rows, gpu_bound=True) if gpu_rows else None
        if row.quantity == "speedup":
            gpu_bound = _is_gpu_bound_speedup(row, measurements, rows_by_key)
        elif row.quantity == "share" and gpu_time:
            gpu_bound = True
        else:
            gpu_bound = row.quantity in gpu_bound_quantities
        measurement = find_range(host_rows, gpu_bound=gpu_bound)
        if row.quantity == "wall" and gpu_time and _is_near(measurement, gpu_time):
            measurement = find_range(host_rows, gpu_bound=True)
            low = max(measurement.low, gpu_time.low)  # no wall time is below GPU time
            measurement = replace(measurement, low=min(measurement.value, low))
        measurements[key] = measurement
    return dict(sorted(measurements.items()))


def _is_near(wall_time: Measurement, gpu_time: Measurement) -> bool:
    """Return whether no host saw a wall time far above GPU time."""
    return wall_time.high <= MAX_WALL_TO_GPU * gpu_time.value


def _is_gpu_bound_speedup(
    speedup: Row, measurements: Mapping[str, Measurement], keys: Container[str]
) -> bool:
    """Return whether the GPU bounds the wall times that a speed-up compares.

    These are those of its variant and of the baseline, with the same case and size.
    """
    has_wall_time = False
    for wall in measurements.values():
        if (wall.case, wall.size, wall.quantity) != (speedup.case, speedup.size, "wall"):
            continue
        if wall.variant == speedup.variant or is_baseline(wall, keys):
            has_wall_time = True
            if not wall.gpu_bound:
                return False
    return has_wall_time


def is_baseline(row: Row, keys: Container[str]) -> bool:
    """Return whether the speed-ups of a recipe are against the variant of a row.

    It is the one that has no speed-up itself.
    """
    return replace(row, quantity="speedup").key not in keys


def find_range(host_rows: Sequence[tuple[str, Row]], *, gpu_bound: bool) -> Measurement:
    """Return value and range of one measurement.

    ``host_rows`` are pairs of a host and the row that a process measured there.
    """
    values_by_host: Mapping[str, list[float]] = defaultdict(list)
    for host, row in host_rows:
        values_by_host[host].append(row.value)
    medians = [median(values) for values in values_by_host.values()]
    value = median(medians)
    if len(medians) > 1:
        observed = medians
    else:
        observed = [row.value for _host, row in host_rows]
    low = min(observed)
    high = max(observed)
    _host, first_row = host_rows[0]
    gpu_bound = gpu_bound and high <= MAX_HOST_SPREAD * low
    is_exact_count = low == high and not first_row.unit
    is_sample = len(medians) >= MIN_PREDICTED_HOSTS and low > 0
    if gpu_bound and is_sample and not is_exact_count:
        limit = max(1.0, high) if first_row.unit == "share" else math.inf
        predicted_low, predicted_high = _predict_range(medians)
        low = min(value, predicted_low)
        high = max(value, min(limit, predicted_high))
    fields = asdict(first_row)
    fields["value"] = _round_digits(value)
    return Measurement(
        **fields,
        low=_round_digits(low),
        high=_round_digits(high),
        gpu_bound=gpu_bound,
        processes=len(host_rows),
        hosts=len(medians),
    )


def _predict_range(medians: Sequence[float]) -> tuple[float, float]:
    """Return the prediction interval of a further host, from the medians of at least two hosts."""
    logs = [math.log(value) for value in medians]
    degrees = min(len(logs) - 1, len(STUDENT_T))
    half_width = STUDENT_T[degrees - 1] * stdev(logs) * math.sqrt(1 + 1 / len(logs))
    half_width = max(MIN_HALF_WIDTH, half_width)
    center = fmean(logs)
    return math.exp(center - half_width), math.exp(center + half_width)


def _round_digits(value: float) -> float:
    """Return a value with six digits, which are more than are reliable in any measurement."""
    return float(f"{value:.6g}")

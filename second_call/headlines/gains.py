"""What a headline says: how much sooner work is done, for which wait, and when that has paid."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recipe_gallery.recipes.figures.figures import Figure
from recipe_gallery.recipes.figures.rows import slug

Known = Mapping[str, Figure]
Processes = Sequence[Mapping[str, float]]
FEWEST = 3  # processes whose ratios say how far another one lies off
FLOOR = math.log(1.005)
# Student's t for 98 of 100, of one degree of freedom and more; no fewer than that of ten
T_98 = (31.82, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A figure compared with another one of the same kind."""

    figure: Figure
    baseline: Figure
    ratio: Figure  # above 1 where the figure is the smaller one
    wall: Figure | None  # the same of wall times, if the figure is GPU time
    share: Figure | None  # of the limit
    first_call: Figure | None  # none if nothing is compiled
    break_even: Figure | None  # in calls; none if nothing is to pay back, or nothing is saved
    compiles: bool  # whether the recipe times first calls of this case, of this arm or another

    @property
    def loses(self) -> bool:
        """Whether the work takes longer than before, by the figure or by its wall time."""
        return any(each is not None and each.value < 1 for each in (self.ratio, self.wall))

    @property
    def pays_after(self) -> Figure | None:
        """The break-even, if it is seen that anything is saved."""
        saved = self.wall or self.ratio
        return self.break_even if saved.low > 1 else None


def find_gain(known: Known, key: str, baseline: str, processes: Processes = ()) -> Gain:
    """Return what the figure ``key`` says against an arm or the figure of another key.

    ``processes`` are what each of them measured. Raises ``KeyError`` with the key that no
    recording has.
    """
    figure = known[key]
    before = known[baseline] if "." in baseline else known[_key_of(figure, arm=baseline)]
    related = {
        quantity: known.get(_key_of(figure, quantity=quantity))
        for quantity in ("wall", "share", "first_call", "break_even")
    }
    base_wall = known.get(_key_of(before, quantity="wall"))
    wall = None
    if figure.quantity == "gpu" and related["wall"] and base_wall:
        wall = _compare(known, related["wall"], base_wall, processes)
    one = (figure.case, figure.size)
    times = [each for each in known.values() if each.quantity == "first_call"]
    return Gain(
        compiles=any((each.case, each.size) == one for each in times),
        figure=_in_common(figure, before, processes),
        baseline=_in_common(before, figure, processes),
        ratio=_compare(known, figure, before, processes),
        wall=wall,
        share=related["share"],
        first_call=related["first_call"] if figure.quantity != "first_call" else None,
        break_even=related["break_even"] if _is_first(known, before) else None,
    )


def _in_common(figure: Figure, other: Figure, processes: Processes) -> Figure:
    """Return a figure as those processes had it that measured the other one, too."""
    if figure.processes == other.processes:
        return figure
    both = [each[figure.key] for each in processes if figure.key in each and other.key in each]
    if not both:
        return figure
    value = statistics.median(both)
    return replace(figure, value=value, low=value, high=value, processes=len(both), hosts=1)


def _key_of(figure: Figure, *, arm: str = "", quantity: str = "") -> str:
    parts = [figure.case, *([] if figure.size is None else [figure.size])]
    return ".".join(map(slug, [*parts, arm or figure.arm, quantity or figure.quantity]))


def _is_first(known: Known, before: Figure) -> bool:
    """Tell whether the recipe's own speed-ups and break-evens are against this one."""
    return _key_of(before, quantity="speedup") not in known


def _compare(known: Known, figure: Figure, before: Figure, processes: Processes) -> Figure:
    """Return how many times as long the work took before.

    That is the speed-up which was measured, in turns, if there is one, else the ratio in each
    process. Of few processes the two figures are taken as independent, which makes the interval
    rather too wide.
    """
    speedup = known.get(_key_of(figure, quantity="speedup"))
    same = (figure.case, figure.size, figure.quantity) == (before.case, before.size, "wall")
    if not (same and _is_first(known, before)):
        speedup = None
    ratios = list(_ratios(figure, before, speedup, processes))
    if len(ratios) >= FEWEST:
        half = max(FLOOR, T_98[min(len(ratios) - 1, len(T_98)) - 1] * _deviation(ratios))
        middle = math.log(speedup.value) if speedup else statistics.median(ratios)
        return _ratio(figure, before, middle, half, half)
    if speedup:
        return speedup
    ratio = statistics.median(ratios) if ratios else _log(before.value, figure.value)
    above = math.hypot(_log(before.high, before.value), _log(figure.value, figure.low))
    below = math.hypot(_log(before.value, before.low), _log(figure.high, figure.value))
    return _ratio(figure, before, ratio, below, above)


def _ratios(
    figure: Figure, before: Figure, speedup: Figure | None, processes: Processes
) -> Iterator[float]:
    """Yield the logarithm of the ratio in each process that measured both."""
    for each in processes:
        if speedup and each.get(speedup.key):
            yield math.log(each[speedup.key])
        elif not speedup and each.get(before.key) and each.get(figure.key):
            yield math.log(each[before.key] / each[figure.key])


def _deviation(ratios: Sequence[float]) -> float:
    """Return how far another one lies off, as a standard deviation."""
    return statistics.stdev(ratios) * math.sqrt(1 + 1 / len(ratios))


def _ratio(figure: Figure, before: Figure, ratio: float, below: float, above: float) -> Figure:
    return replace(
        figure,
        quantity="speedup",
        unit="x",
        value=math.exp(ratio),
        low=math.exp(ratio - below),
        high=math.exp(ratio + min(above, 20)),
        processes=min(figure.processes, before.processes),
        hosts=min(figure.hosts, before.hosts),
    )


def _log(high: float, low: float) -> float:
    return math.log(high / low) if low > 0 else math.inf

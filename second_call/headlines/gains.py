"""What a headline says: how much sooner work is done, for which wait, and when that has paid."""

import math
from dataclasses import dataclass, replace

from recipe_gallery.recipes.measurements import Figure, Figures, Ratio
from recipe_gallery.recipes.rows import LARGEST, SMALLEST, slug


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


def find_gain(figures: Figures, key: str, baseline: str) -> Gain:
    """Return what the figure ``key`` says against an arm or the figure of another key.

    Raises ``KeyError`` with the key that no recording has, ``ValueError`` if there is no ratio.
    """
    known = figures.figures
    figure = known[key]
    before = known[baseline] if "." in baseline else known[_key_of(figure, arm=baseline)]
    related = {
        quantity: known.get(_key_of(figure, quantity=quantity))
        for quantity in ("wall", "share", "first_call", "break_even")
    }
    base_wall = known.get(_key_of(before, quantity="wall"))
    wall = None
    if figure.quantity == "gpu" and related["wall"] and base_wall:
        wall = _compare(figures, related["wall"], base_wall)
    one = (figure.case, figure.size)
    times = [each for each in known.values() if each.quantity == "first_call"]
    ratio = _compare(figures, figure, before)
    if ratio is None:
        told = (f"{each.key!r} ({each.value:g} {each.unit}".rstrip() for each in (figure, before))
        raise ValueError(f"{') and '.join(told)}) have no ratio")
    return Gain(
        compiles=any((each.case, each.size) == one for each in times),
        figure=_in_common(figure, before, before.value / ratio.value),
        baseline=_in_common(before, figure, figure.value * ratio.value),
        ratio=ratio,
        wall=wall,
        share=related["share"],
        first_call=related["first_call"] if figure.quantity != "first_call" else None,
        break_even=related["break_even"] if _is_first(figures, before) else None,
    )


def _in_common(figure: Figure, other: Figure, value: float) -> Figure:
    """Return a figure as the processes had it that measured the other one, too, if they are less.

    ``value`` is what it was in these: the other one's, and the ratio of both.
    """
    if figure.processes <= other.processes:
        return figure
    return replace(
        figure, value=value, low=value, high=value, processes=other.processes, hosts=other.hosts
    )


def _key_of(figure: Figure, *, arm: str = "", quantity: str = "") -> str:
    parts = [figure.case, *([] if figure.size is None else [figure.size])]
    return ".".join(map(slug, [*parts, arm or figure.arm, quantity or figure.quantity]))


def _is_first(figures: Figures, before: Figure) -> bool:
    """Tell whether the recipe's own speed-ups and break-evens are against this one."""
    return _key_of(before, quantity="speedup") not in figures.figures


def _compare(figures: Figures, figure: Figure, before: Figure) -> Figure | None:
    """Return how many times as long the work took before.

    That is the ratio of both in each process, if it is stored, which shares its spread with ratios
    of its class alone; else the speed-up which was measured, in turns, against the first arm. Of
    figures that have neither, the intervals are taken as independent, which makes theirs rather too
    wide. None where one of them is 0.
    """
    ratio: Figure | Ratio | None = figures.compare(before.key, figure.key)
    same = (figure.case, figure.size, figure.quantity) == (before.case, before.size, "wall")
    if not ratio and same and _is_first(figures, before):
        ratio = figures.figures.get(_key_of(figure, quantity="speedup"))
    ratio = ratio or _divide(before, figure)
    if not SMALLEST <= ratio.value <= LARGEST:
        return None
    names = ("value", "low", "high", "processes", "hosts")
    return replace(
        figure, quantity="speedup", unit="x", **{name: getattr(ratio, name) for name in names}
    )


def _divide(figure: Figure, over: Figure) -> Ratio:
    above = math.hypot(_log(figure.high, figure.value), _log(over.value, over.low))
    below = math.hypot(_log(figure.value, figure.low), _log(over.high, over.value))
    value = figure.value / over.value if over.value else math.inf
    return Ratio(
        key=figure.key,
        over=over.key,
        value=value,
        low=value * math.exp(-below),
        high=min(value * math.exp(min(above, 20)), LARGEST),
        processes=min(figure.processes, over.processes),
        hosts=min(figure.hosts, over.hosts),
    )


def _log(high: float, low: float) -> float:
    return math.log(high / low) if low > 0 else math.inf

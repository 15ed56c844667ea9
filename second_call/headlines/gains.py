"""What a headline says: how much sooner work is done, for which wait, and when that has paid."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from recipe_gallery.recipes.figures.figures import Figure
from recipe_gallery.recipes.figures.rows import slug

Known = Mapping[str, Figure]


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

    @property
    def loses(self) -> bool:
        """Whether the work takes longer than before, by the figure or by its wall time."""
        return any(each is not None and each.high < 1 for each in (self.ratio, self.wall))


def find_gain(known: Known, key: str, baseline: str) -> Gain:
    """Return what the figure ``key`` says against an arm or the figure of another key.

    Raises ``KeyError`` with the key that no recording has.
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
        wall = _compare(known, related["wall"], base_wall)
    return Gain(
        figure=figure,
        baseline=before,
        ratio=_compare(known, figure, before),
        wall=wall,
        share=related["share"],
        first_call=related["first_call"] if figure.quantity != "first_call" else None,
        break_even=related["break_even"] if _is_first(known, before) else None,
    )


def _key_of(figure: Figure, *, arm: str = "", quantity: str = "") -> str:
    parts = [figure.case, *([] if figure.size is None else [figure.size])]
    return ".".join(map(slug, [*parts, arm or figure.arm, quantity or figure.quantity]))


def _is_first(known: Known, before: Figure) -> bool:
    """Tell whether the recipe's own speed-ups and break-evens are against this one."""
    return _key_of(before, quantity="speedup") not in known


def _compare(known: Known, figure: Figure, before: Figure) -> Figure:
    """Return how many times as long the work took before.

    That is the speed-up which was measured, in turns, if there is one. Else it is the ratio of
    the two figures; they are taken as independent, which makes the interval rather too wide.
    """
    speedup = known.get(_key_of(figure, quantity="speedup"))
    same = (figure.case, figure.size, figure.quantity) == (before.case, before.size, "wall")
    if speedup and same and _is_first(known, before):
        return speedup
    value = before.value / figure.value
    above = math.hypot(_log(before.high, before.value), _log(figure.value, figure.low))
    below = math.hypot(_log(before.value, before.low), _log(figure.high, figure.value))
    return replace(
        figure,
        quantity="speedup",
        unit="x",
        value=value,
        low=value * math.exp(-below),
        high=value * math.exp(min(above, 20)),
        processes=min(figure.processes, before.processes),
        hosts=min(figure.hosts, before.hosts),
    )


def _log(high: float, low: float) -> float:
    return math.log(high / low) if low > 0 else math.inf

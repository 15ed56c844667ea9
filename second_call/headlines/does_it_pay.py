"""The directive ``does-it-pay``: after how many calls compiling has paid.

A table is made of the up-front cost that was measured, and two fields take the reader's own
numbers: ``_static/does_it_pay.js`` says for them what ``describe_fields`` says here.
"""

import math
from dataclasses import dataclass
from statistics import median

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import Typography

from ..charts.scales import format_rounded
from ..labels import _
from ..make_nodes import render
from .gains import published_gains
from .headline_directive_lines import borrow_headlines, headline_list, list_cases

CALL_SECONDS = (0.001, 0.01, 0.1, 1.0)  # rows of the table
SPEED_UPS = (1.1, 1.5, 2.0, 5.0, 10.0)  # its columns
MILLISECONDS_AT_FIRST = 10  # a call, in the field until a reader types
CALLS_AT_FIRST = 10_000  # in a run, in the other field
_TOLERANCE = 1e-9  # relative; larger than errors of calculation
EXAMPLE = 1.5  # the speed-up in the sentence below the fields


@dataclass(frozen=True, kw_only=True)
class UpFrontCost:
    """What compiling costs before it saves anything, in seconds: medians of what was measured.

    Both parts are rounded at one place, so that readers who add them get the total.
    """

    start_up: float  # of the compiler, in each process
    first_call: float
    last_place: int  # of the last digit of both, as an exponent of ten

    @property
    def total(self) -> float:
        """Both together."""
        return round(self.start_up + self.first_call, -self.last_place)


class DoesItPay(SphinxDirective):
    """Show after how many calls compiling has paid its up-front cost in measured cases."""

    required_arguments = 1  # the page with the results

    def run(self) -> list[nodes.Node]:
        """Return the cases, of which the table is made when all is known."""
        return borrow_headlines(self, self.arguments[0], draw_table)


def draw_table(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the table of calls to break even, and fields for the reader's own numbers."""
    first_calls = []  # seconds, of all cases
    start_ups = {}  # seconds, by recipe
    for node, gain in published_gains(env, list_cases(headlines)):
        if gain.first_call:
            first_calls.append(gain.first_call.value)
        if gain.start_up:
            # That of the process, so all cases of a recipe have the same
            start_ups[node["recipe"]] = gain.start_up.value
    if not first_calls or not start_ups:
        return []
    typography = Typography.of(env.config)
    cost = round_cost(median(start_ups.values()), median(first_calls))
    explanation = _explain(cost, len(start_ups), len(first_calls), typography)
    table = render(
        "does_it_pay.html",
        columns=[format_rounded(ratio, "x", typography) for ratio in SPEED_UPS],
        rows=_make_rows(cost.total, typography),
        up_front_cost=f"{cost.total:.6g}",
        example=EXAMPLE,
        milliseconds=MILLISECONDS_AT_FIRST,
        calls=CALLS_AT_FIRST,
        texts=_field_texts(),
        sentence=describe_fields(cost.total, MILLISECONDS_AT_FIRST, CALLS_AT_FIRST, typography),
    )
    return [nodes.paragraph("", explanation), table]


def round_cost(start_up: float, first_call: float) -> UpFrontCost:
    """Return an up-front cost of whose smaller part two digits are left."""
    smaller = min(start_up, first_call)
    last_place = math.floor(math.log10(smaller)) - 1 if smaller > 0 else 0
    return UpFrontCost(
        start_up=round(start_up, -last_place),
        first_call=round(first_call, -last_place),
        last_place=last_place,
    )


def _explain(cost: UpFrontCost, recipes: int, cases: int, typography: Typography) -> str:
    """Return what the table is of: the up-front cost, its parts, and of how many it is."""
    facts = {
        "startup": typography.format_value(cost.total, "s", cost.last_place),
        "compiler": typography.format_value(cost.start_up, "s", cost.last_place),
        "first_call": typography.format_value(cost.first_call, "s", cost.last_place),
        "recipes": recipes,
        "cases": cases,
    }
    text = _(
        "Calls until compiling breaks even, by call time and speed-up. The up-front cost is "
        "%(startup)s: %(compiler)s of compiler startup plus a first call of %(first_call)s "
        "(medians of %(recipes)s recipes and %(cases)s cases)."
    )
    return typography.typeset(text % facts)


def _make_rows(up_front_cost: float, typography: Typography) -> list[tuple[str, list[str]]]:
    """Return how long a call takes, and after how many it pays at each of ``SPEED_UPS``."""
    rows = []
    for seconds in CALL_SECONDS:
        cells = []
        for ratio in SPEED_UPS:
            calls = calls_to_pay(up_front_cost, seconds, ratio)
            cells.append(format_calls(calls, typography))
        rows.append((format_rounded(seconds, "s", typography), cells))
    return rows


def calls_to_pay(up_front_cost: float, seconds: float, ratio: float) -> float:
    """Return after how many calls of so many seconds a cost is paid, at a speed-up above 1."""
    saved = seconds * (1 - 1 / ratio)
    return up_front_cost / saved


def format_calls(calls: float, typography: Typography) -> str:
    """Return a number of calls with two digits: 3,600. does_it_pay.js does the same.

    A half is rounded up, also one that binary numbers miss: 195 to 200, as 19,500 to 20,000.
    """
    rounded = float(f"{calls * (1 + _TOLERANCE):.2g}")
    return typography.format_number(max(1.0, rounded))


def _field_texts() -> dict[str, str]:
    """Return the sentences below the fields; does_it_pay.js has them, too."""
    return {
        "pays": _(
            "In a run of %(run)s calls of %(milliseconds)s ms each, compiling pays off if the "
            "speed-up is more than %(factor)s. At %(example)s, it breaks even after "
            "%(calls)s calls."
        ),
        "never": _("Compiling cannot pay off: the whole run is shorter than the up-front cost."),
    }


def describe_fields(
    up_front_cost: float, milliseconds: float, calls: float, typography: Typography
) -> str:
    """Return what a run of so many calls needs for compiling to pay."""
    texts = _field_texts()
    seconds = milliseconds / 1000
    total = seconds * calls
    if total <= up_front_cost:
        return texts["never"]
    factor = total / (total - up_front_cost)
    facts = {
        "run": typography.format_number(calls),
        "milliseconds": typography.format_number(milliseconds),
        "factor": format_rounded(factor, "x", typography),
        "example": format_rounded(EXAMPLE, "x", typography),
        "calls": format_calls(calls_to_pay(up_front_cost, seconds, EXAMPLE), typography),
    }
    return typography.typeset(texts["pays"] % facts)

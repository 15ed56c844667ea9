"""What a chart asks of its recipe: measurements, and how readers call cases, variants and parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from babel import Locale
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import (
    QUANTITY,
    Kind,
    Measurement,
    Size,
    all_files,
    answer,
    current_language,
    find_message,
    format_measurement,
    format_range,
    know,
    name_case,
    once,
    slug,
    typeset,
    watch,
)

_ = get_translation("second_call")

COLOURS = 8


def name_quantity(_app: Sphinx, _docname: str, kind: str, word: str) -> str | None:
    """Return what readers call a quantity, for evidence and the list of measurements."""
    return name_quantities().get(word) if kind == QUANTITY else None


def name_quantities() -> dict[str, str]:
    """Return what readers call the quantities that the harness measures."""
    times = {"wall": _("wall time"), "gpu": _("GPU time"), "cpu": _("CPU time")}
    starts = {"first_call": _("first call"), "first_result": _("first result")}
    starts |= {"start_up": _("start-up"), "ready": _("ready after")}
    gains = {"speedup": _("speed-up"), "break_even": _("pays after"), "limit": _("limit")}
    shares = {"share": _("share of the limit"), "optimizer_share": _("share of the optimizer")}
    shares |= {"data_share": _("share of waiting for data")}
    shares |= {"forward_share": _("share of forward"), "backward_share": _("share of backward")}
    counts = {"kernels": _("kernels"), "compilations": _("compilations")}
    counts |= {"not_compiled": _("calls not compiled"), "warnings": _("warnings")}
    counts |= {"operations": _("operations")}
    costs = {"memory": _("memory"), "launch_cost": _("launch cost"), "waste": _("padding")}
    costs |= {"new_length": _("a new length"), "kept": _("memory kept")}
    costs |= {"bytes": _("bytes"), "bandwidth": _("bandwidth")}
    passes = {"first_pass": _("first pass"), "second_pass": _("second pass")}
    passes |= {"third_pass": _("third pass"), "graphs": _("graphs")}
    return {**times, **starts, **gains, **shares, **counts, **costs, **passes}


def name_parts() -> dict[str, str]:
    """Return what readers call the parts of a whole, by the quantities that are its shares."""
    parts = {"data_share": _("waiting for data"), "optimizer_share": _("optimizer")}
    return {**parts, "forward_share": _("forward"), "backward_share": _("backward")}


@dataclass(kw_only=True)
class Source:
    """Where a chart gets measurements and names; it notes what is wrong with its questions."""

    env: BuildEnvironment
    docname: str  # of the recipe, which is the page
    case: str  # may hold a size behind a dot: adam.10
    problems: list[str] = field(default_factory=list)
    used: list[Measurement] = field(default_factory=list)
    variants: Sequence[str] = ()  # of the whole recipe: each has one colour in all charts

    @property
    def locale(self) -> Locale:
        """The reader's."""
        return current_language(self.env.config).locale

    def name(self, word: str) -> str:
        """Return what readers call a variant, a part or a quantity."""
        shown = find_message(self.env, self.docname, word, Kind.NAME)
        return str(name_quantities().get(word, shown)) if shown == word else shown

    def find(self, quantity: str) -> list[Measurement]:
        """Return the measurements of a quantity in the case of the chart, as the recipe has them.

        Without a case there has to be one only. Raises ``ValueError`` otherwise, and on a page that
        is no recipe's.
        """
        known = watch(self.env, know, self.docname)
        if known is None and self.docname in once(self.env, all_files):
            return []  # its recipe cannot be read, which the page tells
        if known is None:
            raise ValueError("it draws what a recipe has measured, and this page is none's")
        processes = known.measurements.processes  # the first one is the run of the page
        published = processes[0].rows if processes else ()
        rows = [row for row in published if row.quantity == quantity]
        self.variants = self.variants or list(dict.fromkeys(row.variant for row in rows))
        cases = list(dict.fromkeys(row.case for row in rows))
        if not self.case and len(cases) > 1:
            raise ValueError(f"{quantity} was measured in {len(cases)} cases; name one by :case:")
        self.case = self.case or "".join(cases)
        case, _dot, size = self.case.partition(".")
        rows = [row for row in rows if slug(row.case) == slug(case)]
        rows = [row for row in rows if size in ("", str(row.size))]
        found = [known.measurements.by_key[row.key] for row in rows]
        self.used += found
        return found

    def require(self, quantity: str) -> list[Measurement]:
        """Return measurements of a quantity; it is a problem if there is none."""
        found = self.find(quantity)
        if not found:
            self.note(".".join([*map(slug, filter(None, self.case.split("."))), quantity]))
        return found

    def note(self, key: str) -> None:
        """Note why there is no measurement."""
        found = answer(self.env, self.docname, key)
        known = found.in_files or found.problem in self.problems  # told once for all of them
        if found.problem and not known:
            self.problems.append(found.problem)

    def find_limits(self) -> dict[Size, float]:
        """Return limits in seconds by size: the share that a variant reaches, times its time."""
        times = {
            (each.size, each.variant): each.value
            for quantity in ("wall", "gpu")
            for each in self.find(quantity)
        }
        limits: dict[Size, float] = {}
        for share in self.find("share"):
            if time := times.get((share.size, share.variant)):
                limits.setdefault(share.size, share.value * time)
        return limits

    def colour(self, variant: str) -> str:
        """Return the class of the colour of a variant."""
        return f"series-{self.variants.index(variant) % COLOURS + 1}"

    def name_case(self) -> str:
        """Return what readers call the case that was drawn, and its size if it has one."""
        first = self.used[0]
        size = first.size if self.case.endswith(f".{first.size}") else None
        pieces = name_case(self.env, self.docname, first.case, size, first.sizes)
        return "".join(text for text, _is_data in pieces)

    def show(self, measurement: Measurement) -> str:
        """Return a measurement with its unit."""
        return format_measurement(measurement, self.locale)

    def show_range(self, measurement: Measurement) -> str:
        """Return a measurement with its unit and its interval, for a table."""
        shown = self.show(measurement)
        ends = format_range(measurement, self.locale)
        return typeset(f"{shown} ({ends})", self.locale) if ends else shown


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A finished chart: the drawing as HTML, and what it shows as a table of text."""

    drawing: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]  # the first of each names it
    has_ranges: bool = False  # in brackets

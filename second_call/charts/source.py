"""What a chart asks of its recipe: measurements, and how readers call cases, variants and parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from babel import Locale
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from recipe_gallery.languages import current_language, typeset
from recipe_gallery.pages.measurements.format import format_measurement, format_range
from recipe_gallery.pages.measurements.known import FIGURE, MAYBE, Answer, answers, know
from recipe_gallery.pages.measurements.naming import QUANTITY
from recipe_gallery.recipes.measurements import Measurement
from recipe_gallery.recipes.rows import Row, slug
from recipe_gallery.store import watch
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.translations import find_message

_ = get_translation("second_call")

COLOURS = 8


def label(env: BuildEnvironment, docname: str, name: str) -> str:
    """Return what readers of this build call ``name``, a word in rows of the recipe ``docname``."""
    return find_message(env, docname, name, Kind.NAME)


def find_name(_app: Sphinx, _docname: str, kind: str, word: str) -> str | None:
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
    costs |= {"bytes": _("bytes")}
    passes = {"first_pass": _("first pass"), "second_pass": _("second pass")}
    passes |= {"third_pass": _("third pass"), "graphs": _("graphs")}
    return {**times, **starts, **gains, **shares, **counts, **costs, **passes}


@dataclass(kw_only=True)
class Source:
    """Where a chart gets measurements and names; it notes what is wrong with its questions."""

    env: BuildEnvironment
    docname: str  # of the recipe, which is the page
    case: str  # may hold a size behind a dot: adam.10
    problems: list[str] = field(default_factory=list)
    used: list[Measurement] = field(default_factory=list)  # what it was answered
    variants: Sequence[str] = ()  # of the whole recipe: each has one colour in all charts

    @property
    def locale(self) -> Locale:
        """The reader's."""
        return current_language(self.env.config).locale

    @property
    def is_recipe(self) -> bool:
        """Whether the page is a recipe's, which may have rows."""
        return watch(self.env, know, self.docname) is not None

    def name(self, word: str) -> str:
        """Return what readers call a variant, a case, a part or a quantity."""
        shown = label(self.env, self.docname, word)
        return str(name_quantities().get(word, shown)) if shown == word else shown

    def find_all(
        self, variants: Sequence[str], quantities: Sequence[str], sizes: Sequence[str] = ()
    ) -> dict[tuple[str, str], Measurement | None]:
        """Return measurements by variant and quantity, or by variant and size of the one quantity.

        Not all need be there. A variant without any is a problem, and so is a quantity or a size.
        """
        others = sizes or quantities
        asked = [(quantities[0], each) if sizes else (each, "") for each in others]
        keys = [self._key(variant, *each) for variant in variants for each in asked]
        pairs = [(variant, each) for variant in variants for each in others]
        found = dict(zip(keys, self._ask(keys), strict=True))
        lines = [keys[at : at + len(others)] for at in range(0, len(keys), len(others))]
        for line in (*lines, *zip(*lines, strict=True)):
            if line and not any(found[key].figure for key in line):
                self._note(line[0])
        return {pair: found[key].figure for pair, key in zip(pairs, keys, strict=True)}

    def find_rows(self, quantity: str) -> list[Row]:
        """Return the rows of a quantity in the case of the chart, as the page's run has them.

        Without a case there has to be one only. What was not measured is a problem.
        """
        known = watch(self.env, know, self.docname)
        processes = known.measurements.processes if known else ()
        if not processes:
            return []
        found = [row for row in processes[0].published.rows if row.quantity == quantity]
        self.variants = list(dict.fromkeys(row.variant for row in found))
        cases = list(dict.fromkeys(row.case for row in found))
        if not self.case and len(cases) > 1:
            raise ValueError(f"{quantity} was measured in {len(cases)} cases; name one by :case:")
        self.case = self.case or "".join(cases)
        case, _dot, size = self.case.partition(".")
        rows = [row for row in found if slug(row.case) == slug(case)]
        rows = [row for row in rows if size in ("", str(row.size))]
        if not rows:
            self.note("", quantity)
        return rows

    def note(self, variant: str, quantity: str) -> None:
        """Note why there is no measurement."""
        self._note(self._key(variant, quantity))

    def _note(self, key: str) -> None:
        (answer,) = self._ask([key], FIGURE)
        known = answer.in_files or answer.problem in self.problems  # told once for all of them
        if answer.problem and not known:
            self.problems.append(answer.problem)

    def find_limit(self, variants: Iterable[str], size: str = "") -> float | None:
        """Return the limit in seconds: the share of it that variants reach, times their time."""
        for variant in variants:
            keys = [self._key(variant, each, size) for each in ("share", "gpu", "wall")]
            share, gpu, wall = (answer.figure for answer in self._ask(keys))
            if share and (busy := gpu or wall):
                return share.value * busy.value
        return None

    def colour(self, variant: str, variants: Sequence[str]) -> str:
        """Return the class of the colour of one of the variants of a chart.

        Those of ``self.variants`` have one each, the same in all charts of a quantity.
        """
        places = [slug(each) for each in self.variants or variants]
        return f"series-{places.index(slug(variant)) % COLOURS + 1}"

    def show(self, measurement: Measurement) -> str:
        """Return a measurement with its unit."""
        return format_measurement(measurement, self.locale)

    def show_range(self, measurement: Measurement) -> str:
        """Return a measurement with its unit and its interval, for a table."""
        shown = self.show(measurement)
        ends = format_range(measurement, self.locale)
        return typeset(f"{shown} ({ends})", self.locale) if ends else shown

    def ask(self, variant: str, *quantities: str) -> list[Answer]:
        """Return what the recording says to questions about a variant."""
        return self._ask([self._key(variant, each) for each in quantities])

    def _key(self, variant: str, quantity: str, size: str = "") -> str:
        case, _dot, own = self.case.partition(".")
        return ".".join(slug(each) for each in (case, size or own, variant, quantity) if each)

    def _ask(self, keys: Sequence[str], kind: str = MAYBE) -> list[Answer]:
        questions = [f"{kind} {key}" for key in keys]
        found = list(watch(self.env, answers, self.docname, *questions))
        self.used += [each.figure for each in found if each.figure]
        return found


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a chart shows, as text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]  # the first of each names it
    has_ranges: bool = False  # in brackets


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A finished chart."""

    drawing: str  # HTML
    table: Table

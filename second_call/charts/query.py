"""The question of a chart to its recipe: measurements, names, limits, and what is missing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import (
    Gallery,
    Measurement,
    RecipeResults,
    Typography,
    slug,
)

from ..labels import _
from ..quantities import GAIN_UNITS
from .chart_data import ChartData, ChartRow, FormattedValue, Role, Size
from .scales import format_rounded

WALL, GPU, SHARE = "wall", "gpu", "share"
BUSY = "busy"  # a form of chart, in the place of quantities


def query(
    env: BuildEnvironment,
    docname: str,
    *,
    case: str = "",
    quantities: Sequence[str],
    optional: Sequence[str] = (),
    only: Sequence[str] = (),
    best: str = "",
    with_limits: bool = False,
) -> ChartData:
    """Return what the recipe with the page ``docname`` measured of a case.

    ``case`` may hold a size behind a dot (``adam.10``) and be left out where there is one. A
    missing measurement of ``quantities`` is a problem, one of ``optional`` is not. ``only`` names
    the variants to draw, in order, and ``best`` the recommended one, in words or as in keys. A name
    with dots is a variant of another case, as in keys: ``budget.0-1.blocks``. Rows
    are empty where nothing was measured. Raises ``ValueError`` if the page is no recipe's, if
    several cases may be meant, or if ``best`` is left out of ``only``.
    """
    gallery = Gallery(env)
    typography = Typography.of(env.config)
    results = gallery.load_results(docname)
    if results is None and docname not in gallery.files:
        raise ValueError("this page is not a recipe; name one by :recipe:")
    if results is None:
        return ChartData(typography=typography)  # the recipe cannot be read, which its page tells
    recipe = _Recipe(gallery=gallery, docname=docname, results=results, typography=typography)

    published = results.measurements.published
    case = case or _only_case(published, quantities[0])
    measured = _measurements_of_case(published, case)
    elsewhere = _measurements_elsewhere(published, only, [*quantities, *optional])
    required = [measurement for measurement in measured if measurement.quantity in quantities]
    variants, missing_variants = _choose_variants(required, list(elsewhere), only, best)
    missing_quantities = _missing_quantities(case, published, measured, quantities)
    problems = _find_problems(recipe, missing_quantities)
    if not problems:  # of a quantity that does not exist, no variant was measured either
        missing = _missing_variants(case, measured, quantities, missing_variants)
        problems = _find_problems(recipe, missing)
    if problems and case and not measured:
        problems = [_describe_missing_case(case, published, quantities)]
    limits = {}
    if with_limits:
        limits = _find_limits(measured, typography)

    drawn_quantities = [*quantities, *optional]
    drawn = []
    for measurement in measured:
        if measurement.quantity in drawn_quantities and measurement.variant in variants:
            drawn.append(measurement)
    rows = _make_rows(recipe, drawn, elsewhere, variants, quantities[0], best)
    for measurements in elsewhere.values():
        drawn += measurements
    data = ChartData(
        typography=typography,
        rows=rows,
        quantities={word: recipe.name_quantity(word) for word in drawn_quantities},
        limits=limits,
        range_note=_describe_ranges(drawn),
        problems=problems,
    )
    if not drawn:
        return data
    size_name = drawn[0].size_name
    case_name = recipe.name_case(case, drawn[0])
    processes = _describe_processes(results, drawn)
    return replace(
        data,
        size_name=recipe.name(size_name) if size_name else "",
        scope=case_name + typography.SEPARATOR + processes,
    )


@dataclass(frozen=True, kw_only=True)
class _Recipe:
    """The recipe that is asked, and for which readers."""

    gallery: Gallery
    docname: str
    results: RecipeResults
    typography: Typography

    def name(self, word: str) -> str:
        """Return what readers call a variant or what a size counts, which may be a quantity."""
        name = self.gallery.name_word(self.docname, word)
        if name == word:
            return self.gallery.name_quantity(self.docname, word)
        return name

    # A recipe may have a name of its own for a quantity.
    name_quantity = name

    def name_case(self, case: str, measurement: Measurement) -> str:
        """Return what readers call the case that is drawn, and its size if the chart is of one."""
        size = measurement.size
        if not case.endswith(f".{size}"):
            size = None
        return self.gallery.name_case(self.docname, measurement.case, size, measurement.size_name)

    def name_place(self, measurement: Measurement) -> str:
        """Return what readers call the case and the size of a measurement."""
        return self.gallery.name_case(
            self.docname, measurement.case, measurement.size, measurement.size_name
        )


def _only_case(published: Sequence[Measurement], quantity: str) -> str:
    """Return the one case in which a quantity was measured; empty if there is none."""
    cases = []
    for measurement in published:
        if measurement.quantity == quantity and measurement.case not in cases:
            cases.append(measurement.case)
    if len(cases) > 1:
        raise ValueError(f"{quantity} was measured in {len(cases)} cases; name one by :case:")
    return cases[0] if cases else ""


def _describe_missing_case(
    case: str, published: Sequence[Measurement], quantities: Sequence[str]
) -> str:
    """Return that a case was not measured, and in which ones the quantities were."""
    cases = []
    for measurement in published:
        size = "" if measurement.size is None else f".{measurement.size}"
        if measurement.quantity in quantities:
            cases.append(f"{measurement.case}{size}")
    names = ", ".join(dict.fromkeys(cases)) or "none"
    return (
        f"chart: {case!r} is not a case with {', '.join(quantities)}; write "
        f":case: with one of: {names}"
    )


def _measurements_of_case(published: Sequence[Measurement], case: str) -> list[Measurement]:
    """Return the measurements of a case, which may be named with a size behind a dot."""
    name, _dot, size = case.partition(".")
    measurements = []
    for measurement in published:
        if slug(measurement.case) != slug(name):
            continue
        if not size or size == str(measurement.size):
            measurements.append(measurement)
    return measurements


def _measurements_elsewhere(
    published: Sequence[Measurement], only: Sequence[str], quantities: Sequence[str]
) -> dict[str, list[Measurement]]:
    """Return what was measured of the variants of other cases, by the names that have dots."""
    elsewhere: dict[str, list[Measurement]] = {}
    for name in only:
        for measurement in published:
            place, _dot, _quantity = measurement.key.rpartition(".")
            if "." in name and place == name and measurement.quantity in quantities:
                elsewhere.setdefault(name, []).append(measurement)
    return elsewhere


def _choose_variants(
    measured: Sequence[Measurement], elsewhere: Sequence[str], only: Sequence[str], best: str
) -> tuple[list[str], dict[str, str]]:
    """Return the variants to draw, in order, and those that were asked for and not measured.

    The latter come with the option that names them, as its author wrote it. ``elsewhere`` are the
    names of those of other cases.
    """
    variants = {slug(measurement.variant): measurement.variant for measurement in measured}
    variants |= {slug(name): name for name in elsewhere}
    wanted = [slug(name) for name in only]
    if best and wanted and slug(best) not in wanted:
        raise ValueError(f"the best variant, {best!r}, is missing from :only:; name it there, too")
    missing = {}
    if best and slug(best) not in variants:
        missing[best if "." in best else slug(best)] = f":best: {best}"
    for name in only:
        if slug(name) not in variants:
            missing.setdefault(name if "." in name else slug(name), f":only: {name}")
    if not wanted:
        return list(variants.values()), missing
    return [variants[name] for name in wanted if name in variants], missing


@dataclass(frozen=True, kw_only=True)
class _Missing:
    """What was asked for and not measured: its key, and what an author is told of it."""

    key: str  # as prose would have it; empty if no key can name it
    text: str


def _missing_quantities(
    case: str,
    published: Sequence[Measurement],
    measured: Sequence[Measurement],
    quantities: Sequence[str],
) -> Iterator[_Missing]:
    """Yield the quantities that were asked for and not measured in a case.

    Each comes with those that the recipe has published.
    """
    measured_quantities = {measurement.quantity for measurement in measured}
    for quantity in quantities:
        if quantity not in measured_quantities:
            text = f"chart: no quantity is called {quantity!r}{_suggest(quantity, published)}"
            key = ".".join([*_key_parts(case), quantity])
            if "." in quantity and published:
                key = ""  # a whole key is no quantity, even if it is a key
            yield _Missing(key=key, text=text)


def _missing_variants(
    case: str,
    measured: Sequence[Measurement],
    quantities: Sequence[str],
    missing_variants: Mapping[str, str],
) -> Iterator[_Missing]:
    """Yield the variants that were asked for and not measured, each with those there are."""
    names = ", ".join(dict.fromkeys(slug(measurement.variant) for measurement in measured))
    for name, option in missing_variants.items():
        place = [name] if "." in name else [*_key_parts(case), name]
        key = ".".join([*place, quantities[0]])
        yield _Missing(key=key, text=f"chart: {option} is not a variant; choose among: {names}")


def _suggest(quantity: str, published: Sequence[Measurement]) -> str:
    """Return what a chart may draw in place of a quantity that is none: what is similar, or all.

    Of a whole key, as prose has it, its quantity is meant.
    """
    names = list(dict.fromkeys(measurement.quantity for measurement in published))
    if not names:
        return (
            "; this recipe publishes no rows: add "
            'display({"application/vnd.recorded-gallery.rows+json": {"rows": rows}}, raw=True)'
        )
    if WALL in names:
        names.append(BUSY)
    word = quantity.partition("@")[0].rpartition(".")[2]
    similar = difflib.get_close_matches(word, names)
    if similar:
        return f"; similar: {', '.join(similar)}"
    return f"; choose among: {', '.join(names)}"


def _key_parts(case: str) -> list[str]:
    return [slug(part) for part in case.split(".") if part]


def _find_problems(recipe: _Recipe, missing: Iterable[_Missing]) -> list[str]:
    """Return what an author is told of what is missing and no GPU would measure, each once.

    What is wrong with the files of replicates is left out: it is told for the whole site.
    """
    problems: dict[str, None] = {}
    for one in missing:
        if not one.key:
            problems[one.text] = None
            continue
        lookup = recipe.gallery.look_up(recipe.docname, one.key)
        if lookup.problem and not lookup.is_unreadable:
            problems[one.text] = None
    return list(problems)


def _make_rows(
    recipe: _Recipe,
    measured: Sequence[Measurement],
    elsewhere: Mapping[str, Sequence[Measurement]],
    variants: Sequence[str],
    main: str,
    best: str,
) -> list[ChartRow]:
    """Return a row for each variant and size, variants in order.

    A variant of another case has the name of that case, and the size of those beside it.
    """
    places: dict[tuple[str, Size], dict[str, Measurement]] = {}
    names = {variant: recipe.name(variant) for variant in variants}
    for measurement in measured:
        place = measurement.variant, measurement.size
        places.setdefault(place, {})[measurement.quantity] = measurement
    size = measured[0].size if measured else None
    for name, measurements in elsewhere.items():
        places[name, size] = {one.quantity: one for one in measurements}
        names[name] = recipe.name_place(measurements[0])
    rows = []
    for variant, size in sorted(places, key=lambda place: variants.index(place[0])):
        by_quantity = places[variant, size]
        values = {}
        for quantity, measurement in by_quantity.items():
            values[quantity] = make_value(measurement, recipe.typography)
        before = places.get((variants[0], size), {})
        ratio = _find_gain(recipe.results, before.get(main), by_quantity.get(main))
        gain = None
        paired_before = None
        if ratio:
            gain = make_value(ratio, recipe.typography)
            paired_before = _find_paired_before(recipe, before[main], by_quantity[main])
        row = ChartRow(
            variant=variant,
            name=names[variant],
            role=_find_role(variant, variants[0], best),
            size=size,
            values=values,
            gain=gain,
            paired_before=paired_before,
            runs=describe_runs(by_quantity[main]) if paired_before else "",
        )
        rows.append(row)
    return rows


def _find_role(variant: str, first: str, best: str) -> Role:
    if best and slug(variant) == slug(best):
        return Role.BEST
    if variant == first:
        return Role.BEFORE
    return Role.OTHER


def _find_gain(
    results: RecipeResults, before: Measurement | None, after: Measurement | None
) -> Measurement | None:
    """Return how many times less was measured than before, if less of it is better."""
    if before is None or after is None or after is before:
        return None
    if after.unit not in GAIN_UNITS:
        return None
    return results.measurements.find_ratio(before.key, after.key)


def _find_paired_before(
    recipe: _Recipe, before: Measurement, after: Measurement
) -> FormattedValue | None:
    """Return what was measured before in the processes of a row; None if that is as for others.

    Code that a recipe runs once, on its page, is compared with that run alone.
    """
    if after.processes >= before.processes:
        return None
    paired = recipe.results.measurements.find_paired(before.key, after.key)
    return make_value(paired, recipe.typography)


def describe_runs(measurement: Measurement) -> str:
    """Return that a measurement is of one process or of one machine; else nothing."""
    if measurement.processes == 1:
        return _("1 run")
    if measurement.hosts == 1:
        return _("1 machine")
    return ""


def make_value(measurement: Measurement, typography: Typography) -> FormattedValue:
    """Return a measurement with its words."""
    words = typography.format_measurement(measurement)
    range_words = typography.format_range(measurement)
    full_words = words
    if range_words:
        full_words = typography.typeset(f"{words} ({range_words})")
    return FormattedValue(
        number=measurement.value,
        shown=typography.round_measurement(measurement),
        low=measurement.low,
        high=measurement.high,
        unit=measurement.unit,
        words=words,
        range_words=range_words,
        full_words=full_words,
    )


def _find_limits(
    measured: Sequence[Measurement], typography: Typography
) -> dict[Size, FormattedValue]:
    """Return limits in seconds by size: the share that a variant reaches, times its time."""
    by_key = {measurement.key: measurement for measurement in measured}
    limits: dict[Size, FormattedValue] = {}
    for share in measured:
        if share.quantity != SHARE or share.size in limits:
            continue
        time = by_key.get(replace(share, quantity=GPU).key)
        if time is None:
            time = by_key.get(replace(share, quantity=WALL).key)
        if time is None or not share.value * time.value:
            continue
        seconds = share.value * time.value
        words = format_rounded(seconds, "s", typography)
        limits[share.size] = FormattedValue(
            number=seconds,
            shown=seconds,
            low=seconds,
            high=seconds,
            unit="s",
            words=words,
            full_words=words,
        )
    return limits


def _describe_processes(results: RecipeResults, measured: Sequence[Measurement]) -> str:
    """Return the device of measurements, and of how many processes they are medians."""
    counts = sorted({measurement.processes for measurement in measured})
    processes = str(counts[0])
    if len(counts) > 1:
        processes = Typography.join_ends(str(counts[0]), str(counts[-1]))
    facts = {
        "device": results.device,
        "processes": processes,
        "machines": max(measurement.hosts for measurement in measured),
    }
    text = _("medians on %(device)s (processes: %(processes)s, machines: %(machines)s)")
    return text % facts


def _describe_ranges(measured: Sequence[Measurement]) -> str:
    """Return what stands in brackets behind a value; nothing where one process measured all."""
    for measurement in measured:
        if measurement.processes > 1:
            return _(
                "in parentheses: the range expected on other machines, or the range measured so far"
            )
    return ""

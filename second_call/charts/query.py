"""The question of a chart to its recipe: measurements, names, limits, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from babel import Locale
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import (
    Kind,
    Measurement,
    Outcome,
    RecipeResults,
    Row,
    Size,
    all_files,
    current_language,
    find_message,
    format_measurement,
    format_range,
    join_ends,
    load_results,
    look_up,
    name_case,
    once,
    slug,
    typeset,
    watch,
)

from ..quantities import name_quantities
from .chart_data import ChartData, ChartRow, Role, Value
from .scales import format_value

_ = get_translation("second_call")

WALL, GPU, SHARE = "wall", "gpu", "share"
_GAIN_UNITS = ("s", "B")  # of what is better the less of it there is


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
    the variants to draw, in order, and ``best`` the recommended one, in words or as in keys. Rows
    are empty where nothing was measured. Raises ``ValueError`` if the page is no recipe's, if
    several cases may be meant, or if ``best`` is left out of ``only``.
    """
    locale = current_language(env.config).locale
    results = watch(env, load_results, docname)
    if results is None and docname not in once(env, all_files):
        raise ValueError("it draws what a recipe has measured, and this page is none's")
    if results is None:
        return ChartData(locale=locale)  # the recipe cannot be read, which its page tells
    recipe = _Recipe(env=env, docname=docname, results=results, locale=locale)
    published = _published_rows(results)
    case = case or _only_case(published, quantities[0])
    by_key = results.measurements.by_key
    measured = [by_key[row.key] for row in _rows_of_case(published, case)]
    required = [figure for figure in measured if figure.quantity in quantities]
    variants, missing_variants = _choose_variants(required, only, best)
    wanted = [*quantities, *optional]
    shown = [
        figure for figure in measured if figure.quantity in wanted and figure.variant in variants
    ]
    missing_keys = _missing_keys(case, measured, quantities, missing_variants)
    sizes = shown[0].sizes if shown else ""
    case_name = recipe.name_case(case, shown)
    return ChartData(
        locale=locale,
        rows=_make_rows(recipe, shown, variants, quantities[0], best),
        quantities={word: recipe.name(word) for word in wanted},
        sizes=recipe.name(sizes) if sizes else "",
        limits=_find_limits(measured, locale) if with_limits else {},
        case=case_name,
        scope=f"{case_name} · {_describe_processes(results, shown)}" if shown else "",
        range_note=_describe_ranges(shown),
        problems=_find_problems(recipe, missing_keys),
    )


@dataclass(frozen=True, kw_only=True)
class _Recipe:
    """The recipe that is asked, and for which readers."""

    env: BuildEnvironment
    docname: str
    results: RecipeResults
    locale: Locale

    def name(self, word: str) -> str:
        """Return what readers call a variant, a part or a quantity."""
        message = find_message(self.env, self.docname, word, Kind.NAME)
        if message == word:
            return str(name_quantities().get(word, word))
        return message

    def name_case(self, case: str, measured: Sequence[Measurement]) -> str:
        """Return what readers call the case that is drawn, and its size if the chart is of one."""
        if not measured:
            return ""
        first = measured[0]
        size = first.size if case.endswith(f".{first.size}") else None
        pieces = name_case(self.env, self.docname, first.case, size, first.sizes)
        return "".join(text for text, _is_data in pieces)


def _published_rows(results: RecipeResults) -> Sequence[Row]:
    """Return the rows of the page's own run, which has the order of the recipe."""
    processes = results.measurements.processes
    return processes[0].rows if processes else ()


def _only_case(rows: Sequence[Row], quantity: str) -> str:
    """Return the one case in which a quantity was measured; empty if there is none."""
    cases = list(dict.fromkeys(row.case for row in rows if row.quantity == quantity))
    if len(cases) > 1:
        raise ValueError(f"{quantity} was measured in {len(cases)} cases; name one by :case:")
    return "".join(cases)


def _rows_of_case(rows: Sequence[Row], case: str) -> list[Row]:
    name, _dot, size = case.partition(".")
    return [row for row in rows if slug(row.case) == slug(name) and size in ("", str(row.size))]


def _choose_variants(
    measured: Sequence[Measurement], only: Sequence[str], best: str
) -> tuple[list[str], list[str]]:
    """Return the variants to draw, in order, and those that were asked for and not measured."""
    by_slug = {slug(figure.variant): figure.variant for figure in measured}
    asked = [slug(name) for name in only]
    if best and asked and slug(best) not in asked:
        raise ValueError(f"the best variant, {best!r}, is none of :only:; name it there, too")
    missing = [name for name in dict.fromkeys([*asked, slug(best)]) if name and name not in by_slug]
    drawn = [name for name in asked or by_slug if name in by_slug]
    return [by_slug[name] for name in drawn], missing


def _missing_keys(
    case: str,
    measured: Sequence[Measurement],
    quantities: Sequence[str],
    missing_variants: Sequence[str],
) -> Iterator[str]:
    """Yield keys, as prose would have them, of what was asked for and not measured."""
    parts = [slug(part) for part in case.split(".") if part]
    for quantity in quantities:
        if not any(figure.quantity == quantity for figure in measured):
            yield ".".join([*parts, quantity])
    for variant in missing_variants:
        yield ".".join([*parts, variant, quantities[0]])


def _find_problems(recipe: _Recipe, keys: Iterable[str]) -> list[str]:
    """Return why keys were not measured, each reason once.

    What is wrong with the files of replicates is left out: it is told for the whole site.
    """
    problems: list[str] = []
    for key in keys:
        lookup = look_up(recipe.env, recipe.docname, key)
        is_of_files = lookup.outcome is Outcome.UNREADABLE
        if lookup.problem and not is_of_files and lookup.problem not in problems:
            problems.append(lookup.problem)
    return problems


def _make_rows(
    recipe: _Recipe,
    measured: Sequence[Measurement],
    variants: Sequence[str],
    main: str,
    best: str,
) -> list[ChartRow]:
    """Return a row for each variant and size, variants in order."""
    by_place: dict[tuple[str, Size], dict[str, Measurement]] = {}
    for figure in measured:
        by_place.setdefault((figure.variant, figure.size), {})[figure.quantity] = figure
    ordered = sorted(by_place.items(), key=lambda item: variants.index(item[0][0]))
    rows = []
    for (variant, size), by_quantity in ordered:
        before = by_place.get((variants[0], size), {}).get(main)
        gain = _find_gain(recipe.results, before, by_quantity.get(main))
        values = {word: make_value(each, recipe.locale) for word, each in by_quantity.items()}
        rows.append(
            ChartRow(
                variant=variant,
                name=recipe.name(variant),
                role=_find_role(variant, variants[0], best),
                size=size,
                values=values,
                gain=make_value(gain, recipe.locale) if gain else None,
            )
        )
    return rows


def _find_role(variant: str, first: str, best: str) -> Role:
    if best and slug(variant) == slug(best):
        return Role.BEST
    return Role.BEFORE if variant == first else Role.OTHER


def _find_gain(
    results: RecipeResults, before: Measurement | None, figure: Measurement | None
) -> Measurement | None:
    """Return how many times less than before a figure is, if less of it is better."""
    if before is None or figure is None or figure is before or figure.unit not in _GAIN_UNITS:
        return None
    return results.measurements.compare(before.key, figure.key)


def make_value(measurement: Measurement, locale: Locale) -> Value:
    """Return a measurement with its words."""
    words = format_measurement(measurement, locale)
    range_words = format_range(measurement, locale)
    full_words = typeset(f"{words} ({range_words})", locale) if range_words else words
    return Value(
        number=measurement.value,
        low=measurement.low,
        high=measurement.high,
        unit=measurement.unit,
        words=words,
        range_words=range_words,
        full_words=full_words,
    )


def _find_limits(measured: Sequence[Measurement], locale: Locale) -> dict[Size, Value]:
    """Return limits in seconds by size: the share that a variant reaches, times its time."""
    by_key = {figure.key: figure for figure in measured}
    limits: dict[Size, Value] = {}
    for share in measured:
        if share.quantity != SHARE or share.size in limits:
            continue
        time = by_key.get(replace(share, quantity=GPU).key)
        time = time or by_key.get(replace(share, quantity=WALL).key)
        if time and share.value * time.value:
            seconds = share.value * time.value
            words = format_value(seconds, "s", locale)
            limits[share.size] = Value(
                number=seconds, low=seconds, high=seconds, unit="s", words=words, full_words=words
            )
    return limits


def _describe_processes(results: RecipeResults, measured: Sequence[Measurement]) -> str:
    """Return on which device figures were measured, and of how many processes they are medians."""
    counts = sorted({figure.processes for figure in measured})
    processes = str(counts[0])
    if counts[1:]:
        processes = join_ends(str(counts[0]), str(counts[-1]))
    text = _("medians on %(device)s (processes: %(processes)s, machines: %(machines)s)")
    machines = max(figure.hosts for figure in measured)
    return str(text % {"device": results.device, "processes": processes, "machines": machines})


def _describe_ranges(measured: Sequence[Measurement]) -> str:
    """Return what stands in brackets behind a value; nothing where one process measured all."""
    if not any(figure.processes > 1 for figure in measured):
        return ""
    return str(_("in brackets: where a further machine is expected, or what machines have shown"))

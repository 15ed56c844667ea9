"""Drift as a person reads it: text for a terminal, Markdown for a pull request."""

import math
from collections.abc import Iterable, Sequence

from ...errors import suggest
from ..replicates.report import count
from .compare import ChangedClaim, Compared, Drift

BAR = 0.95  # of a later recording's figures, so many should lie within the published intervals
_MOST = 20  # lines of a kind in a pull request
# Characters behind which no recipe begins: GitHub takes 65,536, and more stands beside this report.
_ENOUGH = 25_000
_COLUMNS = ("Class", "Figure", "Published", "Interval", "Now", "Change")


def format_text(found: Sequence[Drift], base: str) -> str:
    """Return lines of text, the count last."""
    lines = []
    for drift in found:
        lines.append(f"{drift.name}: {_summarize(drift)}")
        for name, outside in drift.outside.items():
            of = sum(each.figure.spread_class == name for each in drift.compared)
            lines.append(f"  {name}: {len(outside)} of {of} outside")
            rows = [_describe(each) for each in outside]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
                lines.append(f"    {'  '.join(cells)}".rstrip())
        lines += [f"  {line}" for line in _list_others(drift)]
    return "\n".join([*lines, _total(found, base)])


def format_markdown(found: Sequence[Drift], base: str) -> str:
    """Return Markdown; what a recipe wrote stands in it as code, so that it addresses nobody."""
    lines = ["### Figures beside those that are published", "", _total(found, base)]
    for place, drift in enumerate(found):
        if sum(map(len, lines)) > _ENOUGH:
            left = count(len(found) - place, "more recipe")
            return "\n".join([*lines, "", f"{left} left out; all: {suggest('drift')}"])
        lines += ["", f"#### {_code(drift.name)}", ""]
        rows = [
            (name, *_describe(each)) for name, outside in drift.outside.items() for each in outside
        ]
        if rows:
            lines += [f"| {' | '.join(_COLUMNS)} |", f"|{'---|' * len(_COLUMNS)}"]
            lines += [f"| {' | '.join(map(_code, row))} |" for row in rows[:_MOST]]
            lines += ["", *([f"{len(rows) - _MOST} more are outside.", ""] if rows[_MOST:] else [])]
        others = [_summarize(drift), *_list_others(drift)]
        # a fence ends at three backticks, wherever they came from
        lines += ["```text", *(line.replace("`", "'") for line in others), "```"]
    return "\n".join(lines)


FORMATS = {"text": format_text, "markdown": format_markdown}


def _summarize(drift: Drift) -> str:
    """Say how many figures are outside, and what they were compared with."""
    parts = []
    if drift.processes:
        outside = sum(map(len, drift.outside.values()))
        parts.append(f"{outside} of {len(drift.compared)} figures outside their interval")
        processes, hosts = count(drift.processes, "new process", "es"), count(drift.hosts, "host")
        parts.append(f"{processes} on {hosts}, {drift.device}")
    return "; ".join([*parts, drift.note] if drift.note else parts)


def _describe(compared: Compared) -> tuple[str, str, str, str, str]:
    """Return key, published value and interval, new value and change of a figure."""
    figure, unit = compared.figure, f" {compared.figure.unit}" if compared.figure.unit else ""
    interval = f"{figure.low:.4g} to {figure.high:.4g}"
    change = f"{100 * compared.change:+.1f} %" if math.isfinite(compared.change) else "was 0"
    return figure.key, f"{figure.value:.4g}{unit}", interval, f"{compared.value:.4g}{unit}", change


def _list_others(drift: Drift) -> list[str]:
    """Return lines on claims, and on figures that were not there or are no longer."""
    return [
        *_limit(map(_describe_claim, drift.claims)),
        *_limit(f"new figure: {name}" for name in drift.new),
        *_limit(f"no longer measured: {name}" for name in drift.gone),
    ]


def _describe_claim(claim: ChangedClaim) -> str:
    before, now = (f"{held[0]} of {held[1]}" if held else "" for held in (claim.before, claim.now))
    if not now:
        return f"claim {claim.key}: no longer made"
    said = f"held in {before}, now in {now}" if before else f"new, holds in {now}"
    return f"claim {claim.key}: {said}{f': {claim.evidence}' if claim.evidence else ''}"


def _limit(lines: Iterable[str]) -> list[str]:
    every = list(lines)
    more = [f"... and {len(every) - _MOST} more"] if every[_MOST:] else []
    return [*every[:_MOST], *more]


def _total(found: Sequence[Drift], base: str) -> str:
    """Say what part of all figures lies within the intervals that ``base`` has."""
    compared = [each for drift in found for each in drift.compared]
    if not compared:
        return f"no figure to compare with {base}"
    within = sum(not each.is_outside for each in compared)
    share = within / len(compared)
    return (
        f"{within} of {len(compared)} figures ({math.floor(100 * share)} %) within the intervals "
        f"of {base}; of a later recording {100 * BAR:.0f} % should be"
        + ("" if share >= BAR else " (fewer are)")
    )


def _code(text: str) -> str:
    """Return text as code in a cell of a table."""
    return "`" + " ".join(text.replace("`", "'").replace("|", "\\|").split()) + "`"

"""Stored figures: the interval of each published figure, in ``recordings/<name>.figures.jsonl``.

They are computed when something is recorded (``record/replicates/``), not when pages are built. The
first line is a header: the method, and digests of what they were computed from and of the lines
below, so that figures which do not belong to the replicates, and a merge of two branches, are
told. Then comes a line for each figure, each ratio of two and each claim, sorted by key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import GalleryError, suggest
from .files import replace_file
from .hashes import digest
from .rows import LONGEST_NAME, Size, parse, require_number, require_text

SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured figure, and where that of another recording made like this one will fall."""

    key: str
    case: str
    arm: str
    size: Size
    quantity: str
    unit: str
    spread_class: str  # whose spread it shares; by default the quantity
    value: float  # median of processes
    low: float
    high: float
    processes: int
    hosts: int  # of one alone it is not known how hosts differ

    @property
    def width(self) -> float:
        """How far the interval reaches from the value, at most: 0.1 for ±10 %."""
        if self.low == self.high:
            return 0.0
        if not (self.low and self.value):
            return float("inf")
        return max(self.high / self.value, self.value / self.low) - 1


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """How many times as much one figure is as another, both in one process."""

    key: str  # of the figure
    over: str  # key of the one that it is divided by
    value: float
    low: float
    high: float
    processes: int
    hosts: int

    @property
    def inverse(self) -> Ratio:
        """The other one over this one."""
        value, low, high = 1 / self.value, 1 / self.high, 1 / self.low
        return replace(self, key=self.over, over=self.key, value=value, low=low, high=high)


@dataclass(frozen=True, kw_only=True)
class Refutation:
    """A process that says the opposite of a claim."""

    replicate: int  # its number; 0 is the run that the page shows
    host: str
    evidence: str


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """What all processes say of a claim."""

    key: str
    held: int  # in so many processes
    of: int
    evidence: str  # of the first in which it held, the page's run if it is among them
    refuted: tuple[Refutation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figures:
    """All figures and claims of a recording, by key."""

    figures: dict[str, Figure] = field(default_factory=dict)
    ratios: dict[tuple[str, str], Ratio] = field(default_factory=dict)  # by key and over
    claims: dict[str, ClaimRecord] = field(default_factory=dict)
    sources: str = ""  # digest of what they were computed from
    method: str = ""

    def compare(self, key: str, over: str) -> Ratio | None:
        """Return how many times as much as another a figure is, if that is stored."""
        if found := self.ratios.get((key, over)):
            return found
        found = self.ratios.get((over, key))
        return found.inverse if found else None


def figures_path(recording: Path) -> Path:
    """Return where the figures of a recording ``recordings/<name>.ipynb`` lie."""
    return recording.with_suffix(".figures.jsonl")


def load_figures(recording: Path, content: bytes | None = None) -> Figures:
    """Return the figures stored beside a recording; none if there is no file.

    ``content`` is what the file holds, if it is of a commit. Raises ``GalleryError`` that names the
    line if they are damaged, or of two merged branches.
    """
    path = figures_path(recording)
    remedy = f"run: {suggest('figures', recording.stem)}"
    number = 1
    try:
        if content is None and path.exists() and not path.is_file():
            raise ValueError("not a file")  # reading a pipe would never end
        stored = path.read_bytes() if content is None else content
        values = []
        for number, line in enumerate(stored.splitlines(), 1):
            values.append(json.loads(line))
            if number > 1 and "schema" in values[-1]:
                raise ValueError("figures of two branches were merged")
        number = 1  # what is wrong with them together is told of the header
        return _read_values(values)
    except FileNotFoundError:
        return Figures()
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        text = "not a whole line (invalid JSON)"
    except (AttributeError, IndexError, KeyError, TypeError):
        text = "not figures made here"
    except ValueError as error:
        text = str(error)
    raise GalleryError(text, path=path, line=number, remedy=remedy)


def _read_values(values: list[dict[str, Any]]) -> Figures:
    header, lines = values[0], values[1:]
    if header["schema"] != SCHEMA:
        raise ValueError(f"in format {header['schema']!r:.20}, this version reads {SCHEMA}")
    if header["lines"] != digest(lines):
        raise ValueError("the lines below are not those that were computed")
    figures, ratios, claims = {}, {}, {}
    for line in lines:
        if "of" in line:
            claims[line["key"]] = _read_claim(line)
        elif "over" in line:
            ratio = _read_ratio(line)
            ratios[ratio.key, ratio.over] = ratio
        else:
            figures[line["key"]] = _read_figure(line)
    found = {"sources": header["sources"], "method": header["method"]}
    return Figures(figures=figures, ratios=ratios, claims=claims, **found)


def _read_figure(line: dict[str, Any]) -> Figure:
    figure = Figure(**line)
    names = ("case", "arm", "size", "quantity", "value", "unit")
    parse({"rows": [{name: line[name] for name in names} | {"class": figure.spread_class}]})
    _require_interval(line)
    return figure


def _read_ratio(line: dict[str, Any]) -> Ratio:
    ratio = Ratio(**line)
    _require_interval(line)
    if not ratio.low:
        raise ValueError("low of a ratio is 0")
    require_text("key", ratio.key, LONGEST_NAME * 4)
    require_text("over", ratio.over, LONGEST_NAME * 4)
    return ratio


def _require_interval(line: dict[str, Any]) -> None:
    for name in ("value", "low", "high"):
        require_number(name, line[name])
    if not line["low"] <= line["value"] <= line["high"]:
        raise ValueError(f"the value {line['value']} lies outside of its interval")
    _require_counts(line["processes"], line["hosts"])


def _read_claim(line: dict[str, Any]) -> ClaimRecord:
    refuted = tuple(Refutation(**each) for each in line["refuted"])
    claim = ClaimRecord(**{**line, "refuted": refuted})
    for evidence in (claim.evidence, *(each.evidence for each in refuted)):
        parse({"claims": [{"claim": claim.key, "holds": True, "evidence": evidence}]})
    for each in refuted:
        require_text("host", each.host, LONGEST_NAME, empty=True)  # old recordings name none
    _require_counts(claim.held, claim.of, *(each.replicate for each in refuted))
    return claim


def _require_counts(*counts: object) -> None:
    if not all(type(each) is int and each >= 0 for each in counts):
        raise TypeError


def store_figures(recording: Path, figures: Figures) -> bool:
    """Write the figures of a recording beside it; tell whether the file changed."""
    path = figures_path(recording)
    sorted_lines = (*_sort(figures.figures), *_sort(figures.ratios), *_sort(figures.claims))
    lines = [asdict(each) for each in sorted_lines]
    lines = json.loads(json.dumps(lines))  # tuples are lists, as they are read again
    header = {"schema": SCHEMA, "method": figures.method}
    header |= {"sources": figures.sources, "lines": digest(lines)}
    text = "".join(f"{json.dumps(each, sort_keys=True)}\n" for each in (header, *lines))
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    try:
        replace_file(path, text.encode())
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        remedy = f"mend it, then run: {suggest('figures', recording.stem)}"
        raise GalleryError(text, path=path, remedy=remedy) from None
    return True


def _sort(records: Mapping[Any, Any]) -> list[Any]:
    return [records[key] for key in sorted(records)]

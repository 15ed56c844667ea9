"""Compare two recordings of the same code: ``python benchmarks/repeatability.py FIRST SECOND``.

FIRST and SECOND are folders of recordings. ``--plain RECIPE=FILE`` adds what a plain run of
``python recipes_source/RECIPE.py`` printed: every table is then shown three times, to be read by
eye, because a plain run does not print the headline figures.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MIME = "application/vnd.recipe-gallery.headline+json"
FIGURES = {
    "speedup": "speed-up",
    "share_of_limit": "share of limit",
    "break_even_calls": "break-even calls",
}
Notebook = dict[str, Any]
Figure = dict[str, float] | None  # value, low and high; None if the recipe has no such figure


def main() -> int:
    """Print the tables; return 1 if the folders do not hold recordings of the same code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path, metavar="FIRST")
    parser.add_argument("second", type=Path, metavar="SECOND")
    parser.add_argument("--plain", action="append", default=[], metavar="RECIPE=FILE")
    options = parser.parse_args()
    names = sorted(path.stem for path in options.first.glob("*.ipynb"))
    if not names:
        parser.error(f"{options.first}: no recordings here; is it the right folder?")
    plain = {}
    for argument in options.plain:
        name, separator, file = argument.partition("=")
        if not separator or name not in names:
            parser.error(f"--plain {argument}: not RECIPE=FILE; recipes: {', '.join(names)}")
        plain[name] = Path(file).read_text(encoding="utf-8").splitlines()
    counts = []
    for name in names:
        pair = [read(folder / f"{name}.ipynb") for folder in (options.first, options.second)]
        if facts(pair[0])["cells"] != facts(pair[1])["cells"]:
            print(f"error: {name}: the recordings are not of the same code", file=sys.stderr)
            return 1
        print(f"\n## {name}\n")
        for order, notebook in zip(("First", "Second"), pair, strict=True):
            print(f"- {order}: {describe(facts(notebook))}")
        rows = list(compare(*pair))
        print("\n| Figure | First | Second | Second / first | Agree? |\n|---|---:|---:|---:|:--:|")
        for cells in rows:
            print("| " + " | ".join(cells) + " |")
        agreeing = sum(cells[-1] == "yes" for cells in rows)
        counts.append((agreeing, len(rows)))
        print(f"\n{agreeing} of {len(rows)} agree.")
        if name in plain:
            print("\n".join(side_by_side(pair, plain[name])))
    print(f"\n{sum(a for a, _ in counts)} of {sum(n for _, n in counts)} figures agree in all.")
    return 0


def read(path: Path) -> Notebook:
    """Read a recording; end the program if there is none."""
    try:
        notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SystemExit(f"error: {path}: no such recording") from None
    return notebook


def facts(notebook: Notebook) -> dict[str, Any]:
    """Return how a recording was made."""
    made: dict[str, Any] = notebook["metadata"]["recording"]
    return made


def describe(made: dict[str, Any]) -> str:
    """Say on what and when a recording was made, and how long it took."""
    device = made["device"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return (
        f"{device.get('gpu') or 'no GPU'}, driver {device.get('driver', '–')}, "
        f"{device['cores']} CPU cores ({device['cpu']}); {versions}; "
        f"{made['recorded']}, commit {(made['commit'] or 'unknown')[:7]}, {made['seconds']:.0f} s"
    )


def outputs(notebook: Notebook, mime: str) -> Iterator[Any]:
    """Yield all of one kind that the cells displayed, in order."""
    for cell in notebook["cells"]:
        for output in cell["outputs"]:
            if mime in output.get("data", {}):
                yield output["data"][mime]


def compare(first: Notebook, second: Notebook) -> Iterator[list[str]]:
    """Yield the cells of one row for each headline figure that either recording has."""
    tables = []
    for notebook in (first, second):
        rows = [row for output in outputs(notebook, MIME) for row in output["rows"]]
        tables.append({(row["case"], row["baseline"]): row for row in rows})
    shown = set()  # a share of the limit has no baseline: one row, whatever a case is compared with
    # What only one of them published is a difference to show as well.
    for case, baseline in dict.fromkeys([*tables[0], *tables[1]]):
        rows = [table.get((case, baseline), {}) for table in tables]
        for key, label in FIGURES.items():
            a, b = (row.get(key) for row in rows)
            name = f"{case}, {label}"
            if key != "share_of_limit":
                name += f" (against {baseline})"
            if (a or b) and name not in shown:
                shown.add(name)
                yield [
                    name,
                    spread(a),
                    spread(b),
                    f"{b['value'] / a['value']:.3f}" if a and b and a["value"] else "–",
                    "yes" if overlap(a, b) else "**no**",
                ]


def overlap(a: Figure, b: Figure) -> bool:
    """Tell whether two spreads share a value."""
    if not a or not b:
        return False
    return max(a["low"], b["low"]) <= min(a["high"], b["high"])


def spread(figure: Figure) -> str:
    """Return a figure as ``value (low–high)``."""
    if not figure:
        return "none"
    value, low, high = (digits(figure[name]) for name in ("value", "low", "high"))
    return f"{value} ({low}–{high})"


def digits(value: float) -> str:
    """Return a number with four digits, without an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def side_by_side(pair: list[Notebook], lines: list[str]) -> Iterator[str]:
    """Yield every displayed table as both recordings and the plain run show it."""
    start = 0  # tables come in the same order everywhere, some under equal column names
    for texts in zip(*(outputs(notebook, "text/plain") for notebook in pair), strict=True):
        tables = [joined(text).splitlines() for text in texts]
        if len(tables[0]) < 2:
            continue  # a figure
        columns = [tidy(line) for line in lines]
        header = tidy(tables[0][0])
        if header in columns[start:]:
            place = columns.index(header, start)
            start = place + len(tables[0])
            tables.append(lines[place:start])
        for label, table in zip(("First", "Second", "Plain"), tables, strict=False):
            yield f"\n{label}:\n"
            yield from (f"    {line}" for line in table)


def joined(text: str | list[str]) -> str:
    """Return a text that a notebook may keep as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def tidy(line: str) -> str:
    """Return a line with one space wherever it has several: widths differ from run to run."""
    return re.sub(r" +", " ", line).strip()


if __name__ == "__main__":
    sys.exit(main())

"""The measurements of the results page for programs: as JSON and CSV, beside the page.

Rows are in long form, one measurement each; ``COLUMNS`` says what they hold. They are written when
the page is, in every language the same.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import DATA_CLASS, RecipeResults, Typography

from .labels import _

SCHEMA = 3
COLUMNS = {
    "recipe": "name of the recipe",
    "case": "what was measured",
    "variant": "which version of it",
    "size": "how large it was, if there are several sizes",
    "quantity": "what the number is",
    "value": "the figure: median over machines, each with the median of its processes",
    "low": "lower end of the range",
    "high": "upper end of the range",
    "range": "expected: of 95 in 100 further machines; seen: of the machines measured so far",
    "unit": "of value, low and high; empty for a bare number",
    "processes": "how many fresh processes were measured",
    "hosts": "on how many machines",
    "device": "GPU, or else CPU",
    "package": "what was measured; empty if releases are not told apart",
    "release": "of the package; processes of other releases are not in the figure",
    "recorded": "when the run that the page shows was made",
    "versions": "of Python, packages and more",
}


_STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class results_data(nodes.paragraph):  # noqa: N801 (docutils names nodes so)
    """The links to the files; ``rows`` holds what is written into them."""


def link_to_data(docname: str, rows: list[dict[str, Any]], typography: Typography) -> results_data:
    """Return the links to the files beside the page ``docname``, which is in a language."""
    name = PurePosixPath(docname).name
    links = results_data("", classes=["results-data"], rows=rows, translatable=False)
    links += nodes.Text(typography.typeset(_("All numbers on this page as data:") + " "))
    links += _link_to_file(f"{name}.json")
    links += nodes.Text(typography.SEPARATOR)
    links += _link_to_file(f"{name}.csv")
    return links


def _link_to_file(file: str) -> nodes.reference:
    name = nodes.literal("", file, classes=[DATA_CLASS])
    return nodes.reference("", "", name, refuri=file, internal=True)


def list_rows(recipe: str, results: RecipeResults) -> Iterator[dict[str, Any]]:
    """Yield the rows of one recording, a value for each of ``COLUMNS``."""
    recorded = results.recorded
    for measurement in results.measurements.by_key.values():
        yield {
            "recipe": recipe,
            "case": measurement.case,
            "variant": measurement.variant,
            "size": measurement.size,
            "quantity": measurement.quantity,
            "value": measurement.value,
            "low": measurement.low,
            "high": measurement.high,
            "range": "expected" if measurement.is_predicted else "seen",
            "unit": measurement.unit,
            "processes": measurement.processes,
            "hosts": measurement.hosts,
            "device": results.device,
            "package": results.package,
            "release": results.release,
            "recorded": recorded.isoformat() if recorded else None,
            "versions": dict(results.versions),
        }


def write_data(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the files of a page that links to them."""
    if app.builder.format != "html":
        return
    for node in doctree.findall(results_data):
        path = Path(app.outdir, docname)
        path.parent.mkdir(parents=True, exist_ok=True)
        Path(f"{path}.json").write_bytes(format_json(node["rows"]).encode())
        Path(f"{path}.csv").write_bytes(format_csv(node["rows"]).encode())


def format_json(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as an object of JSON, each on a line of its own."""
    columns = json.dumps(COLUMNS)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    body = ",\n".join(lines)
    return f'{{"schema": {SCHEMA}, "columns": {columns}, "rows": [\n{body}\n]}}\n'


def format_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as CSV with a line of headings; versions stand in one cell.

    A name that a spreadsheet would take for a formula begins with an apostrophe, its mark of text.
    """
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows:
        cells = {name: _mark_formula(value) for name, value in row.items()}
        versions = [f"{name} {version}" for name, version in row["versions"].items()]
        cells["versions"] = "; ".join(versions)
        table.writerow(cells)
    return text.getvalue()


def _mark_formula(value: Any) -> Any:
    """Return a value of a cell, marked as text if it looks like a formula."""
    if isinstance(value, str) and value.startswith(_STARTS_OF_FORMULAS):
        return f"'{value}"
    return value

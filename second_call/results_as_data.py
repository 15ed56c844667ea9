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
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import DATA_CLASS, RecipeResults, Typography

_ = get_translation("second_call")

SCHEMA = 3
COLUMNS = {
    "recipe": "name of the recipe",
    "case": "what was measured",
    "variant": "which version of it",
    "size": "how large it was, if there are several sizes",
    "quantity": "what the number is",
    "value": "the figure: median of processes",
    "low": "lower end of the range",
    "high": "upper end of the range",
    "range": "expected: where 95 of 100 further machines fall; seen: what machines have shown",
    "unit": "of value, low and high; empty for a bare number",
    "processes": "how many fresh processes were measured",
    "hosts": "on how many machines",
    "device": "GPU, or else CPU",
    "package": "what was measured; empty if releases are not told apart",
    "release": "of the package; processes of other releases are not in the figure",
    "recorded": "when the run that the page shows was made",
    "versions": "of Python, packages and more",
}


class results_data(nodes.paragraph):  # noqa: N801 (docutils names nodes so)
    """The links to the files; ``rows`` holds what is written into them."""


def link_to_data(docname: str, rows: list[dict[str, Any]], typography: Typography) -> results_data:
    """Return the links to the files beside the page ``docname``, which is in a language."""
    links = results_data("", classes=["results-data"], rows=rows, translatable=False)
    said = typography.typeset(_("All numbers of this page as data:") + " ")
    for before, ending in ((said, "json"), (" · ", "csv")):
        file = f"{PurePosixPath(docname).name}.{ending}"
        shown = nodes.literal("", file, classes=[DATA_CLASS])
        links += [nodes.Text(before), nodes.reference("", "", shown, refuri=file, internal=True)]
    return links


def list_rows(recipe: str, known: RecipeResults) -> Iterator[dict[str, Any]]:
    """Yield the rows of one recording."""
    origin = {
        "device": known.device,
        "package": known.package,
        "release": known.release,
        "recorded": known.recorded and known.recorded.isoformat(),
        "versions": dict(known.versions),
    }
    for each in known.measurements.by_key.values():
        named = {name: getattr(each, name) for name in COLUMNS if hasattr(each, name)}
        kind = "expected" if each.is_predicted else "seen"
        yield {"recipe": recipe, **named, "range": kind, **origin}


def write_data(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the files of a page that links to them."""
    for node in doctree.findall(results_data) if app.builder.format == "html" else ():
        target = Path(app.outdir, docname)
        target.parent.mkdir(parents=True, exist_ok=True)
        for ending, write in ((".json", format_json), (".csv", format_csv)):
            Path(f"{target}{ending}").write_bytes(write(node["rows"]).encode())


def format_json(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as an object of JSON, each on a line of its own."""
    lines = (json.dumps({name: row[name] for name in COLUMNS}, ensure_ascii=False) for row in rows)
    columns = json.dumps(COLUMNS)
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
        versions = "; ".join(f"{name} {version}" for name, version in row["versions"].items())
        texts = {
            name: f"'{value}"
            for name, value in row.items()
            if isinstance(value, str) and value.startswith(tuple("=+-@\t\r"))
        }
        table.writerow({**row, **texts, "versions": versions})
    return text.getvalue()

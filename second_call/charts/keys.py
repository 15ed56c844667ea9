"""The keys of what charts show, for `check` to list those that are left to a GPU."""

import re
from collections.abc import Iterator

from sphinx_recorded_gallery.api import slug

from .query import BUSY

_CHART = re.compile(
    r"(?m)^(?P<indent> *)\.\. chart:: *(?P<quantities>\S.*)\n"
    r"(?P<options>(?:(?P=indent) +:\w+:.*(?:\n|\Z))*)"
)
_CASE = re.compile(r"(?m)^ *:case: *(?P<case>\S.*)$")
_RECIPE = re.compile(r"(?m)^ *:recipe:")


def find_keys(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line, counted from 0, and the key of each quantity that a chart of a text shows.

    Charts of other recipes are left out.
    """
    for chart in _CHART.finditer(text):
        if _RECIPE.search(chart["options"]):
            continue
        case = _CASE.search(chart["options"])
        parts = []
        if case:
            parts = [slug(part) for part in case["case"].split(".")]
        for quantity in re.split(r"[,\s]+", chart["quantities"].strip()):
            if quantity != BUSY:
                yield text.count("\n", 0, chart.start()), ".".join([*parts, quantity])

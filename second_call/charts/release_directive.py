"""The directive ``release-chart``: how two releases compare, a line for each quantity and recipe.

``.. release-chart:: 2.15 2.11`` stands beside ``.. releases:: 2.15 2.11``, which tells the same in
sentences. Where no machine has measured both releases there is no chart, and no caption.
"""

import math
from collections.abc import Iterator
from operator import itemgetter
from statistics import median
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    QuantitySummary,
    all_files,
    current_language,
    load_changes,
    load_results,
    once,
    watch,
)

from ..navigation import list_recipes
from ..quantities import name_quantities
from ..short_names import short_name
from .directive import make_node
from .releases import Change, draw_changes

# What tells a reader whether to upgrade, in this order; the sentences tell the rest.
_DRAWN = ("gpu", "speedup", "kernels", "memory", "kept", "first_call", "start_up", "first_result")
_MORE_IS_BETTER = ("speedup",)


class ReleaseChart(SphinxDirective):
    """Names two releases, the newer one first; its content is the caption."""

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the chart; an empty one where no machine has measured both releases."""
        caption = self.parse_content_to_nodes()
        if not caption:
            raise self.error("release-chart: it needs a caption, a sentence below it")
        now, before = self.arguments
        found = sorted(self._find_changes(now, before), key=itemgetter(0))
        changes = [change for _place, change in found]
        locale = current_language(self.config).locale
        node = make_node(draw_changes(changes, locale), "", "")
        node += caption
        self.set_source_info(node)
        return [node]

    def _find_changes(self, now: str, before: str) -> Iterator[tuple[tuple[int, int], Change]]:
        """Yield what moved with its place: by quantity, then by recipe."""
        names = name_quantities()
        recipes = _find_recipes(self.env)
        for recipe, docname in enumerate(recipes):
            watch(self.env, load_results, docname)
            for summary in once(self.env, load_changes, docname, now, before).summaries:
                change = _make_change(summary)
                if change is None:
                    continue
                label = names[summary.quantity]
                if len(recipes) > 1:
                    label = f"{label} · {short_name(docname) or docname}"
                place = (_DRAWN.index(summary.quantity), recipe)
                yield place, Change(label=label, **change)


def _find_recipes(env: BuildEnvironment) -> tuple[str, ...]:
    """Return the recipe of the page, or all of them on another page."""
    files = watch(env, all_files)
    return (env.docname,) if env.docname in files else watch(env, list_recipes)


def _make_change(summary: QuantitySummary) -> dict[str, Any] | None:
    """Return ratio, range and hosts of a quantity, above 1 where it became better.

    None if it is not drawn: nothing of it moved, or it is bound by the host and only one was seen.
    """
    if summary.quantity not in _DRAWN or not summary.has_moved:
        return None
    ratios = [ratio for ratio in summary.host_medians if 0 < ratio < math.inf]
    if not ratios or (len(ratios) == 1 and not summary.is_bound_by_gpu):
        return None
    if summary.quantity not in _MORE_IS_BETTER:
        ratios = sorted(1 / ratio for ratio in ratios)
    return {
        "ratio": median(ratios),
        "low": ratios[0],
        "high": ratios[-1],
        "hosts": len(ratios),
    }

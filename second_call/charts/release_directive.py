"""The directive ``release-chart``: what changed most between two releases.

``.. release-chart:: 2.15 2.11`` stands beside ``.. releases:: 2.15 2.11``, which tells all of it in
sentences. Where no machine has measured both releases there is no chart, and no caption.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import Change, Gallery, Typography, watch

from ..navigation import list_recipes
from ..quantities import MORE_IS_BETTER
from ..short_titles import short_title
from . import releases
from .directive import make_node

# What tells a reader whether to upgrade, in this order; the sentences tell the rest.
DRAWN = ("speedup", "gpu", "memory", "first_call")
RECIPES_DRAWN = 4  # those in which a quantity changed most
# Bytes; the ratio of smaller amounts is that of a workspace or of the allocator's own blocks
LEAST_MEMORY_DRAWN = 100e6


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
        changes = _find_changes(self.env, now, before)
        drawing = releases.draw_changes(changes, Typography.of(self.config))
        node = make_node(drawing, "", "")
        node += caption
        self.set_source_info(node)
        return [node]


def _find_changes(env: BuildEnvironment, now: str, before: str) -> list[releases.ChangeRow]:
    """Return what changed most in recipes, by quantity and then the largest first.

    The recipe of the page is drawn, or all of them on another page.
    """
    is_recipe = env.docname in Gallery(env).files
    recipes: Sequence[str] = [env.docname]
    if not is_recipe:
        recipes = watch(env, list_recipes)
    rows = []
    for quantity in DRAWN:
        changes = []
        for docname in recipes:
            drawable = _find_drawable(env, docname, quantity, now, before)
            if not is_recipe:
                drawable = drawable[:1]
            for change in drawable:
                changes.append((change, docname))
        for change, docname in _choose_largest(changes):
            label = _make_label(env, docname, change, names_recipe=not is_recipe)
            rows.append(_make_row(change, label))
    return rows


def _find_drawable(
    env: BuildEnvironment, docname: str, quantity: str, now: str, before: str
) -> list[Change]:
    """Return the changes of a quantity whose ratio has a place on a logarithmic axis."""
    changes = []
    for change in Gallery(env).load_changes(docname, now, before).moved:
        if change.now.quantity != quantity:
            continue
        ratios = (change.ratio, change.low, change.high)
        is_finite = all(0 < ratio < math.inf for ratio in ratios)
        is_memory = change.now.unit == "B"
        is_small = is_memory and change.now.value < LEAST_MEMORY_DRAWN
        if is_finite and not is_small:
            changes.append(change)
    return changes


def _choose_largest(changes: Sequence[tuple[Change, str]]) -> list[tuple[Change, str]]:
    ordered = sorted(changes, key=lambda item: -abs(math.log(item[0].ratio)))
    return ordered[:RECIPES_DRAWN]


def _make_label(env: BuildEnvironment, docname: str, change: Change, *, names_recipe: bool) -> str:
    """Return the names of a quantity, of the recipe where there are several, and of a variant."""
    gallery = Gallery(env)
    measurement = change.now
    names = [
        gallery.name_case(docname, measurement.case, measurement.size, measurement.size_name),
        gallery.name_word(docname, measurement.variant),
    ]
    if names_recipe:
        names.insert(0, short_title(docname) or PurePosixPath(docname).name)
    quantity = gallery.name_quantity(docname, measurement.quantity)
    label = f"{quantity}: {Typography.SEPARATOR.join(names)}"
    return Typography.of(env.config).typeset(label)


def _make_row(change: Change, label: str) -> releases.ChangeRow:
    """Return a line of the chart, whose ratio is above 1 where a measurement became better."""
    ratio, low, high = change.ratio, change.low, change.high
    if change.now.quantity not in MORE_IS_BETTER:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    return releases.ChangeRow(label=label, ratio=ratio, low=low, high=high, hosts=change.hosts)

"""The directive ``release-chart``: what changed most between two releases.

``.. release-chart:: 2.15 2.11`` stands beside ``.. releases:: 2.15 2.11``, which tells all of it in
sentences. Where no machine has measured both releases there is no chart, and no caption.
"""

import math
from collections.abc import Sequence
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    Change,
    all_files,
    current_language,
    load_changes,
    load_results,
    name_measurement,
    once,
    watch,
)

from ..navigation import list_recipes
from ..short_names import short_name
from . import releases
from .directive import make_node

# What tells a reader whether to upgrade, in this order; the sentences tell the rest.
DRAWN = ("speedup", "gpu", "memory", "first_call")
MORE_IS_BETTER = ("speedup",)
RECIPES_DRAWN = 4  # those in which a quantity changed most


class ReleaseChart(SphinxDirective):
    """Names two releases, the newer one first; its content is the caption."""

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the chart; an empty one where no machine has measured both releases."""
        caption = self.parse_content_to_nodes()
        if not caption:
            raise self.error("release-chart: it needs a caption, a sentence below it")
        changes = _find_changes(self.env, *self.arguments)
        locale = current_language(self.config).locale
        node = make_node(releases.draw_changes(changes, locale), "", "")
        node += caption
        self.set_source_info(node)
        return [node]


def _find_changes(env: BuildEnvironment, now: str, before: str) -> list[releases.Change]:
    """Return what changed most in recipes, by quantity and then the largest first.

    The recipe of the page is drawn, or all of them on another page.
    """
    is_recipe = env.docname in watch(env, all_files)
    recipes = (env.docname,) if is_recipe else watch(env, list_recipes)
    largest: dict[str, list[tuple[Change, str]]] = {quantity: [] for quantity in DRAWN}
    for docname in recipes:
        watch(env, load_results, docname)
        moved = once(env, load_changes, docname, now, before).moved
        for quantity, chosen in largest.items():
            of_quantity = [change for change in moved if change.now.quantity == quantity]
            drawable = [change for change in of_quantity if _is_finite(change)]
            count = len(drawable) if is_recipe else 1
            chosen += [(change, docname) for change in drawable[:count]]
    return [
        _draw_change(env, docname, change, is_recipe=is_recipe)
        for chosen in largest.values()
        for change, docname in _choose_largest(chosen)
    ]


def _is_finite(change: Change) -> bool:
    return all(0 < ratio < math.inf for ratio in (change.ratio, change.low, change.high))


def _choose_largest(changes: Sequence[tuple[Change, str]]) -> list[tuple[Change, str]]:
    ordered = sorted(changes, key=lambda item: -abs(math.log(item[0].ratio)))
    return ordered[:RECIPES_DRAWN]


def _draw_change(
    env: BuildEnvironment, docname: str, change: Change, *, is_recipe: bool
) -> releases.Change:
    """Return a line of the chart, whose ratio is above 1 where a measurement became better."""
    *variant, _separator, quantity = (
        words for words, _is_data in name_measurement(env, docname, change.now)
    )
    label = f"{quantity}: {''.join(variant)}"
    if not is_recipe:
        label = (
            f"{quantity}: {short_name(docname) or PurePosixPath(docname).name} · {''.join(variant)}"
        )
    ratio, low, high = change.ratio, change.low, change.high
    if change.now.quantity not in MORE_IS_BETTER:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    return releases.Change(label=label, ratio=ratio, low=low, high=high, hosts=change.hosts)

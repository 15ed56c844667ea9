"""The names by which readers are told what was measured.

Quantities have the labels of the table in quantities.py. For other words of a recipe's rows, as
``max-autotune``, an extension may answer the event ``recorded-gallery-name`` with a name in the
reader's language, or with None: then a page shows the recipe's own word, marked as such.
"""

from collections.abc import Sequence
from html import escape

from docutils import nodes
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from ..dates_and_numbers import typeset
from ..languages import current_language, source_language
from ..page_nodes import DATA_CLASS
from .keys import Term
from .lookup import load_results
from .numbers import format_measurement
from .quantities import list_quantities
from .ranges import Measurement
from .rows import Size

Pieces = list[tuple[str, bool]]  # words, and whether they are the recipe's

EVENT = "recorded-gallery-name"  # page of the recipe, kind, word
NAME, QUANTITY = "name", "quantity"  # kinds


def name_word(env: BuildEnvironment, recipe: str, word: str, kind: str = NAME) -> Pieces:
    """Return what readers call a word of the recipe with the page ``recipe``, or the word."""
    name = env.events.emit_firstresult(EVENT, recipe, kind, word)
    if name is None and kind == QUANTITY:
        quantity = list_quantities(env.config).get(word)
        name = quantity.label if quantity else None
    return [(word, True)] if name is None else [(str(name), False)]


def name_case(env: BuildEnvironment, recipe: str, case: str, size: Size, sizes: str = "") -> Pieces:
    """Return a case and its size, if it has one; ``sizes`` is what it counts."""
    pieces = name_word(env, recipe, case)
    if size is not None:
        colon = typeset(": ", current_language(env.config).locale)
        counted = [*name_word(env, recipe, sizes), (colon, False)] if sizes else []
        # A case that is called as what its sizes count is told once: "detours: 3"
        before = [] if sizes == case else [*pieces, (" · ", False)]
        return [*before, *counted, *name_word(env, recipe, str(size))]
    return pieces


def name_measurement(env: BuildEnvironment, recipe: str, measurement: Measurement) -> Pieces:
    """Return case, size, variant and quantity of a measurement."""
    variant = name_word(env, recipe, measurement.variant)
    quantity = name_word(env, recipe, measurement.quantity, QUANTITY)
    case = name_case(env, recipe, measurement.case, measurement.size, measurement.sizes)
    return [*case, (" · ", False), *variant, (" · ", False), *quantity]


def name_release(env: BuildEnvironment, recipe: str, release: str) -> str:
    """Return how pages call a release of what a recipe measures: ``PyTorch 2.11``."""
    results = load_results(env, recipe)
    package = results.package if results else ""
    shown = env.config.recorded_gallery_package_names.get(package, package)
    return f"{shown} {release}".strip()


def tell_comparison(
    env: BuildEnvironment,
    recipe: str,
    compared: Sequence[tuple[Term, Measurement]],
    between: str = " < ",
) -> Pieces:
    """Return what a comparison found: "fused 81 µs < foreach 231 µs", by what differs in names."""
    locale = current_language(env.config).locale
    measured = [each for _term, each in compared]
    pieces: Pieces = []
    for term, each in compared:
        pieces += [(between, False)] if pieces else []
        pieces += [(f"{term.factor:g} × ", False)] if term.factor != 1 else []
        if len({other.case for other in measured}) > 1:
            pieces += [*name_case(env, recipe, each.case, each.size), (" ", False)]
        elif len({other.size for other in measured}) > 1:
            pieces += [*name_word(env, recipe, str(each.size)), (": ", False)]
        if len({other.variant for other in measured}) > 1:
            pieces += [*name_word(env, recipe, each.variant), (" ", False)]
        if len({other.quantity for other in measured}) > 1:
            pieces += [*name_word(env, recipe, each.quantity, QUANTITY), (" ", False)]
        pieces.append((format_measurement(each, locale), False))
    return pieces


def name_nodes(pieces: Pieces) -> list[nodes.Node]:
    """Return pieces as nodes; words that are the recipe's are marked as data."""
    return [
        nodes.inline("", words, classes=[DATA_CLASS]) if is_data else nodes.Text(words)
        for words, is_data in pieces
    ]


def mark(config: Config, pieces: Pieces) -> str:
    """Return pieces as HTML; words that are the recipe's are marked as of its language."""
    tag, locale = source_language(config).tag, current_language(config).locale
    return "".join(
        f'<span class="{DATA_CLASS}" lang="{tag}">{escape(words)}</span>'
        if is_data
        else escape(typeset(words, locale))
        for words, is_data in pieces
    )

"""The evidence of a claim as readers expect it: units, digits and names of the page around it."""

from collections.abc import Sequence
from functools import partial

from sphinx.environment import BuildEnvironment

from ...languages import current_language
from ...recipes.measurements import Measurement
from ...recipes.references import Term
from .format import format_measurement
from .naming import NAME, QUANTITY, Pieces, ask_name, call, name_case


def tell_comparison(
    env: BuildEnvironment, recipe: str, compared: Sequence[tuple[Term, Measurement]]
) -> Pieces:
    """Return what a comparison found: "fused 81 µs < foreach 231 µs", by what differs in names."""
    locale = current_language(env.config).locale
    measured = [each for _term, each in compared]
    name, quantity = (partial(ask_name, env, recipe, kind) for kind in (NAME, QUANTITY))
    pieces: Pieces = []
    for term, each in compared:
        pieces += [(" < ", False)] if pieces else []
        pieces += [(f"{term.factor:g} × ", False)] if term.factor != 1 else []
        if len({other.case for other in measured}) > 1:
            pieces += [*name_case(env, recipe, each.case, each.size), (" ", False)]
        elif len({other.size for other in measured}) > 1:
            pieces += [*call(str(each.size), name), (": ", False)]
        if len({other.variant for other in measured}) > 1:
            pieces += [*call(each.variant, name), (" ", False)]
        if len({other.quantity for other in measured}) > 1:
            pieces += [*call(each.quantity, quantity), (" ", False)]
        pieces.append((format_measurement(each, locale), False))
    return pieces

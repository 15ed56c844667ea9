"""The names of measurements, cases and variants that pages show to readers.

Quantities have the labels of the table in quantities.py. For other words in a recipe's rows, such
as ``max-autotune``, an extension may answer the event ``recorded-gallery-name`` with a name in the
reader's language, or with None. The event comes first, for quantities, too; with neither label nor
name, a page shows the recipe's own word, marked as such.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from docutils import nodes
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from ..dates_and_numbers import SEPARATOR, typeset
from ..languages import Language
from ..page_nodes import DATA_CLASS
from .keys import ComparisonTerm
from .lookup import load_results
from .numbers import format_measurement, is_count
from .quantities import list_quantities
from .ranges import Measurement
from .rows import Size

EVENT = "recorded-gallery-name"  # its arguments: page of the recipe, kind, word
NAME, QUANTITY = "name", "quantity"  # the kinds


@dataclass(frozen=True)
class Piece:
    """A piece of a text for readers: words, which may be the recipe's own."""

    words: str
    is_own_word: bool = False


Pieces = list[Piece]


def name_word(env: BuildEnvironment, recipe: str, word: str, kind: str = NAME) -> Pieces:
    """Return the name that readers get for a word of the recipe with the page ``recipe``.

    Without a name, it is the word itself.
    """
    name = env.events.emit_firstresult(EVENT, recipe, kind, word)
    if name is None and kind == QUANTITY:
        quantity = list_quantities(env.config).get(word)
        if quantity is not None:
            name = quantity.label
    if name is None:
        return [Piece(word, is_own_word=True)]
    return [Piece(str(name))]


def name_case(
    env: BuildEnvironment, recipe: str, case: str, size: Size, size_name: str = ""
) -> Pieces:
    """Return the name of a case with its size, if it has one: "matmul · rows: 128".

    ``size_name`` is the word for what the size counts, "rows" here.
    """
    if size is None:
        return name_word(env, recipe, case)
    pieces: Pieces = []
    # A case that is called like what its sizes count is named once: "detours: 3"
    if size_name != case:
        pieces += [*name_word(env, recipe, case), Piece(SEPARATOR)]
    return [*pieces, *_name_size(env, recipe, size, size_name)]


def _name_size(env: BuildEnvironment, recipe: str, size: Size, size_name: str) -> Pieces:
    """Return a size behind the name of what it counts, if there is one: "rows: 128"."""
    pieces: Pieces = []
    if size_name:
        colon = typeset(": ", Language.current(env.config).locale)
        pieces += [*name_word(env, recipe, size_name), Piece(colon)]
    return [*pieces, *name_word(env, recipe, str(size))]


def name_measurement(env: BuildEnvironment, recipe: str, measurement: Measurement) -> Pieces:
    """Return the names of a measurement's case, size, variant and quantity, in this order."""
    case = name_case(env, recipe, measurement.case, measurement.size, measurement.size_name)
    variant = name_word(env, recipe, measurement.variant)
    quantity = name_word(env, recipe, measurement.quantity, QUANTITY)
    separator = Piece(SEPARATOR)
    return [*case, separator, *variant, separator, *quantity]


def name_release(env: BuildEnvironment, recipe: str, release: str) -> str:
    """Return the name of a release of the package that a recipe measures: ``PyTorch 2.11``."""
    results = load_results(env, recipe)
    package = results.package if results else ""
    package_name = env.config.recorded_gallery_package_names.get(package, package)
    return f"{package_name} {release}".strip()


def tell_comparison(
    env: BuildEnvironment,
    recipe: str,
    compared: Sequence[tuple[ComparisonTerm, Measurement]],
    between: str = " < ",
) -> Pieces:
    """Return the figures of a comparison: "81 µs (fused) < 231 µs (foreach)".

    Each figure has its factor, if that is not 1, its unit, and in parentheses the names that
    distinguish it from the others. The number stands first because sizes are numbers, too:
    "0: 1 < 3: 4" would read as ratios, and "1 (detours: 0) < 4 (detours: 3)" does not. Counts
    have no unit, so what they count is named before them. ``between`` separates the figures.
    """
    locale = Language.current(env.config).locale
    measurements = [measurement for _term, measurement in compared]
    pieces = _name_what_is_counted(env, recipe, measurements)
    for number, (term, measurement) in enumerate(compared):
        if number:
            pieces.append(Piece(between))
        if term.factor != 1:
            pieces.append(Piece(f"{term.factor:g} × "))
        pieces.append(Piece(format_measurement(measurement, locale)))
        names = _distinguish(env, recipe, measurement, measurements)
        if names:
            pieces += [Piece(typeset(" (", locale)), *names, Piece(typeset(")", locale))]
    return pieces


def _name_what_is_counted(
    env: BuildEnvironment, recipe: str, measurements: Sequence[Measurement]
) -> Pieces:
    """Return the name of the quantity of all measurements and a colon, if it is a count."""
    quantities = {measurement.quantity for measurement in measurements}
    if len(quantities) > 1 or not all(is_count(measurement) for measurement in measurements):
        return []
    colon = typeset(": ", Language.current(env.config).locale)
    return [*name_word(env, recipe, quantities.pop(), QUANTITY), Piece(colon)]


def _distinguish(
    env: BuildEnvironment,
    recipe: str,
    measurement: Measurement,
    measurements: Sequence[Measurement],
) -> Pieces:
    """Return the names of a measurement in which not all of the measurements agree."""
    case, size, size_name = measurement.case, measurement.size, measurement.size_name
    names: list[Pieces] = []
    if len({other.case for other in measurements}) > 1:
        names.append(name_case(env, recipe, case, size, size_name))
    elif len({other.size for other in measurements}) > 1:
        names.append(_name_size(env, recipe, size, size_name))
    if len({other.variant for other in measurements}) > 1:
        names.append(name_word(env, recipe, measurement.variant))
    if len({other.quantity for other in measurements}) > 1:
        names.append(name_word(env, recipe, measurement.quantity, QUANTITY))
    pieces: Pieces = []
    for name in names:
        if pieces:
            pieces.append(Piece(SEPARATOR))
        pieces += name
    return pieces


def pieces_as_text(pieces: Pieces) -> str:
    """Return pieces as plain text, the recipe's own words as well as those for readers."""
    return "".join(piece.words for piece in pieces)


def pieces_as_nodes(pieces: Pieces) -> list[nodes.Node]:
    """Return pieces as nodes; the recipe's own words are marked as data."""
    children: list[nodes.Node] = []
    for piece in pieces:
        if piece.is_own_word:
            children.append(nodes.inline("", piece.words, classes=[DATA_CLASS]))
        else:
            children.append(nodes.Text(piece.words))
    return children


def pieces_as_html(config: Config, pieces: Pieces) -> str:
    """Return pieces as HTML; the recipe's own words are marked as data in its language."""
    tag = Language.source(config).tag
    locale = Language.current(config).locale
    html = []
    for piece in pieces:
        if piece.is_own_word:
            html.append(f'<span class="{DATA_CLASS}" lang="{tag}">{escape(piece.words)}</span>')
        else:
            html.append(escape(typeset(piece.words, locale)))
    return "".join(html)

"""The names of measurements, cases and variants that pages show to readers.

Quantities have the labels of the table in quantities.py. For other words in a recipe's rows, such
as ``max-autotune``, an extension may answer the event ``recorded-gallery-name`` with a name in the
reader's language, or with None: then a page shows the recipe's own word, marked as such.
"""

from collections.abc import Sequence
from html import escape

from docutils import nodes
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from ..dates_and_numbers import SEPARATOR, typeset
from ..languages import Language
from ..page_nodes import DATA_CLASS
from .keys import ComparisonTerm
from .lookup import load_results
from .numbers import format_measurement
from .quantities import list_quantities
from .ranges import Measurement
from .rows import Size

Pieces = list[tuple[str, bool]]  # words, and whether they are the recipe's own

EVENT = "recorded-gallery-name"  # its arguments: page of the recipe, kind, word
NAME, QUANTITY = "name", "quantity"  # the kinds


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
        return [(word, True)]
    return [(str(name), False)]


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
        pieces += [*name_word(env, recipe, case), (SEPARATOR, False)]
    if size_name:
        colon = typeset(": ", Language.current(env.config).locale)
        pieces += [*name_word(env, recipe, size_name), (colon, False)]
    pieces += name_word(env, recipe, str(size))
    return pieces


def name_measurement(env: BuildEnvironment, recipe: str, measurement: Measurement) -> Pieces:
    """Return the names of a measurement's case, size, variant and quantity, in this order."""
    case = name_case(env, recipe, measurement.case, measurement.size, measurement.size_name)
    variant = name_word(env, recipe, measurement.variant)
    quantity = name_word(env, recipe, measurement.quantity, QUANTITY)
    separator = (SEPARATOR, False)
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
    """Return the figures of a comparison: "fused 81 µs < foreach 231 µs".

    Each figure has the names that distinguish it from the others, its factor if that is not 1, and
    its unit. ``between`` separates the figures.
    """
    locale = Language.current(env.config).locale
    measurements = [measurement for _term, measurement in compared]
    pieces: Pieces = []
    for term, measurement in compared:
        if pieces:
            pieces.append((between, False))
        if term.factor != 1:
            pieces.append((f"{term.factor:g} × ", False))
        pieces += _distinguish(env, recipe, measurement, measurements)
        pieces.append((format_measurement(measurement, locale), False))
    return pieces


def _distinguish(
    env: BuildEnvironment,
    recipe: str,
    measurement: Measurement,
    measurements: Sequence[Measurement],
) -> Pieces:
    """Return the names of a measurement in which not all of the measurements agree."""
    space = (" ", False)
    pieces: Pieces = []
    if len({other.case for other in measurements}) > 1:
        pieces += [*name_case(env, recipe, measurement.case, measurement.size), space]
    elif len({other.size for other in measurements}) > 1:
        pieces += [*name_word(env, recipe, str(measurement.size)), (": ", False)]
    if len({other.variant for other in measurements}) > 1:
        pieces += [*name_word(env, recipe, measurement.variant), space]
    if len({other.quantity for other in measurements}) > 1:
        pieces += [*name_word(env, recipe, measurement.quantity, QUANTITY), space]
    return pieces


def name_nodes(pieces: Pieces) -> list[nodes.Node]:
    """Return pieces as nodes; the recipe's own words are marked as data."""
    children: list[nodes.Node] = []
    for words, is_data in pieces:
        if is_data:
            children.append(nodes.inline("", words, classes=[DATA_CLASS]))
        else:
            children.append(nodes.Text(words))
    return children


def mark(config: Config, pieces: Pieces) -> str:
    """Return pieces as HTML; the recipe's own words are marked as data in its language."""
    tag = Language.source(config).tag
    locale = Language.current(config).locale
    html = []
    for words, is_data in pieces:
        if is_data:
            html.append(f'<span class="{DATA_CLASS}" lang="{tag}">{escape(words)}</span>')
        else:
            html.append(escape(typeset(words, locale)))
    return "".join(html)

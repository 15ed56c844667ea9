"""The front page: what all was measured on, the answer, a row for each recipe, and what pays."""

from collections.abc import Sequence
from datetime import datetime
from statistics import median

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    Gallery,
    GalleryError,
    Lookup,
    RecipeResults,
    Typography,
    note_problem,
    watch,
)

from ..charts.scales import format_value
from ..make_nodes import make_element, render
from ..navigation import list_recipes
from .gains import Gain, State, find_gains, published_gains
from .headline_directive_lines import (
    borrow_headlines,
    headline,
    headline_list,
    question,
    read_headlines,
)
from .headline_parts import (
    draw_bars,
    fill_in,
    format_startup,
    link_words,
    make_ratio,
    name_variant,
    sort_versions,
)

_ = get_translation("second_call")

CALL_SECONDS = (0.001, 0.01, 0.1, 1.0)  # rows of the table of what pays
SPEED_UPS = (1.1, 1.5, 2.0, 5.0, 10.0)  # its columns
FIELDS = (10, 10_000)  # milliseconds a call and calls, as the fields begin
EXAMPLE = 1.5  # the speed-up in the sentence below the fields


class MeasuredOn(SphinxDirective):
    """Say what all recipes were measured on."""

    def run(self) -> list[nodes.Node]:
        """Return the line; nothing where nothing is recorded."""
        typography = Typography.of(self.config)
        gallery = Gallery(self.env)
        devices: list[str] = []
        versions: list[str] = []
        dates: list[datetime] = []
        for recipe in watch(self.env, list_recipes):
            results = gallery.load_results(recipe)
            if results is None or results.recorded is None:
                continue
            dates.append(results.recorded)
            if results.device not in devices:
                devices.append(results.device)
            if version := self._version(results):
                versions.append(version)
        if not dates:
            return []
        facts = {
            "devices": ", ".join(devices),
            "versions": ", ".join(sort_versions(versions)),
            "date": typography.format_date(max(dates)),
        }
        text = str(_("Measured on %(devices)s · %(versions)s · %(date)s") % facts)
        text = text.replace(" ·", "\N{NO-BREAK SPACE}·")  # lines do not begin with it
        return [nodes.paragraph("", text, classes=["measured-on"], translatable=False)]

    def _version(self, results: RecipeResults) -> str:
        """Return the version of the first of the packages that pages name; empty if none ran."""
        versions = dict(results.versions)
        for package, name in self.config.recorded_gallery_package_names.items():
            if package in versions:
                return f"{name} {versions[package]}"
        return ""


class Gains(SphinxDirective):
    """Say in two lines what the cases of the results page gained."""

    required_arguments = 1  # the page with the results

    def run(self) -> list[nodes.Node]:
        """Return the cases, of which the answer is made when all is known."""
        return borrow_headlines(self, self.arguments[0], draw_answer)


class RecipeRows(SphinxDirective):
    """Name a symptom, a fix and two variants for each recipe."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the rows, which are drawn when they have been translated."""
        return read_headlines(self, draw_rows)


class DoesItPay(SphinxDirective):
    """Show after how many calls compiling has paid, with the startup of the measured cases."""

    required_arguments = 1  # the page with the results

    def run(self) -> list[nodes.Node]:
        """Return the cases, of which the table is made when all is known."""
        return borrow_headlines(self, self.arguments[0], draw_table)


class Evidence(SphinxDirective):
    """Show the evidence of a claim, open; the content is its sentence."""

    required_arguments = 1  # recipe: comparison
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the sentence, below which the evidence stands when all is known."""
        recipe, colon, key = self.arguments[0].partition(":")
        sentence = self.parse_content_to_nodes()
        if not colon or not sentence:
            raise self.error(
                "evidence: write .. evidence:: recipe: a.wall < b.wall, a sentence below"
            )
        try:
            page = Gallery(self.env).find_page(recipe.strip())
        except ValueError as error:
            raise self.error(f"evidence: {error}") from None
        node = headline_list("", *sentence, draw=draw_evidence, recipe=page, key=key.strip())
        node.source, node.line = self.get_source_info()
        return [node]


def draw_answer(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the answer: ranges of what compiling, CUDA graphs and ``fused=True`` gained."""
    typography = Typography.of(env.config)
    compiled: list[Gain] = []
    graphs: list[Gain] = []
    fused: list[Gain] = []
    for node, gain in published_gains(env, _list_cases(headlines)):
        if node["kind"] == "compiled":
            compiled.append(gain)
        elif node["kind"] == "graph" and gain.state is State.WAITS:
            graphs.append(gain)
        elif node["kind"] == "fused":
            fused.append(gain)
    lines = []
    if compiled:
        text = str(_("Compiling alone made the work %(range)s as fast, startup aside."))
        lines.append(fill_in(text, {"range": _range(compiled, typography)}, typography))
    sentences = []
    parts: dict[str, nodes.Node] = {"option": nodes.literal("", "fused=True")}
    if graphs:
        text = _(
            "Where the GPU waited for the CPU, CUDA graphs gave %(range)s, in %(manual)s of "
            "%(cases)s cases without a compiler."
        )
        sentences.append(str(text))
        manual = sum(gain.compiles_nothing for gain in graphs)
        parts["range"] = _range(graphs, typography)
        parts["manual"] = nodes.Text(str(manual))
        parts["cases"] = nodes.Text(str(len(graphs)))
    if fused:
        text = _("%(option)s gave optimizers %(speed_up)s and costs no startup.")
        sentences.append(str(text))
        parts["speed_up"] = _range(fused, typography)
    if sentences:
        lines.append(fill_in(" ".join(sentences), parts, typography))
    return [nodes.paragraph("", "", *line, classes=["gains-line"]) for line in lines]


def _list_cases(headlines: headline_list) -> list[headline]:
    return [node for node in headlines if isinstance(node, headline)]


def _range(gains: Sequence[Gain], typography: Typography) -> nodes.strong:
    """Return the least and the greatest speed-up, as the results write them."""
    ratios = sorted((gain.ratio for gain in gains), key=lambda ratio: ratio.value)
    least = typography.format_measurement(ratios[0])
    greatest = typography.format_measurement(ratios[-1])
    if least == greatest:
        return nodes.strong("", greatest)
    return nodes.strong("", typography.join_ends(least.removesuffix("×"), greatest))


def draw_rows(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return a row for each recipe: symptom, fix, two bars, speed-up, startup and break-even."""
    rows = make_element("ul", css_class="recipe-rows")
    symptom: question | None = None
    for node in headlines:
        if isinstance(node, question):
            symptom = node
        elif isinstance(node, headline) and symptom is not None:
            rows += _make_row(env, symptom, node)
    return [render("legend.html", has_ranges=False), rows]


def _make_row(env: BuildEnvironment, symptom: question, fix: headline) -> nodes.Element:
    typography = Typography.of(env.config)
    link = link_words(env, symptom["recipe"], symptom.deepcopy().children)
    heading = nodes.paragraph("", "", link, classes=["recipe-row-symptom", *symptom["classes"]])
    words = fix.deepcopy().children
    advice = nodes.paragraph("", "", *words, classes=["recipe-row-fix", *fix["classes"]])
    row = make_element("li", css_class="recipe-row")
    row += make_element("div", heading, advice, css_class="recipe-row-words")
    _results, gain = find_gains(env, fix)[0]
    if gain is None:
        row += nodes.paragraph("", _("[not measured yet]"), classes=["unmeasured"])
        return row
    row += draw_bars(env, symptom["recipe"], gain)
    row += nodes.paragraph("", "", *make_ratio(gain, typography), classes=["recipe-row-ratio"])
    facts = nodes.paragraph("", _list_facts(env, fix["recipe"], gain), classes=["recipe-row-facts"])
    row += facts
    return row


def _list_facts(env: BuildEnvironment, recipe: str, gain: Gain) -> str:
    """Return startup and break-even in a line, or what a faster start costs later calls."""
    typography = Typography.of(env.config)
    if gain.state is State.STARTUP:
        return _describe_later_calls(env, gain)
    startup = format_startup(gain, typography)
    if gain.pays_after:
        calls = typography.format_measurement(gain.pays_after)
        pays = str(_("startup %(startup)s · breaks even after %(calls)s calls"))
        return typography.typeset(pays % {"startup": startup, "calls": calls})
    if gain.compiles_nothing and gain.startup is None:
        text = _("no startup, nothing compiled")
    elif gain.compiles_nothing:
        text = _("startup %s, nothing compiled") % startup
    elif startup:
        text = _("startup %s") % startup
    else:
        text = _("startup not measured")
    return typography.typeset(str(text))


def _describe_later_calls(env: BuildEnvironment, gain: Gain) -> str:
    typography = Typography.of(env.config)
    before, after = gain.before.wall, gain.after.wall
    if before is None or after is None:
        return ""
    facts = {
        "before": typography.format_measurement(before),
        "after": typography.format_measurement(after),
    }
    return typography.typeset(str(_("later calls: %(after)s, before %(before)s") % facts))


def draw_table(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the table of calls to break even, and fields for the reader's own numbers."""
    typography = Typography.of(env.config)
    first_calls = []  # seconds, of all cases
    start_ups = {}  # seconds, by recipe
    for node, gain in published_gains(env, _list_cases(headlines)):
        if gain.first_call:
            first_calls.append(gain.first_call.value)
        if gain.start_up:
            start_ups[node["recipe"]] = gain.start_up.value
    if not first_calls or not start_ups:
        return []
    start_up = median(start_ups.values())
    first_call = median(first_calls)
    startup = start_up + first_call
    text = _(
        "Calls until compiling has paid, by how long a call takes and how much faster it gets. "
        "Startup is %(startup)s: the compiler's own start, %(compiler)s, and a first call of "
        "%(first_call)s (medians of %(recipes)s recipes and %(cases)s cases)."
    )
    facts = {
        "startup": format_value(startup, "s", typography, 2),
        "compiler": format_value(start_up, "s", typography, 2),
        "first_call": format_value(first_call, "s", typography, 2),
        "recipes": len(start_ups),
        "cases": len(first_calls),
    }
    explanation = nodes.paragraph("", typography.typeset(str(text % facts)))
    rows = []
    for seconds in CALL_SECONDS:
        cells = []
        for ratio in SPEED_UPS:
            calls = calls_to_pay(startup, seconds, ratio)
            cells.append(format_calls(calls, typography))
        rows.append((format_value(seconds, "s", typography), cells))
    table = render(
        "does_it_pay.html",
        columns=[format_value(ratio, "x", typography) for ratio in SPEED_UPS],
        rows=rows,
        startup=f"{startup:.6g}",
        example=EXAMPLE,
        fields=FIELDS,
        texts=_field_texts(),
        sentence=describe_fields(startup, *FIELDS, typography),
    )
    return [explanation, table]


def calls_to_pay(startup: float, seconds: float, ratio: float) -> float:
    """Return after how many calls of so many seconds a startup is paid, at a speed-up above 1."""
    return startup / (seconds * (1 - 1 / ratio))


def format_calls(calls: float, typography: Typography) -> str:
    """Return a number of calls with two digits: 3,600. does_it_pay.js does the same."""
    return typography.format_number(max(1.0, float(f"{calls:.2g}")))


def _field_texts() -> dict[str, str]:
    """Return the sentences below the fields; does_it_pay.js has them, too."""
    return {
        "pays": str(
            _(
                "It pays if a call gets more than %(factor)s as fast. At %(example)s, it has paid "
                "after %(calls)s calls."
            )
        ),
        "never": str(_("It never pays: the whole run is shorter than the startup.")),
    }


def describe_fields(
    startup: float, milliseconds: float, calls: float, typography: Typography
) -> str:
    """Return what a run of so many calls needs for compiling to pay."""
    texts = _field_texts()
    seconds = milliseconds / 1000
    total = seconds * calls
    if total <= startup:
        return texts["never"]
    facts = {
        "factor": format_value(total / (total - startup), "x", typography),
        "example": format_value(EXAMPLE, "x", typography),
        "calls": format_calls(calls_to_pay(startup, seconds, EXAMPLE), typography),
    }
    return typography.typeset(texts["pays"] % facts)


def draw_evidence(env: BuildEnvironment, example: headline_list) -> list[nodes.Node]:
    """Return a claim's sentence and, below it, what was compared and in how many processes."""
    recipe, key = example["recipe"], example["key"]
    typography = Typography.of(env.config)
    lookup = Gallery(env).look_up(recipe, key)
    box = make_element("div", *example.children, css_class="evidence-example")
    problem = _find_problem(lookup)
    if problem:
        note_problem(env, str(GalleryError(problem, path=example.source, line=example.line)))
    claim = lookup.claim
    if not claim or claim.refuted:
        return [box]
    terms = []
    for term, measurement in claim.compared:
        name = name_variant(env, recipe, measurement)
        words = f"{name} {typography.format_measurement(measurement)}"
        if term.factor != 1:
            words = f"{format_value(term.factor, 'x', typography)} {words}"
        terms.append(words)
    facts = {
        "comparison": " < ".join(terms),
        "held": claim.held,
        "processes": claim.of,
        "machines": claim.hosts,
    }
    text = _(
        "%(comparison)s. It held in %(held)s of %(processes)s processes (machines: %(machines)s)."
    )
    box += nodes.paragraph("", typography.typeset(str(text % facts)), classes=["evidence-line"])
    return [box]


def _find_problem(lookup: Lookup) -> str:
    if lookup.claim and lookup.claim.refuted:
        return f"the claim ({lookup.claim.key}) {lookup.claim.failure}"
    return lookup.problem

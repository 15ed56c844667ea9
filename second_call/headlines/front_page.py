"""The front page: what all was measured on, the answer, and a row for each recipe."""

from datetime import datetime

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    Gallery,
    RecipeResults,
    Typography,
    watch,
)

from ..charts.chart_data import explain_gains
from ..charts.scales import format_rounded
from ..labels import _
from ..make_nodes import make_element, make_paragraph
from ..navigation import list_recipes
from .gains import Gain, State, find_gains, published_gains
from .headline_directive_lines import (
    borrow_headlines,
    headline,
    headline_list,
    list_cases,
    question,
    read_headlines,
)
from .headline_parts import (
    are_single_runs,
    contradicts_times,
    draw_bars,
    fill_in,
    format_startup,
    link_words,
    make_gain_range,
    make_legend,
    make_ratio,
    name_ratio,
    sort_versions,
)


class MeasuredOn(SphinxDirective):
    """Say what all recipes were measured on.

    Recordings of a CPU are drafts where there are others of a GPU, and do not count.
    """

    def run(self) -> list[nodes.Node]:
        """Return the line; nothing where nothing is recorded."""
        typography = Typography.of(self.config)
        devices: list[str] = []
        versions: list[str] = []
        dates: list[datetime] = []
        recorded = self._load_recorded()
        any_on_gpu = any(results.on_gpu for results in recorded)
        for results in recorded:
            if results.recorded is None or results.on_gpu != any_on_gpu:
                continue
            dates.append(results.recorded)
            if results.device not in devices:
                devices.append(results.device)
            version = self._version(results)
            if version:
                versions.append(version)
        if not dates:
            return []
        facts = {
            "devices": ", ".join(devices),
            "versions": ", ".join(sort_versions(versions)),
            "date": typography.format_date(max(dates)),
        }
        text = _("Measured on %(devices)s · %(versions)s · %(date)s") % facts
        text = text.replace(" ·", "\N{NO-BREAK SPACE}·")  # lines do not begin with it
        return [nodes.paragraph("", text, classes=["measured-on"], translatable=False)]

    def _load_recorded(self) -> list[RecipeResults]:
        """Return what was measured by each recipe that has a recording."""
        gallery = Gallery(self.env)
        recorded = []
        for recipe in watch(self.env, list_recipes):
            results = gallery.load_results(recipe)
            if results is not None and results.recorded is not None:
                recorded.append(results)
        return recorded

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


def draw_answer(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the answer: ranges of what compiling, CUDA graphs and ``fused=True`` gained."""
    typography = Typography.of(env.config)
    compiled: list[Gain] = []
    graphs: list[Gain] = []
    fused: list[Gain] = []
    for node, gain in published_gains(env, list_cases(headlines)):
        if node["kind"] == "compiled":
            compiled.append(gain)
        elif node["kind"] == "graph" and gain.state is State.WAITS:
            graphs.append(gain)
        elif node["kind"] == "fused":
            fused.append(gain)

    lines = []
    if compiled:
        text = _(
            "In %(cases)s cases on the GPU, code compiled without CUDA graphs ran at %(range)s the "
            "original speed, not counting up-front costs."
        )
        facts = {
            "cases": nodes.Text(str(len(compiled))),
            "range": make_gain_range(compiled, typography),
        }
        lines.append(fill_in(text, facts, typography))
    sentences = []
    parts: dict[str, nodes.Node] = {}
    if graphs:
        text = _(
            "In %(cases)s cases where the GPU was waiting on the CPU, CUDA graphs gave speed-ups "
            "of %(range)s; %(manual)s of them needed no compiler."
        )
        sentences.append(text)
        without_compiler = [gain for gain in graphs if gain.compiles_nothing]
        parts["range"] = make_gain_range(graphs, typography)
        parts["manual"] = nodes.Text(str(len(without_compiler)))
        parts["cases"] = nodes.Text(str(len(graphs)))
    if fused:
        text = _("%(option)s made training iterations %(speed_up)s as fast at no up-front cost.")
        sentences.append(text)
        parts["option"] = nodes.literal("", "fused=True")
        parts["speed_up"] = make_gain_range(fused, typography)
    if sentences:
        lines.append(fill_in(" ".join(sentences), parts, typography))
    return [make_paragraph(*line, css_class="gains-line") for line in lines]


def draw_rows(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return a row for each recipe: symptom, fix, two bars, speed-up, startup and break-even."""
    rows = make_element("ul", css_class="recipe-rows")
    gains = _find_first_gains(env, headlines)
    typography = Typography.of(env.config)
    are_single = are_single_runs(gains)
    notes = []
    if any(contradicts_times(gain, typography) for gain in gains):
        notes.append(explain_gains())
    symptom: question | None = None
    for node in headlines:
        if isinstance(node, question):
            symptom = node
        elif isinstance(node, headline) and symptom is not None:
            rows += _make_row(env, symptom, node, is_marked=not are_single)
    return [make_legend(gains, typography, notes), rows]


def _find_first_gains(env: BuildEnvironment, headlines: headline_list) -> list[Gain]:
    """Return the gains that the rows show, of recipes that were measured."""
    gains = []
    for fix in headlines.findall(headline):
        _results, gain = find_gains(env, fix)[0]
        if gain is not None:
            gains.append(gain)
    return gains


def _make_row(
    env: BuildEnvironment, symptom: question, fix: headline, *, is_marked: bool
) -> nodes.Element:
    """Return the row of a recipe; without a measurement, it has words alone."""
    typography = Typography.of(env.config)
    link = link_words(env, symptom["recipe"], symptom.deepcopy().children)
    heading = make_paragraph(link, css_class="recipe-row-symptom")
    heading["classes"] += symptom["classes"]  # such as that of what is not translated
    advice = make_paragraph(*fix.deepcopy().children, css_class="recipe-row-fix")
    advice["classes"] += fix["classes"]
    row = make_element("li", css_class="recipe-row")
    row += make_element("div", heading, advice, css_class="recipe-row-words")
    _results, gain = find_gains(env, fix)[0]
    if gain is None:
        unmeasured = nodes.Text(_("[not measured yet]"))
        row += make_paragraph(unmeasured, css_class="unmeasured")
        return row
    row += draw_bars(env, symptom["recipe"], gain)
    ratio, *mark = make_ratio(gain, typography, is_marked=is_marked)
    quantity = nodes.Text(_name_ratio(env, symptom["recipe"], gain))
    row += make_element(
        "div",
        make_paragraph(ratio, css_class="recipe-row-ratio"),
        make_paragraph(quantity, *mark, css_class="recipe-row-quantity"),
        css_class="recipe-row-gain",
    )
    row += _make_facts(gain, typography)
    return row


def _make_facts(gain: Gain, typography: Typography) -> nodes.Element:
    """Return what the ratio does not say: other costs, and what both bars leave out."""
    facts = make_element("div", css_class="recipe-row-facts")
    if gain.state not in (State.STARTUP, State.MEMORY):
        cost = _describe_startup(gain, typography)
        if cost:
            facts += make_paragraph(nodes.Text(cost))
        return facts
    startup = _describe_startup_left_out(gain, typography)
    if startup:
        facts += make_paragraph(nodes.Text(startup), css_class="recipe-row-startup")
    later_calls = _describe_later_calls(gain, typography)
    text = later_calls or _describe_saving(gain, typography)
    if text:
        facts += make_paragraph(nodes.Text(text))
    return facts


def _name_ratio(env: BuildEnvironment, recipe: str, gain: Gain) -> str:
    """Return what a ratio is of: of calls a speed-up, else memory or what starts."""
    if gain.state is State.STARTUP:
        return Gallery(env).name_quantity(recipe, gain.after.measurement.quantity)
    return name_ratio(gain.state)


def _describe_startup(gain: Gain, typography: Typography) -> str:
    """Return startup and break-even in a line; empty if they were not measured."""
    startup = format_startup(gain, typography)
    if gain.pays_after:
        calls = typography.format_measurement(gain.pays_after)
        facts = {"startup": startup, "calls": calls}
        text = _("%(startup)s up front · breaks even after %(calls)s calls") % facts
    elif gain.compiles_nothing and gain.startup is None:
        text = _("no up-front cost, nothing compiled")
    elif gain.compiles_nothing:
        text = _("%s up front, nothing compiled") % startup
    elif startup:
        text = _("%s up front") % startup
    else:
        return ""
    return typography.typeset(text)


def _describe_startup_left_out(gain: Gain, typography: Typography) -> str:
    """Return that both first calls come after the compiler's startup; empty of all else."""
    if gain.after.measurement.quantity != "first_call" or gain.start_up is None:
        return ""
    startup = format_rounded(gain.start_up.value, "s", typography, 2)
    return typography.typeset(_("plus %s of compiler startup, before and after") % startup)


def _describe_saving(gain: Gain, typography: Typography) -> str:
    """Return how much sooner a new process has its first result; empty of what is not startup."""
    before = gain.before.measurement
    after = gain.after.measurement
    if gain.state is not State.STARTUP or before.unit != "s":
        return ""
    saved = before.value - after.value
    if saved <= 0:
        return ""
    seconds = format_rounded(saved, "s", typography, 2)
    return typography.typeset(_("saves %s in each new process") % seconds)


def _describe_later_calls(gain: Gain, typography: Typography) -> str:
    """Return what less of something else costs later calls; empty if that is not known.

    Where GPU time was not measured, wall times may differ by as much as the CPU is uneven.
    """
    before = gain.before.wall
    after = gain.after.wall
    if before is None or after is None:
        return ""
    if gain.before.busy_share is None or gain.after.busy_share is None:
        return ""
    facts = {
        "before": typography.format_measurement(before),
        "after": typography.format_measurement(after),
    }
    return typography.typeset(_("later calls: %(after)s (was %(before)s)") % facts)

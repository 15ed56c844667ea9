"""The front page: what all was measured on, the answer, a row for each recipe, and what pays."""

from collections.abc import Sequence
from statistics import median

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    GalleryError,
    Lookup,
    RecipeResults,
    Reference,
    current_language,
    find_page,
    format_date,
    format_measurement,
    format_number,
    join_ends,
    load_results,
    look_up,
    note_problem,
    typeset,
    watch,
)

from ..charts.scales import format_value
from ..make_nodes import html_element, render
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
        locale = current_language(self.config).locale
        found = [watch(self.env, load_results, name) for name in watch(self.env, list_recipes)]
        measured = [each for each in found if each and each.recorded]
        if not measured:
            return []
        devices = dict.fromkeys(each.device for each in measured)
        versions = sort_versions([name for name in map(self._version, measured) if name])
        latest = max(each.recorded for each in measured if each.recorded)
        text = _("Measured on %(devices)s · %(versions)s · %(date)s") % {
            "devices": ", ".join(devices),
            "versions": ", ".join(versions),
            "date": format_date(latest, locale),
        }
        text = str(text).replace(" ·", "\N{NO-BREAK SPACE}·")  # lines do not begin with it
        return [nodes.paragraph("", text, classes=["measured-on"], translatable=False)]

    def _version(self, measured: RecipeResults) -> str:
        """Return the version of the first of the packages that pages name."""
        names = self.config.recorded_gallery_package_names
        versions = dict(measured.versions)
        return next((f"{names[name]} {versions[name]}" for name in names if name in versions), "")


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
        recipe, colon, key = (part.strip() for part in self.arguments[0].partition(":"))
        sentence = self.parse_content_to_nodes()
        if not colon or not sentence:
            raise self.error(
                "evidence: write .. evidence:: recipe: a.wall < b.wall, a sentence below"
            )
        try:
            page = find_page(self.env, Reference(recipe=recipe, key=""), self.env.docname)
        except ValueError as error:
            raise self.error(f"evidence: {error}") from None
        node = headline_list("", *sentence, draw=draw_evidence, recipe=page, key=key)
        node.source, node.line = self.get_source_info()
        return [node]


def draw_answer(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the answer: ranges of what compiling, CUDA graphs and ``fused=True`` gained."""
    locale = current_language(env.config).locale
    cases = published_gains(env, _list_cases(headlines))
    compiled = [gain for node, gain in cases if node["kind"] == "compiled"]
    graphs = [gain for node, gain in cases if node["kind"] == "graph" and gain.state is State.WAITS]
    fused = [gain for node, gain in cases if node["kind"] == "fused"]
    lines = []
    if compiled:
        text = str(_("Compiling alone made the work %(range)s as fast, startup aside."))
        lines.append(fill_in(text, {"range": _range(compiled, locale)}, locale))
    sentences = []
    parts: dict[str, nodes.Node] = {"option": nodes.literal("", "fused=True")}
    if graphs:
        text = _(
            "Where the GPU waited for the CPU, CUDA graphs gave %(range)s, in %(manual)s of "
            "%(cases)s cases without a compiler."
        )
        sentences.append(str(text))
        manual = sum(gain.compiles_nothing for gain in graphs)
        parts["range"] = _range(graphs, locale)
        parts["manual"] = nodes.Text(str(manual))
        parts["cases"] = nodes.Text(str(len(graphs)))
    if fused:
        text = _("%(option)s made optimizer steps %(speed_up)s as fast and costs no startup.")
        sentences.append(str(text))
        parts["speed_up"] = _range(fused, locale)
    if sentences:
        lines.append(fill_in(" ".join(sentences), parts, locale))
    return [nodes.paragraph("", "", *line, classes=["gains-line"]) for line in lines]


def _list_cases(headlines: headline_list) -> list[headline]:
    return [node for node in headlines if isinstance(node, headline)]


def _range(gains: Sequence[Gain], locale: Locale) -> nodes.strong:
    """Return the least and the greatest speed-up, as the results write them."""
    ratios = sorted((gain.ratio for gain in gains), key=lambda ratio: ratio.value)
    low, high = (format_measurement(ratio, locale) for ratio in (ratios[0], ratios[-1]))
    text = high if low == high else join_ends(low.removesuffix("×"), high)
    return nodes.strong("", text)


def draw_rows(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return a row for each recipe: symptom, fix, two bars, speed-up, startup and break-even."""
    rows = html_element(tag="ul", classes=["recipe-rows"])
    symptom: question | None = None
    for node in headlines:
        if isinstance(node, question):
            symptom = node
        elif isinstance(node, headline) and symptom is not None:
            rows += _make_row(env, symptom, node)
    return [render("legend.html", has_ranges=False), rows]


def _make_row(env: BuildEnvironment, symptom: question, fix: headline) -> nodes.Element:
    locale = current_language(env.config).locale
    link = link_words(env, symptom["recipe"], symptom.deepcopy().children)
    heading = nodes.paragraph("", "", link, classes=["recipe-row-symptom", *symptom["classes"]])
    words = fix.deepcopy().children
    advice = nodes.paragraph("", "", *words, classes=["recipe-row-fix", *fix["classes"]])
    row = html_element("", tag="li", classes=["recipe-row"])
    row += html_element("", heading, advice, tag="div", classes=["recipe-row-words"])
    _results, gain = find_gains(env, fix)[0]
    if gain is None:
        row += nodes.paragraph("", _("[not measured yet]"), classes=["unmeasured"])
        return row
    row += draw_bars(env, symptom["recipe"], gain)
    row += nodes.paragraph("", "", *make_ratio(gain, locale), classes=["recipe-row-ratio"])
    facts = nodes.paragraph("", _list_facts(env, fix["recipe"], gain), classes=["recipe-row-facts"])
    row += facts
    return row


def _list_facts(env: BuildEnvironment, recipe: str, gain: Gain) -> str:
    """Return startup and break-even in a line, or what less of something else costs later calls."""
    locale = current_language(env.config).locale
    if gain.state in (State.MEMORY, State.STARTUP):
        return _describe_later_calls(env, gain)
    startup = format_startup(gain, locale)
    if gain.pays_after:
        calls = format_measurement(gain.pays_after, locale)
        pays = str(_("startup %(startup)s · breaks even after %(calls)s calls"))
        return typeset(pays % {"startup": startup, "calls": calls}, locale)
    if not gain.compiles_nothing:
        text = str(_("startup %s") % startup) if startup else str(_("startup not measured"))
    elif gain.startup is None:
        text = str(_("no startup, nothing compiled"))
    else:
        text = str(_("startup %s, nothing compiled") % startup)
    return typeset(text, locale)


def _describe_later_calls(env: BuildEnvironment, gain: Gain) -> str:
    locale = current_language(env.config).locale
    before, after = gain.before.wall, gain.after.wall
    if before is None or after is None:
        return ""
    facts = {
        "before": format_measurement(before, locale),
        "after": format_measurement(after, locale),
    }
    return typeset(str(_("later calls: %(after)s, before %(before)s") % facts), locale)


def draw_table(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the table of calls to break even, and fields for the reader's own numbers."""
    locale = current_language(env.config).locale
    gains = [gain for _node, gain in published_gains(env, _list_cases(headlines))]
    first_calls = [gain.first_call.value for gain in gains if gain.first_call]
    recipes = {
        node["recipe"]: gain.start_up.value
        for node, gain in published_gains(env, _list_cases(headlines))
        if gain.start_up
    }
    if not first_calls or not recipes:
        return []
    start_up, first_call = median(recipes.values()), median(first_calls)
    startup = start_up + first_call
    text = _(
        "Calls until compiling breaks even, by the time of a call and its speed-up. Startup is "
        "%(startup)s: %(compiler)s until the compiler runs, and a first call of %(first_call)s "
        "(medians of %(recipes)s recipes and %(cases)s cases)."
    )
    facts = {
        "startup": format_value(startup, "s", locale, 2),
        "compiler": format_value(start_up, "s", locale, 2),
        "first_call": format_value(first_call, "s", locale, 2),
        "recipes": len(recipes),
        "cases": len(first_calls),
    }
    explanation = nodes.paragraph("", typeset(str(text % facts), locale))
    table = render(
        "does_it_pay.html",
        columns=[format_value(ratio, "x", locale) for ratio in SPEED_UPS],
        rows=[
            (
                format_value(seconds, "s", locale),
                [
                    format_calls(calls_to_pay(startup, seconds, ratio), locale)
                    for ratio in SPEED_UPS
                ],
            )
            for seconds in CALL_SECONDS
        ],
        startup=f"{startup:.6g}",
        example=EXAMPLE,
        fields=FIELDS,
        texts=_field_texts(),
        sentence=describe_fields(startup, *FIELDS, locale),
    )
    return [explanation, table]


def calls_to_pay(startup: float, seconds: float, ratio: float) -> float:
    """Return after how many calls of so many seconds a startup is paid, at a speed-up above 1."""
    return startup / (seconds * (1 - 1 / ratio))


def format_calls(calls: float, locale: Locale) -> str:
    """Return a number of calls with two digits: 3,600. does_it_pay.js does the same."""
    return format_number(max(1.0, float(f"{calls:.2g}")), locale)


def _field_texts() -> dict[str, str]:
    """Return the sentences below the fields; does_it_pay.js has them, too."""
    return {
        "pays": str(
            _(
                "It pays if a call gets more than %(factor)s as fast. At %(example)s, it breaks "
                "even after %(calls)s calls."
            )
        ),
        "never": str(_("It never pays: the whole run is shorter than the startup.")),
    }


def describe_fields(startup: float, milliseconds: float, calls: float, locale: Locale) -> str:
    """Return what a run of so many calls needs for compiling to pay."""
    texts = _field_texts()
    seconds = milliseconds / 1000
    total = seconds * calls
    if total <= startup:
        return texts["never"]
    facts = {
        "factor": format_value(total / (total - startup), "x", locale),
        "example": format_value(EXAMPLE, "x", locale),
        "calls": format_calls(calls_to_pay(startup, seconds, EXAMPLE), locale),
    }
    return typeset(texts["pays"] % facts, locale)


def draw_evidence(env: BuildEnvironment, example: headline_list) -> list[nodes.Node]:
    """Return a claim's sentence and, below it, what was compared and in how many processes."""
    recipe, key = example["recipe"], example["key"]
    locale = current_language(env.config).locale
    lookup = look_up(env, recipe, key)
    box = html_element("", *example.children, tag="div", classes=["evidence-example"])
    if problem := _find_problem(lookup):
        note_problem(env, str(GalleryError(problem, path=example.source, line=example.line)))
    if not lookup.claim or lookup.claim.refuted:
        return [box]
    measured = []
    for term, measurement in lookup.claim.compared:
        name = name_variant(env, recipe, measurement)
        factor = "" if term.factor == 1 else f"{format_value(term.factor, 'x', locale)} "
        measured.append(f"{factor}{name} {format_measurement(measurement, locale)}")
    facts = {
        "comparison": " < ".join(measured),
        "held": lookup.claim.held,
        "processes": lookup.claim.of,
        "machines": lookup.claim.hosts,
    }
    text = _(
        "%(comparison)s. It held in %(held)s of %(processes)s processes (machines: %(machines)s)."
    )
    box += nodes.paragraph("", typeset(str(text % facts), locale), classes=["evidence-line"])
    return [box]


def _find_problem(lookup: Lookup) -> str:
    if lookup.claim and lookup.claim.refuted:
        return f"the claim ({lookup.claim.key}) {lookup.claim.failure}"
    return lookup.problem

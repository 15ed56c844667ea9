"""The directive ``evidence``: what was compared for a claim, open below its sentence."""

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import Gallery, GalleryError, Lookup, Typography, note_problem

from ..charts.scales import format_rounded
from ..labels import _
from ..make_nodes import make_element, make_paragraph
from .headline_directive_lines import headline_list
from .headline_parts import name_variant


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


def draw_evidence(env: BuildEnvironment, example: headline_list) -> list[nodes.Node]:
    """Return a claim's sentence and, below it, what was compared and in how many processes.

    The line is one sentence here; ``roles.py`` of the engine lays out the same facts as a list.
    """
    typography = Typography.of(env.config)
    lookup = Gallery(env).look_up(example["recipe"], example["key"])
    box = make_element("div", *example.children, css_class="evidence-example")
    problem = _find_problem(lookup)
    if problem:
        note_problem(env, GalleryError(problem, path=example.source, line=example.line))
    claim = lookup.claim
    if not claim or claim.refuted:
        return [box]
    terms = []
    for term, measurement in claim.compared:
        name = name_variant(env, example["recipe"], measurement)
        words = typography.typeset(f"{typography.format_measurement(measurement)} ({name})")
        if term.factor != 1:
            factor = format_rounded(term.factor, "", typography)
            words = f"{factor} × {words}"
        terms.append(words)
    facts = {
        "comparison": " < ".join(terms),
        "held": claim.held,
        "processes": claim.measured_in,
        "machines": claim.hosts,
    }
    text = _("%(comparison)s. Held in %(held)s of %(processes)s processes on one machine.")
    if claim.hosts > 1:
        text = _(
            "%(comparison)s. Held in %(held)s of %(processes)s processes on %(machines)s machines."
        )
    evidence = nodes.Text(typography.typeset(text % facts))
    box += make_paragraph(evidence, css_class="evidence-line")
    return [box]


def _find_problem(lookup: Lookup) -> str:
    """Return what is wrong with a claim; empty if it holds, or if nothing is recorded."""
    claim = lookup.claim
    if claim and claim.refuted:
        return f"the claim ({claim.key}) {claim.failure}"
    return lookup.problem

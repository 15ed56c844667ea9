"""Put figures and evidence into a page, in the reader's language, and tell what is wrong there."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util import logging

from ...errors import GalleryError
from ...languages import current_language
from ...recipes.sources import ClaimRecord
from ...store import store_of, watch
from .format import describe_spread, format_measurement, needs_unit
from .known import CLAIM, FIGURE, Answer, answers
from .naming import Pieces, name_measurement, tell_comparison
from .roles import claim, measured

_ = get_translation("recipe_gallery")
logger = logging.getLogger(__name__)

Row = tuple[Pieces, str, str]
Line = tuple[Pieces, bool]
UNMEASURED = "unmeasured"  # class of a figure that no recording has yet


class measurement_list(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The figures of a page with their spread: ``rows`` of names in pieces, figure and spread.

    ``hosts`` tells on how many the processes ran at most; it is 0 where each figure is of one.
    """


def fill_measurements(env: BuildEnvironment, document: nodes.document) -> None:
    """Put figures where a page names them, once it is translated."""
    questions: dict[str, set[str]] = defaultdict(set)
    figures, claims = _find(document, measured), _find(document, claim)
    for node in (*figures, *claims):
        questions[node["recipe"]].add(_question(node))
    found: dict[tuple[str, str], Answer] = {}
    for recipe, asked in questions.items():
        known = watch(env, answers, recipe, *sorted(asked))
        found |= {(recipe, each): a for each, a in zip(sorted(asked), known, strict=True)}
    shown: dict[tuple[str, str], Row] = {}
    for node in figures:
        answer = found[node["recipe"], _question(node)]
        row = _fill(env, node, answer)
        if row and "borrowed" not in node:
            shown[node["recipe"], node["key"]] = row
    for node in claims:  # their sentences are whole now
        _prove(env, node, found[node["recipe"], _question(node)])
    title = next(iter(document.findall(nodes.title)), None)
    if shown and title is not None:
        several = [each for a in found.values() if (each := a.figure) and each.processes > 1]
        hosts = max((each.hosts for each in several), default=0)
        title.parent += measurement_list(rows=list(shown.values()), hosts=hosts)


def _fill(env: BuildEnvironment, node: measured, answer: Answer) -> Row | None:
    """Let a node show its figure; return its row of the list, or None without a figure."""
    figure, locale = answer.figure, current_language(env.config).locale
    node.children = []
    if figure is None:
        node += nodes.Text(_("[not measured here]") if answer.trial else _("[not measured yet]"))
        node["classes"].append(UNMEASURED)
        if answer.problem:
            node["problem"], node["in_files"] = answer.problem, answer.in_files
        return None
    bare = node["form"] == "number"
    if bare and needs_unit(figure):
        bare = False  # a reader gets the unit all the same
        where = " in its translation" if _is_translated(node) else ""
        node["problem"] = (
            f"{figure.key!r} is in {figure.unit}, whose scale follows the figure; "
            f'leave out ", number"{where}'
        )
    spread = describe_spread(figure, locale)
    node += nodes.Text(format_measurement(figure, locale, bare=bare))
    node["spread"] = spread
    names = name_measurement(env, node["recipe"], figure)
    return names, format_measurement(figure, locale), spread


def _prove(env: BuildEnvironment, node: claim, answer: Answer) -> None:
    """Give a node the lines of its evidence."""
    node["evidence"] = []
    if answer.problem:
        node["problem"], node["in_files"] = answer.problem, answer.in_files
    record = answer.claim
    if record is None:
        return
    if record.refuted:  # no mark confirms it
        node["problem"] = f'the claim "{node.astext()}" ({record.key}) {record.failure}'
        return
    heading: Line = ([(_count(record), False)], False)
    measured_so = tell_comparison(env, node["recipe"], record.compared)
    node["evidence"] = [heading, (measured_so or [(record.evidence, True)], True)]


def _find(document: nodes.document, kind: type[nodes.inline]) -> list[Any]:
    return [node for node in document.findall(kind) if "key" in node]


def _question(node: nodes.Element) -> str:
    return f"{FIGURE if isinstance(node, measured) else CLAIM} {node['key']}"


def _count(record: ClaimRecord) -> str:
    facts = {"held": record.held, "processes": record.of, "machines": record.hosts}
    if record.of == 1 and record.held:
        return str(_("Holds in the one process that was measured:"))
    if record.hosts > 1:
        text = _("Holds in %(held)s of %(processes)s processes on %(machines)s machines:")
    else:
        text = _("Holds in %(held)s of %(processes)s processes on one machine:")
    return str(text % facts)


def note_problems(env: BuildEnvironment, document: nodes.document) -> None:
    """Note what is wrong with the figures of a page, with its place, for every build to tell."""
    problems = store_of(env).pages[env.docname].problems
    for node in document.findall(lambda n: isinstance(n, measured | claim)):
        if "problem" in node and "borrowed" not in node:
            path, line = (None, None) if node.get("in_files") else _locate(node)
            problems.append(str(GalleryError(node["problem"], path=path, line=line)))


def _block(node: nodes.Element) -> nodes.Element:
    """Return the paragraph of a role, which has its line and its text before translation."""
    block = node.parent
    while block.parent is not None and (block.line is None or isinstance(block, nodes.inline)):
        block = block.parent
    return block


def _is_translated(node: nodes.Element) -> bool:
    """Tell whether a translation wrote a role otherwise than its source."""
    role = node if node.rawsource else node.parent  # a figure of a claim has no source of its own
    text = _block(node).rawsource
    return bool(text) and role.rawsource not in text


def _locate(node: nodes.Element) -> tuple[Path | None, int | None]:
    """Return the file and the line of a role, or of the paragraph with its translation."""
    block = _block(node)
    text = block.rawsource
    # In a translation the role reads otherwise, but for its key.
    marks = filter(None, (node.rawsource, f"<{node.get('key')}>", node.get("key")))
    place = next((text.find(mark) for mark in marks if mark in text), 0)
    line = block.line + text[:place].count("\n") if block.line else None
    return Path(block.source) if block.source else None, line


def tell_problems(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of what is wrong with figures; also of pages that this build did not read."""
    pages = [page for _docname, page in sorted(store_of(env).pages.items())]
    for problem in dict.fromkeys(each for page in pages for each in page.problems):
        logger.warning("%s", problem, type="recipe_gallery", subtype="page")

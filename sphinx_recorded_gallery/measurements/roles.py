"""The roles ``measured`` and ``claim``: numbers and sentences that recordings confirm, in prose.

A role leaves a node that names a key. When the page is translated, the measurement is put there in
the reader's form, and a claim gets its evidence. Other formats than HTML have their text alone.
"""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import traverse_parent
from sphinx.writers.html5 import HTML5Translator

from ..errors import GalleryError
from ..languages import current_language, source_language
from ..store import store_of
from .keys import Reference, at_release, parse_claim, parse_reference
from .lookup import Lookup, Outcome, find_page, look_up
from .names import mark, name_measurement, name_release, tell_comparison
from .numbers import describe_spread, format_measurement
from .processes import ClaimRecord

_ = get_translation("sphinx_recorded_gallery")


class measured(nodes.inline):  # noqa: N801 (docutils names nodes so)
    """A measurement: its text is the key until it is filled in.

    ``recipe`` is the page of its recipe, ``key`` its key, ``release`` another one than the page's.
    """


class claim(nodes.inline):  # noqa: N801
    """A sentence that recordings confirm; ``evidence`` holds lines about it."""


class measurement_list(nodes.General, nodes.Element):  # noqa: N801
    """The measurements of a page: ``rows`` of names in pieces, measurement and spread.

    ``hosts`` tells on how many the processes ran at most; it is 0 where each figure is of one.
    """


# By the name of the role
ROLES = {"measured": measured, "claim": claim}


class MeasuredRole(SphinxRole):
    """Makes the node of either role."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the node; what is wrong with its text is told when the page has been read."""
        node = make_node(self.env, self.env.docname, self.name, self.text)
        node.rawsource = self.rawtext
        return [node], []


def make_node(env: BuildEnvironment, docname: str, role: str, text: str) -> nodes.inline:
    """Return the node of a role in a text of the page ``docname``."""

    def name(kind: type[nodes.inline], named: Reference, *shown: str) -> nodes.inline:
        recipe = find_page(env, named, docname)
        return kind("", *shown, recipe=recipe, key=named.key, release=named.release)

    try:
        if role == "measured":
            named = parse_reference(text)
            node = name(measured, named, named.key)
        else:
            parsed = parse_claim(text)
            node = name(claim, parsed.claim)
            for piece in parsed.pieces:
                if isinstance(piece, Reference):
                    node += name(measured, piece, piece.key)
                else:
                    node += nodes.Text(piece)
    except ValueError as error:
        node = ROLES[role]("", text, problem=str(error))
    return node


def fill_measurements(env: BuildEnvironment, document: nodes.document) -> None:
    """Put measurements where a page names them, once it is translated; give claims evidence."""
    numbers = [node for node in document.findall(measured) if "key" in node]
    claims = [node for node in document.findall(claim) if "key" in node]
    rows: dict[tuple[str, ...], tuple[Any, ...]] = {}
    hosts = 0
    for node in (*numbers, *claims):  # the sentences of claims are whole then
        lookup = look_up(env, node["recipe"], node["key"], node["release"])
        if lookup.problem:
            node["problem"] = lookup.problem
            node["in_files"] = lookup.outcome is Outcome.UNREADABLE
        if isinstance(node, claim):
            _prove(env, node, lookup.claim)
            continue
        row = _fill(env, node, lookup)
        if row:
            rows[node["recipe"], node["key"], node["release"]] = row
        if lookup.measurement and lookup.measurement.processes > 1:
            hosts = max(hosts, lookup.measurement.hosts)
    title = next(iter(document.findall(nodes.title)), None)
    if rows and title is not None:
        title.parent += measurement_list(rows=list(rows.values()), hosts=hosts)


def _fill(env: BuildEnvironment, node: nodes.inline, lookup: Lookup) -> tuple[Any, ...] | None:
    """Let a node show its measurement; return its row of the list, or None without one."""
    measurement, locale = lookup.measurement, current_language(env.config).locale
    node.children = []
    if measurement is None:
        is_elsewhere = lookup.outcome is Outcome.LEFT_TO_GPU
        node += nodes.Text(_("[not measured here]") if is_elsewhere else _("[not measured yet]"))
        node["classes"].append("unmeasured")
        return None
    text = format_measurement(measurement, locale)
    node["spread"] = describe_spread(measurement, locale)
    node += nodes.Text(text)
    names = name_measurement(env, node["recipe"], measurement)
    if node["release"]:
        release = name_release(env, node["recipe"], node["release"])
        names = [*names, (" · ", False), (release, False)]
    return names, text, node["spread"]


def _prove(env: BuildEnvironment, node: claim, record: ClaimRecord | None) -> None:
    """Give a node the lines of its evidence: pieces, and whether they are what was measured."""
    node["evidence"] = []
    if record and record.refuted:  # no mark confirms it
        key = at_release(record.key, node["release"])
        node["problem"] = f'the claim "{node.astext()}" ({key}) {record.failure}'
    elif record:
        told = tell_comparison(env, node["recipe"], record.compared)
        if node["release"]:
            release = name_release(env, node["recipe"], node["release"])
            told = [(f"{release}: ", False), *told]
        node["evidence"] = [([(_count(record), False)], False), (told, True)]


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
        if "problem" in node:
            block = node.parent  # the paragraph knows its place, also that of a translation
            while block.parent is not None and (
                block.line is None or isinstance(block, nodes.inline)
            ):
                block = block.parent
            path = None if node.get("in_files") else block.source and Path(block.source)
            problems.append(str(GalleryError(node["problem"], path=path, line=block.line)))


def visit_measurement(self: HTML5Translator, node: measured | claim) -> None:
    """Begin a figure or a claim; where one falls again shows a mouse, the list tells everybody."""
    if _has_evidence(self, node):
        count = self.__dict__.setdefault("claims_written", {})
        count[node["key"]] = count.get(node["key"], 0) + 1
        name = f"claim {self.builder.current_docname} {node['key']} {count[node['key']]}"
        node["ids"] = [nodes.make_id(name)]
    spread = {"title": node["spread"]} if "spread" in node else {}
    self.body.append(self.starttag(node, "span", "", CLASS=type(node).__name__, **spread))


def depart_measurement(self: HTML5Translator, node: measured | claim) -> None:
    """End it; a claim with the mark that opens its evidence, for which no script is needed."""
    self.body.append("</span>")
    if not _has_evidence(self, node):
        return
    [sentence] = node["ids"]
    box, button = f"{sentence}-evidence", f"{sentence}-mark"
    lines = [
        f'<span class="claim-line{" claim-measured" * is_told}" id="{box}-{number}">'
        f"{mark(self.config, line)}</span>"
        for number, (line, is_told) in enumerate(node["evidence"])
    ]
    # The button's name is the label, the sentence before it, and what was compared: several claims
    # of a page may have the same words.
    label = _("Evidence")  # not in the f-string, where the catalogs would miss it
    here, source = current_language(self.config).tag, source_language(self.config).tag
    said = "" if here == source else f' lang="{here}"'  # the sentence around it may be untranslated
    self.body.append(
        f'<button type="button" class="claim-mark" id="{button}" popovertarget="{box}"{said} '
        f'aria-label="{escape(label)}" '
        f'aria-labelledby="{button} {sentence} {box}-1"></button>'
        f'<span class="claim-evidence" id="{box}"{said} role="note" popover>'
        f"{''.join(lines)}</span>"
    )


def _has_evidence(self: HTML5Translator, node: nodes.Element) -> bool:
    """Tell whether evidence follows: a button works in no book, heading, link or card."""
    inside = any(traverse_parent(node.parent, (nodes.title, nodes.reference, nodes.caption)))
    if inside or self.builder.name == "epub":
        return False
    return bool(node.get("evidence"))


def visit_measurement_list(self: HTML5Translator, node: measurement_list) -> None:
    """Write the list, folded."""
    rows = [
        f"<li>{mark(self.config, [*names, (': ', False)])}<strong>{escape(figure)}</strong>"
        f"{mark(self.config, [(f' ({spread})', False)])}</li>\n"
        for names, figure, spread in node["rows"]
    ]
    summary = _("How the numbers in the text were measured")
    notes = [
        _(
            "A range is what machines have shown. Where it is expected of a further machine, it "
            "follows from the GPU alone, and 95 of 100 machines fall into it."
        )
    ]
    if node["hosts"] == 1:
        notes.append(
            _(
                "All processes ran on one machine: how far others of its kind differ was not "
                "measured."
            )
        )
    said = "".join(f"<p>{escape(note)}</p>\n" for note in notes)
    self.body.append(
        f'<details class="figure-list"><summary>{escape(summary)}</summary>\n'
        f"{said}<ul>\n{''.join(rows)}</ul>\n</details>\n"
    )
    raise nodes.SkipNode

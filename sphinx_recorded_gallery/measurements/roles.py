"""The roles ``measured`` and ``claim``: numbers and sentences that recordings confirm, in prose.

A role leaves a node that names a key. Once the page is translated, the node gets the measurement in
the reader's language, and a claim gets its evidence. Formats other than HTML show only the text.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import traverse_parent
from sphinx.writers.html5 import HTML5Translator

from ..dates_and_numbers import SEPARATOR
from ..errors import GalleryError
from ..languages import Language
from ..store import get_store
from .keys import CLAIM, MEASURED, Reference, at_release, parse_role
from .lookup import Lookup, find_page, look_up
from .names_for_readers import (
    Piece,
    Pieces,
    name_measurement,
    name_release,
    pieces_as_html,
    tell_comparison,
)
from .numbers import describe_spread, format_measurement
from .processes import ClaimRecord

_ = get_translation("sphinx_recorded_gallery")


class measured(nodes.inline):  # noqa: N801 (docutils names nodes so)
    """A measurement; its text is the key until it is filled in.

    ``recipe`` is the page of its recipe, ``key`` its key, and ``release`` the named release; empty
    for that of the page.
    """


class claim(nodes.inline):  # noqa: N801
    """A sentence that recordings confirm; ``evidence`` holds lines about it."""


@dataclass(frozen=True, kw_only=True)
class EvidenceLine:
    """A line of the evidence of a claim: its words, and whether they are what was measured."""

    pieces: Pieces
    is_measured: bool = False


class measurement_list(nodes.General, nodes.Element):  # noqa: N801
    """The measurements of a page: ``rows`` of names in pieces, measurement and spread.

    ``hosts`` is the largest number of hosts of a measurement; 0 if each is of a single process.
    """


# By the name of the role
ROLES = {MEASURED: measured, CLAIM: claim}


class MeasuredRole(SphinxRole):
    """The implementation of both roles."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the node; mistakes in its text are reported after the page was read."""
        node = make_node(self.env, self.env.docname, self.name, self.text)
        node.rawsource = self.rawtext
        return [node], []


def make_node(env: BuildEnvironment, docname: str, role: str, text: str) -> nodes.inline:
    """Return the node of a role in a text of the page ``docname``."""

    def find_attributes(reference: Reference) -> dict[str, str]:
        recipe = find_page(env, reference, docname)
        return {"recipe": recipe, "key": reference.key, "release": reference.release}

    try:
        named = parse_role(role, text)
        if isinstance(named, Reference):
            return measured("", named.key, **find_attributes(named))
        node = claim("", **find_attributes(named.claim))
        for piece in named.pieces:
            if isinstance(piece, Reference):
                node += measured("", piece.key, **find_attributes(piece))
            else:
                node += nodes.Text(piece)
    except ValueError as error:
        return ROLES[role]("", text, problem=str(error))
    return node


def fill_measurements(env: BuildEnvironment, document: nodes.document) -> None:
    """Fill in the measurements that a translated page names, and give claims their evidence."""
    numbers = [node for node in document.findall(measured) if "key" in node]
    claims = [node for node in document.findall(claim) if "key" in node]
    rows: dict[tuple[str, ...], tuple[Any, ...]] = {}
    hosts = 0
    for node in numbers:
        lookup = _look_up_node(env, node)
        row = _fill(env, node, lookup)
        if row:
            rows[node["recipe"], node["key"], node["release"]] = row
        if lookup.measurement and lookup.measurement.processes > 1:
            hosts = max(hosts, lookup.measurement.hosts)
    for node in claims:  # when the numbers in their sentences are filled in
        lookup = _look_up_node(env, node)
        _prove(env, node, lookup.claim)
    title = next(iter(document.findall(nodes.title)), None)
    if rows and title is not None:
        title.parent += measurement_list(rows=list(rows.values()), hosts=hosts)


def _look_up_node(env: BuildEnvironment, node: nodes.inline) -> Lookup:
    """Return what a node names; a problem with it is noted in the node."""
    lookup = look_up(env, node["recipe"], node["key"], node["release"])
    if lookup.problem:
        node["problem"] = lookup.problem
        node["in_files"] = lookup.is_unreadable
    return lookup


def _fill(env: BuildEnvironment, node: nodes.inline, lookup: Lookup) -> tuple[Any, ...] | None:
    """Show the measurement in a node; return its row of the list, or None without a measurement."""
    measurement = lookup.measurement
    locale = Language.current(env.config).locale
    node.children = []
    if measurement is None:
        if lookup.is_left_to_gpu:
            placeholder = _("[not measured here]")
        else:
            placeholder = _("[not measured yet]")
        node += nodes.Text(placeholder)
        node["classes"].append("unmeasured")
        return None
    text = format_measurement(measurement, locale)
    node["spread"] = describe_spread(measurement, locale)
    node += nodes.Text(text)
    names = name_measurement(env, node["recipe"], measurement)
    if node["release"]:
        release = name_release(env, node["recipe"], node["release"])
        names = [*names, Piece(SEPARATOR), Piece(release)]
    return names, text, node["spread"]


def _prove(env: BuildEnvironment, node: claim, record: ClaimRecord | None) -> None:
    """Give a node the lines of its evidence."""
    node["evidence"] = []
    if record and record.refuted:  # without evidence, no mark confirms the sentence
        key = at_release(record.key, node["release"])
        node["problem"] = f'the claim "{node.astext()}" ({key}) {record.failure}'
    elif record:
        comparison = tell_comparison(env, node["recipe"], record.compared)
        if node["release"]:
            release = name_release(env, node["recipe"], node["release"])
            comparison = [Piece(f"{release}: "), *comparison]
        node["evidence"] = [
            EvidenceLine(pieces=[Piece(_count(record))]),
            EvidenceLine(pieces=comparison, is_measured=True),
        ]


def _count(record: ClaimRecord) -> str:
    """Return a sentence with the number of processes in which a claim holds."""
    facts = {"held": record.held, "processes": record.measured_in, "machines": record.hosts}
    if record.measured_in == 1 and record.held:
        return str(_("Holds in the one process that was measured:"))
    if record.hosts > 1:
        text = _("Holds in %(held)s of %(processes)s processes on %(machines)s machines:")
    else:
        text = _("Holds in %(held)s of %(processes)s processes on one machine:")
    return str(text % facts)


def note_problems(env: BuildEnvironment, document: nodes.document) -> None:
    """Note the problems of a page's measurements and claims, so that every build reports them."""
    problems = get_store(env).pages[env.docname].problems
    for node in document.findall(lambda n: isinstance(n, measured | claim)):
        if "problem" in node:
            block = _find_block(node)
            path = None
            if block.source and not node.get("in_files"):
                path = Path(block.source)
            problems.append(str(GalleryError(node["problem"], path=path, line=block.line)))


def _find_block(node: nodes.Element) -> nodes.Element:
    """Return the paragraph around a node; only it has a place, also if it is translated."""
    block = node.parent
    while block.parent is not None and (block.line is None or isinstance(block, nodes.inline)):
        block = block.parent
    return block


def visit_measurement(self: HTML5Translator, node: measured | claim) -> None:
    """Begin a measurement or a claim; hovering shows the spread, which is also in the list."""
    tag = "span"
    attributes = {}
    if _has_evidence(self, node):
        # Nothing leads to it but its own button: a number is enough: a page may have fifty.
        number = self.__dict__.get("claims_written", 0) + 1
        self.__dict__["claims_written"] = number
        node["ids"] = [f"claim.{number}"]  # with a dot no heading has it
        tag = "label"  # of the button behind it, so that a click on the sentence presses it
        attributes["for"] = _name_button(node)
    if "spread" in node:
        attributes["title"] = node["spread"]
    self.body.append(self.starttag(node, tag, "", CLASS=type(node).__name__, **attributes))


def depart_measurement(self: HTML5Translator, node: measured | claim) -> None:
    """End it; a claim gets a button that opens its evidence without a script."""
    if not _has_evidence(self, node):
        self.body.append("</span>")
        return
    self.body.append("</label>")
    [sentence] = node["ids"]
    box = f"{sentence}-evidence"
    button = _name_button(node)
    # Several claims of a page may have the same words. So the name of the button is its label, the
    # sentence before it, and the compared measurements.
    names = [button, sentence]
    lines = []
    for number, line in enumerate(node["evidence"]):
        attributes = 'class="claim-line"'
        if line.is_measured:
            identifier = f"{box}-{number}"
            attributes = f'class="claim-line claim-measured" id="{identifier}"'
            names.append(identifier)
        text = pieces_as_html(self.config, line.pieces)
        lines.append(f"<span {attributes}>{text}</span>")
    label = _("Evidence")
    language = ""  # the sentence around the button may not be translated
    tag = Language.current(self.config).tag
    if tag != Language.source(self.config).tag:
        language = f' lang="{tag}"'
    self.body.append(
        f'<button type="button" class="claim-mark" id="{button}" popovertarget="{box}"{language} '
        f'aria-label="{escape(label)}" '
        f'aria-labelledby="{" ".join(names)}"></button>'
        f'<span class="claim-evidence" id="{box}"{language} role="note" popover>'
        f"{''.join(lines)}</span>"
    )


def _name_button(node: nodes.Element) -> str:
    """Return the identifier of the button that opens the evidence of a claim."""
    [sentence] = node["ids"]
    return f"{sentence}-mark"


def _has_evidence(self: HTML5Translator, node: nodes.Element) -> bool:
    """Return whether to show evidence: a button does not work in a book, heading, link or card."""
    if self.builder.name == "epub":
        return False
    if any(traverse_parent(node.parent, (nodes.title, nodes.reference, nodes.caption))):
        return False
    return bool(node.get("evidence"))


def visit_measurement_list(self: HTML5Translator, node: measurement_list) -> None:
    """Write the list, folded."""
    rows = []
    for names, measurement, spread in node["rows"]:
        name = pieces_as_html(self.config, [*names, Piece(": ")])
        range_text = pieces_as_html(self.config, [Piece(f" ({spread})")])
        rows.append(f"<li>{name}<strong>{escape(measurement)}</strong>{range_text}</li>\n")
    summary = _("How the numbers in the text were measured")
    notes = [
        _(
            "A range covers the machines measured so far. Where it says “expected on another "
            "machine”, the number depends only on the GPU, and the range should hold on 95 of "
            "100 machines."
        )
    ]
    if node["hosts"] == 1:
        notes.append(
            _("All processes ran on one machine, so the spread between machines is unknown.")
        )
    paragraphs = "".join(f"<p>{escape(note)}</p>\n" for note in notes)
    self.body.append(
        f'<details class="figure-list"><summary>{escape(summary)}</summary>\n'
        f"{paragraphs}<ul>\n{''.join(rows)}</ul>\n</details>\n"
    )
    raise nodes.SkipNode

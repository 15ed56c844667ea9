"""The directive ``releases``: what moved between two releases, in sentences and a table.

``.. releases:: 2.15 2.11`` tells it of the page's recipe. On another page it tells it of all
recipes: first of all of them together, then of each.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from babel import Locale
from docutils import nodes
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from ..dates_and_numbers import SEPARATOR, format_percent, join_names, typeset
from ..errors import GalleryError
from ..languages import Language
from ..recipes.recipe import load_recipe
from ..recipes.releases import sort_releases
from ..store import note_problem, once, watch
from .docutils_tables import make_untranslated_table
from .lookup import all_files, find_claims, load_results
from .names_for_readers import (
    QUANTITY,
    Piece,
    Pieces,
    name_measurement,
    name_release,
    name_word,
    pieces_as_nodes,
    pieces_as_text,
    tell_comparison,
)
from .numbers import format_measurement, format_value, join_ends
from .quantities import list_quantities
from .release_changes import (
    Basis,
    Change,
    ClaimChange,
    QuantitySummary,
    ReleaseChanges,
    compare_releases,
    find_differences,
    summarize,
)

_ = get_translation("sphinx_recorded_gallery")

_RELEASE = re.compile(r"\d+(\.\d+)?")
_LAST_DIGIT = -2  # of ratios: two decimals


class release_changes(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A placeholder for what moved from the release ``before`` to ``now``."""


class release_table(nodes.General, nodes.Element):  # noqa: N801
    """A table below a ``summary``, or sentences and a table, folded where pages can fold."""


class Releases(SphinxDirective):
    """The directive; its arguments are two releases, the newer one first."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return the placeholder."""
        now, before = self.arguments
        for release in (now, before):
            if not _RELEASE.fullmatch(release):
                raise self.error(f"releases: {release!r} is not a release; write it like 2.15")
        if now == before:
            raise self.error(f"releases: both releases are {now}; name another one")
        node = release_changes(now=now, before=before)
        self.set_source_info(node)
        return [node]


def fill_releases(env: BuildEnvironment, document: nodes.document) -> None:
    """Replace placeholders by what moved, in the reader's language."""
    for node in list(document.findall(release_changes)):
        _note_unmeasured(env, node)
        node.replace_self(_tell_changes(env, node["now"], node["before"]))


def _note_unmeasured(env: BuildEnvironment, node: release_changes) -> None:
    """Note a release that no recipe was measured with, which may be a slip."""
    measured = watch(env, find_measured_releases)
    for release in (node["now"], node["before"]):
        if not measured or release in measured:
            continue
        text = f"releases: nothing was measured with {release}"
        remedy = f"choose among: {', '.join(measured)}"
        path = Path(node.source) if node.source else None
        note_problem(env, GalleryError(text, path=path, line=node.line, remedy=remedy))


def find_measured_releases(env: BuildEnvironment) -> list[str]:
    """Return the releases that recipes were measured with, the newest first, for ``watch``.

    Returns none while the results of a recipe are missing or stale: they may be of any release.
    """
    releases: set[str] = set()
    for docname in once(env, all_files):
        results = once(env, load_results, docname)
        if results is None or not results.is_measured:
            return []
        releases |= {*results.by_release, *results.releases_anywhere}
    return sort_releases(releases - {""})


def load_changes(env: BuildEnvironment, docname: str, now: str, before: str) -> ReleaseChanges:
    """Return what moved in a recipe between two releases, for ``once``.

    If one of them was not measured, the result has no hosts. A page that shows it must ``watch``
    the results of the recipe.
    """
    results = load_results(env, docname)
    if results is None or not results.is_measured:
        return ReleaseChanges()
    try:
        new, old = results.of_release(now), results.of_release(before)
    except ValueError:
        return ReleaseChanges()
    file = once(env, all_files)[docname]
    claims = find_claims(load_recipe(file.path, file.name))
    return compare_releases(new, old, list_quantities(env.config), claims)


def _tell_changes(env: BuildEnvironment, now: str, before: str) -> list[nodes.Node]:
    """Return what moved in the page's recipe, or in all recipes."""
    files = watch(env, all_files)
    docnames = [env.docname] if env.docname in files else list(files)
    told: list[nodes.Node] = []
    without: list[nodes.Node] = []
    compared: dict[str, ReleaseChanges] = {}
    for docname in docnames:
        watch(env, load_results, docname)
        changes = once(env, load_changes, docname, now, before)
        if changes.hosts:
            compared[docname] = changes
        else:
            if without:
                without.append(nodes.Text(", "))
            without.append(_link(env, docname))
    machines = {changes.hosts for changes in compared.values()}
    are_told = len(compared) > 1 and len(machines) == 1  # once, as it holds for each recipe
    if are_told:
        told.append(_tell_machines(env, next(iter(compared)), now, before, machines.pop()))
    if len(compared) > 1:
        told += _tell_together(env, compared)
    for docname, changes in compared.items():
        told += _tell_recipe(env, docname, now, before, changes, machines_are_told=are_told)
    facts = {"now": now, "before": before}
    if not compared and len(docnames) > 1:
        text = _("No machine has measured any example with both %(now)s and %(before)s yet.")
        told.append(_paragraph(nodes.Text(str(text % facts))))
    elif without:
        text = _("No machine has measured both %(now)s and %(before)s:")
        told.append(_paragraph(nodes.Text(f"{text % facts} "), *without))
    return told


def _tell_machines(
    env: BuildEnvironment, docname: str, now: str, before: str, machines: int
) -> nodes.paragraph:
    """Return a sentence on how many machines have measured both releases."""
    facts = {"now": name_release(env, docname, now), "before": before, "machines": machines}
    if machines == 1:
        text = _(
            "%(now)s compared with %(before)s on 1 machine: the spread between machines is unknown."
        )
    else:
        text = _(
            "%(now)s compared with %(before)s on the %(machines)s machines where both were "
            "measured."
        )
    return _paragraph(nodes.Text(typeset(str(text % facts), Language.current(env.config).locale)))


def _tell_recipe(
    env: BuildEnvironment,
    docname: str,
    now: str,
    before: str,
    changes: ReleaseChanges,
    *,
    machines_are_told: bool,
) -> Iterator[nodes.Node]:
    """Yield the name of a recipe, sentences on what moved, and a table of the measurements."""
    locale = Language.current(env.config).locale
    if docname != env.docname:
        yield nodes.rubric("", "", _link(env, docname))
    if not machines_are_told:
        yield _tell_machines(env, docname, now, before, changes.hosts)
    claims = [_tell_claim(env, docname, now, before, claim) for claim in changes.claims]
    quantities = [*_tell_quantities(env, docname, changes.summaries, locale)]
    summary = str(_("What moved, measurement by measurement"))
    if docname != env.docname:
        summary = _name_moved(env, docname, changes, locale)
    folded = release_table(summary=summary)
    if docname == env.docname:
        yield _list([*claims, *quantities])
    else:  # a page of many recipes shows the claims of each, and folds the rest
        if claims:
            yield _list(claims)
        folded += _list(quantities)
    if changes.moved:
        folded += _draw_table(env, docname, now, before, changes.moved, locale)
    if folded.children:
        yield folded


def _name_moved(
    env: BuildEnvironment, docname: str, changes: ReleaseChanges, locale: Locale
) -> str:
    """Return a summary that tells the folds of many recipes apart: what moved in this one."""
    names = []
    moved, known = 0, 0
    for summary in changes.summaries:
        moved += len(summary.less) + len(summary.more)
        known += summary.count
        if summary.has_moved:
            names.append(pieces_as_text(name_word(env, docname, summary.quantity, QUANTITY)))
    facts = {"count": moved, "all": known}
    if moved == known == 1:
        text = _("Moved: the only measurement")
    else:
        text = _("Moved: %(count)s of %(all)s measurements")
    told = str(text % facts)
    if names:
        told += f" ({join_names(names, locale)})"
    return typeset(told, locale)


def _tell_together(
    env: BuildEnvironment, compared: Mapping[str, ReleaseChanges]
) -> Iterator[nodes.Node]:
    """Yield what moved in all recipes together."""
    locale = Language.current(env.config).locale
    first = next(iter(compared))  # quantities are called alike in all recipes
    changes: list[Change] = []
    for changes_of_recipe in compared.values():
        changes += changes_of_recipe.changes
    yield nodes.rubric("", str(_("All pages together")))
    yield _list([*_tell_quantities(env, first, summarize(changes), locale)])


def _tell_quantities(
    env: BuildEnvironment, docname: str, summaries: Sequence[QuantitySummary], locale: Locale
) -> Iterator[Pieces]:
    """Yield a sentence for each quantity that moved, and one for all that did not."""
    unmoved: list[str] = []
    unknown: list[str] = []
    for summary in summaries:
        if summary.has_moved:
            yield from _tell_quantity(env, docname, summary, locale)
            continue
        name = pieces_as_text(name_word(env, docname, summary.quantity, QUANTITY))
        if summary.is_known:
            unmoved.append(name)
        else:
            unknown.append(name)
    if unmoved:
        names = {"quantities": join_names(unmoved, locale)}
        yield [Piece(str(_("Unchanged: %(quantities)s") % names))]
    if unknown:
        names = {"quantities": join_names(unknown, locale)}
        text = _("Unknown, because they depend on the CPU of the only machine: %(quantities)s")
        yield [Piece(str(text % names))]


def _list(items: Sequence[Pieces]) -> nodes.bullet_list:
    bullet_list = nodes.bullet_list()
    for pieces in items:
        bullet_list += nodes.list_item("", _paragraph(*pieces_as_nodes(pieces)))
    return bullet_list


def _tell_claim(
    env: BuildEnvironment, docname: str, now: str, before: str, claim: ClaimChange
) -> Pieces:
    """Return a sentence on a claim that holds with only one release, with the values of both."""
    if claim.holds_now:
        holds, held = now, claim.now
        fails, refuted = before, claim.before
    else:
        holds, held = before, claim.before
        fails, refuted = now, claim.now
    text = _("Holds with %(holds)s but not with %(fails)s:") % {"holds": holds, "fails": fails}
    locale = Language.current(env.config).locale
    return [
        Piece(typeset(f"{text} ", locale)),
        *tell_comparison(env, docname, held.compared),
        Piece(typeset(f"; {fails}: ", locale)),
        *tell_comparison(env, docname, refuted.compared, between=SEPARATOR),
    ]


def _tell_quantity(
    env: BuildEnvironment, docname: str, summary: QuantitySummary, locale: Locale
) -> Iterator[Pieces]:
    """Yield a sentence on the measurements of a quantity that fell, and one on those that rose."""
    less, more = _sentences(summary)
    quantity = pieces_as_text(name_word(env, docname, summary.quantity, QUANTITY))
    for text, changes in ((less, summary.less), (more, summary.more)):
        if changes:
            facts = {
                "quantity": quantity,
                "by": _format_amounts(changes, locale),
                "count": len(changes),
                "all": summary.count,
            }
            note = _describe_basis({change.basis for change in changes})
            yield [Piece(typeset(f"{text % facts} {note}".rstrip(), locale))]


def _sentences(summary: QuantitySummary) -> tuple[str, str]:
    """Return the sentences for measurements that fell and that rose."""
    first = (summary.less or summary.more)[0].now
    is_speedup = first.quantity == "speedup"
    if is_speedup and summary.count == 1:
        return (
            _("%(quantity)s: smaller by %(by)s in the only measurement"),
            _("%(quantity)s: larger by %(by)s in the only measurement"),
        )
    if is_speedup:
        return (
            _("%(quantity)s: smaller by %(by)s in %(count)s of %(all)s measurements"),
            _("%(quantity)s: larger by %(by)s in %(count)s of %(all)s measurements"),
        )
    if summary.count == 1:
        return (
            _("%(quantity)s: down by %(by)s in the only measurement"),
            _("%(quantity)s: up by %(by)s in the only measurement"),
        )
    return (
        _("%(quantity)s: down by %(by)s in %(count)s of %(all)s measurements"),
        _("%(quantity)s: up by %(by)s in %(count)s of %(all)s measurements"),
    )


def _format_amounts(changes: Sequence[Change], locale: Locale) -> str:
    """Return by how much measurements changed: ``8% to 51%``, or ``2.1 MB to 34 MB``."""
    if changes[0].is_difference:
        least, greatest = find_differences(changes)
        low = _format_difference(least, changes[0].now.unit, locale)
        high = _format_difference(greatest, changes[0].now.unit, locale)
        return low if low == high else join_ends(low, high)
    shares = [abs(change.ratio - 1) for change in changes if math.isfinite(change.ratio)]
    if not shares:
        return "∞"
    low, high = format_percent(min(shares), locale, 0), format_percent(max(shares), locale, 0)
    return low if low == high else join_ends(low, high)


def _format_difference(amount: float, unit: str, locale: Locale) -> str:
    """Return an amount with two digits, 34 MB."""
    last_digit = 0  # of several machines, the medians may be alike and the ratios not
    if amount:
        last_digit = math.floor(math.log10(abs(amount))) - 1
    return format_value(amount, unit, locale, last_digit, like=abs(amount))


def _describe_basis(basis: set[Basis]) -> str:
    """Return a mark for measurements that the host bounds; "" for those that the GPU bounds."""
    if basis == {Basis.WITHIN_PROCESS}:
        return str(_("(relative to the baseline)"))
    if Basis.HOST in basis:
        return str(_("(host-bound)"))
    return ""


def _draw_table(
    env: BuildEnvironment,
    docname: str,
    now: str,
    before: str,
    changes: Sequence[Change],
    locale: Locale,
) -> nodes.table:
    """Return a table of measurements that moved: both values, and by how much."""
    head: list[list[nodes.Node]] = [[]]  # above the names of measurements
    for text in (before, now, _("change")):
        head.append([nodes.Text(text)])
    lines = []
    for change in changes:
        values = [
            format_measurement(change.before, locale),
            format_measurement(change.now, locale),
            _format_change(change, locale),
        ]
        name = pieces_as_nodes(name_measurement(env, docname, change.now))
        lines.append([name, *([nodes.Text(value)] for value in values)])
    return make_untranslated_table(head, lines, stubs=1, classes=["release-table"])


def _format_change(change: Change, locale: Locale) -> str:
    """Return a difference, +34 MB, or a ratio with the range of the machines."""
    if change.is_difference:
        sign = "+" if change.difference > 0 else "\u2212"
        return sign + _format_difference(abs(change.difference), change.now.unit, locale)
    if not math.isfinite(change.ratio):
        return "∞"
    ratio, low, high = (
        format_value(value, "x", locale, _LAST_DIGIT, like=value)
        for value in (change.ratio, change.low, change.high)
    )
    if change.hosts == 1:
        return str(_("%(ratio)s on 1 machine") % {"ratio": ratio})
    facts = {"ratio": ratio, "low": low, "high": high, "machines": change.hosts}
    if low == high:  # with the digits that are shown
        return str(_("%(ratio)s on each of %(machines)s machines") % facts)
    return str(_("%(ratio)s (%(low)s to %(high)s on %(machines)s machines)") % facts)


def _link(env: BuildEnvironment, docname: str) -> nodes.Node:
    """Return a link to a recipe, which shows its title in the reader's language."""
    return addnodes.pending_xref(
        "",
        nodes.inline("", docname),
        refdomain="std",
        reftype="doc",
        refdoc=env.docname,
        reftarget=f"/{docname}",
        refexplicit=False,
        refwarn=True,
    )


def _paragraph(*words: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", *words, translatable=False)


def visit_table(self: HTML5Translator, node: release_table) -> None:
    """Begin the folded table."""
    summary = self.encode(node["summary"])
    self.body.append(f'<details class="release-changes"><summary>{summary}</summary>\n')


def depart_table(self: HTML5Translator, _node: release_table) -> None:
    """End it."""
    self.body.append("</details>\n")

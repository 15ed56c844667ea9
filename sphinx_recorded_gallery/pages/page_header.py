"""Under a recipe's title: the line with GPU, version and date, and links to the downloads."""

from collections.abc import Mapping
from pathlib import Path

from babel import Locale
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.osutil import relative_uri
from sphinx.writers.html5 import HTML5Translator

from ..dates_and_numbers import format_date, format_number, join_names
from ..languages import Language
from ..recipes.recorded_recipe import RecipePage, RecordedPage, Unrecorded
from ..recipes.recording import Recording

_ = get_translation("sphinx_recorded_gallery")

# What Sphinx-Gallery adds to every page, and the links replace. Its texts differ from page to page,
# so each would be a message of its own for translators.
_REPLACED_CLASSES = {"sphx-glr-footer", "sphx-glr-download-link-note"}


class page_links(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The list of links; its children are references, and ``add_page_link`` adds further ones."""


class provenance(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A summary, always shown, followed by the list of facts, shown on demand."""


def add_head(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put links and provenance under a recipe's title."""
    for only in list(document.findall(addnodes.only)):
        if _is_replaced(only):
            only.parent.remove(only)
    title = next(iter(document.findall(nodes.title)), None)
    if title is None:
        return
    head = nodes.container(classes=["recipe-head"])
    if isinstance(page, RecordedPage):
        locale = Language.current(env.config).locale
        head += make_box(page.recording, locale, env.config.recorded_gallery_package_names)
    head += page_links()
    index = title.parent.index(title) + 1
    title.parent.insert(index, head)
    state = describe_state(page)
    if state:
        note = nodes.note("", nodes.paragraph("", state), classes=["recording-note"])
        title.parent.insert(index + 1, note)


def _is_replaced(only: addnodes.only) -> bool:
    """Return whether a node holds what Sphinx-Gallery adds and the links replace."""
    for element in only.findall(nodes.Element):
        if not _REPLACED_CLASSES.isdisjoint(element["classes"]):
            return True
    return False


def describe_state(page: RecordedPage | Unrecorded) -> str:
    """Return why results are missing or may be outdated; empty if they are current."""
    if isinstance(page, Unrecorded):
        if not page.path.exists():
            return str(_("This page has not been recorded yet, so it shows no results."))
        return str(_("The recording of this page is damaged, so it shows no results."))
    if page.comparison.is_current:
        return ""
    numbers = ", ".join(str(cell.number) for cell in page.comparison.changed) or "-"
    text: str = _(
        "The code of this page changed after it was recorded (code blocks: %s). "
        "Changed blocks show no results, and other results may be out of date."
    )
    return text % numbers


def make_box(recording: Recording, locale: Locale, names: Mapping[str, str]) -> provenance:
    """Return the box for a recording, with labels in the language of the page.

    ``names`` maps the names of installed packages to those that readers see. The summary names the
    first of them that the recording has.
    """
    facts = recording.facts
    device = facts["device"]
    date = format_date(recording.recorded, locale)
    recorded_on = [recording.device_name]
    package = next((package for package in names if facts["versions"].get(package)), None)
    if package is not None:
        recorded_on.append(f"{names[package]} {facts['versions'][package]}")
    values = {
        "device": join_names(recorded_on, locale),
        "date": format_date(recording.recorded, locale, "medium"),  # a phone has one line for it
    }
    summary = _("Recorded on %(device)s, %(date)s") % values
    commit = (facts["commit"] or _("unknown"))[:10]
    if facts.get("modified"):
        commit += " " + _("with uncommitted changes")
    rows = {
        _("GPU"): device.get("gpu") or _("none"),
        _("GPU memory"): device.get("memory"),
        _("Driver"): device.get("driver"),
        _("CPU"): _("%(name)s, %(count)s cores")
        % {"name": device["cpu"], "count": device["cores"]},
        **recording.name_versions(names),
        _("Recorded"): f"{date} {recording.recorded:%H:%M} UTC",
        _("Commit"): commit,
        _("Running time"): _("%s seconds") % format_number(facts["seconds"], locale),
    }
    fields = nodes.field_list()
    for label, value in rows.items():
        if value:
            body = nodes.field_body("", nodes.paragraph("", str(value)))
            # The label is already translated, as a message of the engine instead of the page.
            name = nodes.field_name("", label, translatable=False)
            fields += nodes.field("", name, body)
    return provenance("", nodes.paragraph("", summary), fields)


def has_downloads(app: Sphinx) -> bool:
    """Return whether this build writes a site that can have downloads beside its pages.

    A book (``epub``) has no files beside its pages, and ``singlehtml`` has no page per recipe.
    """
    return app.builder.name in ("html", "dirhtml")


def fill_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put links to the downloads into the list; ``downloads.py`` writes the files."""
    for links in list(doctree.findall(page_links)):
        if not has_downloads(app):
            links.parent.remove(links)
            continue
        page = app.builder.get_target_uri(docname)
        for label, suffix in ((_("Notebook"), ".ipynb"), (_("Script"), ".py")):
            link = make_link(label, relative_uri(page, docname + suffix))
            link["download"] = Path(docname).name + suffix  # browsers save it instead of showing it
            links += link


def add_page_link(doctree: nodes.document, label: str, address: str) -> None:
    """Add a link to those under a recipe's title, behind the downloads if these are there already.

    For ``doctree-resolved``, from ``Priority.ADD_LINKS`` on. A page without such links stays as it
    is.
    """
    for links in doctree.findall(page_links):
        links += make_link(label, address)


def make_link(label: str, address: str) -> nodes.reference:
    """Return one link of the list."""
    return nodes.reference("", label, refuri=address, classes=["recipe-action"])


def visit_links(self: HTML5Translator, node: page_links) -> None:
    """Write the links as a list."""
    self.body.append('<ul class="recipe-actions">')
    for link in node.findall(nodes.reference):
        attributes = {"href": link["refuri"]}
        if "download" in link:
            attributes["download"] = link["download"]
        start = self.starttag(link, "a", "", **attributes)
        self.body.append(f"<li>{start}{self.encode(link.astext())}</a></li>")
    self.body.append("</ul>\n")
    raise nodes.SkipNode


def visit_provenance(self: HTML5Translator, node: provenance) -> None:
    """Write the box: its summary is the line that opens the facts."""
    summary, facts = node.children
    self.body.append('<details class="provenance"><summary>')
    self.body.append(self.encode(summary.astext()) + "</summary>\n")
    facts.walkabout(self)
    self.body.append("</details>\n")
    raise nodes.SkipNode

"""Under a recipe's title: the line with GPU, version and date, and links to the downloads.

Downloads have a list of facts below their first sentence instead.
"""

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
from ..page_nodes import DOWNLOADS_ONLY
from ..recipes.recorded_recipe import RecipePage, RecordedPage, Unrecorded, load_page
from ..recipes.recording import Recording

_ = get_translation("sphinx_recorded_gallery")

# What Sphinx-Gallery adds to every page, and the links replace. Its texts differ from page to page,
# so each would be a message of its own for translators.
_REPLACED_CLASSES = {"sphx-glr-footer", "sphx-glr-download-link-note"}


class page_links(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The list of links; its children are references, and ``add_page_link`` adds further ones."""


class download_facts(nodes.bullet_list):  # noqa: N801 (docutils names nodes so)
    """The list of facts in downloads, to which ``add_download_fact`` adds further ones."""


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
    head = nodes.container(classes=["recipe-head"], notebook=False)
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


def _summarize(recording: Recording, locale: Locale, names: Mapping[str, str]) -> str:
    """Return on which device, with which version and when a recording was made."""
    versions = recording.facts["versions"]
    recorded_on = [recording.device_name]
    package = next((package for package in names if versions.get(package)), None)
    if package is not None:
        recorded_on.append(f"{names[package]} {versions[package]}")
    values = {
        "device": join_names(recorded_on, locale),
        "date": format_date(recording.recorded, locale, "medium"),  # a phone has one line for it
    }
    return str(_("Recorded on %(device)s, %(date)s") % values)


def make_box(recording: Recording, locale: Locale, names: Mapping[str, str]) -> provenance:
    """Return the box for a recording, with labels in the language of the page.

    ``names`` maps the names of installed packages to those that readers see. The summary names the
    first of them that the recording has.
    """
    facts = recording.facts
    device = facts["device"]
    date = format_date(recording.recorded, locale)
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
    return provenance("", nodes.paragraph("", _summarize(recording, locale, names)), fields)


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


def add_facts(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the facts of the recording below the first sentence of a recipe, for downloads alone.

    A recipe without a recording gets an empty list, to which a site may add.
    """
    page = load_page(app.env, docname)
    title = next(iter(doctree.findall(nodes.title)), None)
    if page is None or title is None or not has_downloads(app):
        return
    facts = download_facts("", **{DOWNLOADS_ONLY: True})
    title.parent.insert(_find_place_of_facts(title), facts)
    if isinstance(page, RecordedPage):
        locale = Language.current(app.config).locale
        for fact in _list_facts(page.recording, locale, app.config.recorded_gallery_package_names):
            add_download_fact(doctree, nodes.Text(fact))


def _find_place_of_facts(title: nodes.title) -> int:
    """Return the place behind the first sentence below a title, or where it would stand."""
    siblings = title.parent.children
    for place in range(siblings.index(title) + 1, len(siblings)):
        node = siblings[place]
        if isinstance(node, nodes.paragraph):
            return place + 1
        # Notes about the page itself, and the head of the page, stand above the sentence.
        if node.get("notebook", True) and not isinstance(node, nodes.Admonition | nodes.target):
            return place
    return len(siblings)


def _list_facts(recording: Recording, locale: Locale, names: Mapping[str, str]) -> list[str]:
    """Return where a recording was made, how long it took, and with which versions."""
    facts = [_summarize(recording, locale, names)]
    facts.append(_("Running time: %s seconds") % format_number(recording.facts["seconds"], locale))
    versions = recording.describe_versions(names)
    if versions:
        facts.append(_("Versions: %s") % versions)
    return facts


def add_download_fact(doctree: nodes.document, fact: nodes.Node, *, first: bool = False) -> None:
    """Add a fact to those below the first sentence of a notebook and a script.

    ``fact`` is text or inline nodes, without a paragraph; it stands ``first`` or last. For
    ``doctree-resolved``, from ``Priority.ADD_LINKS`` on. Other pages stay as they are.
    """
    for facts in doctree.findall(download_facts):
        place = 0 if first else len(facts)
        facts.insert(place, nodes.list_item("", nodes.paragraph("", "", fact)))


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
    # As docutils does, without the colons that it puts after names, which are English punctuation
    self.body.append('<dl class="field-list">\n')
    for name, value in facts:
        self.body.append(f"<dt>{self.encode(name.astext())}</dt>\n")
        self.body.append(f"<dd><p>{self.encode(value.astext())}</p></dd>\n")
    self.body.append("</dl></details>\n")
    raise nodes.SkipNode

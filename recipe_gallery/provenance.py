"""The box at the top of a recipe's page: downloads, and where and when it was recorded."""

from datetime import datetime
from pathlib import Path
from typing import Any

from babel import Locale
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri
from sphinx.writers.html5 import HTML5Translator

from .errors import GalleryError
from .formats import format_date, format_moment, format_number
from .recipes import find_source, load_recipe
from .recordings import Recording, compare, read_recording
from .translation import current_language

_ = get_translation("recipe_gallery")

# What Sphinx-Gallery adds to every page and this box replaces: its texts differ from page to page,
# so each would be a message of its own for translators.
_REPLACED_CLASSES = {"sphx-glr-footer", "sphx-glr-download-link-note", "sphx-glr-signature"}
PACKAGE_NAMES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy", "triton": "Triton"}


class recipe_actions(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The links to the notebook and the script of a page."""


class provenance(nodes.General, nodes.Element):  # noqa: N801
    """A summary, always shown, followed by the list of facts, shown on demand."""


class AddRecipeHeader(SphinxTransform):
    """Put downloads and provenance under a recipe's title, in place of Sphinx-Gallery's links."""

    default_priority = 4  # before anything that looks at texts to translate

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place if it is a recipe's."""
        source = find_source(self.config, Path(self.env.srcdir), self.env.docname)
        if source is None:
            return
        for only in list(self.document.findall(addnodes.only)):
            if any(
                _REPLACED_CLASSES & set(child["classes"]) for child in only.findall(nodes.Element)
            ):
                only.parent.remove(only)
        title = next(iter(self.document.findall(nodes.title)), None)
        if title is None:
            return
        recordings = Path(self.env.srcdir, self.config.recordings_dir)
        index = title.parent.index(title) + 1
        title.parent[index:index] = [
            recipe_actions(),
            *_describe_recording(
                source,
                recordings / f"{source.stem}.ipynb",
                current_language(self.config).locale,
            ),
        ]


def _describe_recording(source: Path, path: Path, locale: Locale) -> list[nodes.Node]:
    """Return the box for a recording, after a visible note if there is something wrong with it."""
    try:
        recording = read_recording(path)
        comparison = compare(load_recipe(source), recording)
    except GalleryError:
        return [_note(_("This recipe has not been recorded yet: its results are missing here."))]
    box = _make_box(recording, locale)
    if comparison.is_current:
        return [box]
    numbers = ", ".join(str(cell.number) for cell in comparison.changed) or "-"
    return [
        _note(
            _(
                "The code of this page changed after it was recorded (code blocks: %s). "
                "Changed blocks show no result, and results of others may differ by now."
            )
            % numbers
        ),
        box,
    ]


def _make_box(recording: Recording, locale: Locale) -> provenance:
    facts = recording.facts
    recorded = datetime.fromisoformat(facts["recorded"])
    device = facts["device"]
    summary = _("Recorded on %(device)s, %(date)s") % {
        "device": device.get("gpu") or device["cpu"],
        "date": format_date(recorded, locale),
    }
    commit = (facts["commit"] or _("unknown"))[:10]
    if facts.get("modified"):
        commit += " " + _("with uncommitted changes")
    rows = {
        _("GPU"): device.get("gpu") or _("none"),
        _("GPU memory"): device.get("memory"),
        _("Driver"): device.get("driver"),
        _("CPU"): _("%(name)s, %(count)s cores")
        % {"name": device["cpu"], "count": device["cores"]},
        **{PACKAGE_NAMES.get(name, name): version for name, version in facts["versions"].items()},
        _("Recorded"): format_moment(recorded, locale),
        _("Commit"): commit,
        _("Running time"): _("%s seconds") % format_number(facts["seconds"], locale),
    }
    fields = nodes.field_list()
    for label, value in rows.items():
        if value:
            body = nodes.field_body("", nodes.paragraph("", str(value)))
            # not a message of the page: the label is one of the interface
            name = nodes.field_name("", label, translatable=False)
            fields += nodes.field("", name, body)
    return provenance("", nodes.paragraph("", summary), fields)


def _note(text: str) -> nodes.note:
    return nodes.note("", nodes.paragraph("", text), classes=["recording-note"])


def link_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Fill in the links to the files that lie beside the page (``notebooks.py`` writes them)."""
    for actions in doctree.findall(recipe_actions):
        page = app.builder.get_target_uri(docname)
        for label, suffix in ((_("Download notebook"), ".ipynb"), (_("Download script"), ".py")):
            uri = relative_uri(page, docname + suffix)
            link = nodes.reference("", label, refuri=uri, classes=["recipe-action"])
            link["download"] = Path(docname).name + suffix
            actions += link


def visit_actions(self: HTML5Translator, node: recipe_actions) -> None:
    """Write the links as a list of buttons; ``download`` makes browsers save instead of show."""
    self.body.append('<p class="recipe-actions">')
    for link in node.findall(nodes.reference):
        attributes = {"href": link["refuri"], "download": link["download"]}
        self.body.append(self.starttag(link, "a", "", **attributes) + link.astext() + "</a>")
    self.body.append("</p>\n")
    raise nodes.SkipNode


def visit_provenance(self: HTML5Translator, node: provenance) -> None:
    """Write the summary as the line that opens the facts."""
    summary = node.pop(0)
    self.body.append('<details class="provenance"><summary>')
    self.body.append(self.encode(summary.astext()) + "</summary>\n")


def depart_provenance(self: HTML5Translator, node: provenance) -> None:
    """Close the box."""
    self.body.append("</details>\n")


def skip(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Leave the node out of formats that have no downloads and no boxes."""
    raise nodes.SkipNode

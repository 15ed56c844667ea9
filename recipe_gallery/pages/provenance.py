"""The box under a recipe's title: where and when it was recorded."""

from babel import Locale
from docutils import nodes
from sphinx.locale import get_translation
from sphinx.writers.html5 import HTML5Translator

from ..languages import format_date, format_moment, format_number
from ..recipes.recording import Recording

_ = get_translation("recipe_gallery")

PACKAGE_NAMES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy", "triton": "Triton"}


class provenance(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A summary, always shown, followed by the list of facts, shown on demand."""


def make_box(recording: Recording, locale: Locale) -> provenance:
    """Return the box for a recording, labels in the language of the page."""
    facts = recording.facts
    device = facts["device"]
    summary = _("Recorded on %(device)s, %(date)s") % {
        "device": recording.device_name,
        "date": format_date(recording.recorded, locale),
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
        _("Recorded"): format_moment(recording.recorded, locale),
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


def describe_versions(recording: Recording) -> str:
    """Return the packages that ran it, such as ``PyTorch 2.11.0, Triton 3.6.0``."""
    return ", ".join(
        f"{PACKAGE_NAMES.get(name, name)} {version}"
        for name, version in recording.facts["versions"].items()
        if version
    )


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

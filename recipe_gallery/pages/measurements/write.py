"""Figures, claims and the list of figures as HTML; other formats have their text alone."""

from html import escape

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.writers.html5 import HTML5Translator

from ...languages import current_language, source_language
from ..markdown import is_inside
from .fill import measurement_list
from .naming import mark
from .roles import claim, measured

_ = get_translation("recipe_gallery")


def visit_measurement(self: HTML5Translator, node: measured | claim) -> None:
    """Begin a figure or a claim; where one falls again shows a mouse, the list tells everybody."""
    if _has_evidence(self, node):
        count = self.__dict__.setdefault("claims_written", {})
        count[node["key"]] = count.get(node["key"], 0) + 1
        name = f"claim {self.builder.current_docname} {node['key']} {count[node['key']]}"
        node["ids"] = [nodes.make_id(name)]
    spread = {"title": node["spread"]} if "spread" in node else {}
    self.body.append(self.starttag(node, "span", "", CLASS=type(node).__name__, **spread))


def depart_measured(self: HTML5Translator, node: measured) -> None:
    """End a figure."""
    self.body.append("</span>")


def depart_claim(self: HTML5Translator, node: claim) -> None:
    """End a sentence, with the mark that opens its evidence; no script is needed for it."""
    self.body.append("</span>")
    if not _has_evidence(self, node):
        return
    [sentence] = node["ids"]
    box, button = f"{sentence}-evidence", f"{sentence}-mark"
    lines = [
        f'<span class="claim-line{" claim-measured" * is_told}">{mark(self.config, line)}</span>'
        for line, is_told in node["evidence"]
    ]
    # The button's name is the label and the sentence before it, each in its own language.
    label = _("Evidence")  # not in the f-string, where the catalogs would miss it
    here, source = current_language(self.config).tag, source_language(self.config).tag
    said = "" if here == source else f' lang="{here}"'  # the sentence around it may be untranslated
    self.body.append(
        f'<button type="button" class="claim-mark" id="{button}" popovertarget="{box}"{said} '
        f'aria-label="{escape(label)}" aria-labelledby="{button} {sentence}"></button>'
        f'<span class="claim-evidence" id="{box}"{said} role="note" popover>'
        f"{''.join(lines)}</span>"
    )


def _has_evidence(self: HTML5Translator, node: nodes.Element) -> bool:
    """Tell whether evidence follows: a button works in no book, heading, link or card."""
    inside = is_inside(node, nodes.title, nodes.reference, nodes.caption)
    here = not inside and self.builder.name != "epub" and "borrowed" not in node
    return bool(here and node.get("evidence"))


def visit_measurement_list(self: HTML5Translator, node: measurement_list) -> None:
    """Write the list, folded."""
    rows = [
        f"<li>{mark(self.config, [*names, (': ', False)])}<strong>{escape(figure)}</strong>"
        f"{mark(self.config, [(f' ({spread})', False)])}</li>\n"
        for names, figure, spread in node["rows"]
    ]
    summary = _("How the figures in the text were measured")
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

"""A pseudo-locale, accented and longer: what is not translatable stands out."""

import re
from pathlib import Path

from ..languages import PSEUDO_CODE
from ..project import Project
from .catalogs import Kind, catalog_folder, kind_of, label_domains, write_catalog
from .extract import make_templates
from .merge import update_catalog

_ACCENTS = str.maketrans(
    "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz",
    "ÅåƁƀÇçÐđÉéƑƒĜĝĤĥÎîĴĵĶķĻļṂɱÑñÖöÞþǪǫŔŕŠšŢţÛûṼṽŴŵẊẋÝýŽž",
)
# What stays: literals, roles, addresses, references, placeholders, HTML, escapes.
_KEPT = {
    Kind.PROSE: re.compile(
        r"(``.+?``|:[\w:+-]+:`[^`<]*`|:[\w:+-]+:`|<[^<>`]*>`_{0,2}|`[^`<>]+`(?!_)|`_{0,2}|https?://\S+"
        r"|\[[#\w*]+\]_|\|[^|]+\||\\.|(?<!\{)\{[^{}`]+\})"
    ),
    Kind.LABEL: re.compile(r"(%\(\w+\)[sd]|%[sd]|\{\w*\}|<[^<>]*>|&#?\w+;)"),
    Kind.COMMENT: re.compile(r"((?!))"),
}


def make_pseudo_catalogs(project: Project, templates: Path, locale: Path) -> None:
    """Write catalogs of the pseudo-locale for all pages and labels to ``locale``."""
    labels = label_domains(project.config)
    for domain, template in make_templates(project, templates).items():
        catalog = update_catalog(None, template, language=PSEUDO_CODE)
        for entry in catalog:
            entry.msgstr = pseudo_message(entry.msgid, kind_of(entry, label=domain in labels))
        write_catalog(catalog_folder(locale, PSEUDO_CODE) / f"{domain}.po", catalog)


def pseudo_message(text: str, kind: Kind) -> str:
    """Return the pseudo-translation of one message."""
    if kind is Kind.FORMULA:
        return re.sub(r"(?<=\\text\{)[^{}]*", lambda found: found[0].translate(_ACCENTS), text)
    parts = _KEPT[kind].split(text)
    parts[::2] = [part.translate(_ACCENTS) for part in parts[::2]]  # between them is what stays
    longer = "~" * max(1, len(text) // 4)  # other languages need more room
    return f"{''.join(parts)} {longer}" if re.search(r"\w", "".join(parts[::2])) else text

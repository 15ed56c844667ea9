"""A pseudo-locale, accented and longer: what is not translatable stands out."""

import re
from pathlib import Path

import polib

from ..languages import PSEUDO_CODE
from .catalogs import INTERFACE, catalog_folder, update_catalog, write_catalog
from .checks.messages import COMMENT, FORMULA
from .update import make_templates

_ACCENTS = str.maketrans(
    "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz",
    "ÅåƁƀÇçÐđÉéƑƒĜĝĤĥÎîĴĵĶķĻļṂɱÑñÖöÞþǪǫŔŕŠšŢţÛûṼṽŴŵẊẋÝýŽž",
)
# What stays: literals, roles, addresses, references, placeholders, HTML, escapes.
_KEPT = {
    "prose": re.compile(
        r"``.+?``|:[\w:+-]+:`[^`<]*`|:[\w:+-]+:`|<[^<>`]*>`_{0,2}|`_{0,2}|https?://\S+"
        r"|\[[#\w*]+\]_|\|[^|]+\||\\."
    ),
    "interface": re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}|<[^<>]*>|&#?\w+;"),
    "comment": re.compile(r"(?!)"),
}


def make_pseudo_catalogs(root: Path, templates: Path, locale: Path) -> None:
    """Write catalogs of the pseudo-locale for all pages and the interface to ``locale``."""
    for domain, template in make_templates(root, templates).items():
        catalog = update_catalog(None, template, language=PSEUDO_CODE)
        for entry in catalog:
            entry.msgstr = pseudo_message(entry, interface=domain in INTERFACE)
        write_catalog(catalog_folder(locale, PSEUDO_CODE) / f"{domain}.po", catalog)


def pseudo_message(entry: polib.POEntry, *, interface: bool) -> str:
    """Return the pseudo-translation of one message."""
    kind = entry.comment.partition(":")[0]
    text = entry.msgid
    if kind == FORMULA:
        return re.sub(r"\\text\{([^{}]*)\}", lambda found: rf"\text{{{_accent(found[1])}}}", text)
    form = "interface" if interface else "comment" if kind == COMMENT else "prose"
    parts, end = [], 0
    for found in _KEPT[form].finditer(text):
        parts += [_accent(text[end : found.start()]), found[0]]
        end = found.end()
    parts.append(_accent(text[end:]))
    longer = "~" * max(1, len(text) // 4)  # other languages need more room
    return f"{''.join(parts)} {longer}" if re.search(r"\w", "".join(parts[::2])) else text


def _accent(text: str) -> str:
    return text.translate(_ACCENTS)

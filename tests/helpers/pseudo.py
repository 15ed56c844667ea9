"""A pseudo-locale: accented and longer English, in which untranslatable text stands out."""

import re
import shutil
from pathlib import Path

import polib

from sphinx_recorded_gallery.project import Project
from sphinx_recorded_gallery.translate.catalogs import (
    Kind,
    catalog_folder,
    kind_of,
    label_domains,
    write_catalog,
)
from sphinx_recorded_gallery.translate.glossary import FILE_NAME
from sphinx_recorded_gallery.translate.pot import make_pots
from sphinx_recorded_gallery.translate.update_po import merge

PSEUDO_CODE = "en_XA"  # as other tools call English with accents
_LETTERS = str.maketrans(
    "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz",
    "ÅåƁƀÇçÐđÉéƑƒĜĝĤĥÎîĴĵĶķĻļṂɱÑñÖöÞþǪǫŔŕŠšŢţÛûṼṽŴŵẊẋÝýŽž",
)
# What stays: literals, roles, addresses, references, placeholders, HTML, escapes.
_KEPT = {
    Kind.PROSE: re.compile(
        r"(``.+?``|:[\w:+-]+:`[^`<]*`|:[\w:+-]+:`|<[^>`]*>`_{0,2}|`[^`<>]+`(?!_)|`_{0,2}|https?://\S+"
        r"|\[[#\w*]+\]_|\|[^|]+\||\\.|(?<!\{)\{[^{}`]+\})"
    ),
    Kind.LABEL: re.compile(r"(%\(\w+\)[sd]|%[sd]|\{\w*\}|<[^<>]*>|&#?\w+;)"),
    Kind.COMMENT: re.compile(r"((?!))"),
    Kind.NAME: re.compile(r"((?!))"),
}


def make_pseudo_catalogs(project: Project, folder: Path, locale: Path) -> None:
    """Write catalogs of the pseudo-locale for all pages and labels to ``locale``.

    ``folder`` is for what the gettext builder makes.
    """
    labels = label_domains(project.config)
    for domain, pot in make_pots(project, folder).items():
        catalog, _outcomes = merge(polib.POFile(), pot, {}, (), language=PSEUDO_CODE)
        for entry in catalog:
            entry.msgstr = pseudo_message(entry.msgid, kind_of(entry, label=domain in labels))
        write_catalog(catalog_folder(locale, PSEUDO_CODE) / f"{domain}.po", catalog)
    if (glossary := project.locale / FILE_NAME).is_file():  # pages may show its remarks
        shutil.copyfile(glossary, locale / FILE_NAME)


def pseudo_message(text: str, kind: Kind) -> str:
    """Return the pseudo-translation of one message."""
    if kind is Kind.FORMULA:
        return re.sub(r"(?<=\\text\{)[^{}]*", lambda found: found[0].translate(_LETTERS), text)
    parts = _KEPT[kind].split(text)
    parts[::2] = [part.translate(_LETTERS) for part in parts[::2]]  # between them is what stays
    if kind is Kind.PROSE:  # where letters may touch markup, torch._x would hold a link
        parts[::2] = [re.sub(r"_(?=\w)", r"\\_", part) for part in parts[::2]]
    longer = "~" * max(1, len(text) // 4)  # other languages need more room
    return f"{''.join(parts)} {longer}" if re.search(r"\w", "".join(parts[::2])) else text

"""Pseudo-locales, longer than English: what is not translatable stands out.

One is accented, the other in Arabic letters. Other tools turn the direction of Latin letters round
instead, by characters that no translation may hold.
"""

import re
import shutil
from pathlib import Path

from ..errors import GalleryError
from ..languages import PSEUDO_CODES
from ..project import Project
from .catalogs import Kind, catalog_folder, kind_of, label_domains, write_catalog
from .glossary import FILE_NAME
from .templates.extract import make_templates
from .update.memory import Memory
from .update.merge import merge

_LATIN = "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"
_LETTERS = {
    "en_XA": "ÅåƁƀÇçÐđÉéƑƒĜĝĤĥÎîĴĵĶķĻļṂɱÑñÖöÞþǪǫŔŕŠšŢţÛûṼṽŴŵẊẋÝýŽž",
    "ar_XB": "".join(2 * letter for letter in "ابثدعفغهيجكلمنوپقرسطؤڤشخىز"),
}
# Put first, and behind what a label fills in: as translators need it there for Latin names
_MARK = {"en_XA": "", "ar_XB": "\u200f"}
# What stays: literals, roles, addresses, references, placeholders, HTML, escapes.
_KEPT = {
    Kind.PROSE: re.compile(
        r"(``.+?``|:[\w:+-]+:`[^`<]*`|:[\w:+-]+:`|<[^<>`]*>`_{0,2}|`[^`<>]+`(?!_)|`_{0,2}|https?://\S+"
        r"|\[[#\w*]+\]_|\|[^|]+\||\\.|(?<!\{)\{[^{}`]+\})"
    ),
    Kind.LABEL: re.compile(r"(%\(\w+\)[sd]|%[sd]|\{\w*\}|<[^<>]*>|&#?\w+;)"),
    Kind.COMMENT: re.compile(r"((?!))"),
}


def make_pseudo_catalogs(
    project: Project, templates: Path, locale: Path, code: str = PSEUDO_CODES[0]
) -> None:
    """Write catalogs of a pseudo-locale for all pages and labels to ``locale``."""
    if code not in _LETTERS:
        raise GalleryError(f"no pseudo-locale {code!r}", remedy=f"there are: {', '.join(_LETTERS)}")
    labels = label_domains(project.config)
    for domain, template in make_templates(project, templates).items():
        catalog, _outcomes = merge(None, template, Memory({}), language=code)
        for entry in catalog:
            kind = kind_of(entry, label=domain in labels)
            entry.msgstr = pseudo_message(entry.msgid, kind, code)
        write_catalog(catalog_folder(locale, code) / f"{domain}.po", catalog)
    if (glossary := project.locale / FILE_NAME).is_file():  # pages may show its remarks
        shutil.copyfile(glossary, locale / FILE_NAME)


def pseudo_message(text: str, kind: Kind, code: str = PSEUDO_CODES[0]) -> str:
    """Return the pseudo-translation of one message."""
    letters = str.maketrans(_LATIN, _LETTERS[code])
    if kind is Kind.FORMULA:
        return re.sub(r"(?<=\\text\{)[^{}]*", lambda found: found[0].translate(letters), text)
    parts = _KEPT[kind].split(text)
    parts[::2] = [part.translate(letters) for part in parts[::2]]  # between them is what stays
    if kind is Kind.PROSE:  # where letters may touch markup, torch._x would hold a link
        parts[::2] = [re.sub(r"_(?=\w)", r"\\_", part) for part in parts[::2]]
    if kind is Kind.LABEL:
        parts[1::2] = [part + _MARK[code] for part in parts[1::2]]
    longer = "~" * max(1, len(text) // 4)  # other languages need more room
    return (
        f"{_MARK[code]}{''.join(parts)} {longer}" if re.search(r"\w", "".join(parts[::2])) else text
    )

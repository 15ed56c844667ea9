"""The glossary in the forms that translation tools import: `make glossary`."""

import csv
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from ..languages import Language
from .glossary import Glossary


def write_glossaries(
    glossary: Glossary, source: Language, languages: Sequence[Language], folder: Path
) -> list[Path]:
    """Write ``glossary.<code>.csv`` and ``.tbx`` for each language; return the files.

    The CSV has the columns source, target and comment, the TBX is TBX-Basic (ISO 30042).
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for language in languages:
        table = folder / f"glossary.{language.code}.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["source", "target", "comment"])
            for term in glossary.terms:
                if translations := term.translations.get(language.code):
                    writer.writerow([term.name, translations[0], term.note])
        tree = folder / f"glossary.{language.code}.tbx"
        tree.write_bytes(_make_tbx(glossary, source, language))
        written += [table, tree]
    return written


def _make_tbx(glossary: Glossary, source: Language, language: Language) -> bytes:
    root = ElementTree.Element("martif", {"type": "TBX-Basic", "xml:lang": source.tag})
    header = ElementTree.SubElement(root, "martifHeader")
    description = ElementTree.SubElement(ElementTree.SubElement(header, "fileDesc"), "sourceDesc")
    ElementTree.SubElement(description, "p").text = "Glossary of the site"
    body = ElementTree.SubElement(ElementTree.SubElement(root, "text"), "body")
    for number, term in enumerate(glossary.terms, start=1):
        translations = term.translations.get(language.code)
        if not translations:
            continue
        entry = ElementTree.SubElement(body, "termEntry", {"id": f"term-{number}"})
        if term.note:
            ElementTree.SubElement(entry, "descrip", {"type": "definition"}).text = term.note
        for tag, text in ((source.tag, term.name), (language.tag, translations[0])):
            words = ElementTree.SubElement(entry, "langSet", {"xml:lang": tag})
            ElementTree.SubElement(ElementTree.SubElement(words, "tig"), "term").text = text
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"

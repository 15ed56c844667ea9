"""The labels of a site: texts of its packages, of its templates, of Sphinx and of the theme."""

import ast
import gettext
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import polib
from sphinx.config import Config

from ...errors import GalleryError
from ..catalogs import ENGINE, label_domains, read_catalog, shipped_labels
from ..mo import loaded_messages

# Whose texts a page shows beside those of this project, and in which of their files these are.
_BORROWED = {
    "sphinx": ("locale/__init__.py", "writers/html5.py", "themes/basic/search.html"),
    "pydata_sphinx_theme": ("src/pydata_sphinx_theme/",),
}
_CALL = re.compile(r"\b_\(")


def add_labels(
    domains: dict[str, polib.POFile], config: Config, root: Path, name: str
) -> dict[str, polib.POFile]:
    """Add the labels to templates, by name of their catalogs; ``name`` is that of the project.

    What is there already is from the project's own templates.
    """
    *packages, sphinx = label_domains(config)
    labels = {package: find_labels(root, package) for package in packages}
    for domain, found in {**labels, sphinx: _borrowed_labels(config)}.items():
        template = domains.setdefault(domain, polib.POFile())
        template.metadata = {"Project-Id-Version": ENGINE if domain == ENGINE else name}
        known = {entry.msgid: entry for entry in template}
        for text, place in found:
            if text not in known:
                flags = ["python-format"] if re.search("%[(sd]", text) else []
                known[text] = polib.POEntry(msgid=text, flags=flags)
                template.append(known[text])
            known[text].occurrences.append((place, ""))
    return domains


def find_labels(root: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a package and their files: in the project's copy, or the installed."""
    package = root / name if (root / name).is_dir() else _package_folder(name)
    files = sorted(package.rglob("*.py"), key=lambda path: (path.parent.parts, path.name))
    for path in files:
        for text in _find_calls(path.read_text(encoding="utf-8")):
            yield text, f"{name}/{path.relative_to(package).as_posix()}"


def _find_calls(source: str) -> list[str]:
    """Return the texts of all calls ``_("...")``, in order."""
    if not _CALL.search(source):  # parsing takes long
        return []
    found = [
        (node.lineno, node.col_offset, node.args[0].value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "_"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]
    return [str(text) for _line, _column, text in sorted(found)]


def _borrowed(config: Config) -> dict[str, tuple[str, ...]]:
    """Return the part of ``_BORROWED`` that this project shows: of themes only its own."""
    return {
        name: files for name, files in _BORROWED.items() if name in ("sphinx", config.html_theme)
    }


def _borrowed_labels(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the labels of Sphinx and of the theme, and which of the two has each."""
    for package, files in _borrowed(config).items():
        for entry in polib.pofile(str(_package_folder(package) / "locale/sphinx.pot")):
            if any(file.startswith(files) for file, _line in entry.occurrences):
                yield entry.msgid, package


def translated_elsewhere(config: Config, domain: str, code: str) -> set[str]:
    """Return the labels that the engine, or else Sphinx or the theme, ships a translation of."""
    if domain == ENGINE:
        path = shipped_labels(code)
        return {entry.msgid for entry in read_catalog(path).translated_entries()} if path else set()
    return set().union(*(_shipped(package, code) for package in _borrowed(config)))


@cache
def _shipped(package: str, code: str) -> set[str]:
    locale = _package_folder(package) / "locale"
    shipped = gettext.translation("sphinx", locale, languages=[code], fallback=True)
    found = set()
    while shipped:  # Sphinx's de_DE holds next to nothing, and gettext goes on to de
        messages = loaded_messages(shipped).items()
        found |= {text for text, translation in messages if translation not in ("", text)}
        shipped = shipped._fallback  # type: ignore[attr-defined]
    return found


def for_language(
    template: polib.POFile, shipped: set[str], old: Iterable[polib.POEntry]
) -> polib.POFile:
    """Return a template without labels whose translation is ``shipped`` by others.

    Those that the catalog ``old`` translates all the same stay: a translator found better words,
    and another tool may have made them obsolete. So do those of the project's own templates.
    """
    known = shipped - {entry.msgid for entry in old if entry.msgstr}
    return keep(template, lambda entry: entry.msgid not in known or is_own(entry))


def is_own(entry: polib.POEntry) -> bool:
    """Tell whether a label is in a file of the project."""
    return any(not file.startswith((ENGINE, *_BORROWED)) for file, _line in entry.occurrences)


def keep(template: polib.POFile, wanted: Callable[[polib.POEntry], bool]) -> polib.POFile:
    """Return a template with a part of its messages."""
    kept = polib.POFile()
    kept.metadata = template.metadata
    kept.extend(filter(wanted, template))
    return kept


def _package_folder(name: str) -> Path:
    found = find_spec(name)
    if not found or not found.origin:
        raise GalleryError(f"no package {name!r}", remedy="correct recipe_gallery_label_packages")
    return Path(found.origin).parent

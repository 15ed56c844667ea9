"""Bring the catalogs of all languages up to date with the sources: `make update-po`."""

import gettext
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import polib
from babel.messages.extract import extract_from_dir

from ..languages import Language
from ..project import GalleryError
from .catalogs import (
    INTERFACE,
    catalog_folder,
    find_catalogs,
    read_catalog,
    update_catalog,
    write_catalog,
)

# Whose texts a page shows beside those of this project, and in which of their files these are.
_BORROWED = {
    "sphinx": ("locale/__init__.py", "writers/html5.py", "themes/basic/search.html"),
    "pydata_sphinx_theme": ("src/pydata_sphinx_theme/",),
}


def update_catalogs(root: Path, languages: Sequence[Language], templates: Path) -> list[Path]:
    """Update or create the catalogs of ``languages``; return those that changed.

    ``templates`` is the folder for what the gettext builder makes.
    """
    domains = make_templates(root, templates)
    changed = []
    for language in languages:
        folder = catalog_folder(root / "locale", language.code)
        for domain, template in domains.items():
            path = folder / f"{domain}.po"
            old = read_catalog(path) if path.exists() else None
            if domain == "sphinx":
                template = _without_translated(template, language.code, old)
            new = update_catalog(old, template, language=language.code)
            if write_catalog(path, new):
                changed.append(path)
        for path in find_catalogs(root / "locale", language.code):
            # The page is gone; its translations are kept until a person removes the file.
            domain = path.relative_to(folder).with_suffix("").as_posix()
            if domain not in domains:
                empty = polib.POFile()
                old = read_catalog(path)
                new = update_catalog(old, empty, language=language.code)
                if write_catalog(path, new):
                    changed.append(path)
    return changed


def make_templates(root: Path, folder: Path) -> dict[str, polib.POFile]:
    """Extract the messages of all pages and of the interface, by name of their catalogs."""
    for path in folder.rglob("*.pot"):
        path.unlink()  # all are written anew, but those of pages that are gone
    command = [sys.executable, "-m", "sphinx", "-b", "gettext", "-q", str(root), str(folder)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise GalleryError(f"the messages cannot be extracted:\n{done.stderr.strip()}")
    for line in done.stderr.splitlines():
        print(line, file=sys.stderr)
    domains = {}
    for path in sorted(folder.rglob("*.pot")):
        template = read_catalog(path)
        for entry in template:
            entry.occurrences = [
                (_relative(file, folder, root), line) for file, line in entry.occurrences
            ]
        domains[path.relative_to(folder).with_suffix("").as_posix()] = template
    domains["recipe_gallery"] = _extract_package(root)
    domains["sphinx"] = _add_borrowed(domains.get("sphinx", polib.POFile()))
    names = [each.metadata["Project-Id-Version"] for each in domains.values() if each.metadata]
    for name in INTERFACE:
        domains[name].metadata = {"Project-Id-Version": names[0]}
    return dict(sorted(domains.items()))


def _relative(file: str, folder: Path, root: Path) -> str:
    path = Path(os.path.normpath(folder.absolute() / file))
    return (
        path.relative_to(root.absolute()).as_posix()
        if path.is_relative_to(root.absolute())
        else file
    )


def _extract_package(root: Path) -> polib.POFile:
    """Return the messages of the package's modules: the project's copy of it, or this one."""
    own = Path(__file__).parent
    package = root / own.name if (root / own.name).is_dir() else own
    template = polib.POFile()
    for file, line, message, _comments, _context in extract_from_dir(
        package, method_map=[("**.py", "python")], keywords={"_": None}
    ):
        place = (f"{package.name}/{file}", str(line))
        _add(template, message if isinstance(message, str) else message[0], [place])
    return template


def _add(template: polib.POFile, text: str, places: Iterable[tuple[str, str]]) -> None:
    entry = template.find(text)
    if entry is None:
        flags = ["python-format"] if "%(" in text or "%s" in text or "%d" in text else []
        entry = polib.POEntry(msgid=text, flags=flags)
        template.append(entry)
    entry.occurrences += places


def _add_borrowed(template: polib.POFile) -> polib.POFile:
    for package, files in _BORROWED.items():
        for entry in polib.pofile(str(_shipped_locale(package) / "sphinx.pot")):
            if any(file.startswith(files) for file, _line in entry.occurrences):
                _add(template, entry.msgid, [(package, "")])
    return template


def _without_translated(
    template: polib.POFile, language: str, old: polib.POFile | None
) -> polib.POFile:
    """Return the messages that Sphinx and the theme have no translation of.

    Those that the catalog translates all the same stay: a translator found better words.
    """
    known: set[str] = set()
    for package in _BORROWED:
        shipped = gettext.translation(
            "sphinx", _shipped_locale(package), languages=[language], fallback=True
        )
        catalog: dict[str, str] = getattr(shipped, "_catalog", {})
        known |= {text for text, translation in catalog.items() if translation not in ("", text)}
    known -= {entry.msgid for entry in old or () if entry.msgstr and not entry.obsolete}
    kept = polib.POFile()
    kept.metadata = template.metadata
    for entry in template:
        own = any(not file.startswith(tuple(_BORROWED)) for file, _line in entry.occurrences)
        if own or entry.msgid not in known:
            kept.append(entry)
    return kept


def _shipped_locale(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found
    assert found.origin
    return Path(found.origin).parent / "locale"

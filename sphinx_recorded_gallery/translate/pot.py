"""Templates: the messages of each page and all labels, as translators get them.

Sphinx's gettext builder extracts those of pages; added are what each message is, and the labels of
packages. ``update-po`` keeps all of them in ``<locale>/templates``, and without Sphinx a catalog is
compared with them there.
"""

import ast
import gettext
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import polib
from docutils import nodes
from jinja2.ext import babel_extract
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.nodes import extract_messages

from ..errors import GalleryError, suggest
from ..labels import ENGINE, shipped_labels
from ..languages import Language
from ..project import Project
from .catalogs import (
    WIDTH,
    Kind,
    label_domains,
    read_catalog,
    write_catalog,
)
from .loading import drop_unfit
from .transforms import code_comment, fold_summary, row_name

# What templates tell translators about messages of prose and comments.
_COMMENTS: dict[type[nodes.Element], str] = {
    code_comment: f"{Kind.COMMENT.value}: one line of plain text, no markup",
    fold_summary: f"{Kind.COMMENT.value}: shown in the place of folded code; no markup",
    nodes.math_block: f"{Kind.FORMULA.value}: translate only what stands in \\text{{...}}",
    nodes.image: "Description of a picture, for those who cannot see it",
    row_name: Kind.NAME.value,
    nodes.title: "Title",
    nodes.meta: "Description of the page, for search engines",
}
# The files of Sphinx whose texts a page shows beside those of this project
_OF_SPHINX = ("locale/__init__.py", "writers/html5.py", "themes/basic/search.html")


def make_pots(project: Project, folder: Path) -> dict[str, polib.POFile]:
    """Extract the messages of all pages and all labels, by name of their catalogs.

    ``folder`` is for what Sphinx's builder makes. Raises ``GalleryError`` if it fails.
    """
    root, folder = project.root.absolute(), folder.absolute()
    for path in folder.rglob("*.pot"):
        path.unlink()  # all are written anew, but those of pages that are gone
    # This module tells an error in one line, where Sphinx's own tells it in thirty.
    options = ["-b", "gettext", "-q", str(root), str(folder)]
    command = [sys.executable, "-m", f"{ENGINE}.run_sphinx", *options]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    paths = sorted(folder.rglob("*.pot"))
    if done.returncode or not paths:
        told = done.stderr.strip().rpartition("\n")[2].removeprefix("error: ")
        raise GalleryError(f"the messages cannot be extracted: {told or 'Sphinx found none'}")
    print(done.stderr, end="", file=sys.stderr)
    pots = {}
    for path in paths:
        pot = read_catalog(path)
        for entry in pot:
            # not where in a file, which changes with every edit
            files = dict.fromkeys(os.path.relpath(folder / at, root) for at, _ in entry.occurrences)
            entry.occurrences = [(Path(file).as_posix(), "") for file in files]
        pots[path.relative_to(folder).with_suffix("").as_posix()] = pot
    name = next(iter(pots.values())).metadata["Project-Id-Version"]  # the same in each
    *packages, sphinx = label_domains(project.config)
    labels = {package: find_labels(project.root, package) for package in packages}
    for domain, found in {**labels, sphinx: _borrowed_labels(project.config)}.items():
        pot = pots.setdefault(domain, polib.POFile())
        pot.metadata = {"Project-Id-Version": ENGINE if domain == ENGINE else name}
        known = {entry.msgid: entry for entry in pot}
        for text, place in found:
            if text not in known:
                flags = ["python-format"] if re.search("%[(sd]", text) else []
                known[text] = polib.POEntry(msgid=text, flags=flags)
                pot.append(known[text])
            if (place, "") not in known[text].occurrences:
                known[text].occurrences.append((place, ""))
    return dict(sorted(pots.items()))


def name_kinds(app: Sphinx, exception: Exception | None) -> None:
    """Write into the finished templates what each message is."""
    if exception:
        return
    kinds: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for docname in app.env.found_docs:
        for node, text in extract_messages(app.env.get_doctree(docname)):
            kinds[docname][text].add(_COMMENTS.get(type(node), ""))
    for docname, texts in kinds.items():
        pot = polib.pofile(str(Path(app.outdir, f"{docname}.pot")), wrapwidth=0)
        for entry in pot:
            # A text that is of two kinds is told nothing: it has to suit both.
            entry.comment = "".join(texts[entry.msgid]) if len(texts[entry.msgid]) == 1 else ""
        pot.save()


def find_labels(root: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a package, ``_("...")`` in code and HTML, and their files.

    They are those of the project's copy of it, or of the installed one.
    """
    package = root / name if (root / name).is_dir() else _package_folder(name)
    for path in sorted(package.rglob("*.html")):
        for _line, _function, text, _comments in babel_extract(path.open("rb"), ["_"], [], {}):
            yield str(text), f"{name}/{path.relative_to(package).as_posix()}"
    for path in sorted(package.rglob("*.py"), key=lambda path: (path.parent.parts, path.name)):
        found = []  # Babel would not find those inside of an f-string, before Python 3.12
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="_"), args=[ast.Constant(value=str(text)), *_]):
                    found.append((node.lineno, node.col_offset, text))
        for _line, _column, text in sorted(found):
            yield text, f"{name}/{path.relative_to(package).as_posix()}"


def _borrowed_labels(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the labels of Sphinx and of the theme, and which of the two has each."""
    for package in _find_lenders(config):
        files = _OF_SPHINX if package == "sphinx" else (f"src/{package}/", f"{package}/")
        for entry in polib.pofile(str(_package_folder(package) / "locale/sphinx.pot")):
            if any(file.startswith(files) for file, _line in entry.occurrences):
                yield entry.msgid, package


def _find_lenders(config: Config) -> list[str]:
    """Return the packages whose labels a page shows: Sphinx, and a theme with labels of its own."""
    theme = str(config.html_theme)
    found = find_spec(theme) if theme.isidentifier() else None
    if found is None or found.origin is None:
        return ["sphinx"]
    has_labels = (Path(found.origin).parent / "locale/sphinx.pot").is_file()
    return ["sphinx", theme] if has_labels else ["sphinx"]


def _package_folder(name: str) -> Path:
    found = find_spec(name)
    if not found or not found.origin:
        raise GalleryError(f"no package {name!r}", remedy="correct recorded_gallery_label_packages")
    return Path(found.origin).parent


def write_pots(project: Project, pots: Mapping[str, polib.POFile]) -> list[Path]:
    """Keep the messages that were extracted just now; return the files that changed."""
    folder, changed = project.locale / "templates", []
    for path in set(folder.rglob("*.pot")) - {folder / f"{domain}.pot" for domain in pots}:
        path.unlink()
        changed.append(path)
    for domain, pot in pots.items():
        kept = polib.POFile(wrapwidth=WIDTH)
        kept.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
        kept.extend(pot)
        if write_catalog(folder / f"{domain}.pot", kept):
            changed.append(folder / f"{domain}.pot")
    return changed


def read_pots(project: Project) -> dict[str, polib.POFile]:
    """Return the messages as of the last update, by name of their catalogs; none before the first.

    Raises ``GalleryError`` if a file of them cannot be read.
    """
    folder, pots = project.locale / "templates", {}
    for path in sorted(folder.rglob("*.pot")):
        try:
            pots[path.relative_to(folder).with_suffix("").as_posix()] = read_catalog(path)
        except GalleryError as error:
            remedy = f"run: {suggest('update-po')}"  # which writes all of them anew
            raise GalleryError(error.text, path=path, line=error.line, remedy=remedy) from None
    return pots


def shipped_translations(project: Project, language: Language) -> list[polib.POEntry]:
    """Return the translations of labels that Sphinx, the theme and the engine bring along."""
    found: list[polib.POEntry] = []
    for package in sorted(_find_lenders(project.config)):
        locale = _package_folder(package) / "locale"
        shipped = gettext.translation("sphinx", locale, languages=[language.code], fallback=True)
        while shipped:  # Sphinx's de_DE holds next to nothing, and gettext goes on to de
            for text, said in getattr(shipped, "_catalog", {}).items():
                if isinstance(text, str) and said not in ("", text):
                    found.append(polib.POEntry(msgid=text, msgstr=said, linenum=len(found) + 1))
            shipped = shipped._fallback  # type: ignore[attr-defined]
    drop_unfit(Path("sphinx.po"), found, Kind.LABEL, language)  # some are wrong
    path = shipped_labels(language.code)
    return [*found, *(read_catalog(path).translated_entries() if path else ())]

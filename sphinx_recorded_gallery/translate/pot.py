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
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import polib
from docutils import nodes
from jinja2.ext import babel_extract
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.nodes import extract_messages

from ..errors import GalleryError, suggest, visible
from ..labels import ENGINE, shipped_labels
from ..languages import Language
from ..planted_links import refuse_links
from ..project import Project, locale_option
from .catalogs import (
    WIDTH,
    Kind,
    label_domains,
    read_catalog,
    write_catalog,
)
from .loading import drop_unsafe
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
    """Return the messages of all pages and all labels, by name of their catalogs.

    ``folder`` is for what Sphinx's builder writes. Raises ``GalleryError`` if it fails.
    """
    root, folder = project.root.absolute(), folder.absolute()
    refuse_links(root, folder)
    for path in folder.rglob("*.pot"):
        path.unlink()  # all are written anew, but those of pages that are gone
    _run_gettext_builder(project.config, root, folder)
    paths = sorted(folder.rglob("*.pot"))
    if not paths:
        raise GalleryError("the messages cannot be extracted: Sphinx found none")
    pots = {}
    for path in paths:
        pot = read_catalog(path)
        for entry in pot:
            # not where in a file, which changes with every edit
            files = [os.path.relpath(folder / file, root) for file, _line in entry.occurrences]
            entry.occurrences = [(Path(file).as_posix(), "") for file in dict.fromkeys(files)]
        pots[path.relative_to(folder).with_suffix("").as_posix()] = pot

    name = next(iter(pots.values())).metadata["Project-Id-Version"]  # the same in each
    *packages, sphinx = label_domains(project.config)
    for package in packages:
        pot = pots.setdefault(package, polib.POFile())
        pot.metadata = {"Project-Id-Version": ENGINE if package == ENGINE else name}
        _add_labels(pot, find_labels(project.root, package))
    pot = pots.setdefault(sphinx, polib.POFile())
    pot.metadata = {"Project-Id-Version": name}
    _add_labels(pot, _borrowed_labels(project.config))
    return dict(sorted(pots.items()))


def _run_gettext_builder(config: Config, root: Path, folder: Path) -> None:
    """Let Sphinx extract the messages of pages; raise ``GalleryError`` if it fails."""
    # run_sphinx tells an error in one line, where Sphinx's own program tells it in thirty.
    options = ["-b", "gettext", "-q", *locale_option(config), str(root), str(folder)]
    command = [sys.executable, "-m", f"{ENGINE}.run_sphinx", *options]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2].removeprefix("error: ")
        text = f"the messages cannot be extracted: {reason or 'Sphinx found none'}"
        raise GalleryError(text)
    print(visible(done.stderr), end="", file=sys.stderr)


def _add_labels(pot: polib.POFile, labels: Iterable[tuple[str, str]]) -> None:
    """Add labels to a template: texts with the files that have them."""
    entries = {entry.msgid: entry for entry in pot}
    for text, file in labels:
        entry = entries.get(text)
        if entry is None:
            flags = ["python-format"] if re.search("%[(sd]", text) else []
            entry = entries[text] = polib.POEntry(msgid=text, flags=flags)
            pot.append(entry)
        if (file, "") not in entry.occurrences:
            entry.occurrences.append((file, ""))


def annotate_pots(app: Sphinx, exception: Exception | None) -> None:
    """Write into the finished templates what each message is."""
    if exception:
        return
    for docname in app.env.found_docs:
        comments: dict[str, set[str]] = defaultdict(set)
        for node, text in extract_messages(app.env.get_doctree(docname)):
            comments[text].add(_COMMENTS.get(type(node), ""))
        if not comments:
            continue
        pot = polib.pofile(str(Path(app.outdir, f"{docname}.pot")), wrapwidth=0)
        for entry in pot:
            # A text that is of two kinds is told nothing: it has to suit both.
            if len(comments[entry.msgid]) == 1:
                [entry.comment] = comments[entry.msgid]
            else:
                entry.comment = ""
        pot.save()


def find_labels(root: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a package, ``_("...")`` in code and HTML, and their files.

    They are those of the project's copy of it, or of the installed one.
    """
    package = root / name if (root / name).is_dir() else _package_folder(name)
    for path in sorted(package.rglob("*.html")):
        file = f"{name}/{path.relative_to(package).as_posix()}"
        with path.open("rb") as template:
            for _line, _function, text, _comments in babel_extract(template, ["_"], [], {}):
                yield str(text), file
    for path in sorted(package.rglob("*.py"), key=lambda path: (path.parent.parts, path.name)):
        file = f"{name}/{path.relative_to(package).as_posix()}"
        for text in _labels_in_code(path.read_text(encoding="utf-8")):
            yield text, file


def _labels_in_code(source: str) -> list[str]:
    """Return the labels of a module in order.

    Babel would not find those inside of an f-string, before Python 3.12.
    """
    labels = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="_"), args=[ast.Constant(value=str(text)), *_]):
                labels.append((node.lineno, node.col_offset, text))
    return [text for _line, _column, text in sorted(labels)]


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
    """Write the messages that were extracted just now; return the files that changed."""
    folder = project.locale / "templates"
    changed = []
    for path in sorted(set(folder.rglob("*.pot")) - {folder / f"{domain}.pot" for domain in pots}):
        path.unlink()
        changed.append(path)
    for domain, pot in pots.items():
        catalog = polib.POFile(wrapwidth=WIDTH)
        catalog.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
        catalog.extend(pot)
        if write_catalog(folder / f"{domain}.pot", catalog):
            changed.append(folder / f"{domain}.pot")
    return changed


def read_pots(project: Project) -> dict[str, polib.POFile]:
    """Return the messages of the last update, by name of their catalogs; none before the first.

    Raises ``GalleryError`` if a file of them cannot be read.
    """
    folder = project.locale / "templates"
    pots = {}
    for path in sorted(folder.rglob("*.pot")):
        try:
            pots[path.relative_to(folder).with_suffix("").as_posix()] = read_catalog(path)
        except GalleryError as error:
            remedy = f"run: {suggest('update-po')}"  # which writes all of them anew
            raise GalleryError(error.text, path=path, line=error.line, remedy=remedy) from None
    return pots


def shipped_translations(project: Project, language: Language) -> list[polib.POEntry]:
    """Return the translations of labels that Sphinx, the theme and the engine bring along."""
    entries: list[polib.POEntry] = []
    for package in sorted(_find_lenders(project.config)):
        locale = _package_folder(package) / "locale"
        for text, translation in _read_compiled(locale, language.code):
            line = len(entries) + 1  # by which the checks tell them apart
            entries.append(polib.POEntry(msgid=text, msgstr=translation, linenum=line))
    drop_unsafe(Path("sphinx.po"), entries, Kind.LABEL, language)  # some are wrong
    path = shipped_labels(language.code)
    if path is not None:
        entries += read_catalog(path).translated_entries()
    return entries


def _read_compiled(locale: Path, code: str) -> Iterator[tuple[str, str]]:
    """Yield the translations of a package, those of a language before those of its relative."""
    catalog = gettext.translation("sphinx", locale, languages=[code], fallback=True)
    while catalog:  # Sphinx's de_DE holds next to nothing, and gettext goes on to de
        for text, translation in getattr(catalog, "_catalog", {}).items():
            if isinstance(text, str) and translation not in ("", text):
                yield text, translation
        catalog = catalog._fallback  # type: ignore[attr-defined]

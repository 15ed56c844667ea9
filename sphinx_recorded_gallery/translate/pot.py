"""Templates: the messages of each page, and all labels.

Sphinx's gettext builder extracts the messages of pages; this module adds the labels of packages,
and comments that say what each message is. ``update-po`` writes the templates to
``<locale>/templates``, so that catalogs can be compared with them without a run of Sphinx.
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

from ..engine_labels import ENGINE, shipped_labels
from ..errors import GalleryError, suggest, visible
from ..languages import Language
from ..planted_links import refuse_links
from ..project import Project, locale_option
from .catalogs import WIDTH, Kind, label_domains, read_catalog, write_catalog
from .loading import drop_unsafe
from .transforms import code_comment, fold_summary, row_name

# The comments for translators, by the node that a message comes from
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
_SPHINX_FILES = ("locale/__init__.py", "writers/html5.py", "themes/basic/search.html")


def make_pots(project: Project, folder: Path) -> dict[str, polib.POFile]:
    """Return the templates of all pages and all labels, by the names of their catalogs.

    Sphinx's builder writes into ``folder``. Raises ``GalleryError`` if the builder fails or a
    package with labels is not installed.
    """
    root = project.root.absolute()
    folder = folder.absolute()
    refuse_links(root, folder)
    for path in folder.rglob("*.pot"):
        path.unlink()  # the builder writes all of them anew, except those of removed pages
    _run_gettext_builder(project.config, root, folder)
    pots = _read_built_pots(root, folder)
    project_name = next(iter(pots.values())).metadata["Project-Id-Version"]  # the same in each

    *packages, sphinx = label_domains(project.config)
    for package in packages:
        pot = pots.setdefault(package, polib.POFile())
        pot.metadata = {"Project-Id-Version": ENGINE if package == ENGINE else project_name}
        _add_labels(pot, find_labels(project.root, package))
    pot = pots.setdefault(sphinx, polib.POFile())
    pot.metadata = {"Project-Id-Version": project_name}
    _add_labels(pot, _borrowed_labels(project.config))
    return dict(sorted(pots.items()))


def _run_gettext_builder(config: Config, root: Path, folder: Path) -> None:
    """Let Sphinx extract the messages of pages; raise ``GalleryError`` if it fails."""
    # run_sphinx reports an error in one line, where Sphinx's own program takes thirty.
    options = ["-b", "gettext", "-q", *locale_option(config), str(root), str(folder)]
    command = [sys.executable, "-m", f"{ENGINE}.run_sphinx", *options]
    process = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if process.returncode:
        last_line = process.stderr.strip().rpartition("\n")[2]
        reason = last_line.removeprefix("error: ") or "Sphinx found none"
        raise GalleryError(f"the messages cannot be extracted: {reason}")
    print(visible(process.stderr), end="", file=sys.stderr)


def _read_built_pots(root: Path, folder: Path) -> dict[str, polib.POFile]:
    """Return the templates that the builder wrote, with the files of messages relative to the root.

    Line numbers are left out, since they change with every edit of a file. Raises ``GalleryError``
    if there are no templates.
    """
    pots = {}
    for path in sorted(folder.rglob("*.pot")):
        pot = read_catalog(path)
        for entry in pot:
            files: dict[str, None] = {}
            for file, _line in entry.occurrences:
                files[Path(os.path.relpath(folder / file, root)).as_posix()] = None
            entry.occurrences = [(file, "") for file in files]
        pots[_domain(path, folder)] = pot
    if not pots:
        raise GalleryError("the messages cannot be extracted: Sphinx found none")
    return pots


def _domain(path: Path, folder: Path) -> str:
    """Return the name of the catalog that a template in a folder belongs to."""
    return path.relative_to(folder).with_suffix("").as_posix()


def _add_labels(pot: polib.POFile, labels: Iterable[tuple[str, str]]) -> None:
    """Add labels to a template; each label is its text and a file that contains it."""
    entries = {entry.msgid: entry for entry in pot}
    for text, file in labels:
        if text not in entries:
            entry = polib.POEntry(msgid=text)
            if re.search("%[(sd]", text):
                entry.flags = ["python-format"]
            entries[text] = entry
            pot.append(entry)
        occurrences = entries[text].occurrences
        if (file, "") not in occurrences:
            occurrences.append((file, ""))


def annotate_pots(app: Sphinx, exception: Exception | None) -> None:
    """Add comments on the kind of each message to the templates, unless the build failed."""
    if exception:
        return
    for docname in app.env.found_docs:
        comments_by_text: dict[str, set[str]] = defaultdict(set)
        for node, text in extract_messages(app.env.get_doctree(docname)):
            comments_by_text[text].add(_COMMENTS.get(type(node), ""))
        if not comments_by_text:
            continue  # Sphinx writes no template without messages
        pot = polib.pofile(str(Path(app.outdir, f"{docname}.pot")), wrapwidth=0)
        for entry in pot:
            comments = comments_by_text[entry.msgid]
            # A text of two kinds gets no comment: its translation has to suit both.
            entry.comment = ""
            if len(comments) == 1:
                [entry.comment] = comments
        pot.save()


def find_labels(root: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a package, ``_("...")`` in HTML and code, with the files they are in.

    The package is read below ``root``, or else where it is installed. Raises ``GalleryError`` if it
    is in neither place.
    """
    package = root / name
    if not package.is_dir():
        package = _package_folder(name)
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
    """Return the labels of a module in their order.

    Before Python 3.12, Babel would miss labels inside f-strings.
    """
    labels = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="_"), args=[ast.Constant(value=str(text)), *_]):
                labels.append((node.lineno, node.col_offset, text))
    return [text for _line, _column, text in sorted(labels)]


def _borrowed_labels(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the labels of Sphinx and of the theme that pages show, with the package of each."""
    for package in _packages_with_labels(config):
        if package == "sphinx":
            prefixes: tuple[str, ...] = _SPHINX_FILES
        else:
            prefixes = (f"src/{package}/", f"{package}/")
        for entry in polib.pofile(str(_package_folder(package) / "locale/sphinx.pot")):
            if any(file.startswith(prefixes) for file, _line in entry.occurrences):
                yield entry.msgid, package


def _packages_with_labels(config: Config) -> list[str]:
    """Return the packages whose labels a page shows: Sphinx, and a theme with labels of its own."""
    theme = str(config.html_theme)
    spec = find_spec(theme) if theme.isidentifier() else None
    if spec is None or spec.origin is None:
        return ["sphinx"]
    if not (Path(spec.origin).parent / "locale/sphinx.pot").is_file():
        return ["sphinx"]
    return ["sphinx", theme]


def _package_folder(name: str) -> Path:
    """Return the folder of an installed package; raise ``GalleryError`` if there is none."""
    spec = find_spec(name)
    if spec is None or not spec.origin:
        raise GalleryError(f"no package {name!r}", remedy="correct recorded_gallery_label_packages")
    return Path(spec.origin).parent


def write_pots(project: Project, pots: Mapping[str, polib.POFile]) -> list[Path]:
    """Write the templates of a project and remove those of pages that are gone.

    Returns the files that changed.
    """
    folder = project.locale / "templates"
    paths = {domain: folder / f"{domain}.pot" for domain in pots}
    changed_files = sorted(set(folder.rglob("*.pot")) - set(paths.values()))
    for path in changed_files:
        path.unlink()
    for domain, pot in pots.items():
        catalog = polib.POFile(wrapwidth=WIDTH)
        catalog.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
        catalog.extend(pot)
        if write_catalog(paths[domain], catalog):
            changed_files.append(paths[domain])
    return changed_files


def read_pots(project: Project) -> dict[str, polib.POFile]:
    """Return the templates of the last update, by the names of their catalogs.

    Before the first update there are none. Raises ``GalleryError`` if one cannot be read.
    """
    folder = project.locale / "templates"
    pots = {}
    for path in sorted(folder.rglob("*.pot")):
        try:
            pots[_domain(path, folder)] = read_catalog(path)
        except GalleryError as error:
            remedy = f"run: {suggest('update-po')}"  # it writes all of them anew
            raise GalleryError(error.text, path=path, line=error.line, remedy=remedy) from None
    return pots


def shipped_translations(project: Project, language: Language) -> list[polib.POEntry]:
    """Return the translations of labels that Sphinx, the theme and the engine ship with.

    Unsafe translations of Sphinx and the theme are left out.
    """
    entries: list[polib.POEntry] = []
    for package in sorted(_packages_with_labels(project.config)):
        locale = _package_folder(package) / "locale"
        for text, translation in _read_compiled(locale, language.code):
            line = len(entries) + 1  # the checks tell entries apart by line
            entries.append(polib.POEntry(msgid=text, msgstr=translation, linenum=line))
    drop_unsafe(Path("sphinx.po"), entries, Kind.LABEL, language)
    path = shipped_labels(language.code)
    if path is not None:
        entries += read_catalog(path).translated_entries()
    return entries


def _read_compiled(locale: Path, code: str) -> Iterator[tuple[str, str]]:
    """Yield texts and translations from the compiled catalogs of a package.

    Those of the language come first, then those of the language that it falls back to: Sphinx's
    catalog of de_DE holds next to nothing, and gettext goes on to de.
    """
    catalog = gettext.translation("sphinx", locale, languages=[code], fallback=True)
    while catalog:
        for text, translation in getattr(catalog, "_catalog", {}).items():
            if isinstance(text, str) and translation not in ("", text):
                yield text, translation
        catalog = catalog._fallback  # type: ignore[attr-defined]

"""Extract the messages of a project into templates, and update the catalogs of all languages."""

import gettext
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import polib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.builders.gettext import MessageCatalogBuilder, MsgOrigin
from sphinx.config import Config
from sphinx.util.i18n import docname_to_domain
from sphinx.util.nodes import extract_messages

from ..errors import GalleryError
from ..languages import Language
from ..project import Project
from ..recipes.cells.module_comments import find_module_comments
from .catalogs import (
    ENGINE,
    Kind,
    catalog_folder,
    domain_of,
    find_catalogs,
    label_domains,
    loaded_messages,
    locale_folders,
    read_catalog,
    write_catalog,
)
from .compiled import shipped_labels
from .merge import update_catalog
from .transforms import code_comment, fold_summary

# Whose texts a page shows beside those of this project, and in which of their files these are.
_BORROWED = {
    "sphinx": ("locale/__init__.py", "writers/html5.py", "themes/basic/search.html"),
    "pydata_sphinx_theme": ("src/pydata_sphinx_theme/",),
}
# What templates tell translators about messages of prose and comments.
_COMMENTS: dict[type[nodes.Element], str] = {
    code_comment: f"{Kind.COMMENT.value}: one line of plain text, no markup",
    fold_summary: f"{Kind.COMMENT.value}: shown in the place of folded code; no markup",
    nodes.math_block: f"{Kind.FORMULA.value}: translate only what stands in \\text{{...}}",
    nodes.image: "Description of a picture, for those who cannot see it",
    nodes.title: "Title",
    nodes.meta: "Description of the page, for search engines",
}


def update_catalogs(project: Project, languages: Sequence[Language], templates: Path) -> list[Path]:
    """Update or create the catalogs of ``languages``; return those that changed.

    ``templates`` is the folder for what the gettext builder makes. The engine's labels are updated
    beside the engine where the project is its repository; elsewhere a catalog of the project holds
    those of them that the engine has no translation of. The catalog of a page that is gone keeps
    its translations until a person removes it.
    """
    domains = make_templates(project, templates)
    *_own, last = locale_folders(project.root, project.locale)
    changed = []
    for language in languages:
        code = language.code
        gone = {domain_of(path) for path in find_catalogs(project.locale, code)} - domains.keys()
        for domain in [*domains, *sorted(gone)]:
            locale = last if domain == ENGINE else project.locale
            path = catalog_folder(locale, code) / f"{domain}.po"
            old = read_catalog(path) if path.exists() else None
            template = domains.get(domain, polib.POFile())
            if domain == "sphinx" or (domain == ENGINE and locale == project.locale):
                template = _leave_out(
                    template, _translated_elsewhere(project.config, domain, code), old
                )
            if old is None and not template:
                continue
            if write_catalog(path, update_catalog(old, template, language=code)):
                changed.append(path)
    return changed


def make_templates(project: Project, folder: Path) -> dict[str, polib.POFile]:
    """Extract the messages of all pages and all labels, by name of their catalogs."""
    root, folder = project.root.absolute(), folder.absolute()
    for path in folder.rglob("*.pot"):
        path.unlink()  # all are written anew, but those of pages that are gone
    # This module tells an error in one line, where Sphinx's own tells it in thirty.
    command = [
        sys.executable,
        "-m",
        f"{ENGINE}.build",
        "-b",
        "gettext",
        "-q",
        str(root),
        str(folder),
    ]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        told = done.stderr.strip().rpartition("\n")[2].removeprefix("error: ")
        raise GalleryError(f"the messages cannot be extracted: {told}")
    print(done.stderr, end="", file=sys.stderr)
    domains = {}
    for path in sorted(folder.rglob("*.pot")):
        template = read_catalog(path)
        for message in template:
            message.occurrences = [
                (Path(os.path.relpath(folder / file, root)).as_posix(), line)
                for file, line in message.occurrences
            ]
        domains[path.relative_to(folder).with_suffix("").as_posix()] = template
    name = next(iter(domains.values())).metadata["Project-Id-Version"]  # the same in each
    *packages, sphinx = label_domains(project.config)
    labels = {package: _package_labels(root, package) for package in packages}
    for domain, found in {**labels, sphinx: _borrowed_labels(project.config)}.items():
        template = domains.setdefault(domain, polib.POFile())
        template.metadata = {"Project-Id-Version": ENGINE if domain == ENGINE else name}
        for text, place in found:
            entry = template.find(text)
            if entry is None:
                flags = ["python-format"] if re.search("%[(sd]", text) else []
                entry = polib.POEntry(msgid=text, flags=flags)
                template.append(entry)
            entry.occurrences.append((place, ""))
    return dict(sorted(domains.items()))


def _package_labels(root: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the labels of a package and their files: in the project's copy, or the installed."""
    from babel.messages.extract import extract_from_dir  # builds of pages do not need it

    package = root / name if (root / name).is_dir() else _package_folder(name)
    for file, _line, text, _comments, _context in extract_from_dir(
        package, method_map=[("**.py", "python")], keywords={"_": (1,)}
    ):
        yield str(text), f"{name}/{file}"


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


def _translated_elsewhere(config: Config, domain: str, code: str) -> set[str]:
    """Return the labels that the engine, or else Sphinx or the theme, ships a translation of."""
    if domain == ENGINE:
        path = shipped_labels(code)
        return {entry.msgid for entry in read_catalog(path).translated_entries()} if path else set()
    known: set[str] = set()
    for package in _borrowed(config):
        locale = _package_folder(package) / "locale"
        shipped = gettext.translation("sphinx", locale, languages=[code], fallback=True)
        messages = loaded_messages(shipped).items()
        known |= {text for text, translation in messages if translation not in ("", text)}
    return known


def _leave_out(template: polib.POFile, known: set[str], old: polib.POFile | None) -> polib.POFile:
    """Return a template without labels that others have translated already.

    Those that the catalog translates all the same stay: a translator found better words. So do
    those of the project's own templates.
    """
    better = {entry.msgid for entry in old or () if entry.msgstr and not entry.obsolete}
    others = (ENGINE, *_BORROWED)
    kept = polib.POFile()
    kept.metadata = template.metadata
    kept.extend(
        entry
        for entry in template
        if entry.msgid not in known - better
        or any(not file.startswith(others) for file, _line in entry.occurrences)
    )
    return kept


def _package_folder(name: str) -> Path:
    found = find_spec(name)
    if not found or not found.origin:
        raise GalleryError(f"no package {name!r}", remedy="correct recipe_gallery_label_packages")
    return Path(found.origin).parent


def add_module_comments(app: Sphinx, builder: Builder) -> None:
    """Add the comments of modules, which no page has as messages, to the templates of a build."""
    if isinstance(builder, MessageCatalogBuilder):
        for name, text, path, line in find_module_comments(app.config, Path(app.srcdir)):
            domain = docname_to_domain(name, app.config.gettext_compact)
            builder.catalogs[domain].add(text, MsgOrigin(str(path), line))


def write_kinds(app: Sphinx, exception: Exception | None) -> None:
    """Write what translators are told about each message into the finished templates."""
    if exception:
        return
    templates: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for docname in app.env.found_docs:
        kinds = templates[docname_to_domain(docname, app.config.gettext_compact)]
        for node, text in extract_messages(app.env.get_doctree(docname)):
            kinds[text].add(_COMMENTS.get(type(node), ""))
    for name, text, _path, _line in find_module_comments(app.config, Path(app.srcdir)):
        domain = docname_to_domain(name, app.config.gettext_compact)
        templates[domain][text].add(_COMMENTS[code_comment])
    for domain, kinds in templates.items():
        template = polib.pofile(str(Path(app.outdir, f"{domain}.pot")), wrapwidth=0)
        for entry in template:
            told = kinds[entry.msgid]
            # A text that is of two kinds is told nothing: it has to suit both.
            entry.comment = next(iter(told)) if len(told) == 1 else ""
        template.save()

"""Extract the messages of a project into templates, with Sphinx's gettext builder."""

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

import polib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.builders.gettext import MessageCatalogBuilder, MsgOrigin
from sphinx.util.i18n import docname_to_domain
from sphinx.util.nodes import extract_messages

from ...errors import GalleryError
from ...project import Project
from ..catalogs import ENGINE, Kind, read_catalog
from ..module_comments import find_module_comments
from ..transforms import code_comment, fold_summary
from .kept import SOURCES, find_sources
from .labels import add_labels

# What templates tell translators about messages of prose and comments.
_COMMENTS: dict[type[nodes.Element], str] = {
    code_comment: f"{Kind.COMMENT.value}: one line of plain text, no markup",
    fold_summary: f"{Kind.COMMENT.value}: shown in the place of folded code; no markup",
    nodes.math_block: f"{Kind.FORMULA.value}: translate only what stands in \\text{{...}}",
    nodes.image: "Description of a picture, for those who cannot see it",
    nodes.title: "Title",
    nodes.meta: "Description of the page, for search engines",
}


def make_templates(project: Project, folder: Path) -> dict[str, polib.POFile]:
    """Extract the messages of all pages and all labels, by name of their catalogs."""
    root, folder = project.root.absolute(), folder.absolute()
    for path in folder.rglob("*.pot"):
        path.unlink()  # all are written anew, but those of pages that are gone
    # This module tells an error in one line, where Sphinx's own tells it in thirty.
    options = ["-b", "gettext", "-q", str(root), str(folder)]
    command = [sys.executable, "-m", f"{ENGINE}.build", *options]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    paths = sorted(folder.rglob("*.pot"))
    if done.returncode or not paths:
        told = done.stderr.strip().rpartition("\n")[2].removeprefix("error: ")
        raise GalleryError(f"the messages cannot be extracted: {told or 'Sphinx found none'}")
    print(done.stderr, end="", file=sys.stderr)
    domains = {}
    for path in paths:
        template = read_catalog(path)
        for message in template:
            message.occurrences = [
                (Path(os.path.relpath(folder / file, root)).as_posix(), line)
                for file, line in message.occurrences
            ]
        domains[path.relative_to(folder).with_suffix("").as_posix()] = template
    name = next(iter(domains.values())).metadata["Project-Id-Version"]  # the same in each
    return dict(sorted(add_labels(domains, project.config, root, name).items()))


def add_module_comments(app: Sphinx, builder: Builder) -> None:
    """Add the comments of modules, which no page has as messages, to the templates of a build."""
    if isinstance(builder, MessageCatalogBuilder):
        for name, text, path, line in find_module_comments(app.config, Path(app.srcdir)):
            domain = docname_to_domain(name, app.config.gettext_compact)
            builder.catalogs[domain].add(text, MsgOrigin(str(path), line))


def complete_templates(app: Sphinx, exception: Exception | None) -> None:
    """Write into the finished templates what each message is, and what they were extracted from."""
    if exception:
        return
    templates: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    sources: dict[str, set[str]] = defaultdict(set)
    for docname in app.env.found_docs:
        domain = docname_to_domain(docname, app.config.gettext_compact)
        sources[domain] |= find_sources(app.env, docname)
        for node, text in extract_messages(app.env.get_doctree(docname)):
            templates[domain][text].add(_COMMENTS.get(type(node), ""))
    for name, text, path, _line in find_module_comments(app.config, Path(app.srcdir)):
        domain = docname_to_domain(name, app.config.gettext_compact)
        sources[domain].add(os.path.relpath(path, app.srcdir))
        templates[domain][text].add(_COMMENTS[code_comment])
    for domain, kinds in templates.items():
        template = polib.pofile(str(Path(app.outdir, f"{domain}.pot")), wrapwidth=0)
        template.metadata[SOURCES] = " ".join(map(quote, sorted(sources[domain])))
        for entry in template:
            told = kinds[entry.msgid]
            # A text that is of two kinds is told nothing: it has to suit both.
            entry.comment = next(iter(told)) if len(told) == 1 else ""
        template.save()

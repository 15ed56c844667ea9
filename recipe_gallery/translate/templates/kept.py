"""The messages of each page as of the last update, kept beside catalogs: ``<locale>/templates``.

What the messages of a page are only Sphinx knows, which takes seconds. So ``update-po`` keeps them,
with hashes of the files that they were extracted from. While these are as they were, a catalog is
compared without Sphinx. After one of them was edited, the template is stale: that is told, and
nothing is concluded from it.
"""

import hashlib
import os
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote

import polib
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util.i18n import docname_to_domain

from ...errors import GalleryError
from ...languages import locale_dirs
from ...project import Project, find_pages, gallery_folders
from ..catalogs import (
    ENGINE,
    TEMPLATES,
    WIDTH,
    Kind,
    catalog_folder,
    has_templates,
    kind_of,
    label_domains,
    locale_folders,
    read_catalog,
    write_catalog,
)
from .labels import add_labels, for_language, is_own, keep, translated_elsewhere

SOURCES = "X-Sources"  # a field of a template's header: files, each with its hash
_LARGEST = 50_000_000  # bytes of a source
_PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf"}


@dataclass(frozen=True, kw_only=True)
class Template:
    """The messages that a catalog has to have."""

    path: Path  # of the template
    kinds: Mapping[str, Kind]  # by message, in the order of the page
    stale: str = ""  # what was edited since they were extracted


def find_sources(env: BuildEnvironment, docname: str) -> set[str]:
    """Return the files that the messages of a page come from, below the folder of conf.py.

    Of recordings there are none: they decide which figures a page has, and not the text with them.
    """
    root = Path(env.srcdir)
    # Pages of galleries are made from files elsewhere; what lies beside catalogs is no English text
    made = [root / pages for pages, _examples in gallery_folders(env.config)]
    made += locale_dirs(env.config, root)
    found = {Path(env.doc2path(docname)), *map(root.joinpath, env.dependencies.get(docname, ()))}
    return {
        Path(os.path.relpath(path, root)).as_posix()
        for path in found
        if path.suffix.lower() not in _PICTURES
        and not any(path.is_relative_to(folder) for folder in made)
    } | _gallery_sources(env.config, root, docname)


def _gallery_sources(config: Config, root: Path, docname: str) -> set[str]:
    """Return what a page of a gallery is made from; the first one from which recipes there are."""
    for pages, examples in gallery_folders(config):
        if not docname.startswith(f"{pages}/"):
            continue
        source = root / examples / docname.removeprefix(f"{pages}/")
        found = [source.with_name(f"{source.name}.py")]
        if not found[0].is_file() and source.name == "index" and source.parent.is_dir():
            heads = (".rst", ".txt", ".md")
            found = [each for each in source.parent.iterdir() if each.suffix in heads]
            found.append(source.parent)
        return {Path(os.path.relpath(each, root)).as_posix() for each in found if each.exists()}
    return set()


def _hash(path: Path) -> str:
    try:
        if path.is_dir():  # of recipes: which there are
            content = "\n".join(sorted(each.name for each in path.glob("*.py"))).encode()
        elif path.is_file() and (size := path.stat().st_size) < _LARGEST:
            with path.open("rb") as file:  # no more: a template may name a file of the system
                content = file.read(size).replace(b"\r\n", b"\n")  # git may change them
        else:
            return ""
    except OSError:
        return ""
    return hashlib.sha256(content).hexdigest()[:12]


def write_templates(project: Project, domains: Mapping[str, polib.POFile]) -> list[Path]:
    """Keep the messages that were extracted just now; return the files that changed.

    Labels of packages are not kept: to find them takes no time.
    """
    kept = KeptTemplates(project.root, project.locale, project.config)
    label_packages = set(label_domains(project.config)) - {"sphinx"}
    wanted = {domain: each for domain, each in domains.items() if domain not in label_packages}
    wanted |= {name: polib.POFile() for name in kept.pages.keys() - domains.keys()}  # no message
    changed = []
    for domain, template in wanted.items():
        own = template if domain != "sphinx" else keep(template, is_own)
        names = [unquote(name) for name in template.metadata.get(SOURCES, "").split()]
        names = kept.page_templates if domain == "sphinx" else names or kept.pages.get(domain, [])
        made = polib.POFile(wrapwidth=WIDTH)
        made.metadata = {
            "Content-Type": "text/plain; charset=UTF-8",
            SOURCES: " ".join(f"{quote(n)}={_hash(project.root / n)}" for n in sorted(names)),
        }
        made.extend(
            polib.POEntry(
                msgid=entry.msgid,
                comment=entry.comment,
                flags=entry.flags,
                occurrences=[(file, "") for file in dict.fromkeys(f for f, _ in entry.occurrences)],
            )
            for entry in own
        )
        path = kept.path_of(domain)
        if write_catalog(path, made):
            changed.append(path)
    for path in set(kept.folder.rglob("*.pot")) - {kept.path_of(domain) for domain in wanted}:
        path.unlink()
        changed.append(path)
    return changed


class KeptTemplates:
    """The templates of a project; there are none before its first update."""

    def __init__(self, root: Path, locale: Path, config: Config) -> None:
        self.root, self.locale, self.config = root, locale, config
        self.folder = locale / TEMPLATES
        self._read: dict[str, Template | None] = {}

    def path_of(self, domain: str) -> Path:
        """Return where a template is kept."""
        return self.folder / f"{domain}.pot"

    @cached_property
    def exist(self) -> bool:
        """Tell whether there are any."""
        return has_templates(self.locale)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of catalogs of labels."""
        return label_domains(self.config)

    @cached_property
    def pages(self) -> dict[str, list[str]]:
        """The files of the pages that there are, by catalog, as far as no build has to tell."""
        files = defaultdict(list)
        for name, path in find_pages(self.root, self.config).items():
            files[docname_to_domain(name, self.config.gettext_compact)].append(path)
        return dict(files)

    @cached_property
    def page_templates(self) -> list[str]:
        """The project's own templates of HTML pages."""
        folders = [self.root / folder for folder in self.config.templates_path]
        files = {path for folder in folders for path in folder.rglob("*.html")}
        return [Path(os.path.relpath(path, self.root)).as_posix() for path in files]

    @cached_property
    def domains(self) -> list[str]:
        """The names of all that have a template or should have one, labels included."""
        kept = {
            path.relative_to(self.folder).with_suffix("").as_posix()
            for path in self.folder.rglob("*.pot")
        }
        return sorted(kept | self.pages.keys() | set(self.labels))

    def of_page(self, domain: str) -> Template | None:
        """Return the template of a page, None if there is none; an unreadable one is stale."""
        if domain not in self._read:
            self._read[domain] = self._read_page(domain)
        return self._read[domain]

    def _read_page(self, domain: str) -> Template | None:
        path = self.path_of(domain)
        if not path.is_file():
            return None
        try:
            template = read_catalog(path)
        except GalleryError as error:
            return Template(path=path, kinds={}, stale=f"this file cannot be read ({error.text})")
        kinds = {entry.msgid: kind_of(entry, label=domain == "sphinx") for entry in template}
        listed = template.metadata.get(SOURCES, "").split()
        sources = dict(each.partition("=")[::2] for each in listed)
        own = self.page_templates if domain == "sphinx" else self.pages.get(domain, ())
        sources = dict.fromkeys(map(quote, own), "") | sources
        edited = [
            unquote(name)
            for name, then in sources.items()
            if _hash(self.root / unquote(name)) != then
        ]
        stale = f"{edited[0]} was edited since then" if edited else ""
        return Template(path=path, kinds=kinds, stale=stale)

    def of_catalog(self, domain: str, code: str, old: Collection[polib.POEntry]) -> Template | None:
        """Return what the catalog of a language has to have, None if there is no such page.

        ``old`` is what the catalog holds: of labels that others translate it may have its own.
        """
        if domain not in self.labels:
            return self.of_page(domain)
        kept = self.of_page("sphinx") if domain == "sphinx" else None
        labels = for_language(self._labels[domain], self.shipped(domain, code), old)
        kinds = {entry.msgid: Kind.LABEL for entry in labels}
        path = kept.path if kept else self.path_of(domain)
        return Template(path=path, kinds=kinds, stale=kept.stale if kept else "")

    def shipped(self, domain: str, code: str) -> set[str]:
        """Return the messages of a catalog that others ship a translation of."""
        elsewhere = domain == ENGINE and self.folder_of(domain) == self.locale
        is_borrowed = domain == "sphinx" or elsewhere
        return translated_elsewhere(self.config, domain, code) if is_borrowed else set()

    def folder_of(self, domain: str) -> Path:
        """Return the folder of all languages in which a catalog lies."""
        return locale_folders(self.root, self.locale)[-1] if domain == ENGINE else self.locale

    def catalog_of(self, domain: str, code: str) -> Path:
        """Return where a catalog lies."""
        return catalog_folder(self.folder_of(domain), code) / f"{domain}.po"

    @cached_property
    def _labels(self) -> dict[str, polib.POFile]:
        kept = self.of_page("sphinx")
        own = polib.POFile()
        own.extend(
            polib.POEntry(msgid=text, occurrences=[("_templates", "")])
            for text in (kept.kinds if kept else ())
        )
        return add_labels({"sphinx": own}, self.config, self.root, "")

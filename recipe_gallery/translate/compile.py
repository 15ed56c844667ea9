"""Compile the catalogs of a build and load them, without what would spoil a page.

Sphinx would take a catalog as it is. Here each message is checked once: a label when its catalog is
compiled, one of a page when that page is read, as what the page says it is. What would spoil a page
is told, and readers get the English text for it.
"""

import contextlib
import gettext
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import polib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.locale import init as load_catalog
from sphinx.locale import translators
from sphinx.util import logging
from sphinx.util.i18n import docname_to_domain

from ..errors import GalleryError, suggest
from ..languages import current_language, is_listed, is_translated, locale_dirs
from ..store import keep, watch
from .catalogs import (
    ENGINE,
    Kind,
    catalog_folder,
    find_catalogs,
    label_domains,
    line_of,
    read_catalog,
    replace_file,
    shipped_labels,
    split_path,
)
from .checks import find_unfit

logger = logging.getLogger(__name__)

# Kinds of what a page has, None for what no catalog may say: with gettext_additional_targets
# Sphinx would also take HTML and the files of pictures from there.
Kinds = Mapping[str, set[Kind | None]]


def compile_catalogs(app: Sphinx, config: Config) -> None:
    """Compile the catalogs of this build's language that changed, and load its labels.

    A ``.mo`` names the content of the ``.po`` that it was made of, because other programs write
    such files, too, and Sphinx reads a page again when it is newer. Raises ``GalleryError`` for
    catalogs in the language of the sources, which Sphinx would obey unchecked.
    """
    config.gettext_auto_build = False  # Sphinx would compile what is broken, too
    language, locales = current_language(config), locale_dirs(config, Path(app.srcdir))
    if not is_translated(config):
        for folder in (catalog_folder(locale, language.code) for locale in locales):
            if any(path.suffix in (".po", ".mo") for path in folder.rglob("*.?o")):
                text = f"{language.code} is the language of the sources; it has no catalogs"
                raise GalleryError(text, path=folder, remedy="remove the folder")
        return
    labels = label_domains(config)
    targets: dict[Path, Path] = {}  # where each catalog is compiled to
    for locale in locales:
        catalogs = find_catalogs(locale, language.code)
        targets |= {path: path.with_suffix(".mo") for path in catalogs}
    if shipped := shipped_labels(language.code):
        # After those of the project, which go before them; and not beside the catalog, because an
        # installed package may be where nothing can be written.
        locales.append(Path(app.doctreedir, "labels"))
        targets[shipped] = catalog_folder(locales[-1], shipped.parts[-3]) / f"{ENGINE}.mo"
    for path, compiled in targets.items():
        is_label = split_path(path)[2] in labels
        mark = f"X-Made-Of: {_digest(path)}"
        if not is_label and compiled.exists() and mark.encode() in compiled.read_bytes():
            continue
        try:
            entries = [each for each in read_catalog(path) if not each.obsolete]
        except GalleryError as error:
            compiled.unlink(missing_ok=True)
            _warn(f"{error}; the page is shown in English")
            continue
        if is_label:
            kinds: Kinds = {entry.msgid: {Kind.LABEL} for entry in entries}
            unfit = find_unfit(entries, kinds, language)
            for entry, problem in unfit:
                _warn(GalleryError(f"{problem}; shown in English", path=path, line=line_of(entry)))
            refused = {id(entry) for entry, _problem in unfit}
            entries = [entry for entry in entries if id(entry) not in refused]
        binary = _to_binary(entries, mark)
        if not compiled.exists() or compiled.read_bytes() != binary:
            replace_file(compiled, binary)
    for locale in locales:
        for domain in labels:
            compiled = catalog_folder(locale, language.code) / f"{domain}.mo"
            is_ours = compiled in targets.values()  # else another program left it
            if domain == "sphinx":
                # Sphinx loaded this one by itself, unchecked, before any extension ran. gettext
                # keeps one dictionary for each file, for the life of the process.
                name = gettext.GNUTranslations, os.path.abspath(compiled)
                if loaded := gettext._translations.get(name):  # type: ignore[attr-defined]
                    messages = loaded_messages(loaded)
                    messages.clear()
                    if is_ours and compiled.exists():
                        with compiled.open("rb") as file:
                            messages |= loaded_messages(gettext.GNUTranslations(file))
            elif is_ours:
                app.add_message_catalog(domain, str(locale))


def _to_binary(entries: list[polib.POEntry], mark: str) -> bytes:
    """Return the messages, each once, and nothing else of their catalog.

    What it says of charsets and plural forms would be read anew, by other programs and otherwise.
    """
    plain = polib.POFile(encoding="utf-8")
    name, _, value = mark.partition(": ")
    plain.metadata = {"Content-Type": "text/plain; charset=UTF-8", name: value}
    seen: set[str] = set()
    for entry in entries:
        if entry.msgid and entry.translated() and entry.msgctxt is None:
            if not entry.msgid_plural and entry.msgid not in seen:
                plain.append(polib.POEntry(msgid=entry.msgid, msgstr=entry.msgstr))
            seen.add(entry.msgid)
    return bytes(plain.to_binary())


def loaded_messages(catalog: gettext.NullTranslations | None) -> dict[str, str]:
    """Return the messages of a compiled catalog that gettext has loaded, by their source texts.

    They are removed from the catalog by removing them from this dictionary. gettext has no public
    way to them.
    """
    if not isinstance(catalog, gettext.GNUTranslations):
        return {}  # there is no catalog
    messages: dict[str, str] = catalog._catalog  # type: ignore[attr-defined]
    return messages


def kind_of_node(node: nodes.Element, text: str) -> Kind | None:
    """Return what a message of a node is, other than a comment in code."""
    if isinstance(node, nodes.raw) or (isinstance(node, nodes.image) and node.get("alt") != text):
        return None
    if isinstance(node, nodes.math_block):
        return Kind.FORMULA
    is_code = isinstance(node, nodes.literal_block | nodes.doctest_block)
    return Kind.LABEL if is_code else Kind.PROSE


def drop_unfit(env: BuildEnvironment, docname: str, kinds: Kinds) -> Iterator[GalleryError]:
    """Remove the loaded messages that would break a page, being of these kinds; yield why."""
    language, path = current_language(env.config), catalog_path(env, docname)
    entries = [each for each in _read(path) if each.msgid in kinds and not each.obsolete]
    told = set()
    for entry, problem in find_unfit(entries, kinds, language):
        told.add(entry.msgid)
        yield GalleryError(f"{problem}; shown in English", path=path, line=line_of(entry))
    for messages in _loaded(env, docname):
        if not path.exists():  # what it was compiled from is gone, or nobody has seen it
            messages.clear()
        # Plural forms have keys of their own, and another program may have compiled the rest
        for text in [text for text in messages if not isinstance(text, str) or text in told]:
            del messages[text]
        found = [
            polib.POEntry(msgid=text, msgstr=messages[text])
            for text in kinds.keys() & messages.keys()
            if messages[text] != text
        ]
        for entry, problem in find_unfit(found, kinds, language):
            del messages[entry.msgid]
            yield GalleryError(f"{problem}; shown in English", path=path)


def _read(path: Path) -> list[polib.POEntry]:
    with contextlib.suppress(GalleryError):  # told where it is compiled
        return [*read_catalog(path)] if path.exists() else []
    return []


def _loaded(env: BuildEnvironment, docname: str) -> Iterator[dict[str, str]]:
    """Yield the messages of a page's catalog, and of those that are asked where it has none."""
    catalog: gettext.NullTranslations | None = _load_catalog(env, docname)
    while catalog is not None:
        yield loaded_messages(catalog)
        catalog = catalog._fallback  # type: ignore[attr-defined]


def _load_catalog(env: BuildEnvironment, docname: str) -> gettext.NullTranslations:
    domain = docname_to_domain(docname, env.config.gettext_compact)
    if ("general", domain) in translators:  # to load it again would chain it to itself
        return translators["general", domain]
    folders = locale_dirs(env.config, Path(env.srcdir))
    return load_catalog(folders, env.config.language, domain)[0]


def page_translations(env: BuildEnvironment, docname: str) -> dict[str, str]:
    """Return the messages of a page's catalog that are translated."""
    if docname_to_domain(docname, env.config.gettext_compact) in label_domains(env.config):
        return {}  # a page that is called like one of labels
    messages = loaded_messages(_load_catalog(env, docname)).items()
    return {text: translation for text, translation in messages if text and translation}


def translate(env: BuildEnvironment, docname: str, text: str) -> str:
    """Return a message of a page, which is prose, in the language of this build."""
    translation = str(_load_catalog(env, docname).gettext(text))
    entry = polib.POEntry(msgid=text, msgstr=translation)
    unfit = find_unfit([entry], {text: {Kind.PROSE}}, current_language(env.config))
    return text if unfit or not translation else translation


def find_message(env: BuildEnvironment, docname: str, text: str) -> str:
    """Return a message of a page in the language of this build.

    That of another page is watched; for its own catalog a page is read again by Sphinx.
    """
    if not is_translated(env.config):
        return text
    if docname == env.docname:
        return translate(env, docname, text)
    return watch(env, translate_message, docname, text)


def translate_message(env: BuildEnvironment, docname: str, text: str) -> str:
    """Return a translated message; a catalog that has not changed is not read again."""
    name = f"{docname_to_domain(docname, env.config.gettext_compact)}.mo"
    catalogs = [folder / name for folder in catalog_folders(env)]
    key = "message", docname, text
    return str(keep(env, key, catalogs, lambda: ([], translate(env, docname, text))))


def find_lines(path: Path) -> dict[str, int]:
    """Return the lines of a catalog's messages; of one that stands twice, the first one counts."""
    return {each.msgid: line_of(each) for each in reversed(_read(path)) if not each.obsolete}


def labels_now(env: BuildEnvironment) -> str:
    """Return hashes of all labels in the language of this build, for pages to watch."""
    domains = label_domains(env.config)
    files = [folder / f"{each}.mo" for folder in catalog_folders(env) for each in domains]
    files += filter(None, [shipped_labels(env.config.language)])
    return " ".join(map(_digest, files))


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def has_catalog(env: BuildEnvironment, docname: str) -> bool:
    """Tell whether a page has a catalog, for it to watch; Sphinx sees only those that change."""
    path = catalog_path(env, docname)
    return path.exists() and path.with_suffix(".mo").exists()  # none of what cannot be read


def catalog_folders(env: BuildEnvironment) -> list[Path]:
    """Return the folders in which the catalogs of this build's language lie."""
    locales = locale_dirs(env.config, Path(env.srcdir))
    return [catalog_folder(each, env.config.language) for each in locales]


def catalog_path(env: BuildEnvironment, docname: str) -> Path:
    """Return where the catalog of a page lies, or would lie."""
    domain = docname_to_domain(docname, env.config.gettext_compact)
    paths = [folder / f"{domain}.po" for folder in catalog_folders(env)]
    return next((path for path in paths if path.exists()), paths[0])


def edit_address(env: BuildEnvironment, catalog: Path) -> str:
    """Return where a catalog is edited on the web; nothing of one outside of a repository."""
    repository = env.config.recipe_gallery_repository_url.rstrip("/")
    file = Path(os.path.relpath(catalog, env.srcdir)).as_posix()
    branch = env.config.recipe_gallery_repository_branch
    return f"{repository}/edit/{branch}/{file}" if repository and not file.startswith("..") else ""


def report_missing(app: Sphinx, env: BuildEnvironment) -> None:
    """Tell which pages have no catalog in a language that ``languages.toml`` lists."""
    if not is_translated(app.config) or not is_listed(app, app.config):
        return
    folders, missing = catalog_folders(env), {}
    if not any(folder.is_dir() for folder in folders):
        missing[folders[0]] = "no catalogs, so everything is in English"
    else:
        for docname in sorted(env.found_docs):
            path = catalog_path(env, docname)
            if not path.is_file():
                missing[path] = "no such catalog, so the page is in English"
    remedy = f"run: {suggest('update-po', app.config.language)}"
    for path, text in missing.items():
        _warn(GalleryError(text, path=path, remedy=remedy))


def _warn(problem: object) -> None:
    logger.warning("%s", problem, type="recipe_gallery", subtype="catalog")

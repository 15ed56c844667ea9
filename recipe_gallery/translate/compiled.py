"""Compile the catalogs of a build, without what would spoil a page, and load them.

Sphinx would take a catalog as it is. Here each is checked first; a message that would spoil its
page is reported and left out of the compiled catalog, so that readers get the English text for it.
"""

from __future__ import annotations

import contextlib
import gettext
import hashlib
import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.locale import init as load_catalog
from sphinx.locale import translators
from sphinx.util import logging
from sphinx.util.i18n import docname_to_domain

from ..errors import GalleryError, suggest
from ..languages import Language, current_language, is_listed, is_translated, locale_dirs
from ..project import code_digest
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
)
from .mo import loaded_messages, replace_loaded, to_binary

if TYPE_CHECKING:
    from .checks.page import Kinds

logger = logging.getLogger(__name__)

NOTES = "catalogs.json"  # among the doctrees


def compile_catalogs(app: Sphinx, config: Config) -> None:
    """Compile the catalogs of this build's language that changed, and load the labels.

    ``NOTES`` among the doctrees keeps what was wrong with each, for later builds to repeat.
    """
    config.gettext_auto_build = False  # Sphinx would compile what is broken, too
    if not is_translated(config):
        return
    language = current_language(config)
    labels = label_domains(config)
    locales = locale_dirs(config, Path(app.srcdir))
    targets: dict[Path, Path] = {}  # where each catalog is compiled to
    for locale in locales:
        catalogs = find_catalogs(locale, language.code)
        targets |= {path: path.with_suffix(".mo") for path in catalogs}
    if shipped := shipped_labels(language.code):
        # After those of the project, which go before them; and not beside the catalog, because an
        # installed package may be where nothing can be written.
        locales.append(Path(app.doctreedir, "labels"))
        targets[shipped] = catalog_folder(locales[-1], shipped.parts[-3]) / f"{ENGINE}.mo"
    notes = Path(app.doctreedir, NOTES)
    rules = repr((code_digest(), language, labels))
    known: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):  # of a first build, or damaged
        known = json.loads(notes.read_bytes())
    for gone in set(map(Path, known.get("catalogs", ()))) - targets.keys():
        gone.with_suffix(".mo").unlink(missing_ok=True)  # its translations would live on
    before = known["catalogs"] if known.get("rules") == rules else {}
    kept = set(map(Path, config.recipe_gallery_keep_catalogs))
    after = {}
    for path, compiled in targets.items():
        note = before.get(str(path))
        if note and path.resolve() in kept and note["files"][1] == _digest(compiled):
            after[str(path)] = note
        else:
            after[str(path)] = compile_catalog(path, compiled, language, labels, note)
    replace_file(notes, json.dumps({"rules": rules, "catalogs": after}).encode())
    for note in after.values():
        for line in note["problems"]:
            warn(line)
    for locale in locales:
        for domain in labels:
            compiled = catalog_folder(locale, language.code) / f"{domain}.mo"
            if domain == "sphinx":
                # Sphinx loaded this one by itself, unchecked, before any extension ran.
                replace_loaded(compiled, compiled in targets.values())
            elif compiled in targets.values():  # else another program left it
                app.add_message_catalog(domain, str(locale))


def compile_catalog(
    path: Path,
    compiled: Path,
    language: Language,
    labels: Collection[str],
    note: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the ``.mo`` of a catalog if it is not current; return a note for the next build.

    ``labels`` are the names of catalogs of labels, ``note`` is what the last build returned: hashes
    of both files, what is wrong, line by line, and how many messages are left to translate. The
    ``.mo`` is replaced only when its content changes, because Sphinx reads a page again when it is
    newer. That one file is newer than the other would not do, because other programs write ``.mo``
    files too.
    """
    source, left = _digest(path), 0
    if note and note["files"] == [source, _digest(compiled)]:
        return note
    from .checks.run import BREAKING, check_catalog  # slow to import: most catalogs are as before

    catalog, problems = check_catalog(path, language, labels, BREAKING)
    if catalog is None:
        compiled.unlink(missing_ok=True)
        lines = [f"{problems[0]}; the page is shown in English"]
    else:
        bad = {problem.line for problem in problems if problem.breaks}
        binary = to_binary(entry for entry in catalog if line_of(entry) not in bad)
        if not compiled.exists() or compiled.read_bytes() != binary:
            replace_file(compiled, binary)
        lines = [f"{each}; shown in English" if each.breaks else str(each) for each in problems]
        left = sum(not entry.obsolete and not entry.translated() for entry in catalog)
    return {"files": [source, _digest(compiled)], "problems": lines, "left": left}


def count_left(doctrees: Path) -> int:
    """Return how many messages the catalogs of a finished build do not translate, or as fuzzy."""
    with contextlib.suppress(OSError, ValueError):  # a build without catalogs
        notes = json.loads((doctrees / NOTES).read_bytes())
        return sum(note["left"] for note in notes["catalogs"].values())
    return 0


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def labels_now(env: BuildEnvironment) -> str:
    """Return hashes of all labels in the language of this build, for pages to watch."""
    domains = label_domains(env.config)
    files = [folder / f"{each}.mo" for folder in catalog_folders(env) for each in domains]
    files += filter(None, [shipped_labels(env.config.language)])
    return " ".join(map(_digest, files))


def catalog_folders(env: BuildEnvironment) -> list[Path]:
    """Return the folders in which the catalogs of this build's language lie."""
    locales = locale_dirs(env.config, Path(env.srcdir))
    return [catalog_folder(each, env.config.language) for each in locales]


def has_catalog(env: BuildEnvironment, docname: str) -> bool:
    """Tell whether a page has a catalog, for it to watch; Sphinx sees only those that change."""
    return catalog_path(env, docname).with_suffix(".mo").exists()


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
        warn(GalleryError(text, path=path, remedy=remedy))


def warn(problem: object) -> None:
    """Warn of a problem of a catalog."""
    logger.warning("%s", problem, type="recipe_gallery", subtype="catalog")


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


def page_translations(env: BuildEnvironment, docname: str) -> dict[str, str]:
    """Return the messages of a page's catalog that are translated."""
    if docname_to_domain(docname, env.config.gettext_compact) in label_domains(env.config):
        return {}  # a page that is called like one of labels
    messages = loaded_messages(_load_catalog(env, docname)).items()
    return {text: translation for text, translation in messages if text and translation}


def translate(env: BuildEnvironment, docname: str, text: str) -> str:
    """Return a message of a page, which is prose, in the language of this build."""
    keep_fit(env, docname, {text: {Kind.PROSE}})
    return _load_catalog(env, docname).gettext(text) or text


def keep_fit(env: BuildEnvironment, docname: str, kinds: Kinds) -> None:
    """Remove the loaded messages of a page that would break it, being of these kinds; tell them."""
    from .checks.page import drop_unfit

    language = current_language(env.config)
    unfit = dict(drop_unfit(_load_catalog(env, docname), kinds, language))
    if unfit:
        path = catalog_path(env, docname)
        lines = find_lines(path)
        for text, problem in unfit.items():
            told = f"{problem}; shown in English"
            warn(GalleryError(told, path=path, line=lines.get(text)))


def find_lines(path: Path) -> dict[str, int]:
    """Return the lines of a catalog's messages; of one that stands twice, the first one counts."""
    with contextlib.suppress(GalleryError):
        catalog = read_catalog(path)
        return {each.msgid: line_of(each) for each in reversed(catalog) if not each.obsolete}
    return {}


def _load_catalog(env: BuildEnvironment, docname: str) -> gettext.NullTranslations:
    domain = docname_to_domain(docname, env.config.gettext_compact)
    if ("general", domain) in translators:  # to load it again would chain it to itself
        return translators["general", domain]
    folders = locale_dirs(env.config, Path(env.srcdir))
    return load_catalog(folders, env.config.language, domain)[0]

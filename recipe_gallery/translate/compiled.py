"""Compile the catalogs of a build, without what would spoil a page, and load them.

Sphinx would take a catalog as it is. Here each is checked first; a message that would spoil its
page is reported and left out of the compiled catalog, so that readers get the English text for it.
"""

import gettext
import hashlib
import json
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.locale import init as load_catalog
from sphinx.locale import translators
from sphinx.util import logging
from sphinx.util.i18n import docname_to_domain

from ..languages import Language, current_language, is_listed, is_translated, locale_dirs
from ..project import GalleryError, code_digest, suggest
from .catalogs import (
    ENGINE,
    ENGINE_LOCALE,
    catalog_folder,
    domain_of,
    find_catalogs,
    label_domains,
    line_of,
    loaded_messages,
    replace_file,
)
from .checks.run import BREAKING, check_catalog

logger = logging.getLogger(__name__)


def compile_catalogs(app: Sphinx, config: Config) -> None:
    """Compile the catalogs of this build's language that changed, and load the labels."""
    config.gettext_auto_build = False  # Sphinx would compile what is broken, too
    if not is_translated(config):
        return
    language = current_language(config)
    labels = label_domains(config)
    folders = locale_dirs(config, Path(app.srcdir))
    first = catalog_folder(folders[0], language.code)
    if is_listed(app, config) and not first.is_dir():
        _warn(_missing(first, "no catalogs, so everything is in English", language.code))
    for locale in folders:
        folder = catalog_folder(locale, language.code)
        for compiled in folder.rglob("*.mo"):
            if not compiled.with_suffix(".po").exists():
                compiled.unlink()  # its translations would live on
                _note_of(compiled).unlink(missing_ok=True)
        for path in find_catalogs(locale, language.code):
            for line in compile_catalog(path, language, labels):
                _warn(line)
        for domain in labels[:-1]:  # Sphinx loads sphinx.po itself
            app.add_message_catalog(domain, str(locale))
    _load_shipped_labels(app, language)


def _load_shipped_labels(app: Sphinx, language: Language) -> None:
    """Load the engine's own labels, after those of the project, which go before them."""
    path = shipped_labels(language.code)
    if path:
        # Not beside the catalog: an installed package may be where nothing can be written.
        locale = Path(app.doctreedir, "labels")
        compiled = catalog_folder(locale, path.parts[-3]) / f"{ENGINE}.mo"
        for line in compile_catalog(path, language, (ENGINE,), compiled):
            _warn(line)
        app.add_message_catalog(ENGINE, str(locale))


def shipped_labels(code: str) -> Path | None:
    """Return the catalog of the engine's labels for a language such as pt_BR, or else for pt."""
    paths = (
        catalog_folder(ENGINE_LOCALE, each) / f"{ENGINE}.po"
        for each in (code, code.partition("_")[0])
    )
    return next((path for path in paths if path.exists()), None)


def compile_catalog(
    path: Path, language: Language, labels: Collection[str], compiled: Path | None = None
) -> list[str]:
    """Write the ``.mo`` of a catalog if it is not current; return what is wrong, line by line.

    ``labels`` are the names of catalogs of labels. The ``.mo`` goes beside the catalog unless
    ``compiled`` says otherwise. It is replaced only when its content changes, because Sphinx reads
    a page again when it is newer. A note beside it tells what it was made from, and the problems
    for the next build to repeat. That one file is newer than the other would not do, because other
    programs write ``.mo`` files too.
    """
    compiled = compiled or path.with_suffix(".mo")
    note = _note_of(compiled)
    known = _read_note(note)
    times = _times(path, compiled)
    rules = hashlib.sha256(code_digest() + repr((language, labels)).encode()).hexdigest()
    if known.get("rules") == rules and known.get("times") == times:
        return list(known["problems"])
    content = _digest(path, compiled)
    if known.get("rules") == rules and known.get("content") == content:
        lines = list(known["problems"])
    else:
        catalog, problems = check_catalog(path, language, labels, BREAKING)
        if catalog is None:
            compiled.unlink(missing_ok=True)
            note.unlink(missing_ok=True)
            return [f"{problems[0]}; the page is shown in English"]
        bad = {problem.line for problem in problems if problem.breaks}
        if domain_of(path) == "sphinx":
            # Sphinx loaded this one by itself, unchecked, before any extension ran.
            loaded = loaded_messages(translators["general", "sphinx"])
            for entry in catalog:
                if line_of(entry) in bad:
                    loaded.pop(entry.msgid, None)
        catalog[:] = [entry for entry in catalog if line_of(entry) not in bad]
        binary = catalog.to_binary()
        if not compiled.exists() or compiled.read_bytes() != binary:
            replace_file(compiled, binary)
        lines = [f"{each}; shown in English" if each.breaks else str(each) for each in problems]
        content = _digest(path, compiled)
    # The time of the catalog is that before it was read: what was saved since is seen next time.
    made = {"rules": rules, "content": content, "problems": lines}
    made["times"] = [times[0], _times(path, compiled)[1]]
    replace_file(note, json.dumps(made, ensure_ascii=False).encode())
    return lines


def _note_of(compiled: Path) -> Path:
    return compiled.with_suffix(".mo.json")


def _times(*files: Path) -> list[list[int]]:
    """Return time and size of each file, nothing of one that is missing."""
    found = (file.stat() if file.exists() else None for file in files)
    return [[each.st_mtime_ns, each.st_size] if each else [] for each in found]


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() if file.exists() else b"missing")
        digest.update(b"\0")
    return digest.hexdigest()


def _read_note(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return {}


def labels_now(env: BuildEnvironment) -> str:
    """Return a hash of all labels in the language of this build, for pages to watch."""
    config = env.config
    folders = [
        catalog_folder(each, config.language) for each in locale_dirs(config, Path(env.srcdir))
    ]
    files = [folder / f"{domain}.mo" for folder in folders for domain in label_domains(config)]
    shipped = shipped_labels(config.language)
    return _hash_labels(
        tuple((file, *_times(file)[0]) for file in [*files, *filter(None, [shipped])])
    )


@lru_cache(maxsize=4)
def _hash_labels(files: tuple[tuple[Any, ...], ...]) -> str:
    return _digest(*(file for file, *_time in files))


def has_catalog(env: BuildEnvironment, docname: str) -> bool:
    """Tell whether a page has a catalog, for it to watch; Sphinx sees only those that change."""
    return compiled_path(env.config, Path(env.srcdir), docname).exists()


def report_missing(app: Sphinx, env: BuildEnvironment) -> None:
    """Tell which pages have no catalog in a language that ``languages.toml`` lists."""
    code, srcdir = app.config.language, Path(app.srcdir)
    if not is_translated(app.config) or not is_listed(app, app.config):
        return
    if catalog_folder(locale_dirs(app.config, srcdir)[0], code).is_dir():
        for docname in sorted(env.found_docs):
            path = compiled_path(app.config, srcdir, docname).with_suffix(".po")
            if not path.exists():
                _warn(_missing(path, "no such catalog, so the page is in English", code))


def _missing(path: Path, text: str, code: str) -> GalleryError:
    return GalleryError(text, path=path, remedy=f"run: {suggest('update-po', code)}")


def _warn(problem: object) -> None:
    logger.warning("%s", problem, type="recipe_gallery", subtype="catalog")


def compiled_path(config: Config, srcdir: Path, docname: str) -> Path:
    """Return where the compiled catalog of a page lies."""
    folder = catalog_folder(locale_dirs(config, srcdir)[0], config.language)
    return folder / f"{docname_to_domain(docname, config.gettext_compact)}.mo"


def load_page_catalog(config: Config, srcdir: Path, docname: str) -> gettext.NullTranslations:
    """Return the compiled catalog of a page, loaded once in a build; an empty one if none is."""
    domain = docname_to_domain(docname, config.gettext_compact)
    if ("general", domain) in translators:  # to load it again would chain it to itself
        return translators["general", domain]
    return load_catalog(locale_dirs(config, srcdir), config.language, domain)[0]


def translate(config: Config, srcdir: Path, docname: str, text: str) -> str:
    """Return a message of a page in the language of this build."""
    return load_page_catalog(config, srcdir, docname).gettext(text) or text

"""What a build does with catalogs: show what is fit for readers, and say what is not translated.

Sphinx would take a catalog as it is. Here each is checked first; a message that would spoil its
page is reported and left out of the compiled catalog, so that readers get the English text for it.
"""

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError
from sphinx.locale import get_translation, translators
from sphinx.locale import init as init_catalog
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.i18n import docname_to_domain
from sphinx.util.nodes import extract_messages

from .. import Priority
from ..languages import (
    FILE_NAME,
    PSEUDO_CODE,
    Language,
    current_language,
    format_percent,
    is_translated,
    load_languages,
    source_language,
)
from ..project import GalleryError, code_digest
from ..recipes.cells import DATA_CLASS, OUTPUT_CLASS
from .catalogs import (
    INTERFACE,
    catalog_folder,
    count_words,
    find_catalogs,
    percent_done,
    read_catalog,
    replace_file,
)
from .checks.run import BREAKING, check_catalog, line_of

_ = get_translation("recipe_gallery")
logger = logging.getLogger(__name__)


def set_languages(app: Sphinx, config: Config) -> None:
    """Read ``languages.toml``; derive the address of this language's site."""
    try:
        config.recipe_gallery_languages = load_languages(Path(app.confdir))
    except GalleryError as error:
        raise ConfigError(str(error)) from None
    code = config.language
    if code == PSEUDO_CODE:
        config.recipe_gallery_languages[code] = Language(code=code, name="Pseudo", published=False)
    if code not in config.recipe_gallery_languages:
        logger.warning(
            "no language %r in %s; to add it: make new-language LANGUAGE=%s",
            code,
            FILE_NAME,
            code,
            type="recipe_gallery",
            subtype="language",
        )
        config.recipe_gallery_languages[code] = Language(code=code, name=code)
    config.gettext_auto_build = False  # compile_catalogs does it, and leaves out what is broken
    if not config.html_baseurl:
        config.html_baseurl = config.recipe_gallery_languages[code].address(
            config.recipe_gallery_site_url
        )


def compile_catalogs(app: Sphinx, config: Config) -> None:
    """Compile the catalogs of this build's language that changed, and load the package's own."""
    if not is_translated(config):
        return
    for name in config.locale_dirs:
        locale = Path(app.srcdir, name)
        language = current_language(config)
        folder = catalog_folder(locale, language.code)
        if not folder.is_dir():
            _warn(
                f"{folder}: no catalogs, so everything is in English; "
                f"run: make update-po LANGUAGE={language.code}"
            )
        for compiled in folder.rglob("*.mo"):
            if not compiled.with_suffix(".po").exists():
                compiled.unlink()  # its translations would live on
                compiled.with_suffix(".mo.json").unlink(missing_ok=True)
        for path in find_catalogs(locale, language.code):
            for line in compile_catalog(path, language):
                _warn(line)
        for domain in INTERFACE[:2]:
            app.add_message_catalog(domain, str(locale))


def compile_catalog(path: Path, language: Language) -> list[str]:
    """Write the ``.mo`` beside a catalog if it is not current; return what is wrong, line by line.

    The file is replaced only when its content changes, because Sphinx reads a page again when it is
    newer. A note beside it tells what it was made from, and the problems for the next build to
    repeat; times would not do, because other programs write ``.mo`` files too.
    """
    compiled, note = path.with_suffix(".mo"), path.with_suffix(".mo.json")
    known = _read_note(note)
    if known.get("state") == _state(path, compiled, language):
        return list(known["problems"])
    catalog, problems = check_catalog(path, language, BREAKING)
    if catalog is None:
        compiled.unlink(missing_ok=True)
        note.unlink(missing_ok=True)
        return [f"{problems[0]}; the page is shown in English"]
    bad = {problem.line for problem in problems if problem.breaks}
    if path.stem == "sphinx":
        # Sphinx has compiled and loaded this one by itself, unchecked, before any extension ran.
        loaded = getattr(translators.get(("general", "sphinx")), "_catalog", {})
        for entry in catalog:
            if entry.linenum in bad:
                loaded.pop(entry.msgid, None)
    catalog[:] = [entry for entry in catalog if entry.linenum not in bad]
    content = catalog.to_binary()
    if not compiled.exists() or compiled.read_bytes() != content:
        replace_file(compiled, content)
    lines = [
        f"{problem}; shown in English" if problem.breaks else str(problem) for problem in problems
    ]
    state = {"state": _state(path, compiled, language), "problems": lines}
    replace_file(note, json.dumps(state, ensure_ascii=False).encode())
    return lines


def _state(path: Path, compiled: Path, language: Language) -> str:
    """Return a hash of all that a compiled catalog comes from, and of itself."""
    digest = hashlib.sha256(code_digest() + repr(language).encode())
    for file in (path, compiled):
        digest.update(file.read_bytes() if file.exists() else b"missing")
        digest.update(b"\0")
    return digest.hexdigest()


def _read_note(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def pages_with_old_labels(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> set[str]:
    """Return all pages if a label of the interface is translated otherwise by now."""
    digest = hashlib.sha256()
    for name in app.config.locale_dirs:
        folder = catalog_folder(Path(app.srcdir, name), app.config.language)
        for domain in INTERFACE:
            file = folder / f"{domain}.mo"
            digest.update(file.read_bytes() if file.exists() else b"missing")
    known = env.__dict__.get("recipe_gallery_labels", digest.hexdigest())
    env.__dict__["recipe_gallery_labels"] = digest.hexdigest()
    return set() if known == digest.hexdigest() else set(env.found_docs)


def pages_with_lost_catalogs(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Return the pages whose catalog came or went; Sphinx sees only those that changed."""
    if not is_translated(app.config):
        return []
    return [
        docname
        for docname, metadata in env.metadata.items()
        if metadata.get("catalog")
        != compiled_catalog(app.config, Path(app.srcdir), docname).exists()
    ]


def report_missing(app: Sphinx, env: BuildEnvironment) -> None:
    """Tell which pages have no catalog at all."""
    if not is_translated(app.config):
        return
    code = app.config.language
    folder = catalog_folder(Path(app.srcdir, app.config.locale_dirs[0]), code)
    for docname in sorted(env.found_docs) if folder.is_dir() else []:
        path = compiled_catalog(app.config, Path(app.srcdir), docname).with_suffix(".po")
        if not path.exists():
            _warn(
                f"{path}: no such catalog, so the page is in English; "
                f"run: make update-po LANGUAGE={code}"
            )


def _warn(text: str) -> None:
    logger.warning("%s", text, type="recipe_gallery", subtype="catalog")


def translate(config: Config, srcdir: Path, docname: str, text: str) -> str:
    """Return a message of another page in the language of this build."""
    dirs = [Path(srcdir, name) for name in config.locale_dirs]
    domain = docname_to_domain(docname, config.gettext_compact)
    catalog, _found = init_catalog(dirs, config.language, domain)
    return catalog.gettext(text) or text


def compiled_catalog(config: Config, srcdir: Path, docname: str) -> Path:
    """Return where the compiled catalog of a page lies, for Sphinx to watch."""
    folder = catalog_folder(Path(srcdir, config.locale_dirs[0]), config.language)
    return folder / f"{docname_to_domain(docname, config.gettext_compact)}.mo"


class PrepareTranslation(SphinxTransform):
    """Before Sphinx translates a page: see what is missing, and let words touch markup."""

    default_priority = Priority.PREPARE_TRANSLATION

    def apply(self, **kwargs: Any) -> None:
        """Note the share translated in the document; report messages the page has no longer."""
        if not is_translated(self.config):
            return
        language = current_language(self.config)
        compiled = compiled_catalog(self.config, self.env.srcdir, self.env.docname)
        self.env.metadata[self.env.docname]["catalog"] = compiled.exists()
        self.document.settings.character_level_inline_markup = language.glue
        found = list(extract_messages(self.document))
        messages = {text for _node, text in found}
        catalog = self._read()
        left = messages - catalog.keys()
        self.document["untranslated"] = [
            node for node, text in found if text in left and isinstance(node, nodes.TextElement)
        ]
        self.document["percent"] = percent_done(
            sum(map(count_words, messages)), sum(map(count_words, left))
        )
        if gone := sorted(catalog.keys() - messages):
            self._report(gone)

    def _read(self) -> dict[str, str]:
        dirs = [Path(self.env.srcdir, name) for name in self.config.locale_dirs]
        domain = docname_to_domain(self.env.docname, self.config.gettext_compact)
        if domain in INTERFACE:
            return {}
        catalog, found = init_catalog(dirs, self.config.language, domain)
        entries = getattr(catalog, "_catalog", {}) if found else {}
        return {text: translation for text, translation in entries.items() if text and translation}

    def _report(self, texts: Sequence[str]) -> None:
        path = compiled_catalog(self.config, self.env.srcdir, self.env.docname).with_suffix(".po")
        lines: dict[str, int] = {}
        with contextlib.suppress(GalleryError):
            # Of a message that stands twice, the first one counts.
            lines = {entry.msgid: line_of(entry) for entry in reversed(read_catalog(path))}
        for text in texts:
            short = text if len(text) < 60 else f"{text[:57]}..."
            _warn(
                f"{path}:{lines.get(text, 1)}: the page does not have this message any more: "
                f"{short!r}; run: make update-po LANGUAGE={self.config.language}"
            )


class MarkUntranslated(SphinxTransform):
    """After Sphinx translated a page: mark what is English still, and say so on top."""

    default_priority = Priority.MARK_UNTRANSLATED

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place."""
        if "percent" not in self.document:
            return
        self.document.settings.character_level_inline_markup = False
        left = self.document.attributes.pop("untranslated")
        percent = self.document.attributes.pop("percent")
        tag = f"language-{source_language(self.config).tag}"  # docutils writes it as lang="..."
        for node in self.document.findall(nodes.Element):
            if {DATA_CLASS, OUTPUT_CLASS} & set(node.get("classes", ())):
                node["classes"].append(tag)
        if percent == 100:
            return
        for node in left:
            node["classes"].append(tag)
        title = next(iter(self.document.findall(nodes.title)), None)
        if title is not None:
            title.parent.insert(title.parent.index(title) + 1, self._note(percent))

    def _note(self, percent: int) -> nodes.Node:
        catalog = compiled_catalog(self.config, Path(), self.env.docname).with_suffix(".po")
        text = _("%(percent)s of this page is translated; the rest is in English.") % {
            "percent": format_percent(percent / 100, current_language(self.config).locale)
        }
        paragraph = nodes.paragraph("", text + " ")
        if self.config.recipe_gallery_repository_url:
            repository = self.config.recipe_gallery_repository_url
            branch = self.config.recipe_gallery_repository_branch
            address = f"{repository}/edit/{branch}/{catalog.as_posix()}"
            paragraph += nodes.reference("", _("Help translating"), refuri=address)
        return nodes.note("", paragraph, classes=["translation-note"])

"""Translate comments in the code of a page, and mark the text that is not translated.

A block of code stays as it is while Sphinx translates the page. Beside it stands a helper node for
each paragraph of comments, which Sphinx extracts and translates like any other text. Once that is
done, the translations are written into the block and the helpers are removed.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.i18n import docname_to_domain
from sphinx.util.nodes import extract_messages

from ..cell_marks import (
    DATA_CLASS,
    OUTPUT_CLASS,
    code_in_text,
    code_of_cells,
    folded_cell,
    set_code,
)
from ..errors import GalleryError, suggest
from ..gate import acts_of, take_out
from ..languages import (
    current_language,
    format_percent,
    is_translated,
    locale_dirs,
    source_language,
)
from ..recipes.gallery import find_file
from ..recipes.recording import find_data
from ..recipes.rows import MIME, parse
from ..recorded_page import RecordedPage, load_page
from ..store import store_of, watch
from .catalogs import Kind, count_words, is_wordless, shorten
from .comments import find_comments, replace_comments
from .compile import (
    Kinds,
    catalog_path,
    drop_unfit,
    edit_address,
    find_lines,
    find_message,
    has_catalog,
    kind_of_node,
    labels_now,
    page_translations,
)
from .module_comments import name_module

_ = get_translation("recipe_gallery")


class hidden_message(addnodes.translatable, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A message that stands in no text of the page, ``original``; Sphinx looks for no markup."""

    def preserve_original_messages(self) -> None:
        """Do nothing: ``original`` is set from the start."""

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Keep the translation until it is written into the block."""
        self["translation"] = translated_message

    def extract_original_messages(self) -> Sequence[str]:
        """Return the message."""
        return [self["original"]]


class code_comment(hidden_message, nodes.literal_block):  # noqa: N801
    """A paragraph of a comment beside its block."""


class row_name(hidden_message):  # noqa: N801
    """What a recipe calls a case, a variant or a size of what it measured."""


class fold_summary(code_comment):  # noqa: N801
    """The summary of a folded cell, before its code."""


def add_comments(env: BuildEnvironment, document: nodes.document) -> None:
    """Put helper nodes for comments before each block of code, of a cell or in a text."""
    for block in code_in_text(document):
        _add_comments_of(block, block.source, block.line or 0)
    file = find_file(env.config, Path(env.srcdir), env.docname)
    if file is None:
        return
    for block in code_of_cells(document):
        if isinstance(block.parent, folded_cell):
            summary = fold_summary("", "", original=block.parent["summary"])
            summary.source, summary.line = str(file.path), block["recipe_line"]
            block.parent.insert(0, summary)
        if "recipe_module" in block:
            continue  # all pages that show the module share its catalog
        _add_comments_of(block, str(file.path), block["recipe_line"])


def _add_comments_of(block: nodes.literal_block, source: str | None, line: int) -> None:
    helpers = []
    for comment in find_comments(block.astext()):
        helpers.append(code_comment("", "", original=comment.text))
        helpers[-1].source, helpers[-1].line = source, line + comment.first
    at = block.parent.index(block)
    block.parent[at:at] = helpers


def add_names(env: BuildEnvironment, document: nodes.document) -> None:
    """Put helper nodes for the names of what a recipe measured, which tables and charts show."""
    page = load_page(env, env.docname)
    if not isinstance(page, RecordedPage):
        return
    words: dict[str, str] = {}
    for _cell, data in find_data(page.recording.notebook):
        with suppress(ValueError):  # the page tells it
            is_named = '"arm"' not in json.dumps(data.get(MIME))  # elsewhere, by ``.. names::``
            for row in parse(data[MIME]).rows if MIME in data and is_named else ():
                found = row.case, row.sizes, row.size or "", row.variant
                words |= dict.fromkeys(map(str, found), "")
    for word in words:
        if not is_wordless(word):
            document += row_name("", original=word)
            document[-1].source, document[-1].line = str(page.recording.path), 0


def find_name(app: Sphinx, docname: str, kind: str, word: str) -> str | None:
    """Return the translation of a name in a recipe's rows, None where there is none."""
    found = find_message(app.env, docname, word) if kind == "name" else word
    return None if found == word else found


def prepare_translation(env: BuildEnvironment, document: nodes.document) -> None:
    """Before Sphinx translates a page: see what is missing, and let words touch markup.

    Notes the share translated in the document; reports messages the page has no longer.
    """
    docname = env.docname
    if not is_translated(env.config):
        return
    watch(env, labels_now)
    watch(env, has_catalog, docname)
    settings = document.settings
    settings.character_level_inline_markup = current_language(env.config).words_touch_markup
    # Directives in a catalog are refused; should Sphinx find one all the same, it reads no file
    document["trusted"] = settings.raw_enabled, settings.file_insertion_enabled
    settings.raw_enabled = settings.file_insertion_enabled = False
    document["acts"] = {act for node in document.findall(nodes.Element) for act in acts_of(node)}
    found = list(extract_messages(document))
    kinds: dict[str, set[Kind | None]] = defaultdict(set)
    for node, text in found:
        is_comment = isinstance(node, code_comment)
        kinds[text].add(Kind.COMMENT if is_comment else kind_of_node(node, text))
    keep_fit(env, docname, kinds)
    messages = kinds.keys()
    catalog = page_translations(env, docname)
    left = messages - catalog.keys()
    document["untranslated"] = [
        node for node, text in found if text in left and isinstance(node, nodes.TextElement)
    ]
    words, words_left = (sum(map(count_words, part)) for part in (messages, left))
    document["percent"] = 100 * (words - words_left) // words if words_left else 100
    tell_differences(env, messages, catalog.keys())


def keep_fit(env: BuildEnvironment, docname: str, kinds: Kinds) -> None:
    """Keep messages of a page, being of these kinds, that do not spoil it; note the others.

    What is noted with the page at hand is told in every build, whether it is read again or not.
    """
    store_of(env).pages[env.docname].problems += map(str, drop_unfit(env, docname, kinds))


def tell_differences(
    env: BuildEnvironment, messages: Collection[str], translated: Collection[str]
) -> None:
    """Note which messages the page or its catalog has alone."""
    docname = env.docname
    # With gettext_compact, as Sphinx has it, the pages of a folder share a catalog.
    if docname_to_domain(docname, env.config.gettext_compact) != docname:
        return
    path = catalog_path(env, docname)
    update = f"run: {suggest('update-po', env.config.language)}"
    told, lines = [], find_lines(path)
    for text in sorted(set(translated) - set(messages)):
        problem = f"the page does not have this message any more: {shorten(text)}"
        told.append(GalleryError(problem, path=path, line=lines.get(text), remedy=update))
    # Who writes catalogs without `update-po`, which keeps templates, may leave some out.
    is_whole = Path(locale_dirs(env.config, Path(env.srcdir))[0], "templates").is_dir()
    absent = [text for text in messages if text not in lines and not is_wordless(text)]
    if is_whole and absent and has_catalog(env, docname):
        problem = f"messages of the page are missing: {len(absent)}, as {shorten(absent[0])}"
        told.append(GalleryError(problem, path=path, remedy=update))
    store_of(env).pages[docname].problems += map(str, told)


def take_out_new(env: BuildEnvironment, document: nodes.document) -> None:
    """Take out of a translated page what its source has not, should it have passed all checks."""
    if "acts" not in document:
        return
    for words in take_out(document, document.attributes.pop("acts")):
        told = f"{shorten(words)} would be more than words on the page; shown as words"
        error = GalleryError(told, path=catalog_path(env, env.docname))
        store_of(env).pages[env.docname].problems.append(str(error))


def mark_untranslated(env: BuildEnvironment, document: nodes.document) -> None:
    """After Sphinx translated a page: mark what is English still, and say so on top."""
    if "percent" not in document:
        return
    settings = document.settings
    settings.character_level_inline_markup = False
    trusted = document.attributes.pop("trusted")
    settings.raw_enabled, settings.file_insertion_enabled = trusted
    left = document.attributes.pop("untranslated")
    percent = document.attributes.pop("percent")
    tag = f"language-{source_language(env.config).tag}"  # docutils writes it as lang="..."
    for node in document.findall(nodes.Element):
        if {DATA_CLASS, OUTPUT_CLASS} & set(node.get("classes", ())):
            node["classes"].append(tag)
    if percent == 100:
        return
    for node in left:
        node["classes"].append(tag)
    title = next(iter(document.findall(nodes.title)), None)
    if title is not None:
        title.parent.insert(title.parent.index(title) + 1, _make_note(env, percent))


def _make_note(env: BuildEnvironment, percent: int) -> nodes.Node:
    text = _("%(percent)s of this page is translated; the rest is in English.") % {
        "percent": format_percent(percent / 100, current_language(env.config).locale)
    }
    paragraph = nodes.paragraph("", text + " ")
    if address := edit_address(env, catalog_path(env, env.docname)):
        paragraph += nodes.reference("", _("Help translating"), refuri=address)
    return nodes.note("", paragraph, classes=["translation-note"])


def write_comments(env: BuildEnvironment, document: nodes.document) -> None:
    """Write translated comments into the blocks and remove the helper nodes."""
    for helper in list(document.findall(fold_summary)):
        folded = helper.parent
        folded["summary"] = helper.get("translation") or helper["original"]
        folded["summary_classes"] = helper["classes"]
        folded.remove(helper)
    translations: dict[str, str] = {}
    for helper in list(document.findall(hidden_message)):
        translations[helper["original"]] = helper.get("translation", "")
        helper.parent.remove(helper)
    for block in [*code_in_text(document), *code_of_cells(document)]:
        found, is_module = translations, "recipe_module" in block
        if is_module:
            found = _translate_module(env, Path(block["recipe_module"][0]))
        if not any(found.values()):
            continue
        refused: dict[str, str] = {}
        code = replace_comments(block.astext(), found, is_module=is_module, refused=refused)
        set_code(block, code)
        for text, problem in refused.items():
            module = Path(block["recipe_module"][0]) if is_module else None
            path = catalog_path(env, name_module(env.docname, module) if module else env.docname)
            told, line = (
                f"the translation is {problem}; shown in English",
                find_lines(path).get(text),
            )
            error = GalleryError(told, path=path, line=line)
            store_of(env).pages[env.docname].problems.append(str(error))


def _translate_module(env: BuildEnvironment, path: Path) -> dict[str, str]:
    """Return the translated comments of a module; the page is read again when they change."""
    if not is_translated(env.config):
        return {}
    name = name_module(env.docname, path)
    texts = page_translations(env, name)
    keep_fit(env, name, {text: {Kind.COMMENT} for text in texts})
    return watch(env, page_translations, name)

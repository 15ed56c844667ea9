"""Translate comments in the code of a page, and mark the text that is not translated.

A block of code is not changed while Sphinx translates the page. Each paragraph of its comments has
a helper node beside the block, which Sphinx extracts and translates like any other text. Afterwards
the translations are written into the block and the helpers are removed.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import polib
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.nodes import extract_messages

from ..dates_and_numbers import format_percent
from ..errors import GalleryError
from ..languages import Language, is_translated, locale_folder
from ..measurements.rows import find_rows
from ..measurements.spans import find_spans
from ..page_nodes import (
    DATA_CLASS,
    OUTPUT_CLASS,
    code_in_text,
    code_of_cells,
    diffs_in_text,
    folded_cell,
    set_code,
)
from ..recipes.recorded_recipe import RecipePage, RecordedPage
from ..recipes.recording import find_data
from ..store import hash_file, note_problem, once, watch
from .catalogs import Kind, count_words, is_wordless, line_of, percent_done, shorten
from .checks import compare_with_page
from .code_comments import (
    Comment,
    find_comments,
    find_diff_comments,
    replace_comments,
    replace_diff_comments,
)
from .equivalents import is_same_page
from .loading import (
    catalog_path,
    drop_unsafe,
    entries_now,
    find_message,
    install_messages,
    labels_now,
    read_entries,
    repository_address,
)

_ = get_translation("sphinx_recorded_gallery")


class hidden_message(addnodes.translatable, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A message, ``original``, that is not part of the page's text; Sphinx expects no markup."""

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


class row_name(hidden_message, nodes.literal_block):  # noqa: N801
    """The name of a case, a variant or a size in the rows of a recipe.

    Sphinx parses the translation of anything but a literal block, and would run a directive in it.
    """


class fold_summary(code_comment):  # noqa: N801
    """The summary of a folded cell, before its code."""


@dataclass(kw_only=True)
class PageTranslation:
    """State that the transforms of one page share while it is translated."""

    raw_enabled: bool  # docutils' settings, switched off meanwhile
    file_insertion_enabled: bool
    effects: set[tuple[str, str]]  # effects of the source page, see _effects_of
    messages: list[tuple[nodes.TextElement, str, str | None]]  # node, source text, translation
    percent: int  # share of words that are translated


# Attribute of a document with its PageTranslation, until it is translated
_STATE = "page_translation"


def add_comments(env: BuildEnvironment, document: nodes.document) -> None:
    """Put helper nodes for comments before each block of code, in cells and in texts."""
    for block in code_in_text(document):
        comments = find_comments(block.astext())
        _add_helpers(block, comments, block.source, block.line)
    for block in diffs_in_text(document):
        comments = find_diff_comments(block.astext())
        _add_helpers(block, comments, block.source, block.line)
    for block in code_of_cells(document):
        if isinstance(block.parent, folded_cell):
            summary = fold_summary("", "", original=block.parent["summary"])
            summary.source = block.source
            summary.line = block.line
            block.parent.insert(0, summary)
        source, line = block.get("recipe_module", (block.source, block.line))
        comments = find_comments(block.astext(), is_module="recipe_module" in block)
        _add_helpers(block, comments, source, line)


def _add_helpers(
    block: nodes.literal_block, comments: Sequence[Comment], source: str | None, line: int | None
) -> None:
    """Put a helper node for each comment before its block of code."""
    helpers = []
    is_module = "recipe_module" in block
    for comment in comments:
        helper = code_comment("", "", original=comment.text, is_of_module=is_module)
        helper.source = source
        helper.line = (line or 0) + comment.first
        helpers.append(helper)
    place = block.parent.index(block)
    block.parent[place:place] = helpers


def add_names(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put helper nodes for the names in a recipe's rows, which tables and charts show."""
    if not isinstance(page, RecordedPage):
        return
    words: dict[str, None] = {}  # in order, without repetitions
    for _cell, data in find_data(page.recording.notebook):
        for row in find_rows(data):
            for name in (row.case, row.size_name, row.size or "", row.variant):
                words[str(name)] = None
        spans = find_spans(data)
        if spans:
            for name in (spans.case, *spans.lanes):
                words[name] = None
    for word in words:
        if not is_wordless(word):
            helper = row_name("", original=word)
            helper.source = str(page.recording.path)
            helper.line = 0
            document += helper


def find_name(app: Sphinx, docname: str, kind: str, word: str) -> str | None:
    """Return the translation of a name in a recipe's rows, or None."""
    if kind != "name":
        return None
    translation = find_message(app.env, docname, word, Kind.NAME)
    return None if translation == word else translation


def prepare_translation(env: BuildEnvironment, document: nodes.document) -> None:
    """Before Sphinx translates a page, hand it the safe messages.

    Notes problems of the page's catalog, and the state for later transforms.
    """
    if not is_translated(env.config):
        install_messages(env, [])  # removes those of another build in this process
        return
    language = Language.current(env.config)
    path = catalog_path(env, env.docname)
    watch(env, labels_now)
    watch(env, hash_file, str(path))
    messages = list(extract_messages(document))
    kinds: dict[str, set[Kind]] = defaultdict(set)
    for node, text in messages:
        kinds[text].add(_kind_of(node))

    entries, problems = read_entries(path)
    if not problems:
        problems += _compare_with_page(env, path, entries, kinds)
    problems += drop_unsafe(path, entries, kinds, language)
    for problem in problems:
        note_problem(env, problem)
    translations = install_messages(env, entries)

    # A page counts as translated even if comments of a folded module are not.
    own_texts = {text for node, text in messages if not node.get("is_of_module")}
    words = words_left = 0
    for text in own_texts:
        words += count_words(text)
        if text not in translations:
            words_left += count_words(text)
    text_messages = []
    for node, text in messages:
        if isinstance(node, nodes.TextElement):
            text_messages.append((node, text, translations.get(text)))
    settings = document.settings
    document[_STATE] = PageTranslation(
        raw_enabled=settings.raw_enabled,
        file_insertion_enabled=settings.file_insertion_enabled,
        effects=_effects_of_page(document),
        messages=text_messages,
        percent=percent_done(words, words_left),
    )
    settings.character_level_inline_markup = language.words_touch_markup
    # Directives in a catalog are refused; if one got through, it could not read files.
    settings.raw_enabled = False
    settings.file_insertion_enabled = False


def _compare_with_page(
    env: BuildEnvironment, path: Path, entries: list[polib.POEntry], texts: Collection[str]
) -> list[str]:
    """Return the differences between the messages of a page and of its catalog."""
    # Catalogs that were written without `update-po`, so without templates, may be incomplete.
    has_templates = (locale_folder(env.config, Path(env.srcdir)) / "templates").is_dir()
    differences = compare_with_page(path, entries, list(texts), env.config.language)
    problems = []
    for difference in differences:
        if has_templates or difference.check == "unknown":
            problems.append(str(difference))
    return problems


def _kind_of(node: nodes.Element) -> Kind:
    """Return the kind of a node's message."""
    if isinstance(node, row_name):
        return Kind.NAME
    if isinstance(node, hidden_message):
        return Kind.COMMENT
    if isinstance(node, nodes.math_block):
        return Kind.FORMULA
    return Kind.PROSE


def _note_refusal(env: BuildEnvironment, text: str, reason: str) -> None:
    """Note that a translation is not shown as it is; ``text`` is in either language."""
    path = catalog_path(env, env.docname)
    line = None
    for entry in once(env, entries_now, path):
        if text == entry.msgid or text in entry.msgstr:
            line = line_of(entry)
            break
    note_problem(env, str(GalleryError(reason, path=path, line=line)))


def strip_added_nodes(env: BuildEnvironment, document: nodes.document) -> None:
    """Replace every node whose kind or target does not occur in the source page by its text.

    This is the last defence, in case a hostile translation got past the checks; for code,
    comment_safety.py is.
    """
    state = document.get(_STATE)
    if state is None:
        return
    language = Language.current(env.config)
    for node in list(document.findall(nodes.Element)):
        if node.parent is None:
            continue
        new_effects = _effects_of(node) - state.effects
        if all(_is_same_page_of(effect, state.effects, language) for effect in new_effects):
            continue
        text = node.astext()
        if isinstance(node, nodes.title_reference):  # code in single backticks
            node.parent.replace(node, nodes.emphasis("", text))
            continue
        replacement: nodes.Node = nodes.paragraph("", text)
        if isinstance(node.parent, nodes.TextElement):
            replacement = nodes.Text(text)
        node.parent.replace(node, replacement)
        reason = f"{shorten(text)} would be more than words on the page; shown as words"
        _note_refusal(env, text, reason)


def _effects_of_page(document: nodes.document) -> set[tuple[str, str]]:
    effects: set[tuple[str, str]] = set()
    for node in document.findall(nodes.Element):
        effects |= _effects_of(node)
    return effects


def _is_same_page_of(
    effect: tuple[str, str], effects: set[tuple[str, str]], language: Language
) -> bool:
    """Tell an address of what the source page leads to, in a language."""
    name, address = effect
    if name != "refuri":
        return False
    sources = [source for other_name, source in effects if other_name == "refuri"]
    return any(is_same_page(source, address, language) for source in sources)


def _effects_of(node: nodes.Element) -> set[tuple[str, str]]:
    """Return the effects of an element beside its words: its kind, addresses and HTML."""
    if isinstance(node, nodes.emphasis | nodes.strong | nodes.literal):
        return set()  # these only style words
    effects = {("kind", node.tagname)}
    for name in ("refuri", "uri", "reftarget", "refname", "filename"):
        # A term may also be named by its translation.
        is_term = name == "reftarget" and node.get("reftype") == "term"
        if name in node and not is_term:
            effects.add((name, str(node[name])))
    if isinstance(node, nodes.raw):
        effects.add(("html", node.astext()))
    return effects


def mark_untranslated(env: BuildEnvironment, document: nodes.document) -> None:
    """After Sphinx has translated a page, mark what is still English, with a note at the top."""
    state: PageTranslation | None = document.attributes.pop(_STATE, None)
    if state is None:
        return
    settings = document.settings
    settings.character_level_inline_markup = False
    settings.raw_enabled = state.raw_enabled
    settings.file_insertion_enabled = state.file_insertion_enabled
    tag = f"language-{Language.source(env.config).tag}"  # docutils writes it as lang="..."
    for node in document.findall(nodes.Element):
        if {DATA_CLASS, OUTPUT_CLASS} & set(node.get("classes", ())):
            node["classes"].append(tag)
    for node, text, translation in state.messages:
        is_prose = translation not in (None, text) and _kind_of(node) is Kind.PROSE
        is_skipped = is_prose and not node["translated"]  # Sphinx only accepts a paragraph
        if is_skipped:
            reason = "the translation starts a list or a block; shown in English"
            _note_refusal(env, text, reason)
        if translation is None or is_skipped:
            node["classes"].append(tag)
    if state.percent < 100:
        _add_note(env, document, state.percent)


def _add_note(env: BuildEnvironment, document: nodes.document, percent: int) -> None:
    """Say below the title how much of a page is translated."""
    title = next(iter(document.findall(nodes.title)), None)
    if title is None:
        return
    share = format_percent(percent / 100, Language.current(env.config).locale)
    text = _("%(percent)s of this page is translated; the rest is in English.")
    paragraph = nodes.paragraph("", text % {"percent": share} + " ")
    address = repository_address(env, catalog_path(env, env.docname))
    if address:
        paragraph += nodes.reference("", _("Help translate"), refuri=address)
    note = nodes.note("", paragraph, classes=["translation-note"])
    title.parent.insert(title.parent.index(title) + 1, note)


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
    refused: dict[str, str] = {}
    for block in [*code_in_text(document), *code_of_cells(document)]:
        is_module = "recipe_module" in block
        code = replace_comments(block.astext(), translations, is_module=is_module, refused=refused)
        set_code(block, code)
    for block in diffs_in_text(document):
        set_code(block, replace_diff_comments(block.astext(), translations, refused=refused))
    for text, problem in refused.items():
        _note_refusal(env, text, f"the translation is {problem}; shown in English")

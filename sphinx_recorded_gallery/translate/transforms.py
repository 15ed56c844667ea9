"""Translate comments in the code of a page, and mark the text that is not translated.

A block of code stays as it is while Sphinx translates the page. Beside it stands a helper node for
each paragraph of comments, which Sphinx extracts and translates like any other text. Once that is
done, the translations are written into the block and the helpers are removed.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.nodes import extract_messages

from ..dates_and_numbers import format_percent
from ..errors import GalleryError
from ..languages import current_language, is_translated, locale_folder, source_language
from ..measurements.rows import find_rows
from ..page_nodes import (
    DATA_CLASS,
    OUTPUT_CLASS,
    code_in_text,
    code_of_cells,
    folded_cell,
    set_code,
)
from ..recipes.recorded_recipe import RecipePage, RecordedPage
from ..recipes.recording import find_data
from ..store import hash_file, once, store_of, watch
from .catalogs import Kind, count_words, is_wordless, line_of, percent_done, shorten
from .checks import compare
from .code_comments import find_comments, replace_comments
from .loading import (
    catalog_path,
    drop_unfit,
    entries_now,
    find_message,
    labels_now,
    read_entries,
    repository_address,
    show_on_page,
)

_ = get_translation("sphinx_recorded_gallery")


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


class row_name(hidden_message, nodes.literal_block):  # noqa: N801
    """What a recipe calls a case, a variant or a size of what it measured.

    Sphinx parses the translation of anything but a literal block, and would run a directive in it.
    """


class fold_summary(code_comment):  # noqa: N801
    """The summary of a folded cell, before its code."""


def add_comments(env: BuildEnvironment, document: nodes.document) -> None:
    """Put helper nodes for comments before each block of code, of a cell or in a text."""
    for block in code_in_text(document):
        _add_comments_of(block, block.source, block.line)
    for block in code_of_cells(document):
        if isinstance(block.parent, folded_cell):
            summary = fold_summary("", "", original=block.parent["summary"])
            summary.source, summary.line = block.source, block.line
            block.parent.insert(0, summary)
        _add_comments_of(block, *block.get("recipe_module", (block.source, block.line)))


def _add_comments_of(block: nodes.literal_block, source: str | None, line: int | None) -> None:
    helpers = []
    is_module = "recipe_module" in block
    for comment in find_comments(block.astext(), is_module=is_module):
        helpers.append(code_comment("", "", original=comment.text, is_of_module=is_module))
        helpers[-1].source, helpers[-1].line = source, (line or 0) + comment.first
    at = block.parent.index(block)
    block.parent[at:at] = helpers


def add_names(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put helper nodes for the names of what a recipe measured, which tables and charts show."""
    if not isinstance(page, RecordedPage):
        return
    words: dict[str, str] = {}
    for _cell, data in find_data(page.recording.notebook):
        for row in find_rows(data):
            found = row.case, row.sizes, row.size or "", row.variant
            words |= dict.fromkeys(map(str, found), "")
    for word in words:
        if not is_wordless(word):
            document += row_name("", original=word)
            document[-1].source, document[-1].line = str(page.recording.path), 0


def find_name(app: Sphinx, docname: str, kind: str, word: str) -> str | None:
    """Return the translation of a name in a recipe's rows, None where there is none."""
    found = find_message(app.env, docname, word, Kind.NAME) if kind == "name" else word
    return None if found == word else found


def prepare_translation(env: BuildEnvironment, document: nodes.document) -> None:
    """Before Sphinx translates a page: give it the messages that are fit, and see what is missing.

    Notes the share translated in the document, and with the page what is wrong with its catalog.
    """
    docname = env.docname
    if not is_translated(env.config):
        show_on_page(env, [])  # nor those of another build in this process
        return
    watch(env, labels_now)
    path = catalog_path(env, docname)
    watch(env, hash_file, str(path))
    settings = document.settings
    settings.character_level_inline_markup = current_language(env.config).words_touch_markup
    # Directives in a catalog are refused; should Sphinx find one all the same, it reads no file
    document["trusted"] = settings.raw_enabled, settings.file_insertion_enabled
    settings.raw_enabled = settings.file_insertion_enabled = False
    document["acts"] = {act for node in document.findall(nodes.Element) for act in _acts_of(node)}
    found = list(extract_messages(document))
    kinds: dict[str, set[Kind]] = defaultdict(set)
    for node, text in found:
        kinds[text].add(_kind_of(node))
    entries, problems = read_entries(path)
    if not problems:
        # who writes catalogs without `update-po`, which keeps templates, may leave some out
        is_whole = (locale_folder(env.config, Path(env.srcdir)) / "templates").is_dir()
        compared = compare(path, entries, list(kinds), env.config.language)
        problems += [str(each) for each in compared if is_whole or each.check == "unknown"]
    problems += drop_unfit(path, entries, kinds, current_language(env.config))
    _note(env, problems)
    catalog = show_on_page(env, entries)
    left = kinds.keys() - catalog.keys()
    document["messages"] = [
        (node, text, catalog.get(text))
        for node, text in found
        if isinstance(node, nodes.TextElement)
    ]
    # Comments of a module that is folded are not what makes a page translated.
    own = {text for node, text in found if not node.get("is_of_module")}
    words, words_left = (sum(map(count_words, part)) for part in (own, own & left))
    document["percent"] = percent_done(words, words_left)


def _kind_of(node: nodes.Element) -> Kind:
    """Return what the message of a node is."""
    if isinstance(node, hidden_message):
        return Kind.NAME if isinstance(node, row_name) else Kind.COMMENT
    return Kind.FORMULA if isinstance(node, nodes.math_block) else Kind.PROSE


def _note(env: BuildEnvironment, problems: Sequence[str]) -> None:
    """Note problems of the page at hand: told in every build, whether it is read again or not."""
    store_of(env).pages[env.docname].problems.extend(problems)


def _refuse(env: BuildEnvironment, text: str, told: str) -> None:
    """Note that a message is not shown as its catalog has it; ``text`` is of either language."""
    path = catalog_path(env, env.docname)
    entries = once(env, entries_now, path)
    line = next((line_of(e) for e in entries if text == e.msgid or text in e.msgstr), None)
    _note(env, [str(GalleryError(told, path=path, line=line))])


def take_out_new(env: BuildEnvironment, document: nodes.document) -> None:
    """Put words in the place of what acts as nothing in the source does, should it pass the checks.

    This is the last look at a page; code has that of comment_safety.py.
    """
    if "acts" not in document:
        return
    known = document.attributes.pop("acts")
    for node in list(document.findall(nodes.Element)):
        if node.parent is None or _acts_of(node) <= known:
            continue
        text = node.astext()
        is_inline = isinstance(node.parent, nodes.TextElement)
        words = nodes.Text(text) if is_inline else nodes.paragraph("", text)
        node.parent.replace(node, words)
        told = f"{shorten(text)} would be more than words on the page; shown as words"
        _refuse(env, text, told)


def _acts_of(node: nodes.Element) -> set[tuple[str, str]]:
    """Return what a browser makes of an element beside its words: its kind, addresses and HTML."""
    if isinstance(node, nodes.emphasis | nodes.strong | nodes.literal):
        return set()  # it shows words otherwise, and does nothing
    names = ["refuri", "uri", "reftarget", "refname", "filename"]
    if node.get("reftype") == "term":
        names.remove("reftarget")  # a term is known by its translation, too
    found = {("kind", node.tagname), *((name, str(node[name])) for name in names if name in node)}
    return found | ({("html", node.astext())} if isinstance(node, nodes.raw) else set())


def mark_untranslated(env: BuildEnvironment, document: nodes.document) -> None:
    """After Sphinx translated a page: mark what is English still, and say so on top."""
    if "percent" not in document:
        return
    settings = document.settings
    settings.character_level_inline_markup = False
    trusted = document.attributes.pop("trusted")
    settings.raw_enabled, settings.file_insertion_enabled = trusted
    percent = document.attributes.pop("percent")
    tag = f"language-{source_language(env.config).tag}"  # docutils writes it as lang="..."
    for node in document.findall(nodes.Element):
        if {DATA_CLASS, OUTPUT_CLASS} & set(node.get("classes", ())):
            node["classes"].append(tag)
    for node, text, said in document.attributes.pop("messages"):
        is_words = said not in (None, text) and _kind_of(node) is Kind.PROSE
        is_skipped = is_words and not node["translated"]  # Sphinx takes nothing but a paragraph
        if is_skipped:
            _refuse(env, text, "the translation starts a list or a block; shown in English")
        if said is None or is_skipped:
            node["classes"].append(tag)
    if percent == 100:
        return
    title = next(iter(document.findall(nodes.title)), None)
    if title is not None:
        share = format_percent(percent / 100, current_language(env.config).locale)
        text = _("%(percent)s of this page is translated; the rest is in English.")
        paragraph = nodes.paragraph("", text % {"percent": share} + " ")
        if address := repository_address(env, catalog_path(env, env.docname)):
            paragraph += nodes.reference("", _("Help translating"), refuri=address)
        note = nodes.note("", paragraph, classes=["translation-note"])
        title.parent.insert(title.parent.index(title) + 1, note)


def write_comments(env: BuildEnvironment, document: nodes.document) -> None:
    """Write translated comments into the blocks and remove the helper nodes."""
    for helper in list(document.findall(fold_summary)):
        folded = helper.parent
        folded["summary"] = helper.get("translation") or helper["original"]
        folded["summary_classes"] = helper["classes"]
        folded.remove(helper)
    own: dict[str, str] = {}
    for helper in list(document.findall(hidden_message)):
        own[helper["original"]] = helper.get("translation", "")
        helper.parent.remove(helper)
    for block in [*code_in_text(document), *code_of_cells(document)]:
        refused: dict[str, str] = {}
        is_module = "recipe_module" in block
        set_code(block, replace_comments(block.astext(), own, is_module=is_module, refused=refused))
        for text, problem in refused.items():
            _refuse(env, text, f"the translation is {problem}; shown in English")

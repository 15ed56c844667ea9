"""Complete what Sphinx and docutils tell of a wrong name or a missing line.

They only tell that there is no such page, label, role, directive or option: the most similar names
are added. Of a directive without the empty line above its content they do not tell what is missing,
and of a picture that is, not where paths begin.
"""

from __future__ import annotations

import difflib
import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .atomic_files import ensure_regular_file

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.domains import Domain

_LOGGER = "sphinx.sphinx.util.docutils"  # through which Sphinx passes on what docutils tells
_LOGGER_OF_CODE = "sphinx.sphinx.highlighting"
_LOGGER_OF_PAGES = "sphinx.sphinx.environment"
_LOGGER_OF_PICTURES = "sphinx.sphinx.environment.collectors.asset"
_LEAST_LIKENESS = 0.7  # of two spellings of a name
_WRONG_ROLE = re.compile(r'Unknown interpreted text role "(?P<name>[^"]+)"')
_WRONG_DIRECTIVE = re.compile(r'Unknown directive type "(?P<name>[^"]+)"')
_WRONG_OPTION = re.compile(
    r'Error in "(?P<directive>[^"]+)" directive:\nunknown option: "(?P<name>[^"]+)"'
)
_WRONG_OPTIONS = re.compile(r'Error in "[^"]+" directive:\ninvalid option block')
_TOO_MANY_WORDS = re.compile(
    r'Error in "(?P<directive>[^"]+)" directive:\n'
    r"maximum \d+ argument\(s\) allowed, \d+ supplied(?=\.\n\n.*\n[ \t]*(?:[^\s:]|:[\w-]+\s))"
)
# What docutils tells without a remedy
_REMEDIES = {
    r"Inline strong start-string without end-string": "write ** right behind the last bold word",
    r"Inline emphasis start-string without end-string": (
        "write * right behind the last such word, or \\* for the sign"
    ),
    r"Inline literal start-string without end-string": "write `` right behind the code",
    r"Inline interpreted text or phrase reference start-string without end-string": (
        "write ` right behind its last letter, and a space or a sign behind that"
    ),
    r'Unknown target name: "(?:\d+|#.*)"': (
        "write its footnote below: .. [1] and its words; or no _ behind the brackets"
    ),
    r'Unknown target name: "[^"<]+"': (
        "write a link as `words <address>`__, and no _ behind other words"
    ),
    r"Anonymous hyperlink mismatch: \d+ references but \d+ targets": (
        "write each link as `words <address>`__, with a space before <"
    ),
    r"Block quote ends without a blank line; unexpected unindent": (
        "begin the lines above where this one begins, or leave an empty line between them"
    ),
    r"(?:Bullet|Enumerated|Definition|Field|Option) list ends without a blank line"
    r"; unexpected unindent": (
        "indent this line as the words of the item above, or leave an empty line above it"
    ),
    r"Explicit markup ends without a blank line; unexpected unindent": (
        "indent this line as the content above, or leave an empty line above it"
    ),
    r"Unexpected indentation": "begin this line where the line above begins",
}
_EXAMPLES_OF_DIRECTIVES = "; there are, for example: note, tip, warning, code-block, list-table"
_REMEDY_OF_ROLE = "; write code as ``code``, and a link as `words <address>`__"
_NEAR_OPTION = re.compile(r"\s+(?:(?P<no_first>[\w-]+):|:(?P<no_last>[\w-]+))(?=\s|$)")
_MISSING_LINE = "leave an empty line above the content"
_MISSING_ENTRY = (
    "name it in a toctree of another page, such as the first one, or write :orphan: above its title"
)
_MISSING_PICTURE = (
    "put a file there, or correct the path, which may begin at the folder of conf.py: "
    "/_static/picture.png"
)


def setup(app: Sphinx) -> None:
    """Complete the messages of wrong names and missing lines."""
    from sphinx.domains.std import warn_missing_reference

    logging.getLogger(_LOGGER).addFilter(complete_message)  # once, however many builds there are
    logging.getLogger(_LOGGER_OF_CODE).addFilter(complete_message_of_code)
    logging.getLogger(_LOGGER_OF_PAGES).addFilter(complete_message_of_page)
    logging.getLogger(_LOGGER_OF_PICTURES).addFilter(complete_message_of_picture)
    # Sphinx calls all listeners, whatever an earlier one returns: ``_tell_missing`` calls its own.
    for listener in list(app.events.listeners["warn-missing-reference"]):
        if listener.handler is warn_missing_reference:
            app.disconnect(listener.id)
    app.connect("warn-missing-reference", _tell_missing)


def complete_message(record: logging.LogRecord) -> bool:
    """Add what to do to a message of docutils about a role, a directive or its options.

    Returns ``True``: no message is left out.
    """
    from docutils.parsers.rst import directives, roles
    from sphinx.domains.std import StandardDomain

    text = str(record.msg)
    wrong_role = _WRONG_ROLE.search(text)
    wrong_directive = _WRONG_DIRECTIVE.search(text)
    wrong_option = _WRONG_OPTION.search(text)
    wrong_options = _WRONG_OPTIONS.search(text)
    too_many_words = _TOO_MANY_WORDS.search(text)
    if wrong_role:
        names = {*roles._roles, *StandardDomain.roles}
        similar = suggest_names(wrong_role["name"], names)
        record.msg = _insert(text, wrong_role, similar or _REMEDY_OF_ROLE)
    elif wrong_directive:
        names = {*directives._directives, *directives._directive_registry}
        similar = suggest_names(wrong_directive["name"], names)
        record.msg = _insert(text, wrong_directive, similar or _EXAMPLES_OF_DIRECTIVES)
    elif wrong_option:
        directive: Any = directives._directives.get(wrong_option["directive"])
        options = getattr(directive, "option_spec", None)
        if options:
            choice = f"; choose among: {', '.join(options)}"
            record.msg = _insert(text, wrong_option, choice)
    elif wrong_options:
        remedy = f"; write each as :name: value, and {_MISSING_LINE}"
        record.msg = _insert(text, wrong_options, remedy)
    elif too_many_words:
        directive = directives._directives.get(too_many_words["directive"])
        near_option = _find_near_option(text[too_many_words.end() :], directive)
        if near_option:
            record.msg = _insert(text, too_many_words, f"; did you mean :{near_option}:?")
        elif getattr(directive, "has_content", False):
            record.msg = _insert(text, too_many_words, f"; {_MISSING_LINE}")
    else:
        record.msg = _add_remedy(text)
    return True


def _add_remedy(text: str) -> str:
    """Return a message with its remedy, if it is one of docutils that has none."""
    for pattern, remedy in _REMEDIES.items():
        match = re.match(pattern, text)
        if match:
            return _insert(text, match, f"; {remedy}")
    return text


def _find_near_option(text: str, directive: Any) -> str:
    """Return the first option below a directive that lacks one of its colons; "" without one."""
    for line in text.splitlines():
        match = _NEAR_OPTION.match(line)
        name = match["no_first"] or match["no_last"] if match else ""
        if name in (getattr(directive, "option_spec", None) or ()):
            return name
    return ""


def complete_message_of_page(record: logging.LogRecord) -> bool:
    """Add what to do to the message of Sphinx about a page to which no menu leads.

    Returns ``True``: no message is left out.
    """
    kind = getattr(record, "type", ""), getattr(record, "subtype", "")
    if kind == ("toc", "not_included"):
        record.msg = f"{record.msg}; {_MISSING_ENTRY}"
    return True


def complete_message_of_picture(record: logging.LogRecord) -> bool:
    """Add what to do to the message of Sphinx about a picture that is missing.

    Returns ``True``: no message is left out.
    """
    kind = getattr(record, "type", ""), getattr(record, "subtype", "")
    if kind == ("image", "not_readable"):
        record.msg = f"{record.msg}; {_MISSING_PICTURE}"
    return True


def complete_message_of_code(record: logging.LogRecord) -> bool:
    """Add similar names to the message of Sphinx about code in an unknown language.

    Returns ``True``: no message is left out.
    """
    from pygments.lexers import get_all_lexers

    kind = getattr(record, "type", ""), getattr(record, "subtype", "")
    if kind == ("misc", "highlighting_failure") and isinstance(record.args, tuple) and record.args:
        names: list[str] = []
        for _name, aliases, _files, _mimetypes in get_all_lexers():
            names += aliases
        if record.args[0] not in names:  # or else the code cannot be read in its language
            record.msg = f"{record.msg}{suggest_names(str(record.args[0]), names)}"
    return True


def suggest_names(name: str, names: Iterable[str]) -> str:
    """Return the names most similar to ``name``, for the end of a sentence."""
    similar = difflib.get_close_matches(name, names, cutoff=_LEAST_LIKENESS)
    if not similar:
        return ""
    return f"; similar: {', '.join(similar)}"


def _insert(text: str, match: re.Match[str], suggestion: str) -> str:
    """Return a message with a suggestion in place of the full stop behind a match."""
    if not suggestion:
        return text
    rest = text[match.end() :].removeprefix(".")
    return f"{text[: match.end()]}{suggestion}{rest}"


def _tell_missing(app: Sphinx, domain: Domain | None, node: pending_xref) -> bool | None:
    """Tell of a page or label that there is not, with similar ones; ``True`` if that is done.

    A recipe that cannot be read has no page, which is told with the recipe.
    """
    from sphinx.domains.std import warn_missing_reference
    from sphinx.util import docname_join
    from sphinx.util.logging import getLogger

    from .recipes.find_recipes import find_file

    target = node["reftarget"]
    is_standard = domain is None or domain.name == "std"
    suggestion = ""
    if is_standard and node["reftype"] == "doc":
        docname = docname_join(node.get("refdoc", ""), target)
        if find_file(app.config, Path(app.srcdir), docname):
            return True
        suggestion = suggest_names(f"/{docname}", [f"/{name}" for name in app.env.found_docs])
        text = f"unknown document: {target!r}{suggestion}"
    elif is_standard and node["reftype"] == "ref":
        labels = app.env.domains.standard_domain.anonlabels
        if target not in labels:  # or else it has no title, which Sphinx tells
            suggestion = _tell_unreadable(app, target) or suggest_names(target, labels)
        text = f"undefined label: {target!r}{suggestion}"
    if not suggestion:
        return warn_missing_reference(app, domain, node)  # type: ignore[arg-type]
    getLogger(__name__).warning("%s", text, location=node, type="ref", subtype=node["reftype"])
    return True


def _tell_unreadable(app: Sphinx, label: str) -> str:
    """Return which recipe has a label, for the end of a sentence, if it has no page; "" if none.

    Similar names would lead to another page: the label is right, and the recipe is to be mended.
    """
    from .errors import visible_line
    from .recipes.find_recipes import list_files

    for file in list_files(app.config, Path(app.srcdir)):
        if file.docname in app.env.found_docs:
            continue
        page_label = f"sphx_glr_{file.docname.replace('/', '_')}.py"  # as Sphinx-Gallery names it
        if label == page_label.lower() or _has_label(file.path, label):
            path = visible_line(os.path.relpath(file.path))
            return f"; {path} has it, which has no page until it can be read: mend it first"
    return ""


def _has_label(path: Path, label: str) -> bool:
    """Tell whether a file that may not be Python or text has the line of a label."""
    try:
        ensure_regular_file(path)
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    words = r"\s+".join(map(re.escape, label.split()))
    return (
        re.search(rf"^[ \t#]*\.\. _`?{words}`?:[ \t]*$", text, re.IGNORECASE | re.MULTILINE)
        is not None
    )

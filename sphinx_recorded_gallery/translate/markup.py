"""The inline markup of a message, parsed without Sphinx."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

from docutils import frontend, nodes
from docutils.parsers.rst import Parser, states
from docutils.utils import escape2null, new_document

from ..measurements.keys import CLAIM, MEASURED, Reference, parse_role

# Starts of blocks that are not paragraphs: lists, directives, fields, tables, quotes of code
_BLOCK = re.compile(
    r"""
    [-*+•‣⁃](?:\s|$)  # an item of a list
    | \(?(?:[0-9]+|[a-zA-Z#]|[ivxlcdmIVXLCDM]+)[.)](?:\s|$)  # an item with a number or a letter
    | (?:\.\.|__)(?:\s|$)  # a directive, a comment or a target
    | >>>(?:\s|$)  # Python at a prompt
    | \|(?:\s|$)  # a line of verse
    | :(?!\s)[^:`]+(?<!\s):(?:\s|$)  # a field
    | \+- | ={3,} | -{3,}  # a table or a line below a title
    | \s  # a quotation
    """,
    re.VERBOSE,
)
_DOCUTILS = re.compile(r"^message:1: \(\w+/\d\) ")
_PLACE = 30  # characters of the text that a message quotes
_EXPLANATIONS = {  # by the start of what docutils says
    "Inline literal": "is not closed; close it with two backticks",
    "Inline interpreted text": (
        "is not closed; close a name with two backticks, a link with `__ and a role with one"
    ),
    "Inline strong": "is not closed; close it with two stars, without a space before them",
    "Inline emphasis": "is not closed; close it with a star, or write \\* for a visible star",
    "Inline substitution": "is not closed; close it with |, or write \\| for a visible one",
    "Inline target": "is not closed; write \\_ for a visible underscore",
    "Multiple roles": "has a role on both sides; keep the one of the source",
    "Mismatch": "is both a role and a link; write it as in the source",
}
TOUCHES = (
    "where a word touches markup, put a space between them, or a backslash and a space, which "
    "readers do not see"
)
# The kinds of parts that a translation has to repeat
_COMPARED = {"literal", "role", "link", "footnote", "substitution", "target", "figure"}
# Roles whose text is for readers and not a name. Sphinx also finds a term by its translation.
_WORDY_ROLES = {"guilabel", "menuselection", "abbr", "dfn", "sub", "subscript", "sup"}
_WORDY_ROLES |= {"superscript", "emphasis", "strong", "title", "title-reference", "t", "term"}
# Roles that have no title: < and > belong to their text.
_TITLELESS_ROLES = {"math", "code", "raw", "literal", "samp", "kbd", "file", "command"}
_ROLE_TARGET = re.compile(r"^(?P<title>.*?)\s*<(?P<target>[^<>]*)>$", re.DOTALL)


# Splits a text into parts outside of backticks, and parts in backticks with the end of a link
_BESIDE_BACKTICKS = re.compile(r"(``.*?``(?!`)|`[^`]*`_{0,2})", re.DOTALL)
_CODE_ENDING_IN_BACKTICK = re.compile(r"``(?P<code>\S.*`)``", re.DOTALL)
# A name such as __init__, sys.base_prefix or x86_64, no link such as Python_
_NAME_WITH_UNDERSCORES = re.compile(
    r"(?<![A-Za-z0-9_`\]|\\])(?:\\?_)*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)*_*"
)
_SIGN_INSIDE_A_WORD = re.compile(r"(?<=[A-Za-z0-9])(?:\*\*?|\|)(?=[A-Za-z0-9(]|\\ )")
_ANY_STAR = re.compile(r"(?<!\\)\*")


@dataclass(frozen=True, kw_only=True)
class Markup:
    """The markup of a message, and its words."""

    parts: Counter[tuple[str, str]]  # kind and value, such as the text of a literal
    emphasized: int  # number of parts in italics or bold
    strong: int  # number of them in bold
    glued: int  # number of them that begin inside a Latin word or a number
    plain: str  # the words alone
    problems: dict[str, str]  # messages of docutils, each explained to translators


def parse(text: str, *, glue: bool = False) -> Markup:
    """Parse one message; with ``glue``, words may touch markup, as in some languages."""
    children, messages = _parse_inline(text.rstrip(), glue)  # as docutils strips lines
    parts: Counter[tuple[str, str]] = Counter()
    plain: list[str] = []
    for child in children:
        _collect(child, parts, plain)
    problems: dict[str, str] = {}
    places = _find_places(children)
    for number, message in enumerate(messages):
        # A message without a place of its own is about the whole text.
        place = places[number] if number < len(places) else ""
        problem = _DOCUTILS.sub("", message.astext().strip())
        problems.setdefault(problem, _explain(problem, place))
    if _BLOCK.match(text):
        problem, explanation = _describe_block(text)
        problems[problem] = explanation
    compared_parts: Counter[tuple[str, str]] = Counter()
    for (kind, value), count in parts.items():
        if kind in _COMPARED:
            compared_parts[kind, value] = count
    return Markup(
        parts=compared_parts,
        emphasized=parts["emphasis", ""] + parts["strong", ""],
        strong=parts["strong", ""],
        glued=_count_glued(children),
        plain="".join(plain),
        problems=problems,
    )


def find_lost_backticks(source: Markup, translation: str) -> list[str]:
    """Return which code of a source has one backtick instead of two on a side in a translation.

    docutils would take what follows, up to the next backtick, for code or for the text of a role.
    """
    problems = []
    for kind, value in source.parts:
        if kind != "literal":
            continue
        code = re.escape(value.removeprefix("``").removesuffix("``"))
        match = re.search(rf"(?<!`)(?:`{code}``|``{code}`)(?!`)", translation)
        if match:
            problems.append(f"{match[0]} lacks a backtick; write {value}")
    return problems


def _explain(problem: str, place: str) -> str:
    """Return a message of docutils in words for translators, if it is one of the frequent ones."""
    for beginning, explanation in _EXPLANATIONS.items():
        if problem.startswith(beginning):
            return f"{place!r} {explanation}"
    return problem


def _describe_block(text: str) -> tuple[str, str]:
    """Return what is wrong with a text that starts like a block, and the same with a remedy."""
    if text[0].isspace():
        problem = "begins with a space, which starts a list or another block"
        return problem, problem
    problem = f"begins with {text.split()[0]!r}, which starts a list or another block"
    return problem, f"{problem}; for words write a backslash before it"


def _count_glued(children: list[nodes.Node]) -> int:
    """Return how many times emphasis follows a Latin letter or a digit directly, as in 2*x."""
    count = 0
    for text, emphasis in pairwise(children):
        is_emphasis = isinstance(emphasis, nodes.emphasis | nodes.strong)
        if is_emphasis and re.search(r"[A-Za-z0-9]$", text.astext()):
            count += 1
    return count


def count_new_glued(target: Markup, source: Markup) -> int:
    """Return how often a translation begins emphasis inside words where its source does not."""
    new = target.emphasized - source.emphasized
    return max(min(new, target.glued - source.glued), 0)


def shield_names(text: str, translation: str) -> str:
    """Return a translation with plain names protected where words may touch markup.

    There, ``sys.base_prefix`` would be a link to ``base``, and ``2*3*4`` emphasis. Such signs get a
    backslash if that brings the markup closer to that of the source. Code would end at the first
    two of three backticks: what shows a backtick at its end becomes a role, which can escape it.
    """
    source = parse(text)
    distance = _distance(parse(translation, glue=True), source)
    if not distance:
        return translation
    stars_are_plain = not source.emphasized and text.count("*") == translation.count("*")
    pieces = _BESIDE_BACKTICKS.split(translation)
    for index in range(1, len(pieces), 2):  # every second piece stands in backticks
        pieces[index] = _CODE_ENDING_IN_BACKTICK.sub(_write_as_role, pieces[index])
    for index in range(0, len(pieces), 2):
        piece = _NAME_WITH_UNDERSCORES.sub(partial(_escape_name, text, source), pieces[index])
        piece = _SIGN_INSIDE_A_WORD.sub(_escape_sign, piece)
        if stars_are_plain:
            piece = _ANY_STAR.sub(r"\*", piece)
        pieces[index] = piece
    shielded = "".join(pieces)
    if _distance(parse(shielded, glue=True), source) < distance:
        return shielded
    return translation


def _write_as_role(code: re.Match[str]) -> str:
    """Return code in two backticks as the role ``:literal:``."""
    escaped = re.sub(r"[`\\]", r"\\\g<0>", code["code"])
    return f":literal:`{escaped}`"


def _escape_sign(sign: re.Match[str]) -> str:
    """Return a sign with a backslash before each of its characters."""
    return re.sub(r".", r"\\\g<0>", sign[0])


def _escape_name(text: str, source: Markup, name: re.Match[str]) -> str:
    """Return a name with its underscores escaped, unless it may be a link (``name_``)."""
    bare = name[0].replace("\\", "")
    ends_as_link = bare.endswith("_") and not bare.startswith("_")
    is_plain_in_source = bare in text and ("link", "reference") not in source.parts
    if ends_as_link and not is_plain_in_source:
        return name[0]
    return re.sub(r"\\?_", r"\\_", name[0])


def _distance(target: Markup, source: Markup) -> int:
    """Return in how many places the markup of a translation differs from that of its source."""
    new_problems = target.problems.keys() - source.problems.keys()
    missing = source.parts - target.parts
    added = target.parts - source.parts
    new_glued = count_new_glued(target, source)
    return len(new_problems) + missing.total() + added.total() + new_glued


def _find_places(children: list[nodes.Node]) -> list[str]:
    """Return the beginning of the text at each place where the parser stumbled."""
    texts = [child.astext() for child in children]
    places = []
    for number, child in enumerate(children):
        if isinstance(child, nodes.problematic):
            rest = "".join(texts[number:])
            places.append(rest[:_PLACE])
    return places


def _collect(node: nodes.Node, parts: Counter[tuple[str, str]], plain: list[str]) -> None:
    """Add the markup of a node to ``parts``, and its words to ``plain``."""
    if isinstance(node, nodes.Text):
        plain.append(node.astext())
        return
    text = node.astext()
    is_literal_role = isinstance(node, nodes.inline) and node["role"] == "literal"
    if is_literal_role:  # shows the same as two backticks
        text = nodes.unescape(escape2null(node["raw"]))
    if is_literal_role or isinstance(node, nodes.literal):
        parts["literal", f"``{text}``"] += 1
        plain.append(" ")
    elif isinstance(node, nodes.inline) and node["role"] in (MEASURED, CLAIM):
        figure, words = _read_figure(node["role"], node["raw"])
        parts["figure", figure] += 1
        plain.append(words)
    elif isinstance(node, nodes.inline):
        value, words = _read_role(node["role"] or "`", node["raw"])
        parts["role", value] += 1
        plain.append(words)
    elif isinstance(node, nodes.reference):
        parts["link", node.get("refuri", "") or "reference"] += 1
        plain.append(" " if text == node.get("refuri") else text)
    elif isinstance(node, nodes.target):
        if "refuri" not in node and "refname" not in node:
            parts["target", f"_`{text}`"] += 1
            plain.append(text)  # else it belongs to the address of a link
    elif isinstance(node, nodes.footnote_reference | nodes.citation_reference):
        parts["footnote", text or node.rawsource] += 1  # [#name]_ has no text of its own
    elif isinstance(node, nodes.substitution_reference):
        parts["substitution", text] += 1
    else:
        if isinstance(node, nodes.emphasis | nodes.strong):
            parts[node.tagname, ""] += 1
        for child in node.children:
            _collect(child, parts, plain)


def _read_role(role: str, raw: str) -> tuple[str, str]:
    """Return the part of a role that a translation has to repeat, and the words that may differ."""
    target, words = raw, " "
    title_and_target = _ROLE_TARGET.match(raw)
    if title_and_target and role not in _TITLELESS_ROLES:
        target, words = title_and_target["target"], title_and_target["title"]
    elif role == "math":
        texts = re.findall(r"\\(?:text|mathrm)\{([^{}]*)\}", raw)
        words = " ".join(["", *texts, ""])
        target = re.sub(r"\\(text|mathrm)\{[^{}]*\}", r"\\\1{}", raw)
    if role in _WORDY_ROLES:
        return f":{role}:", words
    return f":{role}:`{target}`", words


def _read_figure(role: str, raw: str) -> tuple[str, str]:
    """Return what a translation has to repeat, and the words that may differ."""
    # unescape() removes backslashes as the parser of docutils stores them: as NUL characters.
    text = nodes.unescape(raw.replace("\\", "\0"))
    try:
        named = parse_role(role, text)
    except ValueError:
        return f":{role}:`{raw}`", " "
    if isinstance(named, Reference):
        return f":{role}:`{named.name}`", " "
    return named.signature, named.words


def _accept_role(
    rawsource: str, text: str, role: str, lineno: int
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Accept every role."""
    raw = nodes.unescape(text, restore_backslashes=True)
    return [nodes.inline(rawsource, text, role=role, raw=raw)], []


def _parse_inline(text: str, glue: bool) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the nodes of a text, and the messages of docutils."""
    inliner, memo = _make_inliner(glue)
    children, messages = inliner.parse(text, 1, memo, nodes.paragraph())
    return children, messages


@cache
def _make_inliner(glue: bool) -> tuple[states.Inliner, Any]:
    """Return a parser of inline markup, and the state that it needs."""
    settings = frontend.get_default_settings(Parser)
    settings.warning_stream = False
    settings.character_level_inline_markup = glue
    document = new_document("message", settings)
    inliner = states.Inliner()  # not a subclass: it finds its patterns in its own class
    inliner.init_customizations(settings)
    inliner.interpreted = _accept_role
    # docutils keeps more in it, for blocks and for its own roles.
    memo = states.Struct(document=document, reporter=document.reporter, language=None)
    return inliner, memo

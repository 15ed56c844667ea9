"""The inline markup of a message, parsed without Sphinx."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

from docutils import frontend, nodes
from docutils.parsers.rst import Parser, states
from docutils.utils import new_document

from ..measurements.keys import parse_claim, parse_reference

# How a block begins that is not a paragraph: lists, directives, fields, tables, quotes of code.
_BLOCK = re.compile(
    r"(?:[-*+•‣⁃]|\(?(?:[0-9]+|[a-zA-Z#]|[ivxlcdmIVXLCDM]+)[.)]|\.\.|>>>|__)(?:\s|$)"
    r"|\|(?:\s|$)|:(?!\s)[^:`]+(?<!\s):(?:\s|$)|\+-|={3,}|-{3,}|\s"
)
_DOCUTILS = re.compile(r"^message:1: \(\w+/\d\) ")
_PLACE = 30  # characters of a text that show where something is
_EXPLAINED = {
    "Inline literal": "is not closed; close it with two backticks",
    "Inline interpreted text": (
        "is not closed; close a name with two backticks, a link with `__ and a role with one"
    ),
    "Inline strong": "is not closed; close it with two stars, without a space before them",
    "Inline emphasis": "is not closed; close it with a star, or write \\* for one to be seen",
    "Inline substitution": "is not closed; close it with |, or write \\| for one to be seen",
    "Inline target": "is not closed; write \\_ if it is no target",
    "Multiple roles": "has a role on both sides; keep the one of the source",
    "Mismatch": "is a role and a link at once; write it as in the source",
}
TOUCHES = (
    "where a word touches markup, put a space between, or a backslash and a space, which show none"
)
# What has to be the same in a translation.
_COMPARED = {"literal", "role", "link", "footnote", "substitution", "target", "figure"}
# Roles whose text is for readers and not a name. Sphinx knows a term by its translation, too.
_WORDY_ROLES = {"guilabel", "menuselection", "abbr", "dfn", "sub", "subscript", "sup"}
_WORDY_ROLES |= {"superscript", "emphasis", "strong", "title", "title-reference", "t", "term"}
# Roles that have no title: what stands between < and > is text like all of it.
_TITLELESS_ROLES = {"math", "code", "raw", "literal", "samp", "kbd", "file", "command"}
_ROLE_TARGET = re.compile(r"^(?P<title>.*?)\s*<(?P<target>[^<>]*)>$", re.DOTALL)


# Text that is between markup: what stands in backticks, with the ends of a link, is passed over.
_BESIDE_BACKTICKS = re.compile(r"(``.*?``|`[^`]*`_{0,2})", re.DOTALL)
# A name such as __init__, sys.base_prefix or x86_64, no link such as Python_
_NAME_WITH_UNDERSCORES = re.compile(
    r"(?<![A-Za-z0-9_`\]|\\])(?:\\?_)*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)*_*"
)
_SIGN_INSIDE_A_WORD = re.compile(r"(?<=[A-Za-z0-9])(?:\*\*?|\|)(?=[A-Za-z0-9(]|\\ )")
_ANY_STAR = re.compile(r"(?<!\\)\*")


@dataclass(frozen=True, kw_only=True)
class Markup:
    """What a message holds beside words."""

    parts: Counter[tuple[str, str]]  # kind and value: a literal's text, a link's address, ...
    emphasized: int  # how many parts are, in either way
    strong: int  # how many of them are bold
    glued: int  # how many of them begin inside a word of Latin letters or a number
    plain: str  # the words alone
    problems: dict[str, str]  # what the parser complains about, and that in words for translators


def parse(text: str, *, glue: bool = False) -> Markup:
    """Parse one message; ``glue`` lets words touch markup, as it is set for some languages."""
    children, messages = _parse_inline(text.rstrip(), glue)  # as lines of a page are read
    parts: Counter[tuple[str, str]] = Counter()
    plain: list[str] = []
    for child in children:
        _collect(child, parts, plain)
    problems: dict[str, str] = {}
    places = _find_places(children)
    for message in messages:
        problem, place = _DOCUTILS.sub("", message.astext().strip()), next(places, "")
        known = next((each for each in _EXPLAINED if problem.startswith(each)), None)
        problems.setdefault(problem, f"{place!r} {_EXPLAINED[known]}" if known else problem)
    if _BLOCK.match(text):
        start = "a space" if text[0].isspace() else repr(text.split()[0])
        remedy = "" if text[0].isspace() else "; for words write a backslash before it"
        told = f"begins with {start}, which starts a list or another block"
        problems[told] = told + remedy
    return Markup(
        parts=Counter({part: count for part, count in parts.items() if part[0] in _COMPARED}),
        emphasized=parts["emphasis", ""] + parts["strong", ""],
        strong=parts["strong", ""],
        glued=_count_glued(children),
        plain="".join(plain),
        problems=problems,
    )


def _count_glued(children: list[nodes.Node]) -> int:
    """Return how many times emphasis begins behind a Latin letter or a digit, as in 2*x."""
    count = 0
    for text, emphasis in pairwise(children):
        is_emphasis = isinstance(emphasis, nodes.emphasis | nodes.strong)
        if is_emphasis and re.search(r"[A-Za-z0-9]$", text.astext()):
            count += 1
    return count


def count_new_glued(target: Markup, source: Markup) -> int:
    """Return how much emphasis a translation has begun inside words, beyond that of its source."""
    new = target.emphasized - source.emphasized
    return max(min(new, target.glued - source.glued), 0)


def shield_names(text: str, translation: str) -> str:
    """Return a translation, for which words may touch markup, with its plain names kept plain.

    Where words may touch markup, ``sys.base_prefix`` would be a link to ``base``, and ``2*3*4``
    emphasis. Such signs get a backslash if that makes the markup more like that of the source.
    """
    source = parse(text)
    distance = _distance(parse(translation, glue=True), source)
    if not distance:
        return translation
    is_plain_star = not source.emphasized and text.count("*") == translation.count("*")
    pieces = _BESIDE_BACKTICKS.split(translation)
    for index in range(0, len(pieces), 2):
        escaped = _NAME_WITH_UNDERSCORES.sub(partial(_escape_name, text, source), pieces[index])
        escaped = _SIGN_INSIDE_A_WORD.sub(lambda sign: re.sub(r".", r"\\\g<0>", sign[0]), escaped)
        pieces[index] = _ANY_STAR.sub(r"\*", escaped) if is_plain_star else escaped
    shielded = "".join(pieces)
    is_nearer = _distance(parse(shielded, glue=True), source) < distance
    return shielded if is_nearer else translation


def _escape_name(text: str, source: Markup, name: re.Match[str]) -> str:
    """Return a name whose underscores are no markup, but for one that may be a link (``name_``)."""
    bare = name[0].replace("\\", "")
    ends_as_link = bare.endswith("_") and not bare.startswith("_")
    is_plain_in_source = bare in text and ("link", "reference") not in source.parts
    if ends_as_link and not is_plain_in_source:
        return name[0]
    return re.sub(r"\\?_", r"\\_", name[0])


def _distance(target: Markup, source: Markup) -> int:
    """Return in how many places a translation has other markup than its source."""
    new_problems = target.problems.keys() - source.problems.keys()
    missing, added = source.parts - target.parts, target.parts - source.parts
    new_glued = count_new_glued(target, source)
    return len(new_problems) + missing.total() + added.total() + new_glued


def _find_places(children: list[nodes.Node]) -> Iterator[str]:
    """Yield where the parser stumbled: the text from there on."""
    text = [child.astext() for child in children]
    for number, child in enumerate(children):
        if isinstance(child, nodes.problematic):
            yield "".join(text[number:])[:_PLACE]


def _collect(node: nodes.Node, parts: Counter[tuple[str, str]], plain: list[str]) -> None:
    if isinstance(node, nodes.Text):
        plain.append(node.astext())
        return
    text = node.astext()
    if isinstance(node, nodes.literal):
        parts["literal", f"``{text}``"] += 1
        plain.append(" ")
    elif isinstance(node, nodes.inline) and node["role"] in ("measured", "claim"):
        figure, words = _read_figure(node["role"], node["raw"])
        parts["figure", figure] += 1
        plain.append(words)
    elif isinstance(node, nodes.inline):
        role = node["role"] or "`"
        explicit = None if role in _TITLELESS_ROLES else _ROLE_TARGET.match(node["raw"])
        target = explicit["target"] if explicit else node["raw"]
        words = " "
        if role == "math":
            words = " ".join(["", *re.findall(r"\\(?:text|mathrm)\{([^{}]*)\}", target), ""])
            target = re.sub(r"\\(text|mathrm)\{[^{}]*\}", r"\\\1{}", target)
        parts["role", f":{role}:" if role in _WORDY_ROLES else f":{role}:`{target}`"] += 1
        plain.append(explicit["title"] if explicit else words)
    elif isinstance(node, nodes.reference):
        parts["link", node.get("refuri", "") or "reference"] += 1
        plain.append(" " if text == node.get("refuri") else text)
    elif isinstance(node, nodes.target):
        if "refuri" not in node and "refname" not in node:
            parts["target", f"_`{text}`"] += 1
            plain.append(text)  # else it is what an embedded address leaves beside its link
    elif isinstance(node, nodes.footnote_reference | nodes.citation_reference):
        parts["footnote", text or node.rawsource] += 1  # [#name]_ has no text of its own
    elif isinstance(node, nodes.substitution_reference):
        parts["substitution", text] += 1
    else:
        parts[node.tagname, ""] += 1
        for child in node.children:
            _collect(child, parts, plain)


def _read_figure(role: str, raw: str) -> tuple[str, str]:
    """Return what has to be the same in a translation, and the words that may differ."""
    try:
        if role == "measured":
            return f":measured:`{parse_reference(raw).name}`", " "
        claim = parse_claim(nodes.unescape(raw.replace("\\", "\0")))
        return claim.signature, claim.words
    except ValueError:
        return f":{role}:`{raw}`", " "


def _note_role(
    rawsource: str, text: str, role: str, lineno: int
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Take every role for known."""
    raw = nodes.unescape(text, restore_backslashes=True)
    return [nodes.inline(rawsource, text, role=role, raw=raw)], []


def _parse_inline(text: str, glue: bool) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the nodes of a text, and what docutils complains about."""
    inliner, memo = _machinery(glue)
    children, messages = inliner.parse(text, 1, memo, nodes.paragraph())
    return children, messages


@cache
def _machinery(glue: bool) -> tuple[states.Inliner, Any]:
    settings = frontend.get_default_settings(Parser)
    settings.warning_stream = False
    settings.character_level_inline_markup = glue
    document = new_document("message", settings)
    inliner = states.Inliner()  # a subclass would not do: it looks for patterns in its own class
    inliner.init_customizations(settings)
    inliner.interpreted = _note_role
    # The rest of what docutils keeps there is for blocks and for roles that it knows
    memo = states.Struct(document=document, reporter=document.reporter, language=None)
    return inliner, memo

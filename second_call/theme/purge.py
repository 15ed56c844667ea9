"""The theme's style sheet without the rules that no page of this site needs.

A rule stays if each class, name and element of one of its selectors is on a page or in a script.
Variables stay while something refers to them. Nothing is known of what rules mean, so nothing that
a page shows can change; tests/site/test_purge.py holds it.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recipe_gallery.project import file_state

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_BRACKETS = re.compile(rf"{_STRING}|[{{}};]")
# What stands between commas, and between semicolons, that are in no brackets and no string
_INNER = rf"(?:{_STRING}|\((?:{_STRING}|\((?:{_STRING}|\([^()]*\)|[^()\"'])*\)|[^()\"'])*\)"
_SELECTOR = re.compile(rf"{_INNER}|\[[^\]]*\]|[^,(\"'\[])+")
_DECLARATION = re.compile(rf"{_INNER}|[^;(\"'])+")
_BLOCK = re.compile(rf"([^{{}}]+)\{{((?:{_STRING}|[^{{}}\"'])*)\}}")
_NEGATED = re.compile(r":(?:not|is|where|has)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_ATTRIBUTE = re.compile(r"\[[^\]]*\]")
_NAME = re.compile(r"[.#](-?[A-Za-z_](?:[\w-]|\\.)*)")
_ELEMENT = re.compile(r"(?:^|[\s>+~])([a-z][a-z0-9]*)")
# Three patterns that begin with text: one with alternatives takes six times as long.
_USED_IN_HTML = r"<([a-z][a-z0-9]*)", r'class="([^"]*)"', r'id="([^"]*)"'
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)")
_AT_RULES = ("@media", "@supports", "@layer", "@container", "@starting-style")


def find_words(page: str) -> set[str]:
    """Return elements, classes and names that a page of HTML has."""
    found = {each for pattern in _USED_IN_HTML for each in re.findall(pattern, page)}
    return {word for each in found for word in each.split()}


def purge(css: str, words: set[str], others: str = "") -> str:
    """Return what pages with these words need of a style sheet; ``others`` are read with it."""
    kept = "".join(_keep(_COMMENT.sub("", css), words))
    while True:
        variables = set(_VARIABLE.findall(kept + others))
        shorter = _drop_variables(kept, variables)
        if shorter == kept:
            return kept
        kept = shorter


def _keep(css: str, words: set[str]) -> Iterator[str]:
    for prelude, block in _rules(css):
        if block is None or prelude.startswith(("@font-face", "@charset")):
            continue  # the site has no fonts, and is UTF-8
        if prelude.startswith(_AT_RULES):
            if inner := "".join(_keep(block, words)):
                yield f"{prelude}{{{inner}}}\n"
        elif prelude.startswith("@"):
            if not prelude.startswith(("@keyframes", "@-webkit-keyframes")):
                yield f"{prelude}{{{block}}}\n"
        else:
            selectors = [each.strip() for each in _SELECTOR.findall(prelude)]
            if used := [each for each in selectors if _is_used(each, words)]:
                yield f"{','.join(used)}{{{block}}}\n"


def _rules(css: str) -> Iterator[tuple[str, str | None]]:
    """Yield what stands before the braces of each rule, and in them; None for a line without."""
    start, opened, depth = 0, 0, 0
    for mark in _BRACKETS.finditer(css):
        if mark[0] == "{":
            opened = opened if depth else mark.end()
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if not depth:
                yield css[start : opened - 1].strip(), css[opened : mark.start()]
                start = mark.end()
        elif mark[0] == ";" and not depth:
            yield css[start : mark.start()].strip(), None
            start = mark.end()


def _is_used(selector: str, words: set[str]) -> bool:
    plain = _ATTRIBUTE.sub("", _NEGATED.sub("", selector))
    names = [each.replace("\\", "") for each in _NAME.findall(plain)]
    return all(each in words for each in [*names, *_ELEMENT.findall(_NAME.sub("", plain))])


def _drop_variables(css: str, used: set[str]) -> str:
    """Return a style sheet without variables that nothing refers to, nor rules of them only."""

    def shorten(rule: re.Match[str]) -> str:
        kept = [
            each
            for each in _DECLARATION.findall(rule[2])
            if not each.strip().startswith("--") or each.partition(":")[0].strip() in used
        ]
        return f"{rule[1]}{{{';'.join(kept)}}}" if kept else ""

    return _BLOCK.sub(shorten, css)


def purge_file(out: Path, style: Path, notes: Path) -> None:
    """Purge a style sheet of a built site in place; ``notes`` keeps the words of its pages."""
    before, known = {}, {}
    with suppress(OSError, ValueError):  # the first build, or one that was ended while it wrote
        before = json.loads(notes.read_bytes())
    for page in out.rglob("*.html"):
        name = f"{page} {file_state(page)}"
        known[name] = before.get(name) or sorted(find_words(page.read_text(encoding="utf-8")))
    notes.write_text(json.dumps(known), encoding="utf-8")
    words = set().union(*known.values())
    static = out / "_static"
    for script in static.glob("*.js"):
        words |= set(_WORD.findall(script.read_text(encoding="utf-8")))  # it may set such a class
    others = "".join(each.read_text(encoding="utf-8") for each in static.glob("*.css"))
    style.write_text(purge(style.read_text(encoding="utf-8"), words, others), encoding="utf-8")

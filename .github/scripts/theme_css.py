"""Write ``_static/theme.css``: what pages need of the style sheets of Sphinx and of the theme.

Run it after `make html` when the theme is upgraded, or a page needs a rule that is not there:
``.venv/bin/python .github/scripts/theme_css.py``.
A rule stays if each class, name and element of one of its selectors is on a page, in a script, or
what a text may bring at any time. Variables stay while something refers to them.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pydata_sphinx_theme
import sphinx

ROOT = Path(__file__).parents[2]
THEME = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme"
NAME = ".github/scripts/theme_css.py"
STYLES = [
    Path(sphinx.__file__).parent / "themes/basic/static/basic.css.jinja",
    THEME / "static/styles/pydata-sphinx-theme.css",
]
# What reStructuredText has, whether a page uses it by now or not
TEXT = """
a abbr attention blockquote caption caution code danger dd details dl dt em error figcaption figure
h1 h2 h3 h4 h5 hint hr html img important kbd li note ol p pre s seealso sidebar strong sub summary
sup table tbody td tfoot th thead tip topic tr ul warning admonition admonition-title math
footnote-reference headerlink sidebar-title topic-title
"""

# What Sphinx fills in, such as the width of a sidebar that no page has
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")
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


def read_styles() -> str:
    """Return the style sheets of Sphinx and of the theme, in the order in which they apply."""
    sheets = [path.read_text(encoding="utf-8") for path in STYLES]
    css = " ".join(" ".join(sheets).split())  # a rule has no line break: it gets a line
    return _PLACEHOLDER.sub("unset", css)


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


def read_words(site: Path) -> set[str]:
    """Return what the pages of a built site have, and what its scripts may add."""
    words = set(TEXT.split())
    for page in site.rglob("*.html"):
        words |= find_words(page.read_text(encoding="utf-8"))
    for script in site.glob("*/_static/*.js"):
        words |= set(_WORD.findall(script.read_text(encoding="utf-8")))
    return words


def shorten(css: str, site: Path) -> str:
    """Return what the pages of a built site need of a style sheet."""
    others = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "_static").glob("s*.css"))
    return purge(css, read_words(site), others)


if __name__ == "__main__":
    built = Path(sys.argv[1] if len(sys.argv) > 1 else "_build/html")
    sources = " and ".join(f"{name} {version(name)}" for name in ("Sphinx", "pydata-sphinx-theme"))
    made = f"{NAME} from {sources} (BSD-2-Clause and BSD-3-Clause)"
    css = shorten(read_styles(), built)
    (ROOT / "_static/theme.css").write_text(f"/* Made by {made} */\n{css}", encoding="utf-8")

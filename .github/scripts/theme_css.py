"""Write ``_static/theme.css``: what pages need of the style sheets of Sphinx and of the theme.

Run it after `make html` when the theme is upgraded, or a page needs a rule that is not there:
``.venv/bin/python .github/scripts/theme_css.py``.
A rule stays if an element of a page, one that a script adds, or one that a text may bring at any
time fits one of its selectors. Variables stay while something refers to them.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
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
a abbr admonition admonition-title attention blockquote caption caution code danger dd details dl dt
em error figcaption figure footnote-reference h1 h2 h3 h4 h5 headerlink hint hr img important kbd li
math note ol p pre s seealso strong sub summary sup table tbody td tfoot th thead tip tr ul warning
"""
# What site.js moves menus into
MOVED = "pst-primary-sidebar-modal pst-secondary-sidebar-modal"
# What site.css draws in another way, or not at all: titles of admonitions, icons of a font, buttons
# of Bootstrap, numbers of lines; and banners, signatures and fields of forms that no page has
REPLACED = re.compile(
    r"\.admonition[\w.]*>\.admonition-title(?!\+)|^(?::is\()?\.fa|\.btn\b"
    r"|\.linenos|span\.gp|\.container\b"
    r"|::-webkit-(?:calendar|date|color|file|inner|outer)|::file-selector|\[type=(?:file|reset)"
    r"|#bd-header-version-warning|^dl\[class\]:not"
)

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
_COMBINATOR = re.compile(r"\s*[>+~]\s*|\s+")
_SIBLING = re.compile(r"[+~]")
_DATA = re.compile(r"\[(data-[\w-]+|list\b)")
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)((?:\s[^<>]*)?)>")
_MARKS = re.compile(r'\s(class|id)="([^"]*)"')
_DATA_NAME = re.compile(r"\s(data-[\w-]+)")
_DATASET = re.compile(r"dataset\.(\w+)")
_STRING_OF_SCRIPT = re.compile(r"\"[^\"\n]*\"|`[^`]*`")
_VOID = {"br", "circle", "col", "hr", "img", "input", "line", "link", "meta", "path", "rect", "wbr"}
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)")
_AT_RULES = ("@media", "@supports", "@layer", "@container", "@starting-style")


@dataclass
class Pages:
    """What the pages of a built site consist of.

    Words are names of elements, classes and identifiers. ``elements`` has the words of each kind of
    element, with those of all that it stands in; ``added`` has words of elements that a script or
    a text may add anywhere, and ``data`` the names of attributes that begin with ``data-``.
    """

    elements: set[tuple[frozenset[str], frozenset[str]]] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)

    def add_page(self, html: str) -> None:
        """Note the elements of a page."""
        around = [frozenset[str]()]
        names: list[str] = []
        for tag in _TAG.finditer(html):
            is_end, name, attributes = tag.groups()
            if is_end:
                while names and name in names and names.pop() != name:
                    around.pop()  # HTML lets some elements end without a tag
                del around[len(names) + 1 :]
                continue
            words = {name}
            for _attribute, value in _MARKS.findall(attributes):
                words |= set(value.split())
            self.data |= set(_DATA_NAME.findall(attributes))
            self.elements.add((frozenset(words), around[-1]))
            if name not in _VOID and not attributes.endswith("/"):
                names.append(name)
                around.append(around[-1] | words)

    def add_script(self, script: str) -> None:
        """Note what a script may add: words of its texts, and attributes."""
        for text in _STRING_OF_SCRIPT.findall(script):
            self.added |= set(_WORD.findall(text))
        self.data |= {f"data-{name}" for name in _DATASET.findall(script)}

    def has(self, selector: str) -> bool:
        """Return whether a selector may fit an element, in any state that readers bring it into."""
        plain = _NEGATED.sub("", selector)
        if not self.data.issuperset(_DATA.findall(plain)):
            return False
        plain = _ATTRIBUTE.sub("", plain).strip()
        *outer, last = [self._needed(part) for part in _COMBINATOR.split(plain)]
        near = frozenset().union(*outer)
        if _SIBLING.search(plain):  # beside an element may be anything
            known = frozenset().union(*(words for words, _around in self.elements))
            return near <= known and any(last <= words for words, _around in self.elements)
        return any(last <= words and near <= around for words, around in self.elements)

    def _needed(self, part: str) -> frozenset[str]:
        """Return the words that an element needs for a part of a selector, but for added ones."""
        names = [each.replace("\\", "") for each in _NAME.findall(part)]
        return frozenset([*names, *_ELEMENT.findall(_NAME.sub("", part))]) - self.added


def read_styles() -> str:
    """Return the style sheets of Sphinx and of the theme, in the order in which they apply."""
    sheets = [path.read_text(encoding="utf-8") for path in STYLES]
    css = " ".join(" ".join(sheets).split())  # a rule has no line break: it gets a line
    return _PLACEHOLDER.sub("unset", css)


def purge(css: str, pages: Pages, others: str = "") -> str:
    """Return what these pages need of a style sheet; ``others`` are read with it."""
    kept = "".join(_keep(_COMMENT.sub("", css), pages))
    while True:
        variables = set(_VARIABLE.findall(kept + others))
        shorter = _drop_variables(kept, variables)
        if shorter == kept:
            return kept
        kept = shorter


def _keep(css: str, pages: Pages) -> Iterator[str]:
    for prelude, block in _rules(css):
        if block is None or prelude.startswith(("@font-face", "@charset")):
            continue  # the site has no fonts, and is UTF-8
        if prelude.startswith(_AT_RULES):
            if inner := "".join(_keep(block, pages)):
                yield f"{prelude}{{{inner}}}\n"
        elif prelude.startswith("@"):
            if not prelude.startswith(("@keyframes", "@-webkit-keyframes")):
                yield f"{prelude}{{{block}}}\n"
        else:
            selectors = [each.strip() for each in _SELECTOR.findall(prelude)]
            if used := [each for each in selectors if _is_used(each, pages)]:
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


def _is_used(selector: str, pages: Pages) -> bool:
    return not REPLACED.search(selector) and pages.has(selector)


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


def read_pages(site: Path) -> Pages:
    """Return what the pages of a built site have, and what its scripts and texts may add."""
    pages = Pages(added=set(f"{TEXT} {MOVED}".split()))
    for page in site.rglob("*.html"):
        pages.add_page(page.read_text(encoding="utf-8"))
    for script in site.glob("*/_static/*.js"):
        pages.add_script(script.read_text(encoding="utf-8"))
    return pages


def shorten(css: str, pages: Pages) -> str:
    """Return what the pages of the site need of a style sheet."""
    own = (ROOT / "_static" / name for name in ("site.css", "overview.css"))
    others = "".join(path.read_text(encoding="utf-8") for path in own)
    return purge(css, pages, others)


if __name__ == "__main__":
    built = Path(sys.argv[1] if len(sys.argv) > 1 else "_build/html")
    sources = " and ".join(f"{name} {version(name)}" for name in ("Sphinx", "pydata-sphinx-theme"))
    made = f"{NAME} from {sources} (BSD-2-Clause and BSD-3-Clause)"
    css = shorten(read_styles(), read_pages(built))
    (ROOT / "_static/theme.css").write_text(f"/* Made by {made} */\n{css}", encoding="utf-8")

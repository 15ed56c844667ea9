"""Headlines: which measurements of the recipes a page shows, in the words of that page.

A directive's lines name them; CONTRIBUTING.md tells how, below "Headline figures".
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import Gallery

GRAPH, PLAIN = "graph", "plain"
# Of cases: the answer counts all but those that are plain, which compile and capture nothing
KINDS = ("compiled", GRAPH, "fused", PLAIN)
_LINE = re.compile(
    r"(?P<key>[\w./-]+)(?:\s+\((?P<kind>\w+)\))?(?:\s+against\s+(?P<baseline>[\w.-]+))?"
    r"(?:\s*:\s+(?P<words>\S.*))?"
)


class headline_list(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """Questions and headlines of a directive; ``draw`` makes nodes of them."""


class question(nodes.paragraph):  # noqa: N801
    """What a reader asks: ``recipe`` is the page that answers, ``baseline`` a variant or empty."""


class headline(nodes.paragraph):  # noqa: N801
    """Words of a case: ``key`` names its measurement, ``baseline`` a variant or another key.

    ``kind`` is one of ``KINDS``, or empty.
    """


Drawer = Callable[[BuildEnvironment, headline_list], list[nodes.Node]]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a directive: a case if it is indented, else a recipe."""

    name: str  # a key or a recipe
    kind: str
    baseline: str  # what the line names itself
    words: str
    is_case: bool


def read_headlines(directive: SphinxDirective, draw: Drawer) -> list[nodes.Node]:
    """Return the list that the lines of a directive make; its words are messages of the page.

    Raises an error of the directive at the first line that cannot be read.
    """
    headlines = headline_list(draw=draw)
    try:
        headlines += _make_nodes(directive)
    except ValueError as error:
        raise directive.error(str(error)) from None
    return [headlines]


def borrow_headlines(directive: SphinxDirective, docname: str, draw: Drawer) -> list[nodes.Node]:
    """Return the cases that the directive ``results`` of another page names, without their words.

    Raises an error of the directive if there is no such page; what is wrong with a line is told
    where the line stands.
    """
    env = directive.env
    path = Path(env.doc2path(docname))
    env.note_dependency(str(path))
    if not path.is_file():
        raise directive.error(f"{docname!r} is not a page; name the one with the results")
    headlines = headline_list(draw=draw)
    recipe, baseline = "", ""
    for number, text in _lines_of_results(path):
        try:
            line = parse_line(text)
            if line.is_case:
                node = headline(
                    recipe=recipe,
                    key=line.name,
                    kind=line.kind,
                    baseline=line.baseline or baseline,
                    translatable=False,
                )
                node.source, node.line = str(path), number
                headlines += node
            else:
                recipe = Gallery(env).find_page(line.name)
                baseline = line.baseline
        except ValueError:
            continue
    return [headlines]


def _lines_of_results(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines below the directive, as that would get them."""
    is_inside = False
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        if text.startswith(".. results::"):
            is_inside = True
        elif is_inside and text.strip():
            if not text.startswith("   "):
                return
            yield number, text[3:]


def list_cases(headlines: headline_list) -> list[headline]:
    """Return the headlines of a list, without questions."""
    return [node for node in headlines if isinstance(node, headline)]


def draw_headlines(env: BuildEnvironment, document: nodes.document) -> None:
    """Draw the headlines of a page, once it is translated."""
    for headlines in list(document.findall(headline_list)):
        headlines.replace_self(headlines["draw"](env, headlines))


def parse_line(text: str) -> Line:
    """Return what a line says. Raises ``ValueError`` if it cannot be read."""
    is_case = text[:1].isspace()
    match = _LINE.fullmatch(text.strip())
    if match is None or (is_case and not match["words"]):
        raise ValueError(f"{text.strip()!r}: write a line such as adam.10.fused.wall: words")
    kind = match["kind"] or ""
    if kind and kind not in KINDS:
        raise ValueError(f"{kind!r} is not a kind; choose among {', '.join(KINDS)}")
    return Line(
        name=match["key"],
        kind=kind,
        baseline=match["baseline"] or "",
        words=match["words"] or "",
        is_case=is_case,
    )


def _make_nodes(directive: SphinxDirective) -> Iterator[nodes.Element]:
    """Yield a headline for a line with a case, and a question for one with a recipe and words."""
    recipe, baseline, env = "", "", directive.env
    for text, (source, offset) in zip(directive.content, directive.content.items, strict=True):
        if not text.strip():
            continue
        line = parse_line(text)
        if line.is_case:
            if not recipe:
                raise ValueError(f"{line.name!r} stands below no recipe; name one at the margin")
            against = line.baseline or baseline
            if not against:
                raise ValueError(f"{line.name!r}: say against what, here or beside the recipe")
            node: nodes.Element = headline(
                recipe=recipe, key=line.name, kind=line.kind, baseline=against
            )
        else:
            recipe = Gallery(env).find_page(line.name)
            baseline = line.baseline
            if not line.words:
                continue
            node = question(recipe=recipe, baseline=baseline)
        node.rawsource, node.source, node.line = line.words, source, offset + 1
        words, problems = directive.state.inline_text(line.words, offset + 1)
        node += words
        yield node
        yield from problems

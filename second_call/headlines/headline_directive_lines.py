"""Headlines: which measurements of the recipes a page shows, in the words of that page.

A directive's lines name them; CONTRIBUTING.md tells how, below "Headline figures".
"""

import re
from collections.abc import Callable, Iterator

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import Reference, find_page

_LINE = re.compile(
    r"(?P<key>[\w./-]+)(?:\s+against\s+(?P<baseline>[\w.-]+))?(?:\s*:\s+(?P<words>\S.*))?"
)


class headline_list(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """Questions and headlines of a directive; ``draw`` makes nodes of them."""


class question(nodes.paragraph):  # noqa: N801
    """What a reader asks: ``recipe`` is the page that answers, ``baseline`` a variant or empty."""


class headline(nodes.paragraph):  # noqa: N801
    """Words of a case: ``key`` names its measurement, ``baseline`` a variant or another key."""


Drawer = Callable[[BuildEnvironment, headline_list], list[nodes.Node]]


def read_headlines(directive: SphinxDirective, draw: Drawer) -> list[nodes.Node]:
    """Return the list that the lines of a directive make; its words are messages of the page.

    Raises an error of the directive at the first line that cannot be read.
    """
    found = headline_list(draw=draw)
    try:
        found += _read_lines(directive)
    except ValueError as error:
        raise directive.error(str(error)) from None
    return [found]


def draw_headlines(env: BuildEnvironment, document: nodes.document) -> None:
    """Draw the headlines of a page, once it is translated."""
    for listed in list(document.findall(headline_list)):
        listed.replace_self(listed["draw"](env, listed))


def _read_lines(directive: SphinxDirective) -> Iterator[nodes.Element]:
    recipe, baseline, env = "", "", directive.env
    for text, (source, offset) in zip(directive.content, directive.content.items, strict=True):
        if not text.strip():
            continue
        line = _LINE.fullmatch(text.strip())
        if line is None or (text[0].isspace() and not line["words"]):
            raise ValueError(f"{text.strip()!r}: write a line such as adam.10.fused.gpu: words")
        against = line["baseline"] or ""
        if text[0].isspace():
            if not recipe:
                raise ValueError(f"{line['key']!r} stands below no recipe; name one at the margin")
            against = against or baseline
            if not against:
                raise ValueError(f"{line['key']!r}: say against what, here or beside the recipe")
            node: nodes.Element = headline(recipe=recipe, key=line["key"], baseline=against)
        else:
            recipe = find_page(env, Reference(recipe=line["key"], key=""), env.docname)
            baseline = against
            if not line["words"]:
                continue
            node = question(recipe=recipe, baseline=baseline)
        node.rawsource, node.source, node.line = line["words"], source, offset + 1
        words, problems = directive.state.inline_text(line["words"], offset + 1)
        node += words
        yield node
        yield from problems

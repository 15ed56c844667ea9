"""Formulas and pictures in the HTML of pages."""

import re
from html import escape
from pathlib import Path

import imagesize
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(_convert(node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; wide ones scroll inside themselves."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    start = self.starttag(node, "div", "", CLASS="math", tabindex="0")
    self.body.append(f"{start}{number}{_convert(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


def displayed_tex(node: nodes.math_block) -> str:
    """Return the TeX of a formula on lines of its own; empty lines divide several equations."""
    equations = re.split(r"\n\s*\n", node.astext().strip())
    own_environment = node.get("no-wrap", node.get("nowrap"))
    return ("\n" if own_environment else " \\\\\n").join(equations)


def _convert(node: nodes.Element, *, as_block: bool) -> str:
    tex = displayed_tex(node) if isinstance(node, nodes.math_block) else node.astext()
    try:
        return str(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logger.warning("formula %r: %s", tex, error, location=node, type="recorded_gallery")
        return f"<code>{escape(nodes.unescape(tex))}</code>"


def visit_image(self: HTML5Translator, node: nodes.image) -> None:
    """Write an image as Sphinx does, loaded when needed, its place kept by its size in pixels."""
    file = Path(self.builder.srcdir, node["uri"])  # Sphinx changes the address
    # Called by its name, because this function takes the method's place.
    HTML5Translator.visit_image(self, node)
    tag = self.body[-1]
    if not tag.startswith("<img "):
        return
    added = "" if " loading=" in tag else 'loading="lazy" '
    if file.is_file() and not {"width", "height", "scale"} & set(node.attributes):
        width, height = imagesize.get(file)
        if width > 0:  # else it is of a kind that is not known
            added = f'height="{height:.0f}" width="{width:.0f}" {added}'
    self.body[-1] = tag.replace("<img ", f"<img {added}", 1)

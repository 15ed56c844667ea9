"""Formulas as MathML, if conf.py asks for it, and pictures on recipes' pages, in HTML."""

import re
from html import escape
from pathlib import Path

import imagesize
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from ..recipes.find_recipes import find_file

logger = logging.getLogger(__name__)


def add_mathml(app: Sphinx, config: Config) -> None:
    """Register a renderer for MathML, which browsers draw themselves, if conf.py asks for it.

    With several renderers Sphinx would ask the project to choose, so no other project gets it.
    """
    if config.html_math_renderer == "mathml":
        app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(_convert(node))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; wide ones scroll inside themselves."""
    number = ""
    if node.get("number"):
        number = f'<span class="eqno">({node["number"]})</span>'
    start = self.starttag(node, "div", "", CLASS="math", tabindex="0")
    self.body.append(f"{start}{number}{_convert(node)}</div>\n")
    raise nodes.SkipNode


def displayed_tex(node: nodes.math_block) -> str:
    """Return the TeX of a formula on lines of its own; empty lines divide several equations."""
    equations = re.split(r"\n\s*\n", node.astext().strip())
    has_own_environment = node.get("no-wrap", node.get("nowrap"))
    if has_own_environment:
        return "\n".join(equations)
    return " \\\\\n".join(equations)


def can_convert(node: nodes.math | nodes.math_block) -> bool:
    """Return whether a formula can be written as MathML."""
    try:
        _make_mathml(node)
    except Exception:  # of many kinds, see below
        return False
    return True


def _find_tex(node: nodes.math | nodes.math_block) -> str:
    if isinstance(node, nodes.math_block):
        return displayed_tex(node)
    return str(node.astext())


def _make_mathml(node: nodes.math | nodes.math_block) -> str:
    is_block = isinstance(node, nodes.math_block)
    return str(tex2mathml(_find_tex(node), as_block=is_block))


def _convert(node: nodes.math | nodes.math_block) -> str:
    """Return a formula as MathML, or with a warning as it was written."""
    try:
        return _make_mathml(node)
    # docutils raises MathError for unknown commands, and others for what it did not foresee, such
    # as IndexError for a formula that begins with "^".
    except Exception as error:
        tex = _find_tex(node)
        logger.warning("formula %r: %s", tex, error, location=node, type="recorded_gallery")
        return f"<code>{escape(nodes.unescape(tex))}</code>"


class recipe_image(nodes.image):  # noqa: N801 (docutils names nodes so)
    """A picture on the page of a recipe; formats other than HTML treat it like any other."""


def mark_images(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn the pictures of a recipe's page into ``recipe_image`` before the page is written."""
    if app.builder.format != "html" or not find_file(app.config, Path(app.srcdir), docname):
        return
    for image in list(doctree.findall(nodes.image)):
        image.replace_self(recipe_image(image.rawsource, **image.attributes))


def visit_image(self: HTML5Translator, node: recipe_image) -> None:
    """Write an image that is loaded when needed, with its size in pixels to reserve its place."""
    file = Path(self.builder.srcdir, node["uri"])  # Sphinx changes the address
    self.visit_image(node)
    tag = self.body[-1]
    if not tag.startswith("<img "):
        return
    attributes = ""
    if " loading=" not in tag:
        attributes = 'loading="lazy" '
    has_size = any(name in node for name in ("width", "height", "scale"))
    if file.is_file() and not has_size:
        width, height = imagesize.get(file)
        if width > 0:  # -1 for unknown formats
            attributes = f'height="{height:.0f}" width="{width:.0f}" {attributes}'
    self.body[-1] = tag.replace("<img ", f"<img {attributes}", 1)

"""Formulas as MathML, which browsers draw themselves: no script, nothing fetched from elsewhere."""

from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def setup_math(app: Sphinx) -> None:
    """Offer the renderer to conf.py as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(_convert(node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; wide ones scroll inside themselves."""
    self.body.append(f'<div class="math" tabindex="0">{_convert(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _convert(node: nodes.Element, *, as_block: bool) -> str:
    tex = node.astext()
    try:
        return str(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logger.warning("formula %r: %s", tex, error, location=node, type="recipe_gallery")
        return f"<code>{escape(nodes.unescape(tex))}</code>"

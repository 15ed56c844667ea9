"""Charts of measurements: drawn at build time, with words of the reader's language."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from recipe_gallery import Priority, add_transform


def setup(app: Sphinx) -> None:
    """Add the directives."""
    from recipe_gallery.pages import ONLY_HTML, skip
    from recipe_gallery.pages.markdown import write_block
    from recipe_gallery.pages.measurements.naming import EVENT

    from . import directive, source

    app.add_directive("names", source.Names)
    app.add_directive("chart", directive.ChartDirective)
    app.add_node(source.names, html=(skip, None), **ONLY_HTML)
    app.add_node(directive.chart, html=(directive.visit_chart, directive.depart_chart), **ONLY_HTML)
    shown: Any = dict.fromkeys(ONLY_HTML, (_pass, _pass))
    app.add_node(directive.replaced, **shown)
    write_block.register(source.names, lambda _node, _page: "")
    write_block.register(directive.chart, directive.write_chart)
    add_transform(app, directive.finish_charts, Priority.NOTE_PROBLEMS)
    app.connect(EVENT, source.find_name)
    app.connect("html-page-context", _load_script)


def _pass(self: nodes.NodeVisitor, _node: nodes.Element) -> None:
    """Show what is inside."""


def _load_script(
    app: Sphinx, _page: str, _template: str, _context: Any, doctree: nodes.document | None
) -> None:
    """Load the explorer's script on pages that have one, and on no other."""
    from .directive import chart
    from .explorer import SCRIPT

    if doctree and any("explorer" in node.get("drawing", "") for node in doctree.findall(chart)):
        app.add_js_file(SCRIPT, loading_method="defer")

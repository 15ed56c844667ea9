"""How a recipe's page is laid out: its answer on top, tables that fit a phone, and its foot."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from recipe_gallery import Priority, add_transform

from . import answer, headings


def setup(app: Sphinx) -> None:
    """Add what changes recipes' pages."""
    from recipe_gallery.pages import ONLY_HTML

    from . import cases, foot, origin, tables

    # Whether it is a warning if a recipe's docstring has no answer
    app.add_config_value("second_call_answer_required", False, "env", bool)
    add_transform(app, headings.mark_headings, Priority.ADD_TO_PAGE)
    cases.add_cases(app)
    app.connect("builder-inited", _add_transforms)
    app.add_node(origin.origin, **ONLY_HTML)
    app.connect("doctree-resolved", foot.add_colab_link, priority=Priority.ADD_LINKS)
    app.connect("doctree-resolved", origin.add_origin, priority=Priority.ADD_LINKS)
    app.connect("doctree-resolved", tables.label_cells, priority=Priority.ADD_LINKS)
    app.connect("html-page-context", answer.describe_answer)
    app.connect("html-page-context", foot.describe_foot)
    visit, depart = tables.visit_entry, HTML5Translator.depart_entry
    app.add_node(nodes.entry, override=True, html=(visit, depart))


def _add_transforms(app: Sphinx) -> None:
    """Make headings and the answer, but for templates, whose messages are their author's lines."""
    if app.builder.name != "gettext":
        add_transform(app, headings.make_headings, Priority.MAKE_HEADINGS)
        add_transform(app, answer.make_answer, Priority.MAKE_HEADINGS)

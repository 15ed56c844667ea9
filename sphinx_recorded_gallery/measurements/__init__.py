"""Measurements of recipes: rows, ranges, replicates, releases; roles, claims and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Add roles, tables and directives for measurements."""
    from ..hooks import ONLY_HTML, Priority, add_recipe_transform
    from ..pages.markdown import join_blocks, write_block
    from ..project import add_extension
    from . import measured_tables, names_for_readers, quantities_directive, release_page, roles

    description = add_extension(app, __name__)
    app.add_event(names_for_readers.EVENT)
    for name, node in roles.ROLES.items():
        app.add_role(name, roles.MeasuredRole())
        app.add_node(node, html=(roles.visit_measurement, roles.depart_measurement))
    app.add_node(roles.measurement_list, html=(roles.visit_measurement_list, None), **ONLY_HTML)
    write_block.register(roles.measurement_list, lambda _node, _page: "")
    app.add_directive("quantities", quantities_directive.QuantityTable)
    app.add_directive("releases", release_page.Releases)
    inside: Any = dict.fromkeys(ONLY_HTML, (_pass_through, _pass_through))
    folded = release_page.visit_table, release_page.depart_table
    app.add_node(release_page.release_table, html=folded, **inside)
    write_block.register(
        release_page.release_table, lambda node, page: join_blocks(node.children, page)
    )
    add_recipe_transform(app, measured_tables.mark_tables, Priority.MARK_TABLES)
    app.connect("builder-inited", _fill_pages)
    return description


def _pass_through(_self: object, _node: object) -> None:
    """Write only the children of a node."""


def _fill_pages(app: Sphinx) -> None:
    from ..hooks import Priority, add_transform
    from . import measured_tables, release_page, roles

    if app.builder.name != "gettext":  # templates keep the text of the roles
        add_transform(app, measured_tables.fill_tables, Priority.FILL_MEASUREMENTS)
        add_transform(app, release_page.fill_releases, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.fill_measurements, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.note_problems, Priority.NOTE_PROBLEMS)

"""What recipes measured: rows, keys, ranges and replicates; roles, claims and tables on pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Let pages name what was measured, and show tables of it."""
    from ..hooks import ONLY_HTML, Priority, add_recipe_transform
    from ..pages.markdown import write_block
    from ..project import add_extension
    from . import names, roles, tables

    description = add_extension(app, __name__)
    app.add_event(names.EVENT)
    for name, node in roles.ROLES.items():
        app.add_role(name, roles.MeasuredRole())
        app.add_node(node, html=(roles.visit_measurement, roles.depart_measurement))
    app.add_node(roles.measurement_list, html=(roles.visit_measurement_list, None), **ONLY_HTML)
    write_block.register(roles.measurement_list, lambda _node, _page: "")
    add_recipe_transform(app, tables.mark_tables, Priority.MARK_TABLES)
    app.connect("builder-inited", _fill_pages)
    return description


def _fill_pages(app: Sphinx) -> None:
    from ..hooks import Priority, add_transform
    from . import roles, tables

    if app.builder.name != "gettext":  # templates hold the roles as they are written
        add_transform(app, tables.fill_tables, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.fill_measurements, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.note_problems, Priority.NOTE_PROBLEMS)

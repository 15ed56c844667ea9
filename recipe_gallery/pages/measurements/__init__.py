"""Measured figures and claims on a page: in its prose, and in the tables that were recorded.

A page names them by key; it is read again when one is another by now.
"""

from typing import Any

from sphinx.application import Sphinx

from ... import Priority, add_transform
from ..markdown import write_block
from . import naming, roles, tables


def setup(app: Sphinx, only_html: dict[str, Any]) -> None:
    """Add the roles; ``only_html`` says how other formats leave a node out."""
    app.add_event(naming.EVENT)
    for name, node in roles.ROLES.items():
        app.add_role(name, roles.MeasuredRole())
        app.add_node(node, html=(roles.visit_measurement, roles.depart_measurement))
    app.add_node(roles.measurement_list, html=(roles.visit_measurement_list, None), **only_html)
    write_block.register(roles.measurement_list, lambda _node, _page: "")
    app.connect("builder-inited", _add_transforms)
    app.connect("env-updated", roles.tell_problems)


def _add_transforms(app: Sphinx) -> None:
    if app.builder.name != "gettext":  # templates hold the roles as they are written
        add_transform(app, tables.fill_tables, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.fill_measurements, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.note_problems, Priority.NOTE_PROBLEMS)

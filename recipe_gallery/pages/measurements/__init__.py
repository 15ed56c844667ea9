"""Measured figures and claims in prose: ``:measured:`` and ``:claim:``.

A role leaves a node that names a key. When the page is translated, the figure is put there in the
reader's form; the page is read again when the figure is another one.
"""

from typing import Any

from sphinx.application import Sphinx

from ... import Priority, add_transform
from ..markdown import write_block


def setup(app: Sphinx, only_html: dict[str, Any]) -> None:
    """Add the roles; ``only_html`` says how other formats leave a node out."""
    from . import fill, naming, roles, write

    app.add_event(naming.EVENT)
    app.add_role("measured", roles.MeasuredRole())
    app.add_role("claim", roles.MeasuredRole())
    app.add_node(roles.measured, html=(write.visit_measurement, write.depart_measured))
    app.add_node(roles.claim, html=(write.visit_measurement, write.depart_claim))
    app.add_node(fill.measurement_list, html=(write.visit_measurement_list, None), **only_html)
    write_block.register(fill.measurement_list, lambda _node, _page: "")
    app.connect("builder-inited", _add_transforms)
    app.connect("env-updated", fill.tell_problems)


def _add_transforms(app: Sphinx) -> None:
    if app.builder.name != "gettext":  # templates hold the roles as they are written
        from . import fill, tables

        add_transform(app, tables.fill_tables, Priority.FILL_MEASUREMENTS)
        add_transform(app, fill.fill_measurements, Priority.FILL_MEASUREMENTS)
        add_transform(app, fill.note_problems, Priority.NOTE_PROBLEMS)

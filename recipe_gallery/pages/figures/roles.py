"""The roles ``measured`` and ``claim``: nodes of a page that are filled in after translation."""

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole

from ...recipes.figures.references import Reference, parse_claim, parse_reference
from .known import find_page


class measured(nodes.inline):  # noqa: N801 (docutils names nodes so)
    """A figure: ``recipe`` is the page of its recipe; its text is the key until it is filled in."""


class claim(nodes.inline):  # noqa: N801
    """A sentence that recordings confirm; ``evidence`` holds lines about it."""


# By the name of the role
ROLES = {"measured": measured, "claim": claim}


class FigureRole(SphinxRole):
    """Makes the node of either role."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the node; what is wrong with its text is told when the page has been read."""
        return [make_node(self.env, self.env.docname, self.name, self.rawtext, self.text)], []


def make_node(
    env: BuildEnvironment, docname: str, role: str, rawtext: str, text: str
) -> nodes.inline:
    """Return the node of a role that stands on the page ``docname``, from where it may be taken."""
    try:
        if role == "measured":
            return _make_measured(env, docname, rawtext, parse_reference(text))
        parsed = parse_claim(text)
        node = claim(rawtext, "", recipe=find_page(env, parsed.claim, docname))
        node["key"] = parsed.claim.key
        for piece in parsed.pieces:
            if isinstance(piece, Reference):
                node += _make_measured(env, docname, "", piece)
            else:
                node += nodes.Text(piece)
        return node
    except ValueError as error:
        return ROLES[role](rawtext, text, problem=str(error))


def _make_measured(env: BuildEnvironment, docname: str, rawtext: str, named: Reference) -> measured:
    page = find_page(env, named, docname)
    return measured(rawtext, named.key, recipe=page, key=named.key, form=named.form)

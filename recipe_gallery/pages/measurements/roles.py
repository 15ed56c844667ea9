"""The roles ``measured`` and ``claim``: nodes of a page that are filled in after translation."""

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole

from ...recipes.references import Reference, parse_claim, parse_reference
from .known import find_page


class measured(nodes.inline):  # noqa: N801 (docutils names nodes so)
    """A figure: ``recipe`` is the page of its recipe; its text is the key until it is filled in."""


class claim(nodes.inline):  # noqa: N801
    """A sentence that recordings confirm; ``evidence`` holds lines about it."""


# By the name of the role
ROLES = {"measured": measured, "claim": claim}


class MeasuredRole(SphinxRole):
    """Makes the node of either role."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the node; what is wrong with its text is told when the page has been read."""
        node = make_node(self.env, self.env.docname, self.name, self.text)
        node.rawsource = self.rawtext
        return [node], []


def make_node(
    env: BuildEnvironment, docname: str, role: str, text: str, *, borrowed: bool = False
) -> nodes.inline:
    """Return the node of a role in a text of the page ``docname``.

    A text that another page shows is ``borrowed``: that page has no evidence of it and no problems.
    """
    try:
        node = _make_node(env, docname, role, text)
    except ValueError as error:
        node = ROLES[role]("", text, problem=str(error))
    if borrowed:
        for each in node.findall(lambda n: isinstance(n, measured | claim)):
            each["borrowed"] = True
    return node


def _make_node(env: BuildEnvironment, docname: str, role: str, text: str) -> nodes.inline:
    if role == "measured":
        return _make_measured(env, docname, parse_reference(text))
    parsed = parse_claim(text)
    node = claim(recipe=find_page(env, parsed.claim, docname), key=parsed.claim.key)
    for piece in parsed.pieces:
        if isinstance(piece, Reference):
            node += _make_measured(env, docname, piece)
        else:
            node += nodes.Text(piece)
    return node


def _make_measured(env: BuildEnvironment, docname: str, named: Reference) -> measured:
    page = find_page(env, named, docname)
    return measured("", named.key, recipe=page, key=named.key, form=named.form)

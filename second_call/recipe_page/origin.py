"""Where a notebook or script comes from: page, versions and licences, below its title."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.pages.header import describe_versions
from recipe_gallery.pages.markdown import Page, write_block
from recipe_gallery.recipes.cell_marks import DOWNLOADS_ONLY
from recipe_gallery.recipes.recorded_page import RecordedPage, load_page

from .foot import full_address

_ = get_translation("second_call")


class origin(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A list for downloads; the page says the same at its head and foot."""


def add_origin(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the list under the title of a recipe's page."""
    page = load_page(app.env, docname)
    title = next(iter(doctree.findall(nodes.title)), None)
    if page is None or title is None:
        return
    address = full_address(app, docname)
    lines = [nodes.reference("", address, refuri=address)] if address else []
    if isinstance(page, RecordedPage):
        versions = describe_versions(page.recording, app.config.recipe_gallery_package_names)
        lines.append(nodes.Text(versions))
    lines.append(nodes.Text(_("Code: BSD-3-Clause. Text and figures: CC BY 4.0.")))
    items = (nodes.list_item("", nodes.paragraph("", "", line)) for line in lines)
    head = title.parent.first_child_matching_class(nodes.container)
    below = title.parent.index(title) if head is None else head
    title.parent.insert(
        below + 1, origin("", nodes.bullet_list("", *items), **{DOWNLOADS_ONLY: True})
    )


@write_block.register
def _write(node: origin, page: Page) -> str:
    return write_block(node[0], page)

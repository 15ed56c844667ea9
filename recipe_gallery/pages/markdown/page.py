"""What the nodes of a page do not tell: where it is published, numbers of figures and sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.builders import Builder
from sphinx.util import logging

logger = logging.getLogger(__name__)

# What to do about a warning of this package
ACCEPT = 'accept it: suppress_warnings = ["recipe_gallery.notebook"]'


@dataclass(frozen=True)
class Page:
    """The page that is being written as Markdown."""

    builder: Builder
    docname: str

    @property
    def site(self) -> str:
        """Where the site is published, with a slash at its end; empty if that is not known."""
        address = self.builder.config.html_baseurl
        return f"{address.rstrip('/')}/" if address else ""

    def address(self, node: nodes.Element) -> str:
        """Return where a link or a picture leads, from anywhere; empty if that is not known."""
        here = urljoin(self.site, self.builder.get_target_uri(self.docname))
        images = self.builder.env.images
        if "filename" in node:  # a file to download
            found = urljoin(self.site, f"_downloads/{node['filename']}")
        elif node.get("uri") in images:
            found = urljoin(self.site, f"_images/{images[node['uri']][1]}")
        elif "refid" in node:
            found = f"{here}#{node['refid']}"
        else:
            found = node.get("refuri") or node.get("uri") or ""
        try:
            found = urljoin(here, found)
            return found if urlsplit(found).scheme else ""
        except ValueError:  # no address, such as https://[a
            return ""

    def number(self, node: nodes.Element) -> str:
        """Return what stands before the caption of a figure, table or code, such as ``Fig. 1 ``."""
        kind = self.builder.env.domains.standard_domain.get_enumerable_node_type(node)
        numbers = self.builder.env.toc_fignumbers.get(self.docname, {}).get(kind or "", {})
        number = next((numbers[each] for each in node["ids"] if each in numbers), None)
        if number is None:
            return ""
        return self.builder.config.numfig_format[kind] % ".".join(map(str, number)) + " "

    def section_number(self, section: nodes.Element) -> str:
        """Return what stands before the title of a section, such as ``1.2. ``."""
        numbers = self.builder.env.toc_secnumbers.get(self.docname, {})
        return self.dotted(numbers.get(f"#{section['ids'][0]}") or numbers.get("") or ())

    def dotted(self, number: Sequence[int]) -> str:
        """Return a number of a section as a page shows it; nothing of none."""
        suffix = self.builder.config.html_secnumber_suffix
        return ".".join(map(str, number)) + suffix if number else ""

    def warn(self, node: nodes.Node, text: str) -> None:
        """Tell what a notebook does not have, with the file and the line."""
        logger.warning("%s", text, location=node, type="recipe_gallery", subtype="notebook")

    def warn_of_unknown(self, node: nodes.Node) -> None:
        """Tell that no more than the words of a node are in the notebook."""
        self.warn(
            node,
            f"{type(node).__name__}: notebook and script hold its words alone; say it with other "
            f"markup, or {ACCEPT}",
        )


def is_inside(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    """Tell whether a node is part of one of these kinds."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False

"""Pictures keep their place on a page while they load, and load when they are needed."""

from pathlib import Path

import imagesize
from docutils import nodes
from sphinx.writers.html5 import HTML5Translator


def visit_image(self: HTML5Translator, node: nodes.image) -> None:
    """Write an image as Sphinx does, with its size in pixels."""
    file = Path(self.builder.srcdir, node["uri"])  # Sphinx changes the address
    size = imagesize.get(file) if file.is_file() else (-1, -1)
    # Called by its name, because this function takes the method's place.
    HTML5Translator.visit_image(self, node)
    if not self.body[-1].startswith("<img "):
        return
    attributes = {"loading": "lazy"}
    if size[0] > 0 and not {"width", "height", "scale"} & set(node.attributes):
        attributes |= {"width": f"{size[0]:.0f}", "height": f"{size[1]:.0f}"}
    for name, value in attributes.items():
        if f" {name}=" not in self.body[-1]:
            self.body[-1] = self.body[-1].replace("<img ", f'<img {name}="{value}" ', 1)

"""What charts call cases, arms and parts: the directive ``names``, and ``label`` for all pages.

A recipe declares once how readers call what its rows call otherwise. Nothing of it is shown where
it stands; each is a message of the recipe's page::

    .. names::

       :graphs: CUDA graphs
       :busy: long input
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.errors import GalleryError
from recipe_gallery.outdated import watch
from recipe_gallery.recipes.figures.rows import slug
from recipe_gallery.recipes.gallery import find_file
from recipe_gallery.recipes.recipe import load_recipe

from ..nodes import translate_message

_DIRECTIVE = re.compile(r"^\.\. names::[ ]*\n(?P<fields>(?:[ ]+.*\n|[ ]*\n)*)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]+:(?P<name>[^:\n]+):[ ]+(?P<text>.+(?:\n[ ]+(?!:).+)*)", re.MULTILINE)


class names(nodes.Invisible, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """Paragraphs, for translators only."""


class Names(SphinxDirective):
    """Declares names."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the node that keeps them for translation."""
        found = names()
        for node in self.parse_content_to_nodes():
            for field in node.findall(nodes.field):
                body = field[1]
                plain = len(body) == 1 and all(isinstance(each, nodes.Text) for each in body[0])
                if not (plain and isinstance(body[0], nodes.paragraph)):
                    raise self.error(f"names: {field[0].astext()!r} needs a few words, no markup")
                found += body[0]
        if not len(found):
            raise self.error("names: there are none; write each as   :graphs: CUDA graphs")
        return [found]


def label(env: BuildEnvironment, docname: str, name: str) -> str:
    """Return what readers call ``name`` of the recipe ``docname``, in the language of this build.

    That is the name itself if the recipe declares nothing else. The page at hand is read again
    when it changes.
    """
    text = watch(env, declared_names, docname).get(slug(name), name)
    return watch(env, translate_message, docname, text)


def declared_names(env: BuildEnvironment, docname: str) -> dict[str, str]:
    """Return the names of a recipe's page by their slugs, untranslated."""
    file = find_file(env.config, Path(env.srcdir), docname)
    try:
        blocks = load_recipe(file.path, file.name).blocks if file else ()
    except GalleryError:  # replaying tells it
        return {}
    texts = [f"{block.content}\n" for block in blocks if block.type == "text"]
    declared = [each["fields"] for text in texts for each in _DIRECTIVE.finditer(text)]
    fields = [field for each in declared for field in _FIELD.finditer(each)]
    return {slug(field["name"]): " ".join(field["text"].split()) for field in fields}

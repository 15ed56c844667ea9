"""The recipes of the site in their order, and the names that they declare for charts."""

import re
from functools import partial
from pathlib import Path

from sphinx.environment import BuildEnvironment

from recipe_gallery.errors import GalleryError
from recipe_gallery.pages.measurements.known import all_files
from recipe_gallery.recipes.gallery import GalleryFile
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.rows import slug
from recipe_gallery.store import keep

_DIRECTIVE = re.compile(r"^\.\. names::[ ]*\n(?P<fields>(?:[ ]+.*\n|[ ]*\n)*)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]+:(?P<name>[^:\n]+):(?P<text>.*(?:\n[ ]+(?![ :]).+)*)", re.MULTILINE)


def declared_names(env: BuildEnvironment, docname: str) -> dict[str, str]:
    """Return the names that a recipe declares for charts by their slugs, untranslated."""
    file = all_files(env).get(docname)
    if file is None:
        return {}
    names: dict[str, str]
    names = keep(env, ("names", docname), [file.path], partial(_read_names, file))
    return names


def _read_names(file: GalleryFile) -> tuple[list[Path] | None, dict[str, str]]:
    try:
        recipe = load_recipe(file.path, file.name)
        files = recipe.files
    except GalleryError:  # replaying tells it
        return None, {}
    texts = [f"{block.content}\n" for block in recipe.blocks if block.type == "text"]
    declared = [each["fields"] for text in texts for each in _DIRECTIVE.finditer(text)]
    fields = [each for some in declared for each in _FIELD.finditer(some)]
    names = {slug(each["name"]): " ".join(each["text"].split()) or each["name"] for each in fields}
    return files, names


def list_recipes(env: BuildEnvironment) -> tuple[str, ...]:
    """Return the pages of all recipes, those first that ``second_call_recipes`` names."""
    first = {name: place for place, name in enumerate(env.config.second_call_recipes)}
    files = sorted(all_files(env).values(), key=lambda file: first.get(file.name, len(first)))
    return tuple(file.docname for file in files)

"""The recipes of the site in their order."""

from sphinx.environment import BuildEnvironment

from recipe_gallery.pages.measurements.known import all_files


def list_recipes(env: BuildEnvironment) -> tuple[str, ...]:
    """Return the pages of all recipes, those first that ``second_call_recipes`` names."""
    first = {name: place for place, name in enumerate(env.config.second_call_recipes)}
    files = sorted(all_files(env).values(), key=lambda file: first.get(file.name, len(first)))
    return tuple(file.docname for file in files)

"""The published site as its tests see it: languages, recipes, pages."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from sphinx_recorded_gallery.languages import load_languages
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.recipes.find_recipes import list_files
from tests.helpers.gallery import ROOT

LANGUAGES = [each for each in load_languages(ROOT).values() if each.published]
SOURCE, *TRANSLATED = LANGUAGES
RECIPES = [file.path for file in list_files(load_project(ROOT).config, ROOT)]
NAMES = [path.stem for path in RECIPES]

# To recipes that time what they do, a machine seems twenty times as slow as it is: they do the same
# on it, but call it less often to warm up and to measure. PyTorch takes its clock from here.
SLOWER = """
import time, timeit
timeit.default_timer = lambda: 20 * time.perf_counter()
"""

by_language = pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.code)
by_translation = pytest.mark.parametrize("language", TRANSLATED, ids=lambda each: each.code)
by_recipe = pytest.mark.parametrize("name", NAMES)
# Each recipe in one language by day, a different one for each, and in the others at night
by_recipe_and_language = pytest.mark.parametrize(
    ("name", "language"),
    [
        pytest.param(
            name,
            language,
            id=f"{name}-{language.code}",
            marks=[] if number % len(LANGUAGES) == place else pytest.mark.nightly,
        )
        for number, name in enumerate(NAMES)
        for place, language in enumerate(LANGUAGES)
    ],
)


def read(path: Path) -> BeautifulSoup:
    """Return a page as what a browser makes of it."""
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")

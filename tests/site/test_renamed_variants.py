"""Names of cases and variants that English readers get in place of a recipe's own words."""

from types import SimpleNamespace

import pytest

from second_call.renamed_variants import NAMES, name_in_english
from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.measurements.processes import read_processes
from sphinx_recorded_gallery.measurements.spans import read_spans
from sphinx_recorded_gallery.recipes.recording import read_recording
from tests.helpers.gallery import ROOT

ENGLISH = Language(code="en", name="English")


def name(docname: str, kind: str, word: str, language: str = "en") -> str | None:
    languages = {"en": ENGLISH, "ko": Language(code="ko", name="한국어")}
    config = SimpleNamespace(language=language, recorded_gallery_languages=languages)
    return name_in_english(SimpleNamespace(config=config), docname, kind, word)


def test_a_word_has_its_name_in_its_recipe_alone() -> None:
    assert name("recipes/token_generation", "name", "static") == "static cache"
    assert name("recipes/varying_sizes", "name", "static") is None
    assert name("recipes/token_generation", "quantity", "static") is None
    assert name("recipes/token_generation", "name", "static", language="ko") is None


@pytest.mark.parametrize("recipe", NAMES)
def test_each_renamed_word_is_one_that_the_recipe_measured(recipe: str) -> None:
    path = ROOT / f"recordings/{recipe}.ipynb"
    recording = read_recording(path, recipe)
    processes = read_processes(path, None, recording)
    words = set()
    for row in processes.page.rows:
        words |= {row.case, row.variant, str(row.size), row.size_name}
    for spans in read_spans(recording.notebook, path).values():
        words |= {spans.case, *spans.lanes}
    assert NAMES[recipe].keys() <= words

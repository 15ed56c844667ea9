"""Cards and neighbours: their order, what they draw, and what a build reads for them."""

import re
import shutil

import pytest

from tests.helpers.gallery import ROOT, SETTINGS, Gallery
from tests.helpers.measured_recipe import SPEEDUP, WINS, add, figure, store

SHORT = '''
    """
    A recipe
    ========

    %s
    """
    print(1)
'''


def titles(page: str) -> list[str]:
    return re.findall(r'recipe-card-title"><a [^>]*href="(\w+).html"', page)


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    for name in ("alpha", "beta", "gamma"):
        gallery.add(name, SHORT % f"About {name}.")
    gallery.configure(second_call_recipes=["gamma", "beta"])
    return gallery


def test_recipes_have_one_order_on_all_pages(site: Gallery) -> None:
    build = site.build()
    assert titles(build.page("recipes/index")) == ["gamma", "beta", "alpha"]
    build = site.build(second_call_recipes=["beta"])
    assert titles(build.page("recipes/index")) == ["beta", "alpha", "gamma"]


def test_a_page_has_the_title_of_its_neighbour_when_that_is_another(site: Gallery) -> None:
    """Neighbours are those of the site's order, not of the toctree's."""
    templates = site.root / "_templates"
    templates.mkdir()
    shutil.copy(ROOT / "_templates/neighbours.html", templates)
    shown = {"html_sidebars": {"**": ["neighbours.html"]}, "templates_path": ["_templates"]}
    by_name = SETTINGS["sphinx_gallery_conf"] | {"within_subsection_order": "FileNameSortKey"}
    site.configure(**shown, sphinx_gallery_conf=by_name, second_call_recipes=["gamma"])
    assert "Next recipe</span> A recipe</a>" in site.build().page("recipes/gamma")
    site.write("alpha", SHORT.replace("A recipe", "Another ") % "About alpha.")
    assert "Next recipe</span> Another</a>" in site.build().page("recipes/gamma")


def test_a_card_has_the_figures_of_its_sentence(gallery: Gallery) -> None:
    claims = f":claim:`fused <{WINS}>`, and :claim:`no {{other}} wins <no.such < fused.step>`"
    add(gallery, f"It is :measured:`{SPEEDUP}`, {claims}.")
    store(gallery, figure())
    build = gallery.build()
    card = re.sub(r"<[^>]+>", "", build.page("recipes/index"))
    assert "It is 2.7×, fused, and no [not measured yet] wins." in card
    assert not re.search("figure-list|popover", build.page("recipes/index"))
    # what is wrong is told once, at the recipe
    assert build.warnings.count("no measurement is called 'no.such'") == 1
    assert "index.rst" not in build.warnings
    store(gallery, figure(value=2.8))
    assert "It is 2.8×," in re.sub(r"<[^>]+>", "", gallery.build().page("recipes/index"))

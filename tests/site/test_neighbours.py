"""Neighbours of a recipe: their order, and whose titles a build reads for them."""

import re
import shutil

import pytest

from tests.helpers.gallery import ROOT, SETTINGS, Gallery

SHORT = '''
    """
    A recipe
    ========

    %s
    """
    print(1)
'''


def next_recipe(page: str) -> str | None:
    match = re.search(r'class="next" href="(\w+)\.html"', page)
    return match and match[1]


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    for name in ("alpha", "beta", "gamma"):
        gallery.add(name, SHORT % f"About {name}.")
    templates = gallery.root / "_templates"
    templates.mkdir()
    shutil.copy(ROOT / "_templates/neighbours.html", templates)
    gallery.configure(
        second_call_recipes=["gamma", "beta"],
        html_sidebars={"**": ["neighbours.html"]},
        templates_path=["_templates"],
    )
    return gallery


def test_recipes_have_the_order_of_the_site(site: Gallery) -> None:
    build = site.build()
    assert next_recipe(build.page("recipes/gamma")) == "beta"
    assert next_recipe(build.page("recipes/beta")) == "alpha"
    assert next_recipe(build.page("recipes/alpha")) is None
    build = site.build(second_call_recipes=["beta"])
    assert next_recipe(build.page("recipes/beta")) == "alpha"
    assert next_recipe(build.page("recipes/alpha")) == "gamma"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("gammabeta", "write a comma between 'gamma' and 'beta'"),
        ("gama", "did you mean 'gamma'?"),
        ("zzz", "remove it, or choose among: alpha, beta, gamma"),
    ],
)
def test_a_name_that_no_recipe_has_is_told_in_each_build(
    site: Gallery, name: str, remedy: str
) -> None:
    site.configure(second_call_recipes=[name, "alpha"])
    text = f"second_call_recipes names {name!r}, which is no recipe; {remedy}"
    for _build in range(2):
        assert site.build().warnings.count(f"{site.root}/conf.py: {text}") == 1


def test_a_name_that_stands_twice_is_told(site: Gallery) -> None:
    site.configure(second_call_recipes=["gamma", "beta", "gamma"])
    told = f"{site.root}/conf.py: second_call_recipes names 'gamma' twice; remove one of the lines"
    assert site.build().warnings.count(told) == 1


def test_a_recipe_that_the_order_lacks_is_told(site: Gallery) -> None:
    lacking = f"{site.root}/conf.py: second_call_recipes lacks 'alpha', so that menus do not show"
    assert site.build().warnings.count(lacking) == 1
    for complete in (["gamma", "beta", "alpha"], []):
        assert site.build(second_call_recipes=complete).warnings == ""


def test_no_page_leads_to_a_recipe_that_cannot_be_read(site: Gallery) -> None:
    broken = site.write("beta", f"{SHORT % 'About beta.'}    print(\n")
    assert next_recipe(site.build().page("recipes/gamma")) == "alpha"
    site.write("beta", SHORT % "About beta.")
    assert next_recipe(site.build().page("recipes/gamma")) == "beta"
    site.write("beta", f"{SHORT % 'About beta.'}    print(\n")
    site.build()
    broken.unlink()
    assert "refers to" not in site.build().warnings


def test_a_page_has_the_title_of_its_neighbour_when_that_is_another(site: Gallery) -> None:
    """Neighbours are those of the site's order, not of the toctree's."""
    by_name = SETTINGS["sphinx_gallery_conf"] | {"within_subsection_order": "FileNameSortKey"}
    site.configure(sphinx_gallery_conf=by_name, second_call_recipes=["gamma"])
    assert "Next recipe</span> A recipe</a>" in site.build().page("recipes/gamma")
    site.write("alpha", SHORT.replace("A recipe", "Another ") % "About alpha.")
    assert "Next recipe</span> Another</a>" in site.build().page("recipes/gamma")


def test_a_link_without_words_of_its_own_has_the_name_of_menus(gallery: Gallery) -> None:
    gallery.add("memory", SHORT % "About memory.")
    gallery.add("alpha", SHORT % "About alpha.")
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n   Results <results>\n")
    text = ":doc:`/recipes/memory` :doc:`this </recipes/memory>` :doc:`/recipes/alpha`"
    (gallery.root / "results.rst").write_text(f"Results of all\n==============\n\n{text}\n")
    gallery.add("beta", SHORT % "See :doc:`/results`.")
    build = gallery.build()
    shown = re.findall(r'href="recipes/(\w+)\.html"><span[^>]*>([^<]*)', build.page("results"))
    assert shown == [("memory", "Memory"), ("memory", "this"), ("alpha", "A recipe")]
    assert re.search(r">Results</span></a>\.", build.page("recipes/beta"))

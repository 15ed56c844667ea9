"""The roles ``measured`` and ``claim``: what a page and its downloads say, and what is told."""

import re

from gallery import Build, Gallery
from recipe_gallery.recipes.figures.figures import (
    ClaimRecord,
    Figure,
    Figures,
    store_figures,
)

RECIPE = '''
"""
Steps
=====

TEXT
"""

from IPython.display import display

ROWS = [
    ["Adam", "fused", 100, "speedup", 2.744, "x"],
    ["Adam", "fused", 100, "time", 0.01424, "s"],
    ["Adam", "fused", None, "kernels", 1234, ""],
]
NAMES = ["case", "arm", "size", "quantity", "value", "unit"]
ROWS = [dict(zip(NAMES, row)) for row in ROWS]
CLAIMS = [{"claim": "fused-wins", "holds": True, "evidence": "foreach 39 ms, fused 14 ms"}]
display(
    {"application/vnd.recipe-gallery.rows+json": {"rows": ROWS, "claims": CLAIMS}}, raw=True
)
'''
SPEEDUP = "adam.100.fused.speedup"


def add(gallery: Gallery, text: str, name: str = "steps") -> None:
    """Add the recorded recipe with some prose; no word of it makes the recording stale."""
    gallery.add(name, RECIPE)
    gallery.write(name, RECIPE.replace("TEXT", text))


def figure(key: str = SPEEDUP, **facts: object) -> Figure:
    case, *size, arm, quantity = key.split(".")
    names = {"case": case, "size": size[0] if size else None, "arm": arm, "quantity": quantity}
    known = {"unit": "x", "value": 2.744, "low": 2.61, "high": 2.88, "processes": 10, "hosts": 2}
    return Figure(**{"key": key, **names, **known, **facts})  # type: ignore[arg-type]


def claim(held: int = 6, of: int = 6, **facts: object) -> ClaimRecord:
    known = {"key": "fused-wins", "held": held, "of": of, "evidence": "foreach 39 ms, fused 14 ms"}
    return ClaimRecord(**{**known, **facts})  # type: ignore[arg-type]


def store(gallery: Gallery, *records: Figure | ClaimRecord, name: str = "steps") -> None:
    figures = {each.key: each for each in records if isinstance(each, Figure)}
    claims = {each.key: each for each in records if isinstance(each, ClaimRecord)}
    store_figures(gallery.recordings / f"{name}.ipynb", Figures(figures=figures, claims=claims))


def words(build: Build, page: str = "recipes/steps") -> str:
    """The text of a page as it is read, without what is opened only on demand."""
    html = build.page(page)
    html = re.sub(r'<span class="claim-evidence".*?</span></span>', "", html, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", "", html[html.index("<h1>") :])


def test_a_figure_shows_as_many_digits_as_its_interval_allows(gallery: Gallery) -> None:
    add(gallery, f"It is :measured:`{SPEEDUP}` as fast.")
    store(gallery, figure())
    build = gallery.build()
    assert build.warnings == ""
    assert "It is 2.7× as fast." in words(build)
    assert 'title="2.6 to 2.9× in 10 processes on 2 machines"' in build.page("recipes/steps")


def test_of_one_process_a_figure_has_two_digits(gallery: Gallery) -> None:
    add(
        gallery,
        f":measured:`{SPEEDUP}`, :measured:`adam.100.fused.time`, :claim:`it wins <fused-wins>`.",
    )
    build = gallery.build()
    assert build.warnings == ""
    assert "2.7×, 14\u00a0ms, it wins." in words(build)
    assert "measured in one process" in build.page("recipes/steps")


def test_a_claim_opens_its_evidence(gallery: Gallery) -> None:
    add(gallery, f"So :claim:`fused is {{{SPEEDUP}, number}} times {{{{as}}}} fast <fused-wins>`.")
    store(gallery, figure(), claim())
    build = gallery.build()
    assert build.warnings == ""
    assert "So fused is 2.7 times {as} fast." in words(build)
    html = build.page("recipes/steps")
    target = re.search(r'popovertarget="([\w-]+)" aria-label="Evidence"', html)
    assert target
    assert f'id="{target[1]}" role="note" popover>' in html
    assert "Holds in 6 of 6 processes on 2 machines:" in html
    assert "foreach 39 ms, fused 14 ms" in html

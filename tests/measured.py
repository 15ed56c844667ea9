"""A recipe that publishes figures and a claim, and what is stored of them, for tests."""

from gallery import Gallery
from recipe_gallery.recipes.measurements import ClaimRecord, Figure, Figures, store_figures
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import Replicate, append, replicates_path
from recipe_gallery.recipes.rows import Claim
from recipe_gallery.recipes.sources import read_sources

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
    names["spread_class"] = quantity
    known = {"unit": "x", "value": 2.744, "low": 2.61, "high": 2.88, "processes": 10, "hosts": 2}
    return Figure(**{"key": key, **names, **known, **facts})  # type: ignore[arg-type]


def claim(held: int = 6, of: int = 6, **facts: object) -> ClaimRecord:
    known = {"key": "fused-wins", "held": held, "of": of, "evidence": "foreach 39 ms, fused 14 ms"}
    return ClaimRecord(**{**known, **facts})  # type: ignore[arg-type]


def store(gallery: Gallery, *records: Figure | ClaimRecord, name: str = "steps") -> None:
    """Store figures and claims as if they had been computed from the processes recorded so far."""
    figures = {each.key: each for each in records if isinstance(each, Figure)}
    claims = {each.key: each for each in records if isinstance(each, ClaimRecord)}
    path = gallery.recordings / f"{name}.ipynb"
    recipe = name.rpartition("/")[2]
    sources = read_sources(path, load_recipe(gallery.recipes / f"{recipe}.py", recipe)).digest
    store_figures(path, Figures(figures=figures, claims=claims, sources=sources))


def add_replicate(gallery: Gallery, *claims: Claim, name: str = "steps") -> None:
    """Append a line to the replicates of a recipe, from the device of its recording."""
    recipe = load_recipe(gallery.recipes / f"{name}.py", name)
    recording = gallery.recording(name)
    facts = {"commit": None, "modified": False, "recorded": "2026-11-22T07:00:00", "seconds": 1.0}
    replicate = Replicate(
        **facts,  # type: ignore[arg-type]
        fingerprint=recipe.replicate_fingerprint,
        replicate=1,
        host="1f2e",
        device=dict(recording.facts["device"]),
        clocks={},
        versions={},
        claims=claims,
    )
    append(replicates_path(recording.path), replicate)

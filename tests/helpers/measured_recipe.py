"""A recipe that publishes figures, and processes that measured them, for tests."""

from collections.abc import Sequence
from dataclasses import replace

from sphinx_recorded_gallery.measurements.ranges import Measurement
from sphinx_recorded_gallery.measurements.replicates import Replicate, replicates_path
from sphinx_recorded_gallery.measurements.rows import Row
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from sphinx_recorded_gallery.record.write_recordings import append_replicate
from tests.helpers.gallery import Gallery

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
    ["Adam", "fused", 100, "step", 0.014, "s"],
    ["Adam", "foreach", 100, "step", 0.039, "s"],
]
NAMES = ["case", "variant", "size", "quantity", "value", "unit"]
ROWS = [dict(zip(NAMES, row)) for row in ROWS]
display({"application/vnd.recorded-gallery.rows+json": {"rows": ROWS}}, raw=True)
'''
SPEEDUP = "adam.100.fused.speedup"
WINS = "fused.step < foreach.step"


def add(gallery: Gallery, text: str, name: str = "steps") -> None:
    """Add the recorded recipe with some prose; no word of it makes the recording stale."""
    gallery.add(name, RECIPE)
    gallery.write(name, RECIPE.replace("TEXT", text))


def figure(key: str = SPEEDUP, **facts: object) -> Measurement:
    """Return a measurement as a page shows it, by default of 5 processes on 3 hosts."""
    case, *size, variant, quantity = key.split(".")
    names = {"case": case, "size": size[0] if size else None}
    names |= {"variant": variant, "quantity": quantity}
    known = {"unit": "x", "value": 2.744, "low": 2.61, "high": 2.88, "gpu_bound": False}
    counts = {"processes": 5, "hosts": 3}
    return Measurement(**{**names, **known, **counts, **facts})  # type: ignore[arg-type]


def steps(fused: float = 0.014) -> list[Row]:
    """Return rows that confirm ``WINS``, unless fused takes more than 39 ms."""
    known = {"case": "Adam", "size": 100, "quantity": "step", "unit": "s"}
    measured = {"fused": fused, "foreach": 0.039}
    return [Row(**known, variant=name, value=value) for name, value in measured.items()]  # type: ignore[arg-type]


def store(gallery: Gallery, *figures: Measurement, name: str = "steps") -> None:
    """Let processes have measured figures, in place of those recorded so far.

    Two run on the host of the page and one each on two others, so that value and range are those
    of the figures.
    """
    path = gallery.recordings / f"{name}.ipynb"
    replicates_path(path).unlink(missing_ok=True)
    here = str(gallery.recording(name).facts["host"])
    processes = [(here, 1, "value"), (here, 2, "value"), ("low", 1, "low"), ("high", 1, "high")]
    for host, number, end in processes:
        rows = [*(row_of(each, end) for each in figures), *steps()]
        add_replicate(gallery, rows=rows, name=name, replicate=number, host=host)


def row_of(figure: Measurement, end: str = "value") -> Row:
    """Return what a process published that measured the value of a figure, or an end of it."""
    names = ("case", "variant", "size", "quantity", "unit")
    return Row(**{each: getattr(figure, each) for each in names}, value=getattr(figure, end))


REPLICATE = Replicate(
    fingerprint="now",
    replicate=3,
    host="1f2e",
    device={"gpu": "Some GPU", "cpu": "CPU", "cores": 2},
    versions={},
    commit=None,
    modified=False,
    recorded="2026-11-22T07:00:00",
    seconds=1.0,
)


def add_replicate(
    gallery: Gallery, *, rows: Sequence[Row] = (), name: str = "steps", **facts: object
) -> None:
    """Append a line to the replicates of a recipe, from the device of its recording."""
    recipe_name = name.rpartition("/")[2]
    recipe = load_recipe(gallery.recipes / f"{recipe_name}.py", recipe_name)
    recording = gallery.recording(name)
    known = {
        "fingerprint": recipe.replicate_fingerprint,
        "device": dict(recording.facts["device"]),
        "rows": tuple(rows),
    }
    append_replicate(replace(REPLICATE, **known | facts), replicates_path(recording.path))

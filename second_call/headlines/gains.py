"""What a headline says on each machine: how much sooner work is done, after which wait."""

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import (
    GalleryError,
    Measurement,
    Measurements,
    Outcome,
    RecipeResults,
    all_files,
    find_recordings,
    load_results,
    look_up,
    note_problem,
    once,
    watch,
)

from .headline_directive_lines import headline


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A measurement compared with another one of the same kind."""

    measurement: Measurement
    baseline: Measurement
    ratio: Measurement  # above 1 where the measurement is the smaller one
    wall: Measurement | None  # the same of wall times, if the measurement is GPU time
    share: Measurement | None  # of the limit
    first_call: Measurement | None  # none if nothing is compiled
    break_even: Measurement | None  # in calls; none if nothing is to pay back, or nothing is saved
    compiles: bool  # whether the recipe times first calls of this case, of this variant or another

    @property
    def loses(self) -> bool:
        """Whether the work takes longer than before, by the measurement or by its wall time."""
        return any(each is not None and each.value < 1 for each in (self.ratio, self.wall))

    @property
    def pays_after(self) -> Measurement | None:
        """The break-even, if it is seen that anything is saved."""
        saved = self.wall or self.ratio
        return self.break_even if saved.low > 1 else None


def find_gain(measurements: Measurements, key: str, baseline: str) -> Gain:
    """Return what the measurement ``key`` says against a variant or the measurement of another key.

    Raises ``KeyError`` with the key that no recording has, ``ValueError`` if there is no ratio.
    """
    known = measurements.by_key
    measurement = known[key]
    before = known[baseline if "." in baseline else replace(measurement, variant=baseline).key]
    related = {
        quantity: known.get(replace(measurement, quantity=quantity).key)
        for quantity in ("wall", "share", "first_call", "break_even")
    }
    base_wall = known.get(replace(before, quantity="wall").key)
    wall = None
    if measurement.quantity == "gpu" and related["wall"] and base_wall:
        wall = measurements.compare(base_wall.key, related["wall"].key)
    first_calls = [each for each in known.values() if each.quantity == "first_call"]
    # the recipe's own speed-ups and break-evens are against the variant that has none
    is_own = replace(before, quantity="speedup").key not in known
    ratio = measurements.compare(before.key, measurement.key)
    if ratio is None:
        raise ValueError(f"{measurement.key!r} and {before.key!r} have no ratio: one of them is 0")
    return Gain(
        compiles=any(
            (each.case, each.size) == (measurement.case, measurement.size) for each in first_calls
        ),
        measurement=measurement,
        baseline=before,
        ratio=ratio,
        wall=wall,
        share=related["share"],
        first_call=related["first_call"] if measurement.quantity != "first_call" else None,
        break_even=related["break_even"] if is_own else None,
    )


def find_gains(env: BuildEnvironment, words: headline) -> list[tuple[str, Gain | None]]:
    """Return the gain on each machine on which its recipe was recorded, the published first.

    There is none where a machine has measured nothing, or what has no ratio.
    """
    found: list[tuple[str, Gain | None]] = []
    for place, known in enumerate(measured_of(env, words["recipe"])):
        problem = ""
        try:
            gain = find_gain(known.measurements, words["key"], words["baseline"])
            found.append((known.device, gain))
        except KeyError as error:
            lookup = look_up(env, words["recipe"], error.args[0])
            # another machine, or a run on a CPU, need not have measured it
            if not place and lookup.outcome is not Outcome.LEFT_TO_GPU:
                unknown = f"no measurement is called {error.args[0]!r}"
                problem = lookup.problem or unknown
        except ValueError as error:
            problem = str(error)
            found.append((known.device, None))
        if problem:
            told = GalleryError(problem, path=words.source, line=words.line)
            note_problem(env, str(told))
    return found or [("", None)]


def measured_of(env: BuildEnvironment, docname: str) -> list[RecipeResults]:
    """Return a recipe's current recordings: the one its page shows, then other machines'."""
    machines = watch(env, list_machines, docname)
    own, *others = [watch(env, load_results, docname, each) for each in ("", *machines)]
    for other in others:  # the recipe's own page tells of its own
        if other and other.problem:
            note_problem(env, other.problem)
    return [each for each in (own, *others) if each and not each.problem]


def list_machines(env: BuildEnvironment, docname: str) -> list[str]:
    """Return on which other machines a recipe was recorded, by its page."""
    return once(env, _find_machines).get(docname, [])


def _find_machines(env: BuildEnvironment) -> defaultdict[str, list[str]]:
    """Return the machines of each recipe, by its page."""
    files = once(env, all_files)
    pages = {file.name: docname for docname, file in files.items()}
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for _path, machine, name in find_recordings(folder, files.values()):
        if machine and name:
            found[pages[name]].append(machine)
    return found

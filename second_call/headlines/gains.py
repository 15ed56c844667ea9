"""What a headline says on each machine: how much sooner work is done, after which startup."""

import math
from dataclasses import dataclass, replace
from enum import Enum

from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import (
    Gallery,
    GalleryError,
    Measurement,
    Measurements,
    RecipeResults,
    note_problem,
)

from .headline_directive_lines import GRAPH, PLAIN, headline

BUSY_FROM = 0.8  # share of the wall time in which the GPU works; below, it waits
USED_FROM = 0.01  # below, the GPU has no part in the work
START_UP = "process.compiler.start_up"


class State(Enum):
    """What the work waits for before the change, or needs; in the order of the results page."""

    WAITS = "gpu-waits"
    BUSY = "gpu-busy"
    MEMORY = "memory"
    STARTUP = "startup"
    OTHER = "other"  # the share of the GPU is not known, or it has none


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of two variants: its measurement, and the times beside it if they were measured."""

    measurement: Measurement
    wall: Measurement | None
    gpu: Measurement | None

    @property
    def busy_share(self) -> float | None:
        """The share of the wall time in which the GPU works, 1 at most; None if unknown."""
        if self.wall is None or self.gpu is None or not self.wall.value:
            return None
        return min(1.0, self.gpu.value / self.wall.value)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A measurement compared with another one of the same kind."""

    before: Side
    after: Side
    ratio: Measurement  # above 1 where less is measured after the change
    wall_ratio: Measurement | None  # the same of wall times, if the measurement is GPU time
    share: Measurement | None  # of the limit
    start_up: Measurement | None  # of the compiler, in each process
    first_call: Measurement | None  # none if nothing is compiled
    ready: Measurement | None  # how long it takes to get ready
    ready_before: Measurement | None  # the same of what it is compared with
    break_even: Measurement | None  # in calls; none if nothing is to pay back, or nothing is saved
    times_first_calls: bool  # whether the recipe does for this case, of this variant or another
    kind: str  # what the author calls it: one of ``KINDS``, or empty

    @property
    def state(self) -> State:
        """What the work waits for before the change, or needs."""
        quantity = self.after.measurement.quantity
        if quantity == "memory":
            return State.MEMORY
        if quantity not in ("wall", "gpu"):
            return State.STARTUP
        share = self.before.busy_share
        if share is None or share < USED_FROM:
            return State.OTHER
        if share >= BUSY_FROM:
            return State.BUSY
        return State.WAITS

    @property
    def is_seen(self) -> bool:
        """Whether the ratio is a gain in the two digits that readers see of it."""
        return float(f"{self.ratio.value:.2g}") > 1

    @property
    def compiles_nothing(self) -> bool:
        """Whether this variant has no first call: it is plain, or others of the case have one."""
        return self.first_call is None and (self.times_first_calls or self.kind == PLAIN)

    @property
    def has_unknown_capture(self) -> bool:
        """Whether it captures a graph, which takes time that its recipe has not measured."""
        return self.kind == GRAPH and self.startup is None

    @property
    def startup(self) -> float | None:
        """The seconds that a process takes once: the compiler's start and the first call.

        Where nothing is compiled, how long it takes to get ready; None if that was not measured.
        """
        if self.first_call and self.start_up:
            return self.first_call.value + self.start_up.value
        if self.first_call:
            return self.first_call.value
        if self.ready:
            return self.ready.value
        return None

    @property
    def pays_after(self) -> Measurement | None:
        """The break-even, if it is seen that anything is saved."""
        if self.saving.low > 1:
            return self.break_even
        return None

    @property
    def saving(self) -> Measurement:
        """By which factor the wall time of a call is less, or else what is measured."""
        return self.wall_ratio or self.ratio

    @property
    def capture_pays_after(self) -> int | None:
        """After how many calls a graph has paid for its capture, where nothing is compiled.

        As in recipes, the price is what the first three calls take more than three later ones.
        None if that was not measured.
        """
        before = self.before.wall
        after = self.after.wall
        if not (self.ready and self.ready_before and before and after) or self.first_call:
            return None
        saved = before.value - after.value
        if saved <= 0:
            return None
        price = self.ready.value - self.ready_before.value + 3 * saved
        return max(1, math.ceil(price / saved))


def find_gain(measurements: Measurements, key: str, baseline: str, *, kind: str = "") -> Gain:
    """Return what the measurement ``key`` says against a variant or the measurement of another key.

    Raises ``KeyError`` with the key that no recording has, ``ValueError`` if there is no ratio.
    """
    by_key = measurements.by_key
    after = _find_side(measurements, by_key[key])
    measurement = after.measurement
    before_key = baseline
    if "." not in baseline:
        before_key = replace(measurement, variant=baseline).key
    before = _find_side(measurements, by_key[before_key])
    ratio = measurements.find_ratio(before_key, measurement.key)
    if ratio is None:
        raise ValueError(f"{measurement.key!r} and {before_key!r} have no ratio: one of them is 0")
    wall_ratio = None
    if measurement.quantity == "gpu" and before.wall and after.wall:
        wall_ratio = measurements.find_ratio(before.wall.key, after.wall.key)

    def beside(quantity: str) -> Measurement | None:
        return by_key.get(replace(measurement, quantity=quantity).key)

    first_call = ready = ready_before = break_even = None
    if measurement.quantity in ("wall", "gpu"):
        first_call = beside("first_call")
        graphs = beside("graphs")
        # Without a CUDA graph, the time until a variant is ready is that of its first calls, and no
        # startup.
        captures_nothing = graphs is not None and graphs.value == 0
        if not captures_nothing:
            ready = beside("ready")
            ready_before = by_key.get(replace(before.measurement, quantity="ready").key)
        # The recipe's own break-evens are against the variant that has no speed-up.
        speedup_key = replace(before.measurement, quantity="speedup").key
        if speedup_key not in by_key:
            break_even = beside("break_even")
    return Gain(
        before=before,
        after=after,
        ratio=ratio,
        wall_ratio=wall_ratio,
        share=beside("share"),
        start_up=by_key.get(START_UP),
        first_call=first_call,
        ready=ready,
        ready_before=ready_before,
        break_even=break_even,
        times_first_calls=_times_first_calls(measurements, measurement),
        kind=kind,
    )


def _times_first_calls(measurements: Measurements, measurement: Measurement) -> bool:
    """Tell whether the first call of any variant was timed, in the same case at the same size."""
    for other in measurements.by_key.values():
        is_same_case = (other.case, other.size) == (measurement.case, measurement.size)
        if is_same_case and other.quantity == "first_call":
            return True
    return False


def _find_side(measurements: Measurements, measurement: Measurement) -> Side:
    by_key = measurements.by_key
    return Side(
        measurement=measurement,
        wall=by_key.get(replace(measurement, quantity="wall").key),
        gpu=by_key.get(replace(measurement, quantity="gpu").key),
    )


def find_gains(
    env: BuildEnvironment, words: headline
) -> list[tuple[RecipeResults | None, Gain | None]]:
    """Return the gain on each machine on which its recipe was recorded, the published first.

    There is none where a machine has measured nothing, or what has no ratio.
    """
    gallery = Gallery(env)
    gains: list[tuple[RecipeResults | None, Gain | None]] = []
    for number, results in enumerate(measured_of(env, words["recipe"])):
        problem = ""
        try:
            gain = find_gain(
                results.measurements,
                words["key"],
                words["baseline"],
                kind=words["kind"],
            )
            gains.append((results, gain))
        except KeyError as error:
            missing_key = error.args[0]
            lookup = gallery.look_up(words["recipe"], missing_key)
            is_published = number == 0
            # another machine, or a run on a CPU, need not have measured it
            if is_published and not lookup.is_left_to_gpu:
                problem = lookup.problem or f"no measurement is called {missing_key!r}"
        except ValueError as error:
            problem = str(error)
            gains.append((results, None))
        if problem:
            note_problem(env, GalleryError(problem, path=words.source, line=words.line))
    return gains or [(None, None)]


def published_gains(env: BuildEnvironment, words: list[headline]) -> list[tuple[headline, Gain]]:
    """Return the headlines that were measured, each with the gain that its recipe's page shows."""
    gains = []
    for node in words:
        _results, gain = find_gains(env, node)[0]
        if gain:
            gains.append((node, gain))
    return gains


def measured_of(env: BuildEnvironment, docname: str) -> list[RecipeResults]:
    """Return a recipe's current recordings: the one its page shows, then other machines'."""
    gallery = Gallery(env)
    measured = []
    published = gallery.load_results(docname)
    if published and not published.problem:  # its own page tells of a problem
        measured.append(published)
    for machine in gallery.list_machines(docname):
        results = gallery.load_results(docname, machine)
        if results is None:
            continue
        if results.problem:
            note_problem(env, results.problem)
        else:
            measured.append(results)
    return measured

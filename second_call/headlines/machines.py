"""The gains of a page's headlines, by machine, and what is wrong with the keys they name."""

from dataclasses import dataclass

from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from recipe_gallery.errors import GalleryError
from recipe_gallery.pages.measurements.known import FIGURE, answers, list_machines
from recipe_gallery.store import store_of, watch

from ..figures.summary import Measured, summarize
from .gains import Gain, find_gain
from .lines import headline

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A headline with what one machine measured; no gain where that is nothing, or has no ratio."""

    words: headline
    device: str
    gain: Gain | None


def find_gains(env: BuildEnvironment, words: headline) -> list[Shown]:
    """Return a headline for each machine on which its recipe was recorded, the published first."""
    found = []
    for place, measured in enumerate(measured_of(env, words["recipe"])):
        try:
            gain = find_gain(measured.measurements, words["key"], words["baseline"])
            found.append(Shown(words=words, device=measured.device, gain=gain))
        except KeyError as error:
            if not place:
                _note_problem(env, words, str(error.args[0]))
        except ValueError as error:
            _note_problem(env, words, words["key"], str(error))
            found.append(Shown(words=words, device=measured.device, gain=None))
    return found or [Shown(words=words, device="", gain=None)]


def _note_problem(env: BuildEnvironment, words: headline, key: str, why: str = "") -> None:
    """Let every build tell why a figure has no gain; a run on a CPU may lack some."""
    (answer,) = watch(env, answers, words["recipe"], f"{FIGURE} {key}")
    if not answer.trial:
        problem = why or answer.problem or f"no recorded figure is called {key!r}"
        place = GalleryError(problem, path=words.source, line=words.line)
        store_of(env).pages[env.docname].problems.append(str(place))


def measured_of(env: BuildEnvironment, docname: str) -> list[Measured]:
    """Return a recipe's current recordings: the one its page shows, then other machines'."""
    own = watch(env, summarize, docname)
    if own is None:
        return []
    machines = watch(env, list_machines, docname)
    others = [watch(env, summarize, docname, machine) for machine in machines]
    for each in filter(None, others):
        if each.problem:
            logger.warning("%s", each.problem, type="recipe_gallery", subtype="recording")
    current = [each for each in (own, *others) if each and not each.problem]  # own page warns
    found = [each.measured for each in current if each.measured]
    for measured in found:
        if measured.problem:
            logger.warning("%s", measured.problem, type="recipe_gallery", subtype="figures")
    return found

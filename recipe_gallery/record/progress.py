"""What a person sees of `recipe-gallery record`: a bar or a line a cell, and a summary."""

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from statistics import mean
from typing import TextIO


class State(Enum):
    """What became of a recipe."""

    RECORDED = auto()
    CURRENT = auto()
    FAILED = auto()


@dataclass(kw_only=True)
class Summary:
    """What became of each recipe that was asked for, and of its replicates."""

    names: list[str]
    forced: bool = False  # those that are current, too
    _texts: dict[State, dict[str, str]] = field(
        default_factory=lambda: {state: {} for state in State}
    )
    _planned: dict[str, int] = field(default_factory=dict)  # replicates of a recipe
    _made: Counter[str] = field(default_factory=Counter)

    @property
    def failed(self) -> list[str]:
        """The recipes and replicates that could not be recorded."""
        return list(self._texts[State.FAILED])

    def note(self, name: str, state: State, text: str) -> None:
        """Note what became of a recipe; the first line of ``text`` tells more."""
        self._texts[state][name] = text.partition("\n")[0]

    def plan(self, name: str, replicates: int) -> None:
        """Note how many replicates of a recipe are to be made."""
        self._planned[name] = replicates

    def note_replicate(self, name: str) -> None:
        """Note that a replicate of a recipe is kept."""
        self._made[name] += 1

    def lines(self) -> list[str]:
        """Return the summary, errors last; nothing if there is only one page run."""
        if len(self.names) < 2 and not self._planned:
            return []
        done, current, failed = self._texts.values()
        recorded = [name for name in self.names if name in done]  # not as they happened to end
        left = [name for name in self.names if name not in done | current | failed]
        lines = [f"{len(recorded)} of {len(self.names)} recorded: {', '.join(recorded) or 'none'}"]
        lines += [f"{len(current)} current already"] if current else []
        if left:
            again = "name them to go on" if self.forced else "the same command goes on with them"
            lines.append(f"{len(left)} not recorded yet: {', '.join(left)}; {again}")
        lines += self._lines_of_replicates()
        lines += [f"{len(failed)} failed: {', '.join(failed)}"] if failed else []
        return lines + [f"error: {text}" for text in failed.values()]

    def _lines_of_replicates(self) -> list[str]:
        made, planned = sum(self._made.values()), sum(self._planned.values())
        told = ", ".join(
            f"{name} {self._made[name]}" for name in self.names if name in self._planned
        )
        failed = sum(" replicate " in name for name in self.failed)
        again = "; the same command goes on with the others" if made + failed < planned else ""
        again = "" if self.forced else again
        return [f"{made} of {planned} replicates made: {told}{again}"] if planned else []


class Forecast:
    """How long is left, by how long tasks took so far."""

    def __init__(self) -> None:
        self._took: list[float] = []

    def learn(self, seconds: float) -> None:
        """Note how long a task took."""
        self._took.append(seconds)

    def describe(self, waiting: int, places: int, ran: float) -> str:
        """Return how long is left, to be put behind a line; nothing where nothing is known yet.

        ``waiting`` are the tasks that wait, ``ran`` the seconds that one has run that is not done.
        """
        if not self._took:
            return ""
        minutes = (mean(self._took) * (1 + waiting / places) - ran) / 60
        return f", about {minutes:.0f} min left" if minutes >= 1.5 else ", about a minute left"


class Progress:
    """Writes a bar that moves on a terminal, and a line for each cell elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.on_terminal = stream.isatty()
        self._started = time.monotonic()

    def say(self, text: str) -> None:
        """Write a line; on a terminal in place of the bar."""
        self._write(f"{text}\n")

    def say_lines(self, lines: Iterable[str]) -> None:
        """Write lines as ``say`` does."""
        for line in lines:
            self.say(line)

    @property
    def seconds(self) -> float:
        """Since this was made."""
        return time.monotonic() - self._started

    def show_cell(self, name: str, number: int, total: int, seconds: float, left: str = "") -> None:
        """Tell that cell ``number`` of ``total`` starts; ``name`` says of which recipe.

        ``seconds`` is how long it has run; ``left`` says how long all will take.
        """
        text = f"cell {number} of {total}, {seconds:.0f} s{left}"
        if self.on_terminal:
            done = int(20 * (number - 1) / total)
            line = f"{name} [{'#' * done}{'.' * (20 - done)}] {text}"
            self._write(line[: shutil.get_terminal_size().columns - 1])
        else:
            self.say(f"{name}: {text}")

    def _write(self, text: str) -> None:
        start = "\r\x1b[K" if self.on_terminal else ""
        # A terminal that was closed is no reason to lose a recording.
        with contextlib.suppress(OSError):
            print(start + text, end="", file=self._stream, flush=True)

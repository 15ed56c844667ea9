"""What a person sees of `recipe-gallery record`: a bar or a line a cell, and a summary."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import TextIO


@dataclass(kw_only=True)
class Summary:
    """What became of each recipe that was asked for, and of its replicates."""

    names: list[str]
    forced: bool = False  # those that are current, too
    recorded: set[str] = field(default_factory=set)
    current: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)  # recipes and replicates, and why
    planned: dict[str, int] = field(default_factory=dict)  # replicates of a recipe
    made: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """Return the summary, errors last; nothing if there is only one page run."""
        if len(self.names) < 2 and not self.planned:
            return []
        recorded = [name for name in self.names if name in self.recorded]  # not as they ended
        left = {*self.names} - self.recorded - self.current - self.failed.keys()
        lines = [f"{len(recorded)} of {len(self.names)} recorded: {', '.join(recorded) or 'none'}"]
        lines += [f"{len(self.current)} current already"] if self.current else []
        if left:
            again = "name them to go on" if self.forced else "the same command goes on with them"
            told = ", ".join(name for name in self.names if name in left)
            lines.append(f"{len(left)} not recorded yet: {told}; {again}")
        if planned := sum(self.planned.values()):
            failed = sum(" replicate " in name for name in self.failed)
            told = ", ".join(f"{n} {self.made[n]}" for n in self.names if n in self.planned)
            if self.made.total() + failed < planned and not self.forced:
                told += "; the same command goes on with the others"
            lines.append(f"{self.made.total()} of {planned} replicates made: {told}")
        if self.failed:
            lines.append(f"{len(self.failed)} failed: {', '.join(self.failed)}")
        return lines + [f"error: {text.splitlines()[0]}" for text in self.failed.values()]


def forecast(took: Sequence[float], waiting: int, places: int, ran: float) -> str:
    """Return how long is left, to be put behind a line; nothing where nothing is known yet.

    ``took`` are the seconds of tasks so far, ``waiting`` the tasks that wait, ``ran`` the seconds
    that one has run that is not done.
    """
    if not took:
        return ""
    minutes = (mean(took) * (1 + waiting / places) - ran) / 60
    return f", about {minutes:.0f} min left" if minutes >= 1.5 else ", about a minute left"


class Progress:
    """Writes a bar that moves on a terminal, and a line for each cell elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on_terminal = stream.isatty()

    def say(self, *lines: str) -> None:
        """Write lines; on a terminal in place of the bar."""
        for line in lines:
            self._write(f"{line}\n")

    def show_cell(self, name: str, number: int, total: int, seconds: float, left: str = "") -> None:
        """Tell that cell ``number`` of ``total`` starts; ``name`` says of which recipe.

        ``seconds`` is how long it has run; ``left`` says how long all will take.
        """
        text = f"cell {number} of {total}, {seconds:.0f} s{left}"
        if self._on_terminal:
            done = int(20 * (number - 1) / total)
            line = f"{name} [{'#' * done}{'.' * (20 - done)}] {text}"
            self._write(line[: shutil.get_terminal_size().columns - 1])
        else:
            self.say(f"{name}: {text}")

    def _write(self, text: str) -> None:
        start = "\r\x1b[K" if self._on_terminal else ""
        # A terminal that was closed is no reason to lose a recording.
        with contextlib.suppress(OSError):
            print(start + text, end="", file=self._stream, flush=True)

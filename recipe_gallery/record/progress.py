"""What a person sees of `recipe-gallery record`: a bar or a line a cell, and a summary."""

import contextlib
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TextIO


class State(Enum):
    """What became of a recipe."""

    RECORDED = "recorded"
    CURRENT = "current"
    FAILED = "failed"


@dataclass(kw_only=True)
class Summary:
    """What became of each recipe that was asked for."""

    names: list[str]
    forced: bool = False  # those that are current, too
    _texts: dict[State, dict[str, str]] = field(
        default_factory=lambda: {state: {} for state in State}
    )

    @property
    def failed(self) -> list[str]:
        """The recipes that could not be recorded."""
        return list(self._texts[State.FAILED])

    def note(self, name: str, state: State, text: str) -> None:
        """Note what became of a recipe; the first line of ``text`` tells more."""
        self._texts[state][name] = text.partition("\n")[0]

    def lines(self) -> list[str]:
        """Return the summary, errors last; nothing if there is only one recipe."""
        if len(self.names) < 2:
            return []
        recorded, current, failed = self._texts.values()
        left = [name for name in self.names if name not in recorded | current | failed]
        lines = [f"{len(recorded)} of {len(self.names)} recorded: {', '.join(recorded) or 'none'}"]
        lines += [f"{len(current)} current already"] if current else []
        if left:
            again = "name them to go on" if self.forced else "the same command goes on with them"
            lines.append(f"{len(left)} not recorded yet: {', '.join(left)}; {again}")
        lines += [f"{len(failed)} failed: {', '.join(failed)}"] if failed else []
        return lines + [f"error: {text}" for text in failed.values()]


class Progress:
    """Writes a bar that moves on a terminal, and a line for each cell elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on_terminal = stream.isatty()
        self._started = time.monotonic()

    def say(self, text: str) -> None:
        """Write a line; on a terminal in place of the bar."""
        self._write(f"{text}\n")

    def say_lines(self, lines: Iterable[str]) -> None:
        """Write lines as ``say`` does."""
        for line in lines:
            self.say(line)

    def start(self) -> None:
        """Count seconds from now on."""
        self._started = time.monotonic()

    def show_cell(self, name: str, number: int, total: int) -> None:
        """Tell that cell ``number`` of ``total`` starts; ``name`` says of which recipe."""
        text = f"cell {number} of {total}, {time.monotonic() - self._started:.0f} s"
        if not self._on_terminal:
            self.say(f"{name}: {text}")
            return
        done = 20 * (number - 1) // total
        line = f"{name} [{'#' * done}{'.' * (20 - done)}] {text}"
        self._write(line[: shutil.get_terminal_size().columns - 1])

    def _write(self, text: str) -> None:
        start = "\r\x1b[K" if self._on_terminal else ""
        # A terminal that was closed is no reason to lose a recording.
        with contextlib.suppress(OSError):
            print(start + text, end="", file=self._stream, flush=True)

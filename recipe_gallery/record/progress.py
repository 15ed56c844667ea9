"""What a person sees of `recipe-gallery record`: a bar or a line a cell, and a summary."""

import contextlib
import shutil
from dataclasses import dataclass, field
from typing import TextIO


@dataclass(kw_only=True)
class Summary:
    """What became of each recipe that was asked for, and of its replicates."""

    names: list[str]
    recorded: set[str] = field(default_factory=set)
    current: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)  # recipes and replicates, and why
    planned: int = 0  # replicates
    made: int = 0

    def lines(self) -> list[str]:
        """Return the summary, errors last; nothing if there is only one page run."""
        if len(self.names) < 2 and not self.planned:
            return []
        left = {*self.names} - self.recorded - self.current - self.failed.keys()

        def tell(found: set[str], what: str) -> str:
            names = [name for name in self.names if name in found]  # not as they ended
            return f"{len(names)} {what}: {', '.join(names) or 'none'}"

        lines = [tell(self.recorded, f"of {len(self.names)} recorded")]
        lines += [tell(self.current, "current already")] if self.current else []
        lines += [tell(left, "not recorded yet")] if left else []
        if self.planned:
            lines.append(f"{self.made} of {self.planned} replicates made")
        if self.failed:
            lines.append(f"{len(self.failed)} failed: {', '.join(self.failed)}")
        return lines + [f"error: {text.splitlines()[0]}" for text in self.failed.values()]


class Progress:
    """Writes a bar that moves on a terminal, and a line for each cell elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on_terminal = stream.isatty()

    def say(self, *lines: str) -> None:
        """Write lines; on a terminal in place of the bar."""
        for line in lines:
            self._write(f"{line}\n")

    def show_cell(self, name: str, number: int, total: int, seconds: float) -> None:
        """Tell that a cell starts, of which recipe it is, and how many seconds that has run."""
        text = f"cell {number} of {total}, {seconds:.0f} s"
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

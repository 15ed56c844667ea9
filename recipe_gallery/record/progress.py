"""The progress bar of `recipe-gallery record`, or a line a cell where there is no terminal."""

import shutil
import time
from typing import TextIO


class Progress:
    """Writes a bar that moves on a terminal, and a line for each cell elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on_terminal = stream.isatty()
        self._started = time.monotonic()

    def say(self, text: str) -> None:
        """Write a line; on a terminal in place of the bar."""
        self._write(f"{text}\n")

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
        print(start + text, end="", file=self._stream, flush=True)

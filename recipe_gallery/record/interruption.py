"""Signals that end a recording: heard once, where nothing can be left half done."""

import signal
from typing import Any


class Interruption:
    """Raises ``KeyboardInterrupt`` for SIGINT, SIGTERM and SIGHUP; nohup's choice is kept.

    While ``held`` a signal only waits until ``hear`` is called: for loops that call what should not
    be left in its middle. All further ones are ignored: what the first has begun is brought to its
    end.
    """

    def __init__(self) -> None:
        self.held = False
        self._arrived = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interruption":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.getsignal(number)
            if self._before[number] is not signal.SIG_IGN:
                signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def hear(self) -> None:
        """Raise ``KeyboardInterrupt`` if a signal has arrived."""
        if self._arrived:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: object) -> None:
        is_first, self._arrived = not self._arrived, True
        if is_first and not self.held:
            raise KeyboardInterrupt

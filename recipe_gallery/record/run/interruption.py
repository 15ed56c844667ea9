"""Signals that end a recording, as Ctrl-C does: none is lost."""

import contextlib
import signal
import sys
import threading
from _thread import start_new_thread  # those of threading take locks, and handlers must not wait
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_PATIENCE = 10  # seconds in which one that was held back should be heard
_MOMENT = 0.05  # seconds in which Python leaves a callback


@contextlib.contextmanager
def end_as_ctrl_c_does() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt, so that nothing stays behind; nohup's choice is kept.

    Python raises ``KeyboardInterrupt`` wherever it is at the time. Where it ignores all errors, as
    in callbacks of the garbage collector (Dask has one) and in ``__del__``, it is raised again.
    """
    over, hook = threading.Event(), sys.unraisablehook
    with contextlib.ExitStack() as held:
        held.callback(over.set)
        numbers = _handle((signal.SIGTERM, signal.SIGHUP), signal.default_int_handler, held)
        again = [*numbers, signal.SIGINT][0]  # who starts this with & has it ignore SIGINT

        def repeat(ignored: "sys.UnraisableHookArgs") -> None:
            if issubclass(ignored.exc_type, KeyboardInterrupt):
                start_new_thread(_send_later, (again, _MOMENT, over))
            else:
                hook(ignored)

        held.callback(setattr, sys, "unraisablehook", hook)
        sys.unraisablehook = repeat
        yield


@contextlib.contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Hold signals back until what is yielded is called: it raises ``KeyboardInterrupt``.

    For loops that call what should not be left in its middle. A second signal interrupts at once,
    and so does the first one when it was not heard in time.
    """
    over = threading.Event()
    arrived = []

    def note(number: int, frame: object) -> None:
        arrived.append(number)
        if len(arrived) > 1:
            raise KeyboardInterrupt
        start_new_thread(_send_later, (number, _PATIENCE, over))

    def hear() -> None:
        if arrived:
            raise KeyboardInterrupt

    with contextlib.ExitStack() as held:
        held.callback(over.set)
        _handle((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), note, held)
        yield hear
    hear()


def _handle(
    numbers: Iterable[signal.Signals],
    handler: Callable[[int, Any], object],
    held: contextlib.ExitStack,
) -> list[signal.Signals]:
    """Handle signals, but those that are ignored, as long as ``held`` is open; return which."""
    heeded = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    for number in heeded:
        held.callback(signal.signal, number, signal.getsignal(number))
        signal.signal(number, handler)
    return heeded


def _send_later(number: int, seconds: float, over: threading.Event) -> None:
    if not over.wait(seconds):
        # to the thread that handles signals, as it may have them wait (remains.py)
        signal.pthread_kill(threading.main_thread().ident or 0, number)

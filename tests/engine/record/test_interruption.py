"""Signals that end a recording: they interrupt, and none is lost."""

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from recipe_gallery.record.run import interruption
from recipe_gallery.record.run.interruption import end_as_ctrl_c_does, held_back

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """Have Ctrl-C interrupt, whatever the tests were started by."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with end_as_ctrl_c_does():
        yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", NUMBERS)
def test_one_that_arrives_where_python_ignores_errors_is_raised_again(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    begun = []

    def interrupt(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(interrupt)
        begun.append(phase)
        signal.raise_signal(number)

    def go_on() -> None:
        gc.collect()
        begun.append("after it")
        time.sleep(60)

    gc.callbacks.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert begun == ["start", "after it"]
    assert capfd.readouterr().err == ""


def test_another_error_that_python_ignores_is_told_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda ignored: told.append(ignored.exc_type))

    class Odd:
        def __del__(self) -> None:
            raise ZeroDivisionError

    with end_as_ctrl_c_does():
        Odd()
    assert told == [ZeroDivisionError]


def test_none_is_raised_again_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruption, "_PATIENCE", 0.1)
    before = sys.unraisablehook
    with end_as_ctrl_c_does():
        ignored: Any = SimpleNamespace(exc_type=KeyboardInterrupt)
        sys.unraisablehook(ignored)
    assert sys.unraisablehook is before
    with pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(signal.SIGTERM)
    try:
        time.sleep(0.2)
    except KeyboardInterrupt:
        pytest.fail("it was raised again")


def test_it_is_raised_again_also_under_nohup_in_the_background() -> None:
    ignored: Any = SimpleNamespace(exc_type=KeyboardInterrupt)
    numbers = (signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        with end_as_ctrl_c_does():
            sys.unraisablehook(ignored)
            with pytest.raises(KeyboardInterrupt):
                time.sleep(60)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_one_that_is_held_back_is_heard_where_it_is_asked_for(number: signal.Signals) -> None:
    before, steps = signal.getsignal(number), []

    def go_on() -> None:
        with held_back() as hear:
            hear()
            signal.raise_signal(number)
            steps.append("not interrupted")
            hear()
            steps.append("not heard")

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert steps == ["not interrupted"]
    assert signal.getsignal(number) is before


def test_one_that_nobody_asks_for_is_heard_at_the_end() -> None:
    steps = []

    def go_on() -> None:
        with held_back():
            signal.raise_signal(signal.SIGTERM)
            steps.append("to the end")
        steps.append("not heard")

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert steps == ["to the end"]


def test_a_second_one_does_not_wait() -> None:
    steps = []

    def go_on() -> None:
        with held_back():
            signal.raise_signal(signal.SIGTERM)
            steps.append("waits")
            signal.raise_signal(signal.SIGINT)
            steps.append("waits, too")

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert steps == ["waits"]


def test_one_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with end_as_ctrl_c_does(), held_back():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_one_that_is_not_heard_in_time_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []

    def go_on() -> None:
        with held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            steps.append("waits")
            time.sleep(60)
            steps.append("not woken")

    monkeypatch.setattr(interruption, "_PATIENCE", 0.1)
    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert steps == ["waits"]

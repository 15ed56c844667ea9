"""A client of Dask whose workers are functions: they answer at once, on a clock of their own."""

from collections import deque
from collections.abc import Callable
from queue import Empty
from types import SimpleNamespace
from typing import Any

from recipe_gallery.record.cluster.remote import Order, carry_out, meet

# What a worker makes of a task: tells of it, finishes it, leaves, or does nothing.
Does = Callable[["FakeJob"], object]


class Clock:
    """Seconds that pass only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class FakeQueue(deque[Any]):
    """A queue on that clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.put = self.append
        self.clock = clock

    def get(self, *, timeout: float) -> Any:
        if self:
            return self.popleft()
        self.clock.sleep(timeout)
        raise Empty


class FakeJob:
    """A task that a worker was given: its order, and what the client holds of it (a future)."""

    def __init__(self, client: "FakeClient", address: str, order: Order) -> None:
        self.client = client
        self.address = address
        self.order = order
        self.cancelled = False
        self._results: list[object] = []
        self._callbacks: list[Callable[[FakeJob], object]] = []

    def tell(self, event: str, **facts: object) -> None:
        """Say to the client how it goes."""
        self.client.tell(self.order.session, {"key": self.order.key, "event": event, **facts})

    def finish(self, result: object) -> None:
        """Have the client get this result, or this error."""
        self._results.append(result)
        for each in self._callbacks:
            each(self)

    def leave(self) -> None:
        """Have the worker go, with the task."""
        del self.client.workers[self.address]

    def done(self) -> bool:
        return bool(self._results)

    def result(self) -> object:
        (found,) = self._results
        if isinstance(found, BaseException):
            raise found
        return found

    def cancel(self, *, force: bool) -> None:
        assert force
        self.cancelled = True

    def add_done_callback(self, called: Callable[["FakeJob"], object]) -> None:
        self._callbacks.append(called)
        if self.done():
            called(self)


class FakeClient:
    """A scheduler that is there, its workers, and what they were asked."""

    def __init__(self) -> None:
        self.status = "running"
        self.cluster = None  # none of this process
        self.clock = Clock()
        self.workers: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, object] = {}  # to "where are you?": a place, an error, a function
        self.jobs: list[FakeJob] = []
        self.restart_workers: Callable[..., object]  # a test says what it does
        self.later: deque[Callable[[], object]] = deque()  # happens, one each time it is looked
        self._topics: dict[str, Callable[[tuple[float, dict[str, Any]]], object]] = {}
        self._does: dict[str, Does] = {}

    def join(
        self, address: str, does: Does = lambda job: None, answer: object = ("host", "CPU")
    ) -> None:
        """Let a worker come; ``does`` is what it does with each task."""
        self.workers[address] = {"name": f"name of {address}", "resources": {"place": 1.0}}
        self.answers[address] = answer
        self._does[address] = does

    def tell(self, topic: str, event: dict[str, Any]) -> None:
        self._topics[topic]((self.clock.now, event))

    @property
    def given(self) -> list[tuple[str, str]]:
        """Which worker was given which recipe."""
        return [(each.address, each.order.name) for each in self.jobs]

    def subscribe_topic(
        self, topic: str, handler: Callable[[tuple[float, dict[str, Any]]], object]
    ) -> None:
        self._topics[topic] = handler

    def scheduler_info(self, *, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1  # all of them
        if self.later:
            self.later.popleft()()
        return {"id": "Scheduler-1", "workers": dict(self.workers)}

    def run(
        self, function: object, device: str, *, workers: list[str], on_error: str
    ) -> dict[str, object]:
        assert (function, device, on_error) == (meet, "cpu", "return")
        (address,) = workers
        answer = self.answers[address]
        return {address: answer() if callable(answer) else answer}

    def submit(
        self, function: object, order: Order, *, key: str, workers: list[str], **how: object
    ) -> FakeJob:
        assert (function, key) == (carry_out, order.key)
        # on this worker alone, and not again by Dask itself
        assert how == {
            "allow_other_workers": False,
            "resources": {"place": 1},
            "pure": False,
            "retries": 0,
        }
        (address,) = workers
        job = FakeJob(self, address, order)
        self.jobs.append(job)
        self._does[address](job)
        return job

    def cancel(self, jobs: list[FakeJob], *, force: bool) -> None:
        for each in jobs:
            each.cancel(force=force)


def at_once(target: Callable[..., object], args: list[object], daemon: bool) -> SimpleNamespace:
    """Take the place of a thread: what it runs has ended when it was started."""
    assert daemon  # one that waits for ever keeps no process from ending
    return SimpleNamespace(start=lambda: target(*args))

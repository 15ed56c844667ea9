"""Do tasks on the workers of a Dask cluster, and lose none of them.

A worker gets a task when it has none. Handed out all at once, tasks would be shared out at once,
too, and each on a worker that is lost would count as the one that made it fail.
"""

import secrets
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future

from ..progress import Forecast, Progress
from ..recording_toml import load_settings
from ..run.interruption import held_back
from ..run.supervise import GRACE
from ..tasks.task import Failure, Result, Task
from .code import describe_code
from .local import RESOURCE, describe_loss
from .remote import Order, Refusal, carry_out
from .workers import PATIENCE, Workers

TRIES = 3
ANSWER = 5  # seconds in which those that are there should have answered: replicates are planned
MARGIN = 30  # seconds past its deadline, in which a run should have been ended and told
PREPARING = 180  # seconds for what is asked of a machine, beside its probe


@dataclass(kw_only=True)
class Job:
    """A task that a worker has."""

    task: Task
    key: str
    worker: str  # its name
    future: Future[Any]
    due: float = float("inf")  # when something is wrong with the worker
    started: float | None = None  # when the recipe's process was started
    cell: int = 0  # that runs

    @property
    def short(self) -> str:
        """How far it is, in few words."""
        return f"{self.task.title} {self.cell}/{self.task.cells} on {self.worker}"


@dataclass(kw_only=True)
class OnCluster:
    """The workers of a cluster."""

    client: Client
    device: str  # "gpu" or "cpu"
    progress: Progress
    session: str = field(default_factory=lambda: f"recipes-{secrets.token_hex(8)}")
    _workers: Workers = field(init=False)
    _jobs: dict[str, Job] = field(default_factory=dict)  # by address of the worker
    _tries: dict[str, int] = field(default_factory=dict)  # by a task's title
    _told: SimpleQueue[dict[str, Any]] = field(default_factory=SimpleQueue)
    _said: set[str] = field(default_factory=set)
    _forecast: Forecast = field(default_factory=Forecast)
    _done: int = 0

    def __post_init__(self) -> None:
        self._workers = Workers(client=self.client, device=self.device, progress=self.progress)
        self.client.subscribe_topic(self.session, lambda event: self._told.put(event[1]))

    @property
    def places(self) -> set[tuple[str, str]]:
        """Hosts and devices of workers, also of later ones; waits for the first one."""
        until = time.monotonic() + PATIENCE
        with held_back() as hear_signals:
            while not self._workers.update(seconds=ANSWER):
                self._workers.require(until)
                hear_signals()
                time.sleep(0.5)
        return self._workers.places

    def run(self, waiting: deque[Task]) -> Iterator[tuple[Task, Result]]:
        """Yield what comes of each task, also of those that are added meanwhile."""
        until = time.monotonic() + PATIENCE
        with held_back() as hear_signals:
            while waiting or self._jobs:
                if self._workers.update():
                    until = time.monotonic() + PATIENCE
                self._workers.require(until)
                for address in self._workers.fit.keys() - self._jobs.keys():
                    if waiting:
                        self._hand_out(waiting.popleft(), address)
                self._listen(waiting)
                for address in list(self._jobs):
                    yield from self._look_after(address, waiting)
                hear_signals()

    def close(self) -> None:
        """Let workers end what they do."""
        self.client.cancel([job.future for job in self._jobs.values()], force=True)

    def _hand_out(self, task: Task, address: str) -> None:
        key = f"{self.session}-{secrets.token_hex(4)}"
        order = Order(
            session=self.session,
            key=key,
            name=task.file.name,
            number=task.number,
            device=self.device,
            code=describe_code(task),
        )
        future = self.client.submit(
            carry_out,
            order,
            key=key,
            workers=[address],
            allow_other_workers=False,
            resources={RESOURCE: 1},
            pure=False,
            retries=0,
        )
        self._jobs[address] = Job(
            task=task, key=key, worker=self._workers.names[address], future=future
        )
        future.add_done_callback(lambda _: self._told.put({"event": "done"}))

    def _listen(self, waiting: deque[Task]) -> None:
        """Hear what workers tell, for a second at most."""
        try:
            event = self._told.get(timeout=1)
        except Empty:
            return
        jobs = {job.key: job for job in self._jobs.values()}
        job, kind = jobs.get(event.get("key", "")), event["event"]
        if job is None:
            return
        settings, now = load_settings(job.task.file.gallery), time.monotonic()
        if kind == "taken":
            job.due = now + PREPARING + settings.cell_timeout
        elif kind == "start" and job.started is None:
            deadline = job.task.recipe.settings.get("deadline", settings.deadline)
            job.started, job.due = now, now + deadline + GRACE + MARGIN
        elif kind == "say" and event["text"] not in self._said:
            self._said.add(event["text"])  # of a machine once, not of each worker
            self.progress.say(event["text"])
        elif kind == "cell":
            self._show(job, event["cell"], waiting)

    def _show(self, job: Job, cell: int, waiting: deque[Task]) -> None:
        now, job.cell = time.monotonic(), cell
        jobs = self._jobs.values()
        running = [(each.task.kind, now - (each.started or now)) for each in jobs]
        kinds = [each.kind for each in waiting]
        left = self._forecast.describe(kinds, running, max(len(self._workers.fit), 1))
        total = self._done + len(jobs) + len(waiting)
        if self.progress.on_terminal:
            told = f"{self._done} of {total} done{left}: {', '.join(each.short for each in jobs)}"
            self.progress.show_bar("", self._done / total, told)
            return
        title = f"{self._done} of {total} done; {job.task.title} on {job.worker}"
        seconds = now - (job.started or now)
        self.progress.show_cell(title, cell, job.task.cells, left, seconds)

    def _look_after(self, address: str, waiting: deque[Task]) -> Iterator[tuple[Task, Result]]:
        """Yield the result of a job that has ended; put a task back that has to be tried again."""
        job = self._jobs[address]
        if not job.future.done():
            if address not in self._workers.fit:
                how = describe_loss(self.client, address)
                yield from self._try_again(address, waiting, f"was lost{how}")
            elif time.monotonic() > job.due:
                yield from self._try_again(address, waiting, "hangs")
                self._workers.restart(address)
            return
        try:
            result = job.future.result()
        except Exception as error:
            if self.client.status != "running":
                raise self._workers.scheduler_is_gone() from None
            how = describe_loss(self.client, address, error)
            yield from self._try_again(address, waiting, f"was lost{how}")
            return
        del self._jobs[address]
        if isinstance(result, Refusal):
            self._workers.refuse(address, result.text)
            waiting.appendleft(job.task)
            return
        if job.started:
            self._forecast.learn(job.task.kind, time.monotonic() - job.started)
        self._done += 1
        yield job.task, result

    def _try_again(
        self, address: str, waiting: deque[Task], what: str
    ) -> Iterator[tuple[Task, Result]]:
        job = self._jobs.pop(address)
        job.future.cancel(force=True)
        title = job.task.title
        self._tries[title] = self._tries.get(title, 0) + 1
        if self._tries[title] < TRIES:
            self.progress.say(f"note: {title}: its worker {job.worker} {what}; it is tried again")
            waiting.appendleft(job.task)
        else:
            self._done += 1
            text = f"{title}: its worker {what}, {TRIES} times; see what the recipe does to it"
            yield job.task, Failure(text=text)

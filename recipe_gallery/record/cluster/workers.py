"""The workers of a Dask cluster: which are there, which fit, and which do not answer."""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from distributed import Client

from ...errors import GalleryError
from ..progress import Progress
from ..run.supervise import GRACE
from .local import RESOURCE
from .remote import meet

PATIENCE = 60  # seconds without any worker; those that were lost may be started again
ANSWERING = 20  # seconds after which it is told that a new one does not answer


@dataclass(kw_only=True)
class Workers:
    """What is known of each worker, by its address."""

    client: Client
    device: str  # "gpu" or "cpu"
    progress: Progress
    fit: dict[str, tuple[str, str]] = field(default_factory=dict)  # their places
    places: set[tuple[str, str]] = field(default_factory=set)  # of all that were ever there
    names: dict[str, str] = field(default_factory=dict)
    may_return: bool = False  # one that fits was lost, or is restarted
    _unfit: dict[str, str] = field(default_factory=dict)  # why
    _hanging: set[str] = field(default_factory=set)  # those of a restarted one are others
    _asked: dict[str, float] = field(default_factory=dict)  # when to tell that none has answered
    _answers: SimpleQueue[tuple[str, object]] = field(default_factory=SimpleQueue)

    def update(self, seconds: float = 0) -> bool:
        """Get to know new workers and forget those that are gone; tell whether there are any.

        Waits for an answer of new ones, ``seconds`` at most: the others have work to do.
        """
        found = self._list()
        for address in self.fit.keys() - found.keys():
            del self.fit[address]
            self.may_return = True
        for address in self._asked.keys() - found.keys():
            del self._asked[address]
        known = self.fit.keys() | self._unfit.keys() | self._hanging | self._asked.keys()
        for address in found.keys() - known:
            self.names[address] = found[address]
            self._asked[address] = time.monotonic() + ANSWERING
            threading.Thread(target=self._ask, args=[address], daemon=True).start()
        with suppress(Empty):
            while self._asked or not self._answers.empty():
                self._hear(*self._answers.get(timeout=seconds))
        for address, due in self._asked.items():
            if time.monotonic() > due:
                self._asked[address] = float("inf")
                self.progress.say(f"note: worker {self.names[address]} does not answer")
        return bool(self.fit)

    def require(self, until: float) -> None:
        """Raise ``GalleryError`` if there is none, and none can be waited for."""
        may_come = self.may_return or self._asked or not self._unfit
        if self.fit or (time.monotonic() < until and may_come):
            return
        if self._unfit:
            text = f"no worker fits: {next(reversed(self._unfit.values()))}"
            remedy = "bring all machines to the same commit and the same versions"
            raise GalleryError(text, remedy=remedy)
        text = f"there was no worker for {PATIENCE} s"
        raise GalleryError(text, remedy="start some: recipe-gallery record-worker tcp://...")

    def refuse(self, address: str, text: str) -> None:
        """Give one no tasks any more, and say why."""
        self.fit.pop(address, None)
        self._unfit[address] = f"{self.names[address]}: {text}"
        self.progress.say(f"note: worker {self.names[address]} is refused: {text}")

    def restart(self, address: str) -> None:
        """Have one that hangs started again; it comes back as another."""
        self._hanging.add(address)
        self.fit.pop(address, None)
        self.may_return = True
        with suppress(Exception):  # without a Nanny nobody can start it again
            self.client.restart_workers([address], timeout=GRACE, raise_for_error=False)

    def scheduler_is_gone(self) -> GalleryError:
        """Return the error that says so."""
        remedy = "what was finished is kept; start it, and the same command goes on"
        return GalleryError("the scheduler is gone", remedy=remedy)

    def _list(self) -> dict[str, str]:
        """Return the names of workers that do tasks, by address."""
        if self.client.status != "running":
            raise self.scheduler_is_gone()
        try:
            found = self.client.scheduler_info(n_workers=-1)["workers"]
        except Exception:
            raise self.scheduler_is_gone() from None
        return {
            address: str(each.get("name", address))
            for address, each in found.items()
            if each["resources"].get(RESOURCE)
        }

    def _ask(self, address: str) -> None:
        """Ask a worker where it is, in a thread: one that hangs never answers."""
        try:
            told = self.client.run(meet, self.device, workers=[address], on_error="return")
            answer = told[address]
        except BaseException as error:
            answer = error
        self._answers.put((address, answer))

    def _hear(self, address: str, answer: object) -> None:
        if self._asked.pop(address, None) is None:  # it has gone meanwhile
            return
        if isinstance(answer, tuple):
            self.fit[address] = answer
            self.places.add(answer)
        else:
            self.refuse(address, " ".join(str(answer).split()) or repr(answer))

"""One language's site in a browser that follows every save: `make live LANGUAGE=ko`.

A translator saves a catalog and sees the sentence on the page. If the catalog would break the page,
this is told there instead, and the page stays as it was until the catalog is mended.
"""

import contextlib
import os
import queue
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from http.server import ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import quote

import watchfiles

from ..errors import GalleryError, suggest
from ..languages import Language
from ..project import Project
from ..translate.catalogs import find_catalogs
from .build import build_once
from .handler import Handler
from .messages import Messages

EDITOR = "vscode://file{path}:{line}"
_SUFFIXES = {".po", ".csv", ".rst", ".py", ".ipynb", ".jsonl", ".toml", ".css", ".js", ".html"}


@dataclass(frozen=True, kw_only=True)
class State:
    """What every browser is told: the build it should show, and what is wrong since."""

    build: int
    problems: tuple[str, ...] = ()


class Live:
    """Builds one language again and again, and tells browsers."""

    def __init__(
        self, project: Project, build: Path, language: Language, editor: str = EDITOR
    ) -> None:
        self.project = project
        self.editor = editor  # address that opens a file there, {path} and {line} filled in
        self.root = project.root.resolve()
        self.locale = project.locale.resolve()
        self.messages = Messages(project, language)
        self.heartbeat = 15.0  # seconds after which a browser is asked whether it is still there
        self.build_folder = build.resolve()
        self.language = language
        self.state = State(build=0)
        # Catalogs and examples may lie outside of the folder of conf.py.
        places = {self.root, self.locale, *(r.resolve() for _pages, r in project.galleries)}
        self._places = [
            place
            for place in sorted(places)
            if place.is_dir()
            and not any(place != other and place.is_relative_to(other) for other in places)
        ]
        self._built = 0.0  # when the last build began, as files tell the time
        self._listeners: set[queue.SimpleQueue[State]] = set()
        self._lock = threading.Lock()
        self._processes = get_context("forkserver")
        self._processes.set_forkserver_preload([f"{__package__}.preload"])

    @property
    def site(self) -> Path:
        """The folder that is served; pages lie in the folder of their language, as published."""
        return self.build_folder / "html"

    def rebuild(self, changed: Iterable[Path] = ()) -> State:
        """Build, unless only catalogs were saved that cannot be shown; return the new state."""
        self._built = time.time()
        number, problems = self.state.build, []
        if not self.messages.note(changed):
            keep = [str(path) for path in self.messages.broken]
            # A process of its own for every build: Sphinx and gettext keep what they have read. It
            # is forked from one in which everything is imported already.
            with ProcessPoolExecutor(1, mp_context=self._processes) as pool:
                job = pool.submit(
                    build_once, self.root, self.build_folder, self.language.code, keep
                )
            try:
                problems, number = job.result(), number + 1
            except GalleryError as error:
                problems = [str(error)]
            except BrokenProcessPool:
                problems = ["the build was killed, perhaps for lack of memory; save a file again"]
        told = dict.fromkeys([*self.messages.describe_broken(), *problems])
        self._publish(State(build=number, problems=tuple(told)))
        return self.state

    def watch(self, stop: threading.Event | None = None) -> None:
        """Build after every change, until interrupted."""
        unseen = True  # what was saved between the last build and the start of the watch
        for changes in watchfiles.watch(
            *self._places,
            watch_filter=self._is_source,
            debounce=200,
            step=20,
            rust_timeout=500,
            yield_on_timeout=True,
            stop_event=stop,
        ):
            began = time.monotonic()
            found = {Path(path) for _change, path in changes}
            if unseen:
                catalogs = find_catalogs(self.locale, self.language.code)
                found |= {path for path in catalogs if path.stat().st_mtime >= self._built}
                unseen = False
            if not found:
                continue
            paths = sorted(found)
            before = self.state.build
            state = self.rebuild(paths)
            names = ", ".join(os.path.relpath(path, self.root) for path in paths[:3])
            for problem in state.problems:
                print(problem, flush=True)
            shown = f"shown after {time.monotonic() - began:.1f} s"
            outcome = shown if state.build > before else "not shown, see above"
            print(f"{names}: {outcome}", flush=True)

    def serve(self, port: int) -> ThreadingHTTPServer:
        """Return a server of the pages on this machine, at ``port`` or a free one for 0."""
        return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, live=self))

    def events(self) -> Iterator[State | None]:
        """Yield the state now and after every change, and None after a while without one."""
        listener: queue.SimpleQueue[State] = queue.SimpleQueue()
        with self._lock:
            self._listeners.add(listener)
            listener.put(self.state)
        try:
            while True:
                try:
                    yield listener.get(timeout=self.heartbeat)
                except queue.Empty:
                    yield None
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _publish(self, state: State) -> None:
        with self._lock:
            self.state = state
            for listener in self._listeners:
                listener.put(state)

    def _is_source(self, _change: watchfiles.Change, path: str) -> bool:
        file = Path(path)
        parts = next(file.relative_to(p).parts for p in self._places if file.is_relative_to(p))
        made = [self.build_folder, self.root / "_build"]
        made += [self.root / pages for pages, _recipes in self.project.galleries]
        return (
            file.suffix in _SUFFIXES
            and "__pycache__" not in parts
            and not any(part.startswith(".") for part in parts)
            and not any(map(file.is_relative_to, made))
        )


def default_editor() -> str:
    """Return the address of a line in Visual Studio Code.

    In the Windows Subsystem for Linux that runs on Windows, where a path alone leads nowhere.
    """
    if distribution := os.environ.get("WSL_DISTRO_NAME"):
        return f"vscode://vscode-remote/wsl+{quote(distribution)}{{path}}:{{line}}"
    return EDITOR


def run(live: Live, port: int) -> None:
    """Serve a language and follow every save, until Ctrl-C.

    Raises ``GalleryError`` if the port cannot be served.
    """
    code = live.language.code
    try:
        server = live.serve(port)
    except (OSError, OverflowError) as error:
        text = f"port {port}: {getattr(error, 'strerror', None) or error}"
        remedy = f"run: {suggest('live', code, f'--port {_free_port()}')}"
        raise GalleryError(text, remedy=remedy) from None
    print(f"building {code} ...", flush=True)
    for problem in live.rebuild().problems:
        print(problem)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    address = f"http://localhost:{server.server_address[1]}/{code}/index.html"
    print(f"{address} follows every save until Ctrl-C", flush=True)
    check = suggest("check-po", code)
    print(f"to check the catalogs meanwhile, in another terminal: {check}", flush=True)
    try:
        live.watch()
    finally:
        server.shutdown()


def _free_port() -> int:
    """Return a port that nothing listens at now, or 0, at which any free one is taken."""
    for port in range(8001, 8100):
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port
    return 0

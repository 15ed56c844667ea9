"""One language's site in a browser that follows every save: `make live LANGUAGE=ko`.

A translator saves a catalog and sees the sentence on the page. What is wrong with the catalog is
shown on the page instead, which stays as it was until the catalog is mended.
"""

import json
import os
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path

import watchfiles

from ..errors import GalleryError, suggest
from ..languages import Language
from ..project import Project
from ..translate.catalogs import catalog_folder, find_catalogs, label_domains
from ..translate.checks.run import BREAKING, check_catalog
from .build import build_once

# Files of this package that are added to every page; a policy can forbid what stands inside one.
_ASSETS = {"/live.js": "text/javascript", "/live.css": "text/css"}
_ADDED = '<link rel="stylesheet" href="/live.css">\n<script src="/live.js"></script>\n'
_SUFFIXES = {".po", ".csv", ".rst", ".py", ".ipynb", ".jsonl", ".toml", ".css", ".js", ".html"}


@dataclass(frozen=True, kw_only=True)
class State:
    """What every browser is told: the build it should show, and what is wrong since."""

    build: int
    problems: tuple[str, ...] = ()


class Live:
    """Builds one language again and again, and tells browsers."""

    def __init__(self, project: Project, build: Path, language: Language) -> None:
        self.project = project
        self.root = project.root.resolve()
        self.locale = project.locale.resolve()
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
        self._processes.set_forkserver_preload([build_once.__module__])

    @property
    def site(self) -> Path:
        """The folder that is served; pages lie in the folder of their language, as published."""
        return self.build_folder / "html"

    def rebuild(self, changed: Iterable[Path] = ()) -> State:
        """Build, unless a catalog cannot be shown; return the new state and tell browsers."""
        self._built = time.time()
        problems, number = self._check_catalogs(changed), self.state.build
        if not problems:
            # A process of its own for every build: Sphinx and gettext keep what they have read. It
            # is forked from one in which everything is imported already.
            with ProcessPoolExecutor(1, mp_context=self._processes) as pool:
                job = pool.submit(build_once, self.root, self.build_folder, self.language.code)
            try:
                problems, number = tuple(job.result()), number + 1
            except GalleryError as error:
                problems = (str(error),)
            except BrokenProcessPool:
                problems = ("the build was killed, perhaps for lack of memory; save a file again",)
        self._publish(State(build=number, problems=problems))
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
            outcome = "shown" if state.build > before else "not shown, see above"
            print(f"{names}: {outcome} after {time.monotonic() - began:.1f} s", flush=True)

    def serve(self, port: int) -> ThreadingHTTPServer:
        """Return a server of the pages on this machine, at ``port`` or a free one for 0."""
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, live=self))

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

    def _check_catalogs(self, changed: Iterable[Path]) -> tuple[str, ...]:
        """Return what keeps the changed catalogs from readers."""
        folder = catalog_folder(self.locale, self.language.code)
        labels = label_domains(self.project.config)
        problems = []
        for path in changed:
            if path.suffix == ".po" and path.is_relative_to(folder) and path.exists():
                problems += check_catalog(path, self.language, labels, BREAKING)[1]
        return tuple(each.describe(self.root) for each in problems if each.breaks)


class _Handler(SimpleHTTPRequestHandler):
    """Serves the pages with a script that follows the builds."""

    def __init__(self, *arguments: object, live: Live) -> None:
        self.live = live
        super().__init__(*arguments, directory=str(live.site))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path == "/live-events":
            return self._send_events()
        if self.path in _ASSETS:
            asset = Path(__file__).with_name(self.path[1:])
            return self._send(asset.read_text(encoding="utf-8"), _ASSETS[self.path])
        path = Path(self.translate_path(self.path))
        if path.is_dir() and self.path.endswith("/"):
            path = path / "index.html"
        if path.suffix == ".html" and path.is_file():
            return self._send(path.read_text(encoding="utf-8") + _ADDED, "text/html")
        return super().do_GET()

    def _send(self, text: str, kind: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        """Keep browsers from showing a page, style or picture of an earlier build."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def _send_events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for state in self.live.events():
                # A line that says nothing fails where the browser is gone, and ends this thread.
                line = f"data: {json.dumps(asdict(state))}" if state else ":"
                self.wfile.write(f"{line}\n\n".encode())
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the page was closed

    def log_message(self, *arguments: object) -> None:
        """Print no line for each file."""


def run(project: Project, build: Path, language: Language, port: int) -> None:
    """Serve one language and follow every save, until Ctrl-C.

    Raises ``GalleryError`` if the port cannot be served.
    """
    live = Live(project, build, language)
    try:
        server = live.serve(port)
    except (OSError, OverflowError) as error:
        text = f"port {port}: {getattr(error, 'strerror', None) or error}"
        remedy = f"run: {suggest('live', language.code, '--port 8001')}"
        raise GalleryError(text, remedy=remedy) from None
    print(f"building {language.code} ...", flush=True)
    for problem in live.rebuild().problems:
        print(problem)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_address[1]}/{language.code}/index.html"
    print(f"{address} follows every save until Ctrl-C", flush=True)
    try:
        live.watch()
    finally:
        server.shutdown()

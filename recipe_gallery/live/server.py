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
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path

import watchfiles

from ..languages import Language
from ..project import GalleryError
from ..translate.catalogs import catalog_folder, find_catalogs
from ..translate.checks.run import BREAKING, check_catalog
from .build import build_once

_EVENTS = "/live-events"
_SCRIPT_PATH = "/live-script.js"
_SUFFIXES = {".po", ".csv", ".rst", ".py", ".ipynb", ".toml", ".css", ".js", ".html"}
_IGNORED = {"_build", "recipes", "__pycache__", "tests", "benchmarks"}
# Reloads the page at the place where the reader was, or shows what is wrong over it.
_SCRIPT = """
(() => {
  const key = "live:" + location.pathname;
  const place = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  if (place !== null) scrollTo({ top: Number(place), behavior: "instant" });
  let shown = null;
  new EventSource("/live-events").onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (shown === null) shown = state.build;
    document.getElementById("live-problems")?.remove();
    if (state.build !== shown) {
      sessionStorage.setItem(key, scrollY);
      location.reload();
    } else if (state.problems.length) {
      const box = document.createElement("pre");
      box.id = "live-problems";
      box.setAttribute("role", "alert");
      box.textContent = state.problems.join("\\n");
      box.style = "position:fixed;inset:auto 0 0 0;margin:0;padding:1rem;max-height:40vh;" +
        "overflow:auto;white-space:pre-wrap;z-index:9999;background:#7f1d1d;color:#fff;font-size:14px";
      document.body.append(box);
    }
  };
})();
"""


@dataclass(frozen=True, kw_only=True)
class State:
    """What every browser is told: the build it should show, and what is wrong since."""

    build: int
    problems: tuple[str, ...] = ()


class Live:
    """Builds one language again and again, and tells browsers."""

    def __init__(self, root: Path, build: Path, language: Language) -> None:
        self.root = root.resolve()
        self.build_folder = build.resolve()
        self.language = language
        self.state = State(build=0)
        self._built = 0.0  # when the last build began, as files tell the time
        self._listeners: set[queue.SimpleQueue[State]] = set()
        self._lock = threading.Lock()
        self._processes = get_context("forkserver")
        self._processes.set_forkserver_preload(["recipe_gallery.live.build"])

    @property
    def site(self) -> Path:
        """The folder that is served; pages lie in the folder of their language, as published."""
        return self.build_folder / "html"

    def rebuild(self, changed: Iterable[Path] = ()) -> State:
        """Build, unless a catalog cannot be shown; return the new state and tell browsers."""
        self._built = time.time()
        problems = self._check_catalogs(changed)
        if problems:
            self._publish(State(build=self.state.build, problems=problems))
        else:
            # A process of its own for every build: Sphinx and gettext keep what they have read. It
            # is forked from one in which everything is imported already.
            with ProcessPoolExecutor(1, mp_context=self._processes) as pool:
                job = pool.submit(build_once, self.root, self.build_folder, self.language.code)
            try:
                state = State(build=self.state.build + 1, problems=tuple(job.result()))
            except GalleryError as error:
                state = State(build=self.state.build, problems=(str(error),))
            self._publish(state)
        return self.state

    def watch(self, stop: threading.Event | None = None) -> None:
        """Build after every change, until interrupted."""
        unseen = True  # what was saved between the last build and the start of the watch
        for changes in watchfiles.watch(
            self.root,
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
                found |= self._saved_since_build()
                unseen = False
            paths = sorted(found)
            if not paths:
                continue
            before = self.state.build
            state = self.rebuild(paths)
            names = ", ".join(str(path.relative_to(self.root)) for path in paths[:3])
            for problem in state.problems:
                print(problem, flush=True)
            outcome = "shown" if state.build > before else "not shown, see above"
            print(f"{names}: {outcome} after {time.monotonic() - began:.1f} s", flush=True)

    def serve(self, port: int) -> ThreadingHTTPServer:
        """Return a server of the pages on this machine, at ``port`` or a free one for 0."""
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, live=self))

    def events(self) -> Iterator[State]:
        """Yield the state now and after every change."""
        listener: queue.SimpleQueue[State] = queue.SimpleQueue()
        with self._lock:
            self._listeners.add(listener)
            listener.put(self.state)
        try:
            while True:
                yield listener.get()
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _publish(self, state: State) -> None:
        with self._lock:
            self.state = state
            for listener in self._listeners:
                listener.put(state)

    def _is_source(self, _change: watchfiles.Change, path: str) -> bool:
        parts = Path(path).relative_to(self.root).parts
        hidden = any(part.startswith(".") for part in parts)
        made = parts[0] in _IGNORED or Path(path).is_relative_to(self.build_folder)
        return not hidden and not made and Path(path).suffix in _SUFFIXES

    def _saved_since_build(self) -> set[Path]:
        catalogs = find_catalogs(self.root / "locale", self.language.code)
        return {path for path in catalogs if path.stat().st_mtime >= self._built}

    def _check_catalogs(self, changed: Iterable[Path]) -> tuple[str, ...]:
        """Return what keeps the changed catalogs from readers."""
        folder = catalog_folder(self.root / "locale", self.language.code)
        problems = []
        for path in changed:
            if path.suffix == ".po" and path.is_relative_to(folder) and path.exists():
                found = check_catalog(path, self.language, BREAKING)[1]
                problems += [str(problem) for problem in found if problem.breaks]
        return tuple(problem.replace(f"{self.root}{os.sep}", "") for problem in problems)


class _Handler(SimpleHTTPRequestHandler):
    """Serves the pages with a script that follows the builds."""

    def __init__(self, *arguments: object, live: Live) -> None:
        self.live = live
        super().__init__(*arguments, directory=str(live.site))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path == _EVENTS:
            self._send_events()
            return
        if self.path == _SCRIPT_PATH:
            self._send(_SCRIPT, "text/javascript")
            return
        path = Path(self.translate_path(self.path))
        if path.is_dir() and self.path.endswith("/"):
            path = path / "index.html"
        if path.suffix != ".html" or not path.is_file():
            super().do_GET()
            return
        # a file, because pages allow no script inside of them
        script = f'<script src="{_SCRIPT_PATH}"></script>\n'
        self._send(path.read_text(encoding="utf-8") + script, "text/html")

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
                data = {"build": state.build, "problems": state.problems}
                self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the page was closed

    def log_message(self, *arguments: object) -> None:
        """Print no line for each file."""


def run(root: Path, build: Path, language: Language, port: int) -> None:
    """Serve one language and follow every save, until Ctrl-C."""
    live = Live(root, build, language)
    try:
        server = live.serve(port)
    except OSError:
        raise GalleryError(f"port {port} is in use; for example: make live PORT=8001") from None
    print(f"building {language.code} ...", flush=True)
    for problem in live.rebuild().problems:
        print(problem)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_address[1]}/{language.code}/index.html"
    print(f"{address} follows every save in locale/{language.code}/ until Ctrl-C", flush=True)
    try:
        live.watch()
    finally:
        server.shutdown()

"""One language's site in a browser that follows every save: `make live LANGUAGE=ko`.

A translator saves a catalog and sees the sentence on the page. What would break the page is told
there, and shown in English until the catalog is mended.
"""

import contextlib
import json
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import watchfiles
from sphinx.application import builtin_extensions

from ..errors import GalleryError, suggest
from ..languages import Language
from ..project import Project
from .build import build_once
from .messages import page_messages

EDITOR = "vscode://file{path}:{line}"
# Files of this package that are added to every page; a policy can forbid what stands inside one.
_ASSETS = {"/live.js": "text/javascript", "/live.css": "text/css"}
_ADDED = (
    '<link rel="stylesheet" href="/live.css">\n'
    '<script src="/live.js" data-editor="{editor}" data-root="{root}"></script>\n'
)
# What builds need is imported once, in the process that they are forked from.
_PRELOADED = """
babel.dates bs4 jupytext pydata_sphinx_theme sphinx.builders.html sphinx.search
sphinx.environment.collectors.toctree sphinx.transforms.post_transforms.code
sphinx.transforms.post_transforms.images sphinx_gallery.gen_gallery recipe_gallery.live.build
recipe_gallery.pages recipe_gallery.search
recipe_gallery.translate recipe_gallery.translate.translation_status
recipe_gallery.pages.measurements.roles
"""


@dataclass(frozen=True, kw_only=True)
class State:
    """What every browser is told: which build it should show, and what is wrong."""

    build: int  # one that failed shows the pages of the one before
    problems: tuple[str, ...] = ()


class Live:
    """Builds one language again and again, and tells browsers."""

    def __init__(
        self, project: Project, build: Path, language: Language, editor: str = EDITOR
    ) -> None:
        self.project = project
        self.editor = editor  # address that opens a file there, {path} and {line} filled in
        self.root = project.root.resolve()
        self.build_folder = build.resolve()
        self.site = self.build_folder / "html"  # what is served
        self.language = language
        self.state = State(build=0)
        # Catalogs and examples may lie outside of the folder of conf.py.
        places = {self.root, project.locale.resolve()}
        places |= {recipes.resolve() for _pages, recipes in project.galleries}
        self._places = [p for p in sorted(places) if p.is_dir() and places.isdisjoint(p.parents)]
        self._made = [self.build_folder, self.root / "_build"]
        self._made += [self.root / pages for pages, _recipes in project.galleries]
        self._filter = watchfiles.DefaultFilter()  # of what editors leave
        self._changed = threading.Condition()
        self._processes = get_context("forkserver")
        # A theme, and what it needs, may not be installed, which is no error there.
        preload = [f"{__package__}.preload", *builtin_extensions, *_PRELOADED.split()]
        self._processes.set_forkserver_preload(preload)

    def is_source(self, change: watchfiles.Change, path: str) -> bool:
        """Tell whether a build depends on a path; what builds make is no source."""
        is_made = any(Path(path).is_relative_to(each) for each in self._made)
        return self._filter(change, path) and not (is_made or path.endswith(".mo"))

    def rebuild(self) -> State:
        """Build, tell all browsers, and return the new state."""
        # A process of its own for every build: Sphinx and gettext keep what they have read. It is
        # forked from one in which everything is imported already.
        with ProcessPoolExecutor(1, mp_context=self._processes) as pool:
            job = pool.submit(build_once, self.root, self.build_folder, self.language.code)
        try:
            problems = job.result()
        except GalleryError as error:
            problems = [str(error)]
        except BrokenProcessPool:
            problems = ["the build was killed, perhaps for lack of memory; save a file again"]
        with self._changed:
            told = tuple(dict.fromkeys(problems))
            self.state = State(build=self.state.build + 1, problems=told)
            self._changed.notify_all()
        return self.state

    def watch(self, stop: threading.Event | None = None) -> None:
        """Build at once, and after every change, until interrupted."""
        is_first = True  # saves during the first build are seen, too: the watch has begun
        for changes in watchfiles.watch(
            *self._places,
            watch_filter=self.is_source,
            debounce=200,
            step=20,
            rust_timeout=500,
            yield_on_timeout=True,
            stop_event=stop,
        ):
            if not (changes or is_first):
                continue
            is_first = False
            began = time.monotonic()
            for problem in self.rebuild().problems:
                print(problem, flush=True)
            paths = sorted(os.path.relpath(path, self.root) for _change, path in changes)
            changed, seconds = ", ".join(paths[:3]) or "the site", time.monotonic() - began
            print(f"{changed}: built in {seconds:.1f} s", flush=True)

    def serve(self, port: int) -> ThreadingHTTPServer:
        """Return a server of the pages on this machine, at ``port`` or a free one for 0."""
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, live=self))

    def wait(self, seen: int, seconds: float = 20) -> State:
        """Return the state as soon as it is another than that of this number, or after a while."""
        with self._changed:
            self._changed.wait_for(lambda: self.state.build != seen, seconds)
            return self.state


class _Handler(SimpleHTTPRequestHandler):
    """Serves the pages with a script that follows the builds."""

    def __init__(self, *arguments: object, live: Live) -> None:
        self.live = live
        super().__init__(*arguments, directory=str(live.site))  # type: ignore[arg-type]

    def handle(self) -> None:
        """Answer whatever a browser asks on one connection, until it is gone."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the page was closed
            super().handle()

    def do_GET(self) -> None:
        """Answer a browser."""
        if self.path in _ASSETS:
            asset = Path(__file__).with_name(self.path[1:])
            return self._send(asset.read_text(encoding="utf-8"), _ASSETS[self.path])
        address = urlsplit(self.path)
        asked = parse_qs(address.query)
        page = asked.get("page", [""])[0].removeprefix(f"/{self.live.language.code}/")
        page = f"{page}index" if not page or page.endswith("/") else page.removesuffix(".html")
        if address.path == "/live-messages":
            found = page_messages(self.live.project, self.live.language, page)
            return self._send(json.dumps(found, ensure_ascii=False), "application/json")
        if address.path == "/live-state":
            state = self.live.wait(int(asked.get("seen", ["-1"])[0]))
            return self._send(json.dumps(asdict(state)), "application/json")
        path = Path(self.translate_path(self.path))
        if path.is_dir() and address.path.endswith("/"):
            path = path / "index.html"
        if path.suffix == ".html":  # also if it is missing, until the next save
            editor, root = escape(self.live.editor), escape(str(self.live.root))
            added = _ADDED.format(editor=editor, root=root)
            page = path.read_text(encoding="utf-8") if path.is_file() else "No such page."
            return self._send(page + added, "text/html")
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

    def log_message(self, *arguments: object) -> None:
        """Print no line for each file."""


def run(live: Live, port: int) -> None:
    """Serve a language and follow every save, until Ctrl-C.

    Raises ``GalleryError`` if the port cannot be served.
    """
    code = live.language.code
    try:
        server = live.serve(port)
    except (OSError, OverflowError) as error:
        text = f"port {port}: {getattr(error, 'strerror', None) or error}"
        remedy = f"run: {suggest('live', code, f'--port {port + 1 if port < 65535 else 8001}')}"
        raise GalleryError(text, remedy=remedy) from None
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    address = f"http://localhost:{server.server_address[1]}/{code}/index.html"
    print(f"building {code}; then {address} follows every save until Ctrl-C", flush=True)
    print("to check the catalogs, in another terminal:", suggest("check-po", code), flush=True)
    try:
        live.watch()
    finally:
        server.shutdown()

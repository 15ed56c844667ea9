"""A real browser and a server for it."""

import gzip
import http.server
import io
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

expect.set_options(timeout=30_000)  # pages are waited for, however busy the machine is
# The shell has no windows, and draws no page of new tabs for each: it takes a third of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return where Chromium is; the variable CHROMIUM names another than the installed one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launch() -> Iterator[Browser]:
    """Start Chromium without a window."""
    with sync_playwright() as playwright:
        # Root, as in containers, has no sandbox.
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=options)
        yield browser
        browser.close()


def note_errors(page: Page) -> list[str]:
    """Return a list to which errors and warnings of a page are added, with its address."""
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"{page.url}: {message.text}")

    page.on("console", note)
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    return problems


@contextmanager
def serve(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder as a host does: text packed, 404.html for what is not there.

    Yield the address; port 0 takes any that is free.
    """
    handler = partial(_Handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@cache
def pack(path: Path, _changed: int) -> bytes:
    """Return a file packed; each context of a browser asks for the same style sheets anew."""
    return gzip.compress(path.read_bytes())


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept

    def send_head(self) -> io.BytesIO | None:
        """Send text packed, where the browser takes it."""
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        kind = self.guess_type(path)
        text = kind.startswith("text/") or kind.endswith(("javascript", "json", "svg+xml"))
        if not (text and path.is_file() and "gzip" in self.headers.get("Accept-Encoding", "")):
            return super().send_head()
        content = pack(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "max-age=600")  # as GitHub Pages says
        self.end_headers()
        return io.BytesIO(content)

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the site's own page where there is none."""
        page = Path(self.directory, "404.html")
        if code != 404 or not page.exists():
            super().send_error(code, message, explain)
            return
        content = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

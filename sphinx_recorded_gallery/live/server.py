"""One language's site in a browser that follows every save: `make live LANGUAGES=ko`.

A translator saves a catalog and sees the sentence on the page. Translations that would break the
page are reported there, and shown in English until the catalog is corrected.
"""

import contextlib
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from html import escape
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..errors import GalleryError, suggest, visible_line
from ..translate.catalogs import find_catalogs
from .messages import page_messages
from .watch_and_rebuild import Live

_HOSTS = ("localhost", "127.0.0.1", "::1")  # names of this server

# Files added to every page, since a content policy may forbid inline scripts and styles
_ASSETS = {"/live.js": "text/javascript", "/live.css": "text/css"}
_ADDED = (
    '<link rel="stylesheet" href="/live.css">\n'
    '<script src="/live.js" data-editor="{editor}" data-root="{root}"></script>\n'
)


# The added script shows the page as soon as the first build has ended; without scripts, the browser
# tries again after these seconds.
_SECONDS = 5
_BEING_BUILT = f"""<!DOCTYPE html>
<html lang="en">
<meta http-equiv="refresh" content="{_SECONDS}">
<title>Being built</title>
<p>The site is being built for the first time. The page appears when it is finished.</p>
"""


class _Handler(SimpleHTTPRequestHandler):
    """Serves the pages with a script that follows the builds."""

    def __init__(self, *arguments: object, live: Live) -> None:
        self.live = live
        super().__init__(*arguments, directory=str(live.site))  # type: ignore[arg-type]

    def handle(self) -> None:
        """Answer the requests of one connection."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the page was closed
            super().handle()

    def do_GET(self) -> None:
        """Answer a browser on this machine."""
        self._answer(self._get)

    def do_HEAD(self) -> None:
        """Answer as ``GET`` does, but without content."""
        self._answer(super().do_HEAD)

    def _answer(self, act: Callable[[], None]) -> None:
        """Answer a request, unless it comes from a page of another server."""
        try:
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
            if host not in _HOSTS:  # DNS rebinding: a name of another site that points here
                return self.send_error(HTTPStatus.FORBIDDEN, "Open it as localhost")
            return act()
        except (BrokenPipeError, ConnectionResetError):
            raise
        except (ValueError, OSError):  # not a number, or a name that no file can have
            return self.send_error(HTTPStatus.BAD_REQUEST)

    def _get(self) -> None:
        if self.path in _ASSETS:
            asset = Path(__file__).with_name(self.path[1:])
            return self._send(asset.read_text(encoding="utf-8"), _ASSETS[self.path])
        address = urlsplit(self.path)
        asked = parse_qs(address.query)
        if address.path == "/live-messages":
            messages = self._messages(asked.get("page", [""])[0])
            return self._send(json.dumps(messages, ensure_ascii=False), "application/json")
        if address.path == "/live-state":
            state = self.live.wait(int(asked.get("seen", ["-1"])[0]))
            return self._send(json.dumps(asdict(state)), "application/json")
        path = Path(self.translate_path(self.path))
        if address.path.endswith("/"):
            path = path / "index.html"
        if path.suffix == ".html":  # also if it is missing, until the next save
            editor, root = escape(self.live.editor), escape(str(self.live.root))
            added = _ADDED.format(editor=editor, root=root)
            if path.is_file():
                return self._send(path.read_text(encoding="utf-8") + added, "text/html")
            if self.live.state.build == 0:
                unavailable = HTTPStatus.SERVICE_UNAVAILABLE
                return self._send(_BEING_BUILT + added, "text/html", unavailable)
            return self._send("No such page." + added, "text/html", HTTPStatus.NOT_FOUND)
        return super().do_GET()

    def _messages(self, address: str) -> list[dict[str, Any]]:
        """Return the messages of the page at an address; none without a catalog."""
        project = self.live.project
        language = self.live.language
        page = address.removeprefix(f"/{language.code}/")
        if not page or page.endswith("/"):
            page = f"{page}index"
        page = page.removesuffix(".html")
        if page not in find_catalogs(project, language.code):
            return []
        return page_messages(project, language, page)

    def _send(self, text: str, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        content = text.encode()
        self.send_response(status)
        if status is HTTPStatus.SERVICE_UNAVAILABLE:
            self.send_header("Retry-After", str(_SECONDS))
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        """Keep browsers from showing a page, style or picture of an earlier build."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *arguments: object) -> None:
        """Print nothing for requests."""


class _Server(ThreadingHTTPServer):
    """Reports an error of a request in one line; any page in a browser can cause one."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the error of a request."""
        kind, error, _traceback = sys.exc_info()
        if kind:
            line = visible_line(f"a request failed: {kind.__name__}: {error}")
            print(line[:300], file=sys.stderr, flush=True)


def serve(live: Live, port: int) -> ThreadingHTTPServer:
    """Return a server of the pages on this machine, at ``port`` or a free one for 0."""
    return _Server(("127.0.0.1", port), partial(_Handler, live=live))


def run(live: Live, port: int) -> None:
    """Serve a language and follow every save, until Ctrl-C.

    Raises ``GalleryError`` if the port cannot be served.
    """
    code = live.language.code
    try:
        server = serve(live, port)
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

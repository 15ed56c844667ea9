"""What `live` serves: the pages with its script, what is wrong, and the message of a sentence."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from html import escape
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from .server import Live

# Files of this package that are added to every page; a policy can forbid what stands inside one.
_ASSETS = {"/live.js": "text/javascript", "/live.css": "text/css"}
_ADDED = (
    '<link rel="stylesheet" href="/live.css">\n'
    '<script src="/live.js" data-editor="{editor}" data-root="{root}"></script>\n'
)


class Handler(SimpleHTTPRequestHandler):
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
        if self.path == "/live-events":
            return self._send_events()
        if self.path in _ASSETS:
            asset = Path(__file__).with_name(self.path[1:])
            return self._send(asset.read_text(encoding="utf-8"), _ASSETS[self.path])
        address = urlsplit(self.path)
        asked = parse_qs(address.query)
        page = self._page_of(asked.get("page", [""])[0])
        if address.path == "/live-advice":
            return self._send_json(self.live.messages.advise(page))
        if address.path == "/live-message":
            marks, texts = asked.get("mark", []), asked.get("text", [])
            return self._send_json(self.live.messages.find(page, marks, texts))
        path = Path(self.translate_path(self.path))
        if path.is_dir() and address.path.endswith("/"):
            path = path / "index.html"
        if path.suffix == ".html" and path.is_file():
            editor, root = escape(self.live.editor), escape(str(self.live.root))
            added = _ADDED.format(editor=editor, root=root)
            return self._send(path.read_text(encoding="utf-8") + added, "text/html")
        return super().do_GET()

    def _page_of(self, path: str) -> str:
        """Return the name of the page at a path of an address."""
        name = path.removeprefix(f"/{self.live.language.code}/").removesuffix(".html")
        return f"{name}index" if not name or name.endswith("/") else name

    def _send_json(self, content: object) -> None:
        self._send(json.dumps(content, ensure_ascii=False), "application/json")

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
        for state in self.live.events():
            # A line that says nothing fails where the browser is gone, and ends this thread.
            line = f"data: {json.dumps(asdict(state))}" if state else ":"
            self.wfile.write(f"{line}\n\n".encode())
            self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        """Print no line for each file."""

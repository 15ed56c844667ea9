"""Three engines of browsers behind the same few calls: Chromium, Firefox and WebKit.

Chromium is driven by Playwright, whose own Firefox and WebKit are patched and nobody's browser.
Firefox and WebKitGTK as systems ship them take WebDriver's commands
(https://www.w3.org/TR/webdriver2/): the first over its protocol Marionette, the second over HTTP.
"""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.helpers.chromium import find_chromium, launch, note_errors

# https://www.w3.org/TR/webdriver2/#keyboard-actions
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
WIDTH, HEIGHT = 1280, 900
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
MINI_BROWSER = max(Path("/usr/lib").glob("*/webkit2gtk-*/MiniBrowser"), default=None)  # of WebKit
SHOW = "(element) => element.scrollIntoView({block: 'nearest', behavior: 'instant'})"
CONSOLE = """
    const errors = Services.console.getMessageArray().filter(
      (each) => each instanceof Ci.nsIScriptError
        && /127\\.0\\.0\\.1/.test(each.errorMessage + each.sourceName));
    Services.console.reset();
    return errors.map((each) => each.errorMessage);
"""


class Chromium:
    """A window of Chromium."""

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        self.told = note_errors(self.page)
        self.open, self.run = self.page.goto, self.page.evaluate

    def until(self, expression: str) -> None:
        """Wait for an expression to be true, over a change of pages, too."""
        self.page.wait_for_function(f"() => {expression}", timeout=20_000)

    def click(self, css: str) -> None:
        """Click the first element of a selector, by the mouse itself: ``locator.click`` scrolls."""
        element = self.page.locator(css).first
        element.evaluate(SHOW)
        box = element.bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def press(self, *keys: str) -> None:
        """Press keys at once: names of ``KEYS``, or letters."""
        whole = "+".join(keys)
        keyboard = self.page.keyboard
        keyboard.press(whole) if whole.isascii() else keyboard.insert_text(whole)

    def print(self) -> bytes | None:
        """Return the page as PDF."""
        return self.page.pdf()

    def errors(self) -> list[str]:
        """Return what the console was told as errors."""
        return self.told


class Remote:
    """A window of a browser that takes WebDriver's commands."""

    def __init__(self, send: Callable[[str, dict[str, Any]], Any]) -> None:
        self.send = send
        send("SetWindowRect", {"width": WIDTH, "height": HEIGHT + 100})

    def open(self, address: str) -> None:
        """Load a page."""
        self.send("Navigate", {"url": address})

    def run(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        return self.send("ExecuteScript", {"script": f"return {expression}", "args": []})

    def until(self, expression: str) -> None:
        """Wait for an expression to be true."""
        wait_for(lambda: self.run(expression))

    def press(self, *keys: str) -> None:
        codes = [KEYS.get(key, key) for key in keys]
        actions = [{"type": "keyDown", "value": code} for code in codes]
        actions += [{"type": "keyUp", "value": code} for code in reversed(codes)]
        device = {"type": "key", "id": "keys", "actions": actions}
        self.send("PerformActions", {"actions": [device]})

    def click(self, css: str) -> None:
        """Click the first element of a selector."""
        found = f"document.querySelector({json.dumps(css)})"
        self.run(f"({SHOW})({found})")
        there = {"type": "pointerMove", "origin": self.run(found), "x": 0, "y": 0}
        actions = [there, *({"type": f"pointer{each}", "button": 0} for each in ("Down", "Up"))]
        device = {"type": "pointer", "id": "mouse", "actions": actions}
        self.send("PerformActions", {"actions": [device]})

    def print(self) -> bytes | None:
        """WebKit cannot be asked for paper."""
        return None

    def errors(self) -> list[str]:
        """WebKit does not tell what its console says."""
        return []


class Firefox(Remote):
    """A window of Firefox."""

    def print(self) -> bytes | None:
        return base64.b64decode(self.send("Print", {"background": True}))

    def errors(self) -> list[str]:
        self.send("Marionette:SetContext", {"value": "chrome"})
        told: list[str] = self.send("ExecuteScript", {"script": CONSOLE, "args": []})
        self.send("Marionette:SetContext", {"value": "content"})
        return told


def wait_for(ask: Callable[[], Any], seconds: float = 20) -> Any:
    """Return the first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)
    return answer


@contextmanager
def start_chromium() -> Iterator[Chromium]:
    """Start Chromium without a window."""
    with launch() as browser:
        yield Chromium(browser)


@contextmanager
def start_firefox() -> Iterator[Firefox]:
    """Start Firefox without a window."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "user.js").write_text('user_pref("marionette.port", 0);\n')
        command = [FIREFOX, "--headless", "--marionette", "--profile", folder]
        # or its console could not be read: https://bugzilla.mozilla.org/show_bug.cgi?id=1944565
        stack.enter_context(_process([*command, "--no-remote", "--remote-allow-system-access"]))
        port = folder / "MarionetteActivePort"
        wait_for(lambda: port.exists() and port.read_text())
        link = stack.enter_context(socket.create_connection(("127.0.0.1", int(port.read_text()))))
        lines = stack.enter_context(link.makefile("rb"))

        def receive() -> Any:
            length = b""
            while (digit := lines.read(1)) != b":":
                length += digit
            return json.loads(lines.read(int(length)))

        def send(name: str, parameters: dict[str, Any]) -> Any:
            whole = name if ":" in name else f"WebDriver:{name}"
            text = json.dumps([0, 1, whole, parameters]).encode()
            link.sendall(b"%d:%s" % (len(text), text))
            _kind, _number, error, result = receive()
            assert not error, error
            return result.get("value")

        receive()  # it tells its name first
        send("NewSession", {})
        yield Firefox(send)


@contextmanager
def start_webkit() -> Iterator[Remote]:
    """Start WebKit's small browser on a display that nobody sees."""
    with ExitStack() as stack:
        size = f"{WIDTH + 100}x{HEIGHT + 200}x24"
        screen = ["Xvfb", "-displayfd", "1", "-screen", "0", size]
        display = stack.enter_context(_process(screen, stdout=subprocess.PIPE))
        number = display.stdout.readline().decode().strip()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = ["env", f"DISPLAY=:{number}", "WebKitWebDriver", f"--port={port}"]
        stack.enter_context(_process(command))
        names = {
            "SetWindowRect": "window/rect",
            "Navigate": "url",
            "ExecuteScript": "execute/sync",
            "PerformActions": "actions",
        }

        def ask(path: str, parameters: dict[str, Any] | None = None) -> Any:
            data = None if parameters is None else json.dumps(parameters).encode()
            address = f"http://127.0.0.1:{port}/{path}"
            method = "DELETE" if data is None else "POST"
            request = urllib.request.Request(address, data, method=method)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]

        def is_there() -> bool:
            return socket.socket().connect_ex(("127.0.0.1", port)) == 0

        wait_for(is_there)
        options = {"binary": str(MINI_BROWSER), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        session = f"session/{ask('session', {'capabilities': wanted})['sessionId']}"
        try:
            yield Remote(lambda name, parameters: ask(f"{session}/{names[name]}", parameters))
        finally:
            ask(session)


@contextmanager
def _process(command: list[Any], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


# What starts an engine, whether all is there, and the packages of Debian and Ubuntu that have it.
ENGINES: dict[str, tuple[Callable[[], Any], Any, str]] = {
    "Chromium": (start_chromium, find_chromium(), "chromium"),
    "Firefox": (start_firefox, FIREFOX, "firefox-esr"),
    "WebKit": (
        start_webkit,
        MINI_BROWSER and shutil.which("WebKitWebDriver") and shutil.which("Xvfb"),
        "webkit2gtk-driver xvfb",
    ),
}

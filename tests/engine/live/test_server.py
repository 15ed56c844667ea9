"""What the server of `live` tells, and to whom."""

import json
import socket
import threading
from collections.abc import Callable, Iterator

import polib
import pytest

from sphinx_recorded_gallery.languages import load_languages
from sphinx_recorded_gallery.live import server as live_server
from sphinx_recorded_gallery.live.watch_and_rebuild import Live, State
from sphinx_recorded_gallery.project import load_project
from tests.helpers.gallery import Gallery, save_catalog

Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def live(gallery: Gallery) -> Live:
    gallery.set_languages("ko")
    gallery.translate("index", {"Site": "사이트"})
    secret = polib.POEntry(msgid="PRIVATE", msgstr="TEXT")
    save_catalog(gallery.root / "elsewhere/private.po", secret)
    project = load_project(gallery.root)
    return Live(project, gallery.root / "_build", load_languages(gallery.root)["ko"])


@pytest.fixture
def ask(live: Live) -> Iterator[Ask]:
    """Return a function that makes a request, and returns status and content."""
    server = live_server.serve(live, 0)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def request(path: str, host: str = "localhost", method: str = "GET") -> tuple[int, str]:
        port = server.server_address[1]
        with socket.create_connection(("127.0.0.1", port), 30) as connection:
            text = f"{method} {path} HTTP/1.0\r\nHost: {host.format(port=port)}\r\n\r\n"
            connection.sendall(text.encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        return int(answer.split()[1]), answer.partition("\r\n\r\n")[2]

    yield request
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST"]
)
def test_a_page_asks_for_its_messages(ask: Ask, host: str) -> None:
    status, text = ask("/live-messages?page=/ko/index.html", host)
    assert status == 200
    (message,) = json.loads(text)
    assert message["translation"] == "사이트"
    assert message["place"].startswith("locale/ko/LC_MESSAGES/index.po:")


@pytest.mark.parametrize("host", ["attacker.example", "attacker.example:{port}", "", "[", "::1"])
@pytest.mark.parametrize("path", ["/live-messages?page=/ko/", "/live-state?seen=9", "/ko/a.html"])
def test_nobody_is_answered_who_calls_it_by_another_name(ask: Ask, host: str, path: str) -> None:
    status, text = ask(path, host)
    assert status in (400, 403)
    assert "사이트" not in text


@pytest.mark.parametrize(
    "page",
    ["{root}/elsewhere/private", "../../../elsewhere/private", "/ko/../../../elsewhere/private"],
)
def test_catalogs_elsewhere_are_told_to_nobody(ask: Ask, gallery: Gallery, page: str) -> None:
    status, text = ask(f"/live-messages?page={page.format(root=gallery.root)}")
    assert (status, text) == (200, "[]")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/live-state?seen=x", 400),
        ("/live-state?seen=" + "9" * 5_000, 400),
        ("/live-messages?page=" + "a" * 5_000, 200),
        ("/live-messages?page=%00", 200),
        ("/ko/index.html%00.png", 400),
        ("/ko/" + "a" * 300 + ".html", 503),
        ("/ko/" + "a" * 300, 404),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_no_page_asks_for_is_told_in_the_answer_alone(
    ask: Ask, capfd: pytest.CaptureFixture[str], path: str, expected: int, method: str
) -> None:
    status, _text = ask(path, method=method)
    assert status == expected or method == "HEAD"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", ["/ko/index.html", "/ko/"])
def test_a_missing_page_is_being_built_until_the_first_build_has_ended(
    ask: Ask, live: Live, path: str
) -> None:
    status, text = ask(path)
    assert status == 503
    assert "is being built" in text
    assert 'http-equiv="refresh"' in text
    assert "/live.js" in text
    live.state = State(build=1)
    status, text = ask(path)
    assert status == 404
    assert text.startswith("No such page.")
    assert "/live.js" in text  # it may be there after the next save


def test_an_error_that_nobody_foresaw_is_one_line(
    ask: Ask, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_unused: object) -> None:
        raise RuntimeError("of a kind\x1b[2J\n::error::")

    monkeypatch.setattr(live_server, "page_messages", fail)
    with pytest.raises(IndexError):  # no answer at all
        ask("/live-messages?page=/ko/")
    told = capfd.readouterr().err
    assert told == "a request failed: RuntimeError: of a kind<U+001B>[2J<U+000A>::error::\n"

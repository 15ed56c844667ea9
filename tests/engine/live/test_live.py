import multiprocessing
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from watchfiles import Change

from sphinx_recorded_gallery.languages import load_languages
from sphinx_recorded_gallery.live.messages import PREFIX, mark_of
from sphinx_recorded_gallery.live.server import serve
from sphinx_recorded_gallery.live.watch_and_rebuild import Live
from sphinx_recorded_gallery.project import load_project
from tests.helpers.gallery import Gallery

PAGE = "recipes/adding"
POLICY_LAYOUT = """{% extends "!layout.html" %}{% block extrahead %}
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
{% endblock %}"""
MESSAGES = {"A paragraph.": "문단입니다.", "Why this is here.": "까닭."}


@pytest.fixture
def live(gallery: Gallery) -> Live:
    gallery.add()
    gallery.set_languages("ko")
    gallery.configure(templates_path=["templates"])
    # as the site's own pages have it
    gallery.root.joinpath("templates").mkdir()
    gallery.root.joinpath("templates/layout.html").write_text(POLICY_LAYOUT)
    for page in ("index", "recipes/index"):
        gallery.translate(page, {})
    gallery.translate(PAGE, MESSAGES)
    return Live(
        load_project(gallery.root), gallery.root / "_build", load_languages(gallery.root)["ko"]
    )


def page_of(live: Live) -> str:
    return (live.site / f"ko/{PAGE}.html").read_text()


def save(gallery: Gallery, translation: str) -> Path:
    return gallery.translate(PAGE, MESSAGES | {"A paragraph.": translation})


@pytest.mark.slow
def test_marks_of_messages_are_all_that_published_pages_lack(live: Live, gallery: Gallery) -> None:
    live.rebuild()
    published = gallery.build(language="ko").page(PAGE)
    assert PREFIX not in published
    shown = page_of(live)
    for text in ("A paragraph.", "Why this is here.", "Adding numbers", "A black square"):
        assert mark_of(text) in shown, text
    assert re.sub(rf' class="{PREFIX}\w+"|{PREFIX}\w+ | {PREFIX}\w+', "", shown) == published


@pytest.mark.slow
def test_an_error_that_nobody_foresaw_is_shown_and_serving_goes_on(
    live: Live, gallery: Gallery
) -> None:
    conf = gallery.root / "conf.py"
    text = conf.read_text()
    conf.write_text(text + "def setup(app):\n    raise ValueError('of an extension')\n")
    assert "of an extension" in live.rebuild().problems[0]
    conf.write_text(text)
    assert live.rebuild().problems == ()
    assert "문단입니다." in page_of(live)


@pytest.mark.slow
def test_warnings_name_files_as_the_project_does(live: Live, gallery: Gallery) -> None:
    (gallery.root / "index.rst").write_text("Site\n====\n\n:doc:`nowhere`\n")
    problems = live.rebuild().problems
    assert any(problem.startswith("index.rst:4: WARNING: unknown document") for problem in problems)
    assert not any(str(gallery.root) in problem for problem in problems)


def test_what_builds_write_starts_no_build(live: Live) -> None:
    def is_source(path: str) -> bool:
        return live.is_source(Change.modified, str(live.root / path))

    for path in (f"locale/ko/LC_MESSAGES/{PAGE}.po", "recipes_source/adding.py", "index.rst"):
        assert is_source(path), path
    made = ("recipes", "recipes/adding.rst", "_build", "_build/html/ko/index.html", "sphinx.mo")
    for path in (*made, ".git/index.rst", "a.po~"):
        assert not is_source(path), path


@pytest.fixture
def address(live: Live) -> Iterator[str]:
    server = serve(live, 0)
    stop = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    watcher = threading.Thread(target=live.watch, args=(stop,), daemon=True)
    watcher.start()
    while not live.state.build and watcher.is_alive():
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.server_address[1]}"
    stop.set()
    watcher.join()
    server.shutdown()


def test_an_open_page_shows_what_is_saved(
    live: Live, gallery: Gallery, address: str, browser: Browser
) -> None:
    with browser.new_context(permissions=["clipboard-write"]) as context:
        page = context.new_page()
        page.goto(f"{address}/ko/{PAGE}.html")
        expect(page.get_by_text("문단입니다.", exact=True)).to_be_visible()
        page.get_by_text("문단입니다.", exact=True).get_by_role("button").focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        place = f"locale/ko/LC_MESSAGES/{PAGE}.po:8"
        link = dialog.get_by_role("link", name=place)
        expect(link).to_have_attribute("href", f"vscode://file{gallery.root}/{place}")
        expect(dialog.locator("[lang=ko]")).to_have_text("문단입니다.")
        expect(dialog).to_contain_text("A paragraph.")
        dialog.get_by_role("button", name=f"Copy {place}").click()
        expect(dialog.get_by_text("Copied")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)  # closed ones have no role, but a text
        advice = page.locator(".live-advice")
        expect(advice).to_have_count(0)
        save(gallery, "")
        left = re.compile("To translate: 1 of 2 on this page.*A paragraph", re.DOTALL)
        expect(advice).to_contain_text(left, timeout=60_000)
        save(gallery, "문단 3.25입니다.")
        expect(advice).to_contain_text("Advice: 1 on this page", timeout=60_000)
        advice.locator("summary").first.click()
        expect(advice).to_contain_text("the number 3.25 is not in the source")
        advice.get_by_role("button", name=f"Show {place}").click()
        button = page.get_by_text("문단 3.25입니다.").get_by_role("button")
        expect(button).to_be_focused()
        save(gallery, "다른 문단입니다.")
        expect(page.get_by_text("다른 문단입니다.")).to_be_visible(timeout=60_000)
        path = save(gallery, "``다른 문단입니다.")
        alert = page.get_by_role("alert")
        unclosed = re.compile(f"locale/ko/LC_MESSAGES/{PAGE}.po:.*close it with two backticks")
        expect(alert).to_contain_text(unclosed, timeout=60_000)
        expect(page.get_by_text("A paragraph.", exact=True)).to_be_visible()
        path.write_text("not a catalog")
        broken = re.compile(f"locale/ko/LC_MESSAGES/{PAGE}.po:.*not a catalog from here on")
        expect(alert).to_contain_text(broken, timeout=60_000)
        expect(page.get_by_text("A paragraph.", exact=True)).to_be_visible()
        save(gallery, "또 다른 문단입니다.")
        expect(page.get_by_text("또 다른 문단입니다.")).to_be_visible(timeout=60_000)
        expect(alert).to_have_count(0)
        built = live.state.build
        time.sleep(1.5)  # long enough for a build that its own files would start
        assert live.state.build == built


@pytest.mark.slow
def test_a_page_is_shown_again_at_its_place_with_what_was_open(
    live: Live, gallery: Gallery, address: str, browser: Browser
) -> None:
    index = gallery.root / "index.rst"
    fold = f"<details><summary>{{}}</summary>{'Long<br>' * 200}</details>"
    more = ".. raw:: html\n\n   " + fold.format("First") + fold.format("Second")
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}/ko/index.html")
        index.write_text(f"{index.read_text()}\n{more}\n\nOne.\n")
        page.get_by_text("Second").click(timeout=60_000)
        page.evaluate("scrollTo(0, 2000)")
        assert page.evaluate("scrollY") == 2000
        index.write_text(f"{index.read_text()}\nTwo.\n")
        expect(page.get_by_text("Two.")).to_be_visible(timeout=60_000)
        folds = page.locator("details").evaluate_all("all => all.map((each) => each.open)")
        assert folds == [False, True]
        assert page.evaluate("scrollY") == 2000
        gallery.translate("recipes/index", {"All.": ""})
        page.goto(f"{address}/ko/recipes/")
        expect(page.locator(".live-advice")).to_contain_text("To translate: 1 of 1")


def test_ctrl_c_ends_what_builds_are_forked_from_without_a_word() -> None:
    """Python would tell where it was, while `live` starts."""
    program = "import os; from sphinx_recorded_gallery.live import preload; os.kill(os.getpid(), 2)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")


@pytest.mark.slow
def test_an_interrupted_build_is_ended(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal to `live` alone reaches no build; waiting for one would look like a hang."""
    processes = []

    class Receiver:
        def recv(self) -> None:
            processes.extend(multiprocessing.active_children())
            raise KeyboardInterrupt

    def pipe(duplex: bool) -> tuple[Receiver, object]:
        _receiver, sender = multiprocessing.Pipe(duplex)
        return Receiver(), sender

    monkeypatch.setattr(live._processes, "Pipe", pipe)
    with pytest.raises(KeyboardInterrupt):
        live.rebuild()
    (process,) = processes
    assert process.exitcode == -signal.SIGKILL


SLOW_BUILD = """
def _wait(app):
    import os, pathlib, time
    pathlib.Path(app.srcdir, "pids").write_text(f"{os.getpid()} {os.getppid()}")
    time.sleep(100)

def setup(app):
    app.connect("builder-inited", _wait)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("live")
def test_nothing_is_left_of_a_killed_live(gallery: Gallery) -> None:
    conf = gallery.root / "conf.py"
    conf.write_text(conf.read_text() + SLOW_BUILD)
    words = ["live", "ko", "--root", str(gallery.root), "--port", "0"]
    command = [sys.executable, "-m", "sphinx_recorded_gallery", *words]
    pids = gallery.root / "pids"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as live:
        while not (pids.exists() and pids.read_text()):
            assert live.poll() is None
            time.sleep(0.1)
        live.kill()
    left = [Path("/proc", pid) for pid in pids.read_text().split()]
    until = time.monotonic() + 10
    while any(path.exists() for path in left) and time.monotonic() < until:
        time.sleep(0.1)
    assert [path for path in left if path.exists()] == []

"""Builds one language again after every save, and tells those who wait for the next build."""

import os
import threading
import time
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

import watchfiles
from sphinx.application import builtin_extensions

from ..errors import GalleryError, visible_line
from ..languages import Language
from ..project import Project
from .build_once import build_once

EDITOR = "vscode://file{path}:{line}"
# What builds need is imported once, in the process that they are forked from.
_PRELOADED = """
babel.dates jupytext sphinx.builders.html sphinx.search
sphinx.environment.collectors.toctree sphinx.transforms.post_transforms.code
sphinx.transforms.post_transforms.images sphinx_gallery.gen_gallery
sphinx_recorded_gallery.live.build_once
sphinx_recorded_gallery.pages sphinx_recorded_gallery.search
sphinx_recorded_gallery.translate sphinx_recorded_gallery.translate.status
sphinx_recorded_gallery.measurements.roles
"""


def _send_problems(sender: Connection, root: Path, build: Path, language: str) -> None:
    """Build, and send what is wrong: a line each. The build ends when `live` is killed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        problems = build_once(root, build, language)
    except GalleryError as error:
        problems = [str(error)]
    sender.send(problems)


def _end_with_parent() -> None:
    """Wait for the end of `live`; the process that builds are forked from ends with the last."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


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
        theme = project.config.html_theme
        preload = [f"{__package__}.preload", *builtin_extensions, *_PRELOADED.split(), theme]
        self._processes.set_forkserver_preload(preload)

    def is_source(self, change: watchfiles.Change, path: str) -> bool:
        """Tell whether a build depends on a path; what builds make is no source."""
        is_made = any(Path(path).is_relative_to(each) for each in self._made)
        return self._filter(change, path) and not (is_made or path.endswith(".mo"))

    def rebuild(self) -> State:
        """Build, tell all browsers, and return the new state."""
        # A process of its own for every build: Sphinx and gettext keep what they have read. It is
        # forked from one in which everything is imported already.
        receiver, sender = self._processes.Pipe(duplex=False)
        arguments = (sender, self.root, self.build_folder, self.language.code)
        process = self._processes.Process(target=_send_problems, args=arguments)
        process.start()
        sender.close()
        try:
            problems = receiver.recv()
        except EOFError:
            problems = ["the build was killed, perhaps for lack of memory; save a file again"]
        except BaseException:  # Ctrl-C, which a signal to this process alone tells no other
            process.kill()
            raise
        finally:
            process.join()
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
                print(visible_line(problem), flush=True)
            paths = sorted(os.path.relpath(path, self.root) for _change, path in changes)
            changed, seconds = ", ".join(paths[:3]) or "the site", time.monotonic() - began
            print(f"{visible_line(changed)}: built in {seconds:.1f} s", flush=True)

    def wait(self, seen: int, seconds: float = 20) -> State:
        """Return the state as soon as it is another than that of this number, or after a while."""
        with self._changed:
            self._changed.wait_for(lambda: self.state.build != seen, seconds)
            return self.state

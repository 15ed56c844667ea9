"""Build one language after every save, and notify those who wait for the next build."""

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
# Milliseconds: a build begins once nothing has changed for so long,
_QUIET = 20
# or when changes have gone on for so long,
_LONGEST_WAIT = 200
# and this often the watch asks whether to end, as nothing changes.
_LOOK_FOR_STOP = 500
# Modules that are imported once, in the process from which builds are forked
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
    """Build, and send the problems as lines; the build ends if `live` is killed."""
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
    """The state for browsers: the build to show, and its problems."""

    build: int  # after a failed build, pages of the one before are shown
    problems: tuple[str, ...] = ()


class Live:
    """Builds one language after every change, and notifies browsers."""

    def __init__(
        self, project: Project, build: Path, language: Language, editor: str = EDITOR
    ) -> None:
        self.project = project
        self.editor = editor  # address that opens a file, with {path} and {line}
        self.root = project.root.resolve()
        self.build_folder = build.resolve()
        self.site = self.build_folder / "html"  # what is served
        self.language = language
        self.state = State(build=0)
        # Catalogs and examples may lie outside of the folder of conf.py.
        places = {self.root, project.locale.resolve()}
        places |= {recipes.resolve() for _pages, recipes in project.galleries}
        self._watched_folders = []
        for place in sorted(places):
            is_inside_other = not places.isdisjoint(place.parents)
            if place.is_dir() and not is_inside_other:
                self._watched_folders.append(place)
        self._build_folders = [self.build_folder, self.root / "_build"]
        self._build_folders += [self.root / pages for pages, _recipes in project.galleries]
        self._filter = watchfiles.DefaultFilter()  # leaves out temporary files of editors
        self._changed = threading.Condition()
        self._processes = get_context("forkserver")
        # Modules that cannot be imported are ignored here, such as those of a missing theme.
        theme = project.config.html_theme
        preload = [f"{__package__}.preload", *builtin_extensions, *_PRELOADED.split(), theme]
        self._processes.set_forkserver_preload(preload)

    def is_source(self, change: watchfiles.Change, path: str) -> bool:
        """Return whether a build depends on a path; files that builds write are not sources."""
        is_built = any(Path(path).is_relative_to(folder) for folder in self._build_folders)
        if is_built or path.endswith(".mo"):
            return False
        return self._filter(change, path)

    def rebuild(self) -> State:
        """Build, notify all browsers, and return the new state."""
        # Each build needs a new process: Sphinx and gettext cache what they read. It is forked
        # from one that has imported everything already.
        receiver, sender = self._processes.Pipe(duplex=False)
        arguments = (sender, self.root, self.build_folder, self.language.code)
        process = self._processes.Process(target=_send_problems, args=arguments)
        process.start()
        sender.close()
        try:
            problems = receiver.recv()
        except EOFError:
            problems = ["the build was killed, perhaps for lack of memory; save a file again"]
        except BaseException:  # an interruption, which may reach only this process
            process.kill()
            raise
        finally:
            process.join()
        with self._changed:
            unique_problems = tuple(dict.fromkeys(problems))
            self.state = State(build=self.state.build + 1, problems=unique_problems)
            self._changed.notify_all()
        return self.state

    def watch(self, stop: threading.Event | None = None) -> None:
        """Build at once, and after every change, until interrupted."""
        is_first = True  # build once the watch has begun, so that no save is missed
        for changes in watchfiles.watch(
            *self._watched_folders,
            watch_filter=self.is_source,
            debounce=_LONGEST_WAIT,
            step=_QUIET,
            rust_timeout=_LOOK_FOR_STOP,
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
            changed = ", ".join(paths[:3]) or "the site"
            seconds = time.monotonic() - began
            print(f"{visible_line(changed)}: built in {seconds:.1f} s", flush=True)

    def wait(self, seen: int, seconds: float = 20) -> State:
        """Return the state as soon as its number is not ``seen``, or after some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.state.build != seen, seconds)
            return self.state

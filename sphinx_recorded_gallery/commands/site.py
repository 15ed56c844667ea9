"""Commands that build the site: all its languages, or one after every save."""

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

from ..errors import GalleryError, suggest, visible
from ..languages import Language, choose_languages
from ..planted_links import refuse_links
from ..project import Project, locale_option, require_extension
from .arguments import LANGUAGES, argument, command

_SPHINX = "sphinx_recorded_gallery.run_sphinx"
_SECONDS_TO_END = 10  # of a build that is interrupted
# Warnings of a build that `check` tells, too, as Sphinx writes their types
_TOLD_BY_CHECK = (
    "[recorded_gallery.recipe]",
    "[recorded_gallery.recording]",
    "[recorded_gallery.stale]",
)


@command(
    "html",
    LANGUAGES,
    argument("--build", type=Path, default=Path("_build"), help="folder for the built site"),
    argument("--after-check", action="store_true", help="omit what `check` has just reported"),
    takes_sphinx_options=True,
)
def html(project: Project, options: argparse.Namespace) -> bool:
    """Render the site in all languages at the same time."""
    languages = choose_languages(project.root, options.languages, project.config.language)
    build = Path.cwd() / options.build
    left_out = _TOLD_BY_CHECK if options.after_check else ()
    return build_site(project, build, languages, options.sphinx_options, left_out)


def build_site(
    project: Project,
    build: Path,
    languages: Sequence[Language],
    options: Sequence[str],
    left_out: tuple[str, ...] = (),
) -> bool:
    """Build ``languages`` into ``<build>/html/<code>/``; return whether all of them succeeded.

    Each runs in a process of its own, so that a failing one does not affect the others. Its output
    is printed when it ends, without the lines that end in one of ``left_out``. Raises
    ``GalleryError`` if a folder to write is a link.
    """
    refuse_links(project.root, build / "html", build / "doctrees")
    # One process more than cores: while one build waits for files, another computes.
    options = [*options, *locale_option(project.config)]
    workers = min(len(languages), (os.cpu_count() or 1) + 1)
    print(f"building {', '.join(language.code for language in languages)}", flush=True)
    failed = []
    has_left_out = False
    has_printed = False
    builds = _Builds()
    with ThreadPoolExecutor(workers) as pool, ExitStack() as stack:
        stack.callback(builds.end)  # also after an interruption
        jobs = {}
        for language in languages:
            job = pool.submit(builds.build, project.root, build, language.code, options)
            jobs[job] = language.code
        for job in as_completed(jobs):
            code = jobs[job]
            process, seconds = job.result()
            for line in process.stdout.splitlines():
                if line.endswith(left_out):
                    has_left_out = True
                else:
                    has_printed = True
                    print(f"{code}: {visible(line)}", file=sys.stderr)
            # conf.py, or a module that it imports, may end the process with status 0.
            has_pages = any((build / "html" / code).glob("*"))
            is_built = process.returncode == 0 and has_pages
            state = "done"
            if not is_built:
                state = f"failed with exit status {process.returncode}"
            print(f"{code}: {state} in {seconds:.1f} s", flush=True)
            if not is_built:
                failed.append(code)
    if failed:
        places = []
        if has_printed or not has_left_out:
            places.append(f"see the problems above, in {', '.join(sorted(failed))}")
        if has_left_out:
            places.append("see what `check` told of recordings")
        print(f"error: {'; '.join(places)}", file=sys.stderr)
    return not failed


class _Builds:
    """The processes of Sphinx that a command starts; after ``end`` no more are started."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_ended = False

    def build(
        self, root: Path, build: Path, code: str, options: Sequence[str]
    ) -> tuple[subprocess.CompletedProcess[str], float]:
        """Build one language; return its process and the seconds that it took."""
        began = time.monotonic()
        command = [
            *(sys.executable, "-m", _SPHINX, "-b", "html", *options),
            *("-D", f"language={code}", "-d", str(build / "doctrees" / code)),
            *(str(root), str(build / "html" / code)),
        ]
        with self._lock:
            if self._is_ended:
                return subprocess.CompletedProcess(command, 130, ""), 0
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            self._running.add(process)
        text, _nothing = process.communicate()
        self._running.discard(process)
        done = subprocess.CompletedProcess(command, process.returncode, text)
        return done, time.monotonic() - began

    def end(self) -> None:
        """End all processes: they would go on writing while the next command does.

        Python swallows an interruption that comes while it collects garbage, for example. A
        process that goes on after a while is killed.
        """
        with self._lock:
            self._is_ended = True
            running = list(self._running)
        for process in running:
            process.terminate()
        deadline = time.monotonic() + _SECONDS_TO_END
        for process in running:
            try:
                process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


@command(
    "live",
    argument("language", help="its code, such as ko"),
    argument("--build", type=Path, default=Path("_build/live"), help="folder for the built site"),
    argument("--port", type=int, default=8000),
    argument(
        "--editor-link", help="address that opens a line in an editor, such as x://{path}:{line}"
    ),
)
def live(project: Project, options: argparse.Namespace) -> None:
    """Serve one language and follow every save."""
    from ..live.server import run
    from ..live.watch_and_rebuild import EDITOR, Live

    require_extension(project, "translate")
    if not options.language:
        raise GalleryError("no language was named", remedy=f"for example: {suggest('live', 'ko')}")
    [language] = choose_languages(project.root, [options.language], project.config.language)
    editor = EDITOR if options.editor_link is None else options.editor_link
    build = Path.cwd() / options.build
    refuse_links(project.root, build)
    run(Live(project, build, language, editor), options.port)

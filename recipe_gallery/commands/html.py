"""Render the site in all languages at the same time: `make html`."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ..errors import suggest
from ..languages import Language
from ..project import Project
from ..translate.catalogs import ENGINE, count_left


def build_site(
    project: Project, build: Path, languages: Sequence[Language], options: Sequence[str]
) -> bool:
    """Build ``languages`` into ``<build>/html/<code>/``; tell whether all of them succeeded.

    Each is a Sphinx of its own, so that one that fails leaves the others alone. What they say is
    printed when each ends.
    """
    # One more than cores: while one build waits for files, another computes.
    workers = min(len(languages), (os.cpu_count() or 1) + 1)
    print(f"building {', '.join(language.code for language in languages)}", flush=True)
    failed = []
    with ThreadPoolExecutor(workers) as pool:
        jobs = {
            pool.submit(_build, project.root, build, each.code, options): each for each in languages
        }
        for job in as_completed(jobs):
            code, (done, seconds) = jobs[job].code, job.result()
            for line in done.stdout.splitlines():
                print(f"{code}: {line}", file=sys.stderr)
            # conf.py, or what it imports, may end the process in silence
            is_built = not done.returncode and any((build / "html" / code).glob("*"))
            state = "done" if is_built else f"failed with exit status {done.returncode}"
            print(f"{code}: {state} in {seconds:.1f} s", flush=True)
            if left := count_left(project, code):
                told = f"{left} messages are shown in English: not translated, or fuzzy"
                if jobs[job].published:  # of others, check-po tells no gaps
                    told += f"; to see where: {suggest('check-po', code)}"
                print(f"{code}: {told}", flush=True)
            if not is_built:
                failed.append(code)
    if failed:
        print(f"error: not built without problems: {', '.join(sorted(failed))}", file=sys.stderr)
    return not failed


def _build(
    root: Path, build: Path, code: str, options: Sequence[str]
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Build one language; return what became of it, and the seconds that it took."""
    began = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", f"{ENGINE}.build", "-b", "html", *options),
            *("-D", f"language={code}", "-d", str(build / "doctrees" / code)),
            *(str(root), str(build / "html" / code)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done, time.monotonic() - began

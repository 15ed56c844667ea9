"""Which pages of recipes Sphinx-Gallery need not make again, because nothing has changed.

One file beside the pages, ``.made``, holds what they were made from: for the quick answer that
nothing has changed, and for each recipe what Sphinx-Gallery said of it, which the page of its
gallery needs. Files are compared by time and size first, and by their content where those differ.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import NAMESPACE

from ..project import SETTINGS, code_digest, gallery_folders

# What sphinx_gallery.gen_rst.generate_file_rst returns: introduction, title, cost, and variables
Generated = tuple[str, str, tuple[float, float], dict[str, Any]]
# By path: time of the last change (ns) and size (bytes), both 0 for a file that does not exist
Times = dict[str, list[int]]


@dataclass(kw_only=True)
class MadePage:
    """What the page of one recipe was made from, and what Sphinx-Gallery returned for it."""

    times: Times  # of the recipe, its recording and its inputs
    content: str  # hash of them
    result: list[Any] = field(default_factory=list)


@dataclass(kw_only=True)
class Memory:
    """What the last build knew of the pages of all recipes."""

    settings: str = ""  # hash of settings and code; pages made with others are made again
    state: str = ""  # of all sources and the list of pages; empty if a warning has to be repeated
    pages: dict[str, MadePage] = field(default_factory=dict)  # by the path of the recipe

    def __post_init__(self) -> None:
        self.seen: set[str] = set()  # the recipes that there are

    @classmethod
    def read(cls, path: Path) -> Memory:
        """Read what a build wrote; a file that is missing or damaged is an empty memory."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            data["pages"] = {name: MadePage(**page) for name, page in data["pages"].items()}
            return cls(**data)
        except (OSError, ValueError, TypeError, KeyError):
            return cls()

    def write(self, path: Path) -> None:
        """Write it for the next build."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def wrap(
        self, make: Callable[..., Generated], sources_of: Callable[[Path], list[Path]]
    ) -> Callable[..., Generated]:
        """Return ``make`` as one that is only called for a page that has to be made.

        ``sources_of`` returns the files that a page is made from, by Sphinx-Gallery's copy of its
        recipe: the recipe, its recording and its inputs.
        """

        def make_or_remember(name: str, target: Path, folder: Path, conf: Any) -> Generated:
            source = Path(folder, name)
            self.seen.add(str(source))
            known = self._find(source)
            if known and Path(target, name).with_suffix(".rst").exists():
                return known
            files = sources_of(Path(target, name))
            self.pages.pop(str(source), None)
            made = MadePage(times=times_of(files), content=content_of(files))
            with CountWarnings() as warnings:
                intro, title, cost, variables = make(name, target, folder, conf)
            if not warnings.count:
                used = sorted(variables.get("backrefs", ()))
                made.result = [intro, title, cost, variables | {"backrefs": used}]
                self.pages[str(source)] = made
            return intro, title, cost, variables

        return make_or_remember

    def _find(self, source: Path) -> Generated | None:
        known = self.pages.get(str(source))
        if known is None:
            return None
        times = times_of(known.times)
        if times != known.times and content_of(times) != known.content:
            return None
        known.times = times
        intro, title, cost, variables = known.result
        return intro, title, tuple(cost), variables | {"backrefs": set(variables["backrefs"])}


class CountWarnings(logging.Handler):
    """Counts what Sphinx logs as a warning while it is in use."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self.count += 1

    def __enter__(self) -> Self:
        logging.getLogger(NAMESPACE).addHandler(self)
        return self

    def __exit__(self, *_exception: object) -> None:
        logging.getLogger(NAMESPACE).removeHandler(self)


def times_of(files: Iterable[str | Path]) -> Times:
    """Return when each file was changed, and its size."""
    times = {}
    for path in files:
        try:
            state = os.stat(path)
            times[str(path)] = [state.st_mtime_ns, state.st_size]
        except OSError:
            times[str(path)] = [0, 0]
    return times


def content_of(files: Iterable[str | Path]) -> str:
    """Return a hash of what files hold."""
    digest = hashlib.sha256()
    for path in map(Path, files):
        content = path.read_bytes() if path.is_file() else b"missing"
        digest.update(f"{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def digest_settings(config: Config) -> str:
    """Return a hash of the engine's code and of the settings that pages depend on."""
    values = {
        name: getattr(config, name) for name, setting in SETTINGS.items() if setting[1] == "env"
    }
    for name, value in config.sphinx_gallery_conf.items():
        # Sphinx-Gallery fills in objects and lists of its own while it works.
        if isinstance(value, str | int | float | tuple | list | None) and not name.endswith(
            "_examples"
        ):
            values[f"sphinx_gallery_conf.{name}"] = value
    return hashlib.sha256(code_digest() + repr(sorted(values.items())).encode()).hexdigest()


def state_of_sources(app: Sphinx) -> str:
    """Return a hash of the times and sizes of all recipes, recordings and files beside them."""
    root = Path(app.srcdir)
    digest = hashlib.sha256()
    folders = [root / app.config.recipe_gallery_recordings]
    folders += [root / examples for _pages, examples in gallery_folders(app.config)]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.startswith(".") or "__pycache__" in path.parts or not path.is_file():
                continue
            state = path.stat()
            digest.update(f"{path} {state.st_mtime_ns} {state.st_size}\n".encode())
    return digest.hexdigest()


def state_of_pages(app: Sphinx) -> str:
    """Return a hash of the names of all pages that were made."""
    folders = [Path(app.srcdir, pages) for pages, _examples in gallery_folders(app.config)]
    found = [sorted(map(str, folder.rglob("*.rst"))) for folder in folders]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def remove_pages(app: Sphinx) -> None:
    """Remove the pages of recipes that are gone, which Sphinx-Gallery would leave to be published.

    It leaves a copy of each recipe beside its page.
    """
    ignored = app.config.sphinx_gallery_conf["ignore_pattern"]
    for pages, examples in gallery_folders(app.config):
        folder = Path(app.srcdir, pages)
        for copy in folder.rglob("*.py"):
            source = Path(app.srcdir, examples, copy.relative_to(folder))
            if not source.exists() or re.search(ignored, source.name):
                copy.unlink()
                for ending in (".rst", ".zip"):
                    copy.with_name(copy.name.removesuffix(".py") + ending).unlink(missing_ok=True)


def remove_published(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Remove what was published of pages that are gone; a hook of ``env-get-outdated``."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        for docname in removed:
            Path(app.builder.get_outfilename(docname)).unlink(missing_ok=True)
            for ending in (".ipynb", ".py"):
                Path(app.outdir, docname + ending).unlink(missing_ok=True)
    return []

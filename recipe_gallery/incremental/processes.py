"""Work that several processes share (``-j``), which Sphinx forks for each part of it."""

import gc
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

from sphinx import builders
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.transforms.post_transforms.images import ImageConverter
from sphinx.util import logging
from sphinx.util.display import status_iterator
from sphinx.util.parallel import ParallelTasks, parallel_available

from ..errors import GalleryError, describe_error

logger = logging.getLogger(__name__)
MANY = 40  # pages; handing the environment from process to process takes longer than reading fewer
FEW = 2  # pages that are worth a process: one that only writes hands next to nothing back
SMALLEST, LARGEST = 10, 100  # pages of a part, where there are many
# Packages that note nothing for the whole site where a page is resolved, as an extension can say
_KNOWN = {"sphinx", "sphinx_gallery", "sphinx_design", "pydata_sphinx_theme"}
RESOLVES_ANYWHERE = "recipe_gallery_resolves_anywhere"  # in the metadata of an extension


def _cut(work: Sequence[Any], processes: int) -> list[Sequence[Any]]:
    """Cut work into few parts, as each that is read brings its environment; the last are small."""
    parts, smallest = [], SMALLEST if len(work) >= MANY else 1
    while work:
        size = min(max(smallest, len(work) // (2 * processes)), LARGEST)
        parts.append(work[:size])
        work = work[size:]
    return parts


class Tasks(ParallelTasks):
    """Sphinx's, but not all parts are prepared at once, and what fails early is told, too."""

    _failed: Exception | None = None

    def add_task(
        self,
        task_func: Callable[..., Any],
        arg: Any = None,
        result_func: Callable[..., Any] | None = None,
    ) -> None:
        """Add a part; come back when at most one waits. They hold whole pages in memory."""
        try:
            super().add_task(partial(_tell, task_func), arg, result_func)
            while len(self._precvs_waiting) > 1 and not self._failed:
                if not self._join_one():
                    time.sleep(0.02)
            if self._failed:  # Sphinx's goes on without what failed
                raise self._failed
        except BaseException:
            self.terminate()  # others would wait for ever for somebody who takes what they found
            raise

    def _join_one(self) -> bool:
        try:
            return super()._join_one()
        except Exception as error:
            self._failed = error
            raise


def _tell(task: Callable[..., Any], *part: Any) -> Any:
    """Do a part; what goes wrong is told as it would be without other processes."""
    try:
        return task(*part)
    except Exception as error:
        raise GalleryError(describe_error(error)) from error


def can_share(app: Sphinx, work: Sequence[object], *, to_write: bool = False) -> bool:
    """Tell whether there is enough to do for several processes, and some may be had."""
    enough = FEW if to_write else MANY
    return len(work) >= enough and app.parallel > 1 and parallel_available


def share(
    app: Sphinx,
    work: Sequence[str],
    do: Callable[[Sequence[str]], Any],
    take: Callable[[Any], object],
    label: str,
) -> None:
    """Let processes ``do`` parts of the work; ``take`` gets what they return, in any order."""
    prepare_forks(len(work) >= MANY)
    gc.freeze()  # what is there stays; looking for waste in it takes long, and copies it
    tasks, parts = Tasks(app.parallel), _cut(work, app.parallel)
    done = status_iterator(parts, f"{label}... ", "darkgreen", len(parts), app.verbosity)

    def take_part(_part: object, found: Any) -> None:
        take(found)
        next(done)

    for part in parts:
        tasks.add_task(do, part, take_part)
    tasks.join()
    logger.info("")  # behind the progress


@cache
def prepare_forks(many: bool) -> None:
    """Do once what each of ``many`` processes would do again, and let them share the memory."""
    for name in ("PIL.Image", "jupytext", "nbformat") if many else ():
        import_module(name)
    builders.ParallelTasks, builders.make_chunks = Tasks, _cut  # type: ignore[attr-defined,assignment]


def writes_anywhere(app: Sphinx) -> bool:
    """Tell whether any process can do all for a page, for nobody notes anything but its pictures.

    An index that Sphinx itself makes is of pages that one process has resolved.
    """
    if app.builder.name not in ("html", "dirhtml") or getattr(app.builder, "search", True):
        return False
    known = {
        name.partition(".")[0]
        for name, each in app.extensions.items()
        if each.metadata.get(RESOLVES_ANYWHERE)
    }
    transforms = app.registry.get_post_transforms()
    work: list[object] = [*transforms, *map(type, app.env.domains.sorted())]
    for event in ("doctree-resolved", "missing-reference", "warn-missing-reference"):
        work += [each.handler for each in app.events.listeners[event]]
    packages = {str(getattr(each, "__module__", "")).partition(".")[0] for each in work}
    converts = any(issubclass(each, ImageConverter) for each in transforms)
    return packages <= known | _KNOWN and not converts


def share_writing(app: Sphinx, builder: builders.Builder) -> None:
    """Let processes do all that a page needs; a hook of ``write-started``.

    Sphinx's own resolve no pages: the one process that hands out does, and the others wait for it.
    """
    if app.parallel > 1 and writes_anywhere(app):
        builder._write_parallel = partial(_write_pages, app)  # type: ignore[method-assign]


def _write_pages(app: Sphinx, docnames: Sequence[str], nproc: int) -> None:
    builder = app.builder
    assert isinstance(builder, StandaloneHTMLBuilder)
    if not can_share(app, docnames, to_write=True):
        builder._write_serial(docnames)
        return

    def write(part: Sequence[str]) -> dict[str, str]:
        before = {*builder.images}
        for docname in part:
            builders._write_docname(docname, env=app.env, builder=builder, tags=app.tags)
        return {name: builder.images[name] for name in builder.images.keys() - before}

    sizes = {name: (app.doctreedir / f"{name}.doctree").stat().st_size for name in docnames}
    rest = sorted(
        docnames, key=lambda name: -sizes[name]
    )  # nobody waits for a large one at the end
    if len(rest) >= MANY:
        builder.images |= write([rest.pop()])  # what each would look for again, such as styles
    share(app, rest, write, builder.images.update, "writing output")

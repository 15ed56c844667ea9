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
SMALLEST, LARGEST = 10, 100  # pages of a part
ENOUGH = 700_000  # bytes of doctrees that are worth a process which writes a part of them
# Packages that note nothing for the whole site where a page is resolved, as an extension can say
_KNOWN = {"sphinx", "sphinx_gallery", "sphinx_design", "pydata_sphinx_theme"}
RESOLVES_ANYWHERE = "recipe_gallery_resolves_anywhere"  # in the metadata of an extension


def _cut(work: Sequence[Any], processes: int) -> list[Sequence[Any]]:
    """Cut work into few parts, as each that is read brings its environment; the last are small."""
    parts = []
    while work:
        size = min(max(SMALLEST, len(work) // (2 * processes)), LARGEST)
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
            # Sphinx starts the last one next, and everybody would wait for the first in the end
            self._precvs_waiting = dict(sorted(self._precvs_waiting.items(), reverse=True))
            return super()._join_one()
        except EOFError:
            text = "a process that made pages was killed, perhaps for lack of memory"
            self._failed = GalleryError(text, remedy="build again")
            raise self._failed from None
        except Exception as error:
            self._failed = error
            raise


def _tell(task: Callable[..., Any], *part: Any) -> Any:
    """Do a part; what goes wrong is told as it would be without other processes."""
    try:
        return task(*part)
    except Exception as error:
        raise GalleryError(describe_error(error)) from error


def can_share(app: Sphinx, work: Sequence[object], enough: bool = False) -> bool:
    """Tell whether there is enough to do for several processes, and some may be had."""
    return (enough or len(work) >= MANY) and app.parallel > 1 and parallel_available


def share(
    app: Sphinx,
    work: Sequence[str],
    do: Callable[[Sequence[str]], Any],
    take: Callable[[Any], object],
    label: str,
) -> None:
    """Let processes ``do`` parts of the work; ``take`` gets what they return, in any order."""
    prepare_forks()
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
def prepare_forks() -> None:
    """Do once what each process would do again, and let them share the memory."""
    for name in ("PIL.Image", "jupytext", "nbformat"):
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
    sizes = {name: (app.doctreedir / f"{name}.doctree").stat().st_size for name in docnames}
    if not can_share(app, docnames, sum(sizes.values()) >= ENOUGH):
        builder._write_serial(docnames)
        return
    largest_first = sorted(docnames, key=lambda name: -sizes[name])

    def write(part: Sequence[str]) -> dict[str, str]:
        before = {*builder.images}
        for docname in part:
            builders._write_docname(docname, env=app.env, builder=builder, tags=app.tags)
        return {name: builder.images[name] for name in builder.images.keys() - before}

    if len(docnames) >= MANY:
        builder.images |= write([largest_first.pop()])  # what each would look for, such as styles
        share(app, largest_first, write, builder.images.update, "writing output")
        return
    count = min(app.parallel, len(docnames), 1 + sum(sizes.values()) // ENOUGH)
    parts: list[list[str]] = [[] for _process in range(count)]
    for name in largest_first:
        min(parts, key=lambda part: sum(sizes[each] for each in part)).append(name)
    tasks = Tasks(app.parallel)
    for part in parts[1:]:
        tasks.add_task(write, part, lambda _part, images: builder.images.update(images))
    try:
        builder._write_serial(parts[0])  # with the largest: here nothing has to be imported again
    except BaseException:
        tasks.terminate()
        raise
    tasks.join()

"""Pages of many recipes, made by several processes before Sphinx-Gallery asks for one by one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx_gallery import gen_gallery, gen_rst

from ..incremental.kept import find_new, store_of
from ..incremental.made_pages import Generated, Memory
from ..incremental.outdated import read_ahead
from ..incremental.processes import can_share, share
from ..recipes.recipe import PARSED
from ..recipes.recorded_page import BROKEN_PICTURES


@contextmanager
def several_processes(
    app: Sphinx, memory: Memory, make: Callable[..., Generated], notes: list[str]
) -> Iterator[None]:
    """Make the pages of a folder ahead, if they are many, where Sphinx-Gallery looks at its names.

    ``make`` adds to ``memory`` and ``notes``, each process to its own. A page that cannot be made
    so is left to be made later, which tells why.
    """
    targets: list[Path] = []  # the folders of pages, the last one at hand
    caches: list[dict[Any, Any]] = [PARSED, BROKEN_PICTURES, store_of(app.env).kept["values"]]

    def make_folder(folder: Path, target: Path, *others: Any, **named: Any) -> Any:
        targets.append(Path(target))
        return gen_rst.generate_dir_rst(folder, target, *others, **named)

    def split(names: list[str], folder: Path, conf: Any) -> tuple[list[str], list[str]]:
        """Make them; say that all be asked for in order. Its own parses every recipe."""
        target = targets[-1]
        known = {str(path): memory.find(path, target) for path in map(Path(folder).joinpath, names)}
        memory.ahead = {path: found for path, found in known.items() if found}
        wanted = [name for name in names if str(Path(folder, name)) not in memory.ahead]

        def make_some(part: Sequence[str]) -> list[Any]:
            notes.clear()
            made: dict[str, Generated] = {}
            before = [{**each} for each in caches]
            for name in part:
                with suppress(Exception):
                    made[str(Path(folder, name))] = make(name, target, folder, conf)
                    page = Path(target, name).relative_to(app.srcdir).with_suffix("").as_posix()
                    read_ahead(app.env, page)  # while its recording is at hand
            pages = {name: memory.pages.get(name) for name in made}
            found = [find_new(now, was) for now, was in zip(caches, before, strict=True)]
            return [made, pages, found, notes]

        def take(result: list[Any]) -> None:
            made, pages, found, noted = result
            for cache, new in zip(caches, found, strict=True):
                cache |= new  # the pages will be read and written, too
            memory.ahead |= made
            memory.pages |= {name: page for name, page in pages.items() if page}
            notes.extend(noted)

        for name in wanted:  # what another process cannot make well is not to be found as it was
            memory.pages.pop(str(Path(folder, name)), None)
        if can_share(app, wanted):
            share(app, wanted, make_some, take, "making pages")
        return names, []

    before = gen_rst._split_parallel
    gen_rst._split_parallel, gen_gallery.generate_dir_rst = split, make_folder
    try:
        yield
    finally:
        gen_rst._split_parallel, gen_gallery.generate_dir_rst = before, gen_rst.generate_dir_rst

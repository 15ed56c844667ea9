"""Start a build from nothing if the last one into its folder was interrupted or damaged.

Sphinx considers a page finished if it is newer than its source, and copies the pictures of pages
after writing all pages. If it is interrupted in between, it never copies them. So each finished
build notes the files that it leaves, in the folder of the doctrees. The next one reads and writes
everything again unless these files are unchanged. That also covers files that were cut, and folders
from a commit or an archive, whose pickled files would run code: neither can set the time of the
last change that the system keeps.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

from .atomic_files import atomic_write
from .hooks import Priority
from .referenced_files import Names, find_missing, read_names

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx
    from sphinx.config import Config

logger = logging.getLogger(__name__)

FILE_NAME = "finished.json"
_ENVIRONMENT = "environment.pickle"  # without it Sphinx reads and writes all pages

State = list[int]  # when it was changed last, in nanoseconds, and its size


def setup(app: Sphinx) -> None:
    """Start from nothing after an unfinished build, and check the files of finished ones."""
    app.connect("config-inited", _discard_unfinished, priority=Priority.BEGIN_ANEW)
    app.connect("build-finished", _note_finished, priority=Priority.NOTE_FINISHED)


def _list_states(folder: Path, without: Path) -> dict[str, State]:
    """Return the state of each file below a folder, by its path in there.

    Nothing below ``without`` is listed. Without the folder there is none.
    """
    files: dict[str, State] = {}
    waiting = [str(folder)] if folder.is_dir() else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.path != str(without):
                        waiting.append(entry.path)
                    continue
                try:
                    state = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # removed meanwhile, as by another build
                    continue
                name = Path(entry.path).relative_to(folder).as_posix()
                files[name] = [state.st_ctime_ns, state.st_size]
    return files


def _doctrees(app: Sphinx) -> dict[str, State]:
    files = _list_states(Path(app.doctreedir), without=Path(app.outdir))
    files.pop(FILE_NAME, None)
    return files


def _outputs(app: Sphinx) -> dict[str, State]:
    """Return the states of the files of a build; ``find_missing`` looks for links in them, too."""
    return _list_states(Path(app.outdir), without=Path(app.doctreedir))


def _builder_key(app: Sphinx) -> str:
    """Return what tells apart the builders that share a folder of doctrees."""
    return os.path.relpath(app.outdir, app.doctreedir)


def _load(app: Sphinx) -> dict[str, Any]:
    """Return the notes of the last build; empty if they are missing or damaged."""
    with suppress(OSError, ValueError):
        noted = json.loads(Path(app.doctreedir, FILE_NAME).read_bytes())
        if isinstance(noted, dict) and isinstance(noted.get("outputs"), dict):
            return {"names": {}, **noted}
    return {"outputs": {}, "names": {}}


def _save(app: Sphinx, noted: dict[str, Any]) -> None:
    atomic_write(Path(app.doctreedir, FILE_NAME), json.dumps(noted).encode())


def _is_as_noted(noted: object, files: dict[str, State]) -> bool:
    """Return whether all noted files are unchanged; new files do not matter."""
    return isinstance(noted, dict) and all(files.get(name) == noted[name] for name in noted)


def _discard_unfinished(app: Sphinx, _config: Config) -> None:
    """Discard what an unfinished or damaged build has read; mark this build as unfinished."""
    folder = Path(app.doctreedir)
    if not folder.is_dir():
        return
    noted = _load(app)
    outputs = _outputs(app)
    noted_outputs = noted["outputs"].pop(_builder_key(app), None)
    if noted_outputs is None and not outputs:
        noted_outputs = {}  # the first build of this builder, after one that shares the doctrees
    has_all_doctrees = _is_as_noted(noted.pop("doctrees", None), _doctrees(app))
    is_finished = has_all_doctrees and _is_as_noted(noted_outputs, outputs)
    if not is_finished:
        noted["names"] = {}
    _save(app, noted)
    if not is_finished:
        (folder / _ENVIRONMENT).unlink(missing_ok=True)
        # Sphinx fails if this file was cut.
        Path(app.outdir, ".buildinfo").unlink(missing_ok=True)


def _name_recipe_pages(app: Sphinx) -> set[str]:
    """Return the files of the pages of all recipes, also of those that cannot be read."""
    from .recipes.find_recipes import list_files as list_recipes  # slow to import

    pages = set()
    for recipe in list_recipes(app.config, Path(app.srcdir)):
        path = Path(app.builder.get_outfilename(recipe.docname))  # type: ignore[attr-defined]
        pages.add(path.relative_to(app.outdir).as_posix())
    return pages


def _find_settings(config: Config, missing: Collection[str]) -> dict[str, str]:
    """Return by which setting every page names a missing file, of those that a setting names."""
    found = {}
    for setting in ("html_css_files", "html_js_files"):
        for entry in config[setting]:
            name, _attributes = (entry, None) if isinstance(entry, str) else entry
            if f"_static/{name}" in missing:
                found[f"_static/{name}"] = setting
    return found


def _note_finished(app: Sphinx, exception: Exception | None) -> None:
    """Note that this build is finished, and warn of missing files that its pages refer to."""
    if exception:
        return
    noted = _load(app)
    outputs = _outputs(app)
    names: Names = {}
    if app.builder.name in ("html", "dirhtml"):
        names = read_names(app, outputs, noted["names"].get(_builder_key(app)))
        all_missing = list(find_missing(app, outputs, names))
        unreadable = _name_recipe_pages(app) if all_missing else set()
        settings = _find_settings(app.config, {missing for _page, missing in all_missing})
        for missing, setting in settings.items():
            logger.warning(
                "%s in conf.py names %s, which is missing; correct the name, or put the file "
                "into a folder of html_static_path",
                setting,
                missing.removeprefix("_static/"),
                type="recorded_gallery",
                subtype="file",
            )
        for page, missing in all_missing:
            if missing in unreadable or missing in settings:
                continue  # told with the mistake for which there is no page, or once for all pages
            logger.warning(
                "refers to %s, which is missing; correct the link, or remove the folder of the "
                "build and build again",
                missing,
                location=page,
                type="recorded_gallery",
                subtype="file",
            )
    noted["outputs"][_builder_key(app)] = outputs
    noted["names"][_builder_key(app)] = names
    noted["doctrees"] = _doctrees(app)
    _save(app, noted)

"""Refuse links, pipes and devices where commands read and write.

Git stores links, so a pull request can plant one. Reading through it may show a private file of the
machine in a log or publish it; writing through it overwrites a file. So the command line checks
before a command begins. Each build checks the same places once more, with the folders into which it
writes: it may also be started by Sphinx's own commands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .engine_labels import LOCALE_IN_REPOSITORY
from .errors import GalleryError
from .hooks import Priority
from .languages import FILE_NAME
from .project import Project, gallery_folders, name_locale_folders

if TYPE_CHECKING:  # slow to import, and the command line imports this module
    from sphinx.application import Sphinx
    from sphinx.config import Config

# Names of texts above a gallery, without the ending: that of Sphinx's sources, or ".txt"
_HEADERS = ("GALLERY_HEADER", "README", "readme", "index")


def refuse_links(root: Path, *places: Path) -> None:
    """Raise ``GalleryError`` if a file or folder, or anything below it, is a link or a device.

    Folders between a place and the project's ``root`` are checked, too. A place may be missing. A
    place outside of the project may be a link itself, since it was named on purpose.
    """
    for place in places:
        for path in _find_links_and_devices(root, place):
            text = "is neither a file nor a folder"
            if os.path.islink(path):
                text = "is a link"
            remedy = "remove it; commands read and write only real files and folders"
            if os.path.isdir(path):
                remedy = "name the folder that it leads to in conf.py or on the command line"
            raise GalleryError(text, path=Path(path), remedy=remedy)


def refuse_planted_links(project: Project) -> None:
    """Raise ``GalleryError`` for links where the commands of a project read and write."""
    refuse_links(project.root, *_list_guarded_places(project.root, project.config))
    refuse_links(project.root, *_list_places_beside_conf(project.root, project.config))
    _refuse_linked_headers(project.root, project.config)


def _list_guarded_places(root: Path, config: Config) -> list[Path]:
    """Return where commands and builds read what git keeps, and write pages of recipes."""
    places = [
        root / LOCALE_IN_REPOSITORY,
        root / config.recorded_gallery_recordings,
        *(root / folder for folder in name_locale_folders(config)),
        *(root / folder for folder, _recipes in gallery_folders(config)),
    ]
    mini_galleries = config.sphinx_gallery_conf.get("backreferences_dir")
    if mini_galleries:
        places.append(root / mini_galleries)
    return places


def _refuse_linked_headers(root: Path, config: Config) -> None:
    """Raise ``GalleryError`` for the text above a gallery that is a link to another folder.

    Pages show such a file, wherever it lies.
    """
    suffixes = config.source_suffix  # a string, a list or, once Sphinx has read it, a mapping
    endings = {".txt", suffixes} if isinstance(suffixes, str) else {".txt", *suffixes}
    for _pages, examples in gallery_folders(config):
        folder = root / examples
        for path in folder.glob("**/*"):
            is_header = path.stem in _HEADERS and path.suffix in endings
            if not (is_header and path.is_symlink()):
                continue
            if not path.resolve().is_relative_to(folder.resolve()):
                remedy = "put the file itself there, which pages show"
                raise GalleryError("is a link", path=path, remedy=remedy)


def _list_places_beside_conf(confdir: Path, config: Config) -> list[Path]:
    """Return what a build copies to the site or reads, and names from the folder of conf.py.

    All other places are named from the folder of the pages, which may be another.
    """
    names = [*config.templates_path]
    for setting in ("html_static_path", "html_extra_path"):
        names += getattr(config, setting, [])  # without a builder of HTML, there is none
    return [confdir / FILE_NAME, *(confdir / name for name in names)]


def _find_links_and_devices(root: Path, place: Path) -> Iterator[str]:
    """Yield links and devices at a place, above it in the project and below it, in this order."""
    root_path = os.path.abspath(root)
    place_path = os.path.abspath(place)
    if Path(root_path).is_relative_to(place_path):
        return  # the project's folder, or one above it, where anything may lie
    checked_paths: list[str] = []
    is_named_from_project = not place.is_absolute() or place.is_relative_to(root)  # as ../locale is
    if Path(place_path).is_relative_to(root_path):
        names = os.path.relpath(place_path, root_path).split(os.sep)
        for count in range(1, len(names) + 1):
            checked_paths.append(os.path.join(root_path, *names[:count]))
    elif is_named_from_project:
        checked_paths.append(place_path)
    for path in checked_paths:
        if os.path.lexists(path) and not _is_plain(path):
            yield path
    yield from _walk(place_path)


def _is_plain(path: str) -> bool:
    """Return whether a path is a file or a folder, and not a link to one."""
    return not os.path.islink(path) and (os.path.isfile(path) or os.path.isdir(path))


def _walk(path: str) -> Iterator[str]:
    """Yield links and devices below a path."""
    waiting = [path]
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not entry.is_file(follow_symlinks=False) and not _is_lock_of_emacs(entry):
                    yield entry.path


def _is_lock_of_emacs(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is the dangling link that Emacs makes while a file is edited."""
    return entry.name.startswith(".#") and not os.path.exists(entry.path)


def setup(app: Sphinx) -> None:
    """Check each build before it reads catalogs and recordings and writes pages."""
    app.connect("config-inited", _check_build, priority=Priority.REFUSE_LINKS)


def _check_build(app: Sphinx, config: Config) -> None:
    root = Path(app.srcdir)
    places = _list_guarded_places(root, config)
    refuse_links(root, *places, Path(app.outdir), Path(app.doctreedir))
    confdir = Path(app.confdir)
    refuse_links(confdir, *_list_places_beside_conf(confdir, config))
    _refuse_linked_headers(root, config)

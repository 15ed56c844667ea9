"""Links, pipes and devices where commands read and write: git keeps links, so a pull request can.

What is read through a link may be a file of the machine, which is then shown in a log or published;
what is written through it overwrites one. So each command looks once, before it begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import GalleryError
from .hooks import Priority
from .languages import FILE_NAME
from .project import Project, gallery_folders

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx
    from sphinx.config import Config


def refuse_links(root: Path, *places: Path) -> None:
    """Raise ``GalleryError`` if a file or folder, or anything below it, is a link or a device.

    Folders between a place and the project's ``root`` are looked at, too. What is not there is
    fine. A place that is named from elsewhere may be a link itself: whoever names it has made it.
    """
    for place in places:
        for path in _find_strange(root, place):
            what = "a link" if os.path.islink(path) else "neither a file nor a folder"
            remedy = "remove it; commands read and write only what lies here itself"
            if os.path.isdir(path):
                remedy = "name the folder that it leads to in conf.py or on the command line"
            raise GalleryError(f"is {what}", path=Path(path), remedy=remedy)


# Where the engine's own labels lie, in its repository
_LABELS = Path(__package__, "translate", "locale")


def refuse_planted_links(project: Project) -> None:
    """Raise ``GalleryError`` for links in what the commands of a project read and write."""
    pages = [project.root / folder for folder, _recipes in project.galleries]
    files = [project.root / FILE_NAME, project.root / _LABELS]
    refuse_links(project.root, *files, project.recordings, project.locale, *pages)


def _find_strange(root: Path, place: Path) -> Iterator[str]:
    """Yield what is neither a file nor a folder of its own, outermost first."""
    inside, path = os.path.abspath(root), os.path.abspath(place)
    if os.path.commonpath([path, inside]) == path:
        return  # the project's folder, or one above it, where all kinds of files lie
    above: list[str] = []
    if path.startswith(os.path.join(inside, "")):
        names = os.path.relpath(path, inside).split(os.sep)
        above = [os.path.join(inside, *names[:count]) for count in range(1, len(names) + 1)]
    elif not place.is_absolute() or place.is_relative_to(root):  # as ../locale
        above = [path]
    yield from (each for each in above if os.path.lexists(each) and not _is_plain(each))
    yield from _walk(path)


def _is_plain(path: str) -> bool:
    return not os.path.islink(path) and (os.path.isfile(path) or os.path.isdir(path))


def _walk(path: str) -> Iterator[str]:
    """Yield what is neither a file nor a folder of its own below a path."""
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
    """Tell whether an entry is the link that Emacs makes, to nothing, while a file is edited."""
    return entry.name.startswith(".#") and not os.path.exists(entry.path)


def setup(app: Sphinx) -> None:
    """Let each build look before it reads catalogs and recordings, and writes."""
    app.connect("config-inited", _look, priority=Priority.REFUSE_LINKS)


def _look(app: Sphinx, config: Config) -> None:
    root = Path(app.srcdir)
    hidden = getattr(config, "recorded_gallery_locale_dirs", None)  # of the extension translate
    catalogs = hidden or config.locale_dirs or ["locales"]
    pages = [root / folder for folder, _recipes in gallery_folders(config)]
    recordings = root / config.recorded_gallery_recordings
    places = [
        root / FILE_NAME,
        root / _LABELS,
        recordings,
        *(root / each for each in catalogs),
        *pages,
    ]
    refuse_links(root, *places, Path(app.outdir), Path(app.doctreedir))

"""Let Sphinx-Gallery skip recipes whose page would come out as it is.

Sphinx-Gallery skips a recipe if ``<page>.py.md5`` beside the page holds the hash of its source; it
writes that file itself only when it runs recipes. Here it is written after a replay, with a note of
the recording it showed, and deleted before a build in which that recording is another.
"""

import hashlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_gallery.utils import get_md5sum

from ..project import GalleryError, code_digest, gallery_folders
from ..recipes.recording import Recording, read_recording


def remember_page(target: Path, recording: Path) -> None:
    """Note that the page of ``target`` (Sphinx-Gallery's copy of a recipe) shows ``recording``."""
    _note(target).write_text(_state(recording), encoding="utf-8")
    _md5(target).write_text(get_md5sum(target, mode="t"), encoding="utf-8")


def forget_changed_pages(pages: Path, examples: Path, recordings: Path) -> None:
    """Make Sphinx-Gallery look again at recipes whose recording changed, and drop removed ones."""
    for target in pages.glob("*.py"):
        page = target.with_suffix(".rst")
        if not (examples / target.name).exists():
            # Sphinx-Gallery would leave the page of a removed recipe to be published.
            target.unlink()
            page.unlink(missing_ok=True)
        note = _note(target)
        state = _state(recordings / f"{target.stem}.ipynb")
        same = page.exists() and note.exists() and note.read_text(encoding="utf-8") == state
        if not same:
            _md5(target).unlink(missing_ok=True)


def _state(recording: Path) -> str:
    """Return what a page depends on beside its recipe: the recording and the code that shows it."""
    digest = hashlib.sha256(code_digest())
    digest.update(recording.read_bytes() if recording.exists() else b"missing")
    return digest.hexdigest()


def state_of_galleries(app: Sphinx) -> str:
    """Return a hash of what the pages of all recipes come from, and of which pages there are."""
    root = Path(app.srcdir)
    settings = {
        name: value
        for name, value in app.config.sphinx_gallery_conf.items()
        if isinstance(value, str | int | float | tuple | list | None)
    }
    digest = hashlib.sha256(code_digest() + repr(sorted(settings.items())).encode())
    folders = [root / app.config.recipe_gallery_recordings]
    for pages, examples in gallery_folders(app.config):
        folders.append(root / examples)
        digest.update(repr(sorted(path.name for path in (root / pages).glob("*.rst"))).encode())
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            hidden = path.name.startswith(".") or "__pycache__" in path.parts
            if not hidden and path.is_file():
                state = path.stat()
                digest.update(f"{path} {state.st_mtime_ns} {state.st_size}\n".encode())
    return digest.hexdigest()


def watch_recordings(env: BuildEnvironment) -> None:
    """Have the page at hand read again when any recording changes."""
    env.metadata[env.docname]["recordings"] = state_of_recordings(env)


def state_of_recordings(env: BuildEnvironment) -> str:
    """Return a hash of all recordings."""
    folder = recordings_folder(env)
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.ipynb"), *folder.glob("*/*.ipynb")]):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def recordings_folder(env: BuildEnvironment) -> Path:
    """Return the folder of the recordings that pages show."""
    return Path(env.srcdir, env.config.recipe_gallery_recordings)


def find_recording(env: BuildEnvironment, name: str) -> Recording | None:
    """Return the recording that a recipe's page shows; if None, replaying has said why."""
    try:
        return read_recording(recordings_folder(env) / f"{name}.ipynb")
    except GalleryError:
        return None


def _md5(target: Path) -> Path:
    return target.with_name(f"{target.name}.md5")


def _note(target: Path) -> Path:
    return target.with_name(f"{target.name}.recorded")

"""Settings in conf.py, the folders they name, and what tells whether a file or the code changed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.tags import Tags

from .errors import GalleryError


@dataclass(frozen=True, kw_only=True)
class Project:
    """What conf.py says of a project; paths begin with the root as it was given."""

    root: Path  # folder of conf.py and of the sources
    galleries: tuple[tuple[str, Path], ...]  # folder of pages below the root, folder of recipes
    recordings: Path
    locale: Path  # the first of locale_dirs
    config: Config


# Settings of the engine in conf.py: default, what Sphinx does when it changes, and type.
SETTINGS: dict[str, tuple[Any, str, type]] = {
    "recorded_gallery_recordings": ("recordings", "env", str),
    "recorded_gallery_device": ("gpu", "", str),  # or "cpu"; what `record` runs recipes on
    "recorded_gallery_alt_required": (False, "env", bool),
    # HTML and SVG of outputs as the author made them; or without what could do more than show
    "recorded_gallery_trust_outputs": (True, "env", bool),
    # The text is about figures of a GPU: a recording of a CPU may lack or refute them
    "recorded_gallery_gpu_figures": (False, "env", bool),
    "recorded_gallery_site_url": ("", "env", str),
    "recorded_gallery_repository_url": ("", "env", str),
    "recorded_gallery_repository_branch": ("main", "env", str),
    # packages beside the engine whose labels are translated in catalogs of the project
    "recorded_gallery_label_packages": ([], "env", list),
    "recorded_gallery_thumbnails": (True, "env", bool),  # of Sphinx-Gallery's, in lists
    "recorded_gallery_search": (False, "html", bool),
    "recorded_gallery_package_names": ({}, "env", dict),  # "torch": "PyTorch"
}


def load_project(root: Path) -> Project:
    """Read ``conf.py`` of a project; raise ``GalleryError`` if there is none, or it fails."""
    try:
        config = Config.read(root.resolve(), overrides={}, tags=Tags())
    except ConfigError as error:
        cause = error.__context__  # what conf.py raised; Sphinx's text holds a whole traceback
        text = " ".join((f"{type(cause).__name__}: {cause}" if cause else str(error)).split())
        raise GalleryError(text, path=root / "conf.py", remedy="mend the settings") from None
    if "sphinx_gallery.gen_gallery" in config.extensions and __package__ not in config.extensions:
        text = f"extensions do not name {__package__}; Sphinx-Gallery alone would run the recipes"
        remedy = f"write {__package__!r} in place of 'sphinx_gallery.gen_gallery'"
        raise GalleryError(text, path=root / "conf.py", remedy=remedy)
    settings = {**SETTINGS, "sphinx_gallery_conf": ({}, "", dict)}
    for name, (default, rebuild, kind) in settings.items():
        config.add(name, default, rebuild, kind)  # type: ignore[arg-type]
        value = config[name]
        has_kind = isinstance(value, (str, PurePath) if kind is str else kind)
        if not has_kind or "\0" in str(value):  # which no name of a file holds
            text = f"{name} = {value!r} is not a {kind.__name__} that can be used"
            raise GalleryError(text, path=root / "conf.py", remedy="mend the settings")
    if config.recorded_gallery_device not in ("gpu", "cpu"):
        text = f'recorded_gallery_device = {config.recorded_gallery_device!r} is not "gpu" or "cpu"'
        raise GalleryError(text, path=root / "conf.py", remedy="mend the settings")
    config.add("html_theme", "alabaster", "", str)  # Sphinx's builders bring it
    return Project(
        root=root,
        galleries=tuple((pages, root / examples) for pages, examples in gallery_folders(config)),
        recordings=root / config.recorded_gallery_recordings,
        locale=root / (config.locale_dirs or ["locales"])[0],
        config=config,
    )


def gallery_folders(config: Config) -> list[tuple[str, str]]:
    """Return Sphinx-Gallery's pairs of a folder of pages and a folder of recipes.

    Each may be a string or a path, alone or in a list, with a slash at its end or without.
    """
    gallery = {"examples_dirs": "../examples", "gallery_dirs": "auto_examples"}
    gallery |= config.sphinx_gallery_conf
    try:
        examples, pages = (
            [PurePath(each).as_posix() for each in (value if isinstance(value, list) else [value])]
            for value in (gallery["examples_dirs"], gallery["gallery_dirs"])
        )
    except TypeError:
        text = "conf.py: sphinx_gallery_conf: examples_dirs and gallery_dirs name folders"
        raise GalleryError(text, remedy="mend the settings") from None
    return list(zip(pages, examples, strict=False))  # Sphinx-Gallery, too, leaves out what is over


def locale_option(config: Config) -> list[str]:
    """Return what tells ``run_sphinx`` where catalogs lie, so that Sphinx itself reads none.

    It would compile and load catalogs of labels before an extension can look at them. A project
    without this extension is translated by Sphinx.
    """
    if __package__ not in config.extensions:
        return []
    folders = json.dumps([str(folder) for folder in config.locale_dirs or ["locales"]])
    return ["-D", f"recorded_gallery_locale_dirs={folders}"]


def file_state(path: str | Path) -> tuple[int, int] | None:
    """Return time and size of a file, which change with what it holds; None without a file."""
    try:
        state = os.stat(path)  # not of a Path: thousands are asked for, most by name
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


@cache  # of the code that runs, which in a long process need not be what the files hold by now
def code_digest(package: str = __package__) -> bytes:
    """Return a hash of a package's code, the engine's or a site's, and Sphinx-Gallery's version."""
    digest = hashlib.sha256(version("sphinx-gallery").encode())
    files = Path(str(sys.modules[package].__file__)).parent.rglob("*")
    for path in sorted(each for each in files if each.suffix in (".py", ".html")):
        digest.update(path.read_bytes())
    return digest.digest()

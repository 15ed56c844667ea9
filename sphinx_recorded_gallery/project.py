"""Settings in conf.py, the folders they name, and what tells whether a file or the code changed."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, cast

from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.tags import Tags

from .errors import GalleryError, null_byte
from .version import __version__

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx


@dataclass(frozen=True, kw_only=True)
class Project:
    """The settings of a project in conf.py; paths begin with the root as it was given."""

    root: Path  # folder of conf.py and of the sources
    galleries: tuple[tuple[str, Path], ...]  # folder of pages below the root, folder of recipes
    recordings: Path
    locale: Path  # the first of locale_dirs
    config: Config


# Default of a setting, what Sphinx rebuilds when it changes, and its type
Setting = tuple[Any, Literal["", "env", "html"], type]

CORE = "sphinx_recorded_gallery"
_PREFIX = "recorded_gallery_"  # of all settings of the engine
_LIKENESS_OF_SLIPS = 0.9  # of a misspelt setting to the right one
# Settings in conf.py, by the extension that uses them
SETTINGS: dict[str, dict[str, Setting]] = {
    CORE: {
        "recorded_gallery_recordings": ("recordings", "env", str),
        "recorded_gallery_device": ("gpu", "", str),  # or "cpu", the device for `record`
        "recorded_gallery_alt_required": (False, "env", bool),
        # show HTML and SVG of outputs unchanged instead of sanitizing them
        "recorded_gallery_trust_outputs": (True, "env", bool),
        "recorded_gallery_thumbnails": (True, "env", bool),  # of Sphinx-Gallery's, in lists
        "recorded_gallery_package_names": ({}, "env", dict),  # "torch": "PyTorch"
        "recorded_gallery_site_url": ("", "env", str),
        # a check of texts for `check`: "package.module:function", which takes the folder of conf.py
        # and returns errors
        "recorded_gallery_text_checks": ("", "", str),
    },
    f"{CORE}.measurements": {
        # Texts quote measurements of a GPU: a recording on a CPU may lack or refute them.
        "recorded_gallery_gpu_figures": (False, "env", bool),
        # what directives of the site show: "package.module:function", which takes a text and
        # returns pairs of a line, counted from 0, and a key
        "recorded_gallery_shown_keys": ("", "", str),
        # quantities of the site: "package.module:function" that returns a list of them
        "recorded_gallery_quantities": ("", "env", str),
    },
    f"{CORE}.translate": {
        "recorded_gallery_repository_url": ("", "env", str),
        "recorded_gallery_repository_branch": ("main", "env", str),
        # packages beside the engine whose labels are translated in catalogs of the project
        "recorded_gallery_label_packages": ([], "env", list),
    },
    f"{CORE}.search": {},
}


def add_extension(app: Sphinx, name: str) -> dict[str, Any]:
    """Add the settings of one of the engine's extensions; return its description for Sphinx.

    The core is set up first if it is not yet.
    """
    if name != CORE:
        app.setup_extension(CORE)
    for setting, (default, rebuild, kind) in SETTINGS[name].items():
        app.add_config_value(setting, default, rebuild, kind)
    description = {
        "version": __version__,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
    if name == CORE:
        app.connect("config-inited", _tell_wrong_settings)
        # after a change of the code, all pages are read again
        description["env_version"] = int.from_bytes(code_digest()[:6], "big")
    return description


def _tell_wrong_settings(_app: Sphinx, config: Config) -> None:
    """Tell of wrong settings in a build that no command started; commands refuse them."""
    from sphinx.util.logging import getLogger

    for text, remedy in [*_find_wrong_settings(config), *_find_misspelt_settings(config)]:
        getLogger(__name__).warning("conf.py: %s; %s", text, remedy)


def _find_wrong_settings(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the settings in conf.py that look like the engine's and have no effect.

    Each comes as what is wrong and what to do.
    """
    extensions = {name: extension for extension, names in SETTINGS.items() for name in names}
    for name in config._raw_config:
        if not name.startswith(_PREFIX) or name in config:
            continue
        if name in extensions:
            text = f"{name} is a setting of {extensions[name]}, which extensions do not name"
            yield text, f"add {extensions[name]!r}, or remove the setting"
            continue
        ends = [setting.removeprefix(_PREFIX) for setting in extensions]
        similar = difflib.get_close_matches(name.removeprefix(_PREFIX), ends, n=1)
        if similar:
            yield f"no setting is named {name}", f"did you mean {_PREFIX}{similar[0]}?"
        else:
            yield f"no setting is named {name}", f"choose among: {', '.join(extensions)}"


def _find_misspelt_settings(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the names in conf.py that are almost a setting of Sphinx or any extension.

    Each comes as what is wrong and what to do. Beside the setting itself, a name may be a part.
    """
    settings = []
    for option in config:
        if "_" in option.name and option.name not in config._raw_config:
            settings.append(option.name)
    for name in config._raw_config:
        if name.startswith((_PREFIX, "_")) or name in config:
            continue
        similar = difflib.get_close_matches(name, settings, n=1, cutoff=_LIKENESS_OF_SLIPS)
        if similar:
            yield f"no setting is named {name}", f"did you mean {similar[0]}?"


def load_function(config: Config, setting: str, purpose: str) -> Callable[..., Any] | None:
    """Return the function that a setting names as ``"package.module:function"``, or None.

    ``purpose`` describes the function. Raises ``GalleryError`` if there is no such function.
    """
    value = getattr(config, setting, "")
    if not value:
        return None

    def make_error(problem: str) -> GalleryError:
        remedy = f'name a function that {purpose}, as "package.module:function"'
        return GalleryError(f"{setting} = {value!r} in conf.py: {problem}", remedy=remedy)

    module, _colon, name = value.partition(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise make_error(str(error)) from None
    if not callable(function):
        raise make_error(f"{name} is not a function")
    return cast("Callable[..., Any]", function)


def load_project(root: Path) -> Project:
    """Return a project; raise ``GalleryError`` if its conf.py is missing, fails or is invalid."""
    if not (root / "conf.py").is_file():
        text = f"no conf.py in {root.resolve()}"
        remedy = "run the command in the folder of conf.py, or name that folder with --root"
        raise GalleryError(text, remedy=remedy)
    try:
        config = Config.read(root.resolve(), overrides={}, tags=Tags())
    except ConfigError as error:
        text = str(error)
        conf = (root / "conf.py").read_text(encoding="utf-8", errors="replace")
        has_null_byte = null_byte(root / "conf.py", conf)
        if has_null_byte:
            raise has_null_byte from None
        cause = error.__context__  # raised by conf.py; Sphinx's text holds a whole traceback
        if cause:
            text = f"{type(cause).__name__}: {cause}"
        text = " ".join(text.split())
        raise GalleryError(text, path=root / "conf.py", remedy="mend the settings") from None
    extensions = [name for name in SETTINGS if name in config.extensions]
    if "sphinx_gallery.gen_gallery" in config.extensions and not extensions:
        text = f"extensions do not name {CORE}; Sphinx-Gallery alone would run the examples"
        remedy = f"write {CORE!r} in place of 'sphinx_gallery.gen_gallery'"
        raise GalleryError(text, path=root / "conf.py", remedy=remedy)
    settings: dict[str, Setting] = {"sphinx_gallery_conf": ({}, "", dict)}
    for extension in dict.fromkeys([CORE, *extensions]):  # in order: the first fault is told
        settings |= SETTINGS[extension]
    for name, (default, rebuild, kind) in settings.items():
        config.add(name, default, rebuild, kind)
        value = config[name]
        has_right_type = isinstance(value, (str, PurePath) if kind is str else kind)
        if not has_right_type or "\0" in str(value):  # names of files cannot hold a zero byte
            text = f"{name} = {value!r} is not a valid {kind.__name__}"
            raise GalleryError(text, path=root / "conf.py", remedy="mend the settings")
    if config.recorded_gallery_device not in ("gpu", "cpu"):
        text = f'recorded_gallery_device = {config.recorded_gallery_device!r} is not "gpu" or "cpu"'
        raise GalleryError(text, path=root / "conf.py", remedy="mend the settings")
    for text, remedy in _find_wrong_settings(config):
        raise GalleryError(text, path=root / "conf.py", remedy=remedy)
    # Settings of Sphinx's HTML builders
    config.add("html_theme", "alabaster", "", str)
    config.add("html_static_path", [], "", list)
    config.add("html_extra_path", [], "", list)
    return Project(
        root=root,
        galleries=tuple((pages, root / examples) for pages, examples in gallery_folders(config)),
        recordings=root / config.recorded_gallery_recordings,
        locale=root / name_locale_folders(config)[0],
        config=config,
    )


def require_extension(project: Project, name: str) -> None:
    """Raise ``GalleryError`` unless conf.py names an extension of the engine, such as translate."""
    extension = f"{CORE}.{name}"
    if extension not in project.config.extensions:
        text = f"extensions do not name {extension}, which this command needs"
        raise GalleryError(text, path=project.root / "conf.py", remedy=f"add {extension!r}")


def gallery_folders(config: Config) -> list[tuple[str, str]]:
    """Return Sphinx-Gallery's pairs of a folder of pages and a folder of recipes.

    Settings may be strings or paths, alone or in a list, with or without a slash at the end.
    """
    gallery = config.sphinx_gallery_conf
    try:
        examples = _folders(gallery.get("examples_dirs", "../examples"))
        pages = _folders(gallery.get("gallery_dirs", "auto_examples"))
    except TypeError:
        text = "conf.py: sphinx_gallery_conf: examples_dirs and gallery_dirs name folders"
        raise GalleryError(text, remedy="mend the settings") from None
    return list(zip(pages, examples, strict=False))  # Sphinx-Gallery, too, ignores surplus folders


def locale_option(config: Config) -> list[str]:
    """Return options that name the catalogs to ``run_sphinx`` and hide them from Sphinx.

    Sphinx would compile and load catalogs of labels before an extension can check them. Without the
    extension for translations, Sphinx translates the project.
    """
    if f"{CORE}.translate" not in config.extensions:
        return []
    folders = json.dumps([str(folder) for folder in name_locale_folders(config)])
    return ["-D", f"recorded_gallery_locale_dirs={folders}"]


def name_locale_folders(config: Config) -> list[str | PurePath]:
    """Return the names of the folders of catalogs, as conf.py gives them.

    They are ``locale_dirs`` or the default of Sphinx. The extension for translations moves them to
    a setting of its own, to hide the catalogs from Sphinx.
    """
    moved_names = getattr(config, "recorded_gallery_locale_dirs", None)
    return list(moved_names or config.locale_dirs or ["locales"])


def _folders(setting: Any) -> list[str]:
    folders = setting if isinstance(setting, list) else [setting]
    return [PurePath(folder).as_posix() for folder in folders]


def file_state(path: str | Path) -> tuple[int, int] | None:
    """Return time and size of a file, which change with its contents; None without a file."""
    try:
        state = os.stat(path)  # faster than Path.stat for thousands of names
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


@cache  # the digest of the running code, even if files change during a long process
def code_digest(package: str = CORE) -> bytes:
    """Return a hash of a package's code, the engine's or a site's, and Sphinx-Gallery's version.

    32 bytes, of Python and HTML below the folder of the package, which has to be imported already.
    """
    digest = hashlib.sha256(version("sphinx-gallery").encode())
    folder = Path(str(sys.modules[package].__file__)).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".html"):
            digest.update(path.read_bytes())
    return digest.digest()

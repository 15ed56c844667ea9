"""Find the recipes of a project, with their names, pages and recordings.

As for Sphinx-Gallery, a gallery is a folder and those of its subfolders that have a gallery header.
A file has no page if ``ignore_pattern`` matches its name or if its name starts with ``_``. A file
is not recorded if ``filename_pattern`` does not match its path or if its name contains ``_sgskip``.
The default of ``filename_pattern``, which asks for names with ``plot``, has no effect here.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.config import Config
from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
from sphinx_gallery.gen_rst import _get_gallery_header

from ..errors import GalleryError
from ..project import gallery_folders
from .captured_values import JUPYTER, Capture, read_capture

# Bytes of a file's name without its suffix: file systems allow 255, and the names of its recording
# and of its pictures are longer: .sphx_glr_NAME_001.png.new
_LONGEST_STEM = 230


@dataclass(frozen=True, kw_only=True)
class GalleryFile:
    """The file of a recipe, with its name and its page."""

    path: Path
    gallery: Path  # the folder of its gallery, where recording.toml lies
    docname: str
    name: str  # path in the gallery without suffix; with several galleries, the docname
    trusted: bool = True  # its HTML and SVG are shown unchanged
    expected_to_fail: bool = False  # Sphinx-Gallery's expected_failing_examples names it
    links_code: bool = False  # its code has links, or mini-galleries show it
    capture: Capture = JUPYTER  # which values of cells its page shows

    def recording_path(self, folder: Path) -> Path:
        """Return the path of its recording in a folder of recordings."""
        return folder / f"{self.name}.ipynb"


def list_files(config: Config, root: Path) -> list[GalleryFile]:
    """Return all recipes of the project with conf.py in ``root``, in order.

    Raises ``GalleryError`` for wrong settings and for a file name that no page can have.
    """
    settings = _settings(config)
    files = []
    for pages, examples in gallery_folders(config):
        for path in find_recipes(root / examples, settings):
            files.append(_make_file(config, root, pages, examples, path))
    return files


def find_file(config: Config, root: Path, docname: str) -> GalleryFile | None:
    """Return the recipe that Sphinx-Gallery makes the page ``docname`` from, or None."""
    for pages, examples in gallery_folders(config):
        if not docname.startswith(f"{pages}/"):
            continue
        path = root / examples / f"{docname.removeprefix(f'{pages}/')}.py"
        if path.is_file() and _is_recipe(path, _settings(config)):
            return _make_file(config, root, pages, examples, path)
    return None


def find_recipes(folder: Path, settings: Mapping[str, Any] | None = None) -> list[Path]:
    """Return the recipes of one gallery, in order; ``settings`` are Sphinx-Gallery's.

    Raises ``GalleryError`` for wrong settings and for a file name that no page can have.
    """
    conf = {**DEFAULT_GALLERY_CONF, "source_suffix": [".rst"], **(settings or {})}
    for name in ("copyfile_regex", "filename_pattern", "ignore_pattern"):
        _require_pattern(name, conf[name])
    if not folder.is_dir():
        return []
    recipes = []
    for part in (folder, *_find_subfolders(folder, conf)):
        for path in sorted(part.glob("*.py")):
            if _is_recipe(path, conf):
                recipes.append(path)
    return recipes


def _require_pattern(name: str, pattern: Any) -> None:
    """Raise ``GalleryError`` if a setting of Sphinx-Gallery is not a regular expression."""
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        text = f"conf.py: sphinx_gallery_conf: {name} = {pattern!r} is not a pattern: {error}"
        raise GalleryError(text, remedy="mend the settings") from None


def _find_subfolders(folder: Path, conf: Mapping[str, Any]) -> list[Path]:
    """Return the subfolders that belong to a gallery.

    This follows Sphinx-Gallery's ``get_subsections``, which looks for a header in each file, too.
    """
    subfolders = sorted(path for path in folder.iterdir() if path.is_dir())
    copies_index = re.match(conf["copyfile_regex"], "index.rst")
    if copies_index and (folder / "index.rst").is_file():
        return [path for path in subfolders if path.name != "__pycache__"]
    return [path for path in subfolders if _get_gallery_header(path, conf, raise_error=False)]


def ignore_pattern(config: Config) -> str:
    """Return a pattern for the names of files without a page.

    It matches a leading ``_``, and what the project's own setting matches.
    """
    project_pattern = config.sphinx_gallery_conf.get("ignore_pattern")
    return f"^_|(?:{project_pattern})" if project_pattern else "^_"


def find_recordings(folder: Path, files: Iterable[GalleryFile]) -> Iterator[tuple[Path, str, str]]:
    """Yield the recordings in a folder, in order: path, machine and name of the recipe.

    ``advanced/deep.ipynb`` belongs to the recipe ``advanced/deep``, without a machine, if there is
    one. Otherwise it belongs to the recipe ``deep``, from the machine ``advanced``. The name is
    empty if there is no such recipe.
    """
    recipe_names = {file.name for file in files}
    for path in sorted(folder.glob("**/*.ipynb")):
        stem = path.relative_to(folder).as_posix().removesuffix(".ipynb")
        if stem.startswith(".") or "/." in stem:
            continue  # such as .ipynb_checkpoints
        if stem in recipe_names:
            yield path, "", stem
            continue
        machine, _slash, name = stem.partition("/")
        if name not in recipe_names:
            name = ""
        yield path, machine, name


def _settings(config: Config) -> dict[str, Any]:
    """Return Sphinx-Gallery's settings, with the endings of source files as a list."""
    suffixes = config.source_suffix  # a string, a list or, once Sphinx has read it, a mapping
    suffix_list = [suffixes] if isinstance(suffixes, str) else list(suffixes)
    return {**config.sphinx_gallery_conf, "source_suffix": suffix_list}


def _is_recipe(path: Path, conf: Mapping[str, Any]) -> bool:
    """Return whether a file is a recipe, which has a page and is recorded.

    Raises ``GalleryError`` for a file name that no page can have.
    """
    if path.name.startswith("_") or re.search(conf.get("ignore_pattern", "^_"), path.name):
        return False
    if not path.name.isprintable():
        raise GalleryError("a page cannot have this name", path=path, remedy="rename the file")
    size = len(os.fsencode(path.stem))
    if size > _LONGEST_STEM:
        text = f"a page cannot have this name of {size} bytes"
        raise GalleryError(text, path=path, remedy=f"take one of at most {_LONGEST_STEM}")
    if "_sgskip" in path.name:
        return False
    default = DEFAULT_GALLERY_CONF["filename_pattern"]
    pattern = conf.get("filename_pattern", default)
    return pattern == default or bool(re.search(pattern, os.path.abspath(path)))


def _make_file(config: Config, root: Path, pages: str, examples: str, path: Path) -> GalleryFile:
    """Return a recipe with its name and its page in the folder ``pages``."""
    path_in_gallery = path.relative_to(root / examples).as_posix().removesuffix(".py")
    docname = f"{pages}/{path_in_gallery}"
    has_several_galleries = len(gallery_folders(config)) > 1
    failing_examples = config.sphinx_gallery_conf.get("expected_failing_examples", ())
    failing_paths = {os.path.normpath(root / example) for example in failing_examples}
    return GalleryFile(
        path=path,
        gallery=root / examples,
        docname=docname,
        name=docname if has_several_galleries else path_in_gallery,
        trusted=config.recorded_gallery_trust_outputs,
        expected_to_fail=os.path.normpath(path) in failing_paths,
        links_code=_links_code(config),
        capture=read_capture(config.sphinx_gallery_conf),
    )


def _links_code(config: Config) -> bool:
    """Return whether anything uses what the names in the code of examples refer to."""
    extensions = {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"}
    if not extensions.isdisjoint(config.extensions):
        return True
    return bool(config.sphinx_gallery_conf.get("backreferences_dir"))

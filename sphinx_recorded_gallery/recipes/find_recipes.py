"""Which recipes a project has, what each is called, and which page it becomes.

As for Sphinx-Gallery, a gallery is a folder and those of its subfolders that have a gallery header;
a file that ``ignore_pattern`` matches has no page, and one whose path ``filename_pattern`` does not
match is not recorded (its default, which asks for names with ``plot``, says nothing here). Files
whose names start with ``_`` have no page, either; those with ``_sgskip`` are not recorded.
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


@dataclass(frozen=True, kw_only=True)
class GalleryFile:
    """Where a recipe lies, what it is called and which page it becomes."""

    path: Path
    gallery: Path  # the folder of its gallery, where recording.toml lies
    docname: str
    name: str  # the path in its gallery without ending; where there are several galleries, docname
    trusted: bool = True  # its HTML and SVG are shown as the author made them
    expected_to_fail: bool = False  # Sphinx-Gallery's expected_failing_examples names it
    links_code: bool = False  # its code has links, or mini-galleries show it
    capture: Capture = JUPYTER  # which values of cells its page shows

    def recording(self, folder: Path) -> Path:
        """Return where its recording lies in a folder of recordings."""
        return folder / f"{self.name}.ipynb"


def list_files(config: Config, root: Path) -> list[GalleryFile]:
    """Return all recipes of the project with conf.py in ``root``, in order."""
    return [
        _describe(config, root, pages, examples, source)
        for pages, examples in gallery_folders(config)
        for source in find_recipes(root / examples, _settings(config))
    ]


def find_file(config: Config, root: Path, docname: str) -> GalleryFile | None:
    """Return the recipe that Sphinx-Gallery makes the page ``docname`` from, or None."""
    for pages, examples in gallery_folders(config):
        source = root / examples / f"{docname.removeprefix(f'{pages}/')}.py"
        is_file = docname.startswith(f"{pages}/") and source.is_file()
        if is_file and _is_recorded(source, _settings(config)):
            return _describe(config, root, pages, examples, source)
    return None


def find_recipes(folder: Path, settings: Mapping[str, Any] | None = None) -> list[Path]:
    """Return the recipes of one gallery, in order; ``settings`` are Sphinx-Gallery's."""
    conf = {**DEFAULT_GALLERY_CONF, "source_suffix": [".rst"], **(settings or {})}
    for name in ("copyfile_regex", "filename_pattern", "ignore_pattern"):
        try:
            re.compile(conf[name])
        except (re.error, TypeError) as error:
            text = f"conf.py: sphinx_gallery_conf: {name} = {conf[name]!r} is no pattern: {error}"
            raise GalleryError(text, remedy="mend the settings") from None
    if not folder.is_dir():
        return []
    own_index = re.match(conf["copyfile_regex"], "index.rst") and (folder / "index.rst").is_file()
    # As Sphinx-Gallery's get_subsections, which looks for a header in each file, too
    parts = sorted(each for each in folder.iterdir() if each.is_dir())
    if own_index:
        parts = [part for part in parts if part.name != "__pycache__"]
    else:
        parts = [part for part in parts if _get_gallery_header(part, conf, raise_error=False)]
    return [
        path
        for part in (folder, *parts)
        for path in sorted(part.glob("*.py"))
        if _is_recorded(path, conf)
    ]


def ignore_pattern(config: Config) -> str:
    """Return which file names have no page: Sphinx-Gallery's setting, and a leading ``_``."""
    own = config.sphinx_gallery_conf.get("ignore_pattern")
    return f"^_|(?:{own})" if own else "^_"


def find_recordings(folder: Path, files: Iterable[GalleryFile]) -> Iterator[tuple[Path, str, str]]:
    """Yield the recordings in a folder, in order: path, machine and name of the recipe.

    ``advanced/deep.ipynb`` is that of the recipe called so, without a machine. If there is none, it
    is that of the recipe ``deep`` from the machine ``advanced``. The name is empty if nobody's.
    """
    names = {file.name for file in files}
    for path in sorted(folder.glob("**/*.ipynb")):
        shown = path.relative_to(folder).as_posix().removesuffix(".ipynb")
        if shown.startswith(".") or "/." in shown:
            continue  # such as .ipynb_checkpoints
        machine, _slash, rest = shown.partition("/")
        if shown in names:
            machine, rest = "", shown
        yield path, machine, rest if rest in names else ""


def _settings(config: Config) -> dict[str, Any]:
    suffixes = config.source_suffix  # a string, a list or, once Sphinx has looked at it, a mapping
    known = [suffixes] if isinstance(suffixes, str) else list(suffixes)
    return {**config.sphinx_gallery_conf, "source_suffix": known}


def _is_recorded(path: Path, conf: Mapping[str, Any]) -> bool:
    if path.name.startswith("_") or re.search(conf.get("ignore_pattern", "^_"), path.name):
        return False
    if not path.name.isprintable():
        raise GalleryError("no page can be called so", path=path, remedy="rename the file")
    default = DEFAULT_GALLERY_CONF["filename_pattern"]
    pattern = conf.get("filename_pattern", default)
    matches = pattern == default or re.search(pattern, os.path.abspath(path))
    return bool(matches) and "_sgskip" not in path.name


def _describe(config: Config, root: Path, pages: str, examples: str, path: Path) -> GalleryFile:
    name = path.relative_to(root / examples).as_posix().removesuffix(".py")
    failing = config.sphinx_gallery_conf.get("expected_failing_examples", ())
    return GalleryFile(
        path=path,
        gallery=root / examples,
        docname=f"{pages}/{name}",
        name=f"{pages}/{name}" if len(gallery_folders(config)) > 1 else name,
        trusted=config.recorded_gallery_trust_outputs,
        expected_to_fail=os.path.normpath(path) in {os.path.normpath(root / f) for f in failing},
        links_code=_links_code(config),
        capture=read_capture(config.sphinx_gallery_conf),
    )


def _links_code(config: Config) -> bool:
    """Tell whether anything asks what names in the code of examples lead to."""
    links = {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"}.intersection(config.extensions)
    return bool(links or config.sphinx_gallery_conf.get("backreferences_dir"))

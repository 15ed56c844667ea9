"""Replay recordings: hand Sphinx-Gallery what a recipe printed and drew instead of running it.

``sphinx_gallery.gen_rst.execute_script`` is the one place where Sphinx-Gallery runs code (its
signature has been the same since 0.17). It is replaced here, and ``plot_gallery`` is off as well,
so that code still would not run if a later Sphinx-Gallery called something else.
"""

import base64
from pathlib import Path
from textwrap import indent
from typing import Any

from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx_gallery import gen_rst
from sphinx_gallery.py_source_parser import Block

from .errors import GalleryError
from .recipes import Cell, gallery_folders, is_blank, load_recipe
from .recordings import compare, read_recording

logger = logging.getLogger(__name__)

# Wraps all a cell put out; the notebook writer takes these from the recording instead of the page.
OUTPUT_CLASS = "recorded-output"
# Settings of Sphinx-Gallery that belong to replaying.
_FORCED = {
    "plot_gallery": False,
    "remove_config_comments": True,
    "inspect_global_variables": False,  # nothing ran, so there are none
    "image_scrapers": (),  # figures come from the recordings
    "reset_modules": (),  # no recipe leaves anything behind
    "notebook_extensions": set(),  # notebooks.py writes better ones
    "download_all_examples": False,
    "ignore_pattern": r"(^|/)_",  # as find_recipes: files whose names start with _
    "write_computation_times": False,  # the provenance box tells them
    "min_reported_time": float("inf"),  # likewise
    "show_signature": False,
}
IMAGE_SUFFIXES = {"image/svg+xml": ".svg", "image/png": ".png", "image/jpeg": ".jpg"}


def check_config(app: Sphinx, config: Config) -> None:
    """Turn off what would run a recipe, and refuse a setting under which replaying cannot work."""
    gallery: dict[str, Any] = config.sphinx_gallery_conf
    if gallery.get("parallel"):
        raise ConfigError(
            "conf.py: set sphinx_gallery_conf['parallel'] = False; its worker processes would run "
            "recipes instead of replaying them (sphinx-build -j is fine)"
        )
    if not config.html_baseurl:
        raise ConfigError(
            "conf.py: set html_baseurl to the address where the site is published; "
            "links in downloaded notebooks lead there"
        )
    gallery.update(_FORCED)


def install(app: Sphinx) -> None:
    """Make Sphinx-Gallery replay for the build of ``app``."""
    folder = Path(app.srcdir, app.config.recordings_dir)
    for pages, examples in gallery_folders(app.config):
        _remove_pages_of_removed_recipes(Path(app.srcdir, pages), Path(app.srcdir, examples))

    def replay_script(
        script_blocks: list[Block],
        script_vars: dict[str, Any],
        gallery_conf: dict[str, Any],
        file_conf: dict[str, Any],
    ) -> tuple[list[str], float]:
        # Sphinx-Gallery would show a block of nothing but settings as an empty code block.
        script_blocks[:] = [block for block in script_blocks if not is_blank(block)]
        script_vars.update(memory_delta=0.0, example_globals={})
        outputs = replay(Path(script_vars["src_file"]), folder, script_vars, gallery_conf)
        return [
            outputs.pop(0) if block.type == "code" and outputs else "" for block in script_blocks
        ], 0.0

    gen_rst.execute_script = replay_script


def _remove_pages_of_removed_recipes(pages: Path, examples: Path) -> None:
    """Delete generated pages whose recipe is gone; Sphinx-Gallery leaves them to be published."""
    for copy in pages.glob("*.py"):
        if not (examples / copy.name).exists():
            copy.unlink()
            copy.with_suffix(".rst").unlink(missing_ok=True)


def replay(
    source: Path, recordings: Path, script_vars: dict[str, Any], gallery_conf: dict[str, Any]
) -> list[str]:
    """Return the recorded output of each code cell of ``source`` as reStructuredText.

    A cell whose code changed since gets none: an old result beside new code would mislead.
    Everything that is wrong is logged as a warning that says what to do.
    """
    shown = _relative(source)
    try:
        recipe = load_recipe(source)
    except GalleryError as error:
        logger.warning("%s", error, type="recipe_gallery", subtype="recipe")
        return []
    try:
        recording = read_recording(recordings / f"{recipe.name}.ipynb")
        comparison = compare(recipe, recording)
    except GalleryError as error:
        logger.warning("%s: %s", shown, error, type="recipe_gallery", subtype="recording")
        return ["" for _ in recipe.cells]
    if not comparison.is_current:
        logger.warning(
            "%s: stale recording: %s; run: make record RECIPES=%s",
            shown,
            comparison.describe(),
            recipe.name,
            type="recipe_gallery",
            subtype="stale",
        )
    # A comment that changes with the recording, so that Sphinx reads exactly this page again.
    facts = recording.facts
    stamp = f"\n.. recorded {facts['recorded']} {facts['commit']} {comparison.describe()}\n\n"
    images = _ImageWriter(script_vars, gallery_conf)
    texts = []
    for cell in recipe.cells:
        recorded = comparison.recorded.get(cell.number)
        texts.append(_cell_rst(cell, recorded.outputs, images, source) if recorded else "")
    if texts:
        texts[0] = stamp + texts[0]
    return texts


class _ImageWriter:
    """Writes recorded images where Sphinx-Gallery looks for a recipe's figures."""

    def __init__(self, script_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> None:
        self._paths = iter(script_vars["image_path_iterator"])
        self._root = Path(gallery_conf["src_dir"])

    def write(self, data: bytes, suffix: str) -> str:
        """Write an image unless it is there already; return its address for reStructuredText."""
        path = Path(next(self._paths)).with_suffix(suffix)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        return "/" + path.relative_to(self._root).as_posix()


def _cell_rst(cell: Cell, outputs: list[NotebookNode], images: _ImageWriter, source: Path) -> str:
    alts = list(cell.alt)
    parts = []
    for output in outputs:
        if output.output_type == "stream":
            parts.append(_text_rst(output.text))
        elif output.output_type == "error":
            parts.append(_text_rst("\n".join(output.traceback)))
        else:
            parts.append(_data_rst(cell, output.data, alts, images, source))
    body = "\n\n".join(part for part in parts if part)
    if not body:
        return ""
    return f".. container:: {OUTPUT_CLASS}\n\n{indent(body, '    ')}\n\n"


def _data_rst(
    cell: Cell, data: dict[str, Any], alts: list[str], images: _ImageWriter, source: Path
) -> str:
    """Return the richest form of one displayed object that a page can show."""
    if "text/html" in data:
        html = indent(data["text/html"].strip(), "    ")
        return f'.. raw:: html\n\n    <div class="recorded-html" tabindex="0">\n{html}\n    </div>'
    for mime, suffix in IMAGE_SUFFIXES.items():
        if mime in data:
            if not alts:
                logger.warning(
                    "%s:%s: the figure of cell %s has no text for those who cannot see it; add a "
                    'line to the cell: # sphinx_gallery_alt = "..."',
                    _relative(source),
                    cell.line,
                    cell.number,
                    type="recipe_gallery",
                    subtype="alt",
                )
            alt = alts.pop(0) if alts else ""
            image = data[mime]
            raw = image.encode() if mime == "image/svg+xml" else base64.b64decode(image)
            return (
                f".. image:: {images.write(raw, suffix)}\n"
                f"    :alt: {alt}\n    :class: sphx-glr-single-img"
            )
    for mime in ("text/markdown", "text/latex", "text/plain"):  # as they were written
        if mime in data:
            return _text_rst(data[mime])
    return ""


def _text_rst(text: str) -> str:
    """Return printed text as Sphinx-Gallery's output block."""
    text = text.expandtabs().strip("\n")
    return gen_rst.CODE_OUTPUT.format(indent(text, " " * 4)) if text.strip() else ""


def _relative(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

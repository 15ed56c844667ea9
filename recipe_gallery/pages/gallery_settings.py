"""What Sphinx-Gallery's settings say that a page made from a recording does not follow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF

from ..errors import GalleryError
from ..project import gallery_folders
from ..recipes.gallery import GalleryFile, ignore_pattern

logger = logging.getLogger(__name__)

# Settings of Sphinx-Gallery that cannot be others while recordings are replayed.
_FORCED = {
    "plot_gallery": False,
    "remove_config_comments": True,
    "inspect_global_variables": False,  # nothing ran, so there are none
    "image_scrapers": (),  # figures come from the recordings
    "reset_modules": (),  # no recipe leaves anything behind
    "notebook_extensions": set(),  # downloads.py writes better ones
    "download_all_examples": False,
    "write_computation_times": False,  # the provenance box tells them
    "min_reported_time": float("inf"),  # likewise
    "show_signature": False,
}
# Those that would change what is shown if Sphinx-Gallery ran the recipes or wrote the notebooks.
_NOT_USED = {
    "abort_on_example_error",
    "binder",
    "capture_repr",
    "compress_images",
    "expected_failing_examples",
    "ignore_repr_types",
    "image_srcset",
    "jupyterlite",
    "last_notebook_cell",
    "matplotlib_animations",
    "notebook_images",
    "only_warn_on_example_error",
    "promote_jupyter_magic",
    "reset_argv",
    "show_memory",
}
# What a recipe says of how it is run and drawn by Sphinx-Gallery, and what stands for a film.
_UNUSED_IN_RECIPES = {
    "has no effect: a recording has what each cell put out, as Jupyter shows it": re.compile(
        r"^[ \t]*#\s*(sphinx_gallery_(?:capture_repr|defer_figures|dummy_images|ignore_repr_types|"
        r"multi_image(?:_block)?))\b",
        re.MULTILINE,
    ),
    "moves where the recipe is run; a recording holds one still of it": re.compile(
        r"^[^#\n]*\b((?:Func|Artist|Timed)Animation)\(", re.MULTILINE
    ),
}


def check_config(app: Sphinx, config: Config) -> None:
    """Turn off what would run a recipe, and refuse a setting under which replaying cannot work.

    At this moment the settings are those of conf.py alone, without Sphinx-Gallery's defaults.
    """
    gallery: dict[str, Any] = config.sphinx_gallery_conf
    if gallery.get("parallel"):
        raise ConfigError(
            "conf.py: set sphinx_gallery_conf['parallel'] = False; its worker processes would run "
            "recipes instead of replaying them (sphinx-build -j is fine)"
        )
    unused = [name for name, value in _FORCED.items() if gallery.get(name, value) != value]
    defaults = DEFAULT_GALLERY_CONF
    unused += [each for each in _NOT_USED if gallery.get(each, defaults[each]) != defaults[each]]
    if unused:
        logger.info(
            "sphinx_gallery_conf: not used where recordings are shown: %s",
            ", ".join(sorted(unused)),
        )
    folders = gallery_folders(config)
    gallery.update(
        _FORCED,
        ignore_pattern=ignore_pattern(config),
        gallery_dirs=[pages for pages, _examples in folders],  # Sphinx-Gallery wants no Path
        examples_dirs=[examples for _pages, examples in folders],
    )


def tell_unused(file: GalleryFile) -> None:
    """Tell of each setting and animation of a recipe that its page does not follow."""
    try:
        text = file.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return  # reading it as a recipe tells that
    for told, pattern in _UNUSED_IN_RECIPES.items():
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            error = GalleryError(f"{match[1]} {told}", path=file.path.resolve(), line=line)
            logger.info("%s", error.describe(Path.cwd()))

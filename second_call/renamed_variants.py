"""Names for English readers of cases and variants that recipes call by an older name.

A recipe's own words are parts of keys, so changing one needs a new recording. Translations take
their names from the catalogs. Names are by recipe: the same word may mean another thing elsewhere.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import Language

from .labels import _

NAMES: Mapping[str, Mapping[str, str]] = {
    "compile_modes": {
        "CPU, not compiled": "CPU, eager",
        "GPU, not compiled": "GPU, eager",
        "a product": "a matmul",
        "channels_last, not compiled": "channels_last, eager",
        "not compiled": "eager",
    },
    "cuda_graphs": {
        "blocks compiled": "compiled blocks",
        "blocks compiled, one graph": "compiled blocks, one graph",
        "detours": "round trips",
        "inference, by hand": "inference, captured manually",
        "not compiled": "eager",
        "training, by hand": "training, captured manually",
    },
    "memory": {
        "blocks": "compiled blocks",
        "eager, checkpoint": "eager, checkpoints",
    },
    "regional_compilation": {
        "model, nested, with a number, 64 entries": "model, nested, numbers differ",
        "not compiled": "eager",
        "not compiled, in a CUDA graph": "eager, in a CUDA graph",
    },
    "saved_models": {
        "not compiled": "eager",
        "nothing": "nothing shipped",
    },
    "token_generation": {
        "blocks compiled, graph by hand": "compiled blocks, manual graph",
        "graph by hand": "manual graph",
        "growing": "growing cache",
        "static": "static cache",
        "texts": "sequences",
        "without compiling": "eager",
    },
    "varying_sizes": {
        "eight texts": "eight sequences",
        "few texts": "few sequences",
        "length marked": "compiled, length marked",
        "many texts": "many sequences",
        "nothing marked": "compiled",
        "without compiling": "eager",
    },
    "where_time_goes": {
        "a line behind work": "a line with work queued",
        "added up on the GPU": "summed on the GPU",
        "each hit read": "each prediction read",
        "without compiling": "eager",
    },
}


def name_in_english(app: Sphinx, docname: str, kind: str, word: str) -> str | None:
    """Return the English name of a case or variant; None leaves the recipe's own word."""
    is_english = Language.current(app.config) == Language.source(app.config)
    if kind != "name" or not is_english:
        return None
    recipe = PurePosixPath(docname).name
    return NAMES.get(recipe, {}).get(word)


def list_plain_names(recipe: str) -> dict[str, str]:
    """Return names for readers who have not read the recipe, by the variants that it measures."""
    names = {
        "compiling_optimizer": {"foreach": _("foreach (default)")},
        "regional_compilation": {"model": _("the whole model compiled")},
        "token_generation": {"default": "torch.compile", "graph by hand": _("CUDA graph")},
        "where_time_goes": {"before": _("the unchanged job")},
    }
    return names.get(recipe, {})

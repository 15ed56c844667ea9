"""Short names of recipes, for navigation, links and search; a page's title asks a question."""

from .labels import _


def name_recipes() -> dict[str, str]:
    """Return short names in the reader's language, by the names of recipes."""
    return {
        "where_time_goes": _("Find your bottleneck"),
        "compiling_optimizer": _("Optimizers"),
        "regional_compilation": _("First call"),
        "compile_modes": _("Modes"),
        "token_generation": _("Token generation"),
        "varying_sizes": _("Dynamic shapes"),
        "cuda_graphs": _("CUDA graphs"),
        "saved_models": _("Saved models"),
        "memory": _("Memory"),
    }


def short_name(docname: str) -> str:
    """Return the short name of a recipe's page; empty if it has none."""
    return name_recipes().get(docname.rpartition("/")[2], "")

"""Short titles of recipes, for navigation, links and search; a page's title asks a question."""

from .labels import _


def list_short_titles() -> dict[str, str]:
    """Return the short titles of recipes in the reader's language, by the names of recipes."""
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


def short_title(docname: str) -> str:
    """Return the short title of a recipe's page; empty if it has none."""
    return list_short_titles().get(docname.rpartition("/")[2], "")

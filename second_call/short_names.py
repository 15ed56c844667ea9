"""Short names of recipes, for navigation, links and search; a page's title asks a question."""

from sphinx.locale import get_translation

_ = get_translation("second_call")


def name_recipes() -> dict[str, str]:
    """Return short names in the reader's language, by the names of recipes."""
    return {
        "where_time_goes": str(_("Find your bottleneck")),
        "compiling_optimizer": str(_("Optimizers")),
        "regional_compilation": str(_("First call")),
        "compile_modes": str(_("Modes")),
        "token_generation": str(_("Token generation")),
        "varying_sizes": str(_("Dynamic shapes")),
        "cuda_graphs": str(_("CUDA graphs")),
        "saved_models": str(_("Saved models")),
        "memory": str(_("Memory")),
    }


def short_name(docname: str) -> str:
    """Return the short name of a recipe's page; empty if it has none."""
    return name_recipes().get(docname.rpartition("/")[2], "")

"""The quantities that recipes measure: their units, names for readers, and what bounds them.

``standard_quantities`` lists those of every gallery. A site adds its own with the setting
``recorded_gallery_quantities = "package.module:function"``: the function takes no arguments and
returns a list of ``Quantity``. It is called whenever a label is needed, so it can translate labels.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sphinx.config import Config
from sphinx.locale import get_translation

from ..project import load_function

_ = get_translation("sphinx_recorded_gallery")

SETTING = "recorded_gallery_quantities"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One kind of measurement; ``name`` is its name in rows."""

    name: str
    label: str  #: what readers call it, in their language
    unit: str = ""  #: of its rows; `check` tells of others; empty for what is counted
    meaning: str = ""  #: what it is, for those who write recipes
    gpu_only: bool = False  #: a CPU does not measure it
    gpu_bound: bool = False  #: it follows from the GPU alone, whatever the host's CPU does
    compared: bool = True  #: whether it tells by itself what a release changed


def standard_quantities() -> dict[str, Quantity]:
    """Return the quantities of every gallery by name, in the order of the reference."""
    quantities = [
        Quantity(
            name="wall",
            label=_("wall time"),
            unit="s",
            meaning=_("Time per call, until the device is done"),
            compared=False,  # speed-up, GPU time and CPU time tell what it is made of
        ),
        Quantity(
            name="gpu",
            label=_("GPU time"),
            unit="s",
            meaning=_("Time per call in kernels and copies"),
            gpu_only=True,
            gpu_bound=True,
        ),
        Quantity(
            name="cpu",
            label=_("CPU time"),
            unit="s",
            meaning=_("Time the CPU needs to launch a call"),
            gpu_only=True,
        ),
        Quantity(
            name="kernels",
            label=_("kernels"),
            meaning=_("Kernels and copies per call"),
            gpu_only=True,
            gpu_bound=True,
        ),
        Quantity(
            name="first_call",
            label=_("first call"),
            unit="s",
            meaning=_("Time of the first call of a variant that compiles"),
        ),
        Quantity(
            name="first_result",
            label=_("first result"),
            unit="s",
            meaning=_("Time from the start of a program to its first result"),
        ),
        Quantity(
            name="start_up",
            label=_("startup"),
            unit="s",
            meaning=_("Extra time of the first compilation in a process"),
        ),
        Quantity(
            name="speedup",
            label=_("speed-up"),
            unit="x",
            meaning=_("Wall time of the first variant divided by that of this variant"),
        ),
        Quantity(
            name="share",
            label=_("share of the limit"),
            unit="share",
            meaning=_("The limit divided by the GPU time (on a CPU, by the wall time)"),
            compared=False,
        ),
        Quantity(
            name="break_even",
            label=_("break-even"),
            unit="calls",
            meaning=_("Calls until compiling breaks even; absent if it never does"),
        ),
        Quantity(
            name="memory",
            label=_("memory"),
            unit="B",
            meaning=_("Peak GPU memory of a call, above what was allocated before it"),
            gpu_only=True,
            gpu_bound=True,
        ),
        Quantity(
            name="kept",
            label=_("memory kept"),
            unit="B",
            meaning=_("GPU memory that stays reserved for a variant between calls"),
            gpu_only=True,
            gpu_bound=True,
        ),
        Quantity(
            name="compilations",
            label=_("compilations"),
            meaning=_("Number of times the compiler ran"),
        ),
    ]
    return {quantity.name: quantity for quantity in quantities}


def list_quantities(config: Config) -> dict[str, Quantity]:
    """Return all quantities of a project by name, its own last.

    Raises ``GalleryError`` if the setting does not name such a function.
    """
    quantities = standard_quantities()
    list_own = load_function(config, SETTING, "returns a list of Quantity")
    if list_own is None:
        return quantities
    return quantities | {quantity.name: quantity for quantity in list_own()}


def name_own_list(config: Config) -> str:
    """Return what names the quantities of a project: its function, or the setting if it has none.

    It is for a remedy: ``own_package.quantities:list_all``.
    """
    return getattr(config, SETTING, "") or f"{SETTING} in conf.py"


def find_gpu_only(quantities: Mapping[str, Quantity]) -> frozenset[str]:
    """Return the names of the quantities that only a GPU can measure."""
    return frozenset(name for name, quantity in quantities.items() if quantity.gpu_only)


def find_gpu_bound(quantities: Mapping[str, Quantity]) -> frozenset[str]:
    """Return the names of the quantities that depend only on the GPU."""
    return frozenset(name for name, quantity in quantities.items() if quantity.gpu_bound)

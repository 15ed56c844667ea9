"""Quantities that recipes of this site measure beside those of every gallery.

``recorded_gallery_quantities`` in conf.py names ``list_site_quantities``.
"""

from sphinx_recorded_gallery.api import Quantity

from .labels import _

# Of these units less is better: a chart gives how many times less of it there is.
GAIN_UNITS = ("s", "B")
# Of all other quantities, less is better where a chart tells what a release changed.
MORE_IS_BETTER = ("speedup",)


def list_site_quantities() -> list[Quantity]:
    """Return the quantities of this site, with labels in the reader's language."""
    return [
        Quantity(name="ready", label=_("time until ready"), unit="s"),
        Quantity(name="new_length", label=_("extra time for a new length"), unit="s"),
        Quantity(name="second_length", label=_("second length"), unit="s"),
        Quantity(name="imports", label=_("importing packages"), unit="s"),
        Quantity(name="load", label=_("loading"), unit="s"),
        Quantity(name="capture", label=_("capturing a graph"), unit="s"),
        Quantity(name="hits", label=_("cache hits"), compared=False),
        Quantity(name="first_pass", label=_("first pass"), unit="s"),
        Quantity(name="second_pass", label=_("second pass"), unit="s"),
        Quantity(name="third_pass", label=_("third pass"), unit="s"),
        Quantity(name="launch_cost", label=_("launch cost"), unit="s", compared=False),
        Quantity(name="limit", label=_("limit"), unit="s", compared=False),
        Quantity(
            name="data_share", label=_("share spent waiting for data"), unit="share", compared=False
        ),
        Quantity(name="forward_share", label=_("forward share"), unit="share", compared=False),
        Quantity(name="backward_share", label=_("backward share"), unit="share", compared=False),
        Quantity(name="optimizer_share", label=_("optimizer share"), unit="share", compared=False),
        Quantity(name="waste", label=_("padding"), unit="share", compared=False),
        Quantity(name="bandwidth", label=_("bandwidth"), unit="B/s", compared=False),
        Quantity(name="bytes", label=_("bytes"), unit="B", compared=False),
        Quantity(name="shipped", label=_("size of the files"), unit="B"),
        Quantity(name="longest", label=_("longest sequence"), unit="tokens", compared=False),
        Quantity(name="graphs", label=_("graphs")),
        Quantity(name="not_compiled", label=_("calls not compiled")),
        Quantity(name="warnings", label=_("warnings"), compared=False),
        Quantity(name="operations", label=_("operations"), compared=False),
        Quantity(name="later_call", label=_("later call"), unit="s"),
        Quantity(name="moved", label=_("bytes moved"), unit="B", compared=False),
        Quantity(name="tokens", label=_("tokens"), compared=False),
        Quantity(name="padded_tokens", label=_("tokens with padding"), compared=False),
        Quantity(name="float32_kernels", label=_("kernels in float32")),
        Quantity(name="gradient", label=_("gradient"), compared=False),
        Quantity(name="error", label=_("error"), compared=False),
        Quantity(name="difference", label=_("largest difference"), compared=False),
        Quantity(name="differing", label=_("results that differ"), compared=False),
    ]


def name_parts() -> dict[str, str]:
    """Return what readers call the parts of a whole, by the quantities that are its shares."""
    return {
        "data_share": _("waiting for data"),
        "forward_share": _("forward"),
        "backward_share": _("backward"),
        "optimizer_share": _("optimizer"),
    }

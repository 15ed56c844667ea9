"""What readers call the quantities that recipes measure, and the parts of an iteration."""

from sphinx.application import Sphinx
from sphinx.locale import get_translation

from sphinx_recorded_gallery.measurements.names import QUANTITY

_ = get_translation("second_call")


def answer_name_event(_app: Sphinx, _docname: str, kind: str, word: str) -> str | None:
    """Return what readers call a quantity, for evidence and the list of measurements."""
    return name_quantities().get(word) if kind == QUANTITY else None


def name_quantities() -> dict[str, str]:
    """Return what readers call the quantities that the harness measures."""
    return {
        "wall": _("wall time"),
        "gpu": _("GPU time"),
        "cpu": _("CPU time"),
        "first_call": _("first call"),
        "first_result": _("first result"),
        "start_up": _("start-up"),
        "ready": _("ready after"),
        "speedup": _("speed-up"),
        "break_even": _("pays after"),
        "limit": _("limit"),
        "share": _("share of the limit"),
        "optimizer_share": _("share of the optimizer"),
        "data_share": _("share of waiting for data"),
        "forward_share": _("share of forward"),
        "backward_share": _("share of backward"),
        "kernels": _("kernels"),
        "compilations": _("compilations"),
        "not_compiled": _("calls not compiled"),
        "warnings": _("warnings"),
        "operations": _("operations"),
        "memory": _("memory"),
        "kept": _("memory kept"),
        "launch_cost": _("launch cost"),
        "waste": _("padding"),
        "new_length": _("a new length"),
        "bytes": _("bytes"),
        "bandwidth": _("bandwidth"),
        "first_pass": _("first pass"),
        "second_pass": _("second pass"),
        "third_pass": _("third pass"),
        "graphs": _("graphs"),
    }


def name_parts() -> dict[str, str]:
    """Return what readers call the parts of a whole, by the quantities that are its shares."""
    return {
        "data_share": _("waiting for data"),
        "forward_share": _("forward"),
        "backward_share": _("backward"),
        "optimizer_share": _("optimizer"),
    }

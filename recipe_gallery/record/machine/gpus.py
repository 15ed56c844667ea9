"""The GPUs of this machine that may be recorded on, whoever made them."""

from ...errors import GalleryError, suggest
from . import amd, nvidia
from .gpu import Gpu


def find_gpus() -> list[Gpu]:
    """Return the GPUs that ``CUDA_VISIBLE_DEVICES`` and its like admit, in their order.

    Of two vendors NVIDIA comes first. Raises ``GalleryError`` if a vendor's tool does not answer.
    """
    return nvidia.list_visible() or amd.list_visible()


def require_gpus() -> list[Gpu]:
    """Return the GPUs to record on; raise ``GalleryError`` if there is none."""
    gpus = find_gpus()
    if not gpus:
        remedy = f"to run on the CPU instead: {suggest('record', '', '--device cpu')}"
        raise GalleryError("no GPU found (nvidia-smi and amd-smi show none)", remedy=remedy)
    return gpus

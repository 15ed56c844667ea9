"""The GPUs of this machine, as nvidia-smi tells them."""

import os
import shutil
from dataclasses import dataclass

from ...errors import GalleryError, suggest
from ..programs import ask

# The variable that tells libraries which GPUs they may use; recording sets it to one, or to none.
VISIBLE = "CUDA_VISIBLE_DEVICES"
ANSWER = 60  # seconds in which nvidia-smi has to answer


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """The GPU to record on."""

    identity: str  # for VISIBLE
    facts: dict[str, str]  # gpu (its name), driver, memory


def find_gpu() -> Gpu | None:
    """Return the first GPU that ``CUDA_VISIBLE_DEVICES`` admits, as nvidia-smi tells it, or None.

    This and ``VISIBLE`` are all that is known here of a vendor. Raises ``GalleryError`` if
    nvidia-smi does not answer.
    """
    visible = os.environ.get(VISIBLE)
    if visible == "" or not shutil.which("nvidia-smi"):
        return None
    query = "--query-gpu=name,driver_version,memory.total,uuid"
    command = ["nvidia-smi", "--format=csv,noheader", query]
    if visible:
        command += ["--id", visible.split(",")[0]]
    try:
        done = ask(command, seconds=ANSWER)
    except TimeoutError as error:
        remedy = f"its driver may hang; to run on the CPU: {suggest('record', '', '--device cpu')}"
        raise GalleryError(f"nvidia-smi: {error}", remedy=remedy) from None
    fields = done.stdout.partition("\n")[0].split(",")
    if done.returncode != 0 or len(fields) != 4:
        return None
    name, driver, memory, identity = map(str.strip, fields)
    return Gpu(identity=identity, facts={"gpu": name, "driver": driver, "memory": memory})


def require_gpu() -> Gpu:
    """Return the GPU to record on; raise ``GalleryError`` if there is none."""
    gpu = find_gpu()
    if gpu is None:
        remedy = f"to run on the CPU instead: {suggest('record', '', '--device cpu')}"
        raise GalleryError("no GPU found (nvidia-smi shows none)", remedy=remedy)
    return gpu

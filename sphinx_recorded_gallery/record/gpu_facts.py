"""The NVIDIA GPUs of this machine, and the facts that recordings state about them."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import GalleryError, suggest
from .run_program import run_program

TOOL = "nvidia-smi"
VISIBLE = "CUDA_VISIBLE_DEVICES"  # variable with the GPUs that libraries may use


class NoGpuError(GalleryError):
    """There is no GPU that recipes could use; the remedy is the CPU.

    ``offer`` replaces the command in the remedy.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.offer(suggest("record", "", "--device cpu"))

    def offer(self, command: str) -> None:
        """Name the command that does the same on the CPU."""
        self.remedy = f"to run on the CPU instead: {command}"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU to record on."""

    identity: str  # its UUID
    facts: dict[str, str]  # gpu (its name), driver, memory

    @property
    def lock(self) -> Path:
        """The file to lock while recording on it: parallel recordings would distort the times."""
        return Path(tempfile.gettempdir(), f"recorded-gallery-{self.identity}.lock")


def list_all() -> list[Gpu]:
    """Return all GPUs of this machine; raise ``NoGpuError`` if nvidia-smi does not answer."""
    query = "--query-gpu=name,driver_version,memory.total,uuid"
    try:
        process = run_program([TOOL, "--format=csv,noheader", query])
    except TimeoutError as error:
        raise NoGpuError(f"{TOOL}: {error}; its driver may hang") from None
    except OSError:
        return []
    if process.returncode:
        return []
    gpus = []
    for line in process.stdout.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4:
            facts = dict(zip(("gpu", "driver", "memory"), fields, strict=False))
            gpus.append(Gpu(identity=fields[3], facts=facts))
    return gpus


def require_gpus() -> list[Gpu]:
    """Return the GPUs that ``CUDA_VISIBLE_DEVICES`` names, in its order; all if it is not set.

    It lists numbers, UUIDs or beginnings of UUIDs. As in libraries, the list ends at the first
    entry without a GPU. Raises ``NoGpuError`` if there is none.
    """
    gpus = list_all()
    visible = os.environ.get(VISIBLE)
    if visible is not None:
        chosen: list[Gpu] = []
        for name in map(str.strip, visible.split(",")):
            matches = [gpu for gpu in gpus if name and gpu.identity.startswith(name)]
            if name.isdecimal():
                matches = gpus[int(name) : int(name) + 1]
            if len(matches) != 1:
                break
            if matches[0] not in chosen:
                chosen.append(matches[0])
        gpus = chosen
    if not gpus:
        raise NoGpuError(f"no GPU found ({TOOL} shows none)")
    return gpus

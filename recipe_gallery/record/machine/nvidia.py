"""NVIDIA's GPUs, as nvidia-smi tells them."""

import os
import re
import shutil
from collections.abc import Iterable

from .gpu import CUDA, Gpu, ask_tool, choose

TOOL = "nvidia-smi"
_MIG = "MIG-"  # so begins the name of a part of a GPU


def list_visible() -> list[Gpu]:
    """Return the GPUs that ``CUDA_VISIBLE_DEVICES`` admits, in its order; all where it is not set.

    Numbers count as nvidia-smi does, by the place on the bus. A part of a GPU (MIG) keeps the name
    that it has there.

    Raises ``GalleryError`` if nvidia-smi does not answer.
    """
    visible = os.environ.get(CUDA)
    if visible == "" or not shutil.which(TOOL):
        return []
    names = visible.split(",") if visible else []
    if names and names[0].strip().startswith(_MIG):
        return list(_list_parts(name.strip() for name in names))
    gpus = list_all()
    if gpus or visible is None:
        return choose(gpus, visible)
    # One that is broken may keep it from telling of all.
    return [gpu for name in names for gpu in list_all("--id", name.strip())]


def list_all(*options: str) -> list[Gpu]:
    """Return all GPUs of this machine, as options admit them; none where nvidia-smi fails."""
    query = "--query-gpu=name,driver_version,memory.total,uuid"
    gpus = []
    for line in ask_tool(TOOL, "--format=csv,noheader", query, *options).splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4:
            facts = dict(zip(("gpu", "driver", "memory"), fields[:3], strict=True))
            gpus.append(Gpu(identity=fields[3], facts=facts))
    return gpus


def _list_parts(names: Iterable[str]) -> Iterable[Gpu]:
    """Yield the parts of GPUs that are named and there."""
    gpus, gpu = {each.identity: each for each in list_all()}, None
    kinds = {}  # the part's kind, such as "MIG 3g.40gb", and its GPU, by the part's name
    for line in ask_tool(TOOL, "-L").splitlines():
        # GPU 0: Some name (UUID: GPU-...), and below it:  MIG 3g.40gb  Device  0: (UUID: MIG-...)
        if found := re.match(r"\s*(GPU|MIG \S+)\s.*\(UUID: (\S+)\)", line):
            if found[1] == "GPU":
                gpu = gpus.get(found[2])
            elif gpu:
                kinds[found[2]] = found[1], gpu
    for name in names:
        if name not in kinds:
            return
        kind, gpu = kinds[name]
        # the memory is the whole GPU's
        facts = {"gpu": f"{gpu.facts['gpu']} {kind}", "driver": gpu.facts["driver"]}
        yield Gpu(identity=name, facts=facts)

"""The machine around the GPU: which one it is, its processor, and what the system allows."""

import hashlib
import os
import platform
import re
import resource
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import GalleryError
from . import amd, nvidia

OPEN_FILES = 256  # a kernel's sockets, its libraries, and pipes of what recipes start
_MACHINE_ID = Path("/etc/machine-id")  # of the installation; only Linux has it


def host_hash() -> str:
    """Return 12 hexadecimal digits that are the same for all recordings of one host.

    They are of SHA-256 over the system's machine-id and the UUIDs of all its GPUs, also of those
    that may not be used; where there is neither, over the host's name and its processor. None of
    these can be read from it. Two virtual machines are two hosts, and so are two containers that
    are given different GPUs.
    """
    known = []
    with suppress(OSError, UnicodeDecodeError):
        known = [_MACHINE_ID.read_text().strip()]
    with suppress(GalleryError):  # a tool that hangs is told where a GPU is needed
        known += sorted(gpu.identity for gpu in [*nvidia.list_all(), *amd.list_all()])
    if not any(known):
        known = [platform.node(), str(describe_host()["cpu"])]
    # machine-id(5): it is for nobody else, unless hashed with what is the program's own
    return hashlib.sha256("\n".join(["recipe-gallery host", *known]).encode()).hexdigest()[:12]


def describe_host() -> dict[str, Any]:
    """Return the processor's name and the number of cores this process may use."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):  # only Linux tells the model
        models = re.findall(
            r"^model name\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        name = models[0].strip() if models else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": name, "cores": cores}


def require_open_files() -> None:
    """Raise ``GalleryError`` unless enough files may be open at once; ask the system for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < OPEN_FILES:
        if 0 <= hard < OPEN_FILES:
            text = f"only {hard} files may be open at once, recording needs {OPEN_FILES}"
            raise GalleryError(text, remedy=f"run: ulimit -n {OPEN_FILES}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))

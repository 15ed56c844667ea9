"""The machine around the GPU: its processor, and what the system allows."""

import contextlib
import os
import platform
import re
from pathlib import Path
from typing import Any

from ...errors import GalleryError

OPEN_FILES = 256  # a kernel's sockets, its libraries, and pipes of what recipes start


def describe_host() -> dict[str, Any]:
    """Return the processor's name and the number of cores this process may use."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):  # only Linux tells the model
        models = re.findall(
            r"^model name\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        name = models[0].strip() if models else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": name, "cores": cores}


def require_open_files() -> None:
    """Raise ``GalleryError`` unless enough files may be open at once; ask the system for more."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < OPEN_FILES:
        if 0 <= hard < OPEN_FILES:
            text = f"only {hard} files may be open at once, recording needs {OPEN_FILES}"
            raise GalleryError(text, remedy=f"run: ulimit -n {OPEN_FILES}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))

"""What a GPU does while a recipe runs: its clock, power and temperature, and what slows it down.

One nvidia-smi writes a line a second into a file of the run until it is ended; nobody waits for
it. It asks the driver for five values, starts nothing on the GPU and takes no part of its memory;
CONTRIBUTING.md says what that costs. Of AMD's GPUs nothing is known here.
"""

import contextlib
import math
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..programs import ask
from .gpu import NVIDIA, Gpu
from .nvidia import TOOL

EVERY = 1.0  # seconds from one sample to the next
ANSWER = 15  # seconds in which nvidia-smi has to tell once what it will tell every second
_FIELDS = ("clocks.sm", "power.draw", "temperature.gpu", "utilization.gpu")
# What slows the GPU down, as bits of one number; the name changed with driver 535.
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_IDLE = 0x1
_NAMES = {
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}


def find_command(gpu: Gpu | None) -> tuple[str, ...]:
    """Return the command that writes a sample as a line; nothing where there is none.

    It is the one of three that this machine's nvidia-smi understands.
    """
    if gpu is None or gpu.vendor != NVIDIA or gpu.identity.startswith("MIG-"):
        return ()
    for reasons in (*_REASONS, ""):
        query = ",".join(filter(None, [*_FIELDS, reasons]))
        options = (f"--query-gpu={query}", "--format=csv,noheader,nounits", "--id", gpu.identity)
        command = (TOOL, *options)
        with contextlib.suppress(OSError):  # also of time
            if ask(command, seconds=ANSWER).returncode == 0:
                return command
    return ()


@contextlib.contextmanager
def watch_clocks(command: Sequence[str], samples: Path) -> Iterator[Callable[[], dict[str, Any]]]:
    """Sample a GPU as ``command`` does, into the file ``samples``, as long as this is open.

    Yields a function that ends the sampling and returns what was seen, nothing if no ``command`` is
    given. Nothing that the tool does, or does not, is an error.
    """
    process = None
    if command:
        with contextlib.suppress(OSError), samples.open("wb") as file:
            process = subprocess.Popen(
                [*command, f"--loop-ms={1000 * EVERY:.0f}"],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.DEVNULL,
            )

    def end() -> None:
        if process:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)  # what hangs in a driver cannot be killed

    def read() -> dict[str, Any]:
        end()
        with contextlib.suppress(OSError), samples.open(encoding="utf-8", errors="replace") as file:
            return summarize(file)
        return summarize([]) if command else {}

    try:
        yield read
    finally:
        end()


def summarize(lines: Iterable[str]) -> dict[str, Any]:
    """Return what samples say, one a line, of those in which the GPU was busy.

    ``samples`` and ``busy`` count them. ``sm_mhz``, ``power_w`` and ``temperature_c`` hold a median
    and an extreme; ``slowed_by`` counts the busy samples in which a reason was seen. What the GPU
    does not tell is left out.
    """
    # the last line may be half of one
    samples = [_read(line) for line in lines if line.endswith("\n")]
    samples = [sample for sample in samples if sample]
    busy = [sample for sample in samples if _is_busy(sample)]
    told: dict[str, Any] = {"samples": len(samples), "busy": len(busy)}
    for name, field, extreme, find in (
        ("sm_mhz", "clocks.sm", "lowest", min),
        ("power_w", "power.draw", "highest", max),
        ("temperature_c", "temperature.gpu", "highest", max),
    ):
        if values := [sample[field] for sample in busy if field in sample]:
            told[name] = {"median": statistics.median(values), extreme: find(values)}
    bits = [int(sample[_REASONS[0]]) for sample in busy if _REASONS[0] in sample]
    if bits:
        told["slowed_by"] = _count_reasons(bits)
    return told


def _read(line: str) -> dict[str, float]:
    """Return the values of a sample by field; without those that the GPU does not tell."""
    sample = {}
    for name, text in zip((*_FIELDS, _REASONS[0]), line.split(","), strict=False):
        with contextlib.suppress(ValueError):  # [N/A], [Not Supported], [Unknown Error]
            sample[name] = float(int(text, 16)) if name in _REASONS else float(text)
    return {name: value for name, value in sample.items() if math.isfinite(value)}


def _is_busy(sample: dict[str, float]) -> bool:
    """Tell whether something ran on the GPU in the time before a sample, as far as it tells."""
    if "utilization.gpu" in sample:
        return sample["utilization.gpu"] > 0
    return not int(sample.get(_REASONS[0], 0)) & _IDLE


def _count_reasons(samples: Sequence[int]) -> dict[str, int]:
    """Return by reason in how many samples it was seen; a bit without a name is its own."""
    every = 0
    for bits in samples:
        every |= bits & ~_IDLE
    bits_seen = [1 << place for place in range(every.bit_length()) if every & 1 << place]
    return {
        _NAMES.get(bit, f"{bit:#x}"): sum(bool(bits & bit) for bits in samples) for bit in bits_seen
    }

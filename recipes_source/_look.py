"""The first look: how long an iteration takes, and how busy the GPU is meanwhile."""

import time

import torch
from torch.profiler import ProfilerActivity, profile


def look(iteration, calls=100):
    """Print the wall time of an iteration, and the share of it in which the GPU is busy.

    Below 80 %, the GPU waits; from 95 % up, it is busy. The iteration is called
    ``2 * calls + 1`` times.
    """
    gpu = torch.cuda.is_available()
    for _ in range(2):  # the first round warms up, and drains prefetched batches
        if gpu:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            iteration()
        if gpu:
            torch.cuda.synchronize()
        wall = (time.perf_counter() - start) / calls
    print(f"{1e3 * wall:.2f} ms per iteration", end=", " if gpu else "\n")
    if gpu:
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
            iteration()
            torch.cuda.synchronize()
        microseconds = 0.0
        for event in report.events():
            if event.device_type.name == "CUDA" and not event.is_user_annotation:
                microseconds += event.time_range.elapsed_us()
        print(f"GPU busy {min(100, 1e-4 * microseconds / wall):.0f} %")

"""The harness of all recipes: it times arms, which are ways to do the same work."""

import gc
import os
import sys
import timeit

import pandas as pd
import torch
from torch._dynamo.utils import counters
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.utils import fresh_cache
from torch.profiler import ProfilerActivity, profile
from torch.utils import benchmark

IPYTHON = sys.modules.get("IPython")  # loaded in a notebook
show = IPYTHON.display.display if IPYTHON else print
UNITS = {"kernels": "", "speedup": "x", "share": "share", "break_even": "calls"}
pd.set_option("display.max_columns", None, "display.width", 120)
pd.options.display.float_format = lambda x: f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


class Bench:
    """A stopwatch for arms; ``device`` and ``dtype`` are what this machine can use."""

    def __init__(self):
        """Choose a device and a number type, and say which and why."""
        found = torch.cuda.is_available()
        capability = torch.cuda.get_device_capability() if found else (0, 0)
        self.device = torch.device("cuda" if capability >= (7, 0) else "cpu")
        self.dtype = torch.bfloat16 if capability >= (8, 0) else torch.float32
        print(f"PyTorch {torch.__version__}: {self.dtype} on {self.device.type}.")
        print(f"GPU of capability {capability}; Triton needs (7, 0), bfloat16 (8, 0).")
        x, sine = torch.ones(64, device=self.device), torch.compile(torch.sin)
        with fresh_cache():  # the compiler starts, and no arm pays for it
            self.start_up = self.time(lambda: (sine(x), AsyncCompile.wait_pool_ready()))

    def time(self, fn, calls=1):
        """Return seconds per call, the device's work included, garbage collection off."""
        return timeit.Timer(fn, timer=benchmark.timer).timeit(calls) / calls

    def warm_up(self, fn, seconds=0.05):
        """Call for a second and until five batches agree; return the calls of a batch."""
        calls, recent, began = 1, [], benchmark.timer()
        while True:
            recent = [*recent[-4:], self.time(fn, calls)]
            calls = 1 + int(seconds / recent[-1])
            steady = len(recent) == 5 and max(recent) < 1.01 * min(recent)
            if benchmark.timer() - began > (1 if steady else 2):
                return calls

    def profile(self, fn, calls=10):
        """Return a call's seconds in kernels, their number, and the CPU's seconds."""
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
            self.time(fn, calls)
        events = [e for e in report.events() if e.device_type.name == "CUDA"]
        us = [e.time_range.elapsed_us() for e in events if not e.is_user_annotation]
        queued = timeit.repeat(fn, torch.cuda.synchronize, repeat=5, number=calls)
        return 1e-6 * sum(us) / calls, len(us) / calls, sorted(queued)[2] / calls

    def compare(self, case, arms, size=None, limit=None, rehearse=gc.collect):
        """Time arms in turn, the first as baseline; show, publish and return figures."""
        counts, first, compiled = counters["stats"], {}, {}
        fresh_cache()(rehearse)()  # what is loaded at first use counts for no arm
        torch.compiler.reset()
        for arm, fn in arms.items():
            graphs = counts["unique_graphs"]
            first[arm] = [fresh_cache()(self.time)(fn), self.time(fn), self.time(fn)]
            compiled[arm] = counts["unique_graphs"] > graphs
        gc.freeze()
        calls = {arm: self.warm_up(fn) for arm, fn in arms.items()}
        turn = int(os.environ.get("RECIPE_REPLICATE", "0")) % len(arms)
        order = [*arms][turn:] + [*arms][:turn]  # another one in each process
        rounds = range(40 if self.device.type == "cuda" else 10)
        walls = [{a: self.time(arms[a], calls[a]) for a in order} for _ in rounds]
        gc.unfreeze()
        walls, first = pd.DataFrame(walls)[[*arms]], pd.DataFrame(first)
        table = pd.DataFrame({"wall": walls.median(), "first_call": first.iloc[0]})
        if self.device.type == "cuda":
            table[["gpu", "kernels", "cpu"]] = [*map(self.profile, arms.values())]
        busy = table.get("gpu", table.wall)
        table["speedup"] = walls.rdiv(walls.iloc[:, 0], axis=0).median().iloc[1:]
        table["share"] = limit / busy if limit else float("nan")
        cost = first.sum() - 3 * table.wall + self.start_up * pd.Series(compiled)
        pays = (cost - cost.iloc[0]).clip(0) / (table.wall.iloc[0] - table.wall)
        table["break_even"] = pays.where(pd.Series(compiled) & (table.speedup > 1.01))
        for arm, figures in table.iterrows():
            waits = ", GPU waits" if figures.wall > 1.2 * busy[arm] else ""
            for q, value in figures.dropna().items():
                row = dict(case=case, size=size, arm=arm, quantity=q, value=value)
                row["unit"], row["class"] = UNITS.get(q, "s"), q + waits
                self.publish(rows=[row])
        table = table.dropna(axis=1, how="all")
        times = [name for name in table if name not in UNITS]
        shown = (1e3 * table[times]).add_suffix(" (ms)").join(table.drop(columns=times))
        show(shown.astype(object).fillna(""))
        return table

    def draw(self, table):
        """Draw the wall time and the GPU time of a call."""
        return (1e3 * table.filter(["wall", "gpu"])[::-1]).plot.barh(xlabel="ms")

    def publish(self, **figures):
        """Hand figures to the site of this recipe; a notebook shows nothing of them."""
        if IPYTHON and IPYTHON.get_ipython():
            show({"application/vnd.recipe-gallery.rows+json": figures}, raw=True)

    def claim(self, key, holds, evidence):
        """Say whether a sentence holds in this process, and by which figures."""
        self.publish(claims=[dict(claim=key, holds=bool(holds), evidence=evidence)])

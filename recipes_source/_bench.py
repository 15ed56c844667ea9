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
WALLS = ("wall", "speedup", "break_even")  # of CPU and GPU
pd.set_option("display.max_columns", None, "display.width", 120)
pd.options.display.float_format = lambda x: f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


class Bench:
    """A stopwatch for arms; ``device`` and ``dtype`` are what this machine can use."""

    def __init__(self):
        found = torch.cuda.is_available() and torch.utils._triton.has_triton_package()
        capability = torch.cuda.get_device_capability() if found else (0, 0)
        self.device = torch.device("cuda" if capability >= (7, 0) else "cpu")
        self.dtype = torch.bfloat16 if capability >= (8, 0) else torch.float32
        print(f"PyTorch {torch.__version__}: {self.dtype} on {self.device.type}.")
        print(f"GPU capability {capability}; Triton needs (7, 0), bfloat16 (8, 0).")
        x, sine = torch.ones(64, device=self.device), torch.compile(torch.sin)
        with fresh_cache():  # the compiler starts, and no arm pays for it
            self.start_up = self.time(lambda: (sine(x), AsyncCompile.wait_pool_ready()))

    def time(self, fn, calls=1):
        """Return seconds per call, the device's work included, garbage collection off."""
        return timeit.Timer(fn, timer=benchmark.timer).timeit(calls) / calls

    def warm_up(self, fn, least=1.0, seconds=0.05):
        """Call until five batches agree, a second more at most; return a batch's calls."""
        calls, recent, end = 1, 5 * [0.0], benchmark.timer() + least
        while benchmark.timer() < end + (max(recent) > 1.01 * min(recent)):
            recent = [*recent[1:], self.time(fn, calls)]
            calls = 1 + int(seconds / recent[-1])
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
        calls = {arm: self.warm_up(fn, 1 / len(arms)) for arm, fn in arms.items()}
        process = int(os.environ.get("RECIPE_REPLICATE", "0"))  # 0 makes the page
        order = [*arms, *arms][process % len(arms) :][: len(arms)]
        rounds = range((20 if process else 40) if self.device.type == "cuda" else 10)
        walls = [{a: self.time(arms[a], calls[a]) for a in order} for _ in rounds]
        gc.unfreeze()
        walls, compiled = pd.DataFrame(walls)[[*arms]], pd.Series(compiled)
        first, table = pd.DataFrame(first), pd.DataFrame({"wall": walls.median()})
        table["first_call"] = first.iloc[0].where(compiled)
        if self.device.type == "cuda":
            table[["gpu", "kernels", "cpu"]] = [*map(self.profile, arms.values())]
        busy = table.get("gpu", table.wall)
        table["speedup"] = walls.rdiv(walls.iloc[:, 0], axis=0).median().iloc[1:]
        table["share"] = limit / busy if limit else float("nan")
        cost = first.sum() - 3 * table.wall + self.start_up * compiled
        saved = table.wall.iloc[0] * (1 - 1 / table.speedup)
        pays = (cost - cost.iloc[0]).clip(0) / saved
        table["break_even"] = pays.where(compiled & (table.speedup > 1.01))
        for arm, figures in table.iterrows():
            waits = ", GPU waits" if figures.wall > 1.2 * busy[arm] else ""
            for q, value in figures.dropna().items():
                self.figure(case, arm, q, value, size, q + waits * (q in WALLS))
        table = table.dropna(axis=1, how="all")
        times = [name for name in table if name not in UNITS]
        shown = (1e3 * table[times]).add_suffix(" (ms)").join(table.drop(columns=times))
        show(shown.astype(object).fillna(""))
        return table

    def publish(self, **figures):
        """Hand figures to the site of this recipe; a notebook shows nothing of them."""
        if IPYTHON and IPYTHON.get_ipython():
            show({"application/vnd.recipe-gallery.rows+json": figures}, raw=True)

    def figure(self, case, arm, quantity, value, size=None, kind=None, unit="s"):
        """Publish a figure; those of one kind share their spread."""
        row = dict(case=case, size=size, arm=arm, quantity=quantity, value=float(value))
        row |= {"unit": UNITS.get(quantity, unit), "class": kind or quantity}
        self.publish(rows=[row])

    def claim(self, key, holds, evidence):
        """Say whether a sentence holds in this process, and by which figures."""
        self.publish(claims=[dict(claim=key, holds=bool(holds), evidence=evidence)])

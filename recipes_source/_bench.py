"""The harness of all recipes: it times arms, which are ways to do the same work."""

import gc
import os
import sys
import timeit

import pandas as pd
import torch
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.utils import fresh_cache
from torch.profiler import ProfilerActivity, profile
from torch.utils import benchmark

IPYTHON = sys.modules.get("IPython")  # loaded in a notebook
show = IPYTHON.display.display if IPYTHON else lambda table: print(table.to_string())
UNITS = {"kernels": "", "speedup": "x", "share": "share", "break_even": "calls"}
WALLS = ("wall", "speedup", "break_even")  # of CPU and GPU
pd.options.display.float_format = lambda x: f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


class Bench:
    """A stopwatch for arms; ``device`` and ``dtype`` are what this machine can use."""

    def __init__(self):
        found = torch.cuda.is_available() and torch.utils._triton.has_triton_package()
        capability = torch.cuda.get_device_capability() if found else (0, 0)
        self.gpu = capability >= (7, 0)
        self.device = torch.device("cuda" if self.gpu else "cpu")
        self.dtype = torch.bfloat16 if capability >= (8, 0) else torch.float32
        print(f"PyTorch {torch.__version__}: {self.dtype} on {self.device.type}.")
        print(f"GPU capability {capability}; Triton needs (7, 0), bfloat16 (8, 0).")
        x, sine = torch.ones(64, device=self.device), torch.compile(torch.sin)
        with fresh_cache():  # the compiler starts, and no arm pays for it
            self.start_up = self.time(lambda: (sine(x), AsyncCompile.wait_pool_ready()))
        self.figure("process", "compiler", "start_up", self.start_up)

    def time(self, fn, calls=1):
        """Return seconds per call, the device's work included, garbage collection off."""
        return timeit.Timer(fn, timer=benchmark.timer).timeit(calls) / calls

    def warm_up(self, fn, least=1.0, seconds=0.05):
        """Call until five batches agree, 5 * ``least`` seconds at most; return their calls."""
        assert least > 0, "there are no seconds to warm up in"
        calls, recent, end = 1, 5 * [0.0], benchmark.timer() + least
        while benchmark.timer() < end + 4 * least * (max(recent) > 1.01 * min(recent)):
            recent = [*recent[1:], self.time(fn, calls)]
            calls = 1 + int(seconds / recent[-1])
        return calls

    def profile(self, fn, calls=10):
        """Return a call's seconds in kernels, and their number."""
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
            self.time(fn, calls)
        events = [e for e in report.events() if e.device_type.name == "CUDA"]
        us = [e.time_range.elapsed_us() for e in events if not e.is_user_annotation]
        return 1e-6 * sum(us) / calls, len(us) / calls

    def compare(self, case, arms, size=None, limit=None, rehearse=None, rounds=40):
        """Time arms in turn, the first as baseline; show, publish and return figures."""
        counts, first, compiled = torch._dynamo.utils.counters["stats"], {}, {}
        fresh_cache()(rehearse or gc.collect)(), torch.compiler.reset()  # untimed
        for arm, fn in arms.items():
            graphs = counts["unique_graphs"]
            first[arm] = [fresh_cache()(self.time)(fn), self.time(fn), self.time(fn)]
            compiled[arm] = counts["unique_graphs"] > graphs
        gc.freeze()
        calls = {a: self.warm_up(fn, rounds / 40 / len(arms)) for a, fn in arms.items()}
        process = int(os.environ.get("RECIPE_REPLICATE", "0"))  # 0 makes the page
        order = [*arms, *arms][process % len(arms) :][: len(arms)]
        turns = range(-(-rounds // (4 if not self.gpu else 2 if process else 1)))
        walls = [{a: self.time(arms[a], calls[a]) for a in order} for _ in turns]
        gc.unfreeze()
        walls, compiled = pd.DataFrame(walls)[[*arms]], pd.Series(compiled)
        first, wall = pd.DataFrame(first), walls.median()
        table = pd.DataFrame(dict(wall=wall, first_call=first.iloc[0].where(compiled)))
        if self.gpu and rounds > 3:  # fewer are for arms that take long
            runs = [timeit.repeat(f, benchmark.timer, number=10) for f in arms.values()]
            table["cpu"] = pd.DataFrame(runs, [*arms]).median(axis=1) / 10
            table[["gpu", "kernels"]] = [*map(self.profile, arms.values())]
        busy = table.get("gpu", wall)
        table["speedup"] = walls.rdiv(walls.iloc[:, 0], axis=0).median().iloc[1:]
        table["share"] = limit / busy if limit else float("nan")
        cost = first.sum() - 3 * wall + self.start_up * compiled
        pays = (cost - cost.iloc[0]).clip(0) / wall.iloc[0] / (1 - 1 / table.speedup)
        table["break_even"] = pays.where(compiled & (table.speedup > 1.01))
        for arm, figures in table.iterrows():
            waits = ", GPU waits" if figures.wall > 1.2 * busy[arm] else ""
            for q, value in figures.dropna().items():
                self.figure(case, arm, q, value, size, q + waits * (q in WALLS))
        table = table.dropna(axis=1, how="all")
        times = [name for name in table if name not in UNITS]
        rows = (1e3 * table[times]).add_suffix(" (ms)").join(table.drop(columns=times))
        show(rows.astype(object).fillna("").rename_axis(columns=f"{case} {size or ''}"))
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

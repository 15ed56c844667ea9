"""The harness of all recipes: it times arms, which are ways to do the same work."""

import gc
import os
import sys
import timeit
from functools import cached_property

import pandas as pd
import torch
from matplotlib import pyplot as plt
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
        gpu = torch.cuda.get_device_properties() if torch.cuda.is_available() else None
        capability = (gpu.major, gpu.minor) if gpu else (0, 0)
        self.device = torch.device("cuda" if capability >= (7, 0) else "cpu")
        self.dtype = torch.bfloat16 if capability >= (8, 0) else torch.float32
        name = f"{gpu.name}, capability {capability}" if gpu else "no CUDA GPU"
        print(
            f"PyTorch {torch.__version__}; {name}: {self.dtype} on {self.device.type}."
        )
        print("Triton needs capability 7.0, and bfloat16 needs 8.0.")

    @cached_property
    def start_up(self):
        """Seconds until the compiler has started; something trivial is compiled for it."""
        x, trivial = torch.ones(64, device=self.device), torch.compile(torch.sin)
        with fresh_cache():
            return self.time(lambda: (trivial(x), AsyncCompile.wait_pool_ready()))

    def time(self, fn, calls=1):
        """Return seconds per call, the device's work included, garbage collection off."""
        return timeit.Timer(fn, timer=benchmark.timer).timeit(calls) / calls

    def warm_up(self, fn, seconds=0.05):
        """Call for a second and until five batches agree; return the calls of a batch."""
        calls, recent, began = 1, [], benchmark.timer()
        while True:
            recent = [*recent[-4:], self.time(fn, calls)]
            calls = 1 + int(seconds / recent[-1])
            lasted, steady = benchmark.timer() - began, max(recent) < 1.01 * min(recent)
            if lasted > 4 or (lasted > 1 and len(recent) == 5 and steady):
                return calls

    def profile(self, fn, calls=10):
        """Return a call's seconds in kernels, their number, and the CPU's seconds."""
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
            self.time(fn, calls)
        events = [e for e in report.events() if e.device_type.name == "CUDA"]
        kernels = [
            e.time_range.elapsed_us() for e in events if not e.is_user_annotation
        ]
        launches = timeit.repeat(fn, torch.cuda.synchronize, repeat=21, number=1)
        return 1e-6 * sum(kernels) / calls, len(kernels) / calls, sorted(launches)[10]

    def compare(self, case, arms, size=None, limit=None, rehearse=gc.collect):
        """Time arms in turn, the first as baseline; show, publish and return figures."""
        start_up, counts, first, compiled = self.start_up, counters["stats"], {}, {}
        with fresh_cache():
            rehearse()  # what is loaded at first use counts for no arm
        torch.compiler.reset()
        for arm, fn in arms.items():
            graphs = counts["unique_graphs"]
            with fresh_cache():  # CUDA graphs are recorded in the second call
                first[arm] = [self.time(fn) for _ in range(3)]
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
        cost = first.sum() - 3 * table.wall + start_up * pd.Series(compiled)
        pays = (cost - cost.iloc[0]).clip(0) / (table.wall.iloc[0] - table.wall)
        table["break_even"] = pays.where(pd.Series(compiled) & (table.speedup > 1.01))
        for arm, figures in table.iterrows():
            waits = ", GPU waits" if figures.wall > 1.2 * busy[arm] else ""
            for name, value in figures.dropna().items():
                row = dict(case=case, size=size, arm=arm, quantity=name, value=value)
                row |= {"unit": UNITS.get(name, "s"), "class": name + waits}
                self.publish(rows=[row])
        table = table.dropna(axis=1, how="all")
        times = [name for name in table if name not in UNITS]
        show((1e3 * table[times]).add_suffix(" (ms)").join(table.drop(columns=times)))
        return table

    def draw(self, table):
        """Draw the wall time and the GPU time of a call."""
        times = 1e3 * table.filter(["wall", "gpu"]).iloc[::-1]
        times.plot.barh(figsize=(7, 3), xlabel="ms per call")
        plt.show()

    def publish(self, **figures):
        """Hand figures to the site of this recipe; a notebook shows nothing of them."""
        if IPYTHON and IPYTHON.get_ipython():
            show({"application/vnd.recipe-gallery.rows+json": figures}, raw=True)

    def claim(self, key, holds, evidence):
        """Say whether a sentence holds in this process, and by which figures."""
        self.publish(claims=[dict(claim=key, holds=bool(holds), evidence=evidence)])

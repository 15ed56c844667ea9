"""The harness of all recipes: it times variants, which are ways to do the same work."""

import gc
import os
import sys
from time import perf_counter

import pandas as pd
import torch
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.utils import fresh_cache
from torch.profiler import ProfilerActivity, profile
from torch.utils._pytree import tree_map_only

IPYTHON = sys.modules.get("IPython")  # it is loaded in a notebook, and not in a script
# The number of this process; 0 is the run that makes the page.
REPLICATE = int(os.environ.get("RECIPE_REPLICATE", "0"))
ROWS = "application/vnd.recipe-gallery.rows+json"
# The quantities of a comparison, in the order of the columns of its table, and their units.
QUANTITIES = {"wall": "s", "gpu": "s", "cpu": "s", "kernels": "", "first_call": "s"}
QUANTITIES |= {"speedup": "x", "share": "share", "break_even": "calls", "memory": "B"}
FULL_QUEUE = 500  # launches; a CPU with more of them outstanding waits for the GPU
PROFILES = 3  # of each variant; the median of them counts


class Bench:
    """A stopwatch for variants; ``device`` and ``dtype`` are what this machine can use."""

    def __init__(self):
        found = torch.cuda.is_available() and torch.utils._triton.has_triton_package()
        capability = torch.cuda.get_device_capability() if found else (0, 0)
        self.gpu = capability >= (7, 0)
        self.device = torch.device("cuda" if self.gpu else "cpu")
        self.dtype = torch.bfloat16 if capability >= (8, 0) else torch.float32
        print(f"PyTorch {torch.__version__}: {self.dtype} on {self.device.type}.")
        print(f"GPU capability {capability}; Triton needs (7, 0), bfloat16 (8, 0).")
        self.batch_seconds = 0.05  # how long the calls of one sample take
        self.warm_up_seconds = (1, 2) if self.gpu else (0.2, 0.5)  # least and most
        self.rounds = 10 if REPLICATE or not self.gpu else 20
        self.measure_start_up()
        self.measure_bandwidth()
        self.measure_launch_cost()

    def measure_start_up(self):
        """Start the compiler, so that no variant pays for its start."""
        ones = torch.ones(64, device=self.device)
        sine = torch.compile(torch.sin)

        def start():
            sine(ones)
            AsyncCompile.wait_pool_ready()

        with fresh_cache():
            self.start_up = self.time(start)
        self.measure("process", "compiler", "start_up", self.start_up)

    def measure_bandwidth(self):
        """Copy a large tensor, and count each byte for the read and for the write."""
        source = torch.zeros(2**27 if self.gpu else 2**22, device=self.device)
        target = torch.empty_like(source)

        def copy():
            target.copy_(source)

        calls = self.warm_up({"copy": copy})["copy"]
        seconds = self.profile(copy, calls)[0] if self.gpu else self.time(copy, calls)
        self.bandwidth = 2 * source.nbytes / seconds
        self.measure("process", "copy", "bandwidth", self.bandwidth, unit="B/s")
        print(f"copying: {self.bandwidth / 1e9:,.0f} GB/s")

    def measure_launch_cost(self):
        """Time the CPU alone for an eager operation on a small tensor."""
        ones = torch.ones(64, device=self.device)
        samples = []
        for _ in range(21):
            samples.append(self.time(lambda: ones + 1, FULL_QUEUE // 2, wait=False))
        self.launch_cost = pd.Series(samples).median()
        self.measure("process", "eager operation", "launch_cost", self.launch_cost)
        print(f"an eager operation takes the CPU {1e6 * self.launch_cost:.1f} µs")

    def synchronize(self):
        """Wait until the GPU has done all its work."""
        if self.gpu:
            torch.cuda.synchronize()

    def time(self, function, calls=1, wait=True):
        """Return seconds per call until the GPU is done, or else until all is launched."""
        self.synchronize()
        start = perf_counter()
        for _ in range(calls):
            function()
        if wait:
            self.synchronize()
        return (perf_counter() - start) / calls

    def profile(self, function, calls):
        """Return a call's seconds in kernels and copies of the GPU, and their number."""
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
            self.time(function, calls)
        events = [e for e in report.events() if e.device_type.name == "CUDA"]
        kernels = [e for e in events if not e.is_user_annotation]
        microseconds = sum(e.time_range.elapsed_us() for e in kernels)
        return 1e-6 * microseconds / calls, len(kernels) / calls

    def warm_up(self, functions):
        """Call all in turn until five batches differ by less than 1 %; return calls a batch."""
        least, most = self.warm_up_seconds
        calls = dict.fromkeys(functions, 1)
        batches = {name: [] for name in functions}
        start = perf_counter()
        while True:
            for name, function in functions.items():
                seconds = self.time(function, calls[name])
                batches[name].append(seconds)
                calls[name] = max(1, round(self.batch_seconds / seconds))
            recent = [seconds[-5:] for seconds in batches.values()]
            steady = all(len(r) == 5 and max(r) < 1.01 * min(r) for r in recent)
            passed = perf_counter() - start
            if (passed >= least and steady) or passed >= most:
                return calls

    def call_first(self, case, variants, tolerance):
        """Call each variant three times, the first time with an empty cache, and compare
        their third results; return seconds, whether it compiled, and memory."""
        counts = torch._dynamo.utils.counters["stats"]
        seconds, compiled, memory, third = {}, {}, {}, {}
        for name, function in variants.items():

            def call(name=name, function=function):
                third[name] = function()

            graphs = counts["unique_graphs"]
            if self.gpu:
                before = torch.cuda.memory_allocated()
                torch.cuda.reset_peak_memory_stats()
            with fresh_cache():
                seconds[name] = [self.time(call) for _ in range(3)]
            if self.gpu:
                memory[name] = torch.cuda.max_memory_allocated() - before
            compiled[name] = counts["unique_graphs"] > graphs
            if tolerance is not None and len(third) == 1:
                first = name
                expected = tree_map_only(torch.Tensor, copy_of, third[name])
            elif tolerance is not None:
                torch.testing.assert_close(
                    third[name],
                    expected,
                    rtol=tolerance,
                    atol=tolerance,
                    check_dtype=False,
                    msg=f"{case}: {name} and {first} disagree: {{}}".format,
                )
            third[name] = None  # frees its memory for the next variant
        return seconds, compiled, memory

    def take_rounds(self, variants, rounds):
        """Time the variants in turn; return wall times, one row a round, and medians of
        CPU time, GPU time and kernels."""
        calls = self.warm_up(variants)
        walls, profiled = [], []
        with_profile = {rounds * number // PROFILES for number in range(PROFILES)}
        kernels = {}
        if self.gpu:
            kernels = {n: self.profile(f, 1)[1] for n, f in variants.items()}
        for number in range(rounds):
            times = {}
            for name, function in variants.items():
                times[name] = self.time(function, calls[name])
                if self.gpu and number in with_profile:
                    few = int(FULL_QUEUE / max(kernels[name], 1))
                    few = max(1, min(few, calls[name]))
                    cpu = self.time(function, few, wait=False)
                    gpu, launched = self.profile(function, min(calls[name], 100))
                    profiled.append((name, cpu, gpu, launched))
            walls.append(times)
        table = pd.DataFrame(profiled, columns=["variant", "cpu", "gpu", "kernels"])
        return pd.DataFrame(walls), table.groupby("variant").median()

    def compare_one(self, case, variants, limit, tolerance, rounds):
        """Compare variants of one size with the first of them; return a row for each."""
        names = [*variants]
        turn = REPLICATE % len(names)  # each replicate begins with another one
        in_turn = {name: variants[name] for name in names[turn:] + names[:turn]}
        torch.compiler.reset()
        gc.collect()  # what other experiments have left is no memory of these variants
        first, compiled, memory = self.call_first(case, in_turn, tolerance)
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            walls, profiled = self.take_rounds(in_turn, rounds)
        finally:
            gc.enable()
            gc.unfreeze()
        wall, baseline = walls.median(), names[0]
        # What it costs to get there, beside calls that take as long as later ones.
        cost = {
            n: sum(first[n]) - 3 * wall[n] + self.start_up * compiled[n] for n in names
        }
        rows = {}
        for name in names:
            row = {"wall": wall[name]}
            if self.gpu:
                row |= profiled.loc[name].to_dict() | {"memory": memory[name]}
            if compiled[name]:
                row["first_call"] = first[name][0]
            if limit:
                row["share"] = limit / row.get("gpu", row["wall"])
            if name != baseline:
                row["speedup"] = (walls[baseline] / walls[name]).median()
            if compiled[name] and row.get("speedup", 0) > 1.01:
                saved = wall[baseline] * (1 - 1 / row["speedup"])
                row["break_even"] = max(0, cost[name] - cost[baseline]) / saved
            rows[name] = row
        return rows

    def compare(
        self,
        case,
        variants,
        sizes=None,
        limit=None,
        tolerance=None,
        rehearse=True,
        rounds=None,
    ):
        """Time variants, show, publish and return their table. ``variants`` is a dictionary,
        or a function of the size that returns one; ``sizes`` is what a size counts, and the
        sizes; ``limit`` is the seconds that the work takes at best, or a function of the
        size; ``tolerance`` is how far results may differ; ``rehearse`` tells whether all
        variants run once before, with the smallest size; ``rounds`` is how often they take
        turns."""
        counted, values = sizes or (None, [None])
        make = variants if callable(variants) else lambda _size: variants
        best = limit if callable(limit) else lambda _size: limit
        if rehearse:
            with fresh_cache():
                for function in make(min(values) if sizes else None).values():
                    function()
        table, rows = {}, []
        for size in values:
            found = self.compare_one(
                case, make(size), best(size), tolerance, rounds or self.rounds
            )
            for variant, row in found.items():
                table[(size, variant) if sizes else variant] = row
                for quantity, value in row.items():
                    rows.append(make_row(case, variant, quantity, value, size, counted))
        self.publish(rows)
        table = pd.DataFrame.from_dict(table, orient="index")
        table = table[[quantity for quantity in QUANTITIES if quantity in table]]
        self.show(case, table)
        return table

    def show(self, case, table):
        """Show a table, with times in milliseconds and memory in megabytes."""
        table = table.rename_axis(columns=case)
        for quantity in table:
            unit = QUANTITIES[quantity]
            if unit in ("s", "B"):
                factor, name = (1e3, "ms") if unit == "s" else (1e-6, "MB")
                table = table.assign(**{quantity: factor * table[quantity]})
                table = table.rename(columns={quantity: f"{quantity} ({name})"})
        text = table.map(
            lambda x: "" if pd.isna(x) else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"
        )
        if IPYTHON:
            IPYTHON.display.display(text)
        else:
            print(text.to_string())

    def measure(self, case, variant, quantity, value, size=None, unit=None):
        """Publish a single value that the recipe has measured itself."""
        self.publish([make_row(case, variant, quantity, value, size, unit=unit)])

    def publish(self, rows):
        """Hand rows to the site of this recipe; a notebook shows nothing of them."""
        if IPYTHON and IPYTHON.get_ipython():
            IPYTHON.display.display({ROWS: {"rows": rows}}, raw=True)


def copy_of(tensor):
    """Return a copy that later calls do not change."""
    return tensor.detach().clone()


def make_row(case, variant, quantity, value, size, sizes=None, unit=None):
    """Return a measurement as the site reads it; ``sizes`` says what the size counts."""
    unit = QUANTITIES.get(quantity, "s") if unit is None else unit
    row = dict(case=case, variant=variant, size=size, quantity=quantity)
    row |= dict(value=float(value), unit=unit)
    return row | dict(sizes=sizes) if sizes else row

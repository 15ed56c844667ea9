"""The harness of all recipes: it times variants, which are ways to do the same work.

Its code is part of every recipe: if you change it, record all recipes again.
"""

import gc
import importlib.util
import os
import sys
from dataclasses import dataclass
from time import perf_counter

import pandas as pd
import torch
from torch.profiler import ProfilerActivity, profile

IPYTHON = sys.modules.get("IPython")  # loaded in a notebook but not in a script
# The number of this process; 0 is the run that makes the page.
REPLICATE = int(os.environ.get("RECIPE_REPLICATE", "0"))
ROWS = "application/vnd.recorded-gallery.rows+json"
SPANS = "application/vnd.recorded-gallery.spans+json"
# The quantities of a comparison, in the order of the columns of its table, and their units.
QUANTITIES = {
    "wall": "s",
    "gpu": "s",
    "cpu": "s",
    "kernels": "",
    "first_call": "s",
    "speedup": "x",
    "share": "share",
    "break_even": "calls",
    "memory": "B",
    "kept": "B",
}
FULL_QUEUE = 500  # launches; a CPU with more of them outstanding waits for the GPU
PROFILES = 3  # of each variant; the median of them counts
MOST_PROFILED = 20  # calls in a profile: reading thousands of kernels takes long
# What the CPU calls to give the GPU work, as the profiler names it.
LAUNCHES = ("cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset")


@dataclass(kw_only=True)
class FirstCalls:
    """What it takes to get a variant ready."""

    seconds: list  # of the first three calls
    compiled: bool  # whether they compiled anything
    memory: int = 0  # peak bytes of later calls, above those before the variant
    kept: int = 0  # bytes that stay reserved for the variant between its calls


class Bench:
    """A stopwatch for variants; ``device`` and ``dtype`` are what this machine supports."""

    def __init__(self):
        has_triton = importlib.util.find_spec("triton") is not None
        usable = torch.cuda.is_available() and has_triton
        capability = torch.cuda.get_device_capability() if usable else (0, 0)
        self.gpu = capability >= (7, 0)
        self.device = torch.device("cuda" if self.gpu else "cpu")
        self.dtype = torch.bfloat16 if capability >= (8, 0) else torch.float32
        print(f"PyTorch {torch.__version__}: {self.dtype} on {self.device.type}.")
        print(f"GPU capability {capability}; Triton needs (7, 0), bfloat16 (8, 0).")
        self.batch_seconds = 0.05  # how long the calls of one sample take
        self.warm_up_seconds = (1, 2) if self.gpu else (0.2, 0.5)  # least and most
        self.rounds = 10
        self.measure_start_up()
        self.measure_bandwidth()
        self.measure_launch_cost()
        if self.gpu:
            self.side_stream = torch.cuda.Stream()  # for calls before a capture
            self.workspaces = []  # graphs that hold the cuBLAS workspace
            self.load_cublas()

    def measure_start_up(self):
        """Time what a program waits for when its first function is compiled.

        Most of it is importing the compiler, so nothing may have imported it before. The
        compiler also starts processes that compile kernels. A program does not wait for
        them, because until they are ready it compiles in its own process.
        """
        ones = torch.ones(64, device=self.device)

        def compile_first():
            with empty_compiler_cache():
                torch.compile(torch.sin)(ones)

        self.start_up = self.time(compile_first)
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

    def load_cublas(self):
        """Multiply on each stream that recipes use, so that no variant pays for cuBLAS.

        Up to PyTorch 2.14, cuBLAS gets a workspace of about 34 MB for each stream, and
        keeps it until ``reduce-overhead`` captures, which frees all workspaces. The first
        variant on a stream would seem to need these bytes. For the stream on which graphs
        are captured, a graph that is never replayed holds the workspace: while it lives,
        the memory stays where graphs of variants expect it, even when it has been freed.
        """
        for stream in (torch.cuda.current_stream(), self.side_stream):
            with torch.cuda.stream(stream):
                multiply(self.device, self.dtype)
        torch.cuda.synchronize()
        if torch.__version__ < "2.15":
            pool = self.workspaces[0].pool() if self.workspaces else None
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                multiply(self.device, self.dtype)
            self.workspaces.append(graph)

    def synchronize(self):
        """Wait until the GPU has done all its work."""
        if self.gpu:
            torch.cuda.synchronize()

    def time(self, function, calls=1, wait=True):
        """Return seconds per call until the GPU is done, or until everything is launched."""
        self.synchronize()
        start = perf_counter()
        for _ in range(calls):
            function()
        if wait:
            self.synchronize()
        return (perf_counter() - start) / calls

    def profile(self, function, calls):
        """Return a call's GPU time in seconds, and its number of kernels and copies."""
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as report:
            self.time(function, calls)
        kernels = [event for event in report.events() if is_kernel(event)]
        microseconds = sum(kernel.time_range.elapsed_us() for kernel in kernels)
        return 1e-6 * microseconds / calls, len(kernels) / calls

    def spans_of(self, function, calls=1):
        """Return when the CPU launches and the GPU computes during some calls.

        Returns for each lane, "CPU" and "GPU", a list of ``(start, end)`` in seconds. On a
        CPU, the only lane, "CPU", has the operations.
        """
        for _ in range(3):
            function()  # captures its graph, if any, before profiling starts
        activity = ProfilerActivity.CUDA if self.gpu else ProfilerActivity.CPU
        # The profiler delays the first graph launch by milliseconds, so two rounds of calls
        # come before the one that is drawn.
        rounds = torch.profiler.schedule(wait=0, warmup=2, active=1, repeat=1)
        with profile(activities=[activity], schedule=rounds, acc_events=True) as report:
            for _ in range(3):
                self.time(function, calls)
                report.step()
        events = report.events()
        if self.gpu:
            lanes = {
                "CPU": [event for event in events if event.name.startswith(LAUNCHES)],
                "GPU": [event for event in events if is_kernel(event)],
            }
        else:
            lanes = {"CPU": [event for event in events if is_operation(event)]}
        starts = [e.time_range.start for lane in lanes.values() for e in lane]
        beginning = min(starts, default=0)
        return {name: list_spans(lane, beginning) for name, lane in lanes.items()}

    def warm_up(self, functions):
        """Call all in turn until five batches agree within 1 %; return calls per batch."""
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

    def call_first(self, function):
        """Call a variant three times, the first time with an empty compiler cache.

        Returns what these calls took, and the third result.
        """
        graphs = count_compiled_graphs()
        seconds = []
        with empty_compiler_cache():
            for _ in range(3):
                result = None  # frees the previous result's memory
                self.synchronize()
                start = perf_counter()
                result = function()
                self.synchronize()
                seconds.append(perf_counter() - start)
        compiled = count_compiled_graphs() > graphs
        return FirstCalls(seconds=seconds, compiled=compiled), result

    def make_ready(self, case, variants, tolerance):
        """Make the first calls of each variant in turn and compare the results; return
        what it took to get each variant ready."""
        __tracebackhide__ = True  # an error names the line of the recipe
        first_calls, expected = {}, {}
        wait_for_workers()
        before = self.settle_memory()
        for name, function in variants.items():
            first_calls[name], result = self.call_first(function)
            if tolerance is not None and not expected:
                expected[name] = copy_tensors(result)
            elif tolerance is not None:
                require_agreement(case, name, result, expected, tolerance)
            result = None
            if self.gpu:
                first_calls[name].memory = self.measure_peak(function) - before[0]
                after = self.settle_memory()
                first_calls[name].kept = after[1] - before[1]
                before = after
        return first_calls

    def settle_memory(self):
        """Free unused memory; return the bytes that are allocated and reserved."""
        gc.collect()
        if not self.gpu:
            return 0, 0
        self.load_cublas()
        torch.cuda.empty_cache()
        return torch.cuda.memory_allocated(), torch.cuda.memory_reserved()

    def measure_peak(self, function):
        """Return the peak of allocated bytes during calls after the first ones.

        The first calls do not count. While the compiler times kernels, it has a buffer as
        large as the GPU's L2 cache: 62,914,560 bytes on an H200, more than many variants need.
        """
        self.load_cublas()  # the workspaces were allocated before the variant, too
        torch.cuda.reset_peak_memory_stats()
        self.time(function, 3)
        return torch.cuda.max_memory_allocated()

    def take_rounds(self, variants, rounds):
        """Time the variants in turn; return wall times, one row per round, and medians of
        CPU time, GPU time and kernels."""
        calls = self.warm_up(variants)
        walls, profiles = [], []
        with_profile = {rounds * number // PROFILES for number in range(PROFILES)}
        for number in range(rounds):
            times = {}
            for name, function in variants.items():
                times[name] = self.time(function, calls[name])
                if self.gpu and number in with_profile:
                    few = min(calls[name], MOST_PROFILED)
                    gpu, kernels = self.profile(function, few)
                    few = max(1, min(calls[name], int(FULL_QUEUE / max(kernels, 1))))
                    cpu = self.time(function, few, wait=False)
                    profiles.append((name, cpu, gpu, kernels))
            walls.append(times)
        table = pd.DataFrame(profiles, columns=["variant", "cpu", "gpu", "kernels"])
        return pd.DataFrame(walls), table.groupby("variant").median()

    def compare_one(self, case, variants, limit, tolerance, rounds):
        """Compare variants of one size with the first of them; return a row for each."""
        __tracebackhide__ = True  # an error names the line of the recipe
        names = [*variants]
        turn = REPLICATE % len(names)  # replicates begin with different variants
        in_turn = {name: variants[name] for name in names[turn:] + names[:turn]}
        torch.compiler.reset()
        first_calls = self.make_ready(case, in_turn, tolerance)
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            walls, profiles = self.take_rounds(in_turn, rounds)
        finally:
            gc.enable()
            gc.unfreeze()
        wall, baseline = walls.median(), names[0]
        costs = {}  # extra seconds of the first three calls, plus startup
        for name, first in first_calls.items():
            costs[name] = sum(first.seconds) - 3 * wall[name]
            if first.compiled:
                costs[name] += self.start_up
        rows = {}
        for name in names:
            first = first_calls[name]
            row = {"wall": wall[name]}
            if self.gpu:
                row |= profiles.loc[name].to_dict()
                # Freeing memory of other variants must not count as negative use.
                row["memory"] = max(0, first.memory)
                row["kept"] = max(0, first.kept)
            if first.compiled:
                row["first_call"] = first.seconds[0]
            if limit:
                row["share"] = limit / row.get("gpu", row["wall"])
            if name != baseline:
                row["speedup"] = (walls[baseline] / walls[name]).median()
            if first.compiled and row.get("speedup", 0) > 1.01:
                saved = wall[baseline] * (1 - 1 / row["speedup"])
                row["break_even"] = max(0, costs[name] - costs[baseline]) / saved
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
        """Time variants; show, publish and return their table. ``variants`` is a dictionary,
        or a function of the size that returns one; ``sizes`` is what a size counts, and the
        sizes; ``limit`` is the least time in seconds that the work can take, or a function
        of the size; ``tolerance`` is how far results may differ; ``rehearse`` says whether
        all variants first run once with the smallest size; ``rounds`` is how often they take
        turns."""
        __tracebackhide__ = True  # an error names the line of the recipe
        counted, values = sizes or (None, [None])
        make = variants if callable(variants) else lambda _size: variants
        best = limit if callable(limit) else lambda _size: limit
        if rehearse:
            with empty_compiler_cache():
                for function in make(min(values) if sizes else None).values():
                    function()
        table, rows = {}, []
        for size in values:
            compared = self.compare_one(
                case, make(size), best(size), tolerance, rounds or self.rounds
            )
            for variant, row in compared.items():
                table[(size, variant) if sizes else variant] = row
                for quantity, value in row.items():
                    rows.append(make_row(case, variant, quantity, value, size, counted))
        table = pd.DataFrame.from_dict(table, orient="index")
        table = table[[quantity for quantity in QUANTITIES if quantity in table]]
        shown = {"case": case, "quantities": [*table.columns]}
        self.publish(ROWS, {"rows": rows, "table": shown})
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
        row = make_row(case, variant, quantity, value, size, unit=unit)
        self.publish(ROWS, {"rows": [row]})

    def publish_spans(self, case, lanes, unit="s"):
        """Publish a timeline: for each lane, the spans in which it has work to do."""
        self.publish(SPANS, {"case": case, "unit": unit, "lanes": lanes})

    def publish(self, kind, data):
        """Hand data to this recipe's site; a notebook does not show the data."""
        if IPYTHON and IPYTHON.get_ipython():
            IPYTHON.display.display({kind: data}, raw=True)


def empty_compiler_cache():
    """Return a context with an empty compiler cache."""
    # Not public. Importing it imports the compiler, so it is not imported at the top.
    from torch._inductor.utils import fresh_cache

    return fresh_cache()


def wait_for_workers():
    """Wait until the processes that compile kernels are ready, which takes some seconds.

    No figure includes this wait. Without it, variants that run in a program's first seconds
    would compile more slowly than others.
    """
    from torch._inductor.async_compile import AsyncCompile  # it has no public name

    AsyncCompile.wait_pool_ready()


def count_compiled_graphs():
    """Return how many graphs the compiler has compiled in this process."""
    counts = torch._dynamo.utils.counters["stats"]  # they have no public name
    return counts["unique_graphs"]


def multiply(device, dtype):
    """Multiply small matrices, forward and backward, which run in separate threads."""
    with torch.enable_grad():
        ones = torch.ones(16, 16, device=device, dtype=dtype, requires_grad=True)
        product = torch.nn.functional.linear(ones, ones, ones[0])
        torch.autograd.grad((product @ ones).sum(), ones)


def is_kernel(event):
    """Return whether a profiler event is a GPU kernel or copy."""
    return event.device_type.name == "CUDA" and not event.is_user_annotation


def is_operation(event):
    """Return whether a profiler event is an operation that no other operation called."""
    is_step = event.name.startswith("ProfilerStep") or event.is_user_annotation
    outermost = event.cpu_parent is None or event.cpu_parent.is_user_annotation
    return outermost and not is_step


def list_spans(events, beginning):
    """Return start and end of events in seconds after ``beginning`` (in microseconds)."""
    times = [event.time_range for event in events]
    spans = [(1e-6 * (t.start - beginning), 1e-6 * (t.end - beginning)) for t in times]
    return sorted((round(start, 8), round(end, 8)) for start, end in spans)


def copy_tensors(result):
    """Return a result with copies of its tensors, which later calls do not change."""
    if isinstance(result, torch.Tensor):
        return result.detach().clone()
    if isinstance(result, dict):
        return {name: copy_tensors(part) for name, part in result.items()}
    if isinstance(result, (list, tuple)):
        return [copy_tensors(part) for part in result]
    return result


def require_agreement(case, name, result, expected, tolerance):
    """Raise ``AssertionError`` if a result is not what the first variant returned."""
    __tracebackhide__ = True  # the error names the line of the recipe
    [(first, first_result)] = expected.items()
    torch.testing.assert_close(
        result,
        first_result,
        rtol=tolerance,
        atol=tolerance,
        check_dtype=False,
        msg=f"{case}: {name} and {first} disagree: {{}}".format,
    )


def make_row(case, variant, quantity, value, size, sizes=None, unit=None):
    """Return a measurement in the site's format; ``sizes`` says what the size counts."""
    unit = QUANTITIES.get(quantity, "s") if unit is None else unit
    row = dict(case=case, variant=variant, size=size, quantity=quantity)
    row |= dict(value=float(value), unit=unit)
    return row | dict(sizes=sizes) if sizes else row

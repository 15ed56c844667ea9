"""How long recordings take with one worker and with several: ``python benchmarks/recording.py``.

On the CPU it records short recipes that wait, with 1 and 2 workers, and beside that runs each by
plain ``python``. ``--gpus RECIPE ...`` records replicates of this site's recipes on one GPU of this
host, then twice as many on two. ``--write`` puts the table into recording.md.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORT = Path(__file__).with_suffix(".md")
CONF = """
extensions = ["sphinx_recorded_gallery"]
html_baseurl = "https://example.org/site/"
sphinx_gallery_conf = {"examples_dirs": "recipes_source", "gallery_dirs": "recipes"}
"""
RECIPE = '"""\nTitle\n=====\n\nText.\n"""\n\nimport time\n\ntime.sleep({seconds})\n'
Lines = list[str]


def main() -> int:
    """Measure what was asked for, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipes", type=int, default=20, help="how many on the CPU")
    parser.add_argument("--wait", type=float, default=2, help="seconds that a recipe waits")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--gpus", nargs="+", metavar="RECIPE", help="on one GPU, then on two")
    parser.add_argument("--replicates", type=int, default=4, help="a GPU, with --gpus")
    parser.add_argument("--keep", type=Path, help="folder for the recordings, with --gpus")
    parser.add_argument("--write", action="store_true", help="write the tables into recording.md")
    options = parser.parse_args()
    lines = compare_gpus(options) if options.gpus else compare_workers(options)
    print("\n".join(lines))
    if options.write:
        write_report("gpus" if options.gpus else "workers", lines)
    return 0


def compare_workers(options: argparse.Namespace) -> Lines:
    """Return the table of recipes that wait, with several numbers of workers."""
    lines = [
        "| Recipes | Workers | Seconds | Times as fast | Overhead a recipe | Of the processors |"
    ]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    count, seconds = options.recipes, options.wait
    with gallery(RECIPE.format(seconds=seconds), count) as root:
        began, before = time.monotonic(), cpu_seconds()
        for path in sorted(root.glob("recipes_source/*.py")):
            subprocess.run([sys.executable, path], check=True)
        plain = first = time.monotonic() - began
        plain_cpu = cpu_seconds() - before
        name = f"{count} that wait for {seconds:g} s"
        lines.append(f"| {name} | plain `python` | {plain:.1f} | | | |")
        for workers in options.workers:
            before = cpu_seconds()
            took = record(root, "--device", "cpu", "--force", "--workers", str(workers))
            cpu = f"{(cpu_seconds() - before - plain_cpu) / count:.2f} s"
            first = took if workers == options.workers[0] else first
            overhead = f"{(took - plain) / count:.2f} s" if workers == 1 else ""
            row = [name, str(workers), f"{took:.1f}", f"{first / took:.2f}", overhead, cpu]
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return [*describe(), "", *lines]


def cpu_seconds() -> float:
    """Return what processes that have ended took of the processors, waiting for one left out."""
    spent = os.times()
    return spent.children_user + spent.children_system


def compare_gpus(options: argparse.Namespace) -> Lines:
    """Return the table of replicates of this site's recipes on one GPU and on two.

    Their published recordings have to be current, so that each time is that of replicates alone.
    Two GPUs make twice as many as one, and ``--keep`` takes all of them.
    """
    lines = ["| GPUs | Replicates | Seconds | Times as many a second |", "|---:|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as name:
        for recipe in options.gpus:
            shutil.copy(ROOT / "recordings" / f"{recipe}.ipynb", name)
        have, wanted, rates = 0, 0, []
        for gpus in (1, 2):
            wanted += gpus * options.replicates
            asked = ["--recordings-folder", name, *options.gpus, "--workers", str(gpus)]
            seconds = record(ROOT, *asked, "--replicates", str(wanted))
            files = [Path(name) / f"{recipe}.jsonl" for recipe in options.gpus]
            now = sum(len(path.read_text().splitlines()) for path in files)
            made, have = now - have, now
            rates.append(made / seconds)
            lines.append(f"| {gpus} | {made} | {seconds:.1f} | {rates[-1] / rates[0]:.2f} |")
            print(lines[-1], file=sys.stderr, flush=True)
        if options.keep:
            for path in files:
                shutil.copy(path, options.keep)
    return [f"Recipes: {', '.join(options.gpus)}.", *describe(), "", *lines]


def record(root: Path, *arguments: str) -> float:
    """Record; return how many seconds the whole command took."""
    command = [
        sys.executable,
        "-m",
        "sphinx_recorded_gallery",
        "record",
        "--root",
        str(root),
        *arguments,
    ]
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return time.monotonic() - began


@contextmanager
def gallery(code: str, count: int) -> Iterator[Path]:
    """Yield a gallery of ``count`` recipes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "conf.py").write_text(CONF)
        (root / "recipes_source").mkdir()
        for number in range(count):
            (root / "recipes_source" / f"recipe_{number:02}.py").write_text(code)
        yield root


def describe() -> Lines:
    """Return command and machine; where others work on it, all takes longer."""
    python = f"Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores"
    python += f", load {os.getloadavg()[0]:.0f}"
    command = " ".join(["python benchmarks/recording.py", *sys.argv[1:]])
    return [f"    $ {command}", "", f"{python}, {time.strftime('%Y-%m-%d')}."]


def write_report(part: str, lines: Lines) -> None:
    """Put the lines between the marks of recording.md."""
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    text = REPORT.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    tail = rest.partition(end)[2]
    whole = f"{head}{begin}\n\n" + "\n".join(lines) + f"\n\n{end}{tail}"
    REPORT.write_text(whole, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

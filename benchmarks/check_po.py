"""Seconds to check all catalogs, and copies of them: ``python benchmarks/check_po.py``."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from replay import ROOT, spread

TARGETS = {1: 3.0, 100: 30.0}  # seconds


def main() -> int:
    """Measure, print the table; return 1 if the median of a size is above its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, nargs="+", default=list(TARGETS))
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    seconds = {count: measure(count, options.repetitions) for count in options.copies}
    first = median(next(iter(seconds.values())))
    print("| Copies | Check (s) | Target (s) | Times as long |")
    print("|---:|---:|---:|---:|")
    for count, values in seconds.items():
        ratio = median(values) / first
        print(f"| {count} | {spread(values)} | {TARGETS.get(count, '-')} | {ratio:.1f} |")
    return int(any(median(values) > TARGETS.get(n, 600) for n, values in seconds.items()))


def measure(copies: int, repetitions: int) -> list[float]:
    """Return the seconds of checking so many copies of the project's catalogs."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(ROOT / "languages.toml", Path(folder, "languages.toml"))
        locale = Path(folder, "locale")
        locale.mkdir()
        shutil.copyfile(ROOT / "locale/glossary.csv", locale / "glossary.csv")
        for source in ROOT.glob("locale/*/LC_MESSAGES"):
            for number in range(copies):
                target = locale / source.parent.name / "LC_MESSAGES" / f"copy_{number:03}"
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.mo"))
        return [check(folder) for _repetition in range(repetitions)]


def check(folder: str) -> float:
    """Return the seconds of `make check-po`'s program; end if it does not run to its end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "recipe_gallery", "check-po"]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr)
    return seconds


if __name__ == "__main__":
    sys.exit(main())

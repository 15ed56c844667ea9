"""Faults for ``benchmarks/faults.py``: what is injected, and what has to be left afterwards."""

from . import cluster, leftovers, messages, more, pages, runs, wrong_recordings

CASES = [
    *wrong_recordings.CASES,
    *runs.CASES,
    *pages.CASES,
    *leftovers.CASES,
    *messages.CASES,
    *more.CASES,
    *cluster.CASES,
]

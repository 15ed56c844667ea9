"""Faults that are injected into recordings through the commands that people call.

Each is injected into a small gallery in a folder of its own that holds one recipe with the fault, one
without, and an old recording of the first. Afterwards these are looked at:

- the exit status and the messages: one line for each trouble, which names the file and says what to
  do; no traceback, nothing that moves a terminal's cursor,
- the recording: valid and whole, every line and every figure in it, or the old one to the byte,
- the other recipe, which has to be recorded,
- processes: those with the gallery's mark in their environment, with its folder as theirs, or with
  its mark among their arguments (children that cleared their environment),
- files: nothing new in TMPDIR, HOME, /dev/shm and the gallery but recordings,
- `check` and the pages, which have to agree,
- the time, which is bounded.

The kind of a fault is a letter and a number. A: a wrong recording that could pass for a good one;
B: trouble of one recipe, file or setting that must not end the others; C, D: crashes of a build, and
where page and notebook disagree; E: processes and files left behind, interruptions; F: messages,
limits, what reaches readers, changed recordings; G: several places; X: recipes that turn on their
kernel or their files, and odd surroundings.
"""

from . import cluster, leftovers, messages, pages, runs, sabotage, wrong_recordings

CASES = [
    *wrong_recordings.CASES,
    *runs.CASES,
    *pages.CASES,
    *leftovers.CASES,
    *messages.CASES,
    *sabotage.CASES,
    *cluster.CASES,
]

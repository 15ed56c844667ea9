"""Readies the process that builds of `live` are forked from, before it imports all they need."""

import signal

from ..project import code_digest

# Ctrl-C ends it and its builds without a word; Python would tell where they were.
signal.signal(signal.SIGINT, signal.SIG_DFL)

code_digest()  # of the code that runs: what is edited from now on counts after a restart

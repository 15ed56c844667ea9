"""What the process that builds of `live` are forked from imports first."""

import signal

# Ctrl-C ends it and its builds without a word; Python would tell where they were.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from . import build  # noqa: E402, F401

"""The kernel's process: IPython's kernel, which loses nothing of what a recipe prints.

It is run by its path and imports nothing of this package: a recipe finds only its own modules.
"""

import sys
from pathlib import Path

import zmq
from ipykernel.kernelapp import IPKernelApp


class Kernel(IPKernelApp):
    """IPython's kernel, for one recipe."""

    def init_iopub(self, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        """Open the socket for outputs: it keeps what a busy reader has not read yet."""
        context.sndhwm = 0  # by default messages are dropped when more than 1,000 wait
        super().init_iopub(context)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    Kernel.launch_instance()

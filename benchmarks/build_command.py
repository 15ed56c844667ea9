"""The command that builds the site of a benchmark."""

import sys
from collections.abc import Sequence


def build_command(languages: Sequence[str]) -> list[str]:
    """Return the command that builds the pages of ``languages`` in the current folder.

    The package is imported from there, or from ``PYTHONPATH``.
    """
    return [sys.executable, "-m", "sphinx_recorded_gallery", "html", *languages, "--", "-q"]

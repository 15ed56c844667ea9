"""What other programs would not read of a catalog, though this one can."""

import re
from collections.abc import Iterator
from pathlib import Path

from .problems import Problem

_ESCAPES = set('abfnrtv"\\01234567x')  # what may follow a backslash


def check_text(path: Path) -> Iterator[Problem]:
    """Yield where a catalog is not written as all programs read it."""
    for line, row in enumerate(path.read_bytes().splitlines(), start=1):
        text = row.decode(errors="replace")
        if line == 1 and text.startswith("\ufeff"):
            said = "the file begins with a byte order mark; save it as UTF-8 without one"
            yield Problem(path=path, line=1, message=said, check="syntax")
        if not text.startswith("#"):
            for found in re.findall(r"\\(.)", text):
                if found not in _ESCAPES:
                    said = f"\\{found} means nothing here; write \\\\{found} for a backslash"
                    yield Problem(path=path, line=line, message=said, check="syntax")

"""Find the name that an author may have meant by a wrong one."""

import difflib
from collections.abc import Iterable


def find_near(name: str, names: Iterable[str]) -> str:
    """Return the one of ``names`` that is most like ``name``; empty if none is like it."""
    similar = difflib.get_close_matches(name, names, n=1)
    return similar[0] if similar else ""

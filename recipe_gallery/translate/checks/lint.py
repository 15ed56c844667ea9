"""What sphinx-lint and other programs say of a catalog as a file, with what to do."""

import re
from collections.abc import Iterator
from pathlib import Path

import polib

from ..catalogs import line_of
from .message import describe_length
from .problems import Problem

# Of sphinx-lint, what holds for one message: not how reST is laid out in a file, and no spaces
# around markup, which some languages do without. With each stands what to do.
CHECKERS = {
    "backtick-before-role": "remove it",
    "directive-with-three-dots": "leave the directive out",
    "exclamation-and-tilde": "keep one of the two",
    "horizontal-tab": "write a space for each tab",
    "missing-backtick-after-role": "close it with a backtick",
    "missing-colon-in-role": "write it as in the source",
    "missing-space-in-hyperlink": "put one between title and address",
    "missing-underscore-after-hyperlink": "end it as in the source",
    "role-with-double-backticks": "write one on each side",
    "role-with-extra-backtick": "write one on each side",
}

_ESCAPES = set('abfnrtv"\\01234567x')  # what may follow a backslash


def check_text(path: Path) -> Iterator[Problem]:
    """Yield what other programs would not read, though this one can."""
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


def ask_sphinx_lint(path: Path, catalog: polib.POFile) -> Iterator[Problem]:
    """Yield what it finds in the translations that readers see."""
    from sphinxlint import sphinxlint
    from sphinxlint.checkers import all_checkers  # builds do not need it
    from sphinxlint.utils import PER_FILE_CACHES

    checkers = [checker for name, checker in all_checkers.items() if name in CHECKERS]
    try:
        for error in sphinxlint.check_text(str(path), _as_text(catalog), checkers):
            name = error.checker_name
            text = f"{error.msg.rstrip('.')}; {CHECKERS[name]}"
            yield Problem(path=path, line=error.line_no, message=text, check=name)
    finally:
        for function in PER_FILE_CACHES:
            function.cache_clear()


def _as_text(catalog: polib.POFile) -> str:
    """Return the translations alone, each at the line of its message."""
    rows: list[str] = []
    for entry in catalog.translated_entries():
        if not describe_length(entry.msgid, entry.msgstr):
            rows += [""] * (line_of(entry) - 1 - len(rows))
            rows += entry.msgstr.splitlines()
    return "\n".join(rows)

"""Fingerprints of code: the same for two sources that differ only in comments and blank lines.

The source is cut at ``tokenize`` positions instead of going through ``ast``, because ``ast.dump``
and ``ast.unparse`` change between Python versions and a recording made on one version has to be
recognised on another.
"""

import hashlib
import io
import tokenize
from collections.abc import Iterable

# Tokens that say nothing about what a program does; a line holding only these is dropped.
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def strip_comments(source: str) -> str:
    """Return ``source`` without comments, blank lines and trailing spaces; strings stay.

    Raises ``SyntaxError`` or ``tokenize.TokenError`` if ``source`` is not Python.
    """
    lines = dict(enumerate(io.StringIO(source), start=1))
    code_rows: set[int] = set()
    rows_ending_in_string: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (first, start), (last, end) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[first] = lines[first][:start] + lines[first][end:]
        if token.type not in _LAYOUT:
            code_rows.update(range(first, last + 1))
            rows_ending_in_string.update(range(first, last))
    kept = []
    for row in sorted(code_rows):
        line = lines[row].rstrip("\r\n")
        kept.append(line if row in rows_ending_in_string else line.rstrip())
    return "\n".join(kept)


def fingerprint_code(source: str) -> str:
    """Return the SHA-256 (hex) of the code in ``source``, comments and blank lines apart."""
    return hashlib.sha256(strip_comments(source).encode()).hexdigest()


def combine(fingerprints: Iterable[str]) -> str:
    """Return one SHA-256 (hex) for an ordered sequence of fingerprints."""
    return hashlib.sha256("\n".join(fingerprints).encode()).hexdigest()

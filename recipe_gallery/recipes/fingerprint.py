"""Fingerprints of code: the same for two sources that differ only in comments and blank lines.

The source is cut at ``tokenize`` positions instead of going through ``ast``, because ``ast.dump``
and ``ast.unparse`` change between Python versions and a recording made on one version has to be
recognised on another.
"""

import ast
import hashlib
import io
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from tokenize import (
    COMMENT,
    DEDENT,
    ENDMARKER,
    INDENT,
    NEWLINE,
    NL,
    STRING,
    TokenError,
    TokenInfo,
    generate_tokens,
    tok_name,
)

from ..errors import GalleryError

# Tokens that say nothing about what a program does; a line holding only these is dropped.
_LAYOUT = {COMMENT, DEDENT, ENDMARKER, INDENT, NEWLINE, NL}


def find_tokens(source: str) -> Iterator[TokenInfo]:
    """Yield the tokens of ``source``; an f-string is one STRING, as before Python 3.12 cut it up.

    Raises ``SyntaxError`` or ``tokenize.TokenError`` if ``source`` is not Python.
    """
    depth, start = 0, (0, 0)
    for token in generate_tokens(io.StringIO(source).readline):
        kind = tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            start = start if depth else token.start
            depth += 1
        elif kind in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if not depth:
                yield TokenInfo(STRING, "", start, token.end, token.line)
        elif not depth:
            yield token


def strip_comments(source: str) -> str:
    """Return ``source`` without comments, blank lines and trailing spaces; strings stay.

    Raises ``SyntaxError`` or ``tokenize.TokenError`` if ``source`` is not Python.
    """
    lines = {row: line.rstrip("\r\n") for row, line in enumerate(io.StringIO(source), start=1)}
    code_rows: set[int] = set()
    rows_ending_in_string: set[int] = set()
    for token in find_tokens(source):
        (first, start), (last, end) = token.start, token.end
        if token.type == COMMENT:
            lines[first] = lines[first][:start] + lines[first][end:]
        elif token.type not in _LAYOUT:
            code_rows.update(range(first, last + 1))
            rows_ending_in_string.update(range(first, last))
    # A line that ends in a backslash goes on in the next one, also if that is empty.
    code_rows |= {row + 1 for row in code_rows if lines[row].endswith("\\")} & lines.keys()
    return "\n".join(
        lines[row] if row in rows_ending_in_string else lines[row].rstrip()
        for row in sorted(code_rows)
    )


def fingerprint_code(source: str) -> str:
    """Return the SHA-256 (hex) of the code in ``source``, comments and blank lines apart."""
    return hashlib.sha256(strip_comments(source).encode()).hexdigest()


@lru_cache(maxsize=2000)  # a recipe's are asked for whenever somebody asks for its inputs
def find_imports(source: str) -> frozenset[str]:
    """Return the modules that code imports, without what stands behind a dot.

    What is imported by a name that is made when the code runs is not found.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


def fingerprint_modules(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the fingerprints of those of the modules that lie in ``folder``, and of their own.

    They are named by their paths in ``folder``; of a package it is all that it holds. Raises
    ``GalleryError`` for a module that cannot be read.
    """
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        package = folder / name
        is_package = (package / "__init__.py").is_file()
        for path in package.rglob("*.py") if is_package else [folder / f"{name}.py"]:
            key = path.relative_to(folder).as_posix()
            if key in found or not path.is_file():
                continue
            try:
                source = path.read_text(encoding="utf-8")
                found[key] = fingerprint_code(source)
                waiting += find_imports(source)
            except (OSError, SyntaxError, TokenError, ValueError) as error:
                text, remedy = f"cannot be read: {error}", "mend it: a recipe imports it"
                raise GalleryError(text, path=path, remedy=remedy) from None
    return dict(sorted(found.items()))

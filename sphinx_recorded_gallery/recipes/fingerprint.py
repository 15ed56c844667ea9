"""Fingerprints of code: equal for sources that differ only in comments, docstrings and layout.

Docstrings are for people, as comments are. The price: if a program prints one (``__doc__``,
``help()``), a change of that output is not noticed.

The source is cut at positions of ``tokenize`` instead of going through ``ast``, because
``ast.dump`` and ``ast.unparse`` change between Python versions, and a recording made with one
version has to be recognised with another.
"""

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Container, Iterable
from functools import lru_cache
from pathlib import Path
from tokenize import COMMENT, NAME, NEWLINE, OP, STRING, TokenInfo, generate_tokens, tok_name

from ..errors import GalleryError, merge_conflict, null_byte

# Tokens without effect on a program; a line with nothing else is dropped.
_LAYOUT = {COMMENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.INDENT, NEWLINE, tokenize.NL}
_TEXT = re.compile("[rRuU]?['\"]")  # a string that is neither formatted nor bytes
# Characters that other programs than Python take for line breaks
_LINE_BREAK = re.compile("[\v\x1c-\x1e\x85\u2028\u2029]")


@lru_cache(maxsize=64)  # several functions need the tokens of one cell
def find_tokens(source: str) -> tuple[TokenInfo, ...]:
    """Return the tokens of ``source``; an f-string is one STRING, as before Python 3.12.

    Raises ``SyntaxError`` or ``tokenize.TokenError`` if ``source`` is not Python.
    """
    tokens: list[TokenInfo] = []
    depth = 0  # of f-strings inside each other
    start = (0, 0)  # of the outermost one
    for token in generate_tokens(io.StringIO(source).readline):
        kind = tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            if depth == 0:
                start = token.start
            depth += 1
        elif kind in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if depth == 0:
                tokens.append(TokenInfo(STRING, "", start, token.end, token.line))
        elif depth == 0:
            tokens.append(token)
    return tuple(tokens)


def strip_comments(source: str, left_out: Container[tuple[int, int]] = ()) -> str:
    """Return ``source`` without comments, blank lines and trailing spaces.

    Strings stay, except those that start at a position (row, column) in ``left_out`` and are
    followed by nothing but comments. Raises ``SyntaxError`` or ``tokenize.TokenError`` if
    ``source`` is not Python.
    """
    lines = {row: line.rstrip("\r\n") for row, line in enumerate(io.StringIO(source), start=1)}
    code_rows: set[int] = set()
    rows_ending_in_string: set[int] = set()
    for token in find_tokens(source):
        (first, start), (last, _end) = token.start, token.end
        if token.type == COMMENT or token.start in left_out:
            lines[first] = lines[first][:start]
        elif token.type not in _LAYOUT:
            code_rows.update(range(first, last + 1))
            rows_ending_in_string.update(range(first, last))
    # A line that ends in a backslash continues in the next one, even if that is empty.
    continuations = {row + 1 for row in code_rows if lines[row].endswith("\\")}
    code_rows |= continuations & lines.keys()
    code_lines = []
    for row in sorted(code_rows):
        line = lines[row]
        if row not in rows_ending_in_string:
            line = line.rstrip()
        code_lines.append(line)
    return "\n".join(code_lines)


@lru_cache(maxsize=2000)  # all recipes may inline the same module
def fingerprint_code(source: str, *, is_module: bool = False) -> str:
    """Return the SHA-256 (hex) of code without comments, docstrings and blank lines.

    A string at the top of a module is a docstring; at the top of a cell, Jupyter may show it.
    """
    stripped = strip_comments(source, find_docstrings(source, is_module=is_module))
    return hashlib.sha256(stripped.encode()).hexdigest()


def find_docstrings(source: str, *, is_module: bool) -> set[tuple[int, int]]:
    """Return the row (from 1) and column where each docstring starts.

    A docstring is a line of nothing but text after the head of a class or function, or at the top
    of a module. Strings in parentheses or before a semicolon do not count.
    """
    docstrings: set[tuple[int, int]] = set()
    strings: list[tuple[int, int]] = []  # adjacent strings at the start of a body
    in_head = False  # between ``class`` or ``def`` and its colon
    depth = 0  # of brackets
    at_body_start = is_module
    for token in find_tokens(source):
        if at_body_start:
            if token.type == STRING and _TEXT.match(token.string):
                strings.append(token.start)
            elif token.type == NEWLINE and strings:
                docstrings.update(strings)
                at_body_start = False
            elif token.type not in _LAYOUT:
                at_body_start = False
        if token.type == NAME and token.string in ("class", "def"):
            in_head = True
        elif token.type == OP and token.string in "([{":
            depth += 1
        elif token.type == OP and token.string in "}])":
            depth -= 1
        elif token.type == OP and token.string == ":" and in_head and depth == 0:
            in_head = False
            at_body_start = True
            strings = []
    return docstrings


@lru_cache(maxsize=2000)  # needed whenever the inputs of a recipe are
def find_imports(source: str) -> frozenset[str]:
    """Return the top-level names of the modules that code imports.

    Imports by a name that is computed at run time are not found.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


def fingerprint_modules(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the fingerprints of modules in ``folder``, and of those that they import.

    The keys are paths in ``folder``; a package comes with all its modules. Raises ``GalleryError``
    for a module that cannot be read.
    """
    fingerprints: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        package = folder / name
        paths = [folder / f"{name}.py"]
        if (package / "__init__.py").is_file():
            paths = list(package.rglob("*.py"))
        for path in paths:
            key = path.relative_to(folder).as_posix()
            if key not in fingerprints and path.is_file():
                source, _tree = parse_module(path)
                fingerprints[key] = fingerprint_code(source, is_module=True)
                waiting += find_imports(source)
    return dict(sorted(fingerprints.items()))


def parse_module(path: Path) -> tuple[str, ast.Module]:
    """Return source and syntax tree of a module; raise ``GalleryError`` if it cannot be read."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        compile(tree, path, "exec", dont_inherit=True)
    except SyntaxError:
        raise syntax_error(path, text, 1) from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        problem = f"cannot be read: {str(error) or 'nested too deeply'}"
        raise GalleryError(problem, path=path, remedy="mend it: an example imports it") from None
    return text, tree


def refuse_unseen(path: Path, source: str, line: int) -> None:
    """Raise ``GalleryError`` for characters that a page or a script would change.

    A tab becomes spaces there, which matters only in strings. ``source`` is Python that starts in
    ``line`` of the file.
    """
    line_break = _LINE_BREAK.search(source)
    if line_break:
        raise GalleryError(
            "an invisible line break in the code below",
            path=path,
            line=line + source.count("\n", 0, line_break.start()),
            remedy=r"write it as an escape, such as \u2028",
        )
    row = _find_tab_in_string(source)
    if row:
        raise GalleryError(
            "a tab in a string of the code below",
            path=path,
            line=line + row - 1,
            remedy=r"write it as \t",
        )


def _find_tab_in_string(source: str) -> int:
    """Return the first row of a string with a tab that is not a docstring, or 0."""
    if "\t" not in source:
        return 0
    docstrings = find_docstrings(source, is_module=False)
    lines = io.StringIO(source).readlines()
    for token in find_tokens(source):
        if token.type != STRING or token.start in docstrings:
            continue
        (first, start), (last, end) = token.start, token.end
        rows = lines[first - 1 : last]
        rows[-1] = rows[-1][:end]
        rows[0] = rows[0][start:]
        if any("\t" in row for row in rows):
            return first
    return 0


def syntax_error(path: Path, source: str, first_line: int) -> GalleryError:
    """Return the error to raise for code that cannot be parsed."""
    has_null_byte = null_byte(path, source, first_line)
    if has_null_byte:
        return has_null_byte
    has_conflict = merge_conflict(path, source, first_line)
    if has_conflict:
        return has_conflict
    text, line, remedy = "this code cannot be parsed", first_line, "mend the code"
    try:
        compile(source, path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        text = f"syntax error: {error.msg}"
        line = first_line - 1 + (error.lineno or 1)
        if error.msg.startswith("unterminated triple-quoted"):
            remedy = "close the quotes, of this text or of one above it"
    if source.startswith("\ufeff"):
        text = "a byte order mark at the start of the file"
        return GalleryError(text, path=path, line=line, remedy="save it in UTF-8 without one")
    return GalleryError(text, path=path, line=line, remedy=remedy)

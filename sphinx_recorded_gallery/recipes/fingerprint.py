"""Fingerprints of code: the same for sources that differ in comments, docstrings and layout only.

Docstrings are for people, as comments are. What a program prints of one (``__doc__``, ``help()``)
is the price: a change of that is not noticed.

The source is cut at ``tokenize`` positions instead of going through ``ast``, because ``ast.dump``
and ``ast.unparse`` change between Python versions and a recording made on one version has to be
recognised on another.
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

from ..errors import GalleryError

# Tokens that say nothing about what a program does; a line holding only these is dropped.
_LAYOUT = {COMMENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.INDENT, NEWLINE, tokenize.NL}
_TEXT = re.compile("[rRuU]?['\"]")  # a string that is neither formatted nor bytes
_LINE_BREAK = re.compile("[\v\x1c-\x1e\x85\u2028\u2029]")  # that Python takes for none


@lru_cache(maxsize=64)  # a cell's are asked for by each of those who look at its comments
def find_tokens(source: str) -> tuple[TokenInfo, ...]:
    """Return the tokens of ``source``; an f-string is one STRING, as before Python 3.12 cut it up.

    Raises ``SyntaxError`` or ``tokenize.TokenError`` if ``source`` is not Python.
    """
    found, depth, start = [], 0, (0, 0)
    for token in generate_tokens(io.StringIO(source).readline):
        kind = tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            start = start if depth else token.start
            depth += 1
        elif kind in ("FSTRING_END", "TSTRING_END"):
            depth -= 1
            if not depth:
                found.append(TokenInfo(STRING, "", start, token.end, token.line))
        elif not depth:
            found.append(token)
    return tuple(found)


def strip_comments(source: str, left_out: Container[tuple[int, int]] = ()) -> str:
    """Return ``source`` without comments, blank lines and trailing spaces; strings stay.

    Strings that start at a position (row, column) in ``left_out``, and have nothing but comments
    behind them, do not stay.
    Raises ``SyntaxError`` or ``tokenize.TokenError`` if ``source`` is not Python.
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
    # A line that ends in a backslash goes on in the next one, also if that is empty.
    code_rows |= {row + 1 for row in code_rows if lines[row].endswith("\\")} & lines.keys()
    return "\n".join(
        lines[row] if row in rows_ending_in_string else lines[row].rstrip()
        for row in sorted(code_rows)
    )


@lru_cache(maxsize=2000)  # of a module that all recipes inline, it is the same for each
def fingerprint_code(source: str, *, is_module: bool = False) -> str:
    """Return the SHA-256 (hex) of code without comments, docstrings and blank lines.

    A string on top of a cell is none of these: Jupyter may show it. On top of a module it is.
    """
    stripped = strip_comments(source, find_docstrings(source, is_module=is_module))
    return hashlib.sha256(stripped.encode()).hexdigest()


def find_docstrings(source: str, *, is_module: bool) -> set[tuple[int, int]]:
    """Return where the strings start that are docstrings, each row (from 1) and column.

    A docstring is a line of nothing but text behind the head of a class or function, or on top of
    a module. Strings in parentheses or before a semicolon are none here.
    """
    found: set[tuple[int, int]] = set()
    strings: list[tuple[int, int]] = []  # neighbouring ones are one text
    in_head, depth, begins = False, 0, is_module  # begins: a body does, here
    for token in find_tokens(source):
        if begins:
            if token.type == STRING and _TEXT.match(token.string):
                strings.append(token.start)
            elif token.type == NEWLINE and strings:
                found.update(strings)
                begins = False
            elif token.type not in _LAYOUT:
                begins = False
        if token.type == NAME and token.string in ("class", "def"):
            in_head = True
        elif token.type == OP and token.string in "([{}])":
            depth += 1 if token.string in "([{" else -1
        elif (token.type, token.string, depth, in_head) == (OP, ":", 0, True):
            in_head, begins, strings = False, True, []
    return found


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
    """Return the fingerprints of modules in ``folder``, and of those that they import.

    They are named by their paths in ``folder``; of a package it is all that it holds. Raises
    ``GalleryError`` for a module that cannot be read.
    """
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        package = folder / name
        is_one = (package / "__init__.py").is_file()
        for path in package.rglob("*.py") if is_one else [folder / f"{name}.py"]:
            key = path.relative_to(folder).as_posix()
            if key not in found and path.is_file():
                source, _tree = parse_module(path)
                found[key] = fingerprint_code(source, is_module=True)
                waiting += find_imports(source)
    return dict(sorted(found.items()))


def parse_module(path: Path) -> tuple[str, ast.Module]:
    """Return source and tree of a module; raise ``GalleryError`` if it cannot be read."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        compile(tree, path, "exec", dont_inherit=True)
    except SyntaxError:
        raise syntax_error(path, text, 1) from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        problem = f"cannot be read: {str(error) or 'nested too deeply'}"
        raise GalleryError(problem, path=path, remedy="mend it: a recipe imports it") from None
    return text, tree


def refuse_unseen(path: Path, source: str, line: int) -> None:
    """Raise an error for characters that a page or a script would have others in the place of.

    A tab becomes spaces there, which matters in strings alone. ``source`` is Python; its first row
    stands in ``line``.
    """
    if unseen := _LINE_BREAK.search(source):
        raise GalleryError(
            "a line break that is not seen in the code below",
            path=path,
            line=line + source.count("\n", 0, unseen.start()),
            remedy=r"write it as an escape, such as \u2028",
        )
    if row := _find_tab_in_string(source):
        raise GalleryError(
            "a tab in a string of the code below",
            path=path,
            line=line + row - 1,
            remedy=r"write it as \t",
        )


def _find_tab_in_string(source: str) -> int:
    """Return the row of a string that holds a tab and is for the program, or 0."""
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
    """Return what is wrong with code that cannot be parsed, and where."""
    text, line, remedy = "this code cannot be parsed", first_line, "mend the code"
    try:
        compile(source, path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        text, line = f"syntax error: {error.msg}", first_line - 1 + (error.lineno or 1)
    if source.startswith("\ufeff"):
        text, remedy = "a byte order mark at the start of the file", "save it in UTF-8 without one"
    return GalleryError(text, path=path, line=line, remedy=remedy)

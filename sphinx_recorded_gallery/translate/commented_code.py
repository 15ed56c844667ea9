"""Comments that are not sentences: commented-out code and drawings."""

import ast
import re

# Words that are Python by chance: a single name, "a and b", "kernel(s)", "note: this"
_HEADERS = re.compile(
    r"(?:async )?(?:def|class|for|with) .*:$|(?:el)?if .*[=<>()\[\].].*:$|while .*:$|@\w[\w.]*"
    r"|(?:try|else|finally|except.*):$"
)
_SIGNS = re.compile(
    r"[-=]{1,}>|<[-=]+|\+[-=]{2,}|\s\|\s|^\||\|$|\\_|_/|\\\s*/|[\u2500-\u259f]|\w\s{3,}\S"
)


def is_code(text: str) -> bool:
    """Return whether a comment is commented-out code rather than words."""
    if _HEADERS.fullmatch(text):
        return True
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return bool(statements) and all(_is_surely_code(statement, text) for statement in statements)


def _is_surely_code(statement: ast.stmt, text: str) -> bool:
    """Return whether a statement is code; much prose is valid Python, too, such as ``pass``."""
    match statement:
        case ast.Expr(value=ast.Call(args=[ast.Name(id="s" | "es")])):
            return False  # kernel(s)
        case ast.Expr(value=ast.Call()):
            # eager (default), 워밍업(warm-up)
            return " (" not in text and text.partition("(")[0].isascii()
        case ast.Expr(value=ast.Await() | ast.Subscript()):
            return " [" not in text
        case ast.Expr():
            return False
        case ast.AnnAssign(value=None):
            return False
        case ast.Return(value=None | ast.Name()) | ast.Raise(exc=None | ast.Name()):
            return False
        case ast.Assert(test=ast.Name()) | ast.Delete() | ast.Pass() | ast.Break() | ast.Continue():
            return False
        case ast.Global() | ast.Nonlocal():
            return False
    return True


def is_drawing(text: str) -> bool:
    """Return whether a line holds signs of a drawing or the columns of a table."""
    return bool(_SIGNS.search(text))

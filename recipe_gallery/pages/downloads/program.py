"""Whether a script does what its recipe does: text that is translated must not become code."""

import ast
import re
from collections.abc import Iterable, Mapping

from ...errors import GalleryError
from ...recipes.recipe import Recipe

UTF_8 = "# coding: utf-8\n"
_NAMES_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")  # as PEP 263 has it
# Lines of nothing else, for Python, which also ends them at a carriage return
_COMMENTS = re.compile(r"(?:[ \t]*\n|#[^\r\n\0]*\n)*")


def names_encoding(script: str) -> bool:
    """Tell whether Python finds the name of an encoding, as words of a title may look to it."""
    return any(map(_NAMES_ENCODING.match, script.split("\n", 2)[:2]))


def check_program(script: bytes, recipe: Recipe, codes: Mapping[int, str]) -> None:
    """Raise ``GalleryError`` if a script, as Python reads it, does not do what its recipe does.

    ``codes`` are those of its cells by number. What is not another in them is not compared, where
    all else in the script is comments: reading whole programs takes longer than writing them.
    """
    cells = [(cell.source, codes[cell.number]) for _block, cell in recipe.parts if cell]
    pairs: list[tuple[str, str | bytes]] = [each for each in cells if each[0] != each[1]]
    if not _is_made_of(script, [code for _source, code in cells]):
        pairs = [("\n".join(source for source, _code in cells), script)]
    if problem := next(filter(None, (_compare(*pair) for pair in pairs)), ""):
        text = f"its script {problem} the recipe"
        raise GalleryError(text, path=recipe.path, remedy="a translation must not change code")


def _compare(source: str, found: str | bytes) -> str:
    """Return how ``found`` is to a program, in words of an error, if it is not the same."""
    wanted = _read_program(source)
    try:
        return "" if _read_program(found) == wanted else "does something else than"
    except (SyntaxError, ValueError) as error:
        return f"is no Python ({error}), unlike"


def _is_made_of(script: bytes, codes: Iterable[str]) -> bool:
    """Tell whether a script is these pieces in their order, each whole, between comments."""
    try:
        text = script.decode()
    except UnicodeDecodeError:
        return False
    if names_encoding(text) and not text.startswith(UTF_8):
        return False
    text, at = f"\n{text}\n", 0
    for code in codes:
        found = text.find(f"\n{code}\n", at) + 1
        if not found or not _COMMENTS.fullmatch(text, at, found):
            return False
        at = found + len(code)
    return _COMMENTS.fullmatch(text, at) is not None


def _read_program(source: str | bytes) -> str:
    """Return what Python reads, without lines, comments and docstrings; bytes may name a coding."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    program = compile(source, "<script>", "exec", flags, dont_inherit=True)
    for node in ast.walk(program):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                text.value = ""
    return ast.dump(program)

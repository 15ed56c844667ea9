"""What is wrong with code of which no cell can be made, and where."""

import ast
import re
from pathlib import Path

from ..errors import GalleryError

_NOT_SHOWN = re.compile("[\t\v\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN_BREAK = "a line break that is not seen", r"write it as an escape, such as \u2028"


def refuse_unseen(path: Path, source: str, line: int) -> None:
    """Raise an error for characters that a page or a script would have others in the place of."""
    if found := _NOT_SHOWN.search(source):
        text, remedy = ("a tab", "use spaces") if found[0] == "\t" else _HIDDEN_BREAK
        raise GalleryError(f"{text} in the code below", path=path, line=line, remedy=remedy)


def syntax_error(path: Path, source: str, first_line: int) -> GalleryError:
    """Return what is wrong with code that cannot be parsed, and where."""
    text, line, remedy = "this code cannot be parsed", first_line, "mend the code"
    try:
        ast.parse(source)
    except SyntaxError as error:
        text, line = f"syntax error: {error.msg}", first_line - 1 + (error.lineno or 1)
    if source.startswith("\ufeff"):
        text, remedy = "a byte order mark at the start of the file", "save it in UTF-8 without one"
    return GalleryError(text, path=path, line=line, remedy=remedy)

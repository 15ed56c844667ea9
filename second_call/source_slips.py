"""Slips in the source of a recipe that Python takes for something else, without a word.

``recorded-gallery check`` tells the author; slips in the markup of texts are in ``markup_slips``.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError

# In a string that is not raw; an even number of backslashes before it stands for themselves
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(?P<escape>\\[abfnrtvxuUN0-7])")
_RAW = re.compile(r"[bBuU]?[rR]")
_INDENTED_MARK = re.compile(r"[ \t]+# ?%%")
_SETTING = re.compile(
    r"#\s*(?P<name>sphinx[-_ ]?gal+[ae]r+(?:y|ie)[-_ ]?(?P<rest>\w*)) *[=:]", re.I
)
_LEAST_LINES_OF_TEXT = 2


def find_in_source(path: Path, source: str) -> Iterator[GalleryError]:
    """Yield such slips of a recipe, which Python can read."""
    statements = ast.parse(source).body
    yield from _find_escapes(path, source, statements[0])
    yield from _find_strings(path, statements)
    inside_strings = _find_lines_of_strings(statements)
    for number, line in enumerate(source.splitlines(), 1):
        if number in inside_strings:
            continue
        setting = _SETTING.match(line.strip())
        if setting and not setting["name"].startswith("sphinx_gallery_"):
            name = f"sphinx_gallery_{setting['rest']}"
            what = f"{setting['name']} is a comment, and no setting"
            yield GalleryError(what, path=path, line=number, remedy=f"did you mean {name}?")
        if _INDENTED_MARK.match(line):
            what = "# %% is indented, and begins no cell"
            remedy = "begin it at the margin, outside of functions and loops"
            yield GalleryError(what, path=path, line=number, remedy=remedy)


def _find_escapes(path: Path, source: str, docstring: ast.stmt) -> Iterator[GalleryError]:
    """Yield the first backslash of the docstring that Python takes for another character."""
    text = ast.get_source_segment(source, docstring) or ""
    match = _ESCAPE.search(text)
    if match and not _RAW.match(text):
        yield GalleryError(
            f"{match['escape']} in the docstring is another character to Python",
            path=path,
            line=docstring.lineno + text.count("\n", 0, match.start("escape")),
            remedy='write r before the quotes of the docstring: r"""',
        )


def _find_strings(path: Path, statements: list[ast.stmt]) -> Iterator[GalleryError]:
    """Yield the strings of several lines between statements, which no page shows as text."""
    for statement in statements[1:]:
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
            continue
        value = statement.value.value
        if isinstance(value, str) and value.count("\n") >= _LEAST_LINES_OF_TEXT:
            yield GalleryError(
                "this string is code, and no text of the page",
                path=path,
                line=statement.lineno,
                remedy="write it in comment lines below # %%",
            )


def _find_lines_of_strings(statements: list[ast.stmt]) -> set[int]:
    """Return the lines that continue strings, in which nothing is a comment."""
    lines: set[int] = set()
    for node in ast.walk(ast.Module(statements, [])):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno:
            lines.update(range(node.lineno + 1, node.end_lineno + 1))
    return lines

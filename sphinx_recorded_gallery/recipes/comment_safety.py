"""Translated comments that tools would obey: a notebook's magic, an example of doctest.

Python ignores comments and the text between cells, but other tools read them. An instruction to a
tool that the English program does not hold is refused, in catalogs and in finished files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to import
    from nbformat import NotebookNode

# Instructions to tools at the start of a comment
_AT_START = re.compile(
    r"%|!|\+|-\*-|noqa\b|nosec\b|type:|fmt:|isort:|ruff:|mypy:|pyright:|pylint:|pragma\b|flake8:"
    r"|yapf:|cython:|distutils:|cspell:|codespell:|fades\b|sphinx_gallery_|In ?\[[\d ]*\]"
    r"|</?(?:code|markdown|raw)cell>|@(?:param|title|markdown)\b|\|\s*[\w-]+:|/// "
    r"|(?-i:(?:end)?region\b|</?(?:end)?region>|</?editor-fold)",
    re.IGNORECASE,
)
# Settings of Vim, with or without "set", and of Kate, which both obey after a blank. "ex" may also
# be a word of the text.
_MODELINE = (
    r"(?:(?:^|[\s#])(?:[vV]im?(?:[<=>]?\d+)?:|ex:\s*(?:set?\s|\w+(?:[=:]|\s*$)))"
    r"|(?:^|[\s#])kate(?:-[\w-]+(?:\([^)]*\))?)?:\s)"
)
# Instructions that some tools find anywhere in a comment, or after a second marker
_INSIDE = re.compile(
    r"#\s*(?:%%|noqa|nosec|type:|fmt:|isort:|ruff:|mypy:|pyright:|pragma\b|flake8:|doctest:|fades\b)"
    rf"|\bpylint:|-\*-|(?-i:{_MODELINE})",
    re.IGNORECASE,
)
# Instructions that a translated program may not hold more often than the English one
_OBEYED = {
    "metadata of a script (PEP 723), by which programs install packages": r"(?m)^#\s*///",
    "a mark of fades, which installs packages": r"(?im)(?:^\W*|#\s*)fades\b",
    "an example that doctest would run": r"(?m)^(?!\s*#).*>>>",
    # Hosted notebooks show links and pictures in it.
    "a form field of a hosted notebook": r"#\s*@(?:title|markdown|param)\b",
    "a mark of a cell": r"(?im)^\s*#\s*(?:In ?\[[\d ]*\]|<(?:code|markdown)cell>)",
    "an instruction to a linter": r"(?i)#\s*(?:noqa|nosec|type:\s*ignore|pragma:)",
    # Vim and Kate read them in the first and last lines, Emacs on the last page.
    "settings of an editor": rf"(?m){_MODELINE}|^[^#\n]*#.*(?:-\*-|(?i:local variables:))",
}


def is_read_by_tools(text: str) -> bool:
    """Return whether a comment, given without its marker, begins with an instruction to a tool."""
    return bool(_AT_START.match(text.lstrip("# ")))


def find_mark(text: str) -> bool:
    """Return whether a comment, given without its marker, holds an instruction to a tool."""
    return is_read_by_tools(text) or bool(_INSIDE.search(text))


def find_instruction(english: str, finished: str) -> str:
    """Describe an instruction to a tool that only the finished program holds; "" if none.

    Both programs are Python: whole scripts in the percent format, or the code of one cell.
    """
    import jupytext  # slow to import, and not needed where no page changed

    for instruction, pattern in _OBEYED.items():
        if len(re.findall(pattern, finished)) > len(re.findall(pattern, english)):
            return instruction
    try:
        english_cells = jupytext.reads(english, fmt="py:percent").cells
        finished_cells = jupytext.reads(finished, fmt="py:percent").cells
    except ValueError:  # jupytext reads UTF-8 alone
        return "the name of an encoding"
    english_types = [cell.cell_type for cell in english_cells]
    finished_types = [cell.cell_type for cell in finished_cells]
    if english_types != finished_types:
        return "a mark that begins another cell where the script is opened as a notebook"
    # jupytext removes the # from magics: such a line of code is in neither program.
    known_lines = set(finished.split("\n")) | _lines_of_code(english_cells)
    for line in _lines_of_code(finished_cells):
        if line not in known_lines and not line.lstrip().startswith("#"):
            return "a command that is run where the script is opened as a notebook"
    return ""


def _lines_of_code(cells: Sequence[NotebookNode]) -> set[str]:
    lines: set[str] = set()
    for cell in cells:
        if cell.cell_type == "code":
            lines.update(cell.source.split("\n"))
    return lines

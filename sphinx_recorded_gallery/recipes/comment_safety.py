"""Translated comments that would do something: a magic of a notebook, an example of doctest.

Python does not read comments, nor the text between cells, but other tools do: what they would take
for an instruction, and the English program has not, is refused, in catalogs and in finished files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to import
    from nbformat import NotebookNode

# What tools read, not people, at the start of a comment
_AT_START = re.compile(
    r"%|!|\+|-\*-|noqa\b|nosec\b|type:|fmt:|isort:|ruff:|mypy:|pyright:|pylint:|pragma\b|flake8:"
    r"|yapf:|cython:|distutils:|cspell:|codespell:|fades\b|sphinx_gallery_|In ?\[[\d ]*\]"
    r"|</?(?:code|markdown|raw)cell>|@(?:param|title|markdown)\b|\|\s*[\w-]+:|/// "
    r"|(?-i:(?:end)?region\b|</?(?:end)?region>|</?editor-fold)",
    re.IGNORECASE,
)
# Vim obeys these behind a blank, with or without "set"; "ex" is a word, too.
_MODELINE = r"(?:^|[\s#])(?:[vV]im?(?:[<=>]?\d+)?:|ex:\s*(?:set?\s|\w+(?:[=:]|\s*$)))"
# Some tools look for it anywhere in a comment, or behind a second marker.
_INSIDE = re.compile(
    r"#\s*(?:%%|noqa|nosec|type:|fmt:|isort:|ruff:|mypy:|pyright:|pragma\b|flake8:|doctest:|fades\b)"
    rf"|\bpylint:|-\*-|(?-i:{_MODELINE})",
    re.IGNORECASE,
)
# What a program may not have more often than the English one
_OBEYED = {
    "metadata of a script (PEP 723), by which programs install packages": r"(?m)^#\s*///",
    "a mark of fades, which installs packages": r"(?im)(?:^\W*|#\s*)fades\b",
    "an example that doctest would run": r"(?m)^(?!\s*#).*>>>",
    # which shows links and pictures of it
    "a form of Colab": r"#\s*@(?:title|markdown|param)\b",
    "a mark of a cell": r"(?im)^\s*#\s*(?:In ?\[[\d ]*\]|<(?:code|markdown)cell>)",
    "an instruction to a linter": r"(?i)#\s*(?:noqa|nosec|type:\s*ignore|pragma:)",
    # Vim looks for them in lines at both ends, Emacs at the last page
    "settings of an editor": rf"(?m){_MODELINE}|^[^#\n]*#.*(?:-\*-|(?i:local variables:))",
}


def is_read_by_tools(text: str) -> bool:
    """Tell whether the text of a comment, without its marker, begins as what tools read."""
    return bool(_AT_START.match(text.lstrip("# ")))


def find_mark(text: str) -> bool:
    """Tell whether the text of a comment holds what a tool reads, at its start or within."""
    return is_read_by_tools(text) or bool(_INSIDE.search(text))


def find_instruction(english: str, finished: str) -> str:
    """Return what a tool would make of a finished program and not of the English one, or nothing.

    Both are Python, whole scripts in the percent format or the code of one cell.
    """
    import jupytext  # slow to import, and not needed where no page changed

    for what, pattern in _OBEYED.items():
        if len(re.findall(pattern, finished)) > len(re.findall(pattern, english)):
            return what
    try:
        wanted, found = (
            jupytext.reads(each, fmt="py:percent").cells for each in (english, finished)
        )
    except ValueError:  # it reads UTF-8 alone
        return "the name of an encoding"
    if [cell.cell_type for cell in wanted] != [cell.cell_type for cell in found]:
        return "a mark that begins another cell where the script is opened as a notebook"
    # jupytext takes the # away from magics
    lines = set(finished.split("\n")) | _lines_of_code(wanted)
    if any(
        line not in lines and not line.lstrip().startswith("#") for line in _lines_of_code(found)
    ):
        return "a command that is run where the script is opened as a notebook"
    return ""


def _lines_of_code(cells: Sequence[NotebookNode]) -> set[str]:
    sources = (cell.source for cell in cells if cell.cell_type == "code")
    return {line for source in sources for line in source.split("\n")}

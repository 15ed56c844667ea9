"""Translated comments that would do something: a magic of a notebook, an example of doctest.

Python does not read comments, nor the text between cells, but other tools do: what they would take
for an instruction, and the English program has not, is refused, in catalogs and in finished files.
"""

import re

# What a program may not have more often than the English one
_OBEYED = {
    "metadata of a script (PEP 723), by which programs install packages": r"(?m)^#[ \t]*///",
    "an example that doctest would run": r"(?m)^(?![ \t]*#).*>>>",
    # which shows links and pictures of it
    "a form of Colab": r"#[ \t]*@(?:title|markdown|param)\b",
    # Vim looks for them in lines at both ends, Emacs at the last page
    "settings of an editor": (
        r"(?m)^[ \t]*#.*(?:[ \t](?:[vV]im?|ex):[ \t]*(?:set?[ \t]|\w+=)|-\*-|(?i:local variables:))"
    ),
}


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
    code = [line for cell in found if cell.cell_type == "code" for line in cell.source.split("\n")]
    if set(code) - set(finished.split("\n")):  # jupytext takes the # away from magics
        return "a command that is run where the script is opened as a notebook"
    return ""

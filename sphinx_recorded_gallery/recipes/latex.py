"""LaTeX that a cell showed, split into words and formulas as MathJax splits it in Jupyter.

The check of what strangers recorded and the page both read this list of pieces. They cannot
disagree about where a formula begins.
"""

import re
from dataclasses import dataclass

_BEGIN = re.compile(
    r"(?<!\\)\$\$?|\\\[|\\\("
    r"|\\begin\{(?P<name>(?:align|alignat|eqnarray|equation|flalign|gather|multline)\*?)\}"
)
_ENDS = {
    "$$": re.compile(r"(?<!\\)\$\$"),
    "\\[": re.compile(r"\\\]"),
    "\\(": re.compile(r"\\\)"),
}
_INLINE = re.compile(r"\$([^$]+)(?<!\\)\$")


@dataclass(frozen=True, kw_only=True)
class Words:
    """Text between formulas."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Formula:
    """One formula, without its delimiters."""

    tex: str
    is_block: bool  # it stands on a line of its own
    has_environment: bool  # ``tex`` is a whole environment such as ``align``


def split_latex(latex: str) -> list[Words | Formula]:
    """Return the words and formulas of a text in order; words are never empty."""
    pieces: list[Words | Formula] = []
    end = 0
    place = 0
    without_end: set[str] = set()  # looked for once: else the time grows with the square
    while begin := _BEGIN.search(latex, place):
        formula_end, formula = _read_formula(latex, begin, without_end)
        if formula is None:
            place = begin.start() + 1
            continue
        if begin.start() > end:
            pieces.append(Words(text=latex[end : begin.start()]))
        pieces.append(formula)
        place = end = formula_end
    if end < len(latex):
        pieces.append(Words(text=latex[end:]))
    return pieces


def _read_formula(
    latex: str, begin: re.Match[str], without_end: set[str]
) -> tuple[int, Formula | None]:
    """Return where a formula ends, and the formula; None for a beginning that has no end.

    Beginnings whose end the rest of the text does not have are added to ``without_end``.
    """
    opener = begin[0]
    if opener == "$":
        inline = _INLINE.match(latex, begin.start())
        if inline is None:
            return 0, None
        tex = without_style(inline[1])
        return inline.end(), Formula(tex=tex, is_block=False, has_environment=False)
    if opener in without_end:
        return 0, None
    closer = _ENDS.get(opener) or re.compile(re.escape(f"\\end{{{begin['name']}}}"))
    end = closer.search(latex, begin.end() + 1)
    if end is None:
        without_end.add(opener)
        return 0, None
    has_environment = opener not in _ENDS
    tex = latex[begin.end() : end.start()]
    if has_environment:
        tex = latex[begin.start() : end.end()]
    formula = Formula(
        tex=without_style(tex), is_block=opener != "\\(", has_environment=has_environment
    )
    return end.end(), formula


def without_style(tex: str) -> str:
    """Return a formula without the style that SymPy asks for, which a line of its own has."""
    return tex.strip().removeprefix("\\displaystyle").strip()

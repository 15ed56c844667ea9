"""LaTeX that a cell showed, split into words and formulas as MathJax splits it in Jupyter.

The check of what strangers recorded and the page both read this list of pieces. They cannot
disagree about where a formula begins.
"""

import re
from dataclasses import dataclass

_FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<block>.+?)(?<!\\)\$\$"
    r"|\\\[(?P<brackets>.+?)\\\]"
    r"|(?P<environment>\\begin\{(?P<name>(?:align|alignat|eqnarray|equation|flalign|gather|multline)"
    r"\*?)\}.+?\\end\{(?P=name)\})"
    r"|(?<!\\)\$(?P<inline>[^$]+?)(?<!\\)\$"
    r"|\\\((?P<parentheses>.+?)\\\)",
    re.DOTALL,
)


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
    for match in _FORMULA.finditer(latex):
        if match.start() > end:
            pieces.append(Words(text=latex[end : match.start()]))
        pieces.append(_make_formula(match))
        end = match.end()
    if end < len(latex):
        pieces.append(Words(text=latex[end:]))
    return pieces


def _make_formula(match: re.Match[str]) -> Formula:
    environment = match["environment"]
    block = environment or match["block"] or match["brackets"]
    tex = block or match["inline"] or match["parentheses"]
    return Formula(
        tex=without_style(tex),
        is_block=bool(block),
        has_environment=bool(environment),
    )


def without_style(tex: str) -> str:
    """Return a formula without the style that SymPy asks for, which a line of its own has."""
    return tex.strip().removeprefix("\\displaystyle").strip()

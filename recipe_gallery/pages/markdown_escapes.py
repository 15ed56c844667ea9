"""What keeps plain text from being taken for Markdown, HTML or a formula."""

import re
import unicodedata
from textwrap import indent

# Wherever they stand: what starts code, emphasis, HTML, a character reference, or ends the text of
# a link; and addresses, of which Jupyter makes links though no markup says so. An underscore inside
# a word means nothing, and so does a tilde that can end nothing.
_SIGNS = re.compile(
    r"[\\`*]|(?<![^\W_])_|_(?![^\W_])|<(?! )|&(?=#?\w+;)|\](?=[(:\[])|(?<!\s)~"
    r"|:(?=//)|(?<=[wW]{3})\.|(?<=[\w.+-])@(?=\w)"
)
# At the start of a line: a list, a task, a heading, a quote, a line under a heading or a table;
# and what begins a cell in the comments of a script
_LINE_STARTS = re.compile(
    r"^(?:(?=[-+](?:\s|$)|#{1,6}(?:\s|$)|>|\[[ xX]\]|[-=|:][-=|: ]*$|%%)"
    r"|(\d{1,9}(?=[.)](?:\s|$))|In *(?=\[)))",
    re.MULTILINE,
)
# MathJax looks for formulas in what a paragraph shows, after Markdown has taken backslashes away.
# It looks into each element by itself.
_APART = r"<span>\{}</span>"
_MATH_START = re.compile(r"\\(?:[()\[\]]|begin|end)")


def escape(text: str, *, apart: bool = False, in_link: bool = False) -> str:
    """Return text in which nothing means anything inside a paragraph.

    ``apart`` keeps a dollar sign from making a formula with another one of its paragraph;
    ``in_link`` keeps brackets from ending the text of a link.
    """

    def escape_one(match: re.Match[str]) -> str:
        starts_math = _MATH_START.match(text, match.start())
        return _APART.format("\\") if starts_math else f"\\{match[0]}"

    escaped = _SIGNS.sub(escape_one, text)
    if in_link:
        escaped = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", escaped)
    return escaped.replace("$", _APART.format("$") if apart else r"\$")


def formula(tex: str) -> str:
    """Return a formula in which no link, picture or HTML begins where formulas are not known.

    A space means nothing in TeX, but for words inside of it.
    """
    return re.sub(r"\](?=[(\[:])|<(?=\S)", r"\g<0> ", re.sub(r"(?<!\\)\$", r"\\$", tex))


def protect_lines(text: str) -> str:
    """Return the Markdown of a paragraph in which no line starts something else."""
    return _LINE_STARTS.sub(r"\1\\", text)


def code_span(code: str) -> str:
    """Return code between more backticks than it holds."""
    code = " ".join(code.splitlines())
    fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def code_block(code: str, language: str) -> str:
    """Return code on lines of its own, between more backticks than it holds."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`{3,}", code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}"


def emphasize(text: str, sign: str, tag: str, before: str = "", after: str = "") -> str:
    """Return Markdown between signs, or in an HTML element where signs would not be understood.

    ``before`` and ``after`` are the characters beside it. Between a letter and punctuation,
    Markdown takes an asterisk for itself: a matter of languages without spaces around words.
    """
    if not text:
        return ""
    starts = not _is_sign(text[0]) or not before or _is_sign(before) or before.isspace()
    ends = not _is_sign(text[-1]) or not after or _is_sign(after) or after.isspace()
    if starts and ends and "*" not in (before, after) and not (text[0] + text[-1]).isspace():
        return f"{sign}{text}{sign}"
    return f"<{tag}>{text}</{tag}>"


def quote(text: str) -> str:
    """Return blocks as a quote."""
    return indent(text, "> ", lambda _line: True).replace("> \n", ">\n")


def link(text: str, address: str) -> str:
    """Return a link, or a picture if ``text`` starts with ``!``."""
    address = re.sub(r"[\s()<>$\\|]", lambda match: f"%{ord(match[0]):02X}", address)
    return f"{text}({address})"


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"

"""Slips in the markup of a text that a build shows to readers without a word.

reStructuredText takes what it does not know for plain words: a link of Markdown, a list right below
a sentence, a directive with one colon. ``recorded-gallery check`` tells the author.
"""

import ast
import builtins
import io
import itertools
import re
import symtable
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from sphinx_gallery.py_source_parser import Block

from sphinx_recorded_gallery.api import GalleryError, merge_conflict

from .table_rows import find_uneven_rows

MOST_LINES_OF_CODE = 27  # of a block that is a tab; so many has ``look`` in where_time_goes
_ROLES = "measured|claim|doc|ref|term|math"
_DIRECTIVES = (
    "admonition|answer|attention|caution|chart|code-block|csv-table|danger|does-it-pay|evidence"
    "|figure|folded|gains|glossary|hint|image|important|libraries|list-table|literalinclude|math"
    "|measured-on|note|raw|recipe-rows|release-chart|results|rubric|seealso|spans|table|tip"
    "|toctree|topic|warning"
)
# A unit as somebody types it behind a measurement; of a count, "3 times" is right
_UNITS = (
    r"(?:(?:[mµun]?s|[mun]?secs?|min|[kKMGT]i?B|x|percent|(?:milli|micro)?seconds?|minutes?"
    r"|(?:kilo|mega|giga)?bytes?|(?<=speedup[`}]\s)times)\b|[%×])"
)
# Options of directives, as in ``:caption: Complete``
_OPTIONS = (
    "align|alt|beside|best|caption|case|class|curve|emphasize-lines|header-rows|height|hero|lines"
    "|linenos|name|only|recipe|scale|stub-columns|target|whole|widths?"
)
# What no reader sees as prose: the text keeps its lines where such a piece is left out.
_BLOCKS_OF_CODE = (
    r"(?m)^( *)\.\. (?:code-block|code|gains|math|raw|recipe-rows)::(?: .*)?\n(?:(?:\1 +.*)?\n)*",
    r"(?m)^( *)(?!\.\. )\S.*::\n\n(?:(?:\1 +.*)?\n)*",  # of a directive, the content is a text
)
_ROLE = re.compile(r":[\w:.+-]+:`[^`]+`|`[^`]+`:[\w:]+:")
_LITERAL = re.compile(r"``.+?``", re.DOTALL)
_LINK = re.compile(r"`[^`]+`__?(?!\w)")
_ITEM = re.compile(r"(?P<indent> *)(?:[-*+]|\d+\.) +\S")
_ITEM_MARKS = re.compile(r" *(?:(?:[-*+]|\d+\.)(?: +|$))+")  # ``* - `` begins two lists
_NO_SENTENCE = re.compile(r" *(?:(?:[-*+]|\d+\.) |\.\. |:\w|([^\w\s])\1+$)")
_HEADING = re.compile(
    r"(?:\A|(?<=\n\n))(?P<title>\S.*)\n(?P<line>(?P<sign>[-=~^\"'+#*])(?P=sign)*)$", re.MULTILINE
)
# A line of signs below two lines of words, in no table
_JOINED_HEADING = re.compile(
    r"(?m)^(?!\.\.|([-=~^\"'+#*])\1{3,}$)\S.*\n(?P<title>\S.*)\n"
    r"(?P<sign>[-=~^\"'+#*])(?P=sign){3,}$"
)
# The line above is no mark of a list or of a title
_TOUCHING_DIRECTIVE = re.compile(
    r"(?m)^(?P<indent> *)(?!\.\. |:|\||[-*+] |\d+\. )(?=.*\w)\S.*\n"
    r"(?P=indent)(?P<directive>\.\. [\w-]+::)"
)
# A directive whose code would begin at its own margin
_EMPTY_CODE = re.compile(
    r"(?m)^(?P<indent> *)(?P<directive>\.\. (?:(?:code-block|code|sourcecode):: .*|math::))\n"
    r"(?:(?P=indent) +:[\w-]+:.*\n)*+(?: *\n)*+(?!(?P=indent) +\S)"
)
# A line of a sentence above one that is indented more: a term of a definition list to docutils
_LONG_TERM = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=\n)(?= *[-*+] ))(?P<indent> *(?:(?:[-*+]|\d+\.) +)*)"
    r"(?!\.\. |:[\w-]+: |\|)\S.*[^\s.:?!|]\n(?P<below> +)\S"
)
_SHORTEST_LONG_TERM = 60  # letters; a term is a word or a few
_FENCED_CODE = re.compile(r"(?ms)^ *```.*?(?:^ *```[ \t]*$|\Z)")  # as Markdown has it
_CODE_BLOCK = re.compile(
    r"(?m)^(?P<indent> *)\.\. code-block:: *(?P<language>\w+)\n"
    r"(?P<options>(?: +:\w[\w-]*:.*\n)*)(?P<code>(?:(?:(?P=indent) +.*)?(?:\n|\Z))*)"
)
_OPTION = re.compile(r":(?:caption|class|emphasize-lines|linenos|name):")
# An option that lacks a colon, or the space behind it, below a directive and options that are right
_WRONG_OPTION = re.compile(
    r"(?m)^(?P<indent> *)\.\. [\w-]+::.*\n(?:(?P=indent) +:[\w-]+:(?: .*)?\n)*(?P=indent) +"
    rf"(?P<option>(?:(?P<no_first>{_OPTIONS}):|:(?P<no_last>{_OPTIONS}))(?=\s)"
    rf"|:(?P<no_space>{_OPTIONS}):(?=\S))"
)
_LINES_OF_COMMENT = re.compile(r"(?m)^(?:#.*(?:\n|\Z))+")
# What a comment on code never has: a heading, below no line of signs, a directive or a role
_TEXT_IN_CODE = re.compile(
    r"(?m)^# *(?:\.\. [\w-]+::(?=\s|$))|:(?:claim|doc|measured|ref|term):`"
    r"|(?:\A|(?<=^#\n))# \S.*\n# ?([-=~^\"'+])\1{3,}$"
)
_COMMENT = re.compile(r"\s*(?P<lines>(?:#.*(?:\n|\Z))+)")  # at the beginning of a block
_MARKUP_IN_COMMENT = re.compile(r"(?m)^# *(?:\.\. [\w-]+::|([-=~])\1{3,}$)|:\w+:`")
_CELL_WITH_WORDS = re.compile(r"(?m)^# ?%%[ \t]*\S.*$")

# A pattern, what it is, and what to write
_SLIPS = (
    (
        re.compile(r"!\[[^\]\n]*\]\([^)\s]+\)"),
        "a picture of Markdown",
        "write .. figure:: /_static/picture.png",
    ),
    (
        re.compile(r"(?<!!)\[[^\]\n]+\]\((?:https?:/|#|[\w./-]+\.(?:html|md|rst|py)\b)[^)\s]*\)"),
        "a link of Markdown",
        "write `words <address>`__, or :doc:`words </recipes/memory>` for a page of this site",
    ),
    (
        re.compile(r"~~[^~\n]+~~"),
        "~~ strikes nothing out",
        "leave the words out",
    ),
    (
        re.compile(r"(?m)^ *[-*+] \[[ xX]\] "),
        "a box of Markdown is plain words",
        "leave the brackets out",
    ),
    (
        re.compile(r"\[\^[\w-]+\]"),
        "a footnote of Markdown is plain words",
        "write [1]_ and, in a line of its own, .. [1] and its words",
    ),
    (
        re.compile(r"(?m)^ *> \S"),
        "a quotation of Markdown",
        "indent its lines, without >",
    ),
    (
        re.compile(r"(?m)^ *\|(?: *:?-{2,}:? *\|)+ *$"),
        "a table of Markdown",
        "write .. list-table::, with * - and - before the cells of a row",
    ),
    (
        re.compile(r"(?<![\w_])__(?=\w)[^_\n]*[^_\s]__(?![\w_])"),
        "bold words of Markdown",
        "write **words**",
    ),
    (
        re.compile(r"(?m)^ *:::+ *\{?(?P<name>[a-z][\w-]*)\}?"),
        "a directive of MyST",
        "write .. {name}::, an empty line, and its content indented",
    ),
    (
        re.compile(
            r"</?(?:a|b|br|code|em|i|img|li|p|pre|strong|su[bp]|u|ul)(?: [^<>]*)?/?>|<!--|&\w+;"
        ),
        "HTML, which readers see as it stands",
        "write it in reStructuredText, or leave it out",
    ),
    (
        re.compile(r"(?m)^#{1,6} +\S"),
        "a heading of Markdown",
        "write its words without #, and ---- below them",
    ),
    (
        re.compile(
            r"(?<![\w$])\$\$[^$]+\$\$|(?<![\w$])\$(?:\w|[^\s$][^$\n]*[\\^({=][^$\n]*(?<!\s))\$(?!\w)"
        ),
        "a formula as Markdown has it",
        "write :math:`...` without dollars",
    ),
    (
        re.compile(rf"(?<![\w`]):(?P<role>{_ROLES}): +`[^`]"),
        "a space splits a role",
        "write :{role}:`...` without it",
    ),
    (
        re.compile(rf"(?<![\w:`])(?P<role>{_ROLES}):`[^`]"),
        "a role without its first colon",
        "write :{role}:`...`",
    ),
    (
        re.compile(rf"(?:(?<![\w:])\w+|[.,;!?)\]*]):(?P<role>{_ROLES}):`[^`]"),
        "a role that touches what stands before it is plain words",
        "leave a space before :{role}:",
    ),
    (
        re.compile(rf"(?<!\w):(?P<role>{_ROLES}):[‘’“”´'\"]"),
        "a role with quotes is plain words",
        "write :{role}:`...` with backticks",
    ),
    (
        re.compile(rf"(?<![\w`]):(?P<role>{_ROLES}):``"),
        "a role with two backticks",
        "write :{role}:`...` with one on each side",
    ),
    (
        re.compile(rf"(?::measured:`[^`]+`|(?<!{{){{[\w.:@-]+}})(?:[ \u00a0-]|\n *)*{_UNITS}"),
        "a unit behind a measurement, which shows its own",
        "leave it out",
    ),
    (
        re.compile(r"(?m)^ *\.\. (?P<name>[a-z][\w-]*)::(?=[^\s:])"),
        "without a space behind its colons, it is a comment, which no reader sees",
        "write .. {name}:: and a space",
    ),
    (
        re.compile(r"(?m)^ +\.\. (?P<name>answer|libraries)::"),
        "an indented {name} stands in a quotation",
        "begin its line at the margin",
    ),
    (
        re.compile(rf"(?m)^ *\.\. (?P<name>{_DIRECTIVES}):(?!:)"),
        "one colon makes it a comment, which no reader sees",
        "write .. {name}::",
    ),
    (
        re.compile(r"(?m)^ *\.\.(?P<name>[a-z][\w-]*) ?::"),
        "without a space behind its dots, it is no directive but words",
        "write .. {name}::",
    ),
    (
        re.compile(r"(?<![\w:`])`[^`<]*[^`<\s]<https?://[^`>]+>`"),
        "a link without a space before its <",
        "write `words <address>`__",
    ),
    (
        re.compile(r"(?<![\w:`])`[^`<]+<(?!\w+:)[./]*(?P<page>[\w/-]+)\.html(?:#[^`>]*)?>`__?"),
        "a link to a page by its address, which no build checks",
        "write :doc:`words <{page}>`",
    ),
    (
        re.compile(r"(?<![\w:`])`[^`<]+\s<https?://[^`>]+>`(?!__|:\w)"),
        "a link does not end in two underscores",
        "write `words <address>`__",
    ),
    (
        re.compile(r"(?m)^ *\.\. (?:figure|image):: *(?:https?:)?//"),
        "a picture of another host, and pages load nothing from there",
        "add the file to _static/",
    ),
)
_BRACES = re.compile(r"\{(?P<key>[a-z0-9_-]+(?:[.:][a-z0-9_-]+)+(?:@[\w.]+)?)\}")
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])(?P<words>(?:(?!\n\s*\n).)+?)(?<=\S)\*\*(?!\w)", re.S)


def find_slips(path: Path, first_line: int, text: str) -> Iterator[GalleryError]:
    """Yield the slips of a text that begins in ``first_line``, in the order of the checks."""
    conflict = merge_conflict(path, text, first_line)
    if conflict:  # what else is wrong may be of either side
        yield conflict
        return
    prose = text
    for block in _BLOCKS_OF_CODE:
        prose = re.sub(block, _keep_lines, prose)
    for fence in _FENCED_CODE.finditer(prose):
        line = first_line + prose.count("\n", 0, fence.start())
        remedy = "write .. code-block:: python, an empty line, and the code indented"
        yield GalleryError("code as Markdown has it", path=path, line=line, remedy=remedy)
    prose = _FENCED_CODE.sub(_keep_lines, prose)
    yield from find_uneven_rows(path, first_line, prose)
    # A literal may show any markup.
    prose = _LITERAL.sub(lambda match: f"``x{_keep_lines(match)}``", prose)

    def make_error(what: str, start: int, remedy: str, of: str = prose) -> GalleryError:
        line = first_line + of.count("\n", 0, start)
        return GalleryError(what, path=path, line=line, remedy=remedy)

    lines_with_slips = set()
    for pattern, what, remedy in _SLIPS:
        for match in pattern.finditer(prose):
            start = match.end() - len(match[0].lstrip())
            words = match.groupdict()
            error = make_error(what.format(**words), start, remedy.format(**words))
            lines_with_slips.add(error.line)
            yield error
    for match in _BOLD.finditer(prose):
        if "`" in match["words"]:
            remedy = "end ** before it, and begin again behind it"
            yield make_error("code or a role inside bold words stays plain", match.start(), remedy)
    without_markup = prose
    for pattern in (_LITERAL, _ROLE, _LINK):
        without_markup = pattern.sub(_keep_lines, without_markup)
    for match in _BRACES.finditer(without_markup):
        what = f"{match[0]} shows no measurement outside of a claim"
        yield make_error(what, match.start(), f"write :measured:`{match['key']}`", without_markup)
    for match in re.finditer(r"(?<![\w:`])`[^`\n]+`(?![`\w])", without_markup):
        what = f"{match[0]} in single backticks is not code"
        error = make_error(what, match.start(), "write two on each side", of=without_markup)
        if error.line not in lines_with_slips:  # or else these are of a role that was told
            yield error
    for match in _WRONG_OPTION.finditer(text):
        name = match["no_first"] or match["no_last"]
        remedy = f"did you mean :{name}:?" if name else "leave a space behind it"
        what = f"{match['option']} is no option, but words of its directive"
        yield make_error(what, match.start("option"), remedy, of=text)
    for match in _TOUCHING_DIRECTIVE.finditer(prose):
        what = f"{match['directive']} right below a sentence is part of it"
        yield make_error(what, match.start("directive"), "leave an empty line above it")
    for match in _EMPTY_CODE.finditer(text):
        what = f"{match['directive']} has no content: no line below it is indented"
        remedy = "indent its code by three spaces"
        yield make_error(what, match.start("directive"), remedy, of=text)
    for number in _find_lists_in_items(prose):
        what = "a list right below an item is part of its sentence"
        remedy = "leave an empty line above the inner list, and one below it"
        yield GalleryError(what, path=path, line=first_line + number, remedy=remedy)
    for number in _find_lists_in_sentences(prose):
        what = "a list right below a sentence is part of it"
        remedy = "leave an empty line above the list"
        yield GalleryError(what, path=path, line=first_line + number, remedy=remedy)
    for match in _HEADING.finditer(prose):
        if len(match["line"]) < min(4, len(match["title"])):
            remedy = "write as many signs below a heading as it has letters"
            yield make_error(f"{match['line']} makes no heading", match.start("line"), remedy)
    for match in _LONG_TERM.finditer(prose):
        is_long = len(match[0].partition("\n")[0]) >= _SHORTEST_LONG_TERM
        if is_long and len(match["below"]) > len(match["indent"]):
            what = "this line is indented more than its sentence, which makes a list of terms"
            remedy = "begin it where the line above begins"
            yield make_error(what, match.start("below"), remedy)
    for match in _JOINED_HEADING.finditer(prose):
        what = f"{match['title']!r} makes no heading right below a sentence"
        yield make_error(what, match.start("title"), "leave an empty line above it")


def find_words_behind_marks(path: Path, source: str) -> Iterator[GalleryError]:
    """Yield the places in the source of a recipe where words stand behind ``# %%``."""
    for match in _CELL_WITH_WORDS.finditer(source):
        yield GalleryError(
            "words behind # %% are not shown",
            path=path,
            line=source.count("\n", 0, match.start()) + 1,
            remedy="write them in a comment line below it",
        )


def find_split_texts(path: Path, blocks: Sequence[Block]) -> Iterator[GalleryError]:
    """Yield the comments at the beginning of code that were meant as the rest of the text above.

    An empty line without ``#`` has split them off. A comment on code stands right above it, and has
    no markup.
    """
    _docstring, *below_docstring = blocks
    for above, block in itertools.pairwise(below_docstring):
        if above.type != "text" or block.type != "code":
            continue
        comment = _COMMENT.match(block.content)
        if comment is None or comment["lines"].startswith("# sphinx_gallery_"):
            continue
        below = block.content[comment.end() :]
        is_above_code = bool(below) and not below.startswith("\n")
        if is_above_code and not _MARKUP_IN_COMMENT.search(comment["lines"]):
            continue
        yield GalleryError(
            "this comment is code, and no part of the text above it",
            path=path,
            line=block.lineno + block.content.count("\n", 0, comment.start("lines")),
            remedy="write # in the empty line between them",
        )


def find_texts_in_code(path: Path, blocks: Sequence[Block]) -> Iterator[GalleryError]:
    """Yield the comments in code that were meant as texts, which lack ``# %%`` above them.

    The first one below a text is left out: ``find_split_texts`` tells it.
    """
    docstring = blocks[0]
    for above, block in itertools.pairwise(blocks):
        if block.type != "code":
            continue
        comments = _find_comments(block.content)
        if above.type == "text" and above is not docstring:
            comments = [each for each in comments if block.content[: each.start()].strip()]
        for comment in comments:
            if _TEXT_IN_CODE.search(comment[0]):
                yield GalleryError(
                    "this comment is code, and no text of the page",
                    path=path,
                    line=block.lineno + block.content.count("\n", 0, comment.start()),
                    remedy="write # %% in a line above it",
                )


def _find_comments(code: str) -> list[re.Match[str]]:
    """Return the comments of whole lines in code, without what strings have of them."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    lines = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    comments = []
    for match in _LINES_OF_COMMENT.finditer(code):
        if code.count("\n", 0, match.start()) + 1 in lines:
            comments.append(match)
    return comments


def find_second_titles(
    path: Path, first_line: int, text: str, *, is_docstring: bool = False
) -> Iterator[GalleryError]:
    """Yield the headings in a text that are underlined as titles are.

    The one at the beginning of a docstring is the title.
    """
    for match in _HEADING.finditer(text):
        is_title = is_docstring and not text[: match.start()].strip()
        if match["sign"] == "=" and len(match["line"]) > 3 and not is_title:
            line = first_line + text.count("\n", 0, match.start())
            what = f"{match['title']!r} is a second title"
            yield GalleryError(what, path=path, line=line, remedy="underline it with ----")


def find_wrong_code(path: Path, first_line: int, text: str) -> Iterator[GalleryError]:
    """Yield the blocks of code of a text that cannot be copied: wrong, unmarked or too long."""
    for match in _CODE_BLOCK.finditer(text):
        code = textwrap.dedent(match["code"]).strip("\n")
        line = first_line + text.count("\n", 0, match.start())

        def make_error(what: str, remedy: str, line: int = line) -> GalleryError:
            return GalleryError(what, path=path, line=line, remedy=remedy)

        if match["language"] == "diff" and not re.search(r"(?m)^[-+]", code):
            yield make_error("a diff without a changed line", "begin changed lines with - or +")
        option = _OPTION.match(code)
        if option and not match["options"]:
            yield make_error(
                f"{option[0]} stands below an empty line, where the code begins",
                "write options right below .. code-block::",
            )
            continue
        if match["language"] != "python" or match["code"].partition("\n")[0].strip():
            continue  # or its first line is a wrong option, or lacks the empty line above it
        if code.startswith(">>> "):
            yield make_error("code to copy has the prompt >>>", "leave it out, and the output")
            continue
        try:
            ast.parse(code)
        except SyntaxError as error:
            yield make_error(f"code to copy that Python cannot read: {error.msg}", "mend it")
        count = len(code.splitlines())
        if ":caption:" in match["options"] and count > MOST_LINES_OF_CODE:
            what = f"code to copy has {count} lines, and the most are {MOST_LINES_OF_CODE}"
            yield make_error(what, "shorten it")


def find_unbound_names(path: Path, first_line: int, text: str) -> Iterator[GalleryError]:
    """Yield an error for each block of Python of a docstring that uses a name it never binds.

    Readers copy such a block alone. What Python cannot read is left out, which is told already.
    """
    for match in _CODE_BLOCK.finditer(text):
        if match["language"] != "python":
            continue
        code = textwrap.dedent(match["code"]).strip("\n")
        try:
            names = _list_unbound_names(code)
        except SyntaxError:
            continue
        if names:
            yield GalleryError(
                f"code to copy uses {names[0]}, which nothing in this block imports or defines",
                path=path,
                line=first_line + text.count("\n", 0, match.start()),
                remedy="import or define it there: readers copy the block alone",
            )


def _list_unbound_names(code: str) -> list[str]:
    """Return the names that code uses and neither binds anywhere nor has from Python.

    A name that is bound in a function alone counts as bound, and behind ``import *`` each does.
    """
    bound = {"__name__", "__file__", *dir(builtins)}
    tables = [symtable.symtable(code, "code", "exec")]
    for table in tables:  # it grows while it is read
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_parameter():
                bound.add(symbol.get_name())
    names = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return []
        if isinstance(node, ast.Name) and node.id not in bound:
            names.append(node.id)
    return names


def _find_lists_in_sentences(text: str) -> Iterator[int]:
    """Yield the number, from 0, of the line of each first item that continues a sentence."""
    lines = text.split("\n")
    for number, (above, line) in enumerate(itertools.pairwise(lines), 1):
        item = _ITEM.match(line)
        if item is None or not above.strip() or _NO_SENTENCE.match(above):
            continue
        if len(above) - len(above.lstrip()) != len(item["indent"]):
            continue
        # The sentence may itself be the further lines of an item.
        if not _continues_item(lines[:number], len(item["indent"])):
            yield number


def _find_lists_in_items(text: str) -> Iterator[int]:
    """Yield the number, from 0, of the line of each inner item right below an outer one."""
    for number, (above, line) in enumerate(itertools.pairwise(text.split("\n")), 1):
        item = _ITEM.match(line)
        marks = _ITEM_MARKS.match(above)
        if item and marks and len(item["indent"]) >= len(marks[0]) > 0 and above[marks.end() :]:
            yield number


def _continues_item(lines: list[str], indent: int) -> bool:
    """Return whether the last line, indented by ``indent``, belongs to an item of a list."""
    for line in reversed(lines):
        if not line.strip():
            return False
        own_indent = len(line) - len(line.lstrip())
        if own_indent < indent:
            return False
        if own_indent == indent and _ITEM.match(line):
            return True
    return False


def _keep_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")

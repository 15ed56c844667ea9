"""What the English texts say without a measurement: comparisons, and numbers typed by hand.

``recorded-gallery check`` tells both to the author, and a test asks the same. A sentence that
compares and no measurement can confirm, or a number that is none of a recording, is excused in
``EXCUSES`` by its page, or ``*`` for all pages, and a piece of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError, load_recipes

from .answer_text import find_misplaced_parts
from .compare_calls import find_wrong_sizes, find_wrong_variants
from .length_checks import find_long_parts
from .markup_slips import (
    find_second_titles,
    find_slips,
    find_split_texts,
    find_texts_in_code,
    find_unbound_names,
    find_words_behind_marks,
    find_wrong_code,
)
from .module_imports import find_in_helper, find_lost_imports
from .recipe_files import find_given_up, find_misplaced, find_unknown_titles, find_unlisted
from .source_slips import find_in_source

EXCUSES = Path("tests/site/comparisons.txt")
# Pages that say nothing about what was measured, or show only what a program lists
_UNCHECKED_PAGES = ("glossary", "reference", "translating", "translation_status", "using")
_RECIPES = Path("recipes_source")
_HEADER = _RECIPES / "GALLERY_HEADER.rst"

# What compares, or says that something is so at any size, on any machine.
_COMPARES = re.compile(
    r"\b(?:(?:cheap|clos|dear|fast|high|larg|(?<!no )long|low|quick|short|slow|small)e(?:r|st)"
    r"|(?:half|times|twice) as (?:cheap|fast|quick|slow)"
    r"|sooner|better|worse|hardly|nearly|never|flat|(?:less|fewer) (?:[CG]PU )?(?:time|kernels)"
    r"|than|(?:beat|drop|fall(?!s? back)|gain|grow|lose|outweigh|overtake|rise|shrink|win)s?"
    r"|saves|slows)\b",
    re.IGNORECASE,
)
# A number with the unit of a measurement
_TYPED = re.compile(
    r"(?<![\w.-])\d(?:[\d,.]*\d)?x\b|(?<![\w.-])\d[\d,.]*[ \u00a0]?"
    r"(?:(?:[mµun]?s|min|[kKMGT]i?B|B/s|(?:milli|micro)?seconds?|minutes?|[kmg]igabytes?|percent)\b|[%×])"
)
# Markup and what stands for it while sentences are looked at; each keeps its lines
_MARKUP = {
    r"(?m)^( *)\.\. (?:code-block|math|chart|names|spans)::.*\n(?:(?:\1 +.*)?\n)*": "\n",
    r"(?m)^ *\.\. [\w-]+::.*\n(?: +:.*\n)*": "\n",  # a table's texts stay
    r"(?m)^(\S)\1{3,}$": "",  # of a heading
    r":claim:`[^`]*`": "so",  # one without a comparison is told when its page is built
    r":measured:`[^`]*`|\{[^{}]*\}": "a number",
    r"``[^`]*``|:math:`[^`]*`": "x",
    r"(?::[\w:]+:)?`([^`<]*?)(?:\s*<[^>]*>)?`_*": r"\1",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence that says something without a measurement."""

    path: Path
    line: int  # where its paragraph begins
    sentence: str
    what: str  # is wrong with it
    remedy: str

    @property
    def page(self) -> str:
        """The name of its page, as excuses have it."""
        return self.path.stem


def check_texts(root: Path) -> Iterator[GalleryError]:
    """Yield what the texts of the site say without a measurement and without an excuse.

    Also excuses of which no such sentence is left, slips in markup, what is too long, misplaced
    parts and files, imports that downloads would lack, and sizes that cannot be compared.
    """
    excuses = read_excuses(root)
    used: set[tuple[str, str]] = set()
    for finding in find_all(root):
        matching = set()
        for page, piece in excuses:
            if page in ("*", finding.page) and piece in finding.sentence:
                matching.add((page, piece))
        used |= matching
        if not matching:
            yield GalleryError(
                f'{finding.what}: "{finding.sentence}"',
                path=finding.path,
                line=finding.line,
                remedy=f"{finding.remedy}, or excuse it in {EXCUSES}",
            )
    for (page, piece), line in excuses.items():
        if (page, piece) not in used:
            yield GalleryError(
                f"no sentence needs this excuse any more: {page}: {piece}",
                path=root / EXCUSES,
                line=line,
                remedy="remove the line",
            )
    for path in [*sorted(root.glob("*.rst")), root / _HEADER]:
        yield from find_slips(path, 1, path.read_text(encoding="utf-8"))
    yield from find_misplaced(root / _RECIPES)
    yield from find_unlisted(root, root / _RECIPES)
    yield from find_given_up(root, root / _RECIPES)
    yield from find_unknown_titles(root, root / _RECIPES)
    for path in sorted((root / _RECIPES).glob("_*.py")):
        yield from find_in_helper(path)
    for recipe in load_recipes(root / _RECIPES):
        path = recipe.path
        docstring = recipe.blocks[0]
        source = path.read_text(encoding="utf-8-sig")
        yield from find_words_behind_marks(path, source)
        yield from find_in_source(path, source)
        yield from find_lost_imports(path, recipe.blocks)
        yield from find_wrong_sizes(path, recipe.blocks)
        yield from find_wrong_variants(path, recipe.blocks)
        yield from find_split_texts(path, recipe.blocks)
        yield from find_texts_in_code(path, recipe.blocks)
        yield from find_unbound_names(path, docstring.lineno, docstring.content)
        yield from find_long_parts(path, docstring.lineno, docstring.content)
        for block in recipe.blocks:
            if block.type != "text":
                continue
            yield from find_slips(path, block.lineno, block.content)
            yield from find_wrong_code(path, block.lineno, block.content)
            is_docstring = block is docstring
            yield from find_misplaced_parts(
                path, block.lineno, block.content, is_docstring=is_docstring
            )
            yield from find_second_titles(
                path, block.lineno, block.content, is_docstring=is_docstring
            )


def read_excuses(root: Path) -> dict[tuple[str, str], int]:
    """Return the excuses, each a page and a piece of a sentence, with their lines."""
    excuses = {}
    lines = (root / EXCUSES).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        page, colon, piece = line.partition(": ")
        if colon and not line.startswith("#"):
            excuses[page, piece] = number
    return excuses


def find_all(root: Path) -> Iterator[Finding]:
    """Yield what all pages and recipes say without a measurement, excused or not."""
    for path in [*find_pages(root), root / _HEADER]:
        yield from find_in_text(path, 1, path.read_text(encoding="utf-8"))
    for recipe in load_recipes(root / _RECIPES):
        for block in recipe.blocks:
            if block.type == "text":
                yield from find_in_text(recipe.path, block.lineno, block.content)


def find_pages(root: Path) -> list[Path]:
    """Return the pages at the root that are checked: all but those that are named as unchecked."""
    return [path for path in sorted(root.glob("*.rst")) if path.stem not in _UNCHECKED_PAGES]


def find_in_text(path: Path, first_line: int, text: str) -> Iterator[Finding]:
    """Yield the sentences of a text that compare without a claim, or hold a typed number."""
    for line, part in _split(text):
        words = re.sub(r"^(?:[-*] +)+|\*\*", "", " ".join(part.split()))
        for sentence in re.split(r"(?<=[.:;?!])\s+", words):
            if _COMPARES.search(sentence):
                what = "it compares without a claim"
                remedy = "make it a claim, weaken it"
            elif _TYPED.search(sentence):
                what = "a number is typed by hand"
                remedy = "take it from the recording by :measured:"
            else:
                continue
            yield Finding(
                path=path,
                line=first_line + line,
                sentence=sentence,
                what=what,
                remedy=remedy,
            )


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, items of lists and cells of tables in plain words, with their lines."""
    line = 0
    for part in re.split(r"(\n\s*\n|\n(?=\s*(?:\* +-|[-*]|\d\.)\s))", _remove_markup(text)):
        if part.strip():
            leading = len(part) - len(part.lstrip("\n"))
            yield line + leading, part
        line += part.count("\n")


def _remove_markup(text: str) -> str:
    """Return a text without markup and code, a claim as a word, with as many lines as before."""
    for pattern, words in _MARKUP.items():
        text = re.sub(pattern, partial(_keep_lines, words=words), text)
    return text


def _keep_lines(match: re.Match[str], words: str) -> str:
    plain_words = match.expand(words)
    missing_lines = match[0].count("\n") - plain_words.count("\n")
    return plain_words + "\n" * missing_lines

"""What the recipes and the pages about them say: code that fits, and no guess."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sphinx_recorded_gallery.recipes.recipe import load_recipe
from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import RECIPES

NAMES = ("index", "faq", "how_we_measure", "results", "terms")
SHARED = [ROOT / f"{name}.rst" for name in NAMES]
PAGES = [*SHARED, ROOT / "recipes_source/GALLERY_HEADER.rst", *RECIPES]

# What compares, or says that something is so at any size, on any machine.
COMPARES = re.compile(
    r"\b(?:(?:cheap|clos|dear|fast|high|larg|(?<!no )long|low|quick|short|slow|small)e(?:r|st)"
    r"|sooner|better|worse|hardly|nearly|never|flat|(?:less|fewer) (?:[CG]PU )?(?:time|kernels)"
    r"|than|(?:beat|drop|fall|gain|grow|lose|outweigh|overtake|rise|shrink|win)s?|saves|slows)\b",
    re.IGNORECASE,
)
# Sentences that compare and no figure can confirm, each by a piece of it, and why they may
ALLOWED = Path(__file__).with_name("comparisons.txt").read_text(encoding="utf-8")


def text_of(path: Path) -> str:
    """Return what a reader reads, still marked up."""
    if path.suffix == ".rst":
        return path.read_text(encoding="utf-8")
    blocks = load_recipe(path).blocks
    return "\n\n".join(block.content for block in blocks if block.type == "text")


def plain(text: str) -> str:
    """Return a text without markup and code, a claim as a word."""
    for pattern, words in {
        r"(?m)^( *)\.\. (?:code-block|math|chart|names)::.*\n(?:(?:\1 +.*)?\n)*": "\n",
        r"(?m)^ *\.\. [\w-]+::.*\n(?: +:.*\n)*": "\n",  # a table's texts stay
        r"(?m)^(\S)\1{3,}$": "\n",  # of a heading
        r":claim:`([^`<]*?)\s*<([^`]+)>`": "so",
        r":measured:`[^`]*`|\{[^{}]*\}": "1 s",
        r"``[^`]*``|:math:`[^`]*`": "x",
        r"(?::[\w:]+:)?`([^`<]*?)(?:\s*<[^>]*>)?`_*": r"\1",
    }.items():
        text = re.sub(pattern, words, text)
    return text


def find_comparisons(text: str) -> Iterator[str]:
    """Yield the sentences that compare without a claim, also of a table's cells and of lists."""
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:\* +-|[-*]|\d\.)\s)", plain(text)):
        words = re.sub(r"^(?:[-*] +)+|\*\*", "", " ".join(part.split()))
        yield from filter(COMPARES.search, re.split(r"(?<=[.:;?!])\s+", words))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_code_to_copy_fits_on_a_phone(path: Path) -> None:
    captioned = r"(?m)^\.\. code-block:: python\n   :caption: .*\n((?:   .*\n|\n)+)"
    for code in re.findall(captioned, text_of(path)):
        assert len(code.strip().splitlines()) <= 20  # an iteration in a CUDA graph, for a phone


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_sentence_that_compares_is_a_claim_or_has_a_reason(path: Path) -> None:
    allowed = re.findall(rf"^{path.stem}: (.*)$", ALLOWED, re.MULTILINE)
    found = [*find_comparisons(text_of(path))]
    unclaimed = [each for each in found if not any(piece in each for piece in allowed)]
    assert not unclaimed, "make it a claim, say it with care, or add it to comparisons.txt"
    unused = [piece for piece in allowed if not any(piece in each for each in found)]
    assert not unused, "no such sentence is left: take it out of comparisons.txt"

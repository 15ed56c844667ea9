"""What the recipes and the pages about them say: little code, few words, and no guess."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallery import ROOT
from recipe_gallery.recipes.recipe import Recipe, load_recipe
from site_pages import RECIPES

# Lines of code in sight, without empty ones: a reader is no compiler.
MOST_LINES = {
    "where_time_goes": 80,
    "compiling_optimizer": 110,
    "regional_compilation": 160,
    "cuda_graphs": 170,  # eight pitfalls have code
}
NAMES = ("index", "faq", "how_we_measure", "results", "terms")
SHARED = [ROOT / f"{name}.rst" for name in NAMES]
PAGES = [*SHARED, ROOT / "recipes_source/GALLERY_HEADER.rst", *RECIPES]

CLAIM = re.compile(r":claim:`([^`<]*?)\s*<([^`]+)>`")
# What compares, or says that something is so at any size, on any machine.
COMPARES = re.compile(
    r"\b(?:(?:cheap|clos|dear|fast|high|larg|(?<!no )long|low|quick|short|slow|small)e(?:r|st)"
    r"|sooner|better|worse|hardly|nearly|never|flat|(?:less|fewer) (?:[CG]PU )?(?:time|kernels)"
    r"|than|(?:beat|drop|fall|gain|grow|lose|outweigh|overtake|rise|shrink|win)s?|saves|slows)\b",
    re.IGNORECASE,
)
# Sentences that compare and no figure can confirm, each by a piece of it, and why they may.
ALLOWED = {
    "says what the page is about, and not how it ends": {
        "index": [
            "what that gains",
            "how long the first call takes",
            "What you wait, and what you gain",
            "Below 1× the change loses",
            "in which compiling loses",
            "where the next recording will fall",
            "how much is left to gain",
        ],
        "faq": ["also those that lose"],
        "results": ["left of 1×, it takes longer"],
        "how_we_measure": ['"How long does it take?"'],
        "compile_modes": ["NumPy, and a better formula"],
        "compiling_optimizer": ["Larger models"],
    },
    "defines what is told of figures": {
        "how_we_measure": [
            "If the two are nearly equal",
            "95 of 100 further hosts of the same kind fall inside",
            "no narrower than 0.3%",
            "with the smallest size",
            "with fewer launches than that",
            "saves no more than one percent",
            "differ by less than one percent",
            "fall between the least and the greatest of n",
            'A sentence such as "the compiled step',
        ],
        "terms": [
            "by what each later call saves",
            "GPU time are nearly equal",
            "A share of one leaves",
        ],
        "where_time_goes": [
            "an iteration takes much less time",
            "takes more than a tenth",
        ],
    },
    "tells a reader to look, and promises nothing": {
        "faq": [
            "keep it if the wall time falls",
            "There is little to gain",
            "Look at the slowest request",
            "by what each later call saves",
            "or a better formula",
            "rather than wall times",
            "If your GPU needs longer for the same kernels",
            "a compiled step may overtake",
        ],
        "results": ["with a better formula", "numpy-better-formula"],
        "how_we_measure": ["The quickest way is a download", "another conclusion than the text"],
        "compile_modes": ["keep it if the wall time falls"],
        "where_time_goes": [
            "Then fewer kernels help",
            "asks for batches at a higher rate",
            "fewer launches gain nothing",
            "first use up more batches than the number of workers",
            "may read slower than the workers ask",
        ],
        "token_generation": ["You can wait longer for the compiler"],
        "varying_sizes": [
            "something other than a size",
            "another library than cuDNN computes attention",
        ],
    },
    "follows from what is done, whatever it takes": {
        "how_we_measure": [
            "The profiler slows the CPU down",
            "launching one kernel takes longer",
        ],
        "compiling_optimizer": ["its kernels are shorter"],
        "where_time_goes": [
            "The profiler slows the CPU down",
            "There are more workers than cores",
        ],
        "token_generation": [
            "A static cache alone gains nothing",  # the claim follows behind
            "room for the longest text",
            "begin with the longest text",
            "for the longest prompt and the longest answer",
        ],
        "varying_sizes": [
            "The gain is small, because",  # both times stand before it, and its claim behind
            "with a cache that grows by a place",
        ],
    },
}


def text_of(path: Path) -> str:
    """Return what a reader reads, still marked up."""
    if path.suffix == ".rst":
        return path.read_text(encoding="utf-8")
    blocks = load_recipe(path).blocks
    return "\n\n".join(block.content for block in blocks if block.type == "text")


def plain(text: str, claims: str) -> str:
    """Return a text without markup and code, a claim as ``claims`` says."""
    for pattern, words in {
        r"(?m)^( *)\.\. (?:code-block|math|chart|names)::.*\n(?:(?:\1 +.*)?\n)*": "\n",
        r"(?m)^ *\.\. [\w-]+::.*\n(?: +:.*\n)*": "\n",  # a table's texts stay
        r"(?m)^(\S)\1{3,}$": "\n",  # of a heading
        CLAIM.pattern: claims,
        r":measured:`[^`]*`|\{[^{}]*\}": "1 s",
        r"``[^`]*``|:math:`[^`]*`": "x",
        r"(?::[\w:]+:)?`([^`<]*?)(?:\s*<[^>]*>)?`_*": r"\1",
    }.items():
        text = re.sub(pattern, words, text)
    return text


def find_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, of a table's cells, and of lists."""
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:\* +-|[-*]|\d\.)\s)", text):
        words = re.sub(r"^(?:[-*] +)+|\*\*", "", " ".join(part.split()))
        yield from filter(None, re.split(r"(?<=[.:;?!])\s+", words))


def find_comparisons(text: str) -> list[str]:
    """Return the sentences that compare without a claim."""
    sentences = find_sentences(plain(text, "so"))
    return [sentence for sentence in sentences if COMPARES.search(sentence)]


def name_of(path: Path) -> str:
    """Return how a table here and the output of pytest call a page."""
    return path.stem


@pytest.fixture(params=RECIPES, ids=name_of)
def recipe(request: pytest.FixtureRequest) -> Recipe:
    return load_recipe(request.param)


def test_a_recipe_has_little_code_in_sight(recipe: Recipe) -> None:
    seen = [cell for cell in recipe.cells if not cell.fold]
    lines = [line for cell in seen for line in cell.source.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES.get(recipe.name, 150)


def test_code_for_a_case_is_short(recipe: Recipe) -> None:
    """That it is whole is for the test that runs it."""
    captioned = r"(?m)^\.\. code-block:: python\n   :caption: .*\n((?:   .*\n|\n)+)"
    for code in re.findall(captioned, text_of(recipe.path)):
        assert len(code.strip().splitlines()) <= 20  # an iteration in a CUDA graph, for a phone


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_sentence_that_compares_is_a_claim_or_has_a_reason(path: Path) -> None:
    allowed = [piece for pages in ALLOWED.values() for piece in pages.get(path.stem, [])]
    found = find_comparisons(text_of(path))
    unclaimed = [each for each in found if not any(piece in each for piece in allowed)]
    assert not unclaimed, "make it a claim, say it with more care, or name a reason in ALLOWED"
    unused = [piece for piece in allowed if not any(piece in each for each in found)]
    assert not unused, "no such sentence is left: take it out of ALLOWED"

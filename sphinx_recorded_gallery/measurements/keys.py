"""How prose names measured figures and claims: the texts of the roles ``measured`` and ``claim``.

``adam.100.compiled.speedup`` is a figure of the page's own recipe, and
``compiling_optimizer:adam.100.compiled.speedup`` one of another. What a recipe has once may be left
out: ``compiled.speedup``.

A claim compares such keys, in ``fused.gpu < foreach.gpu``, ``2 * fused.gpu < foreach.gpu`` or, over
sizes, ``step.first_call: 2 < 4 < 8``.
"""

import re
from dataclasses import dataclass, replace

_REFERENCE = re.compile(r"(?:(?P<recipe>[^\s:{}<>,]+):)?(?P<key>[a-z0-9_.-]+)")
_CLAIM = re.compile(r"(?P<text>.+?)\s*<(?=\S)(?P<target>[^>{}]*)>", re.DOTALL)  # a < b is words
_RECIPE = re.compile(r"(?:(?P<recipe>[^\s:{}<>,]+):(?=\S))?(?P<comparison>.+)")
_SIZES = re.compile(r"(?P<key>[a-z0-9_.-]+) ?: (?P<sizes>[^:]+)")
_TERM = re.compile(r"(?:(?P<factor>\d+(?:\.\d+)?) ?\* ?)?(?P<key>[a-z0-9_.-]+)")
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<figure>[^{}]*)\}|(?P<alone>[{}])")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What a role or a pair of braces names."""

    recipe: str  # its name; empty for that of the page
    key: str

    @property
    def name(self) -> str:
        """What has to be the same in a translation."""
        return f"{self.recipe}:{self.key}" if self.recipe else self.key


@dataclass(frozen=True, kw_only=True)
class Term:
    """One side of a comparison."""

    key: str  # may leave out what the recipe has once
    size: str = ""  # that is not in the key
    factor: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ClaimText:
    """A sentence that a recording has to confirm."""

    pieces: tuple[str | Reference, ...]  # words, and the figures between them
    claim: Reference

    @property
    def signature(self) -> str:
        """What has to be the same in a translation: the claim and its figures, in any order."""
        figures = sorted(each.name for each in self.pieces if isinstance(each, Reference))
        shown = "".join(f"{{{name}}} " for name in figures)
        return f":claim:`{shown}<{self.claim.name}>`"

    @property
    def words(self) -> str:
        """The sentence with a space for each figure."""
        return "".join(each if isinstance(each, str) else " " for each in self.pieces)


def parse_reference(text: str) -> Reference:
    """Return what a text names; raise ``ValueError`` that says what is wrong."""
    found = _REFERENCE.fullmatch(" ".join(text.split()))
    if found is None:
        raise ValueError(f"{text!r} is no key; write one such as adam.100.compiled.speedup")
    return Reference(recipe=found["recipe"] or "", key=found["key"])


def parse_claim(text: str) -> ClaimText:
    """Return the sentence of a claim; raise ``ValueError`` that says what is wrong.

    Its figures are of the recipe that the claim names, unless they name one themselves.
    """
    found = _CLAIM.fullmatch(text.strip())
    if found is None:
        raise ValueError("a claim has a sentence and keys; write :claim:`sentence <less < more>`")
    target = " ".join(found["target"].split())
    named = _RECIPE.fullmatch(target)
    if named is None or "<" not in target:
        raise ValueError(
            f"<{target}> compares nothing; write one such as <fused.gpu < foreach.gpu>"
        )
    parse_comparison(named["comparison"])  # what is wrong is told here
    claim = Reference(recipe=named["recipe"] or "", key=named["comparison"])
    pieces: list[str | Reference] = []
    end = 0
    sentence = " ".join(found["text"].split())
    for piece in _PIECE.finditer(sentence):
        if piece["alone"]:
            raise ValueError(f"a {piece[0]} alone; write {2 * piece[0]} for the character")
        pieces.append(sentence[end : piece.start()])
        end = piece.end()
        if piece["figure"] is None:
            pieces.append(piece[0][0])
        else:
            figure = parse_reference(piece["figure"])
            pieces.append(replace(figure, recipe=figure.recipe or claim.recipe))
    pieces.append(sentence[end:])
    return ClaimText(pieces=tuple(filter(None, pieces)), claim=claim)


def parse_comparison(text: str) -> tuple[Term, ...]:
    """Return what a claim says to grow; raise ``ValueError`` that says what is wrong."""
    if over := _SIZES.fullmatch(text):
        sizes = [each.strip() for each in over["sizes"].split("<")]
        return tuple(Term(key=over["key"], size=size) for size in sizes)
    terms = []
    for part in text.split("<"):
        found = _TERM.fullmatch(part.strip())
        if found is None:
            what = "write one such as fused.gpu < foreach.gpu, or first_call: 2 < 4"
            raise ValueError(f"{part.strip()!r} of the claim <{text}> is no key; {what}")
        terms.append(Term(key=found["key"], factor=float(found["factor"] or 1)))
    return tuple(terms)

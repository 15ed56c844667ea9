"""How prose names measurements and claims: the texts of the roles ``measured`` and ``claim``.

``adam.100.compiled.speedup`` is a measurement of the page's own recipe, and
``compiling_optimizer:adam.100.compiled.speedup`` one of another. What a recipe has once may be left
out: ``compiled.speedup``. ``compiled.speedup@2.11`` is that of another release than the page's.

A claim compares such keys, in ``fused.gpu < foreach.gpu``, ``2 * fused.gpu < foreach.gpu`` or, over
sizes, ``step.first_call: 2 < 4 < 8``. ``@2.11`` behind it holds for all of its keys.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

_AT_RELEASE = r"(?: ?@(?P<release>[\w.]+))?"
_REFERENCE = re.compile(rf"(?:(?P<recipe>[^\s:{{}}<>,@]+):)?(?P<key>[a-z0-9_.-]+){_AT_RELEASE}")
_CLAIM = re.compile(r"(?P<text>.+?)\s*<(?=\S)(?P<target>[^>{}]*)>", re.DOTALL)  # a < b is words
_TARGET = re.compile(rf"(?:(?P<recipe>[^\s:{{}}<>,@]+):(?=\S))?(?P<comparison>[^@]+?){_AT_RELEASE}")
_SIZES = re.compile(r"(?P<key>[a-z0-9_.-]+) ?: (?P<sizes>[^:]+)")
_TERM = re.compile(r"(?:(?P<factor>\d+(?:\.\d+)?) ?\* ?)?(?P<key>[a-z0-9_.-]+)")
_ROLE = re.compile(r":(?P<role>measured|claim):`(?P<text>[^`]+)`")
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<measurement>[^{}]*)\}|(?P<alone>[{}])")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What a role or a pair of braces names."""

    recipe: str  # its name; empty for that of the page
    key: str
    release: str = ""  # empty for that of the page

    @property
    def name(self) -> str:
        """What has to be the same in a translation."""
        recipe = f"{self.recipe}:" if self.recipe else ""
        return f"{recipe}{at_release(self.key, self.release)}"


@dataclass(frozen=True, kw_only=True)
class Term:
    """One side of a comparison."""

    key: str  # may leave out what the recipe has once
    size: str = ""  # that is not in the key
    factor: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ClaimText:
    """A sentence that a recording has to confirm."""

    pieces: tuple[str | Reference, ...]  # words, and the measurements between them
    claim: Reference

    @property
    def signature(self) -> str:
        """What has to be the same in a translation: the claim, and its keys in any order."""
        names = sorted(piece.name for piece in self.pieces if isinstance(piece, Reference))
        shown = "".join(f"{{{name}}} " for name in names)
        return f":claim:`{shown}<{self.claim.name}>`"

    @property
    def words(self) -> str:
        """The sentence with a space for each measurement."""
        return "".join(piece if isinstance(piece, str) else " " for piece in self.pieces)


def find_references(text: str) -> Iterator[tuple[int, Reference]]:
    """Yield what the roles of a text name, each with its line, counted from 0.

    What is wrong with a role is told by the build that makes a page of it.
    """
    for match in _ROLE.finditer(text):
        line = text.count("\n", 0, match.start())
        with suppress(ValueError):
            if match["role"] == "measured":
                yield line, parse_reference(match["text"])
            else:
                claim = parse_claim(match["text"])
                for piece in claim.pieces:
                    if isinstance(piece, Reference):
                        yield line, piece
                yield line, claim.claim


def at_release(key: str, release: str) -> str:
    """Return a key as it is written of a release, or of the page's where that is empty."""
    return f"{key}@{release}" if release else key


def parse_reference(text: str) -> Reference:
    """Return what a text names; raise ``ValueError`` that says what is wrong."""
    match = _REFERENCE.fullmatch(" ".join(text.split()))
    if match is None:
        raise ValueError(f"{text!r} is no key; write one such as adam.100.compiled.speedup")
    return Reference(recipe=match["recipe"] or "", key=match["key"], release=match["release"] or "")


def parse_claim(text: str) -> ClaimText:
    """Return the sentence of a claim; raise ``ValueError`` that says what is wrong.

    Its measurements are of the recipe and the release that the claim names, unless they name one
    themselves.
    """
    match = _CLAIM.fullmatch(text.strip())
    if match is None:
        raise ValueError("a claim has a sentence and keys; write :claim:`sentence <less < more>`")
    claim = _parse_target(" ".join(match["target"].split()))
    pieces: list[str | Reference] = []
    end = 0
    sentence = " ".join(match["text"].split())
    for piece in _PIECE.finditer(sentence):
        if piece["alone"]:
            raise ValueError(f"a {piece[0]} alone; write {2 * piece[0]} for the character")
        pieces.append(sentence[end : piece.start()])
        end = piece.end()
        if piece["measurement"] is None:
            pieces.append(piece[0][0])
        else:
            named = parse_reference(piece["measurement"])
            recipe, release = named.recipe or claim.recipe, named.release or claim.release
            pieces.append(replace(named, recipe=recipe, release=release))
    pieces.append(sentence[end:])
    return ClaimText(pieces=tuple(filter(None, pieces)), claim=claim)


def _parse_target(target: str) -> Reference:
    """Return what a claim compares, in the place of a key."""
    if "<" not in target:
        raise ValueError(
            f"<{target}> compares nothing; write one such as <fused.gpu < foreach.gpu>"
        )
    match = _TARGET.fullmatch(target)
    if match is None:
        raise ValueError(
            f"<{target}> names a release within it; a process has one release, so write one @2.11 "
            "behind the whole comparison"
        )
    parse_comparison(match["comparison"])  # which says what is wrong
    return Reference(
        recipe=match["recipe"] or "", key=match["comparison"], release=match["release"] or ""
    )


def parse_comparison(text: str) -> tuple[Term, ...]:
    """Return what a claim says to grow; raise ``ValueError`` that says what is wrong."""
    if over := _SIZES.fullmatch(text):
        sizes = [size.strip() for size in over["sizes"].split("<")]
        return tuple(Term(key=over["key"], size=size) for size in sizes)
    terms = []
    for part in text.split("<"):
        match = _TERM.fullmatch(part.strip())
        if match is None:
            remedy = "write one such as fused.gpu < foreach.gpu, or first_call: 2 < 4"
            raise ValueError(f"{part.strip()!r} of the claim <{text}> is no key; {remedy}")
        terms.append(Term(key=match["key"], factor=float(match["factor"] or 1)))
    return tuple(terms)

"""Names of measurements and claims in prose: the texts of the roles ``measured`` and ``claim``.

``adam.100.compiled.speedup`` is a measurement of the page's own recipe, and
``compiling_optimizer:adam.100.compiled.speedup`` one of another recipe. Parts may be left out if
the rest fits only one measurement: ``compiled.speedup``. ``compiled.speedup@2.11`` names a release
other than the page's.

A claim compares such keys: ``fused.gpu < foreach.gpu``, ``2 * fused.gpu < foreach.gpu`` or, over
sizes, ``step.first_call: 2 < 4 < 8``. ``@2.11`` after it applies to all of its keys.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

# Names of the roles
MEASURED = "measured"
CLAIM = "claim"

_KEY = r"(?P<key>[a-z0-9_.-]+)"
_RECIPE = r"(?P<recipe>[^\s:{}<>,@]+):"
_AT_RELEASE = r"(?: ?@(?P<release>[\w.]+))?"
_REFERENCE = re.compile(rf"(?:{_RECIPE})?{_KEY}{_AT_RELEASE}")
_CLAIM = re.compile(r"(?P<text>.+?)\s*<(?=\S)(?P<target>[^>{}]*)>", re.DOTALL)  # a < b is words
_TURNED_ROUND = re.compile(
    r".*<\s*(?P<greater>[^<>]+?)\s*>\s*(?P<less>[^<>\s][^<>]*?)\s*>", re.DOTALL
)
_TARGET = re.compile(rf"(?:{_RECIPE}(?=\S))?(?P<comparison>[^@]+?){_AT_RELEASE}")
_SPACED_TARGET = re.compile(r"<\s+(?P<target>[^\s<>{}]+(?: ?[<:*] ?[^\s<>{}]+)+)\s*>$")
# Signs in the place of <, as people write comparisons, in what a claim compares
_WRONG_SIGN = re.compile(r"\s<(?=\S)[^{}]*?(?P<sign><=|=<|>=|=>|->|[≤≥→≈])[^{}]*>$")
_INNER_ROLE = re.compile(rf":{MEASURED}:(?:`(?P<key>[^`]*)|\s*$)")
_SIZES = re.compile(rf"{_KEY} ?: (?P<sizes>[^:]+)")
_TERM = re.compile(rf"(?:(?P<factor>\d+(?:\.\d+)?) ?\* ?)?{_KEY}")
# A factor as people write it: 2x a, 2 a, 1,5 * a or a * 2
_NUMBER = r"\d+(?:[.,]\d+)?"
_NAME = r"(?:[a-z]|\d+[.-])[a-z0-9_.-]*[a-z][a-z0-9_.-]*|[a-z]"
# A value as people write it: 5 ms, 20% or 3x
_VALUE = re.compile(
    rf"{_NUMBER} ?(?:[mµun]?s|secs?|min|[km]?hz|[kmgt]i?b|x|%|times|percent"
    r"|(?:milli|micro)?seconds?)",
    re.IGNORECASE,
)
_WRONG_FACTOR = re.compile(
    rf"(?P<before>{_NUMBER}) ?[x×·*]? ?(?P<behind_it>{_NAME})"
    rf"|(?P<before_it>{_NAME}) ?[x×·*] ?(?P<behind>{_NUMBER})"
)
_ROLE = re.compile(rf":(?P<role>{MEASURED}|{CLAIM}):`(?P<text>[^`]+)`")
# Code in reStructuredText, where roles are only examples: what is indented below a directive for
# code or below a line that ends in two colons, and literals
_CODE_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<line>\.\. (?:code|code-block|math|raw|sourcecode)::.*|(?!\.\. )\S.*::) *"
    r"(?P<code>\n(?:(?:(?P=indent) +.*)?(?:\n|\Z))*)",
    re.MULTILINE,
)
_LITERAL = re.compile(r"``.+?``")
_FORMATTED = re.compile(r"(?P<key>[^:]+):(?:,|,?\.\d+)\w?")  # as in an f-string
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<measurement>[^{}]*)\}|(?P<alone>[{}])")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The measurement or comparison that a role or a pair of braces names."""

    recipe: str  # its name; empty for that of the page
    key: str
    release: str = ""  # empty for that of the page

    @property
    def name(self) -> str:
        """Its text, which a translation has to repeat."""
        key = at_release(self.key, self.release)
        if not self.recipe:
            return key
        return f"{self.recipe}:{key}"


@dataclass(frozen=True, kw_only=True)
class ComparisonTerm:
    """One side of a comparison."""

    key: str  # of which parts may be left out
    size: str = ""  # if the key does not name it
    factor: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ClaimText:
    """A sentence that a recording has to confirm."""

    pieces: tuple[str | Reference, ...]  # words, and the measurements between them
    claim: Reference

    @property
    def signature(self) -> str:
        """The parts that a translation has to repeat: the claim, and its keys in any order."""
        names = sorted(piece.name for piece in self.pieces if isinstance(piece, Reference))
        measurements = "".join(f"{{{name}}} " for name in names)
        return f":{CLAIM}:`{measurements}<{self.claim.name}>`"

    @property
    def words(self) -> str:
        """The sentence with a space in the place of each measurement."""
        words = ""
        for piece in self.pieces:
            if isinstance(piece, str):
                words += piece
            else:
                words += " "
        return words


def find_references(text: str) -> Iterator[tuple[int, Reference]]:
    """Yield the references in the roles of a text, each with its line, counted from 0.

    Roles with mistakes are left out: the build of the page reports them. So are roles in code.
    """
    text = _CODE_BLOCK.sub(lambda block: block["line"] + "\n" * block["code"].count("\n"), text)
    text = _LITERAL.sub("", text)
    for match in _ROLE.finditer(text):
        line = text.count("\n", 0, match.start())
        with suppress(ValueError):
            named = parse_role(match["role"], match["text"])
            if isinstance(named, Reference):
                yield line, named
            else:
                for piece in named.pieces:
                    if isinstance(piece, Reference):
                        yield line, piece
                yield line, named.claim


def parse_role(role: str, text: str) -> Reference | ClaimText:
    """Return what a role names, by the name of the role; raise ``ValueError`` for mistakes."""
    if role == MEASURED:
        return parse_reference(text)
    if role == CLAIM:
        return parse_claim(text)
    raise ValueError(f"no role is called {role!r}")


def at_release(key: str, release: str) -> str:
    """Return a key with its release, if it names one."""
    if not release:
        return key
    return f"{key}@{release}"


def parse_reference(text: str) -> Reference:
    """Return the reference that a text is; raise ``ValueError`` with the reason if it is none."""
    words = " ".join(text.split())
    match = _REFERENCE.fullmatch(words)
    if match is None and _REFERENCE.fullmatch(words.lower()):
        raise ValueError(f"{text!r} is not a key; write it in lower case: {words.lower()}")
    if match is None:
        raise ValueError(f"{text!r} is not a key; write one such as adam.100.compiled.speedup")
    return Reference(recipe=match["recipe"] or "", key=match["key"], release=match["release"] or "")


def parse_claim(text: str) -> ClaimText:
    """Return the sentence of a claim; raise ``ValueError`` with the reason if it is none.

    By default its measurements are of the recipe and the release that the claim names.
    """
    wrong_sign = _WRONG_SIGN.search(text.strip())
    if wrong_sign:
        sign = wrong_sign["sign"]
        raise ValueError(f"{sign} in a claim; write < in its place, behind the lesser measurement")
    match = _CLAIM.fullmatch(text.strip())
    turned_round = _TURNED_ROUND.fullmatch(text.strip())
    if match is None and turned_round:
        less, greater = turned_round["less"], turned_round["greater"]
        raise ValueError(
            f"a claim compares from the least to the greatest: turn <{greater} > {less}> round, "
            f"as <{less} < {greater}>"
        )
    inner_role = _INNER_ROLE.search(text)
    if match is None and inner_role:
        text = "a measurement inside of a claim stands in braces"
        if inner_role["key"]:
            raise ValueError(f"{text}; write {{{inner_role['key']}}}")
        raise ValueError(f"{text}, as in {{fused.speedup}}")  # the role ended at its backtick
    spaced = _SPACED_TARGET.search(text.strip())
    if match is None and spaced:
        raise ValueError(f"spaces inside of < and > of a claim; write <{spaced['target']}>")
    if match is None:
        raise ValueError("a claim has a sentence and keys; write :claim:`sentence <less < more>`")
    claim = _parse_target(" ".join(match["target"].split()))
    pieces: list[str | Reference] = []
    end = 0
    sentence = " ".join(match["text"].split())
    for piece in _PIECE.finditer(sentence):
        if piece["alone"]:
            other = "}" if piece[0] == "{" else "{"
            remedy = f"add it, or write {2 * piece[0]} for the character"
            raise ValueError(f"a {piece[0]} without its {other}; {remedy}")
        pieces.append(sentence[end : piece.start()])
        end = piece.end()
        if piece["measurement"] is None:
            doubled = piece[0]  # {{ or }}
            pieces.append(doubled[0])
        else:
            formatted = _FORMATTED.fullmatch(piece["measurement"])
            if formatted:
                remedy = f"write {{{formatted['key']}}}: the build chooses the digits"
                raise ValueError(f"a measurement in braces has no format; {remedy}")
            reference = parse_reference(piece["measurement"])
            recipe = reference.recipe or claim.recipe
            release = reference.release or claim.release
            pieces.append(replace(reference, recipe=recipe, release=release))
    pieces.append(sentence[end:])
    not_empty = tuple(piece for piece in pieces if piece)
    return ClaimText(pieces=not_empty, claim=claim)


def _parse_target(target: str) -> Reference:
    """Return the comparison of a claim as a reference, with the comparison as its key."""
    if not is_comparison(target):
        raise ValueError(
            f"<{target}> compares nothing; write one such as <fused.gpu < foreach.gpu>"
        )
    match = _TARGET.fullmatch(target)
    if match is None:
        comparison, _at, release = target.rpartition("@")
        if "@" not in comparison and not is_comparison(release):
            raise ValueError(f"<{target}> needs a release right behind the @, such as @2.11")
        raise ValueError(
            f"<{target}> names a release inside the comparison; a process has one release, so "
            "write it once at the end, such as @2.11"
        )
    parse_comparison(match["comparison"])  # raises ValueError for mistakes
    return Reference(
        recipe=match["recipe"] or "", key=match["comparison"], release=match["release"] or ""
    )


def is_comparison(key: str) -> bool:
    """Return whether the key of a reference compares measurements instead of naming one."""
    return "<" in key


def parse_comparison(text: str) -> tuple[ComparisonTerm, ...]:
    """Return the terms of a comparison, the smallest first; raise ``ValueError`` for mistakes."""
    terms = []
    over_sizes = _SIZES.fullmatch(text)
    if over_sizes:
        for size in over_sizes["sizes"].split("<"):
            if not size.strip():
                raise ValueError(
                    f"a size is missing in the claim <{text}>; write one such as 2 < 4"
                )
            terms.append(ComparisonTerm(key=over_sizes["key"], size=size.strip()))
        return tuple(terms)
    for part in text.split("<"):
        match = _TERM.fullmatch(part.strip())
        if match is None:
            remedy = _correct_term(part.strip())
            raise ValueError(f"{part.strip()!r} in the claim <{text}> is not a key; {remedy}")
        terms.append(ComparisonTerm(key=match["key"], factor=float(match["factor"] or 1)))
    return tuple(terms)


def _correct_term(term: str) -> str:
    """Return what to write in place of a side of a comparison that is neither key nor factor."""
    if _VALUE.fullmatch(term):
        return "a claim compares measurements: name another one in its place"
    factor = _WRONG_FACTOR.fullmatch(term)
    if factor:
        number = factor["before"] or factor["behind"]
        name = factor["behind_it"] or factor["before_it"]
        remedy = f"write a factor as {number.replace(',', '.')} * {name}"
        if "," in number:
            return f"{remedy}, with a decimal point"
        if factor["behind"]:
            return f"{remedy}: it stands first"
        return remedy
    if _TERM.fullmatch(term.lower()):
        return f"write it in lower case: {term.lower()}"
    return "write one such as fused.gpu < foreach.gpu, or first_call: 2 < 4"

"""What is told of a comparison that is written as people write one elsewhere."""

import re

import pytest

from sphinx_recorded_gallery.measurements.keys import parse_claim, parse_reference


@pytest.mark.parametrize("sign", ["<=", ">=", "->", "=>", "≤", "≥", "→", "≈"])
def test_a_sign_in_the_place_of_less_is_told(sign: str) -> None:
    told = f"{sign} in a claim; write < in its place, behind the lesser measurement"
    with pytest.raises(ValueError, match=f"^{told}$"):
        parse_claim(f"so <a.wall {sign} b.wall>")
    with pytest.raises(ValueError, match=f"^{told}$"):
        parse_claim(f"so <a.wall < b.wall {sign} c.wall>")


@pytest.mark.parametrize(
    ("term", "remedy"),
    [
        ("2x a.wall", "write a factor as 2 * a.wall"),
        ("2× a.wall", "write a factor as 2 * a.wall"),
        ("1.5 a.wall", "write a factor as 1.5 * a.wall"),
        ("1,5 * a.wall", "write a factor as 1.5 * a.wall, with a decimal point"),
        ("a.wall * 2", "write a factor as 2 * a.wall: it stands first"),
        ("64.a.wall * 2", "write a factor as 2 * 64.a.wall: it stands first"),
        ("5 ms", "a claim compares measurements: name another one in its place"),
        ("20%", "a claim compares measurements: name another one in its place"),
        ("A.wall", "write it in lower case: a.wall"),
        ("a wall", "write one such as fused.gpu < foreach.gpu, or first_call: 2 < 4"),
    ],
)
def test_a_term_is_told_with_what_to_write(term: str, remedy: str) -> None:
    with pytest.raises(ValueError, match="in the claim") as refused:
        parse_claim(f"so <{term} < b.wall>")
    assert str(refused.value) == f"{term!r} in the claim <{term} < b.wall> is not a key; {remedy}"


def test_a_key_with_capitals_is_told() -> None:
    with pytest.raises(ValueError, match=r"is not a key; write it in lower case: adam\.wall$"):
        parse_reference("Adam.wall")
    assert parse_reference("Recipe:adam.wall").recipe == "Recipe"


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("it is :measured:", "a measurement inside of a claim stands in braces, as in"),
        (
            "it is :measured:`a.wall",  # as far as docutils reads it
            "a measurement inside of a claim stands in braces; write {a.wall}",
        ),
        ("so < a.wall < b.wall >", "spaces inside of < and > of a claim; write <a.wall < b.wall>"),
        ("so < 2 * a.wall < b.wall>", "spaces inside of < and > of a claim; write <2 * a.wall < "),
        ("so it is", "a claim has a sentence and keys; write :claim:`sentence <less < more>`"),
        ("a < b words", "a claim has a sentence and keys; write :claim:`sentence <less < more>`"),
    ],
)
def test_a_claim_without_keys_is_told(claim: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
        parse_claim(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "from {a.wall} → {b.wall} <2 * b.wall < a.wall>",
        "x ≤ y, and a <b> c <b.wall < a.wall>",
        "so <1.5*a.wall < b.wall@2.11>",
        "so <first_call: a=1 < a=2>",
    ],
)
def test_right_claims_are_read(claim: str) -> None:
    assert parse_claim(claim).claim.key

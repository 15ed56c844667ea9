"""How prose names figures and claims: what is understood, and what is told instead."""

import pytest

from recipe_gallery.recipes.references import (
    ClaimText,
    Reference,
    Term,
    find_claims,
    leave_out_measurements,
    parse_claim,
    parse_comparison,
    parse_reference,
)


@pytest.mark.parametrize(
    ("text", "found", "name"),
    [
        ("adam.100.time", Reference(recipe="", key="adam.100.time"), "adam.100.time"),
        (
            "part/recipe:a.b-c_d",
            Reference(recipe="part/recipe", key="a.b-c_d"),
            "part/recipe:a.b-c_d",
        ),
        (" a.b ,\n number ", Reference(recipe="", key="a.b", form="number"), "a.b"),
    ],
)
def test_a_reference_names_a_figure_its_recipe_and_its_form(
    text: str, found: Reference, name: str
) -> None:
    assert parse_reference(text) == found
    assert found.name == name


@pytest.mark.parametrize("text", ["", "A.b", "a:b:c", "a, number, b"])
def test_what_is_no_key_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is no key") as caught:
        parse_reference(text)
    assert str(caught.value) == f"{text!r} is no key; write one such as adam.100.compiled.speedup"


def test_a_claim_has_words_figures_and_a_key() -> None:
    found = parse_claim("It takes {b.c, number} {{s}}\n of {other:a.b} <recipe:faster>\n")
    claim = Reference(recipe="recipe", key="faster")
    first = Reference(recipe="recipe", key="b.c", form="number")
    second = Reference(recipe="other", key="a.b")
    pieces = ("It takes ", first, " ", "{", "s", "}", " of ", second)
    assert found == ClaimText(pieces=pieces, claim=claim)
    assert found.words == "It takes   {s} of  "
    assert found.signature == ":claim:`{other:a.b} {recipe:b.c} <recipe:faster>`"
    assert parse_claim("Words <c>").signature == ":claim:`<c>`"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no key", "a claim has a sentence and a key; write :claim:`sentence <key>`"),
        ("It <a.b, number>", "'a.b, number': the key of a claim has no form"),
        ("It {a <c>", "a { alone; write {{ for the character"),
        (
            "It <a.gpu < B>",
            "'B' of the claim <a.gpu < B> is no key; write one such as fused.gpu < foreach.gpu, "
            "or first_call: 2 < 4",
        ),
        ("It {A} <c>", "'A' is no key; write one such as adam.100.compiled.speedup"),
    ],
)
def test_what_is_no_claim_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_claim(text)
    assert str(caught.value) == told


def test_a_claim_compares_keys() -> None:
    found = parse_claim("It needs {a.gpu} <part/recipe:2 * a.gpu\n< b.gpu>").claim
    assert found == Reference(recipe="part/recipe", key="2 * a.gpu < b.gpu")
    assert parse_claim("It <1.5*a<b>").signature == ":claim:`<1.5*a<b>`"
    assert parse_comparison("2 * a.gpu < b.gpu < c") == (
        Term(key="a.gpu", factor=2.0),
        Term(key="b.gpu"),
        Term(key="c"),
    )
    sizes = parse_claim("Longer <step.first_call: 2 < 4 < 2^20>").claim
    assert sizes == Reference(recipe="", key="step.first_call: 2 < 4 < 2^20")
    assert parse_comparison(sizes.key) == tuple(
        Term(key="step.first_call", size=size) for size in ("2", "4", "2^20")
    )


def test_claims_of_a_text_are_found_and_what_is_none_is_left_to_the_build() -> None:
    text = ":claim:`It {a.b} <c>`, :measured:`d`, :claim:`no key` and :claim:`More <other:e>`"
    assert find_claims(text) == {Reference(recipe="", key="c"), Reference(recipe="other", key="e")}
    assert find_claims("none") == set()


def test_where_no_figure_can_be_shown_its_words_are() -> None:
    text = ":claim:`It takes {a.b} {{s}} <c>`, :measured:`a.b`, :claim:`no key` and :doc:`x`"
    assert leave_out_measurements(text) == "It takes … {s}, …, no key and :doc:`x`"

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe_gallery.recipes.fingerprint import fingerprint_code, strip_comments

STATEMENTS = [
    "x = 1",
    "def f(a):\n    return a + 1",
    'text = """first\n\n  # not a comment   \nlast"""',
    "y = [\n    1,\n    2,\n]",
    "z = f'{x} # not a comment'",
    "if x:\n    pass\nelse:\n    x = 2",
]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1  # why"),
        ("x = 1\ny = 2", "# first\nx = 1\n\n\n# second\ny = 2\n"),
        ("def f():\n    return 1", "def f():\n    # inside\n\n    return 1   \n"),
        ("y = [\n    1,\n]", "y = [  # open\n\n    1,  # one\n    # none\n]"),
    ],
)
def test_comments_and_blank_lines_do_not_count(one: str, other: str) -> None:
    assert fingerprint_code(one) == fingerprint_code(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 2"),
        ("s = '# a'", "s = '# b'"),
        ('s = """a\n\nb"""', 's = """a\nb"""'),
        ('s = """a  \nb"""', 's = """a\nb"""'),
        ("if x:\n    a()\n    b()", "if x:\n    a()\nb()"),
        ("x = a \\\n\n(b)", "x = a \\\n(b)"),
        ('s = f"""{x}\n\n"""', 's = f"""{x}\n"""'),
        ('s = f"""{x}  \n"""', 's = f"""{x}\n"""'),
    ],
)
def test_code_and_strings_count(one: str, other: str) -> None:
    assert fingerprint_code(one) != fingerprint_code(other)


def test_strings_are_kept_to_the_letter() -> None:
    source = 's = """one  \n\n  # two\n"""  # why\n'
    assert strip_comments(source) == 's = """one  \n\n  # two\n"""'


@given(
    statements=st.lists(st.sampled_from(STATEMENTS), min_size=1),
    comment=st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])),
    blank_lines=st.integers(0, 3),
)
def test_any_comment_between_statements_leaves_the_fingerprint(
    statements: list[str], comment: str, blank_lines: int
) -> None:
    plain = "\n".join(statements)
    commented = ("\n" * blank_lines + f"# {comment}\n").join(f"{line}\n" for line in statements)
    assert fingerprint_code(commented) == fingerprint_code(plain)

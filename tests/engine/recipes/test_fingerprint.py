from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.fingerprint import (
    find_imports,
    fingerprint_code,
    fingerprint_modules,
    strip_comments,
)

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


def test_imports_are_found_wherever_they_stand() -> None:
    code = "import a.b, c as d\nfrom e.f import g\ndef h():\n    import i\n"
    assert find_imports(code) == {"a", "c", "e", "i"}


def test_modules_beside_a_recipe_are_found_with_what_they_import(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("import inner\nimport json\n")
    (tmp_path / "inner.py").write_text("import near  # a circle\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    package = tmp_path / "package"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep" / "part.py").write_text("import other\n")
    (tmp_path / "folder").mkdir()
    assert list(fingerprint_modules(["near", "json"], tmp_path)) == ["inner.py", "near.py"]
    found = fingerprint_modules(["package", "folder"], tmp_path)
    assert list(found) == ["other.py", "package/__init__.py", "package/deep/part.py"]


def test_only_the_code_of_a_module_counts(tmp_path: Path) -> None:
    module = tmp_path / "near.py"
    found = []
    for text in ("x = 1\n", "x = 1  # one\n", "x = 2\n"):
        module.write_text(text)
        found.append(fingerprint_modules(["near"], tmp_path))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("content", [b"x = (", b"\xff", b"x = '\0'"])
def test_a_module_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    module = tmp_path / "near.py"
    module.write_bytes(content)
    with pytest.raises(GalleryError, match="cannot be read") as caught:
        fingerprint_modules(["near"], tmp_path)
    assert caught.value.path == module

from pathlib import Path
from tokenize import NAME, NUMBER, OP, STRING, TokenInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_recorded_gallery.recipes import fingerprint
from sphinx_recorded_gallery.recipes.fingerprint import (
    find_tokens,
    fingerprint_code,
    fingerprint_modules,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s = '# a'", "s = '# b'"),
        ('s = """a\n\nb"""', 's = """a\nb"""'),
        ('s = """a  \nb"""', 's = """a\nb"""'),
        ("if x:\n    a()\n    b()", "if x:\n    a()\nb()"),
        ("x = a \\\n\n(b)", "x = a \\\n(b)"),
        ('s = f"""{x}\n\n"""', 's = f"""{x}\n"""'),
    ],
)
def test_code_and_strings_count(one: str, other: str) -> None:
    assert fingerprint_code(one) != fingerprint_code(other)


# With a docstring in each place; DOC stands for it.
DOCUMENTED = """DOC
import os  # why


@decorate(lambda x: x[1:2])
class A[T](Base, key={"a": 1}):
    DOC

    x: int = 1

    async def f(self, a: dict[str, int] = {1: 2}, *, b=lambda: 3) -> "A":
        DOC
        text = "kept"
        if a:
            "kept, too"
        def inner(): DOC
        class Empty(Exception):
            # why
            DOC  # why
        return f"{a:>3} {text}"


y = a[1:2]
"""
WORDS = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters='"\\')
)


def with_docstring(docstring: str, source: str = DOCUMENTED) -> str:
    return source.replace("DOC", docstring)


@given(first=WORDS, last=WORDS, quotes=st.sampled_from(['"', '"""', 'r"', 'u"', 'R"""']))
def test_any_docstring_or_comment_leaves_the_fingerprint(
    first: str, last: str, quotes: str
) -> None:
    closing = quotes.lstrip("rRuU")
    inner = f"{first}\n\n  {last} " if len(closing) == 3 else first + last
    source = with_docstring(f"{quotes}{inner}{closing}").replace("# why", f"# {first}\n\n# {last}")
    other = fingerprint_code(source, is_module=True)
    assert other == fingerprint_code(with_docstring('"Words."'), is_module=True)


@given(st.data())
def test_any_other_token_changes_the_fingerprint(data: st.DataObject) -> None:
    source = with_docstring('"Words."')
    lines = source.splitlines()
    tokens = [each for each in find_tokens(source) if each.type in (NAME, NUMBER, OP, STRING)]
    token = data.draw(st.sampled_from([each for each in tokens if each.string != '"Words."']))
    row, column = token.start[0] - 1, token.end[1] - (token.string[-1:] == '"')
    lines[row] = lines[row][:column] + "0" + lines[row][column:]
    try:
        changed = fingerprint_code("\n".join(lines), is_module=True)
    except SyntaxError:
        return
    assert changed != fingerprint_code(source, is_module=True)


@pytest.mark.parametrize(
    "code",
    [
        '"shown"',  # on top of a cell: Jupyter shows it
        'def f():\n    return "shown"',
        'def f():\n    f"shown"',
        'def f():\n    x\n    "shown"',
        'def f():\n    "docstring"\n    "shown"',
        'if (lambda: 1):\n    "shown"',
        'x = {"class": "shown"}',
    ],
)
def test_a_string_that_is_no_docstring_counts(code: str) -> None:
    assert fingerprint_code(code) != fingerprint_code(code.replace("shown", "other"))


def test_a_body_of_a_docstring_alone_is_not_another_body() -> None:
    bodies = ["'Words.'", "pass", "...", "x = 1", "f'{x}'"]
    found = {fingerprint_code(f"def f():\n    {body}\n\n\ny = 1\n") for body in bodies}
    assert len(found) == len(bodies)
    inside, behind = ("def f():\n    'Words.'\n    y = 1", "def f():\n    'Words.'\ny = 1")
    assert fingerprint_code(inside) != fingerprint_code(behind)


def test_modules_beside_a_recipe_are_found_with_what_they_import(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("def f():\n    from inner import x as y\nimport json\n")
    (tmp_path / "inner.py").write_text("import near  # a circle\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    package = tmp_path / "package"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep" / "part.py").write_text("import other\n")
    (tmp_path / "folder").mkdir()

    def find(*names: str) -> list[str]:
        return [*fingerprint_modules(names, tmp_path)]

    assert find("near", "json") == ["inner.py", "near.py"]
    assert find("package", "folder") == ["other.py", "package/__init__.py", "package/deep/part.py"]


def test_only_the_code_of_a_module_counts(tmp_path: Path) -> None:
    module = tmp_path / "near.py"
    found = []
    for text in ("x = 1\n", "x = 1  # one\n", "'Words.'\nx = 1\n", "x = 2\n"):
        module.write_text(text)
        found.append(fingerprint_modules(["near"], tmp_path))
    assert found[0] == found[1] == found[2] != found[3]


@pytest.mark.parametrize("kind", ["F", "T"])
def test_an_f_string_that_python_cuts_up_is_one_token(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    # as Python 3.12 gives f"a{f"{b}"}c" + d: recordings fit whichever Python reads recipes
    names = {1001: f"{kind}STRING_START", 1002: "FSTRING_MIDDLE", 1003: f"{kind}STRING_END"}
    line = 'f"a{f"{b}"}c" + d\n'
    cut = [
        *((1001, 'f"', 0), (1002, "a", 2), (OP, "{", 3), (1001, 'f"', 4), (OP, "{", 6)),
        *((NAME, "b", 7), (OP, "}", 8), (1003, '"', 9), (OP, "}", 10), (1002, "c", 11)),
        *((1003, '"', 12), (OP, "+", 14), (NAME, "d", 16)),
    ]
    tokens = [
        TokenInfo(kind, text, (1, start), (1, start + len(text)), line) for kind, text, start in cut
    ]
    monkeypatch.setattr(fingerprint, "tok_name", fingerprint.tok_name | names)
    monkeypatch.setattr(fingerprint, "generate_tokens", lambda readline: iter(tokens))
    found = [(token.type, token.start, token.end) for token in find_tokens.__wrapped__(line)]
    assert found == [(STRING, (1, 0), (1, 13)), (OP, (1, 14), (1, 15)), (NAME, (1, 16), (1, 17))]

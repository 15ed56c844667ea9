"""Sizes of ``bench.compare``, which ``make record`` looks at before anything runs."""

from pathlib import Path

import pytest

from second_call.before_recording import find_problems

TITLE = '"""\nTitle\n=====\n"""\n\n'
REMEDY = 'write what a size counts, and a list: sizes=("millions", [1, 4, 16])'
FUNCTION = "hand over a function of the size that returns them, without calling it"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("bench.compare('a', f, sizes=[1, 4, 16])", f"sizes have 3 parts, and not two; {REMEDY}"),
        ("bench.compare('a', f, (1, 4))", f"sizes do not begin with a word, but with 1; {REMEDY}"),
        ("bench.compare('a', f, sizes=4)", f"4 stands alone as sizes; {REMEDY}"),
        (
            "bench.compare('a', f, sizes=('millions', 4))",
            f"the values of sizes are no list, but 4; {REMEDY}",
        ),
        (
            "bench.compare('a', {'b': c}, sizes=('millions', [4]))",
            f"these variants are the same for each of the sizes; {FUNCTION}",
        ),
        ("bench.compare('a', f, sizes=('millions', [1, 4]))", ""),
        ("bench.compare('a', f, sizes=('millions', some[1:]))", ""),
        ("bench.compare('a', f, sizes=[word, [1, 4]])", ""),
        ("bench.compare('a', f, sizes=None)", ""),
        ("bench.compare('a', {'b': c})", ""),
        ("bench.compare('a', make(1), sizes=('millions', [4]))", ""),
    ],
)
def test_wrong_sizes_are_told(tmp_path: Path, code: str, told: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"{TITLE}{code}\n")
    assert [str(error) for error in find_problems(tmp_path)] == (
        [f"{path}:6: {told}"] if told else []
    )


def test_sizes_with_a_name_are_told_where_they_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    call = "bench.compare('a', f, sizes=sizes)\n"
    path.write_text(f"{TITLE}sizes = [1, 4, 16]\n\n# %%\n# Words.\n\n{call}")
    [told] = find_problems(tmp_path)
    assert str(told).startswith(f"{path}:11: sizes have 3 parts")
    path.write_text(f"{path.read_text()}sizes = ['millions', [1]]\n{call}")
    assert list(find_problems(tmp_path)) == []  # which of them is meant is not known


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return [1]", "make returns a list, and no variants to compare"),
        ("return lambda: 1, lambda: 2", "make returns a tuple, and no variants to compare"),
        ("variants = {'a': b}", "make returns nothing, and no variants to compare"),
        ("def f():\n        return 1", "make returns nothing, and no variants to compare"),
        ("yield 'a', b", "make returns a generator, and no variants to compare"),
        ("return {'a': b}", ""),
        ("variants = {'a': b}\n    return variants", ""),
        ("if x:\n        return {}\n    return dict(a=b)", ""),
        ("return others(x)", ""),
    ],
)
@pytest.mark.parametrize("variants", ["make", "make(1)"])
def test_a_function_that_returns_no_variants_is_told(
    tmp_path: Path, body: str, told: str, variants: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"{TITLE}def make(x):\n    {body}\n\n\nbench.compare('a', {variants})\n")
    remedy = 'return a dictionary of functions: {"eager": lambda: step(x)}'
    expected = [f"{path}:6: {told}; {remedy}"] if told else []
    assert [str(error) for error in find_problems(tmp_path)] == expected

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

"""What charts show, for `check` to list what of it is left to a GPU."""

import pytest

from second_call.charts.keys import find_keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Words.\n\n.. chart:: gpu\n\n   A.", [(2, "gpu")]),
        (".. chart:: gpu\n   :best: b\n   :case: A case.64\n\n   A.", [(0, "a-case.64.gpu")]),
        ("   .. chart:: wall, gpu\n      :hero:\n\n      A.", [(0, "wall"), (0, "gpu")]),
        (".. chart:: busy\n   :case: a\n\n   A.", []),
        (".. chart:: gpu\n   :recipe: memory\n\n   A.", []),
        ("As in ``.. chart:: gpu``.", []),
    ],
)
def test_the_keys_of_charts_are_found(text: str, keys: list[tuple[int, str]]) -> None:
    assert [*find_keys(text)] == keys

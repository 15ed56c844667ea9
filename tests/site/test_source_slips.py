"""Slips in the source of recipes that Python reads without a word."""

from pathlib import Path

import pytest

from second_call.source_slips import find_in_source

PATH = Path("a.py")
TITLE = '"""\nTitle\n=====\n"""\n\n'


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            '"""\nTitle\n=====\n\n:math:`\\theta`\n"""\n',
            "a.py:5: \\t in the docstring is another character to Python; write r before",
        ),
        (f"{TITLE}x = 1\n'''\nWhy\n---\n'''\n", "a.py:7: this string is code, and no text of the"),
        (
            f"{TITLE}# sphinx-gallery_fold = 'How'\n",
            "a.py:6: sphinx-gallery_fold is a comment, and no setting; did you mean sphinx_gallery_"
            "fold?",
        ),
        (
            f"{TITLE}# sphinx_galery_once = True\n",
            "a.py:6: sphinx_galery_once is a comment, and no",
        ),
        (
            f"{TITLE}if x:\n    # %%\n    # Why\n    y = 1\n",
            "a.py:7: # %% is indented, and begins no",
        ),
    ],
)
def test_a_slip_is_told_with_its_line(source: str, told: str) -> None:
    [error] = [str(error) for error in find_in_source(PATH, source)]
    assert error.startswith(told)
    assert "; " in error


@pytest.mark.parametrize(
    "source",
    [
        'r"""\nTitle\n=====\n\n:math:`\\theta`\n"""\n',
        '"""\nTitle\n=====\n\n:math:`\\\\theta` and a line \\\n that goes on.\n"""\n',
        f"{TITLE}x = '''\nWhy\n---\n    # %%\n# sphinx_galery_once = 1\n'''\n",
        f"{TITLE}def f():\n    '''Do\n\n    it.\n\n    At once.'''\n",
        f"{TITLE}# sphinx_gallery_fold = 'How'\n# Sphinx-Gallery makes pages: many.\n",
        f'{TITLE}"x"\n',
    ],
)
def test_nothing_is_told_of_right_source(source: str) -> None:
    assert [str(error) for error in find_in_source(PATH, source)] == []

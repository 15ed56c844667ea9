import hashlib
from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.recipes.recipe import Recipe, load_recipe

HEAD = '"""\nTitle\n=====\n"""\n'
START, END = "# sphinx_gallery_start_ignore\n", "# sphinx_gallery_end_ignore\n"
SET = f"{HEAD}# sphinx_gallery_"
HIDDEN = f"{START}a = 1\n{END}"


def load(tmp_path: Path, text: str | bytes) -> Recipe:
    path = tmp_path / "recipe.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_recipe(path)


SECONDS = "needs a number of seconds above 0, at most 1,000,000"
WHOLE = "write the whole value on this line, after a '='"
SETTINGS = {
    "deadline = 0": f"{SECONDS}; correct the value",
    "deadline = 5 s": f"{SECONDS}; {WHOLE}",
    "cell_timeout = 1e999": SECONDS,
    "inputs = [1]": 'needs a list such as ["data.csv"]',
    'alt = "..."': 'needs what the figure shows, in quotes, on one line, in place of "..."',
    "fold = ' '": "needs a string in quotes, on one line, not empty; correct the value",
    "thumbnail_number = two": "needs a whole number",
    "once = yes": "needs True or False",
    "multi_image = a b": "needs a value as Python writes it",
}
BAD = {
    '"""\nPlain words.\n"""\n': "1: no title; start the docstring with one, underlined: ====; "
    "if it is a module that examples import, begin its name with _",
    '"""\nA title that\ngoes on\n============\n"""\n': "1: the title has a second line, 'goes on'; "
    "leave one line above the underline, and write the rest below it",
    '"""\n=======\nA title\ngoes on\n=======\n"""\n': "1: the title has a second line, 'goes on'",
    'print("text first")\n': "1: no docstring; start the file with a docstring "
    "that holds the title; if it is a module that examples import, begin its name with _",
    f"{HEAD}\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n": "6: an unresolved "
    "merge conflict; keep one side and remove the lines of git",
    f"{HEAD}\nx = = 1\n": "6: syntax error: invalid syntax; mend the code",
    f"{HEAD}\nx = '''a\n": "6: syntax error: unterminated triple-quoted string literal "
    "(detected at line 6); close the quotes, of this text or of one above it",
    f"{HEAD}x = 1\n\ny = 'a\0b'\n": "7: a null byte; remove it, or save in UTF-8",
    f"{HEAD}x = [\n\t'a\tb']\n": "6: a tab in a string of the code below; write it as",
    f"{HEAD}\n# %%\n# .. list-table::\n#\n#    * - A\n#\t - B\n\nx = 1\n": "10: a tab indents "
    "this line of a text, and spaces the others; write spaces for the tab",
    '"""\nTitle\n=====\n\n.. list-table::\n\n   * - A\n\t- B\n"""\nx = 1\n': "8: a tab indents",
    f"{HEAD}x = 'a\u2028b'\n": "5: an invisible line break in the code below; write it as",
    f"{HEAD}x = 1\n\n# %%\n# sphinx_gallery_fold = 'One'\n\nx = 2\n": "8: "
    "a sphinx_gallery_ setting in a block of text; leave an empty line between '# %%' and the "
    "setting",
    f"{HEAD}{START}x = 1\n": '5: All "sphinx_gallery_start_ignore" flags must have a matching',
    f"{HEAD}def f():\n    {START}    return 1\n    {END}\nf()\n": "5: the visible part of this "
    "code cannot be parsed without the hidden part; hide whole statements only",
    f"{SET}cell_timout = 9\nx = 1\n": "5: unknown setting "
    "sphinx_gallery_cell_timout; did you mean sphinx_gallery_cell_timeout?",
    f"{SET}deadline = 5\nx = 1\n\n# %%\n\n# sphinx_gallery_deadline = 6\n": "10: "
    "sphinx_gallery_deadline is set a second time, first in line 5; remove one of them",
    f"{SET}fold = 'One'\n\n# %%\n# Text.\n\nx = 1\n": "5: this code is not shown and "
    "runs with the next cell; mark that cell",
    f"{SET}fold_output = True\nx = 1\n": "5: fold_output in a cell that is not folded; add a "
    'line: # sphinx_gallery_fold = "What its code is for"',
    f"{SET}inputs = ['/etc/hostname']\nx = 1\n": "5: input '/etc/hostname' is not a file below",
    f"{SET}inputs = ['recipe.py']\nx = 1\n": "5: input 'recipe.py' would replace "
    "a page or a download; correct the line '# sphinx_gallery_inputs'",
} | {
    f"{SET}{setting}\nx = 1\n": f"5: sphinx_gallery_{setting.partition(' ')[0]} {told}"
    for setting, told in SETTINGS.items()
}
NOT_SHOWN = "5: this code is not shown and runs with the next cell; mark that cell"
for setting in ("alt = 'One'", "fold_output = True", "capture_repr_block = ()"):
    BAD[f"{SET}{setting}\n\n# %%\n# Text.\n\nx = 1\n"] = NOT_SHOWN


def test_settings_of_other_tools_are_left_to_them(tmp_path: Path) -> None:
    recipe = load(
        tmp_path, f"{SET}pygfx_docs = 'screenshot'\n{SET[len(HEAD) :]}my_tool = a b\nx = 1\n"
    )
    assert recipe.cells[0].source == "x = 1"
    assert recipe.settings == {}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_recipe_ends_in_one_line_that_names_place_and_remedy(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(GalleryError) as caught:
        _ = load(tmp_path, text).hash_inputs()
    assert not caplog.records  # Sphinx-Gallery says nothing of it
    assert str(caught.value).startswith(f"{tmp_path}/recipe.py:{BAD[text]}")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# %%\n# One.\n#\n# It is done as here::\n\nx = 1\n", 9),
        ("# %%\n# :::{note}\n# One.\n# :::\n\nx = 1\n", 9),
        ("# %%\n# One::\n#\n#    class A::\n\nx = 1\n", None),
        ("# %%\n# One.\n#\n# .. nothing::\n\nx = 1\n", None),
    ],
)
def test_a_text_that_would_swallow_the_next_cell_is_told(
    tmp_path: Path, text: str, line: int | None
) -> None:
    source = f'"""\nTitle\n=====\n"""\n\n{text}'
    if line is None:
        assert load(tmp_path, source).cells
        return
    with pytest.raises(
        GalleryError, match=rf"recipe\.py:{line}: a text ends in ::; write one colon"
    ):
        load(tmp_path, source)


@pytest.mark.parametrize(
    ("docstring", "title", "summary"),
    [
        ("Title\n=====\n\nOne line\nand another.\n\nMore.", "Title", "One line and another."),
        (".. _label:\n\nTitle\n-----\n\nText.", "Title", "Text."),
        ("Long title\n====\n\nText.", "Long title", "Text."),
        ("=====\n Title\n=====\n\nText.", "Title", "Text."),
        ("`First <a.html>`_ ||\n**Second** ||\n\nTitle\n=====\n\nText.", "Title", "Text."),
        ("|badge|\n\nTitle\n=====\nText.\n\n.. |badge| replace:: new", "Title", "Text."),
        (":orphan:\n\n.. _label:\n.. _other:\nTitle\n=====\n\n.. note::\n\n   A.", "Title", "A."),
        ("One\n\n  Quoted\n  ======\n\nTitle\n=====\n\nText.", "Title", "Text."),
    ],
)
def test_a_title_has_an_underline_and_the_first_paragraph_below_it_is_the_summary(
    tmp_path: Path, docstring: str, title: str, summary: str
) -> None:
    recipe = load(tmp_path, f'"""\n{docstring}\n"""\nx = 1\n')
    assert (recipe.title, recipe.summary) == (title, summary)


def test_ignored_code_counts_but_is_not_shown(tmp_path: Path) -> None:
    text = f"{HEAD}{HIDDEN}\nb = a\n{START}c = 2\n{END}d = c\n"
    (cell,) = load(tmp_path, text).cells
    assert (cell.source, cell.line) == ("b = a\nd = c", 9)
    assert [line for line in cell.code.splitlines() if line] == ["a = 1", "b = a", "c = 2", "d = c"]
    (other,) = load(tmp_path, text.replace("c = 2", "c = 33")).cells
    assert other.source == cell.source
    assert other.fingerprint != cell.fingerprint


def test_a_block_that_is_not_shown_at_all_runs_with_the_next_one(tmp_path: Path) -> None:
    loaded = load(tmp_path, f"{HEAD}{HIDDEN}\n# %%\n# Text.\n\nb = a\n\n# %%\n# More.\n\nc = 1\n")
    first, second = loaded.cells
    assert (first.number, first.source, first.line) == (1, "b = a", 12)
    assert [line for line in first.code.splitlines() if line] == ["a = 1", "b = a"]
    assert second.code == second.source == "c = 1"
    kinds = [(block.type, cell and cell.number) for block, cell in loaded.parts]
    text = ("text", None)
    assert kinds == [text, text, ("code", 1), text, ("code", 2)]


def test_inputs_are_hashed_by_their_path_and_several_lines_add_up(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("data/a.csv", "b.txt"):
        (tmp_path / name).write_text("1")
    lines = "# sphinx_gallery_inputs = ['data/a.csv']\n# sphinx_gallery_inputs = ['b.txt']\n"
    digest = hashlib.sha256(b"1").hexdigest()
    assert load(tmp_path, f"{HEAD}{lines}x = 1\n").hash_inputs() == {
        "data/a.csv": digest,
        "b.txt": digest,
    }
    assert load(tmp_path, f"{HEAD}y = 1\n").hash_inputs() == {}


ONCE = "# sphinx_gallery_once = True\n"
PLUMBING = "# sphinx_gallery_plumbing = True\n"


def load_cells(tmp_path: Path, *cells: str) -> Recipe:
    path = tmp_path / "recipe.py"
    path.write_text(HEAD + "\n# %%\n\n".join(cells))
    return load_recipe(path)


def test_a_cell_that_runs_once_is_left_out_of_replicates(tmp_path: Path) -> None:
    recipe = load_cells(
        tmp_path, "a = 1\n", f"{ONCE}b = 1\n", "c = 1\n", "# sphinx_gallery_once = False\nd = 1\n"
    )
    assert [cell.settings.once for cell in recipe.cells] == [False, True, False, False]
    replicate = recipe.for_replicate()
    assert [(cell.number, cell.code) for cell in replicate.cells] == [
        (1, "a = 1"),
        (2, "c = 1"),
        (3, "d = 1"),
    ]
    assert [cell.line for cell in replicate.cells] == [5, 14, 19]


def test_replicates_have_a_fingerprint_of_what_they_run(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    cells = ["import near\n", f"{ONCE}import other\nb = 1\n", "c = 1\n"]
    before = load_cells(tmp_path, *cells).replicate_fingerprint
    for same in (
        [cells[0], f"{ONCE}import other\nb = 2\n", cells[2]],
        [cells[0], f"{ONCE}b = 1\n", f"# why\n\n{PLUMBING}c = 1\n"],
    ):
        assert load_cells(tmp_path, *same).replicate_fingerprint == before
    (tmp_path / "other.py").write_text("x = 2\n")
    assert load_cells(tmp_path, *cells).replicate_fingerprint == before
    changed = [
        [cells[0], cells[1].removeprefix(ONCE), cells[2]],
        [*cells[:2], "c = 2\n"],
        [*cells[:2], f"{ONCE}c = 1\n"],
        [cells[2], cells[1], cells[0]],
    ]
    found = {load_cells(tmp_path, *each).replicate_fingerprint for each in changed}
    (tmp_path / "near.py").write_text("x = 2\n")
    found.add(load_cells(tmp_path, *cells).replicate_fingerprint)
    assert len(found - {before}) == len(changed) + 1


def test_plumbing_is_a_cell_that_runs_and_is_not_shown(tmp_path: Path) -> None:
    recipe = load_cells(
        tmp_path, "a = 1\n", f"\n{ONCE}{PLUMBING}b = 1\n", HIDDEN, f"{PLUMBING}c = 1\n", "d = 1\n"
    )
    assert [cell.source for cell in recipe.cells] == ["a = 1", "", "", "d = 1"]
    codes = [cell.code.split("\n") for cell in recipe.cells]
    assert [[line for line in code if line[:1] not in ("", "#")] for code in codes] == [
        ["a = 1"],
        ["b = 1"],
        ["a = 1", "c = 1"],
        ["d = 1"],
    ]
    assert [(cell.settings.once, cell.line) for cell in recipe.cells[:2]] == [
        (False, 5),
        (True, 12),
    ]
    shown = [cell for _block, cell in recipe.parts if cell]
    assert [cell.number for cell in shown] == [1, 4]
    assert len([block for block in recipe.blocks if block.type == "code"]) == len(shown)


def test_tabs_that_mean_nothing_are_kept(tmp_path: Path) -> None:
    code = 'def f():\n\t"""Do\tit."""\n\treturn 1\t# why'
    (cell,) = load(tmp_path, f"{HEAD}{code}\n").cells
    assert cell.source == cell.code == code


def test_a_recipe_that_is_not_utf_8_is_told_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(b'"""\nTitle\n=====\n\nText.\n"""\n\n# caf\xe9\nx = 1\n')
    told = f"{path}:8: byte 0xe9 is not valid UTF-8; save the file in UTF-8"
    with pytest.raises(GalleryError) as caught:
        load_recipe(path)
    assert str(caught.value) == told

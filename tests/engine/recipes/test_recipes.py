import hashlib
import os
import re
from pathlib import Path

import pytest

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.gallery import find_recipes
from recipe_gallery.recipes.recipe import Recipe, load_recipe

BAD = Path(__file__).parent / "bad_recipes"


@pytest.mark.parametrize("path", sorted(BAD.glob("*.py")), ids=lambda path: path.stem)
def test_a_bad_recipe_ends_in_one_line_that_names_place_and_remedy(path: Path) -> None:
    expected = re.search(r"# expect: (.*)", path.read_text())
    assert expected, "add a line: # expect: <start of the message>"
    with pytest.raises(GalleryError) as caught:
        _ = load_recipe(path).inputs
    assert expected[1] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cells_are_the_code_blocks_without_settings(gallery: Gallery, recipe: str) -> None:
    loaded = load_recipe(gallery.write("adding", recipe))
    assert loaded.title == "Adding numbers"
    assert [cell.number for cell in loaded.cells] == [1, 2, 3]
    assert loaded.cells[0].source.startswith("# Why this is here.")
    assert loaded.cells[2].alt == ("A black square",)
    assert "sphinx_gallery" not in "".join(cell.source for cell in loaded.cells)


def test_the_number_of_a_line_leads_to_the_cell(gallery: Gallery, recipe: str) -> None:
    path = gallery.write("adding", recipe)
    lines = path.read_text().splitlines()
    for cell in load_recipe(path).cells:
        below = "\n".join(lines[cell.line - 1 :]).lstrip()
        assert below.startswith(("# sphinx_gallery_alt", cell.source.splitlines()[0]))


def test_prose_and_comments_leave_the_fingerprint(gallery: Gallery, recipe: str) -> None:
    def fingerprints(text: str) -> list[str]:
        return [cell.fingerprint for cell in load_recipe(gallery.write("adding", text)).cells]

    before = fingerprints(recipe)
    edited = recipe.replace("A paragraph.", "Another.").replace("Why this is here.", "Because.")
    assert fingerprints(edited) == before
    after = fingerprints(recipe.replace("1 + 2", "1 + 3"))
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, True]


def test_files_that_start_with_an_underscore_are_no_recipes(gallery: Gallery, recipe: str) -> None:
    gallery.write("_draft", recipe)
    path = gallery.write("adding", recipe)
    assert find_recipes(gallery.recipes) == [path]


HEAD = '"""\nTitle\n=====\n"""\n'


def load(tmp_path: Path, text: str) -> Recipe:
    path = tmp_path / "recipe.py"
    path.write_text(text)
    return load_recipe(path)


@pytest.mark.parametrize(
    "docstring",
    ["Title\n=====", "=====\nTitle\n=====", ".. _label:\n\nTitle\n-----\n\nText", "Ab\n=="],
)
def test_a_title_is_a_line_with_an_underline(tmp_path: Path, docstring: str) -> None:
    assert load(tmp_path, f'"""\n{docstring}\n"""\nx = 1\n').title in ("Title", "Ab")


@pytest.mark.parametrize(
    "docstring",
    [
        "Plain words.",
        "Title\n==",
        "Words\n\nTitle\n=====",
        "=====",
        "Title\naaaaa",
        "",
        "제목\n===",
    ],
)
def test_plain_words_are_no_title(tmp_path: Path, docstring: str) -> None:
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, f'"""\n{docstring}\n"""\nx = 1\n')
    assert (caught.value.text, caught.value.line) == ("no title", 1)
    assert caught.value.remedy == "start the docstring with one, underlined: ===="


def test_ignored_code_runs_and_counts_but_is_not_shown(tmp_path: Path) -> None:
    start, end = "# sphinx_gallery_start_ignore\n", "# sphinx_gallery_end_ignore\n"
    text = f"{HEAD}{start}a = 1\n{end}\nb = a\n{start}c = 2\n{end}d = c\n"
    (cell,) = load(tmp_path, text).cells
    assert cell.source == "b = a\nd = c"
    assert cell.line == 9
    assert [line for line in cell.code.splitlines() if line] == ["a = 1", "b = a", "c = 2", "d = c"]
    (other,) = load(tmp_path, text.replace("c = 2", "c = 33")).cells
    assert other.source == cell.source
    assert other.fingerprint != cell.fingerprint


def test_a_block_that_is_not_shown_at_all_runs_with_the_next_one(tmp_path: Path) -> None:
    hidden = "# sphinx_gallery_start_ignore\na = 1\n# sphinx_gallery_end_ignore\n"
    loaded = load(tmp_path, f"{HEAD}{hidden}\n# %%\n# Text.\n\nb = a\n\n# %%\n# More.\n\nc = 1\n")
    first, second = loaded.cells
    assert (first.number, first.source, first.line) == (1, "b = a", 12)
    assert [line for line in first.code.splitlines() if line] == ["a = 1", "b = a"]
    assert second.code == second.source == "c = 1"
    assert [block.type for block in loaded.blocks] == ["text", "text", "code", "text", "code"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"\ufeff{HEAD}x = 1\n", 1, "a byte order mark at the start of the file"),
        ("1\nx = 1\n", 1, "no docstring"),
        (f"{HEAD}\nif True:\n", 6, "syntax error: expected an indented block"),
        (f"{HEAD}x = 1\n\n# %%\n\nif x:\n\tx\n", 8, "a tab in the code below"),
        (f"{HEAD}x = 1\n# sphinx_gallery_alt = 1\n", 6, "sphinx_gallery_alt needs a string"),
        (f"{HEAD}x = (\n# %%\n# Text.\n\n1)\n", 5, "syntax error: '(' was never closed"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, text)
    assert caught.value.line == line
    assert caught.value.text.startswith(message)
    assert caught.value.path == tmp_path / "recipe.py"


def test_another_encoding_is_told_with_its_remedy(tmp_path: Path) -> None:
    path = tmp_path / "recipe.py"
    path.write_bytes(b"# -*- coding: latin-1 -*-\n" + HEAD.encode() + b"# \xe9\nx = 1\n")
    with pytest.raises(GalleryError) as caught:
        load_recipe(path)
    assert caught.value.remedy == "save the file in UTF-8"


@pytest.mark.parametrize(
    "setting",
    [
        "multi_image = 'single'",
        "multi_image_block = 'single'",
        "dummy_images = 2",
        "parallel = False",
        "line_numbers = True",
        "defer_figures",
        "thumbnail_number = -1",
        "tags = ['a']",
        "deadline = 0.5",
        "deadline = 1000000",
        "cell_timeout = 1",
        "inputs = []",
    ],
)
def test_settings_of_sphinx_gallery_and_our_own_are_accepted(tmp_path: Path, setting: str) -> None:
    assert load(tmp_path, f"{HEAD}# sphinx_gallery_{setting}\nx = 1\n").cells[0].source == "x = 1"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "deadline = 0",
            "sphinx_gallery_deadline needs a number of seconds above 0, at most 1,000,000",
        ),
        (
            "deadline = True",
            "sphinx_gallery_deadline needs a number of seconds above 0, at most 1,000,000",
        ),
        (
            "deadline = 1000001",
            "sphinx_gallery_deadline needs a number of seconds above 0, at most 1,000,000",
        ),
        (
            "cell_timeout = -1",
            "sphinx_gallery_cell_timeout needs a number of seconds above 0, at most 1,000,000",
        ),
        (
            "cell_timeout = 1e999",
            "sphinx_gallery_cell_timeout needs a number of seconds above 0, at most 1,000,000",
        ),
        ("inputs = 'a'", 'sphinx_gallery_inputs needs a list such as ["data.csv"]'),
        ("inputs = [1]", 'sphinx_gallery_inputs needs a list such as ["data.csv"]'),
        ("raises = KeyError", "sphinx_gallery_raises needs a string in quotes, on one line"),
        (r"alt = 'a\rb'", "sphinx_gallery_alt needs a string in quotes, on one line"),
        ("no_such = 1", "unknown setting sphinx_gallery_no_such"),
    ],
)
def test_a_setting_of_no_use_is_told(tmp_path: Path, setting: str, message: str) -> None:
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, f"{HEAD}# sphinx_gallery_{setting}\nx = 1\n")
    assert caught.value.text == message


def test_a_cell_that_is_meant_to_fail_has_another_fingerprint(tmp_path: Path) -> None:
    plain = load(tmp_path, f"{HEAD}x = 1\n").cells[0]
    failing = load(tmp_path, f'{HEAD}# sphinx_gallery_raises = "KeyError"\nx = 1\n').cells[0]
    assert (plain.raises, failing.raises) == ("", "KeyError")
    assert plain.fingerprint != failing.fingerprint


def test_a_cell_that_is_folded_has_the_same_fingerprint(tmp_path: Path) -> None:
    plain = load(tmp_path, f"{HEAD}x = 1\n").cells[0]
    folded = load(tmp_path, f'{HEAD}# sphinx_gallery_fold = " Helpers "\nx = 1\n').cells[0]
    assert (plain.fold, folded.fold) == ("", "Helpers")
    assert (plain.source, plain.fingerprint) == (folded.source, folded.fingerprint)


def test_a_recipe_is_called_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.b.py"
    path.write_text(f"{HEAD}x = 1\n")
    assert load_recipe(path, "part/a.b").name == "part/a.b"


def test_all_recipes_of_a_large_gallery_are_parsed_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"recipe_{number:04}.py" for number in range(1000)]
    for path in paths:
        path.write_text('"""\nTitle\n=====\n\nText.\n"""\n')
    first = [load_recipe(path) for path in paths]
    assert all(load_recipe(path) is recipe for path, recipe in zip(paths, first, strict=True))


@pytest.mark.parametrize("code", ["-" * 100_000 + "1", "1+" * 100_000 + "1"])
def test_code_that_is_nested_too_deeply_is_one_line(tmp_path: Path, code: str) -> None:
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, f"{HEAD}x = {code}\n")
    assert str(caught.value) == (
        f"{tmp_path / 'recipe.py'}: cannot be parsed: nested too deeply; write it in shorter steps"
    )


def test_what_is_no_file_is_one_line_and_not_waited_for(tmp_path: Path) -> None:
    for name, make in (("pipe.py", os.mkfifo), ("folder.py", os.mkdir)):
        make(tmp_path / name)
        with pytest.raises(GalleryError) as caught:
            load_recipe(tmp_path / name)
        assert (
            str(caught.value)
            == f"{tmp_path / name}: cannot be read: it is no file; mend or remove it"
        )
    with pytest.raises(GalleryError, match="cannot be read: No such file or directory"):
        load_recipe(tmp_path / "none.py")


def test_a_null_byte_in_the_code_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(GalleryError, match="null bytes") as caught:
        load(tmp_path, f"{HEAD}x = '\0'\n")
    assert "\n" not in str(caught.value)


def test_several_lines_of_inputs_add_up(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).touch()
    lines = '# sphinx_gallery_inputs = ["a.txt"]\n# sphinx_gallery_inputs = ["b.txt"]\n'
    assert list(load(tmp_path, f"{HEAD}{lines}x = 1\n").inputs) == ["a.txt", "b.txt"]


def test_sphinx_gallery_says_nothing_of_a_setting_that_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = f"{HEAD}# sphinx_gallery_deadline = 5 s\nx = 1\n"
    with pytest.raises(GalleryError):
        load(tmp_path, text)
    assert not caplog.records


def test_what_is_hidden_behind_the_last_cell_is_a_cell_of_its_own(tmp_path: Path) -> None:
    hidden = "# sphinx_gallery_start_ignore\na = 1\n# sphinx_gallery_end_ignore\n"
    loaded = load(tmp_path, f"{HEAD}b = 1\n\n# %%\n\n{hidden}\n# %%\n\n{hidden}")
    shown, last = loaded.cells
    assert (shown.source, shown.code) == ("b = 1", "b = 1")
    assert (last.number, last.source, last.line) == (2, "", 8)
    assert last.code.split() == ["a", "=", "1", "a", "=", "1"]
    assert [block.type for block in loaded.blocks] == ["text", "code"]
    assert [cell for _block, cell in loaded.parts] == [None, shown]
    (only,) = load(tmp_path, f"{HEAD}{hidden}").cells
    assert (only.number, only.source, only.code) == (1, "", "a = 1")


def test_settings_behind_the_last_cell_are_no_cell(tmp_path: Path) -> None:
    loaded = load(tmp_path, f"{HEAD}b = 1\n\n# %%\n\n# sphinx_gallery_deadline = 5\n")
    assert [cell.source for cell in loaded.cells] == ["b = 1"]
    assert loaded.settings == {"deadline": 5}


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("{start}a = 1\n{end}b = a\n", "b = a"),  # head
        ("b = 1\n{start}a = b\n{end}", "b = 1"),  # tail
        ("b = 1\n{start}a = b\n# sphinx_gallery_end_ignore", "b = 1"),  # end of the file
        ("def f():\n    {start}    a = 1\n    {end}    return a\n", "def f():\n    return a"),
        ("{start}# sphinx_gallery_deadline = 5\na = 1\n{end}b = a\n", "b = a"),
        ("{start}a = 1\n{end}b = a\n{start}c = 1\n{end}d = c\n", "b = a\nd = c"),
    ],
)
def test_what_is_hidden_runs_wherever_it_stands(tmp_path: Path, code: str, shown: str) -> None:
    start, end = "# sphinx_gallery_start_ignore\n", "# sphinx_gallery_end_ignore\n"
    path = tmp_path / "recipe.py"
    path.write_text(HEAD + code.format(start=start, end=end))
    (cell,) = load_recipe(path).cells
    assert cell.source.rstrip() == shown
    names: dict[str, object] = {}
    exec(cell.code, names)
    assert "f" in names or "a" in names


@pytest.mark.parametrize(
    ("text", "told", "remedy"),
    [
        ("1\nx = 1\n", "no docstring", "start the recipe with one that holds its title"),
        (
            f"# -*- coding: klingon -*-\n{HEAD}",
            "cannot be parsed: unknown encoding: klingon",
            "mend the file",
        ),
        (
            f"\ufeff{HEAD}x = 1\n",
            "a byte order mark at the start of the file",
            "save it in UTF-8 without one",
        ),
        (
            f"{HEAD}x = (\n",
            "syntax error: '(' was never closed",
            "mend the code",
        ),
        (f"{HEAD}if x:\n\tx\n", "a tab in the code below", "use spaces"),
        (
            f"{HEAD}x = 'a\u2028b'\n",
            "a line break that is not seen in the code below",
            r"write it as an escape, such as \u2028",
        ),
        (
            f"{HEAD}# sphinx_gallery_inputs = ['../a.csv']\nx = 1\n",
            "input '../a.csv' is not a file below {folder}",
            "correct the line '# sphinx_gallery_inputs'",
        ),
        (
            f"{HEAD}# sphinx_gallery_inputs = ['recipe.py']\nx = 1\n",
            "input 'recipe.py' would take the place of a page or a download",
            "give it another ending",
        ),
        (
            f"{HEAD}# sphinx_gallery_no_such = 1\nx = 1\n",
            "unknown setting sphinx_gallery_no_such",
            "there are: alt, cell_timeout, deadline, fold, inputs, once, plumbing, raises, and "
            "Sphinx-Gallery's own",
        ),
        (
            f"{HEAD}x = 1\n\n# %%\n# Text.\n# sphinx_gallery_deadline = 1\n\nx = 2\n",
            "a sphinx_gallery_ setting in a block of text",
            "leave an empty line between '# %%' and it",
        ),
    ],
)
def test_a_mistake_is_told_with_what_to_do(
    tmp_path: Path, text: str, told: str, remedy: str
) -> None:
    with pytest.raises(GalleryError) as caught:
        _ = load(tmp_path, text).inputs
    error = caught.value
    assert (error.text, error.remedy) == (told.format(folder=tmp_path), remedy)
    assert error.path == tmp_path / "recipe.py"


def test_a_recipe_in_another_encoding_is_told_without_a_line(tmp_path: Path) -> None:
    path = tmp_path / "recipe.py"
    path.write_bytes(f"{HEAD}x = 'é'\n".encode("latin-1"))
    with pytest.raises(GalleryError) as caught:
        load_recipe(path)
    assert caught.value.text.startswith("cannot be read: 'utf-8' codec can't decode byte 0xe9")
    assert (caught.value.line, caught.value.remedy) == (None, "save the file in UTF-8")


def test_settings_of_cells_and_of_the_recipe_may_stand_together(tmp_path: Path) -> None:
    settings = "# sphinx_gallery_alt = 'A square'\n# sphinx_gallery_deadline = 5\n"
    loaded = load(tmp_path, f"{HEAD}{settings}x = 1\n")
    assert (loaded.settings, loaded.lines) == ({"deadline": 5}, {"deadline": 6})
    assert loaded.cells[0].alt == ("A square",)
    assert (loaded.cells[0].once, loaded.cells[0].fold) == (False, "")


def test_a_recipe_that_is_not_there_is_told_without_a_line(tmp_path: Path) -> None:
    with pytest.raises(GalleryError) as caught:
        load_recipe(tmp_path / "none.py")
    assert (caught.value.line, caught.value.remedy) == (None, "mend or remove it")
    assert caught.value.text == "cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("docstring", "title", "summary"),
    [
        ("Title\n=====\n\nOne line\nand another.\n\nMore.", "Title", "One line and another."),
        ("Title\n=====", "Title", ""),
        ("=====\nTitle\n=====\nAt once.", "Title", "At once."),
        (".. _label:\n\nTitle\n-----\n\nText.", "Title", "Text."),
        ("Long title\n====\n\nText.", "Long title", "Text."),
    ],
)
def test_the_summary_is_the_first_paragraph_below_the_title(
    tmp_path: Path, docstring: str, title: str, summary: str
) -> None:
    recipe = load(tmp_path, f'"""\n{docstring}\n"""\nx = 1\n')
    assert (recipe.title, recipe.summary) == (title, summary)


def test_inputs_are_hashed_by_their_path(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.csv").write_text("1")
    recipe = load(tmp_path, f"{HEAD}# sphinx_gallery_inputs = ['data/a.csv']\nx = 1\n")
    assert recipe.inputs == {"data/a.csv": hashlib.sha256(b"1").hexdigest()}
    assert load(tmp_path, f"{HEAD}y = 1\n").inputs == {}


def test_each_block_stands_with_its_cell(tmp_path: Path) -> None:
    recipe = load(tmp_path, f"{HEAD}x = 1\n\n# %%\n# Text.\n\ny = 1\n")
    kinds = [(block.type, cell and cell.number) for block, cell in recipe.parts]
    assert kinds == [("text", None), ("code", 1), ("text", None), ("code", 2)]


def test_settings_of_sphinx_gallery_may_be_written_about(tmp_path: Path) -> None:
    shown = "sphinx_gallery_conf = {\n    'examples_dirs': 'examples',\n}\n"
    literal = "".join(f"#     {line}\n" for line in shown.splitlines())
    text = f'"""\nTitle\n=====\n\nWrite::\n\n    sphinx_gallery_conf = {{}}\n\n{shown}"""\nx = 1\n'
    recipe = load(tmp_path, f"{text}\n# %%\n# Write in conf.py::\n#\n{literal}\ny = 1\n")
    assert [cell.source for cell in recipe.cells] == ["x = 1", "y = 1"]

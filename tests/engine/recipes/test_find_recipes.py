"""Which recipes there are, what they are called, and where their recordings lie."""

from pathlib import Path
from typing import Any

import pytest

from sphinx_recorded_gallery.project import Project, load_project
from sphinx_recorded_gallery.recipes.find_recipes import find_file, list_files

FILES = [
    "examples/README.rst",
    "examples/plot_a.py",
    "examples/_draft.py",
    "examples/later_sgskip.py",
    "examples/b.c.py",
    "examples/advanced/GALLERY_HEADER.rst",
    "examples/advanced/deep.py",
    "examples/advanced/deeper/README.rst",
    "examples/advanced/deeper/below.py",
    "examples/helpers/module.py",
    "tutorials/README.txt",
    "tutorials/plot_a.py",
]


def project(root: Path, **gallery: Any) -> Project:
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    docs = root / "docs"
    docs.mkdir()
    conf = f"import pathlib\nsphinx_gallery_conf = {gallery!r}\n".replace(
        "PosixPath", "pathlib.Path"
    )
    docs.joinpath("conf.py").write_text(conf)
    return load_project(docs)


def names(made: Project) -> list[str]:
    return [file.name for file in list_files(made.config, made.root)]


def test_parts_with_a_header_belong_to_a_gallery_one_level_deep(tmp_path: Path) -> None:
    made = project(tmp_path)
    assert names(made) == ["b.c", "plot_a", "advanced/deep"]
    files = list_files(made.config, made.root)
    assert [file.docname for file in files] == [
        "auto_examples/b.c",
        "auto_examples/plot_a",
        "auto_examples/advanced/deep",
    ]
    deep = files[2]
    assert deep.path.resolve() == tmp_path / "examples/advanced/deep.py"
    assert deep.gallery.resolve() == tmp_path / "examples"
    assert deep.recording_path(Path("recordings")) == Path("recordings/advanced/deep.ipynb")


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"ignore_pattern": "plot"}, ["b.c", "advanced/deep"]),
        ({"filename_pattern": "/plot_"}, ["plot_a"]),
        ({"filename_pattern": "/plot"}, ["b.c", "plot_a", "advanced/deep"]),  # the default
    ],
)
def test_patterns_of_sphinx_gallery_decide(
    tmp_path: Path, settings: dict[str, str], left: list[str]
) -> None:
    made = project(tmp_path, **settings)
    assert names(made) == left
    for name in ("b.c", "plot_a", "advanced/deep"):
        found = find_file(made.config, made.root, f"auto_examples/{name}")
        assert (found is not None) == (name in left)

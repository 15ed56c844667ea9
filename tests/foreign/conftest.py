import shutil
from pathlib import Path

import pytest
from stranger import Stranger, make_project


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    """A project without examples."""
    return make_project(tmp_path)


@pytest.fixture(scope="session")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """A project with two examples, of which one is in a sub-gallery, recorded."""
    project = make_project(tmp_path_factory.mktemp("stranger"))
    project.example("examples/plot_line.py")
    project.write("examples/advanced/GALLERY_HEADER.rst", "Advanced\n--------\n\nFor later.\n")
    project.example("examples/advanced/plot_deep.py", title="A line that is deeper", number=3)
    project.record()
    return project


@pytest.fixture
def recorded(recorded_once: Stranger, tmp_path: Path) -> Stranger:
    """A copy of that project for one test."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded_once.root, copy)
    return Stranger(copy)

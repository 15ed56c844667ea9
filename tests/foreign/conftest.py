import shutil
from pathlib import Path

import pytest
from filelock import FileLock
from stranger import Stranger, make_project


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    """A project without examples."""
    return make_project(tmp_path)


@pytest.fixture(scope="session")
def recorded_once(shared: Path) -> Stranger:
    """A project with two examples, of which one is in a sub-gallery, recorded."""
    root, recorded = shared / "stranger", shared / "stranger is recorded"
    with FileLock(shared / "stranger.lock"):
        if recorded.exists():
            return Stranger(root)
        project = make_project(root)
        project.example("examples/plot_line.py")
        head = "Advanced\n--------\n\nFor later.\n"
        project.write("examples/advanced/GALLERY_HEADER.rst", head)
        project.example("examples/advanced/plot_deep.py", title="A line that is deeper", number=3)
        project.record()
        recorded.touch()
        return project


@pytest.fixture
def recorded(recorded_once: Stranger, tmp_path: Path) -> Stranger:
    """A copy of that project for one test."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded_once.root, copy)
    return Stranger(copy)

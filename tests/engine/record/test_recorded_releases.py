"""Releases of what is measured, as `record` and `check` tell them apart."""

import platform
from collections.abc import Callable

import pytest

from gallery import Gallery, git
from measured_recipe import add, add_replicate, steps
from sphinx_recorded_gallery.__main__ import main

HERE = ".".join(platform.python_version_tuple()[:2])  # of the run that a page shows
OLD = {"python": "2.11.4"}

Check = Callable[[], tuple[int, str]]
pytestmark = pytest.mark.usefixtures("_run_here", "_own_locks")


@pytest.fixture
def released(gallery: Gallery) -> Gallery:
    """Tells releases of Python apart, as if it were what recipes measure."""
    gallery.recipes.joinpath("recording.toml").write_text(
        f'[provenance]\nrelease = "python"\ncurrent = "{HERE}"\n'
    )
    add(gallery, "Text.")
    return gallery


def test_check_tells_hosts_and_processes_of_each_release(released: Gallery, check: Check) -> None:
    here = released.recording("steps").facts["host"]
    add_replicate(released, rows=steps(), host=here, versions={"python": f"{HERE}.0"})
    for number, host in enumerate("abb", 1):
        add_replicate(released, rows=steps(), host=host, replicate=number, versions=OLD)
    status, text = check()
    assert status == 0
    assert f"{HERE}: 1 host, 2 processes; 2.11: 2 hosts, 3 processes\n" in text
    assert "current release" not in text


def test_check_tells_which_page_is_not_of_the_current_release(
    released: Gallery, check: Check
) -> None:
    settings = released.recipes / "recording.toml"
    settings.write_text(settings.read_text().replace(f'current = "{HERE}"', 'current = "9.1"'))
    status, text = check()
    assert status == 0
    assert f"; its page is of python {HERE}, the current release is 9.1\n" in text


def test_a_host_makes_the_replicates_of_each_release(released: Gallery) -> None:
    here = released.recording("steps").facts["host"]
    add_replicate(released, rows=steps(), host=here, replicate=1, versions=OLD)
    assert released.record("steps", replicates=1)
    assert "1 of 1 replicates made" in released.messages
    assert released.record("steps", replicates=1)
    assert "its 1 replicates are there already" in released.messages


def test_drift_leaves_out_what_measured_another_release(
    released: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    git(released.root, "init", "--quiet")
    add_replicate(released, rows=steps(), host="a", versions={"python": f"{HERE}.0"})
    git(released.root, "add", ".")
    git(released.root, "commit", "-m", "all")
    add_replicate(released, rows=steps(0.03), host="b", versions=OLD)
    assert main(["drift", "--root", str(released.root)]) == 0
    printed = capsys.readouterr().out
    assert "nothing was recorded since HEAD\n" in printed
    assert "left out, as recorded with another release of python: 2.11\n" in printed

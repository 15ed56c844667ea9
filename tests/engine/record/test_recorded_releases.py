"""Releases of what is measured, as `record` and `check` tell them apart."""

import json
import platform
from collections.abc import Callable

import nbformat
import pytest

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.record.write_recordings import write_recording
from tests.helpers.gallery import Gallery, git
from tests.helpers.measured_recipe import add, add_replicate, steps

HERE = ".".join(platform.python_version_tuple()[:2])  # of the run that a page shows
OLD = {"python": "2.11.4"}

Check = Callable[[], tuple[int, str]]


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
    assert f"; its page shows python {HERE}; the current release is 9.1\n" in text
    told = "recording.toml: no recording has python 9.1, the current release; record with it, or"
    assert f"{told} choose among: {HERE}\n" in text
    add_replicate(released, rows=steps(), host="a", versions={"python": "9.1.0"})
    assert "no recording has" not in check()[1]


def test_check_refuses_a_package_that_no_recording_lists(released: Gallery, check: Check) -> None:
    settings = released.recipes / "recording.toml"
    settings.write_text(settings.read_text().replace('"python"', '"pythons"'))
    status, text = check()
    assert status == 1
    told = "recording.toml: no recording lists a version of pythons, the package of release"
    assert f"{told}; choose among: python\n" in text


def test_a_host_makes_the_replicates_of_each_release(
    released: Gallery, request: pytest.FixtureRequest
) -> None:
    for fixture in ("_run_here", "_own_locks"):  # now: other tests share the recording made so far
        request.getfixturevalue(fixture)
    here = released.recording("steps").facts["host"]
    add_replicate(released, rows=steps(), host=here, replicate=1, versions=OLD)
    assert released.record("steps", replicates=1)
    assert "1 of 1 replicates made" in released.messages
    assert released.record("steps", replicates=1)
    assert "its 1 replicates exist already" in released.messages


def test_each_host_begins_with_another_number_and_each_release_with_the_same(
    released: Gallery, request: pytest.FixtureRequest
) -> None:
    for fixture in ("_run_here", "_own_locks"):
        request.getfixturevalue(fixture)
    here = released.recording("steps").facts["host"]
    path = released.recordings / "steps.jsonl"

    def find_numbers() -> list[int]:
        """Return the numbers of the replicates of this release on this host, in order."""
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        made = [
            line
            for line in lines
            if line["host"] == here and line["versions"]["python"] != OLD["python"]
        ]
        return [line["replicate"] for line in made]

    for host in ("a", "b"):
        add_replicate(released, rows=steps(), host=host, replicate=1)
    assert released.record("steps", replicates=1)
    assert find_numbers() == [3]
    add_replicate(released, rows=steps(), host=here, replicate=5, versions=OLD)
    assert released.record("steps", replicates=2)
    assert find_numbers() == [3, 5]


def test_what_a_page_measured_with_another_release_stays(
    released: Gallery, check: Check, request: pytest.FixtureRequest
) -> None:
    for fixture in ("_run_here", "_own_locks"):
        request.getfixturevalue(fixture)
    path = released.recordings / "steps.ipynb"
    notebook = nbformat.read(path, nbformat.NO_CONVERT)
    notebook.metadata.recording.versions.update(OLD)
    write_recording(notebook, path)
    assert released.record("steps", force=True)
    assert f"{HERE}: 1 host, 1 process; 2.11: 1 host, 1 process\n" in check()[1]
    assert released.record("steps", force=True)  # the same release again: that run is replaced
    assert f"{HERE}: 1 host, 1 process; 2.11: 1 host, 1 process\n" in check()[1]


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


def drift_since(released: Gallery, release: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what drift prints of the recipe since a release."""
    capsys.readouterr()
    assert main(["drift", "--root", str(released.root), "--release", release]) == 0
    return capsys.readouterr().out.partition("```text\n")[2].partition("```")[0].splitlines()


def test_drift_tells_what_moved_since_a_release(
    released: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    add(released, ":claim:`It wins <fused.step < foreach.step>`.")
    here = released.recording("steps").facts["host"]
    add_replicate(released, rows=steps(0.05), host="other", versions=OLD)
    assert drift_since(released, "2.11", capsys) == [f"no host has measured both {HERE} and 2.11"]
    add_replicate(released, rows=steps(0.05), host=here, versions=OLD)
    head, claim, *rest = drift_since(released, "2.11", capsys)
    assert head == f"{HERE} against 2.11, on 1 host that measured both"
    assert claim.startswith(
        f"holds with {HERE} and not with 2.11: <fused.step < foreach.step> (2 of 2 processes: "
    )
    assert rest[0] == "not known from one host, whose CPU decides: step"
    now = {"python": f"{HERE}.0"}
    add_replicate(released, rows=steps(0.0142), host="other", versions=now)
    head, _claim, *rest = drift_since(released, "2.11", capsys)
    assert head == f"{HERE} against 2.11, on 2 hosts that measured both"
    assert rest[0] == "step: less in 1 of 2 by 72%, else unchanged"
    assert rest[1] == (
        "  adam.100.fused.step: 0.282 times (0.28 to 0.284 on 2 hosts, within each process); "
        "0.0141 s, was 0.05 s"
    )
    assert rest[2].startswith(f"measured with {HERE} alone: adam.100.fused.speedup, ")


def test_drift_tells_of_a_release_that_is_none(
    released: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drift_since(released, HERE, capsys) == [
        f"its page shows {HERE} itself; name another release"
    ]
    told = f"nothing was measured with python 2.9; measured releases: {HERE}"
    assert drift_since(released, "2.9", capsys) == [told]

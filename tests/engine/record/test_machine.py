"""Which GPU is recorded on, and what is told of the machine."""

import sys
from pathlib import Path

import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.record import machine
from recipe_gallery.record.machine import Gpu, find_gpu, package_versions, require_gpu, run_probe

LINE = "Some GPU, 570.1, 80 GiB, GPU-1"


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of nvidia-smi; it keeps what it was asked."""
    program = tmp_path / "nvidia-smi"
    program.write_text(
        f"#!/bin/sh\necho \"$@\" > {tmp_path}/asked\necho '{LINE}'\necho 'B, 1, 2, 3'"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path / "asked"


def test_the_first_gpu_is_taken(smi: Path) -> None:
    facts = {"gpu": "Some GPU", "driver": "570.1", "memory": "80 GiB"}
    assert find_gpu() == Gpu(identity="GPU-1", facts=facts)
    assert "--id" not in smi.read_text()


def test_the_first_gpu_that_is_visible_is_taken(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert find_gpu()
    assert smi.read_text().split()[-2:] == ["--id", "3"]


def test_none_is_taken_where_none_is_visible(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert find_gpu() is None
    assert not smi.exists()


@pytest.mark.parametrize("script", ["exit 1", "echo", f"echo '{LINE}'; exit 9"])
def test_a_tool_that_fails_finds_none(smi: Path, script: str) -> None:
    smi.with_name("nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    assert find_gpu() is None


def test_where_there_is_no_tool_the_cpu_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(GalleryError) as caught:
        require_gpu()
    assert str(caught.value) == (
        "no GPU found (nvidia-smi shows none); "
        "to run on the CPU instead: recipe-gallery record --device cpu"
    )


def test_versions_are_those_of_installed_packages() -> None:
    versions = package_versions(["pytest", "no-such-package"])
    assert versions == {"python": sys.version.split()[0], "pytest": pytest.__version__}


def test_a_probe_says_what_no_package_tells() -> None:
    assert run_probe("", {}) == {}
    assert run_probe("print('{\"gpu\": true}')", {}) == {"gpu": True}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("print(1)", "1"),
        ("print('a'); print('b')", "b"),
        ("pass", "no output"),
        ("raise SystemExit('no driver')", "no driver"),
    ],
)
def test_a_probe_that_fails_says_why(program: str, reason: str) -> None:
    with pytest.raises(GalleryError) as caught:
        run_probe(program, {})
    assert caught.value.text == f"the probe in recording.toml failed: {reason}"
    assert caught.value.remedy == "install what recipes need"


def test_a_folder_without_git_has_no_commit(tmp_path: Path) -> None:
    assert machine.describe_commit(tmp_path / "none") == (None, False)

"""Which host a recording is from, without its name."""

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_gallery.record.machine import gpu, host
from recipe_gallery.record.machine.host import describe_host, host_hash

PutTool = Callable[[str, str], Path]


@pytest.fixture
def machine_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the name of the installation."""
    path = tmp_path / "machine-id"
    path.write_text("0123456789abcdef\n")
    monkeypatch.setattr(host, "_MACHINE_ID", path)
    return path


def put_gpus(put_tool: PutTool, *identities: str) -> None:
    put_tool("nvidia-smi", "\n".join(f"echo 'Some GPU, 1, 2, {each}'" for each in identities))


def test_a_host_is_known_by_its_installation_and_all_of_its_gpus(
    put_tool: PutTool, machine_id: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {host_hash()}
    put_gpus(put_tool, "GPU-1", "GPU-2")
    seen.add(both := host_hash())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setattr(platform, "node", lambda: "other")
    put_gpus(put_tool, "GPU-2", "GPU-1")
    assert host_hash() == both
    put_gpus(put_tool, "GPU-3")
    seen.add(host_hash())
    machine_id.write_text("fedcba9876543210\n")
    seen.add(host_hash())
    assert len(seen) == 4
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in seen)


def test_gpus_are_enough_to_know_a_host(
    put_tool: PutTool, machine_id: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_id.write_text("\n")  # as in images of containers
    put_gpus(put_tool, "GPU-1")
    first = host_hash()
    monkeypatch.setattr(platform, "node", lambda: "other")
    assert host_hash() == first


def test_where_nothing_else_is_known_the_name_of_the_host_counts(
    put_tool: PutTool, machine_id: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_id.unlink()
    first = host_hash()
    monkeypatch.setattr(platform, "node", lambda: "other")
    assert host_hash() != first


@pytest.mark.slow
def test_a_tool_that_hangs_does_not_keep_the_host_from_being_known(
    put_tool: PutTool, machine_id: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = host_hash()
    put_tool("nvidia-smi", "sleep 600")
    monkeypatch.setattr(gpu, "ANSWER", 0.5)
    assert host_hash() == without


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="only Linux tells the model")
def test_a_processor_is_told_by_its_model_and_the_cores_that_may_be_used() -> None:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    told = describe_host()
    assert told["cpu"] == (models or [platform.processor() or platform.machine()])[0]
    assert told["cores"] == len(os.sched_getaffinity(0))


def test_where_the_model_is_not_told_the_processor_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "Path", lambda _path: tmp_path / "none")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(77)), raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "m68k")
    for processor, told in (("", "m68k"), ("68040", "68040")):
        monkeypatch.setattr(platform, "processor", lambda processor=processor: processor)
        assert describe_host() == {"cpu": told, "cores": 77}

"""Which GPUs are found, and what makes libraries see one alone."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.machine import gpu as machine_gpu
from recipe_gallery.record.machine.gpu import AMD, Gpu, show_only
from recipe_gallery.record.machine.gpus import find_gpus, require_gpus

PutTool = Callable[[str, str], Path]

GPUS = ["Some GPU, 570.1, 80 GiB, GPU-1a", "B, 570.1, 40 GiB, GPU-2b", "C, 570.1, 40 GiB, GPU-2c"]
LIST = """GPU 0: Some GPU (UUID: GPU-1a)
  MIG 3g.40gb     Device  0: (UUID: MIG-77)
  MIG 1g.10gb     Device  1: (UUID: MIG-78)
GPU 1: B (UUID: GPU-2b)
"""
# The form of what the tools print, with made-up values.
AMD_SMI = [
    {
        "gpu": number,
        "asic": {"market_name": "AMD Model X", "asic_serial": serial, "num_compute_units": 9},
        "driver": {"name": "amdgpu", "version": "6.9.1"},
        "vram": {"type": "HBM3", "size": {"value": 196592, "unit": "MB"}},
    }
    for number, serial in enumerate(["0xAB12", "N/A", "0x00000000000000CD"])
]
ROCM_SMI = {
    "card1": {
        "Card Series": "AMD Model Y",
        "Unique ID": "0xcd",
        "VRAM Total Memory (B)": "2097152",
    },
    "card0": {"Card series": "AMD Model Y", "Unique ID": "0xab", "Card SKU": "D1"},
    "system": {"Driver version": "6.8.5"},
}


@pytest.fixture
def smi(put_tool: PutTool) -> Path:
    """An nvidia-smi of three GPUs; what it was asked."""
    return put_tool("nvidia-smi", "\n".join(f"echo '{line}'" for line in GPUS))


def names(gpus: list[Gpu]) -> list[str]:
    return [gpu.identity for gpu in gpus]


def test_the_first_gpu_is_taken(smi: Path) -> None:
    facts = {"gpu": "Some GPU", "driver": "570.1", "memory": "80 GiB"}
    assert find_gpus()[0] == require_gpus()[0] == Gpu(identity="GPU-1a", facts=facts)


@pytest.mark.parametrize(
    ("visible", "found"),
    [
        (None, ["GPU-1a", "GPU-2b", "GPU-2c"]),
        ("2,0", ["GPU-2c", "GPU-1a"]),
        (" 1 , GPU-1a", ["GPU-2b", "GPU-1a"]),
        ("GPU-2c", ["GPU-2c"]),
        ("GPU-1", ["GPU-1a"]),
        ("GPU-2", []),  # of two
        ("1,1", ["GPU-2b"]),
        ("1,-1,0", ["GPU-2b"]),
        ("0,7,1", ["GPU-1a"]),
        ("1,,0", ["GPU-2b"]),
        ("-1", []),
        ("none", []),
    ],
)
def test_gpus_are_those_that_are_visible(
    smi: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, found: list[str]
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert names(find_gpus()) == found


def test_what_makes_a_gpu_visible_finds_it_again(
    smi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for gpu in find_gpus():
        for name, value in show_only(gpu).items():
            monkeypatch.setenv(name, value)
        assert find_gpus() == [gpu]


def test_none_is_taken_where_none_is_visible(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert find_gpus() == []
    assert not smi.exists()


def test_a_part_of_a_gpu_keeps_its_name(put_tool: PutTool, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\n".join(GPUS)
    put_tool("nvidia-smi", f'case "$1" in -L) echo "{LIST}" ;; *) echo "{lines}" ;; esac')
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-78,MIG-77,MIG-9")
    assert find_gpus() == [
        Gpu(identity="MIG-78", facts={"gpu": "Some GPU MIG 1g.10gb", "driver": "570.1"}),
        Gpu(identity="MIG-77", facts={"gpu": "Some GPU MIG 3g.40gb", "driver": "570.1"}),
    ]


def test_a_broken_gpu_does_not_hide_the_one_that_is_named(
    put_tool: PutTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "--format=csv,noheader --query-gpu=name,driver_version,memory.total,uuid --id 1"
    put_tool("nvidia-smi", f'case "$*" in "{asked}") echo "{GPUS[1]}" ;; *) exit 15 ;; esac')
    assert find_gpus() == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,2")
    assert names(find_gpus()) == ["GPU-2b"]


@pytest.mark.parametrize("script", ["exit 1", "echo", f"echo '{GPUS[0]}'; exit 9"])
def test_a_tool_that_fails_finds_none(put_tool: PutTool, script: str) -> None:
    put_tool("nvidia-smi", script)
    assert find_gpus() == []


@pytest.mark.usefixtures("put_tool")
def test_where_there_is_no_tool_the_cpu_is_offered() -> None:
    with pytest.raises(GalleryError) as caught:
        require_gpus()
    assert str(caught.value) == (
        "no GPU found (nvidia-smi and amd-smi show none); "
        "to run on the CPU instead: recipe-gallery record --device cpu"
    )


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["nvidia-smi", "amd-smi"])
def test_a_tool_that_hangs_is_told(
    put_tool: PutTool, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    put_tool(tool, "sleep 600")
    monkeypatch.setattr(machine_gpu, "ANSWER", 0.5)
    with pytest.raises(GalleryError) as caught:
        find_gpus()
    assert str(caught.value) == (
        f"{tool}: no answer in 0.5 s; its driver may hang; to run on the CPU: "
        "recipe-gallery record --device cpu"
    )


@pytest.mark.parametrize("told", [AMD_SMI, {"gpu_data": AMD_SMI, "cpu_data": []}])
def test_gpus_are_found_by_amd_smi(put_tool: PutTool, told: Any) -> None:
    put_tool("rocm-smi", "exit 1")
    asked = put_tool("amd-smi", f"echo '{json.dumps(told, indent=4)}'")
    facts = {"gpu": "AMD Model X", "driver": "6.9.1", "memory": "196592 MB"}
    identities = ["GPU-000000000000ab12", "1", "GPU-00000000000000cd"]
    assert find_gpus() == [Gpu(identity=each, facts=facts, vendor=AMD) for each in identities]
    assert asked.read_text() == "static --asic --vram --driver --json\n"


@pytest.mark.parametrize("amd_smi", ["exit 1", "echo no", "echo '{}'", "echo '[1, {}]'", "echo 1"])
def test_gpus_are_found_by_rocm_smi(put_tool: PutTool, amd_smi: str) -> None:
    put_tool("amd-smi", amd_smi)
    asked = put_tool(
        "rocm-smi", f"echo 'WARNING: low-power state'\necho\necho '{json.dumps(ROCM_SMI)}'"
    )
    facts = {"gpu": "AMD Model Y", "driver": "6.8.5"}
    first, second = find_gpus()
    assert first == Gpu(identity="GPU-00000000000000ab", facts=facts | {"memory": ""}, vendor=AMD)
    assert second == Gpu(
        identity="GPU-00000000000000cd", facts=facts | {"memory": "2 MiB"}, vendor=AMD
    )
    assert asked.read_text() == (
        "--showproductname --showuniqueid --showmeminfo vram --showdriverversion --json\n"
    )


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ({"Card Series": "Series", "Device Name": "Device"}, "Series"),
        ({"Device Name": "Device"}, "Device"),
        ({"Unique ID": "N/A"}, "AMD GPU"),
    ],
)
def test_a_gpu_has_a_name_whatever_rocm_smi_calls_it(
    put_tool: PutTool, card: dict[str, str], name: str
) -> None:
    put_tool("rocm-smi", f"echo '{json.dumps({'card0': card})}'")
    [gpu] = find_gpus()
    assert gpu.identity == "0"
    assert gpu.facts == {"gpu": name, "driver": "", "memory": ""}


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"HIP": "2,0"}, [2, 0]),
        ({"CUDA": "2,0"}, [2, 0]),
        ({"CUDA": "2,0", "HIP": "1"}, [1]),
        ({"ROCR": "2,1"}, [2, 1]),
        ({"ROCR": "GPU-00000000000000cd,0", "HIP": "1"}, [0]),
        ({"ROCR": "1", "CUDA": "0"}, [1]),
        ({"ROCR": "1", "HIP": "1"}, []),
        ({"HIP": ""}, []),
        ({"HIP": "-1"}, []),
        ({"CUDA": ""}, []),
        ({"CUDA": "", "HIP": "1"}, [1]),
    ],
)
def test_gpus_of_amd_are_those_that_are_visible(
    put_tool: PutTool,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    found: list[int],
) -> None:
    put_tool("amd-smi", f"echo '{json.dumps(AMD_SMI)}'")
    every = names(find_gpus())
    for name, value in variables.items():
        monkeypatch.setenv(f"{name}_VISIBLE_DEVICES", value)
    gpus = find_gpus()
    assert names(gpus) == [every[number] for number in found]
    for gpu in gpus:
        for name, value in show_only(gpu).items():
            monkeypatch.setenv(name, value)
        assert find_gpus() == [gpu]


@pytest.mark.parametrize("tool", ["nvidia-smi", "amd-smi"])
def test_a_run_on_the_cpu_sees_no_gpu(
    put_tool: PutTool, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    script = f"echo '{json.dumps(AMD_SMI)}'" if tool == "amd-smi" else f"echo '{GPUS[0]}'"
    put_tool(tool, script)
    assert find_gpus()
    for name, value in show_only(None).items():
        monkeypatch.setenv(name, value)
    assert find_gpus() == []


def test_libraries_of_each_vendor_see_one_gpu_or_none() -> None:
    nvidias = Gpu(identity="GPU-1a", facts={})
    assert show_only(nvidias) == {"CUDA_VISIBLE_DEVICES": "GPU-1a"}
    assert show_only(replace(nvidias, vendor=AMD)) == {
        "ROCR_VISIBLE_DEVICES": "GPU-1a",
        "HIP_VISIBLE_DEVICES": "0",
        "CUDA_VISIBLE_DEVICES": "",
    }
    assert show_only(None) == {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "-1"}


def test_each_gpu_has_a_lock_of_its_own() -> None:
    identities = ("GPU-1a", "0", "MIG-GPU-1a/1/0", "MIG-GPU-1a/1/1")
    locks = {Gpu(identity=each, facts={}).lock for each in identities}
    assert len(locks) == 4
    assert all(lock.parent == Path(tempfile.gettempdir()) for lock in locks)

"""Programs that are asked and do not answer: how long they have, and what is told then."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.record import environment
from recipe_gallery.record.drift import published
from recipe_gallery.record.environment import describe
from recipe_gallery.record.machine import clocks, commit, conditions, gpu, host
from recipe_gallery.record.machine.clocks import find_command
from recipe_gallery.record.machine.commit import describe_commit
from recipe_gallery.record.machine.conditions import run_probe
from recipe_gallery.record.machine.gpu import Gpu
from recipe_gallery.record.machine.gpus import find_gpus
from recipe_gallery.record.machine.host import host_hash

PutTool = Callable[[str, str], Path]
Asked = list[tuple[Sequence[str], float]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What is asked, with the seconds in which to answer; nothing answers."""
    questions: Asked = []

    def ask(command: Sequence[str], *, seconds: float, **_others: Any) -> NoReturn:
        questions.append((command, seconds))
        raise TimeoutError(f"no answer in {seconds:g} s")

    for module in (gpu, clocks, commit, conditions, environment, published):
        monkeypatch.setattr(module, "ask", ask)
    return questions


@pytest.mark.parametrize("tool", ["nvidia-smi", "amd-smi", "rocm-smi"])
def test_a_tool_of_gpus_may_hang_in_its_driver(put_tool: PutTool, asked: Asked, tool: str) -> None:
    put_tool(tool, "")
    with pytest.raises(GalleryError) as caught:
        find_gpus()
    assert str(caught.value) == (
        f"{tool}: no answer in 60 s; its driver may hang; to run on the CPU: "
        "recipe-gallery record --device cpu"
    )


def test_a_host_is_known_without_its_gpus(
    put_tool: PutTool, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "machine-id").write_text("0123456789abcdef\n")
    monkeypatch.setattr(host, "_MACHINE_ID", tmp_path / "machine-id")
    assert host_hash() == "d9aaa7876aa9"  # the same in all recordings of a host
    put_tool("nvidia-smi", "")
    assert host_hash() == "d9aaa7876aa9"
    assert len(asked) == 1 + 1  # nothing was asked where there is no tool


def test_of_a_clock_nothing_is_told(asked: Asked) -> None:
    assert find_command(Gpu(identity="GPU-1", facts={})) == ()
    assert [seconds for _command, seconds in asked] == [15] * 3


def test_git_is_told_to_give_no_answer(asked: Asked, tmp_path: Path) -> None:
    told, note = describe_commit(tmp_path)
    assert told == {"commit": None, "modified": False, "commit_unknown": "git refuses"}
    assert note == "the recordings will name no commit: git refuses: no answer in 60 s"
    with pytest.raises(GalleryError) as caught:
        published.find_commit(tmp_path, "main")
    assert str(caught.value) == f"{tmp_path}: git: no answer in 60 s"


def test_of_a_python_that_does_not_start_only_variables_are_told(asked: Asked) -> None:
    assert describe({"OMP_NUM_THREADS": "2"}, 5) == {"variables": {"OMP_NUM_THREADS": "2"}}
    assert asked.pop()[1] == 5


def test_a_probe_may_hang_in_a_driver(asked: Asked) -> None:
    with pytest.raises(GalleryError) as caught:
        run_probe("print(1)", {}, 2)
    assert str(caught.value) == (
        "the probe in recording.toml gave no answer in 2 s; see whether the GPU's driver hangs, or "
        "raise cell_timeout in recording.toml"
    )


@pytest.mark.usefixtures("asked")
def test_variables_that_choose_a_gpu_are_refused(tmp_path: Path) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        path = tmp_path / "recording.toml"
        path.write_text(f'[environment]\n{name} = "0"\n')
        with pytest.raises(GalleryError) as caught:
            conditions.prepare(tmp_path, None, print)
        assert str(caught.value) == (
            f"{path}: [environment] {name}: recordings name the GPU that makes them; "
            "remove it, and set it for the command instead"
        )


def test_conditions_are_those_that_a_recording_tells(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    gpu = Gpu(identity="GPU-1", facts={"gpu": "A GPU", "driver": "1"})
    probed: dict[str, Any] = {"gpu": False, "versions": {"CUDA": "13.0", "none": None}}
    monkeypatch.setattr(conditions, "run_probe", lambda *_: probed)
    monkeypatch.setattr(conditions, "host_hash", lambda: "0123456789ab")
    monkeypatch.setenv("SECRET_OF_MINE", "hidden")
    with pytest.raises(GalleryError) as caught:
        conditions.prepare(tmp_path, gpu, said.append)
    assert str(caught.value) == (
        "A GPU is here but the installed libraries cannot use it; install their GPU builds or "
        "use: recipe-gallery record --device cpu"
    )
    probed["gpu"] = True
    found = conditions.prepare(tmp_path, gpu, said.append)
    assert said == ["note: the recordings will name no commit: git refuses: no answer in 60 s"]
    assert found.place == ("0123456789ab", "A GPU")
    assert found.facts["device"].keys() == {"gpu", "driver", "cpu", "cores"}
    assert found.facts["versions"].keys() == {"python", "CUDA"}
    assert found.facts["environment"].keys() == {"variables"}
    assert (found.facts["commit"], found.facts["modified"]) == (None, False)
    assert found.environment["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    assert found.withholds("SECRET_OF_MINE")
    assert not found.withholds("PATH")
    assert not found.withholds("NOT_SET_AT_ALL")
    on_cpu = conditions.prepare(tmp_path, None, said.append)
    assert on_cpu.facts["device"].keys() == {"cpu", "cores"}
    assert 15 in {seconds for command, seconds in asked if "-c" in command}  # of the runtime


def test_folders_are_filled_into_what_settings_set(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recording.toml").write_text(
        '[environment]\nA = "{recipes}/a:{scratch}/b"\nB = 5\nPATH = "/mine"\n'
    )
    found = conditions.prepare(tmp_path, None, lambda text: None)
    variables = found.kernel_environment(Path("/run"))
    assert variables["A"] == f"{tmp_path.resolve()}/a:/run/b"
    assert (variables["B"], variables["PATH"]) == ("5", "/mine")
    assert found.environment["PATH"] != "/mine"
    monkeypatch.setenv("B", "set")
    assert not found.withholds("B")

"""What is told of a GPU's clock, whatever its tool says or does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from nbformat import NotebookNode

from gallery import Gallery
from recipe_gallery.record.machine import clocks
from recipe_gallery.record.machine.clocks import find_command, summarize, watch_clocks
from recipe_gallery.record.machine.gpu import AMD, Gpu

PutTool = Callable[[str, str], Path]
RunCells = Callable[..., NotebookNode]

GPU = Gpu(identity="GPU-1", facts={"gpu": "Some GPU", "driver": "570.1", "memory": "80 GiB"})
BUSY = "1980, 600.25, 60, 97, 0x0000000000000004"
IDLE = "345, 70.10, 40, 0, 0x0000000000000001"
# Writes a line a sample, as nvidia-smi does from one to the next; at the end half a line.
LOOP = f"""
case "$*" in
*--loop-ms=1000*)
    echo '{IDLE}'; echo '{BUSY}'; echo '{BUSY}'; printf '1980, 60'
    touch sampled
    sleep 600 ;;
*--query-gpu=name*) echo 'Some GPU, 570.1, 80 GiB, GPU-1' ;;
*) echo '{BUSY}' ;;
esac
"""
TOLD = {
    "samples": 3,
    "busy": 2,
    "sm_mhz": {"median": 1980, "lowest": 1980},
    "power_w": {"median": 600.25, "highest": 600.25},
    "temperature_c": {"median": 60, "highest": 60},
    "slowed_by": {"sw_power_cap": 2},
}


def summary(*lines: str) -> dict[str, Any]:
    return summarize(f"{line}\n" for line in lines)


def test_medians_and_extremes_are_of_samples_in_which_the_gpu_was_busy() -> None:
    assert summary(
        IDLE, "1980, 600, 60, 97, 0x4", "1700, 650, 66, 100, 0x24", "1900, 610, 61, 5, 0x0"
    ) == {
        "samples": 4,
        "busy": 3,
        "sm_mhz": {"median": 1900, "lowest": 1700},
        "power_w": {"median": 610, "highest": 650},
        "temperature_c": {"median": 61, "highest": 66},
        "slowed_by": {"sw_power_cap": 2, "sw_thermal_slowdown": 1},
    }


def test_reasons_are_named_as_the_driver_names_their_bits() -> None:
    assert summary("1, 2, 3, 4, 0x1ff")["slowed_by"] == dict.fromkeys(
        [
            *("applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost"),
            *("sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"),
            "display_clock_setting",
        ],
        1,
    )


def test_a_reason_that_has_no_name_yet_is_told_as_its_bit() -> None:
    assert summary("1, 2, 3, 4, 0x0000000000000405")["slowed_by"] == {"sw_power_cap": 1, "0x400": 1}


def test_that_nothing_slowed_a_gpu_is_told_and_that_it_was_never_busy() -> None:
    assert summary("1, 2, 3, 4, 0x0")["slowed_by"] == {}
    assert summary(IDLE) == {"samples": 1, "busy": 0}
    assert summary("1, 2, 3, 1, 0x0")["busy"] == 1


def test_half_a_line_is_no_sample() -> None:
    assert summarize([f"{BUSY}\n", "1980, 60"])["samples"] == 1


@pytest.mark.parametrize("nothing", ["[N/A]", "[Not Supported]", "[Unknown Error]", "N/A", "nan"])
def test_what_a_gpu_does_not_tell_is_left_out(nothing: str) -> None:
    assert summary(f"1980, {nothing}, 60, 97, {nothing}") == {
        "samples": 1,
        "busy": 1,
        "sm_mhz": {"median": 1980, "lowest": 1980},
        "temperature_c": {"median": 60, "highest": 60},
    }
    assert summary(", ".join([nothing] * 5)) == {"samples": 0, "busy": 0}


def test_a_gpu_that_does_not_tell_its_use_is_busy_unless_it_says_it_is_idle() -> None:
    told = summary("1980, 1, 1, [N/A], 0x0", "345, 1, 1, [N/A], 0x1", "1970, 1, 1, [N/A], [N/A]")
    assert (told["busy"], told["sm_mhz"]["lowest"]) == (2, 1970)


@pytest.mark.parametrize("line", ["", "Unable to determine the device handle for GPU0", "\0\udcff"])
def test_what_is_no_sample_is_none(line: str) -> None:
    assert summary(line, BUSY)["samples"] == 1


@pytest.mark.parametrize(
    "field", ["clocks_event_reasons", "clocks_throttle_reasons", "temperature"]
)
def test_old_and_new_tools_are_asked_as_they_understand_it(put_tool: PutTool, field: str) -> None:
    known = {"clocks_event_reasons": "clocks_throttle_reasons", "temperature": "clocks_"}
    unknown = known.get(field, "clocks_event_reasons")
    put_tool("nvidia-smi", f'case "$*" in *{unknown}*) exit 2 ;; esac')
    _tool, query, *_options = find_command(GPU)
    assert (field if field == "temperature" else f",{field}.active") in query
    assert ("reasons" in query) is (field != "temperature")


@pytest.mark.parametrize(
    "gpu", [None, Gpu(identity="0", facts={}, vendor=AMD), Gpu(identity="MIG-1", facts={})]
)
def test_what_has_no_clock_of_its_own_is_not_watched(put_tool: PutTool, gpu: Gpu | None) -> None:
    put_tool("nvidia-smi", LOOP)
    assert find_command(gpu) == ()


@pytest.mark.parametrize("script", ["exit 9", "exec sleep 600"])
def test_a_tool_that_fails_or_hangs_when_it_is_asked_is_not_asked_again(
    put_tool: PutTool, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    put_tool("nvidia-smi", script)
    monkeypatch.setattr(clocks, "ANSWER", 0.3)
    assert find_command(GPU) == ()


@pytest.mark.parametrize("script", ["sleep 600", "exit 1", "echo; echo no; exec sleep 600"])
def test_a_tool_that_later_hangs_or_fails_tells_nothing(
    put_tool: PutTool, tmp_path: Path, script: str
) -> None:
    put_tool("nvidia-smi", script)
    with watch_clocks(["nvidia-smi"], tmp_path / "samples") as read:
        assert read() == {"samples": 0, "busy": 0}


def test_a_tool_that_disappears_tells_what_it_told_before(
    put_tool: PutTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_tool("nvidia-smi", f"echo '{BUSY}'; exit 15")
    others = psutil.Process().children()  # of other tests, which may run on
    with watch_clocks(["nvidia-smi"], tmp_path / "samples") as read:
        tool = [each for each in psutil.Process().children() if each not in others]
        psutil.wait_procs(tool, timeout=20)
        assert read()["samples"] == 1
    monkeypatch.setenv("PATH", "/nowhere")
    with watch_clocks(["nvidia-smi"], tmp_path / "none") as read:
        assert read() == {"samples": 0, "busy": 0}


def test_samples_that_cannot_be_kept_are_no_error(put_tool: PutTool, tmp_path: Path) -> None:
    put_tool("nvidia-smi", LOOP)
    with watch_clocks(["nvidia-smi"], tmp_path / "no" / "folder") as read:
        assert read() == {"samples": 0, "busy": 0}
    with watch_clocks([], tmp_path / "samples") as read:
        assert read() == {}


def test_sampling_ends_with_what_it_is_for_also_after_an_error(
    put_tool: PutTool, tmp_path: Path
) -> None:
    put_tool("nvidia-smi", LOOP)
    found = []

    def fail() -> None:
        with watch_clocks(["nvidia-smi", "--loop-ms=1"], tmp_path / "samples"):
            children = psutil.Process().children()  # other tests have some, too
            found.extend(each for each in children if "--loop-ms=1" in each.cmdline())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    [child] = found
    assert not child.is_running()


WAIT = """
import pathlib, time
while not pathlib.Path("../sampled").exists():
    time.sleep(0.01)
"""


def test_a_run_tells_what_its_gpu_did(put_tool: PutTool, run: RunCells) -> None:
    put_tool("touch", 'exec /usr/bin/touch "$@"')
    put_tool("nvidia-smi", LOOP)
    assert run(WAIT, sampling=find_command(GPU)).metadata.clocks == TOLD
    assert run("1").metadata.clocks == {}


def test_a_tool_that_hangs_ends_with_its_run(
    put_tool: PutTool, run: RunCells, tmp_path: Path
) -> None:
    put_tool("nvidia-smi", f"echo $$ > {tmp_path}/pid\nexec sleep 600")
    code = WAIT.replace("../sampled", f"{tmp_path}/pid")
    told = run(code, sampling=("nvidia-smi",)).metadata.clocks
    assert told == {"samples": 0, "busy": 0}
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
@pytest.mark.usefixtures("_own_locks")
def test_a_recording_tells_host_and_clocks(put_tool: PutTool, gallery: Gallery) -> None:
    put_tool("touch", 'exec /usr/bin/touch "$@"')
    put_tool("nvidia-smi", LOOP)
    shown = 'import os\nprint(os.environ["CUDA_VISIBLE_DEVICES"])\n'
    (gallery.recipes / "recipe.py").write_text(f'"""\nTitle\n=====\n"""\n{WAIT}{shown}')
    assert gallery.record("recipe", device="gpu")
    assert gallery.recording("recipe").notebook.cells[0].outputs[0].text == "GPU-1\n"
    facts = gallery.recording("recipe").facts
    assert facts["clocks"] == TOLD
    assert len(facts["host"]) == 12
    assert facts["device"]["gpu"] == "Some GPU"

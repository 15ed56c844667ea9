"""Which GPUs are found, and what is told of one while a recipe runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.record.gpu_facts import Gpu, require_gpus
from sphinx_recorded_gallery.record.run_environment import describe_host, host_hash
from tests.helpers.gallery import Gallery

PutTool = Callable[[str], Path]

GPUS = ["Some GPU, 570.1, 80 GiB, GPU-1a", "B, 570.1, 40 GiB, GPU-2b", "C, 570.1, 40 GiB, GPU-2c"]
GPU = Gpu(identity="GPU-1", facts={"gpu": "Some GPU", "driver": "570.1", "memory": "80 GiB"})


@pytest.fixture
def smi(put_tool: PutTool) -> Path:
    """An nvidia-smi of three GPUs; what it was asked."""
    return put_tool("\n".join(f"echo '{line}'" for line in GPUS))


@pytest.mark.parametrize(
    ("visible", "found"),
    [
        (None, ["GPU-1a", "GPU-2b", "GPU-2c"]),
        ("2,0", ["GPU-2c", "GPU-1a"]),
        (" 1 , GPU-1", ["GPU-2b", "GPU-1a"]),
        ("1,1,-1,0", ["GPU-2b"]),
    ],
)
def test_gpus_are_those_that_are_visible(
    smi: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, found: list[str]
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu.identity for gpu in require_gpus()] == found
    assert require_gpus()[0].facts.keys() == {"gpu", "driver", "memory"}


@pytest.mark.parametrize("visible", ["", "GPU-2", "-1"])
def test_none_is_taken_where_none_is_visible(
    smi: Path, monkeypatch: pytest.MonkeyPatch, visible: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(GalleryError, match="no GPU found"):
        require_gpus()


def test_without_a_gpu_the_cpu_is_offered(put_tool: PutTool) -> None:
    put_tool("exit 1")
    with pytest.raises(GalleryError) as caught:
        require_gpus()
    assert str(caught.value) == (
        "no GPU found (nvidia-smi shows none); "
        "to run on the CPU instead: recorded-gallery record --device cpu"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("_own_locks", "_run_here")
def test_a_recording_tells_gpu_and_host(put_tool: PutTool, gallery: Gallery) -> None:
    put_tool("echo 'Some GPU, 570.1, 80 GiB, GPU-1'")
    gallery.write("recipe", '"""\nT\n=\n"""\nprint(1)\n')
    assert gallery.record("recipe", device="gpu")
    facts = gallery.recording("recipe").facts
    assert facts["device"] == GPU.facts | describe_host()
    assert facts["host"] == host_hash()

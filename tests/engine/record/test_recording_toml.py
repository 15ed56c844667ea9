"""What recording.toml may say, and what is told where it says something else."""

from pathlib import Path

import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.recording_toml import Settings, load_settings


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("[limits]\ncell_timeout = nan\n", "limits.cell_timeout must be number"),
        ('[provenance]\nprobe = "a\\u0000"\n', "provenance.probe must match pattern"),
        ("[environment]\n'A=B' = 1\n", "environment must be named by propertyName definition"),
        # recordings name the GPU that makes them: it is chosen for the command
        ("[environment]\nCUDA_VISIBLE_DEVICES = 0\n", "environment.CUDA_VISIBLE_DEVICES must not"),
    ],
)
def test_what_is_wrong_in_recording_toml_is_said_with_what_there_is(
    tmp_path: Path, settings: str, told: str
) -> None:
    path = tmp_path / "recording.toml"
    path.write_text(settings)
    with pytest.raises(GalleryError) as caught:
        load_settings(tmp_path)
    assert str(caught.value).startswith(f"{path}: unexpected value: {told}")
    assert str(caught.value).endswith("; correct it in this file")


def test_all_settings_are_read_and_each_has_a_default(tmp_path: Path) -> None:
    (tmp_path / "recording.toml").write_text(
        "[limits]\ncell_timeout = 1\ndeadline = 2.5\noutput_limit = 3\n"
        "[environment]\nA = 'b'\nC = 5\ninherit = ['D', 'E_*']\n"
        "[provenance]\npackages = ['numpy']\nprobe = 'print(1)'\n"
        "[output]\ndrop = ['W.*x']\n"
    )
    assert load_settings(tmp_path) == Settings(
        cell_timeout=1,
        deadline=2.5,
        output_limit=3,
        environment={"A": "b", "C": "5"},
        inherit=["D", "E_*"],
        packages=["numpy"],
        probe="print(1)",
        drop=["W.*x"],
    )
    (tmp_path / "recording.toml").write_text("")
    default = load_settings(tmp_path)
    # as CONTRIBUTING.md says
    assert (default.cell_timeout, default.deadline, default.output_limit) == (300, 900, 20)

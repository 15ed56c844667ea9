"""What recording.toml may say, and what is told where it says something else."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.recipes.recording_toml import load_settings


def load_error(folder: Path, settings: str) -> str:
    """Return the error of a recording.toml with these settings, without the path before it."""
    path = folder / "recording.toml"
    path.write_text(settings)
    with pytest.raises(GalleryError) as caught:
        load_settings(folder)
    place, told = str(caught.value).split(": ", 1)
    assert place == str(path)
    return told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("[limits]\ncell_timeout = nan\n", "limits.cell_timeout must be number"),
        ('[provenance]\nprobe = "a\\u0000"\n', "provenance.probe must match pattern"),
        ("[environment]\n'A=B' = 1\n", "environment names a variable with = or"),
        # recordings name the GPU that makes them: it is chosen for the command
        ("[environment]\nCUDA_VISIBLE_DEVICES = 0\n", "environment.CUDA_VISIBLE_DEVICES must not"),
    ],
)
def test_what_is_wrong_in_recording_toml_is_said_with_what_there_is(
    tmp_path: Path, settings: str, told: str
) -> None:
    error = load_error(tmp_path, settings)
    assert error.startswith(f"unexpected value: {told}")
    assert error.endswith("; correct it in this file")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            "[limits]\ncel_timeout = 3\n",
            "[limits] has no setting cel_timeout; choose among: cell_timeout, deadline, "
            "output_limit",
        ),
        (
            "[limit]\ndeadline = 3\n",
            "there is no table [limit]; choose among: limits, environment, provenance, output",
        ),
        (
            '[environment]\nCACHE = "{scratc}/cache"\n',
            "environment.CACHE: no folder is called {scratc}; did you mean {scratch}?",
        ),
        (
            '[environment]\nPYTHONPATH = "{Recipe}/src"\n',
            "environment.PYTHONPATH: no folder is called {Recipe}; did you mean {recipes}?",
        ),
    ],
)
def test_an_unknown_name_is_told_with_those_there_are(
    tmp_path: Path, settings: str, told: str
) -> None:
    assert load_error(tmp_path, settings) == told


def test_no_setting_has_the_name_of_another_table_s() -> None:
    """They are read into one record, in which one of two would be lost."""
    package = files("sphinx_recorded_gallery.recipes")
    schema = json.loads(package.joinpath("recording_toml.schema.json").read_text(encoding="utf-8"))
    names: list[str] = []
    for table in schema["properties"].values():
        names += table["properties"]
    assert len(names) == len(set(names)) > 8


@pytest.mark.parametrize(
    "value",
    ["{message}", "{time} {level}", "{}", "{recipient}", "{search}", '{"script": 1}', "{path"],
)
def test_a_word_in_braces_that_is_no_folder_stays(tmp_path: Path, value: str) -> None:
    """Loggers and formats of libraries have their own words in braces."""
    (tmp_path / "recording.toml").write_text(f"[environment]\nLOGURU_FORMAT = '{value}'\n")
    assert load_settings(tmp_path).environment == {"LOGURU_FORMAT": value}

"""The site itself: its recipes, recordings and downloads."""

import re
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from sphinx_recorded_gallery.recipes.recording import compare, read_recording
from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import LANGUAGES, NAMES, RECIPES, SOURCE, by_language, by_recipe

PAGES = sorted(ROOT.glob("*.rst"))

# A recipe has no GPU here, and asks the compiler for nothing it would have to try out first.
ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "agg",
    "TORCHINDUCTOR_VEC_ISA_OK": "1",
    "HF_HUB_OFFLINE": "1",
    # Tests run on every core already: threads that wait for each other cost three times as much.
    "OMP_NUM_THREADS": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a reader without a GPU."""
    variables = ENVIRONMENT | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "reader"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("path", RECIPES, ids=NAMES)
def test_the_recording_is_current_and_from_a_gpu(path: Path) -> None:
    recipe = load_recipe(path)
    recording = read_recording(ROOT / "recordings" / f"{recipe.name}.ipynb")
    comparison = compare(recipe, recording)
    assert comparison.is_current, comparison.describe()
    assert recording.on_gpu
    assert recording.facts["commit"]
    assert not recording.facts["modified"]
    assert recording.facts["seconds"] < 210


@by_language
@by_recipe
def test_the_notebook_is_clean(languages_site: Path, name: str, language: Language) -> None:
    page = languages_site / language.code / "recipes" / name
    notebook = nbformat.read(page.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(notebook)
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)  # code to copy
    for litter in ("``", ":doc:", "\n.. ", "`__", ":math:", "<!--", "sphinx_gallery", "|br|"):
        assert litter not in text
    for link in re.findall(r"\]\(([^)\s]*)", text):
        assert link.startswith("https://")
    assert any(cell.get("outputs") for cell in notebook.cells)
    first, example, *_more = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert first.metadata.cellView == "form"
    assert example.source.startswith("%%script --no-raise-error {sys.executable}\n# ")
    assert notebook.metadata.recording.device.gpu
    assert notebook.metadata.language == language.code


# Recipes run for minutes: each as a notebook in one language, a different one for each, and as a
# script, whose code is the same. By day the code to copy of each recipe runs.
@pytest.mark.nightly
@pytest.mark.parametrize(("name", "language"), [*zip(NAMES, cycle(LANGUAGES), strict=False)])
def test_the_downloaded_notebook_runs_on_a_cpu(
    languages_site: Path, reader: Path, name: str, language: Language
) -> None:
    page = languages_site / language.code / "recipes" / name
    notebook = nbformat.read(page.with_suffix(".ipynb"), as_version=4)
    settings = {"metadata": {"path": str(reader)}}
    NotebookClient(notebook, timeout=600, resources=settings).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.nightly
@by_recipe
def test_the_downloaded_script_runs_on_a_cpu(languages_site: Path, reader: Path, name: str) -> None:
    command = [sys.executable, languages_site / SOURCE.code / f"recipes/{name}.py"]
    done = subprocess.run(command, cwd=reader, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "first_call" in done.stdout

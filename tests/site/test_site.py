"""The site itself: its recipes, recordings and downloads."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from gallery import ROOT
from recipe_gallery.languages import Language
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.recording import compare, read_recording
from site_pages import LANGUAGES, NAMES, RECIPES, SLOWER, by_language, by_recipe

# Recipes run for minutes: at night each is run as a notebook in one language, a different one for
# each, and as a script, whose code is the same. By day one notebook is run.
PAIRS = list(zip(NAMES, cycle(LANGUAGES), strict=False))
BY_DAY = "token_generation"
PAGES = sorted(ROOT.glob("*.rst"))

# A recipe has no GPU here, and asks the compiler for nothing it would have to try out first.
ENVIRONMENT = os.environ | {
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "agg",
    "TORCHINDUCTOR_VEC_ISA_OK": "1",
    "HF_HUB_OFFLINE": "1",
    # Tests run on every core already: threads that wait for each other cost three times as much.
    "OMP_NUM_THREADS": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}
# A figure with the unit of a measurement. That 100 % means all is no measurement.
MEASUREMENT = re.compile(
    r"(?<![\w.^])(?!100 ?%)\d[\d.,]* ?"
    r"(?:ns|µs|us|ms|s|seconds?|minutes?|[GT]B/s|[GT]FLOPS?|[GT]FLOP/s|×|%)(?!\w)"
)


# Figures that somebody else measured, tolerances, and the line between gain and loss.
QUOTED = {
    "compiling_optimizer": "747 µs, 392 µs",
    "regional_compilation": "9.7 s, 0.7 s",
    "index": "1×",
    "results": "2×, 1×, 1×, 1×",
    "compile_modes": "90 %",
    "how_we_measure": "5%, 0.3%",
    "reference": "14.2 ms, 4.2 TB/s, 2.7×, 63%",  # how figures are shown
}


@pytest.fixture
def environment(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """That of a reader, whose machine seems slow by day, and is as it is at night."""
    environment = ENVIRONMENT | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    if not request.node.get_closest_marker("nightly"):
        (tmp_path / "sitecustomize.py").write_text(SLOWER)  # Python runs it when it starts
        paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment


@pytest.fixture(scope="session")
def site(languages_site: Path) -> Path:
    """The site in the language of the sources."""
    return languages_site / LANGUAGES[0].code


@pytest.mark.parametrize("path", RECIPES, ids=NAMES)
def test_the_recording_is_current_and_from_a_gpu(path: Path) -> None:
    recipe = load_recipe(path)
    recording = read_recording(ROOT / "recordings" / f"{recipe.name}.ipynb")
    comparison = compare(recipe, recording)
    assert comparison.is_current, comparison.describe()
    assert recording.on_gpu
    assert recording.facts["commit"]
    assert not recording.facts["modified"]
    # Two at a time, on a host that others use. Of the 225 s of regional_compilation, 41 go into a
    # package of AOTInductor that could not be loaded, and 34 into compiling for a CPU.
    assert recording.facts["seconds"] < (230 if path.stem == "regional_compilation" else 200)


@pytest.mark.parametrize("path", RECIPES + PAGES, ids=lambda path: path.name)
def test_no_measured_figure_is_typed_in_prose(path: Path) -> None:
    if path.suffix == ".py":
        text = "\n".join(
            block.content for block in load_recipe(path).blocks if block.type == "text"
        )
    else:
        text = path.read_text()
    assert MEASUREMENT.findall(text) == [
        each for each in QUOTED.get(path.stem, "").split(", ") if each
    ]


@by_recipe
def test_the_page_shows_where_it_was_recorded(site: Path, name: str) -> None:
    page = (site / f"recipes/{name}.html").read_text()
    facts = read_recording(ROOT / "recordings" / f"{name}.ipynb").facts
    start = page.index('<details class="provenance">')
    box = page[start : page.index("</details>", start)]
    versions = facts["versions"]
    for fact in (facts["device"]["gpu"], facts["device"]["driver"], facts["commit"][:10]):
        assert fact in box
    for fact in (versions["torch"], versions["triton"], versions["CUDA"], versions["python"]):
        assert fact in box
    assert f'href="{name}.ipynb"' in page
    assert f'href="{name}.py"' in page
    assert re.search(r'<img [^>]*alt="[^"]{20,}"|<div [^>]*role="img" aria-label="[^"]{20,}"', page)


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
    assert notebook.metadata.recording.device.gpu
    assert notebook.metadata.language == language.code


def leave_to_the_night(pairs: Sequence[Any]) -> list[Any]:
    """Return the pairs of recipe and language, of which one is for the day."""
    return [
        pytest.param(pair, id=pair[0], marks=[] if pair[0] == BY_DAY else [pytest.mark.nightly])
        for pair in pairs
    ]


@pytest.mark.slow
@pytest.mark.parametrize("pair", leave_to_the_night(PAIRS))
def test_the_downloaded_notebook_runs_on_a_cpu(
    languages_site: Path,
    pair: tuple[str, Language],
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, language = pair
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    folder = tmp_path / "reader"
    folder.mkdir()
    page = languages_site / language.code / "recipes" / name
    notebook = nbformat.read(page.with_suffix(".ipynb"), as_version=4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    client.execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.nightly
@by_recipe
def test_the_downloaded_script_runs_on_a_cpu(
    site: Path, name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    command = [sys.executable, site / f"recipes/{name}.py"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert "first_call" in done.stdout

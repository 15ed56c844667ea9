"""The engine's API: every name is described, and the reference is made of that."""

import re
import subprocess
import sys
from inspect import isfunction
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from sphinx_recorded_gallery import api
from tests.helpers.gallery import ROOT


def test_every_name_says_what_it_is() -> None:
    described = [name for name in api.__all__ if callable(getattr(api, name))]
    assert len(described) > 25
    undescribed = [name for name in described if not getattr(api, name).__doc__]
    assert undescribed == []
    for noun in (api.Gallery, api.Typography):
        methods = [name for name in vars(noun) if not name.startswith("_")]
        assert len(methods) > 8
        assert [name for name in methods if not getattr(noun, name).__doc__] == []
    constants = {*api.__all__} - {*described}
    source = (ROOT / "sphinx_recorded_gallery/api.py").read_text(encoding="utf-8")
    undescribed = [name for name in constants if f"``{name}``" not in source]
    assert undescribed == []


@pytest.mark.slow
def test_the_reference_is_made_without_a_warning(tmp_path: Path) -> None:
    recipe = subprocess.run(
        ["make", "-n", "api", "BUILD=out"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    [line] = re.findall(r"-m (sphinx .*)", recipe.stdout)
    command = [sys.executable, "-m", *line.replace("out/", f"{tmp_path}/").split()]
    subprocess.run(command, cwd=ROOT, check=True)
    page = BeautifulSoup((tmp_path / "api/index.html").read_text(encoding="utf-8"), "html.parser")
    shown = {dt["id"].rpartition(".")[2] for dt in page.select("dt.sig[id]")}
    functions = {name for name in api.__all__ if isfunction(getattr(api, name))}
    assert functions <= shown

"""What stands before the code of each notebook: it installs what is missing, and nothing else."""

import runpy
import subprocess
from importlib import metadata
from types import SimpleNamespace

import pytest

from tests.helpers.gallery import ROOT

CURRENT = {
    "torch": "2.15.0",
    "pandas": "3.1.1",
    "matplotlib": "3.11.2",
    "transformers": "5.23.0",
}


@pytest.mark.parametrize(
    ("installed", "asked"),
    [
        (CURRENT, []),  # no recipe needs torchvision: its own torch would take this one's place
        (CURRENT | {"torch": "2.11.0+cu130"}, []),
        # one fits one release of the other
        (CURRENT | {"torch": "2.9.1"}, ["torch>=2.11", "torchvision>=0.26"]),
        ({"torch": "2.11"}, ["pandas>=2.2", "matplotlib>=3.9", "transformers>=5.18"]),
        # a hosted notebook may have an old one
        (CURRENT | {"transformers": "4.57.1"}, ["transformers>=5.18"]),
    ],
)
def test_a_notebook_installs_what_is_missing_or_too_old(
    monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], asked: list[str]
) -> None:
    calls: list[list[str]] = []
    found = [SimpleNamespace(name=name, version=version) for name, version in installed.items()]
    monkeypatch.setattr(metadata, "distributions", lambda: found)
    monkeypatch.setattr(subprocess, "run", lambda command, check: calls.append(command[5:]))
    exec(runpy.run_path(str(ROOT / "conf.py"))["install_missing"], {})
    assert [name for call in calls for name in call] == asked

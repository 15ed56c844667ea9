"""What `pip install .` puts onto a stranger's machine."""

import ast
import email
import re
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import sphinx_recorded_gallery
from tests.helpers.gallery import ROOT, copy_repository


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    copy_repository(source)  # setuptools leaves files in the folder that it builds from
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*command, "-w", str(folder), str(source)], check=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_engine_is_installed_whole_and_nothing_of_this_site(wheel: zipfile.ZipFile) -> None:
    installed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    engine = ROOT / "sphinx_recorded_gallery"
    files = {
        path.relative_to(ROOT).as_posix()
        for path in engine.rglob("*")
        if path.suffix in (".py", ".po", ".css", ".js", ".html", ".json", ".toml", ".typed")
    }
    description = "sphinx_recorded_gallery/README.md"  # setuptools adds it
    assert installed - {description} == files


def test_what_is_installed_names_its_version_licence_and_packages(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    facts = email.message_from_bytes(wheel.read(name))
    assert facts["Name"] == "sphinx-recorded-gallery"
    assert facts["Version"] == sphinx_recorded_gallery.__version__
    assert facts["Requires-Python"] == ">=3.11"
    assert facts["License-Expression"] == "BSD-3-Clause"
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
    pythons = {"3.11", "3.12", "3.13", "3.14"}
    classifiers = facts.get_all("Classifier")
    assert pythons <= {each.rpartition(" :: ")[2] for each in classifiers}
    assert {"Typing :: Typed", "Operating System :: POSIX"} <= {*classifiers}
    addresses = facts.get_all("Project-URL") or []  # until there are public ones
    assert not any("example" in address for address in addresses)
    needed = facts.get_all("Requires-Dist")
    assert all(">=" in each for each in needed)
    assert "record" in facts.get_all("Provides-Extra")
    # What only recording takes is not asked of those who build pages.
    plain = " ".join(each for each in needed if "extra" not in each)
    assert "sphinx-gallery" in plain
    assert not [each for each in ("nbclient", "psutil") if each in plain]


def test_the_description_stands_alone_and_names_the_version() -> None:
    engine = ROOT / "sphinx_recorded_gallery"
    readme = (engine / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]*)\)|<img|^!\[", readme, re.MULTILINE)
    assert links
    assert all(address.startswith("https://") for address in links)
    changes = (engine / "CHANGELOG.md").read_text(encoding="utf-8")
    [latest, *_older] = re.findall(r"^## (\S+)$", changes, re.MULTILINE)
    assert latest == sphinx_recorded_gallery.__version__


def test_the_installed_engine_records_and_renders_a_gallery(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "-q"]
    subprocess.run([*pip, "--target", installed, wheel.filename], check=True)
    assert (installed / "bin/recorded-gallery").exists()
    command = [sys.executable, ROOT / "tests/foreign/try_package.py", tmp_path / "gallery"]
    environment = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_engine_imports_is_asked_for(wheel: zipfile.ZipFile) -> None:
    """A package that comes only with the theme of this site would be missing elsewhere."""
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    facts = email.message_from_bytes(wheel.read(name))
    asked = {re.split(r"[\[>]", each)[0] for each in facts.get_all("Requires-Dist")}
    comes_along = dict.fromkeys(("docutils", "imagesize", "jinja2", "pygments"), "sphinx")
    comes_along |= {"jupyter-client": "nbclient", "pyzmq": "nbclient", "traitlets": "nbclient"}
    comes_along |= {"ipython": "ipykernel", "matplotlib-inline": "ipykernel"}
    distributions = packages_distributions()
    for path in (ROOT / "sphinx_recorded_gallery").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for package in {each.partition(".")[0] for each in names} - sys.stdlib_module_names:
                found = {each.lower().replace("_", "-") for each in distributions[package]}
                found |= {comes_along[each] for each in found & comes_along.keys()}
                assert found & asked, f"{path}: {package}"

"""The remedies for what an example cannot import."""

import subprocess
import sys

import pytest

from sphinx_recorded_gallery.record.explain_failure import IMPORT_ERRORS
from sphinx_recorded_gallery.record.missing_modules import suggest_for_import
from tests.helpers.gallery import Gallery

TITLE = '"""\nT\n=\n"""\n'


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("import nowhere", "install the packages that examples need where they run ("),
        ("import nowhere.part", 'PYTHONPATH = "{recipes}/../src"'),
        ("import nbformat.nowhere", "or install another version of nbformat, which is "),
        ("from nbformat import nowhere", "or install another version of nbformat, which is "),
        ("import json.nowhere", "or record with a Python that has json.nowhere"),
        ("import this.part", "rename the file this.py, which is imported in place of a package"),
        (
            "import importlib.metadata as m; m.version('nowhere')",
            "and name them in the project's requirements",
        ),
        ("raise ImportError('Missing optional dependency')", "and name them in the project's"),
        (
            "import ctypes\ntry:\n    ctypes.CDLL('libnowhere.so.1')\n"
            "except OSError as error:\n    raise ImportError(str(error))",
            "install the system's package that has libnowhere.so.1 on the machine that records",
        ),
    ],
)
def test_each_import_error_of_python_has_its_remedy(code: str, remedy: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    name, _colon, value = done.stderr.splitlines()[-1].partition(": ")
    assert name.rpartition(".")[2] in IMPORT_ERRORS
    assert remedy in suggest_for_import(value)


def test_modules_that_import_each_other_are_told() -> None:
    value = (
        "cannot import name 'f' from partially initialized module 'a' (most likely due to a "
        "circular import) (/project/a.py)"
    )
    assert suggest_for_import(value).startswith("import in one direction only")


@pytest.mark.slow
def test_whoever_records_is_told_which_python_lacks_a_package(gallery: Gallery) -> None:
    gallery.write("recipe", f"{TITLE}import nowhere\n")
    assert not gallery.record("recipe")
    [message] = {line for line in gallery.messages.splitlines() if line.startswith("error:")}
    assert "recipe.py:5: cell 1 of 1 failed: ModuleNotFoundError" in message
    [python] = {word for word in message.split() if word.startswith("(")}
    done = subprocess.run([python.strip("("), "-m", "pip", "--version"], capture_output=True)
    assert done.returncode == 0

"""A project of somebody else: five lines of conf.py, and names that nobody here chose."""

import os
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.gallery import ROOT
from tests.helpers.modules import run_module

CONF = """\
extensions = ["sphinx_recorded_gallery"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples/",
}
"""

# A figure, printed text and a comment in code.
EXAMPLE = '''\
"""
{title}
=======================

A sentence about ``numbers``, as in `math`.
"""

# Why it is so short.
import matplotlib.pyplot as plt

print("sum", {number})

# %%
# A part with a picture
# ---------------------
#
# The line goes up.

plt.plot([0, {number}])
plt.show()
'''


@dataclass(frozen=True)
class Stranger:
    """A project in ``<root>/docs`` with examples in ``<root>/examples``."""

    root: Path

    @property
    def docs(self) -> Path:
        return self.root / "docs"

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def example(self, name: str, *, title: str = "A line that goes up", number: int = 2) -> Path:
        return self.write(name, EXAMPLE.format(title=title, number=number))

    def configure(self, lines: str) -> None:
        """Add lines to conf.py."""
        self.write("docs/conf.py", (self.docs / "conf.py").read_text() + lines)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a Python module in the folder of conf.py, as its owner would, with success."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("RECORDED_GALLERY")
        }
        paths = [str(ROOT), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        done = run_module(*command, cwd=self.docs, env=environment)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``recorded-gallery``."""
        return self.run("sphinx_recorded_gallery", *arguments)

    def sphinx(self, builder: str, *options: str) -> Path:
        """Build, see that no warning is told, and return the folder of what was made."""
        out = self.docs / "_build" / builder
        command = ["sphinx", "-q", "-b", builder, "-d", "_build/doctrees", *options, ".", str(out)]
        # Sphinx-Gallery warns of files of the same name in two folders, whatever shows them.
        lines = self.run(*command).stderr.splitlines()
        assert not [line for line in lines if "Duplicate example file" not in line]
        return out

    def record(self) -> str:
        """Record all examples on the CPU; return what was told."""
        return self.command("record", "--device", "cpu").stderr


def make_project(root: Path) -> Stranger:
    project = Stranger(root)
    project.write("docs/conf.py", CONF)
    toctree = ".. toctree::\n\n   auto_examples/index\n"
    project.write("docs/index.rst", f"My library\n==========\n\n{toctree}")
    project.write("examples/GALLERY_HEADER.rst", "Examples\n========\n\nShort ones.\n")
    return project

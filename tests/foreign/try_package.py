"""Use the installed engine on a gallery of its own: ``python try_package.py EMPTY_FOLDER``.

It imports nothing of this repository, so that it can run where the engine alone is installed.
"""

import json
import subprocess
import sys
from importlib.metadata import distribution, version
from pathlib import Path

CONF = """\
extensions = [
    "sphinx_recorded_gallery",
    "sphinx_recorded_gallery.measurements",
    "sphinx_recorded_gallery.translate",
    "sphinx_recorded_gallery.search",
]
recorded_gallery_device = "cpu"
gettext_compact = False
sphinx_gallery_conf = {"examples_dirs": "examples", "gallery_dirs": "auto_examples"}
exclude_patterns = ["_build", "examples"]
"""
EXAMPLE = '''\
"""
A line that goes up
===================

A sentence.
"""

import matplotlib.pyplot as plt

print("sum", 1 + 1)
plt.plot([0, 2])
'''
FILES = {
    "conf.py": CONF,
    "index.rst": "My library\n==========\n\n.. toctree::\n\n   auto_examples/index\n",
    "examples/GALLERY_HEADER.rst": "Examples\n========\n\nShort ones.\n",
    "examples/plot_line.py": EXAMPLE,
}


def run(folder: Path, *arguments: str) -> None:
    """Run the command that is installed, and end where it fails."""
    code = "import sys; from sphinx_recorded_gallery.__main__ import main; sys.exit(main())"
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, check=True)


def main(folder: Path) -> None:
    """Record, build, translate and look at what came out."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    scripts = [entry.name for entry in distribution("sphinx-recorded-gallery").entry_points]
    assert scripts == ["recorded-gallery"], scripts
    run(folder, "record")
    run(folder, "check")
    run(folder, "new-language", "ko")
    run(folder, "html", "en", "ko", "--", "-W", "-q")
    for code, label in (("en", "Recorded on"), ("ko", "기록:")):
        site = folder / "_build/html" / code
        page = (site / "auto_examples/plot_line.html").read_text(encoding="utf-8")
        assert "sum 2" in page
        assert label in page
        assert 'class="sphx-glr-single-img' in page
        assert (site / "_static/recorded_gallery.css").exists()
        assert (site / "search-index.js").exists()
        notebook = json.loads((site / "auto_examples/plot_line.ipynb").read_text(encoding="utf-8"))
        assert any(cell.get("outputs") for cell in notebook["cells"])
    print(f"Sphinx {version('sphinx')}, Python {sys.version.split()[0]}: fine")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

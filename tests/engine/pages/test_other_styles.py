"""Examples as other projects write them: what stands above a title, and tabs."""

import json
import os
import subprocess
import sys

import jupytext
import pytest

from tests.helpers.gallery import ROOT, Gallery

ABOVE = {
    "links": "`First <first.html>`_ ||\n**Second** ||\n`Third <third.html>`_",
    "badge": "|badge|\n\n.. |badge| replace:: new",
    "orphan": ":orphan:",
    "label": ".. _label:",
}


@pytest.mark.parametrize("above", ABOVE)
def test_what_stands_above_a_title_is_shown(gallery: Gallery, above: str) -> None:
    text = f'"""\n{ABOVE[above]}\n\nA title\n=======\n\nWords.\n"""\nprint("shown")\n'
    for name in ("first", "third"):
        gallery.add(name, f'"""\n{name}\n=====\n\nWords.\n"""\nprint("other")\n')
    gallery.add("example", text)
    build = gallery.build()
    assert build.warnings == ""
    page = build.page("recipes/example")
    assert page.count("<h1>") == 1
    assert ">shown" in page
    assert "Recorded on" in page
    notebook = json.loads((build.out / "recipes/example.ipynb").read_text())
    first, *_rest, code = notebook["cells"]
    assert "# A title\n" in first["source"]
    assert code["outputs"][0]["text"] == ["shown\n"]


def test_code_indented_by_tabs_is_shown_and_runs(gallery: Gallery) -> None:
    code = "for number in range(2):\n\t# Why tabs.\n\tprint(number)\t# a tab"
    gallery.set_languages("ko")
    gallery.add("example", f'"""\nA title\n=======\n\nWords.\n"""\n{code}\n')
    for language, comment in (("en", "Why tabs."), ("ko", "왜 탭인가.")):
        if language == "ko":
            gallery.translate("recipes/example", {"Why tabs.": comment})
        build = gallery.build(language=language)
        assert "example.py" not in build.warnings
        assert ">0\n1" in build.page("recipes/example")
        script = (build.out / "recipes/example.py").read_text()
        assert comment in script
        compile(script, "example.py", "exec")


NOTEBOOKS_AS_PAGES = """
from pathlib import Path
from docutils import nodes
from sphinx.parsers import Parser


class NotebookParser(Parser):
    supported = ("notebook",)

    def parse(self, text, document):
        Path(__file__).with_name("ran").touch()
        document += nodes.section("", nodes.title("", "Notebook"), ids=["notebook"])


def setup(app):
    for suffix in (".ipynb", ".py"):
        app.add_source_suffix(suffix, "notebook")
    app.add_source_parser(NotebookParser)
"""


@pytest.mark.slow
def test_recordings_are_no_pages_of_extensions_that_run_notebooks(gallery: Gallery) -> None:
    gallery.add("example", '"""\nA title\n=======\n\nWords.\n"""\nprint("shown")\n')
    left_behind = gallery.root / "recipes/example.ipynb"  # by Sphinx-Gallery
    left_behind.parent.mkdir()
    left_behind.write_text("{}")
    (gallery.root / "notebooks_as_pages.py").write_text(NOTEBOOKS_AS_PAGES)
    patterns = [*gallery.settings["exclude_patterns"], "*.py"]
    gallery.add_extension("notebooks_as_pages", exclude_patterns=patterns)
    # in a process of its own: Sphinx keeps the endings of sources for others
    command = [sys.executable, "-m", "sphinx", "-q", "-W", ".", "out/html"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(gallery.root)])}
    done = subprocess.run(
        command, cwd=gallery.root, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ">shown" in (gallery.root / "out/html/recipes/example.html").read_text()
    assert not (gallery.root / "out/html/recordings").exists()
    assert not (gallery.root / "ran").exists()


def test_settings_that_would_add_to_pages_are_told(gallery: Gallery) -> None:
    gallery.add("example", '"""\nA title\n=======\n\nWords.\n"""\nprint("shown")\n')
    conf = {
        **gallery.settings["sphinx_gallery_conf"],
        "binder": {"org": "acme", "repo": "small", "branch": "main"},
        "download_all_examples": True,
        "image_scrapers": ("matplotlib", "shutil.copy"),
        "reset_modules": ("matplotlib", "seaborn"),
        "matplotlib_animations": (True, "jshtml"),
    }
    gallery.configure(sphinx_gallery_conf=conf)
    lines = gallery.build("dummy").warnings.splitlines()
    names = ["binder", "download_all_examples", "image_scrapers", "matplotlib_animations"]
    assert len(lines) == len(names)
    for name, line in zip(names, lines, strict=True):
        assert f"sphinx_gallery_conf: {name} has no effect on recordings; remove it" in line


def test_a_notebook_has_the_first_and_last_cell_of_conf(gallery: Gallery) -> None:
    gallery.add("example", '"""\nA title\n=======\n\nWords.\n"""\nprint("shown")\n')
    cells = {"first_notebook_cell": "print('first')", "last_notebook_cell": "print('last')"}
    conf = gallery.settings["sphinx_gallery_conf"] | cells
    gallery.configure(sphinx_gallery_conf=conf)
    build = gallery.build()
    assert build.warnings == ""
    notebook = json.loads((build.out / "recipes/example.ipynb").read_text())
    codes = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert codes == ["print('first')", 'print("shown")', "print('last')"]


def test_a_comment_is_one_when_a_script_is_opened_as_a_notebook(gallery: Gallery) -> None:
    code = "#%matplotlib inline\nimport os\n\n# In Colab, run\n#\n# !pip install something\n"
    code += 'if os:\n    text = """\n# !kept\n"""\nprint(text, \'# %x\')  # ls'
    gallery.add("example", f'"""\nA title\n=======\n\nWords.\n"""\n{code}\n')
    build = gallery.build()
    notebook = json.loads((build.out / "recipes/example.ipynb").read_text())
    opened = jupytext.read(build.out / "recipes/example.py")
    assert "".join(notebook["cells"][-1]["source"]) == opened.cells[-1].source == code

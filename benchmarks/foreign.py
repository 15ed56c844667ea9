"""Record, render and translate examples of others: ``make foreign`` (needs a package index).

Named examples of Sphinx-Gallery and of Matplotlib, from their source distributions, go through
`record`, HTML, notebooks, templates and a pseudo-locale in a fresh project of five lines of
conf.py. Prints a table of counts; ends with 1 if anything is not as it should be.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

import nbformat
import polib

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recipe_gallery.recipes.recipe import load_recipe  # noqa: E402
from recipe_gallery.translate.comments import find_comments  # noqa: E402

CONF = """\
extensions = ["recipe_gallery"]
sphinx_gallery_conf = {
    "examples_dirs": ["../sphinx-gallery", "../matplotlib"],
    "gallery_dirs": ["auto_examples/", "plots"],
}
"""
# By gallery: the source distribution, the folder of its examples, and which of them are taken
GALLERIES = {
    "sphinx-gallery": (
        "sphinx-gallery==0.22.1",
        "examples",
        [
            "plot_0_sin",
            "plot_1_exp",
            "plot_4_choose_thumbnail",
            "plot_4b_provide_thumbnail",
            "plot_5_unicode_everywhere",
            "plot_7_sys_argv",
            "plot_8_animations",
            "plot_9_multi_image_separate",
            "no_output/just_code",
            "no_output/plot_strings",
        ],
    ),
    "matplotlib": (
        "matplotlib==3.11.2",
        "galleries/examples",
        [
            "lines_bars_and_markers/barchart",
            "lines_bars_and_markers/fill_between_demo",
            "lines_bars_and_markers/timeline",
            "images_contours_and_fields/contour_demo",
            "images_contours_and_fields/image_annotated_heatmap",
            "pie_and_polar_charts/bar_of_pie",
            "statistics/boxplot",
            "statistics/errorbar_limits",
            "statistics/hist",
            "statistics/violinplot",
        ],
    ),
}
# Files that examples need: modules and pictures beside them
BESIDE = {"sphinx-gallery": ["local_module.py"], "matplotlib": []}
PAGES = {"sphinx-gallery": "auto_examples", "matplotlib": "plots"}
# pip prepares the metadata of what it downloads. Where that is the work of a build system of
# compiled code, this stands in for it: the metadata lie in the source distribution already.
MESONPY = """\
from email.parser import Parser
from pathlib import Path


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    text = Path("PKG-INFO").read_text(encoding="utf-8")
    facts = Parser().parsestr(text)
    name = f"{facts['Name']}-{facts['Version']}.dist-info"
    Path(folder, name).mkdir()
    Path(folder, name, "METADATA").write_text(text, encoding="utf-8")
    return name
"""


def main() -> int:
    """Run the whole way and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="kept afterwards; a temporary one if none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for gallery in GALLERIES:
            if not fetch(gallery, folder):
                print(f"skipped: {GALLERIES[gallery][0]} cannot be downloaded here")
                return 0
        counts, faults = run(folder)
    width = max(map(len, counts))
    print("\n".join(f"{name:<{width}}  {count}" for name, count in counts.items()))
    print("\n".join(f"fault: {fault}" for fault in faults))
    return int(bool(faults))


def fetch(gallery: str, folder: Path) -> bool:
    """Download a source distribution and take its examples; tell whether it could be had."""
    requirement, examples, names = GALLERIES[gallery]
    stub = folder / "stub"
    stub.mkdir(exist_ok=True)
    (stub / "mesonpy.py").write_text(MESONPY)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
    command += [":all:", "--no-build-isolation", requirement, "--dest", str(folder / "sdist")]
    environment = os.environ | {"PYTHONPATH": str(stub)}
    found = list((folder / "sdist").glob(f"{gallery.replace('-', '_')}-*.tar.gz"))
    if not found:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        found = list((folder / "sdist").glob(f"{gallery.replace('-', '_')}-*.tar.gz"))
        if not found:
            print(done.stderr[-500:], file=sys.stderr)
            return False
    wanted = {f"{name}.py" for name in names} | set(BESIDE[gallery])
    wanted |= {f"{path.parent.as_posix()}/GALLERY_HEADER.rst" for path in map(Path, names)}
    wanted.add("GALLERY_HEADER.rst")
    with tarfile.open(found[0]) as archive:
        for member in archive:
            below = member.name.partition("/")[2]
            name = os.path.normpath(below.removeprefix(f"{examples}/"))
            if below.startswith(f"{examples}/") and name in map(os.path.normpath, wanted):
                target = folder / gallery / name
                target.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                assert content
                target.write_bytes(content.read())
    return True


def run(folder: Path) -> tuple[Counter[str], list[str]]:
    """Take the examples all the way; return counts, and what was not as it should be."""
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "conf.py").write_text(CONF)
    tree = ".. toctree::\n\n" + "".join(f"   {pages}/index\n" for pages in PAGES.values())
    (docs / "index.rst").write_text(f"Galleries\n=========\n\n{tree}")
    faults: list[str] = []
    command(docs, faults, "recipe_gallery", "record", "--device", "cpu", may_fail=True)
    sphinx = ("sphinx", "-q", "-b")
    command(docs, faults, *sphinx, "html", ".", "_build/html")
    gettext = ("gettext", "-D", "gettext_compact=0", ".", "_build/templates")
    command(docs, faults, *sphinx, *gettext)
    command(docs, faults, "recipe_gallery", "pseudo-po", "_build/locale")
    pseudo = ("-D", "language=en_XA", "-D", "locale_dirs=_build/locale")
    command(docs, faults, *sphinx, "html", *pseudo, ".", "_build/pseudo")
    counts: Counter[str] = Counter()
    for gallery, (_requirement, _examples, names) in GALLERIES.items():
        for name in names:
            try:
                check(folder, gallery, name, counts)
            except (AssertionError, OSError, SyntaxError, nbformat.ValidationError) as error:
                faults.append(f"{gallery}/{name}: {type(error).__name__}: {error}")
    return counts, faults


def command(docs: Path, faults: list[str], *words: str, may_fail: bool = False) -> None:
    """Run one command; note a failure, a traceback and each warning of the engine."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("RECIPE_GALLERY_MAKE", None)
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=docs, env=environment, capture_output=True, text=True
    )
    told = " ".join(words[:4])
    if done.returncode and not may_fail:
        faults.append(f"{told}: exit status {done.returncode}: {done.stderr.strip()[-1000:]}")
    for line in done.stderr.splitlines():
        if line.startswith(("Traceback", "error:")) or "[recipe_gallery" in line:
            faults.append(f"{told}: {line}")


def check(folder: Path, gallery: str, name: str, counts: Counter[str]) -> None:
    """Look at all that was made of one example; raise an error at the first fault."""
    docs, page = folder / "docs", f"{PAGES[gallery]}/{name}"
    counts["tried"] += 1
    recording = nbformat.read(docs / f"recordings/{page}.ipynb", as_version=4)
    counts["recorded"] += 1
    html = (docs / f"_build/html/{page}.html").read_text(encoding="utf-8")
    figures = count_figures(recording)
    shown = len(re.findall(r"<img[^>]*sphx-glr-single-img", html))
    assert shown == figures, f"{figures} figures were recorded, the page shows {shown}"
    assert "Recorded on" in html
    counts["pages"] += 1
    counts["figures"] += figures
    notebook = nbformat.read(docs / f"_build/html/{page}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert count_figures(notebook) == figures, "the notebook lacks figures"
    counts["notebooks valid"] += 1
    ast.parse((docs / f"_build/html/{page}.py").read_text(encoding="utf-8"))
    counts["scripts compile"] += 1
    messages = {each.msgid for each in polib.pofile(str(docs / f"_build/templates/{page}.pot"))}
    comments = [
        comment.text
        for cell in load_recipe(folder / gallery / f"{name}.py").cells
        for comment in find_comments(cell.source)
    ]
    missing = [text for text in comments if text not in messages]
    assert not missing, f"the template lacks the comment {missing[0]!r}"
    counts["templates"] += 1
    counts["comments in templates"] += len(comments)
    pseudo = (docs / f"_build/pseudo/{page}.html").read_text(encoding="utf-8")
    title = re.search(r"<h1>(.*?)<a ", pseudo, re.DOTALL)
    assert title
    assert not title[1].isascii(), f"the pseudo page is headed {title[1]!r}"
    counts["pseudo pages accented"] += 1


def count_figures(notebook: nbformat.NotebookNode) -> int:
    """Return how many outputs a page shows as pictures."""
    return sum(
        "text/html" not in output.data and any(mime.startswith("image/") for mime in output.data)
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "data" in output
    )


if __name__ == "__main__":
    sys.exit(main())

"""The core and the three extensions: each works without the others and leaves a project alone."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import polib
import pytest
from bs4 import BeautifulSoup

from tests.helpers.foreign_project import Stranger, make_project
from tests.helpers.gallery import ROOT

ENGINE = "sphinx_recorded_gallery"
STOCK = "sphinx_gallery.gen_gallery"
# modules that belong to an extension, by its name
ROOMS = {
    "measurements": (f"{ENGINE}.measurements.roles", f"{ENGINE}.measurements.measured_tables"),
    "translate": (f"{ENGINE}.translate.transforms", f"{ENGINE}.translate.loading"),
    "search": (f"{ENGINE}.search",),
}
GERMAN = {
    "A guide.": "Ein Leitfaden.",
    "My library": "Meine Bibliothek",
    "A line that goes up": "Eine Linie, die steigt",
    "The line goes up.": "Die Linie steigt.",
}


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    project = make_project(tmp_path_factory.mktemp("extensions"))
    project.example("examples/plot_line.py")
    project.write("docs/guide/one.rst", "Guide\n=====\n\nA guide.\n")
    index = project.docs / "index.rst"
    index.write_text(f"{index.read_text()}   guide/one\n")
    project.record()
    return project


@pytest.fixture
def stranger(recorded_once: Stranger, tmp_path: Path) -> Stranger:
    copy = tmp_path / "copy"
    shutil.copytree(recorded_once.root, copy)
    return Stranger(copy)


def name_extensions(project: Stranger, *names: str) -> None:
    project.configure(f"extensions = {list(names)!r}\n")


def imported_by_build(project: Stranger) -> set[str]:
    """Build in a fresh process, and return the modules of the engine that it imported."""
    code = (
        "import sys; from sphinx.cmd.build import main; status = main(sys.argv[1:]); "
        f"print(*[name for name in sys.modules if name.startswith({ENGINE!r})]); sys.exit(status)"
    )
    command = [sys.executable, "-c", code, "-q", "-W", "-b", "html", ".", "_build/html"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=project.docs, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.slow
@pytest.mark.parametrize("named", ["", "measurements", "translate", "search"])
def test_an_extension_works_without_the_others(stranger: Stranger, named: str) -> None:
    name_extensions(stranger, f"{ENGINE}.{named}".rstrip("."))
    stranger.configure("gettext_compact = False\n")
    imported = imported_by_build(stranger)
    others = {module for room in ROOMS if room != named for module in ROOMS[room]}
    assert not imported & others
    assert not named or set(ROOMS[named]) <= imported
    page = (stranger.docs / "_build/html/auto_examples/plot_line.html").read_text()
    assert "sum 2" in page
    assert "Recorded on" in page


@pytest.mark.slow
@pytest.mark.parametrize("compact", [True, False, "messages"])
def test_the_core_leaves_translations_to_sphinx(stranger: Stranger, compact: bool | str) -> None:
    stranger.configure(
        f"gettext_compact = {compact!r}\nlocale_dirs = ['locales', 'more']\n"
        "gettext_additional_targets = ['literal-block']\n"
    )
    stock = Stranger(stranger.root.with_name("stock"))
    shutil.copytree(stranger.root, stock.root)
    name_extensions(stock, STOCK)
    templates = stock.sphinx("gettext", "-d", "_build/templates")
    translate(templates, stock.docs / "locales/de/LC_MESSAGES")
    translate(templates, stranger.docs / "locales/de/LC_MESSAGES")
    pages = {
        name: main_text(project.sphinx("html", "-D", "language=de") / f"{name}.html")
        for project in (stock, stranger)
        for name in ("index", "guide/one", "auto_examples/plot_line")
        if project is stock
    }
    out = stranger.sphinx("html", "-D", "language=de")
    for name, text in pages.items():
        shown = main_text(out / f"{name}.html")
        german = {word for word in GERMAN.values() if word in text}
        assert german, name
        assert {word for word in GERMAN.values() if word in shown} == german, name
    assert main_text(out / "guide/one.html") == pages["guide/one"]
    notebook = (out / "auto_examples/plot_line.ipynb").read_text(encoding="utf-8")
    assert "Die Linie steigt." in notebook


def translate(templates: Path, catalogs: Path) -> None:
    """Write German catalogs in the layout that Sphinx's templates have."""
    for template in templates.rglob("*.pot"):
        catalog = polib.pofile(str(template))
        for entry in catalog:
            entry.msgstr = GERMAN.get(entry.msgid, "")
        path = catalogs / template.relative_to(templates).with_suffix(".po")
        path.parent.mkdir(parents=True, exist_ok=True)
        catalog.metadata["Language"] = "de"
        catalog.save(str(path))


def main_text(page: Path) -> str:
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    body = soup.select_one('[role="main"]')
    assert body
    return re.sub(r"\s+", " ", body.get_text())


@pytest.mark.slow
def test_sources_may_be_in_another_language_than_english(stranger: Stranger) -> None:
    stranger.configure('language = "fr"\n')
    stranger.command("html", "--", "-q", "-W")
    page = (stranger.docs / "_build/html/fr/auto_examples/plot_line.html").read_text()
    assert '<html lang="fr"' in page
    assert 'lang="en"' not in page
    name_extensions(stranger, ENGINE, f"{ENGINE}.translate")
    stranger.configure("gettext_compact = False\n")
    told = stranger.command("new-language", "en").stdout
    assert (stranger.docs / "languages.toml").read_text().startswith("fr = { name = ")
    assert 'en = { name = "English", published = false }' in told


def test_translate_refuses_catalogs_of_whole_folders_in_one_line(stranger: Stranger) -> None:
    name_extensions(stranger, ENGINE, f"{ENGINE}.translate")
    done = run_in_vain(stranger, "html", "--", "-q")
    assert "conf.py: sphinx_recorded_gallery.translate needs a catalog for each page" in done
    assert "write gettext_compact = False" in done
    stranger.configure("gettext_compact = False\ngettext_additional_targets = ['index']\n")
    assert "does not support gettext_additional_targets; remove that setting" in run_in_vain(
        stranger, "html"
    )


def test_commands_of_translators_say_which_extension_they_need(stranger: Stranger) -> None:
    for command in (("check-po",), ("update-po",), ("new-language", "de"), ("live", "de")):
        told = run_in_vain(stranger, *command)
        assert "conf.py: extensions do not name sphinx_recorded_gallery.translate" in told
        assert told.count("\n") == 1, told
    assert not (stranger.docs / "languages.toml").exists()


def run_in_vain(project: Stranger, *arguments: str) -> str:
    """Run ``recorded-gallery``, which fails, and return what it says of that."""
    command = [sys.executable, "-m", ENGINE, *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=project.docs, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


# What sphinxcontrib-katex 0.9 does, without the package
KATEX = r"""
from docutils import nodes

def visit_inline(self, node):
    self.body.append(self.starttag(node, "span", "", CLASS="math"))
    self.body.append(rf"\({self.encode(node.astext())}\)</span>")
    raise nodes.SkipNode

def visit_block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(rf"\[{self.encode(node.astext())}\]</div>")
    raise nodes.SkipNode

def setup(app):
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.add_config_value("katex_prerender", False, "html")
    app.connect("builder-inited", lambda app: app.add_js_file("katex.min.js"))
    return {"version": "0.9", "parallel_read_safe": True}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        'extensions += ["sphinx.ext.mathjax"]\n',
        'extensions += ["sphinx.ext.imgmath"]\nimgmath_image_format = "svg"\n',
        'extensions += ["sphinxcontrib.jsmath"]\njsmath_path = "x.js"\n',
        'extensions += ["sphinxcontrib.katex"]\nimport sys\nsys.path.insert(0, ".")\n',
        'extensions += ["other_math"]\nimport sys\nsys.path.insert(0, ".")\n',
    ],
)
def test_the_core_leaves_formulas_to_the_projects_renderer(stranger: Stranger, lines: str) -> None:
    stranger.write(
        "docs/other_math.py",
        """\
        def visit(self, node):
            self.body.append("<i>other</i>")
            raise __import__("docutils").nodes.SkipNode

        def setup(app):
            app.add_html_math_renderer("other", (visit, None), (visit, None))
        """,
    )
    stranger.write("docs/sphinxcontrib/katex.py", KATEX)
    stranger.write("docs/guide/one.rst", "Guide\n=====\n\nA formula :math:`x^2`.\n")
    stranger.configure(lines)
    stock = Stranger(stranger.root.with_name("stock"))
    shutil.copytree(stranger.root, stock.root)
    stock.configure(f"extensions[0] = {STOCK!r}\n")
    quiet = ("-D", "suppress_warnings=imgmath")
    was, now = (
        main_html(build_with_warnings(project, *quiet) / "guide/one.html")
        for project in (stock, stranger)
    )
    assert now == was
    assert "<math" not in now


def build_with_warnings(project: Stranger, *options: str) -> Path:
    """Build, whatever is warned of, such as that there is no LaTeX on this machine."""
    project.run("sphinx", "-q", "-b", "html", *options, ".", "_build/html")
    return project.docs / "_build/html"


def main_html(page: Path) -> str:
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    return str(soup.select_one('[role="main"]'))


@pytest.mark.slow
def test_the_core_leaves_parser_and_images_of_other_pages_alone(stranger: Stranger) -> None:
    stranger.write(
        "docs/other_parser.py",
        """\
        from sphinx.parsers import RSTParser

        class Parser(RSTParser):
            def parse(self, inputstring, document):
                assert document.settings.env.docname == "auto_examples/plot_line" or isinstance(
                    inputstring, str
                )
                document["shouted"] = True
                super().parse(inputstring, document)

        def visit_image(self, node):
            self.body.append("<b>another image</b>")
            raise __import__("docutils").nodes.SkipNode

        def setup(app):
            from docutils import nodes

            app.add_source_parser(Parser, override=True)
            app.add_node(nodes.image, override=True, html=(visit_image, None))
            app.connect("doctree-read", lambda app, tree: print("shouted" in tree.attributes))
        """,
    )
    stranger.write("docs/guide/one.rst", "Guide\n=====\n\n.. image:: a.png\n")
    shutil.copy(ROOT / "_static/preview.png", stranger.docs / "guide/a.png")
    stranger.configure(
        'import sys\nsys.path.insert(0, ".")\nextensions = ["other_parser", *extensions]\n'
    )
    told = stranger.run("sphinx", "-q", "-E", "-b", "html", ".", "_build/html").stdout
    assert set(told.split()) == {"True"}
    assert "another image" in (stranger.docs / "_build/html/guide/one.html").read_text()


@pytest.mark.slow
def test_an_empty_gallery_builds(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    out = project.sphinx("html")
    assert (out / "index.html").exists()
    project.write("docs/index.rst", "My library\n==========\n")
    project.configure(
        'sphinx_gallery_conf |= {"examples_dirs": [], "gallery_dirs": []}\n'
        'exclude_patterns = ["auto_examples"]\n'
    )
    assert (project.sphinx("html") / "index.html").exists()

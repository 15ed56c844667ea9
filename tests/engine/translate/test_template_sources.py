"""Templates kept beside catalogs: what each was extracted from, and when it is stale."""

from pathlib import Path
from types import SimpleNamespace

import polib
import pytest
from docutils import nodes
from docutils.utils import new_document

from recipe_gallery.project import Project, load_project
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.templates import kept
from recipe_gallery.translate.templates.extract import complete_templates
from recipe_gallery.translate.templates.kept import (
    SOURCES,
    KeptTemplates,
    find_sources,
    write_templates,
)
from recipe_gallery.translate.transforms import code_comment

HEADS = {"GALLERY_HEADER.rst", "b.txt", "c.md"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A page, a gallery of two recipes, a template of HTML; nothing is built."""
    (tmp_path / "conf.py").write_text(
        'extensions = ["recipe_gallery"]\nlocale_dirs = ["locale"]\ngettext_compact = False\n'
        'templates_path = ["_templates"]\nexclude_patterns = ["examples"]\n'
        'sphinx_gallery_conf = {"examples_dirs": "examples", "gallery_dirs": "gallery"}\n'
    )
    for name in ("page.rst", "part.txt", "_templates/a.html", "_templates/a.css"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    examples = tmp_path / "examples"
    (examples / "deep").mkdir(parents=True)
    for name in (*HEADS, "one.py", "two.py", "deep/README.rst"):
        (examples / name).write_text(name)
    return load_project(tmp_path)


def sources(project: Project, docname: str, *dependencies: str) -> set[str]:
    env = SimpleNamespace(
        srcdir=str(project.root),
        config=project.config,
        dependencies={docname: set(dependencies)},
        doc2path=lambda name: str(project.root / f"{name}.rst"),
    )
    return find_sources(env, docname)


def test_messages_are_from_a_page_and_from_texts_that_it_includes(project: Project) -> None:
    made = ("gallery/one.rst", "gallery/one.ipynb", "locale/ko/LC_MESSAGES/page.po")
    pictures = [f"a.{kind}" for kind in ("png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "PNG")]
    assert sources(project, "page", "part.txt", *made, *pictures) == {"page.rst", "part.txt"}
    assert sources(project, "page") == {"page.rst"}


def test_messages_of_a_gallery_are_from_its_recipes_and_headers(project: Project) -> None:
    assert sources(project, "gallery/one") == {"examples/one.py"}
    heads = {f"examples/{name}" for name in HEADS}
    assert sources(project, "gallery/index") == heads | {"examples"}
    deep = {"examples/deep", "examples/deep/README.rst"}
    assert sources(project, "gallery/deep/index") == deep
    assert sources(project, "gallery/none") == sources(project, "gallery/none/index") == set()
    (project.root / "examples/index.py").touch()
    assert sources(project, "gallery/index") == {"examples/index.py"}


def template(*files: str) -> polib.POFile:
    made = polib.POFile()
    made.metadata = {SOURCES: " ".join(files)}
    made.append(polib.POEntry(msgid="A text", comment="Title", occurrences=[("page.rst", "3")]))
    return made


def stale(project: Project, domain: str) -> str:
    found = KeptTemplates(project.root, project.locale, project.config).of_page(domain)
    assert found
    return found.stale


def test_a_template_is_stale_once_a_source_was_edited(project: Project) -> None:
    write_templates(project, {"page": template("page.rst", "part.txt", "not%20there.rst")})
    assert stale(project, "page") == ""
    for name in ("part.txt", "page.rst"):
        path = project.root / name
        before = path.read_bytes()
        path.write_bytes(before + b"more")
        assert stale(project, "page") == f"{name} was edited since then"
        path.write_bytes(before)
    (project.root / "not there.rst").write_text("now it is")
    assert stale(project, "page") == "not there.rst was edited since then"


def test_of_a_folder_of_recipes_counts_which_there_are(project: Project) -> None:
    write_templates(project, {"gallery/index": template("examples")})
    (project.root / "examples/one.py").write_text("edited")
    (project.root / "examples/more.rst").touch()
    assert stale(project, "gallery/index") == ""
    (project.root / "examples/three.py").touch()
    assert stale(project, "gallery/index") == "examples was edited since then"


def test_a_huge_file_that_a_template_names_is_not_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_LARGEST", 8)
    assert kept._hash(project.root / "page.rst") == ""
    (project.root / "page.rst").write_text("1234567")
    assert len(kept._hash(project.root / "page.rst")) == 12
    assert kept._hash(project.root / "none") == ""


def test_labels_of_a_project_are_from_its_own_templates(project: Project) -> None:
    labels = polib.POFile()
    labels.append(polib.POEntry(msgid="Own", occurrences=[("_templates/a.html", "1")]))
    labels.append(polib.POEntry(msgid="Search", occurrences=[("sphinx", "")]))
    domains = {"page": template("page.rst"), "sphinx": labels, "recipe_gallery": labels}
    changed = write_templates(project, domains)
    folder = project.locale / "templates"
    # a package brings its own, which are found without being kept
    assert sorted(changed) == [folder / "page.pot", folder / "sphinx.pot"]
    made = polib.pofile(str(folder / "sphinx.pot"))
    assert [entry.msgid for entry in made] == ["Own"]
    assert made[0].occurrences == [("_templates/a.html", "")]
    assert made.metadata[SOURCES].partition("=")[0] == "_templates/a.html"
    found = KeptTemplates(project.root, project.locale, project.config).of_page("sphinx")
    assert found
    assert found.kinds == {"Own": Kind.LABEL}
    assert stale(project, "sphinx") == ""
    (project.root / "_templates/b.html").touch()
    assert stale(project, "sphinx") == "_templates/b.html was edited since then"
    assert write_templates(project, {"page": template("page.rst"), "sphinx": labels}) == [
        folder / "sphinx.pot"
    ]


def test_templates_of_pages_that_are_gone_are_removed(project: Project) -> None:
    write_templates(project, {"page": template("page.rst"), "old/page": template("old.rst")})
    old = project.locale / "templates/old/page.pot"
    assert old.exists()
    made = KeptTemplates(project.root, project.locale, project.config)
    assert made.domains == ["old/page", "page", "recipe_gallery", "sphinx"]
    assert made.catalog_of("page", "ko") == project.locale / "ko/LC_MESSAGES/page.po"
    assert write_templates(project, {"page": template("page.rst")}) == [old]
    assert not old.exists()
    assert made.of_page("none") is None
    # a page without messages has an empty one
    (project.root / "new.rst").write_text("")
    (path,) = write_templates(project, {"page": template("page.rst")})
    assert (path, len(polib.pofile(str(path)))) == (project.locale / "templates/new.pot", 0)


def test_a_finished_template_tells_what_its_messages_are_and_its_sources(project: Project) -> None:
    document = new_document(str(project.root / "page.rst"))
    document += [nodes.title("", "Both"), nodes.title("", "Head"), nodes.paragraph("", "Text.")]
    document += [nodes.paragraph("", "Both"), code_comment("", "", original="Why.")]
    for number, node in enumerate(document.children, 1):
        node.source, node.line = document["source"], number
        if isinstance(node, nodes.TextElement) and not node.children:
            continue
        node.rawsource = node.astext()
    path = project.root / "out/page.pot"
    path.parent.mkdir()
    made = polib.POFile()
    made.extend(polib.POEntry(msgid=text) for text in ("Both", "Head", "Text.", "Why."))
    made.save(str(path))
    env = SimpleNamespace(
        srcdir=str(project.root),
        config=project.config,
        found_docs={"page"},
        dependencies={"page": {"a part.txt"}},
        doc2path=lambda name: str(project.root / f"{name}.rst"),
        get_doctree=lambda name: document,
    )
    app = SimpleNamespace(
        env=env, config=project.config, srcdir=str(project.root), outdir=str(path.parent)
    )
    before = path.read_bytes()
    complete_templates(app, ValueError())
    assert path.read_bytes() == before
    complete_templates(app, None)
    done = polib.pofile(str(path))
    assert done.metadata[SOURCES] == "a%20part.txt page.rst"
    assert {entry.msgid: entry.comment for entry in done} == {
        "Both": "",
        "Head": "Title",
        "Text.": "",
        "Why.": "Comment in code: one line of plain text, no markup",
    }

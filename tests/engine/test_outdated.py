"""Pages are read again when something that they show of another file has changed."""

import os
import pickle
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from sphinx import addnodes, builders
from sphinx.errors import SphinxParallelError

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.incremental import processes
from recipe_gallery.incremental.kept import Kept, PackedTocs, Store, keep
from recipe_gallery.incremental.outdated import (
    _outdated_pages,
    _pages_with_old_titles,
    has_state,
    watch,
)
from recipe_gallery.pages.measurements import known
from recipe_gallery.recipes.gallery import GalleryFile

EXTENSION = """
import sys
from pathlib import Path

from recipe_gallery.incremental.kept import once
from recipe_gallery.incremental.outdated import watch

def first_word(env, name):
    return once(env, read_word, name)

def read_word(env, name):
    with Path(env.srcdir, "asked.txt").open("a") as asked:
        asked.write(f"{name}\\n")
    return Path(env.srcdir, name).read_text().split()[0]

def read(app, docname, text):
    if docname == "index":
        for _ in range(3):
            watch(app.env, first_word, "shown.txt")

def setup(app):
    sys.path.remove(app.confdir.as_posix())
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
"""

PAGES = ("index", "faq", "other")


def test_what_has_not_changed_is_neither_read_nor_written_again(site: Gallery) -> None:
    pages = [site.build().out / f"{name}.html" for name in ("index", "recipes/adding")]
    written = [page.stat().st_mtime_ns for page in pages]
    assert site.build().read == []
    assert [page.stat().st_mtime_ns for page in pages] == written


def test_a_page_is_read_again_only_when_what_it_watches_is_another(gallery: Gallery) -> None:
    (gallery.root / "watching.py").write_text(EXTENSION)
    conf = gallery.root / "conf.py"
    gallery.add_extension("watching")
    conf.write_text(f"import sys\nsys.path.insert(0, {str(gallery.root)!r})\n{conf.read_text()}")
    shown = gallery.root / "shown.txt"
    shown.write_text("one two")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "index" in gallery.build().read
        shown.write_text("one three")
        assert gallery.build().read == []
        shown.write_text("four")
        assert gallery.build().read == ["index"]
    assert (gallery.root / "asked.txt").read_text() == "shown.txt\n" * 3  # once in each build
    # Sphinx 11 removes env.app, so that nothing may be found by it.
    assert not [each for each in told if "BuildEnvironment.app" in str(each.message)]


def test_what_counts_for_one_build_is_not_kept_for_later_ones() -> None:
    store = Store(once={("function", "key"): 1})
    store.kept["values"]["key"] = 2
    later = pickle.loads(pickle.dumps(store))
    assert (later.once, later.kept["values"]) == ({}, {"key": 2})


asked: list[str] = []
files = {"first": "1 one", "second": "1 two"}


def state_of_file(env: object, name: str) -> bytes:
    return files[name].encode()


@has_state(state_of_file)
def last_word(env: object, name: str) -> str:
    asked.append(name)
    return files[name].split()[-1]


def test_a_function_with_a_state_is_asked_only_when_that_is_another() -> None:
    """And a page is read again only if the value is another, too."""
    env: Any = SimpleNamespace(recipe_gallery=Store(), docname="index", tocs={})
    assert [watch(env, last_word, name) for name in ("first", "second")] == ["one", "two"]
    found = []
    for saved in ({}, {"first": "2 one"}, {}, {"second": "2 three"}):
        files.update(saved)
        asked.clear()
        env.recipe_gallery = pickle.loads(pickle.dumps(env.recipe_gallery))
        found.append((_outdated_pages(None, env), [*asked]))  # type: ignore[arg-type]
    assert found == [([], []), ([], ["first"]), ([], []), (["index"], ["second"])]


def test_a_value_is_read_again_when_a_file_of_it_is_another(tmp_path: Path) -> None:
    env: Any = SimpleNamespace(recipe_gallery=Store())
    named, inside = tmp_path / "named", tmp_path / "inside"
    read: list[str] = []

    def value(more: list[Path] | None, *facts: str) -> Kept:
        env.recipe_gallery = pickle.loads(pickle.dumps(env.recipe_gallery))
        return keep(env, ("key",), [named], lambda: (more, read.append("") or len(read)), *facts)

    assert [value([inside]).value for _build in range(2)] == [1, 1]
    first = value([inside]).state
    named.write_text("one")
    assert value([inside]).value == 2
    inside.write_text("one")
    assert value([inside]).value == 3
    assert value([inside]).state != first
    assert value([inside], "fact").value == 4
    assert [value(None, "unknown").value for _build in range(2)] == [5, 6]
    assert value(None).state == b""

    def save() -> tuple[list[Path], int]:
        inside.write_text("saved meanwhile")
        return [inside], 0

    assert keep(env, ("key",), [named], save, "saved").state == b""


def test_a_process_tells_only_what_it_has_found(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    old, changed = Kept(files=(), state=b"1", packed=b""), Kept(files=(), state=b"2", packed=b"")
    store.kept["values"] |= {"old": old, "changed": old}
    pages = {name: store.pages[name] for name in ("old", "read again")}
    store.kept["catalogs"]["old"] = old
    store.begin(["read again", "new"])
    store.kept["values"] |= {"changed": changed, "new": changed}
    assert store.pages["new"]
    assert {*pickle.loads(pickle.dumps(store)).pages} == {*pages, "new"}
    monkeypatch.setattr(os, "getpid", lambda: -1)
    told = pickle.loads(pickle.dumps(store))
    assert {*told.pages} == {"read again", "new"}
    assert told.kept == {"values": {"changed": changed, "new": changed}, "catalogs": {}}


def published(out: Path) -> dict[Path, bytes]:
    """Return what a build published."""
    files = [path for path in out.rglob("*") if path.is_file() and path.name != ".buildinfo"]
    return {path.relative_to(out): path.read_bytes() for path in files}


def test_several_processes_make_the_same_of_many_pages(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery.configure(recipe_gallery_search=True)
    for name in ("adding", "fifth", "other", "sixth", "unrecorded"):
        gallery.add(name)
    (gallery.root / "recordings" / "unrecorded.ipynb").unlink()
    alone = gallery.build()
    expected = published(alone.out)
    shutil.rmtree(gallery.root / "out")
    few = gallery.build(parallel=2)
    assert published(few.out) == expected
    assert "recipes/adding" in few.read  # by this process
    made: list[str] = []
    parts: list[list[str]] = []
    monkeypatch.setattr(processes, "MANY", 4)

    def cut(names: list[str], _processes: int) -> list[list[str]]:
        parts.append(names)
        made.extend(name for name in names if name.endswith(".py"))
        return [[name] for name in names]

    monkeypatch.setattr(processes, "_cut", cut)
    read = gallery.root / "read.txt"

    def note(file: GalleryFile, folders: list[Path]) -> object:
        with read.open("a") as notes:
            notes.write(f"{file.docname}\n")
        return read_figures(file, folders)

    read_figures = known._read
    monkeypatch.setattr(known, "_read", note)
    write_one = builders._write_docname

    def write(docname: str, **named: Any) -> None:
        written.append(docname)
        write_one(docname, **named)

    written: list[str] = []
    monkeypatch.setattr(builders, "_write_docname", write)
    for folder in ("out", "recipes"):
        shutil.rmtree(gallery.root / folder)
    shared = gallery.build(parallel=2)
    assert written == ["index"]  # by this process, the smallest
    assert sorted(read.read_text().split()) == sorted(f"recipes/{Path(name).stem}" for name in made)
    assert shared.read == []  # by this process
    assert len(made) == 5  # by others
    assert shared.warnings == alone.warnings
    assert shared.warnings.count("no recording") == 1
    assert published(shared.out) == expected
    sizes = [(gallery.root / f"out/doctrees/{name}.doctree").stat().st_size for name in parts[-1]]
    assert sizes == sorted(sizes, reverse=True)  # nobody waits for a large page at the end
    written.clear()
    assert gallery.build(parallel=2, html_show_copyright=False).read == []
    assert written == ["index"]


NOTES = """
def note(app, doctree, docname):
    app.env.noted = [*getattr(app.env, "noted", []), docname]

def show(app, exception):
    app.outdir.joinpath("noted.txt").write_text(" ".join(app.env.noted))

def setup(app):
    app.connect("doctree-resolved", note)
    app.connect("build-finished", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
"""


def test_few_large_pages_are_written_by_several_processes(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery.configure(recipe_gallery_search=True)
    gallery.add()
    for number, lines in enumerate((300, 200, 100, 90)):
        text = "A line.\n\n" * lines
        (gallery.root / f"page_{number}.rst").write_text(f":orphan:\n\nPage\n====\n\n{text}")
    expected = published(gallery.build().out)
    written = gallery.root / "written.txt"
    write_one = builders._write_docname

    def write(docname: str, **named: Any) -> None:
        with written.open("a") as notes:
            notes.write(f"{os.getpid()} {docname}\n")
        write_one(docname, **named)

    monkeypatch.setattr(builders, "_write_docname", write)
    for enough, processes_wanted in ((10_000_000, 1), (1, 2)):
        monkeypatch.setattr(processes, "ENOUGH", enough)
        written.unlink(missing_ok=True)
        shutil.rmtree(gallery.root / "out")
        assert published(gallery.build(parallel=2).out) == expected
        found: dict[str, list[str]] = {}
        for line in written.read_text().splitlines():
            found.setdefault(line.split()[0], []).append(line.split()[1])
        assert len(found) == processes_wanted
    own = found.pop(str(os.getpid()))
    (others,) = found.values()
    assert own[0] == "page_0"
    assert others[0] == "page_1"


def test_a_process_that_is_killed_is_told() -> None:
    tasks = processes.Tasks(2)
    tasks.add_task(lambda _part: os.kill(os.getpid(), signal.SIGKILL), "part")
    with pytest.raises(GalleryError, match="was killed, perhaps for lack of memory"):
        tasks.join()


def test_the_first_part_is_not_the_last_to_start() -> None:
    done: list[int] = []
    tasks = processes.Tasks(1)
    for part in range(4):
        tasks.add_task(lambda part: part, part, lambda part, _result: done.append(part))
    tasks.join()
    assert done == [0, 1, 2, 3]


def test_what_an_extension_notes_of_pages_is_not_lost(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "MANY", 1)
    monkeypatch.syspath_prepend(gallery.root)
    gallery.configure(recipe_gallery_search=True)
    for number in range(5):  # Sphinx writes fewer pages than six in one process
        (gallery.root / f"page_{number}.rst").write_text(f":orphan:\n\nPage {number}\n======\n")
    (gallery.root / "notes.py").write_text(NOTES)
    gallery.add_extension("notes")
    built = gallery.build(parallel=2)
    assert (built.out / "noted.txt").read_text().split()[-2:] == ["page_4", "recipes/index"]
    text = NOTES.replace('safe": True}', f'safe": True, "{processes.RESOLVES_ANYWHERE}": True}}')
    (gallery.root / "notes.py").write_text(text)
    monkeypatch.delitem(sys.modules, "notes")
    shutil.rmtree(gallery.root / "out")
    assert (gallery.build(parallel=2).out / "noted.txt").read_text() == "page_4"


def test_a_part_that_fails_early_is_told() -> None:
    """Sphinx's own tasks go on without it."""
    tasks = processes.Tasks(2)
    started: list[Any] = []

    def do(part: int) -> bytes:
        if part == 1:
            raise GalleryError("broken", path=Path("page.rst"), line=3)
        time.sleep(0.05)
        return bytes(1_000_000)  # more than a pipe holds

    def add_all() -> None:
        for part in range(1, 9):
            tasks.add_task(do, part)
            started.extend(tasks._procs.values())
            assert len(tasks._precvs_waiting) <= 1
        tasks.join()

    with pytest.raises(SphinxParallelError, match=r"page\.rst:3: broken"):
        add_all()
    for each in {*started}:
        if each.is_alive():
            each.join(5)
    assert not any(each.is_alive() for each in started)


def test_tables_of_contents_stay_packed_until_somebody_asks() -> None:
    """Those that were changed where they are, as numbers of sections are, are kept so."""
    tocs = PackedTocs({name: nodes.bullet_list("", nodes.list_item()) for name in PAGES})
    kept = pickle.loads(pickle.dumps(tocs))
    assert {type(each) for each in kept.data.values()} == {bytes}
    kept["faq"][0]["number"] = 1
    assert [type(kept.data[name]) for name in PAGES] == [bytes, nodes.bullet_list, bytes]
    again = pickle.loads(pickle.dumps(kept))
    assert again.data["index"] == kept.data["index"]
    assert again["faq"][0]["number"] == 1
    assert [each.tagname for each in again.values()] == ["bullet_list"] * 3
    assert (again.pop("other").tagname, again.get("other"), [*again]) == (
        "bullet_list",
        None,
        ["index", "faq"],
    )


def test_an_entry_of_the_first_page_that_is_renamed_is_so_on_all_pages() -> None:
    """It stands at the top of each, and may have a title for that place alone."""
    store = Store()
    written = []
    for title in ("Questions", "Questions", "Answers"):
        toctree = addnodes.toctree(entries=[(title, "faq"), (None, "other")])
        env: Any = SimpleNamespace(
            recipe_gallery=store,
            collect_relations=dict,
            titles={name: nodes.title("", name) for name in PAGES},
            tocs={"index": nodes.bullet_list("", toctree)},
            config=SimpleNamespace(root_doc="index"),
        )
        for name in PAGES:
            assert store.pages[name]  # each page has a record
        written.append(_pages_with_old_titles(None, env))  # type: ignore[arg-type]
    assert written == [[], [], [*PAGES]]

"""What many small edits leave is what a build of everything at once would have made."""

import copy
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT, Gallery, write_recording

MESSAGES = {
    "Adding numbers": "수 더하기",
    "A first sentence with ``code``.": "``code``가 있는 첫 문장입니다.",
    "A paragraph.": "문단입니다.",
    "Why this is here.": "왜 있는지.",
}
PAGES = {
    "index": """.. measured-on::

.. toctree::

   recipes/index
   results
   words
   progress
""",
    "results": ".. results::\n\n   adding against a\n",
    "words": ".. translation-glossary::\n",
    "progress": ".. translation-status::\n",
}


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    """A site with every directive, two recipes and catalogs."""
    for name, text in PAGES.items():
        title = name.title()
        (gallery.root / f"{name}.rst").write_text(f"{title}\n{'=' * len(title)}\n\n{text}")
    gallery.set_languages("ko")
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / name, gallery.root / name)
    gallery.add_extension(
        "sphinx_recorded_gallery.search",
        html_theme="pydata_sphinx_theme",
        html_copy_source=False,
        html_sidebars={"**": []},
        html_static_path=["_static"],
        templates_path=["_templates"],
    )
    for name in ("adding", "other"):
        gallery.add(name)
        gallery.translate(f"recipes/{name}", MESSAGES)
    edit_glossary(gallery, 0)
    return gallery


def replace(path: Path, pattern: str, new: str) -> None:
    """Change the first place that a pattern finds."""
    text = path.read_text(encoding="utf-8")
    changed = re.sub(pattern, new, text, count=1)
    if path.suffix == ".ipynb":
        write_recording(path, changed)
    else:
        path.write_text(changed, encoding="utf-8")


def edit_prose(site: Gallery, number: int) -> None:
    replace(site.recipes / "adding.py", r"A paragraph\w*\.", f"A paragraph{number}.")


def edit_code(site: Gallery, number: int) -> None:
    replace(site.recipes / "adding.py", r"total = 1 \+ \d+", f"total = 1 + {2 + number % 2}")


def edit_title(site: Gallery, number: int) -> None:
    new = f"Adding numbers{number}\n{'=' * 20}"
    replace(site.recipes / "other.py", r"Adding numbers\w*\n=+", new)


def edit_recording(site: Gallery, number: int) -> None:
    replace(site.recordings / "other.ipynb", r"the total is \d+", f"the total is {number}")


def edit_device(site: Gallery, number: int) -> None:
    replace(site.recordings / "other.ipynb", r'"cpu": ".*?"', f'"cpu": "Machine {number}"')


def edit_catalog(site: Gallery, number: int) -> None:
    new = {"A paragraph.": f"문단 {number}입니다.", "Adding numbers": f"수 {number} 더하기"}
    chosen = dict([sorted(new.items())[number % 2]])
    site.translate("recipes/adding", MESSAGES | chosen)


def edit_label(site: Gallery, number: int) -> None:
    labels = {"%(device)s, %(date)s": f"%(device)s; {number}; %(date)s"}
    site.translate("second_call", labels)


def edit_recipes(site: Gallery, number: int) -> None:
    path = site.recipes / "guest.py"
    if path.exists():
        path.unlink()
        (site.recordings / "guest.ipynb").unlink()
    else:
        site.add("guest")


def edit_languages(site: Gallery, number: int) -> None:
    site.set_languages(*(("ko", "ja") if number % 2 else ("ko",)))
    replace(site.root / "languages.toml", "English", f"English {number}")


def edit_glossary(site: Gallery, number: int) -> None:
    path = site.root / "locale/glossary.csv"
    path.write_text(f"term,ko,note\noptimizer,옵티마이저{number},\n", encoding="utf-8")


KINDS: list[Callable[[Gallery, int], None]] = [
    *(edit_prose, edit_code, edit_title, edit_recording, edit_device),
    *(edit_catalog, edit_label, edit_recipes, edit_languages, edit_glossary),
]


def published(site: Gallery) -> dict[str, bytes]:
    """Return all files that a build published, by name.

    Sphinx keeps notes of its own there, and pictures of pages that are gone.
    """
    folder = site.root / "out/html"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and not path.name.startswith(".buildinfo")
        and not re.match("(sphx_glr_)?guest_", path.name)
    }


def clean_copy(site: Gallery, root: Path) -> Gallery:
    """Return the sources of a site as a fresh clone has them."""

    def made(folder: str, names: list[str]) -> set[str]:
        at_top = {"out", "recipes"} & set(names) if Path(folder) == site.root else set()
        return at_top | {name for name in names if name.endswith((".mo", ".mo.json"))}

    shutil.copytree(site.root, root, ignore=made)
    clean = copy.copy(site)
    clean.root = root
    return clean


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.nightly)])
def test_edits_one_by_one_leave_what_a_clean_build_makes(
    site: Gallery, tmp_path_factory: pytest.TempPathFactory, times: int
) -> None:
    chance = random.Random(11)
    kinds = [kind for _ in range(times) for kind in chance.sample(KINDS, len(KINDS))]
    site.build(language="ko")
    for number, kind in enumerate(kinds, 1):
        kind(site, number)
        site.build(language="ko")
        if number % 10:
            continue
        clean = clean_copy(site, tmp_path_factory.mktemp("clean") / site.root.name)
        clean.build(language="ko")
        expected, found = published(clean), published(site)
        done = [each.__name__ for each in kinds[:number]]
        assert found.keys() == expected.keys(), done
        different = [name for name in sorted(found) if found[name] != expected[name]]
        assert different == [], done

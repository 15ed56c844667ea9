"""Single bytes of real recordings changed, and recordings cut off, by the hundred."""

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sphinx_recorded_gallery.recipes.recipe import load_recipe

from .bench import MARK, ROOT, SURPRISE

BATCH = 40  # damaged recordings of one build
THROUGH_SITE = 20  # of the real site, at most one of each recipe at a time
CONF = """\
import glob
extensions = ["sphinx_recorded_gallery"]
html_baseurl = "https://example.org/site/"
exclude_patterns = ["in*", "_build"]
names = sorted(name.removeprefix("in") for name in glob.glob("in[0-9]*"))
sphinx_gallery_conf = {
    "examples_dirs": [f"in{name}" for name in names],
    "gallery_dirs": [f"out{name}" for name in names],
}
"""


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A change of one recording."""

    recipe: str
    place: int
    byte: int | None  # what stands there now; None if the file ends there

    def apply(self, content: bytes) -> bytes:
        """Return the damaged file."""
        if self.byte is None:
            return content[: self.place]
        return content[: self.place] + bytes([self.byte]) + content[self.place + 1 :]

    def __str__(self) -> str:
        what = "cut off" if self.byte is None else f"byte {self.byte:#04x}"
        return f"{self.recipe}.ipynb at {self.place}: {what}"


def choose(count: int, seed: int) -> list[Damage]:
    """Choose what to damage; every seventh is cut off."""
    choices = random.Random(seed)
    names = sorted(path.stem for path in (ROOT / "recordings").glob("*.ipynb"))
    chosen = []
    for number in range(count):
        recipe = choices.choice(names)
        content = (ROOT / f"recordings/{recipe}.ipynb").read_bytes()
        place = choices.randrange(len(content))
        likely = [*range(32, 127)] if choices.random() < 0.7 else [*range(256)]
        byte = choices.choice([each for each in likely if each != content[place]])
        chosen.append(Damage(recipe=recipe, place=place, byte=None if number % 7 == 6 else byte))
    return chosen


def change_bytes(count: int, seed: int) -> list[str]:
    """Damage recordings; `check` and html have to agree, and no page may be another silently."""
    damages = choose(count, seed)
    sample, rest = damages[:THROUGH_SITE], damages[THROUGH_SITE:]
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory(prefix="faults-") as folder:
        parts = [pool.submit(through_site, Path(folder, "site"), sample)]
        for start in range(0, len(rest), BATCH):
            batch = rest[start : start + BATCH]
            parts.append(pool.submit(in_batch, Path(folder, f"batch{start}"), batch))
        return [wrong for part in parts for wrong in part.result()]


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the command line in a folder."""
    kept = {name: value for name, value in os.environ.items() if "RECORDED_GALLERY" not in name}
    environment = kept | {"PYTHONPATH": str(ROOT), MARK: "damage", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "sphinx_recorded_gallery", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace"
    )


def signature(page: Path) -> tuple[str, ...]:
    """Return what a page shows: its text, its pictures, its notebook and its script."""
    if not page.exists():
        return ("no page",)
    text = page.read_text(encoding="utf-8", errors="replace")

    def picture(match: re.Match[str]) -> str:
        path = page.parent / match[2]
        is_file = "_images/" in match[2] and path.is_file()
        shown = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else match[2]
        return f'{match[1]}="{shown}"'

    beside = [page.with_suffix(ending) for ending in (".ipynb", ".py")]
    texts = [re.sub(r'(src|href)="([^"]*)"', picture, text)]
    texts += [path.read_text(encoding="utf-8") for path in beside if path.is_file()]
    return tuple(re.sub(r"\bout\d+\b", "out", each) for each in texts)


def judge(damage: Damage, current: bool, named: bool, same: bool) -> Iterator[str]:
    """Tell what is wrong: whether `check` calls it current, html names it, the page is the same."""
    if current and named:
        yield f"{damage}: check says current, html names the file"
    if not current and not named:
        yield f"{damage}: check names the file, html does not"
    if current and not named and not same:
        yield f"{damage}: another page without a word"


def in_batch(folder: Path, damages: list[Damage]) -> list[str]:
    """Put damaged recordings into one project, each in a gallery of its own; check and build."""
    folder.mkdir()
    names = sorted({each.recipe for each in damages})
    whole = [Damage(recipe=name, place=10**9, byte=None) for name in names]  # nothing is cut off
    (folder / "conf.py").write_text(CONF)
    tree = "".join(f"   out{n:03}/index\n" for n in range(len(whole) + len(damages)))
    (folder / "index.rst").write_text(f"Site\n====\n\n.. toctree::\n\n{tree}")
    for number, damage in enumerate([*whole, *damages]):
        gallery = folder / f"in{number:03}"
        gallery.mkdir()
        (gallery / "GALLERY_HEADER.rst").write_text("Recipes\n=======\n\nAll.\n")
        found = load_recipe(ROOT / f"recipes_source/{damage.recipe}.py").files
        for path in filter(Path.is_file, found):
            shutil.copy(path, gallery)  # with the modules that it shows
        recording = folder / f"recordings/out{number:03}/{damage.recipe}.ipynb"
        recording.parent.mkdir(parents=True)
        for path in (ROOT / "recordings").glob(f"{damage.recipe}*.jsonl"):
            shutil.copy(path, recording.parent)
        content = (ROOT / f"recordings/{damage.recipe}.ipynb").read_bytes()
        recording.write_bytes(damage.apply(content))
    checked, built = call(folder, "check"), call(folder, "html", "--", "-q")
    lines = checked.stdout.splitlines()
    wrong = [f"{line[:200]}" for line in surprises(checked) + surprises(built)]
    pages = folder / "_build/html/en"
    true = {
        damage.recipe: signature(pages / f"out{number:03}/{damage.recipe}.html")
        for number, damage in enumerate(whole)
    }
    for number, damage in enumerate(damages, len(whole)):
        name = f"out{number:03}/{damage.recipe}"
        line = next((each for each in lines if each.startswith(f"{name} ")), "")
        page = signature(pages / f"{name}.html")
        wrong += judge(
            damage,
            " current " in line,
            f"{name}.ipynb" in built.stderr,
            page == true[damage.recipe],
        )
    shutil.rmtree(folder)
    return wrong


def surprises(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return lines of a crash."""
    lines = [line.removeprefix("en: ") for line in done.stderr.splitlines()]
    return [line for line in lines if SURPRISE.match(line) and not line.startswith("WARNING: ")]


def through_site(site: Path, damages: list[Damage]) -> list[str]:
    """Damage recordings of the real site by and by, with the commands that people call.

    Its pages name measurements of each other: which pages are others is seen in batches.
    """
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    for name in files.splitlines():
        if not name.startswith(("tests/", "benchmarks/")):
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, site / name)
    pages = site / "_build/html/en/recipes"
    html = ("html", "en", "--", "-n", "-W", "-q")
    first = call(site, *html)
    assert first.returncode == 0, first.stderr
    true = {path.stem: signature(path) for path in pages.glob("*.html")}
    wrong, waiting = [], damages
    while waiting:
        at_once = {damage.recipe: damage for damage in reversed(waiting)}
        waiting = [each for each in waiting if each not in at_once.values()]
        whole = {}
        for recipe, damage in at_once.items():
            path = site / f"recordings/{recipe}.ipynb"
            whole[path] = path.read_bytes()
            path.write_bytes(damage.apply(whole[path]))
        checked, built = call(site, "check"), call(site, *html)
        wrong += [f"{line[:200]}" for line in surprises(checked) + surprises(built)]
        named = {recipe for recipe in at_once if f"{recipe}.ipynb" in built.stderr}
        for recipe, damage in at_once.items():
            current = re.search(f"^{recipe} +current ", checked.stdout, re.MULTILINE)
            wrong += judge(damage, bool(current), recipe in named, same=True)
        if {checked.returncode, built.returncode} != {int(bool(named))}:
            wrong.append(f"ended with {checked.returncode} and {built.returncode}")
        for path, content in whole.items():
            path.write_bytes(content)
    last = call(site, *html)
    if last.returncode or any(signature(pages / f"{each}.html") != true[each] for each in true):
        wrong.append("the restored site is not what it was")
    return wrong

"""The search of one language's site: an index made by Pagefind, in place of Sphinx's own.

``benchmarks/search.md`` tells why. The other half is ``_static/search.js``, in the browser.

The index of a large site is in parts, which the browser merges: Pagefind makes an index anew or not
at all, and a changed page changes one part only. The first is ``pagefind/``, then ``pagefind-1/``.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.errors import ExtensionError

FOLDER = "pagefind"
SEARCH_PAGE = "search"
PART_PAGES = 50  # at most, on average; Pagefind needs about a second for so many

_BUILDERS = ("html", "dirhtml")
_LEFT_OUT = (
    *(".headerlink", ".recipe-actions", ".provenance", ".time-bars-caption"),
    *(".claim-mark", ".claim-evidence", ".figure-list"),
)
_UNUSED = ("*-ui.*", "pagefind-highlight.js")  # Pagefind's own search fields

_CHARACTER = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
# Chinese and Korean characters become words of their own. The invisible separator tells the browser
# that the page has no space there. Blocks, and what is not indexed, separate text without it.
_SEPARATOR = "\u2063 "
_INLINE = (
    r'(?:</?(?!a class="headerlink")(?:a|b|cite|code|em|i|kbd|mark|span|strong|su[bp])\b[^>]*>)*'
)
_BEHIND = re.compile(rf"({_CHARACTER})(?={_INLINE}[^\s<])")
_BEFORE = re.compile(rf"([^\s>]{_INLINE})(?<!{_SEPARATOR[0]})(?={_CHARACTER})")


# What Pagefind reads of a page: its title and what the root selector finds.
_INDEXED = re.compile(r"<title>.*?</title>|<article\b.*</article>", re.DOTALL)


def setup(app: Sphinx) -> None:
    """Let Pagefind make the index, where conf.py asks for it."""
    app.connect("builder-inited", replace_search)
    app.connect("html-page-context", tell_parts)
    app.connect("build-finished", write_index)


def replace_search(app: Sphinx) -> None:
    """Leave out Sphinx's own index if ``recipe_gallery_pagefind`` is set.

    The site then needs a template ``search.html`` that loads ``_static/search-page.js``.
    """
    if isinstance(app.builder, StandaloneHTMLBuilder) and app.config.recipe_gallery_pagefind:
        app.builder.search = False
        if app.builder.name in _BUILDERS:
            app.config.html_additional_pages.setdefault(SEARCH_PAGE, "search.html")


def tell_parts(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Give the template of the search page ``search_parts``, how many parts the index has."""
    if page == SEARCH_PAGE:
        context["search_parts"] = _count_parts(app)


def _count_parts(app: Sphinx) -> int:
    if app.config.recipe_gallery_keep_search_index and Path(app.outdir, FOLDER).exists():
        return 1 + len(list(Path(app.outdir).glob(f"{FOLDER}-*")))
    parts = 1
    while len(app.env.found_docs) > parts * PART_PAGES:
        parts *= 2  # seldom another number, which would change all parts
    return parts


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the parts of the index of which a page has changed."""
    if exception or not app.config.recipe_gallery_pagefind or app.builder.name not in _BUILDERS:
        return
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    out, count = Path(app.outdir), _count_parts(app)
    if app.config.recipe_gallery_keep_search_index and (out / FOLDER).exists():
        return
    remembered = Path(app.doctreedir, "search.json")
    known: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(remembered.read_text("utf-8"))
    parts: list[dict[str, str]] = [{} for _ in range(count)]
    pages: dict[str, list[Any]] = {}  # time, size and hash of what is indexed, by name
    for name in sorted(app.env.found_docs):
        page = Path(app.builder.get_outfilename(name))
        if not page.exists():  # a build of some pages only leaves the index as it is
            return
        state = page.stat()
        pages[name] = [state.st_mtime_ns, state.st_size]
        before = known.get("pages", {}).get(name, [])
        same = before[:2] == pages[name]
        pages[name].append(before[2] if same else hashlib.sha256(_read(page).encode()).hexdigest())
        parts[zlib.crc32(name.encode()) % count][str(page.relative_to(out))] = pages[name][2]
    folders = [out / (f"{FOLDER}-{number}" if number else FOLDER) for number in range(count)]
    for folder in set(out.glob(f"{FOLDER}-*")) - set(folders):
        shutil.rmtree(folder)
    changed = [
        (folder, list(part))
        for number, (folder, part) in enumerate(zip(folders, parts, strict=True))
        if not folder.exists() or known.get("parts", [])[number : number + 1] != [part]
    ]
    remembered.unlink(missing_ok=True)  # until all parts are written
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda each: _write_part(out, *each), changed):
            pass
    remembered.write_text(json.dumps({"pages": pages, "parts": parts}), encoding="utf-8")


def _read(page: Path) -> str:
    return "\n".join(_INDEXED.findall(page.read_text(encoding="utf-8")))


def _write_part(out: Path, folder: Path, pages: list[str]) -> None:
    with TemporaryDirectory() as scratch:
        for name in pages:
            copy = Path(scratch, "site", name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(f"<html>\n{separate(_read(out / name))}", encoding="utf-8")
        made = Path(scratch, FOLDER)
        _run_pagefind(made.with_name("site"), made)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder, ignore=shutil.ignore_patterns(*_UNUSED))


def _run_pagefind(site: Path, out: Path) -> None:
    # The program, not its Python module, which ended while files were still being written.
    command = [sys.executable, "-m", "pagefind", "--site", str(site), "--output-path", str(out)]
    command += ["--root-selector", "article", "--keep-index-url"]
    for selector in _LEFT_OUT:
        command += ["--exclude-selectors", selector]
    command += ["--include-characters", "_."]  # of names such as torch._dynamo
    # How words are stemmed. English terms stand on every site, and no stemmer knows the others.
    command += ["--force-language", "en"]
    done = subprocess.run(command, capture_output=True, text=True)
    broken = [file.name for file in out.rglob("*") if file.is_file() and not file.stat().st_size]
    if done.returncode or broken or not (out / "pagefind.js").exists():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise ExtensionError(
            f"the search index could not be written: {(said or broken or ['no output'])[-1]}; "
            "build again, or set recipe_gallery_pagefind = False in conf.py"
        )


def separate(html: str) -> str:
    """Return a page with a separator between Chinese and Korean characters."""
    return _BEFORE.sub(rf"\1{_SEPARATOR}", _BEHIND.sub(rf"\1{_SEPARATOR}", html))

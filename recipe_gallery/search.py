"""The search of one language's site: an index made by Pagefind, in place of Sphinx's own.

``benchmarks/search.md`` tells why. The other half is ``_static/search.js``, in the browser.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.errors import ExtensionError

FOLDER = "pagefind"
SEARCH_PAGE = "search"

_BUILDERS = ("html", "dirhtml")
_LEFT_OUT = (".headerlink", ".recipe-actions", ".provenance", ".time-bars-caption")
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


def setup(app: Sphinx) -> None:
    """Let Pagefind make the index, where conf.py asks for it."""
    app.connect("builder-inited", replace_search)
    app.connect("build-finished", write_index)


def replace_search(app: Sphinx) -> None:
    """Leave out Sphinx's own index if ``recipe_gallery_pagefind`` is set.

    The site then needs a template ``search.html`` that loads ``_static/search-page.js``.
    """
    if isinstance(app.builder, StandaloneHTMLBuilder) and app.config.recipe_gallery_pagefind:
        app.builder.search = False
        if app.builder.name in _BUILDERS:
            app.config.html_additional_pages.setdefault(SEARCH_PAGE, "search.html")


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index of all pages to ``pagefind/`` unless no page has changed since."""
    if exception or not app.config.recipe_gallery_pagefind or app.builder.name not in _BUILDERS:
        return
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    out = Path(app.outdir)
    names = sorted(app.env.found_docs)
    pages = [Path(app.builder.get_outfilename(name)) for name in names]
    pages = [page for page in pages if page.exists()]  # a build can be of some pages only
    listed = out / FOLDER / "pages.txt"
    if listed.exists():
        written = listed.stat().st_mtime
        same = listed.read_text(encoding="utf-8").split("\n") == names
        if app.config.recipe_gallery_keep_search_index or (
            same and all(page.stat().st_mtime < written for page in pages)
        ):
            return
    with TemporaryDirectory() as folder:
        for page in pages:
            copy = Path(folder, "site", page.relative_to(out))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(separate(page.read_text(encoding="utf-8")), encoding="utf-8")
        made = Path(folder, FOLDER)
        _run_pagefind(made.with_name("site"), made)
        shutil.rmtree(out / FOLDER, ignore_errors=True)
        shutil.copytree(made, out / FOLDER, ignore=shutil.ignore_patterns(*_UNUSED))
        listed.write_text("\n".join(names), encoding="utf-8")


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

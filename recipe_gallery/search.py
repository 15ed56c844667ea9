"""The search of one language's site: an index made by Pagefind, in place of Sphinx's own.

``benchmarks/search.md`` tells why. The other half is ``_static/search.js``, in the browser.
"""

import asyncio
import re
from pathlib import Path

from pagefind.index import IndexConfig, PagefindIndex
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

FOLDER = "pagefind"
SEARCH_PAGE = "search"

_CHARACTER = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
# Chinese and Korean characters become words of their own. The invisible separator tells the browser
# that the page has no space there. Blocks, and what is not indexed, separate text without it.
_SEPARATOR = "\u2063 "
_INLINE = r'(?:</?(?!a class="headerlink")(?:a|cite|code|em|mark|span|strong)\b[^>]*>)*'
_BEHIND = re.compile(rf"({_CHARACTER})(?={_INLINE}[^\s<])")
_BEFORE = re.compile(rf"(\w{_INLINE})(?={_CHARACTER})")


def replace_search(app: Sphinx) -> None:
    """Leave out Sphinx's own index; the page that shows results is ``_templates/search.html``."""
    if isinstance(app.builder, StandaloneHTMLBuilder) and app.config.search_with_pagefind:
        app.builder.search = False
        app.config.html_additional_pages.setdefault(SEARCH_PAGE, "search.html")


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index of all pages to ``pagefind/`` unless no page has changed since."""
    if exception or not app.config.search_with_pagefind:
        return
    if not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    out = Path(app.outdir)
    pages = [Path(app.builder.get_outfilename(name)) for name in sorted(app.env.found_docs)]
    index = out / FOLDER / "pagefind-entry.json"
    if index.exists():
        made = index.stat().st_mtime
        if app.config.search_index_stays or all(page.stat().st_mtime < made for page in pages):
            return
    asyncio.run(_write(out, pages))


async def _write(out: Path, pages: list[Path]) -> None:
    config = IndexConfig(
        root_selector="article",
        exclude_selectors=[".headerlink", ".recipe-actions", ".provenance", ".time-bars-caption"],
        include_characters="_.",  # of names such as torch._dynamo
        # How words are stemmed. English terms stand on every site, and no stemmer knows the others.
        force_language="en",
        output_path=str(out / FOLDER),
    )
    async with PagefindIndex(config=config) as index:
        for page in pages:
            await index.add_html_file(
                content=separate(page.read_text(encoding="utf-8")),
                url=page.relative_to(out).as_posix(),
            )


def separate(html: str) -> str:
    """Return a page with a separator between Chinese and Korean characters."""
    return _BEFORE.sub(rf"\1{_SEPARATOR}", _BEHIND.sub(rf"\1{_SEPARATOR}", html))

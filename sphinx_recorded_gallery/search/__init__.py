"""The search of one language's site, in place of Sphinx's own; ``benchmarks/search.md`` tells why.

The text of a page is taken from what Sphinx writes, an index is written when all pages are there
(``index.py``). The other half works in browsers: ``recipe_rank.js`` looks words up, and
``recipe_search.js`` shows what it found, below each field that a template includes.
"""

import json
import re
from pathlib import Path, PurePath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util import logging

from ..dates_and_numbers import typeset
from ..errors import GalleryError
from ..hooks import Priority
from ..languages import current_language, locale_folder
from ..project import file_state
from .index import FILE_NAME, read_sections, write_index
from .synonyms import load_synonyms

_ = get_translation("sphinx_recorded_gallery")
logger = logging.getLogger(__name__)

_LONG_WORD = re.compile(r"\w{500}")
_HERE = Path(__file__).parent


def setup(app: Sphinx) -> None:
    """Replace the search of sites that set ``recorded_gallery_search``."""
    app.connect("config-inited", _add_files)
    app.connect("builder-inited", _replace_search)


def _add_files(_app: Sphinx, config: Config) -> None:
    if config.recorded_gallery_search:
        config.templates_path = [*config.templates_path, str(_HERE / "templates")]
        config.html_static_path += [str(each) for each in _HERE.glob("*.js")]
        config.html_additional_pages.setdefault("search", "page.html")


def _replace_search(app: Sphinx) -> None:
    if app.config.recorded_gallery_search and app.builder.name in ("html", "dirhtml"):
        assert isinstance(app.builder, StandaloneHTMLBuilder)
        app.builder.search = False
        app.connect("doctree-resolved", _keep_text, priority=Priority.KEEP_TEXT)
        app.connect("html-page-context", _describe_search)
        app.connect("build-finished", _write_index)
    elif app.builder.name in ("html", "dirhtml"):
        app.connect("doctree-resolved", _spare_long_words, priority=Priority.KEEP_TEXT)


def _spare_long_words(_app: Sphinx, document: nodes.document, _page: str) -> None:
    """Leave blocks with words that nobody types out of Sphinx's search.

    Its stemmer takes time by the square of their length: 40 s for half a megabyte.
    """
    for block in document.findall(nodes.literal_block):
        if _LONG_WORD.search(block.astext()):
            block["classes"].append("no-search")


def _kept(app: Sphinx, page: str) -> Path:
    return Path(app.doctreedir, "search", f"{page}.json")


def _keep_text(app: Sphinx, document: nodes.document, page: str) -> None:
    path = _kept(app, page)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Readers also search what an address says: "faq" is nowhere on the page.
    sections = [each.as_data() for each in read_sections(document, PurePath(page).name)]
    path.write_text(json.dumps(sections, ensure_ascii=False), encoding="utf-8")


def _describe_search(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Give templates the texts of the search, and write its page, which no engine should list."""
    context["search_texts"] = {
        "title": str(_("Search")),
        "field": str(_("Search this site")),
        "no_script": typeset(
            _("Search needs JavaScript. Without it, all pages can be reached from here:") + " ",
            current_language(app.config).locale,
        ),
        "first_page": str(_("First page")),
        "labels": {
            "searching": str(_("Searching …")),
            "none": str(_("No page has any of these words.")),
            "found": str(_("Pages found: %s")),
            "most": str(_("Pages found: %s. Shown are those that fit best.")),
            "failed": str(_("The search index could not be loaded. Reload the page to try again.")),
        },
    }
    if page == "search":
        assert isinstance(app.builder, StandaloneHTMLBuilder)
        context["title"] = context["search_texts"]["title"]
        context["metatags"] = (
            f'{context.get("metatags", "")}<meta name="robots" content="noindex"/>'
        )
        context["body"] = app.builder.templates.render("recorded_gallery_search_page.html", context)


def _write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index of all pages; a build of some of them, from nothing, knows too few."""
    pages = {name: _kept(app, name) for name in sorted(app.env.found_docs)}
    if exception or not all(path.exists() for path in pages.values()):
        return
    locale = locale_folder(app.config, Path(app.srcdir))
    languages, language = app.config.recorded_gallery_languages, current_language(app.config)
    synonyms: dict[str, list[str]] = {}
    try:
        synonyms = load_synonyms(locale, languages, language.code)
    except GalleryError as error:
        logger.warning("%s", error, type="recorded_gallery", subtype="search")
    index, made_of = Path(app.outdir, FILE_NAME), _kept(app, ".made")
    state = repr((synonyms, {name: file_state(path) for name, path in pages.items()}))
    if not index.exists() or not made_of.exists() or made_of.read_text(encoding="utf-8") != state:
        texts = {
            app.builder.get_target_uri(name): json.loads(path.read_bytes())
            for name, path in pages.items()
        }
        write_index(index, texts, synonyms)
        made_of.write_text(state, encoding="utf-8")

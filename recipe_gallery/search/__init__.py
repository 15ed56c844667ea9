"""The search of one language's site, in place of Sphinx's own; ``benchmarks/search.md`` tells why.

The text of a page is taken from what Sphinx writes (``page_text.py``), an index is written when all
pages are there (``parts.py``). The other half works in browsers: ``recipe_find.js`` looks words up,
and ``recipe_search.js`` shows what it found, below each field that a template includes.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.util import logging

from .. import Priority
from ..errors import GalleryError
from ..languages import current_language, locale_dirs
from ..project import file_state
from .page_text import read_sections
from .parts import FOLDER, Block, gather, write_parts
from .synonyms import Synonym, add_glossary, find_lost, load_synonyms

_ = get_translation("recipe_gallery")
logger = logging.getLogger(__name__)

SEARCH_PAGE = "search"
_BUILDERS = ("html", "dirhtml")
_NOT_LISTED = '<meta name="robots" content="noindex"/>'
_HERE = Path(__file__).parent
BLOCK = 50  # pages whose part of the index is made together, and kept
_MADE = "search.txt"  # beside what is kept of pages: what the index was made of, besides them


def setup(app: Sphinx) -> None:
    """Replace the search of sites that set ``recipe_gallery_search``."""
    app.connect("config-inited", _add_templates)
    app.connect("builder-inited", _replace_search)
    app.connect("doctree-resolved", _keep_text, priority=Priority.KEEP_TEXT)
    app.connect("html-page-context", _describe_search)
    app.connect("build-finished", _write_index)


def _add_templates(_app: Sphinx, config: Config) -> None:
    if config.recipe_gallery_search:
        config.templates_path = [*config.templates_path, str(_HERE / "templates")]


def _replace_search(app: Sphinx) -> None:
    if not _is_wanted(app):
        return
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    app.builder.search = False
    app.config.html_additional_pages.setdefault(SEARCH_PAGE, "page.html")
    app.config.html_static_path += [
        str(_HERE / name) for name in ("recipe_find.js", "recipe_search.js")
    ]


def _is_wanted(app: Sphinx) -> bool:
    return app.config.recipe_gallery_search and app.builder.name in _BUILDERS


def _keep_text(app: Sphinx, document: nodes.document, page: str) -> None:
    if _is_wanted(app):
        path = _kept(app, page)
        Path(app.doctreedir, _MADE).unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Readers also search what an address says: "faq" is nowhere on the page.
        sections = [each.as_data() for each in read_sections(document, PurePath(page).name)]
        path.write_text(json.dumps(sections, ensure_ascii=False), encoding="utf-8")


def _gather_blocks(app: Sphinx, names: Sequence[str]) -> list[Block]:
    """Return the blocks of all pages; of those whose pages are as they were, as they were kept."""
    blocks = []
    for at in range(0, len(names), BLOCK):
        files = [_kept(app, name) for name in names[at : at + BLOCK]]
        state = repr([(str(path), file_state(path)) for path in files])
        path = Path(app.doctreedir, f"search-{at // BLOCK}.json")
        try:
            kept = json.loads(path.read_bytes())
            before, block = kept["state"], Block(**kept["block"])
        except (OSError, ValueError, TypeError, KeyError):  # the first build, or an ended one
            before = None
        if before != state:
            block = gather([json.loads(each.read_bytes()) for each in files])
            path.write_text(json.dumps({"state": state, "block": vars(block)}), encoding="utf-8")
        blocks.append(block)
    return blocks


def _kept(app: Sphinx, page: str) -> Path:
    return Path(app.doctreedir, "search", f"{page}.json")


def _describe_search(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Give templates the texts of the search, and write its page, which no engine should list."""
    if not _is_wanted(app):
        return
    context["search_texts"] = {
        "title": str(_("Search")),
        "field": str(_("Search this site")),
        "no_script": str(
            _("Search needs JavaScript. Without it, all pages can be reached from here:")
        ),
        "first_page": str(_("First page")),
        "labels": {
            "searching": str(_("Searching …")),
            "none": str(_("No page has any of these words.")),
            "found": str(_("Pages found: %s")),
            "most": str(_("Pages found: %s. Shown are those that fit best.")),
            "meant": str(_("No page has “%s”. Shown are results for “%s”.")),
            "failed": str(_("The search index could not be loaded. Reload the page to try again.")),
        },
    }
    if page == SEARCH_PAGE:
        assert isinstance(app.builder, StandaloneHTMLBuilder)
        context["title"] = context["search_texts"]["title"]
        context["metatags"] = context.get("metatags", "") + _NOT_LISTED
        context["body"] = app.builder.templates.render("recipe_gallery_search_page.html", context)


def _write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index of all pages; a build of some pages leaves it as it is."""
    if exception or not _is_wanted(app):
        return
    if app.config.recipe_gallery_keep_search_index and Path(app.outdir, FOLDER).exists():
        return
    names = sorted(app.env.found_docs)
    if not all(_kept(app, name).exists() for name in names):
        return
    locale = locale_dirs(app.config, Path(app.srcdir))[0]
    language = current_language(app.config)
    rows: list[Synonym] = []
    problems: list[GalleryError] = []
    synonyms: Mapping[str, Sequence[str]] = {}
    try:
        rows = load_synonyms(locale, app.config.recipe_gallery_languages)
        synonyms = add_glossary(rows, locale, language)
    except GalleryError as error:
        problems.append(error)
    made, state = Path(app.doctreedir, _MADE), repr((names, rows, synonyms, problems))
    is_there = Path(app.outdir, FOLDER).exists() and made.exists()
    if is_there and made.read_text(encoding="utf-8") == state:
        return
    addresses = [app.builder.get_target_uri(name) for name in names]
    words = write_parts(Path(app.outdir), addresses, _gather_blocks(app, names), synonyms)
    problems += find_lost([row for row in rows if row.language == language.code], words, locale)
    for problem in problems:
        logger.warning("%s", problem, type="recipe_gallery", subtype="search")
    if not problems:  # else every build tells them
        made.write_text(state, encoding="utf-8")

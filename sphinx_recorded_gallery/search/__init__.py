"""The search of one language's site, instead of Sphinx's own; ``benchmarks/search.md`` says why.

The text of a page is taken from its resolved document, and the index is written when all pages are
finished (``index.py``). The other half runs in browsers: ``recipe_rank.js`` looks up words, and
``recipe_search.js`` shows the results below each search field of a template.
"""

import json
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
from ..languages import Language, locale_folder
from ..project import add_extension, file_state
from .index import FILE_NAME, Entry, read_sections, write_index
from .synonyms import load_synonyms

_ = get_translation("sphinx_recorded_gallery")
logger = logging.getLogger(__name__)

_HERE = Path(__file__).parent


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the search of Sphinx."""
    description = add_extension(app, __name__)
    app.connect("config-inited", _add_files)
    app.connect("builder-inited", _replace_search)
    return description


def _add_files(_app: Sphinx, config: Config) -> None:
    config.templates_path = [*config.templates_path, str(_HERE / "templates")]
    config.html_static_path += [str(path) for path in _HERE.glob("*.js")]
    config.html_additional_pages.setdefault("search", "page.html")


def _replace_search(app: Sphinx) -> None:
    if app.builder.name in ("html", "dirhtml"):
        assert isinstance(app.builder, StandaloneHTMLBuilder)
        app.builder.search = False
        app.connect("doctree-resolved", _keep_text, priority=Priority.KEEP_TEXT)
        app.connect("html-page-context", _describe_search)
        app.connect("build-finished", _write_index)


def _text_file(app: Sphinx, page: str) -> Path:
    """Return where the text of a page is kept between builds."""
    return Path(app.doctreedir, "search", f"{page}.json")


def _keep_text(app: Sphinx, document: nodes.document, page: str) -> None:
    path = _text_file(app, page)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The name of the page is searched, too: the word "faq" may occur only in its address.
    sections = read_sections(document, PurePath(page).name)
    entries = [section.make_entry() for section in sections]
    path.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")


def _describe_search(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Give templates the texts of the search, and write its page, which search engines skip."""
    no_script = _("Search needs JavaScript. Without it, you can reach all pages from here:")
    context["search_texts"] = {
        "title": str(_("Search")),
        "field": str(_("Search this site")),
        "no_script": typeset(f"{no_script} ", Language.current(app.config).locale),
        "first_page": str(_("Home page")),
        "labels": {
            "searching": str(_("Searching …")),
            "none": str(_("No page contains any of these words.")),
            "found": str(_("Pages found: %s")),
            "most": str(_("Pages found: %s. The best matches are shown.")),
            "failed": str(_("The search index could not be loaded. Reload the page to try again.")),
        },
    }
    if page == "search":
        assert isinstance(app.builder, StandaloneHTMLBuilder)
        tags = context.get("metatags", "")
        context["title"] = context["search_texts"]["title"]
        context["metatags"] = f'{tags}<meta name="robots" content="noindex"/>'
        context["body"] = app.builder.templates.render("recorded_gallery_search_page.html", context)


def _write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index of all pages if it would change.

    Pages that sphinx-reredirects replaces are left out: they only lead to others. Nothing is
    written while texts of pages are missing, as after a first build of only some pages.
    """
    redirects: dict[str, str] = {}
    if "redirects" in app.config:
        redirects = app.config.redirects
    pages = sorted(app.env.found_docs - redirects.keys())
    files = {page: _text_file(app, page) for page in pages}
    if exception or not all(path.exists() for path in files.values()):
        return
    synonyms = _load_synonyms(app)
    index = Path(app.outdir, FILE_NAME)
    state_file = _text_file(app, ".made")
    states = {page: file_state(path) for page, path in files.items()}
    state = repr((synonyms, states))
    has_former_index = index.exists() and state_file.exists()
    if has_former_index and state_file.read_text(encoding="utf-8") == state:
        return
    entries_by_address = {}
    for page, path in files.items():
        address = app.builder.get_target_uri(page)
        entries_by_address[address] = [Entry(*entry) for entry in json.loads(path.read_bytes())]
    write_index(index, entries_by_address, synonyms)
    state_file.write_text(state, encoding="utf-8")


def _load_synonyms(app: Sphinx) -> dict[str, list[str]]:
    """Return the synonyms of this build's language; a damaged file is a warning, and gives none."""
    locale = locale_folder(app.config, Path(app.srcdir))
    languages = app.config.recorded_gallery_languages
    try:
        return load_synonyms(locale, languages, Language.current(app.config).code)
    except GalleryError as error:
        logger.warning("%s", error, type="recorded_gallery", subtype="search")
        return {}

"""Sitemaps, and the files above all languages: choice of a language, 404 page, robots.txt.

The templates are in ``_templates/root/``; they load style sheets and scripts of the first language.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock
from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import Gallery, Language, Translations

from .html_head import full_address
from .navigation import find_redirects, list_recipes


def _(text: str) -> str:
    """Mark a text for the catalogs; ``_translate_texts`` translates it for each language."""
    return text


_ADDRESSES = "sitemap-addresses.xml"  # template of a list of pages: of a language, and the first
_TEXTS = {
    "about": _(
        "Measured recipes for making PyTorch programs faster with torch.compile: what gets faster, "
        "what it costs, and after how many calls it breaks even."
    ),
    "recipes": _("Recipes"),
    "lost": _("This page does not exist"),
    "why": _("It may have moved, or its address may be misspelled."),
    "first_page": _("Go to the home page"),
    "search": _("Search this site"),
}


def write_root_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the sitemap of a language, and the files above the published languages built so far.

    The build of each language does so, and the last one knows all. A lock keeps builds that run at
    the same time from writing the same files.
    """
    config = app.config
    if exception or app.builder.name != "html" or app.outdir.name != config.language:
        return
    templates = {"index.html": "index.html", "404.html": "404.html"}  # by file
    if config.recorded_gallery_site_url:
        templates["sitemap.xml"] = "sitemap.xml"
        templates["sitemap-home.xml"] = _ADDRESSES
        # Crawlers read robots.txt at the top of a host only; below it does no harm.
        templates["robots.txt"] = "robots.txt"
        _write_sitemap(app)
    root = app.outdir.parent
    with FileLock(Path(app.doctreedir).parent / "root-pages.lock"):
        languages = _find_built_languages(app, root)
        if not languages:
            return
        context = _make_context(app, languages)
        for name, template in templates.items():
            text = app.builder.templates.render(f"root/{template}", context)
            (root / name).write_text(text + "\n", encoding="utf-8")


def _write_sitemap(app: Sphinx) -> None:
    """Write the sitemap of this build's language, without pages that are redirected."""
    pages = sorted(app.env.found_docs - set(find_redirects(app.config)))
    addresses = [full_address(app, page) for page in pages]
    text = app.builder.templates.render(f"root/{_ADDRESSES}", {"addresses": addresses})
    (app.outdir / "sitemap.xml").write_text(text + "\n", encoding="utf-8")


def _find_built_languages(app: Sphinx, root: Path) -> list[Language]:
    """Return the published languages whose first page is in the folder of the site."""
    languages = []
    for language in app.config.recorded_gallery_languages.values():
        if language.published and (root / language.code / "index.html").exists():
            languages.append(language)
    return languages


def _make_context(app: Sphinx, languages: list[Language]) -> dict[str, Any]:
    """Return what the templates need."""
    config = app.config
    site_url = f"{config.recorded_gallery_site_url.rstrip('/')}/"
    is_published = bool(config.recorded_gallery_site_url)
    texts = {}
    recipes = {}
    for language in languages:
        texts[language.code] = _translate_texts(app, language)
        recipes[language.code] = _translate_titles(app, language)
    return {
        "title": config.html_title or config.project,
        "content_security_policy": config.second_call_content_security_policy,
        "site_url": site_url if is_published else "",
        "addresses": [site_url],
        # A host shows 404.html under the wrong address, where only full paths lead anywhere.
        "path": urlsplit(site_url).path,
        "languages": languages,
        "codes": {language.tag: language.code for language in languages},
        "texts": texts,
        "recipes": recipes,
        "preview": config.second_call_preview,
    }


def _translate_texts(app: Sphinx, language: Language) -> dict[str, str]:
    """Return ``_TEXTS`` in a language, in English where a translation is missing."""
    translations = Translations(app.env).translate("second_call", _TEXTS.values(), language)
    return {name: translations.get(text, text) for name, text in _TEXTS.items()}


def _translate_titles(app: Sphinx, language: Language) -> list[tuple[str, str]]:
    """Return the address and the title, without markup, of each recipe."""
    gallery = Gallery(app.env)
    titles = []
    for docname in list_recipes(app.env):
        page = gallery.load_page(docname)
        if page is None:
            continue
        title = page.recipe.title
        translations = Translations(app.env).translate(docname, [title], language)
        translated_title = translations.get(title, title)
        titles.append((app.builder.get_target_uri(docname), translated_title.replace("``", "")))
    return titles

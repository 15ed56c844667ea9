"""Sitemaps, and what lies above all languages: chooser of the language, 404 page, robots.txt.

The templates are in ``_templates/root/``; what they load are files of the first language.
"""

from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock
from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import Kind, Language, find_translations, load_results

from .html_head import full_address
from .navigation import list_recipes


def _(text: str) -> str:
    """Mark a text for catalogs; it is translated where the language is known."""
    return text


_TEXTS = {
    "about": _(
        "Measured recipes for making PyTorch programs faster with torch.compile: what gets faster, "
        "what it costs, and after how many calls it has paid."
    ),
    "recipes": _("Recipes"),
    "lost": _("This page does not exist"),
    "why": _("It may have moved, or there is a mistake in its address."),
    "first_page": _("To the first page"),
    "search": _("Search this site"),
}


def write_root_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the files above the published languages that are built so far.

    Each language's build does so, the last one for all; one at a time, for builds run side by side.
    """
    config, out = app.config, app.outdir.parent
    if exception or app.builder.name != "html" or app.outdir.name != config.language:
        return
    site_url = f"{config.recorded_gallery_site_url.rstrip('/')}/"
    names = ["index.html", "404.html"]
    if config.recorded_gallery_site_url:
        # Crawlers read robots.txt at the top of a host only; below it does no harm.
        names += ["sitemap.xml", "sitemap-home.xml", "robots.txt"]
        moved = config.redirects if "redirects" in config else {}
        pages = sorted(app.env.found_docs - set(moved))
        addresses = [full_address(app, page) for page in pages]
        # the home page has one address, a language one for each of its pages
        text = app.builder.templates.render("root/sitemap-home.xml", {"addresses": addresses})
        (app.outdir / "sitemap.xml").write_text(text + "\n", encoding="utf-8")
    with FileLock(Path(app.doctreedir).parent / "root-pages.lock"):
        languages = [
            language
            for language in config.recorded_gallery_languages.values()
            if language.published and (out / language.code / "index.html").exists()
        ]
        context = {
            "title": config.html_title or config.project,
            "content_security_policy": config.second_call_content_security_policy,
            "site_url": site_url if config.recorded_gallery_site_url else "",
            "addresses": [site_url],
            # A host shows 404.html under the wrong address, where only full paths lead anywhere.
            "path": urlsplit(site_url).path,
            "languages": languages,
            "codes": {each.tag: each.code for each in languages},
            "texts": {each.code: _translate_texts(app, each) for each in languages},
            "recipes": {each.code: _translate_titles(app, each) for each in languages},
            "preview": config.second_call_preview,
        }
        for name in names if languages else ():
            text = app.builder.templates.render(f"root/{name}", context)
            (out / name).write_text(text + "\n", encoding="utf-8")


def _translate_texts(app: Sphinx, language: Language) -> dict[str, str]:
    found = find_translations(app.env, "second_call", _TEXTS.values(), language, Kind.LABEL)
    return {name: found.get(text, text) for name, text in _TEXTS.items()}


def _translate_titles(app: Sphinx, language: Language) -> list[tuple[str, str]]:
    """Return address and title of each recipe, without markup."""
    titles = []
    for page in list_recipes(app.env):
        if known := load_results(app.env, page):
            found = find_translations(app.env, page, [known.title], language, Kind.PROSE)
            title = found.get(known.title, known.title).replace("``", "")
            titles.append((app.builder.get_target_uri(page), title))
    return titles

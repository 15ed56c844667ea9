"""What lies above all languages: first page, page for wrong addresses, sitemap, robots.txt.

The templates are in ``_templates/root/``; what they load are files of the first language.
"""

import gettext
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock
from sphinx.application import Sphinx

from recipe_gallery.languages import Language


def _(text: str) -> str:
    """Mark a text for catalogs; it is translated where the language is known."""
    return text


_TEXTS = {
    "lost": _("This page does not exist"),
    "why": _("It may have moved, or there is a mistake in its address."),
    "first_page": _("To the first page"),
    "search": _("Search this site"),
}


def write_root_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the files above the published languages that are built so far.

    Each language's build does so, the last one for all; one at a time, for builds run side by side.
    """
    if exception or app.builder.name != "html" or app.outdir.name != app.config.language:
        return
    out = app.outdir.parent
    with FileLock(Path(app.doctreedir).parent / "root-pages.lock"):
        languages = [
            language
            for language in app.config.recipe_gallery_languages.values()
            if language.published and (out / language.code / "index.html").exists()
        ]
        if not languages:
            return
        context = _describe_site(app, languages)
        names = ["index.html", "404.html"]
        if context["site_url"]:
            # Crawlers read robots.txt at the top of a host only; below it does no harm.
            names += ["sitemap.xml", "robots.txt"]
        for name in names:
            text = app.builder.templates.render(f"root/{name}", context)
            (out / name).write_text(text + "\n", encoding="utf-8")


def _describe_site(app: Sphinx, languages: list[Language]) -> dict[str, Any]:
    """Return what the templates show."""
    settings = app.config
    site_url = settings.recipe_gallery_site_url.rstrip("/")
    return {
        "title": settings.html_title or settings.project,
        "content_security_policy": settings.second_call_content_security_policy,
        "site_url": f"{site_url}/" if site_url else "",
        # A host shows 404.html under the wrong address, from where only full paths lead anywhere.
        "path": urlsplit(f"{site_url}/").path,
        "languages": languages,
        "codes": {each.tag: each.code for each in languages},
        "texts": {each.code: _translate_texts(app, each) for each in languages},
    }


def _translate_texts(app: Sphinx, language: Language) -> dict[str, str]:
    locale = Path(app.srcdir, app.config.locale_dirs[0])
    catalog = gettext.translation("second_call", locale, [language.code], fallback=True)
    return {name: catalog.gettext(text) for name, text in _TEXTS.items()}

"""What lies above all languages: first page, page for wrong addresses, sitemap, robots.txt."""

import base64
import gettext
import hashlib
import json
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock
from sphinx.application import Sphinx

from recipe_gallery.languages import Language

_PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
{head}
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<script>{script}</script>
</body>
</html>
"""

_STYLE = """
:root { --accent: #b23c06; --grey: #b9b0a5; --text: #221e1a; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --accent: #ff9a5c; --grey: #6b6157; --text: #e8e2db; --back: #171411; }
}
body {
  background: var(--back); color: var(--text);
  font-size: 1.0625rem; line-height: 1.65;
  margin: 0 auto; max-width: 28rem; padding: 16vh 1.25rem 2rem;
}
main, section {
  font-family: var(--pst-font-family-base, system-ui, "Segoe UI", Roboto, sans-serif);
}
svg { display: block; height: 3rem; margin-bottom: 1rem; width: 3rem; }
.first { fill: var(--grey); }
.second { fill: var(--accent); }
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.1875rem; margin: 1.5rem 0 0.25rem; }
p { margin: 0 0 0.5rem; }
ul { list-style: none; margin: 0; padding: 0; }
li a { display: inline-block; min-height: 1.5rem; padding: 0.375rem 0; }
a { color: var(--accent); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[hidden] { display: none; }
"""

_LOGO = (
    '<svg viewBox="0 0 32 32" aria-hidden="true"><rect class="first" x="2" y="7" width="28" '
    'height="7" rx="3.5"/><rect class="second" x="2" y="18" width="11" height="7" rx="3.5"/></svg>'
)

# The language that a browser asks for, among those there are.
_CHOOSE = """
const codes = {codes};
function wanted() {{
  for (const wish of navigator.languages || []) {{
    const tags = Object.keys(codes);
    const tag = tags.find((each) => each.toLowerCase() === wish.toLowerCase())
      || tags.find((each) => each.split("-")[0].toLowerCase() === wish.split("-")[0].toLowerCase());
    if (tag) return codes[tag];
  }}
}}
"""
_LEAD = """
const code = wanted();
if (code) location.replace(code + "/index.html" + location.hash);
"""
# The language in the address comes first. Without a script, all languages are shown.
_SHOW = """
// Hosts have folders of their own before it: /en/latest/ko/page.html
const inPath = location.pathname.split("/").findLast((part) => Object.values(codes).includes(part));
const shown = document.getElementById(inPath || wanted() || "none");
if (shown) {
  for (const each of document.querySelectorAll("section")) each.hidden = each !== shown;
  document.documentElement.lang = shown.lang;
  document.title = shown.querySelector("h2").textContent;
}
"""


def _(text: str) -> str:
    """Mark a text for catalogs; it is translated where the language is known."""
    return text


_LOST = _("This page does not exist")
_WHY = _("It may have moved, or there is a mistake in its address.")
_FIRST_PAGE = _("To the first page")
_SEARCH = _("Search this site")


def write_root_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the files above the published languages that are built so far.

    Each language's build does so, the last one for all; one at a time, for builds run side by side.
    """
    if exception or app.builder.name != "html" or app.outdir.name != app.config.language:
        return
    out = app.outdir.parent
    with FileLock(Path(app.doctreedir).parent / "root-pages.lock"):
        _write_all(app, out)


def _write_all(app: Sphinx, out: Path) -> None:
    settings = app.config
    languages = [
        language
        for language in settings.recipe_gallery_languages.values()
        if language.published and (out / language.code / "index.html").exists()
    ]
    if not languages:
        return
    site_url = settings.recipe_gallery_site_url.rstrip("/")
    site_url = f"{site_url}/" if site_url else ""
    title = settings.html_title or settings.project
    out.joinpath("index.html").write_text(_front(title, languages, site_url), encoding="utf-8")
    locale = Path(app.srcdir, settings.locale_dirs[0])
    out.joinpath("404.html").write_text(_lost(title, languages, site_url, locale), encoding="utf-8")
    if not site_url:
        return
    addresses = "\n".join(
        f"<sitemap><loc>{escape(language.address(site_url))}sitemap.xml</loc></sitemap>"
        for language in languages
    )
    out.joinpath("sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{addresses}\n</sitemapindex>\n",
        encoding="utf-8",
    )
    # Crawlers read it at the top of a host only; below, they find the sitemap by its address.
    out.joinpath("robots.txt").write_text(
        f"User-agent: *\nAllow: /\n\nSitemap: {site_url}sitemap.xml\n", encoding="utf-8"
    )


def _front(title: str, languages: list[Language], site_url: str) -> str:
    links = [
        f'<link rel="alternate" hreflang="{each.tag}" href="{escape(each.address(site_url))}">'
        for each in languages
    ]
    links.append(f'<link rel="alternate" hreflang="x-default" href="{escape(site_url)}">')
    links.append(f'<link rel="canonical" href="{escape(site_url)}">')
    items = "\n".join(
        f'<li><a href="{each.code}/index.html" lang="{each.tag}" hreflang="{each.tag}">'
        f"{escape(each.name)}</a></li>"
        for each in languages
    )
    body = f"{_LOGO}\n<h1>{escape(title)}</h1>\n<ul>\n{items}\n</ul>"
    return _page(title, languages, body, _LEAD, links if site_url else [])


def _lost(title: str, languages: list[Language], site_url: str, locale: Path) -> str:
    """Return the page for addresses that lead nowhere, in all languages; one is shown.

    A host shows it under the wrong address, so that only full paths lead anywhere from there.
    """
    path = urlsplit(site_url).path or "/"
    sections = []
    for each in languages:
        translated = _translator(locale, each)
        home = f"{path}{each.code}/"
        sections.append(
            f'<section id="{each.code}" lang="{each.tag}">\n'
            f"<h2>{translated(_LOST)}</h2>\n<p>{translated(_WHY)}</p>\n<ul>\n"
            f'<li><a href="{home}index.html">{translated(_FIRST_PAGE)}</a></li>\n'
            f'<li><a href="{home}search.html">{translated(_SEARCH)}</a></li>\n</ul>\n</section>'
        )
    body = "\n".join([_LOGO, f"<h1>{escape(title)}</h1>", *sections])
    head = ['<meta name="robots" content="noindex">']
    return _page(f"404: {title}", languages, body, _SHOW, head)


def _page(title: str, languages: list[Language], body: str, script: str, head: list[str]) -> str:
    codes = json.dumps({each.tag: each.code for each in languages})
    script = _CHOOSE.format(codes=codes) + script
    style = _STYLE + "\n".join(
        f":lang({each.tag}) {{ {' '.join(f'{k}: {v};' for k, v in each.style.items())} }}"
        for each in languages
        if each.style
    )
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    )
    return _PAGE.format(
        lang=languages[0].tag,
        policy=policy,
        title=escape(title),
        head="\n".join(head),
        style=style,
        body=body,
        script=script,
    )


def _hash(text: str) -> str:
    """Return what names a script or style in a policy: https://www.w3.org/TR/CSP3/#source-list."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _translator(locale: Path, language: Language) -> Callable[[str], str]:
    catalog = gettext.translation("second_call", locale, [language.code], fallback=True)
    return lambda text: escape(catalog.gettext(text))

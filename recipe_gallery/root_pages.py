"""The pages above all languages: one that leads to the reader's language, and the sitemap."""

import json
import runpy
from html import escape
from pathlib import Path

from .languages import Language, load_languages

_PAGE = """<!DOCTYPE html>
<html lang="{default}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
{links}
<style>
body {{
  font: 1.125rem/1.6 system-ui, sans-serif; margin: 20vh auto 0; max-width: 24rem; padding: 1rem;
}}
ul {{ list-style: none; padding: 0; }}
li {{ margin: 0.5rem 0; }}
a {{ color: LinkText; }}
</style>
<script>
// Lead to the language that the browser asks for; the list below stays for everybody else.
const codes = {codes};
for (const wish of navigator.languages || []) {{
  const parts = wish.toLowerCase().split("-");
  const tag = Object.keys(codes).find((tag) => tag.toLowerCase() === wish.toLowerCase())
    || Object.keys(codes).find((tag) => tag.toLowerCase().split("-")[0] === parts[0]);
  if (tag) {{
    location.replace(codes[tag] + "/index.html" + location.hash);
    break;
  }}
}}
</script>
</head>
<body>
<main>
<h1>{title}</h1>
<ul>
{items}
</ul>
</main>
</body>
</html>
"""


def write_root_pages(root: Path, out: Path) -> None:
    """Write ``index.html`` and ``sitemap.xml`` for the published languages that are built."""
    settings = runpy.run_path(str(root / "conf.py"))
    languages = [
        language
        for language in load_languages(root).values()
        if language.published and (out / language.code / "index.html").exists()
    ]
    if not languages:
        return
    site_url = settings.get("site_url", "")
    out.joinpath("index.html").write_text(
        _front(settings.get("html_title") or settings.get("project", ""), languages, site_url),
        encoding="utf-8",
    )
    if site_url:
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


def _front(title: str, languages: list[Language], site_url: str) -> str:
    links = [
        f'<link rel="alternate" hreflang="{each.tag}" href="{escape(each.address(site_url))}">'
        for each in languages
    ]
    links.append(f'<link rel="alternate" hreflang="x-default" href="{escape(site_url)}">')
    items = [
        f'<li><a href="{each.code}/index.html" lang="{each.tag}" hreflang="{each.tag}">'
        f"{escape(each.name)}</a></li>"
        for each in languages
    ]
    return _PAGE.format(
        default=languages[0].tag,
        title=escape(title),
        links="\n".join(links) if site_url else "",
        codes=json.dumps({each.tag: each.code for each in languages}),
        items="\n".join(items),
    )

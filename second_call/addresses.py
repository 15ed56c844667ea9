"""The sitemap of a language, and a check of the redirects of moved pages."""

import posixpath
import subprocess
from pathlib import Path
from xml.sax.saxutils import escape

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from recipe_gallery.languages import current_language
from recipe_gallery.recipes.gallery import find_file
from recipe_gallery.translate.translations import catalog_path

from .head import short_address

logger = logging.getLogger(__name__)


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write ``sitemap.xml``: all pages of this language; each names the other languages itself."""
    site_url = app.config.recipe_gallery_site_url
    if exception or app.builder.format != "html" or not site_url:
        return
    language = current_language(app.config)
    changes = last_changes(Path(app.srcdir))
    pages = []
    for docname in sorted(app.env.found_docs):
        uri = short_address(app.builder.get_target_uri(docname))
        days = [changes[path] for path in _sources(app, docname) if path in changes]
        day = f"<lastmod>{max(days)}</lastmod>" if days else ""
        pages.append(f"<url><loc>{escape(language.address(site_url, uri))}</loc>{day}</url>")
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        *pages,
        "</urlset>",
    ]
    (app.outdir / "sitemap.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def last_changes(root: Path) -> dict[str, str]:
    """Return the day of each file's last commit, by its path below ``root``; {} if nobody knows.

    A clone that is cut off does not know: there each file seems to be of its only commit.
    """
    git = ["git", "-C", str(root)]
    try:
        shallow = subprocess.run(
            [*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True
        )
        if shallow.stdout.strip() != "false":
            return {}
        log = [*git, "-c", "core.quotePath=false", "log", "--format=%x00%cs", "--name-only"]
        done = subprocess.run([*log, "--relative"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    days: dict[str, str] = {}
    for commit in done.stdout.split("\0")[1:]:  # newest first
        day, *paths = commit.splitlines()
        for path in filter(None, paths):
            days.setdefault(path, day)
    return days


def _sources(app: Sphinx, docname: str) -> list[str]:
    """Return the files that a page's text comes from, below the folder of sources."""
    root, config = Path(app.srcdir), app.config
    paths = [Path(app.env.doc2path(docname)), catalog_path(app.env, docname)]
    if file := find_file(config, root, docname):
        paths += [file.path, file.recording(root / config.recipe_gallery_recordings)]
    return [path.relative_to(root).as_posix() for path in paths if path.is_relative_to(root)]


def check_redirects(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of a redirect from a page that exists, or to one that does not.

    sphinx-reredirects writes them; its setting is ``redirects``.
    """
    pages = env.found_docs | app.config.html_additional_pages.keys()
    for source, target in getattr(app.config, "redirects", {}).items():
        to_page = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        name = to_page.partition("#")[0].removesuffix(".html")
        if source in env.found_docs:
            _warn(f"{source!r} is a page; remove its redirect or rename the page")
        if "://" not in target and name not in pages:  # `make links` asks other sites
            _warn(f"{source!r} leads to {target!r}, which is no page; correct its target")


def _warn(text: str) -> None:
    logger.warning("conf.py: redirects: %s", text, type="recipe_gallery", subtype="redirect")

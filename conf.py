"""Sphinx settings of the site; what they mean: https://www.sphinx-doc.org/en/master/usage/configuration.html."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # so that Sphinx finds recipe_gallery

project = "torch.compile recipes"
author = "The torch.compile recipes authors"
copyright = "2026, " + author  # noqa: A001 (Sphinx's name)
release = "0.1.0"

# Where the site is published; each language lies in a folder of its own below. Links in downloaded
# notebooks lead there.
site_url = os.environ.get("SITE_URL", "https://example.org/torch-compile-recipes/")
# Where the sources are; readers are sent there to correct a translation. Nowhere if it is empty.
repository_url = os.environ.get(
    "REPOSITORY_URL", "https://github.com/example/torch-compile-recipes"
)

extensions = [
    "recipe_gallery",  # renders recordings; sets up Sphinx-Gallery
]

# Every .rst below this folder is a page unless it is named here.
exclude_patterns = [
    "_build",
    ".*",
    "recipes_source",
    "locale",
    "tests",
    "benchmarks",
]
nitpicky = True  # a link that leads nowhere is a warning
locale_dirs = ["locale"]
gettext_compact = False  # one catalog per page

# Replaying sets the rest (recipe_gallery/replay.py).
sphinx_gallery_conf = {
    "examples_dirs": "recipes_source",
    "gallery_dirs": "recipes",  # made by the build, not kept in git
    "within_subsection_order": "FileNameSortKey",
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = ["_templates"]
# Pages without pages below them need no navigation of their section.
html_sidebars = {page: [] for page in ("index", "results", "how_we_measure", "faq")}
html_show_sourcelink = False  # shows generated reST, which helps nobody
html_copy_source = False
html_use_index = False  # there are no index entries
html_theme_options = {
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,  # arrow keys scroll wide tables and code
    "navbar_end": ["language-switcher", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    # The theme asks the network whether a newer version of the documentation exists; there is one.
    "show_version_warning_banner": False,
}

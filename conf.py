"""Sphinx settings of the site; what they mean: https://www.sphinx-doc.org/en/master/usage/configuration.html."""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # so that Sphinx finds the two packages

project = "Second Call"  # the first call of a compiled function is slow, the second is fast
author = "The Second Call authors"
release = "1.0.0"  # as in CITATION.cff; the engine has a version of its own
copyright = "2026, " + author  # noqa: A001 (Sphinx's name)

# Where the site is published; each language lies in a folder of its own below. Links in downloaded
# notebooks lead there. Where it is not set, nothing names an address that leads nowhere.
recorded_gallery_site_url = os.environ.get("SITE_URL", "")
# Where the sources are; readers are sent there to correct a translation. Nowhere if it is empty.
recorded_gallery_repository_url = os.environ.get("REPOSITORY_URL", "")

extensions = [
    "sphinx_recorded_gallery",  # renders recordings; sets up Sphinx-Gallery
    "sphinx_recorded_gallery.measurements",
    "sphinx_recorded_gallery.translate",
    "sphinx_recorded_gallery.search",  # benchmarks/search.md tells why
    "second_call",  # what only this site has: charts, results, heads of pages
    "sphinx_reredirects",  # old addresses lead to the new ones
]

# Every .rst below this folder is a page unless it is named here.
exclude_patterns = [
    "_build",
    ".*",
    "recipes_source",
    "locale",
    "tests",
    "benchmarks",
    "sphinx_recorded_gallery",  # `make api` builds the reference in there, in English alone
]
nitpicky = True  # a link that leads nowhere is a warning
# `make links` asks other sites; what stands inside this one is looked after by every build.
linkcheck_ignore = [
    r"(?!https?://)",  # files that the build writes beside a page
    re.escape(recorded_gallery_repository_url) + "/edit/",  # forms, for which one has to sign in
]
linkcheck_retries = 3  # a server that is busy for a moment is no broken link
linkcheck_rate_limit_timeout = 60  # seconds to wait for one that answers "too many requests"
locale_dirs = ["locale"]
gettext_compact = False  # one catalog per page
recorded_gallery_label_packages = ["second_call"]  # one catalog of its labels

# Before the code of each notebook: it installs what is missing or too old, as on Colab. Whoever
# gets another torch gets the torchvision that fits it; alone that would bring a torch along.
install_missing = """
# @title Install what is missing
import re
import subprocess
import sys
from importlib.metadata import distributions

needed = {"torch": "2.11", "pandas": "2.2", "matplotlib": "3.9", "transformers": "5.18"}
found = {each.name: each.version for each in distributions()}
parts = {name: re.findall(r"\\d+", found.get(name, "0")) for name in needed}
missing = [
    f"{name}>={least}"
    for name, least in needed.items()
    if [int(part) for part in parts[name]] < [int(part) for part in least.split(".")]
]
if "torch>=2.11" in missing:
    missing.insert(1, "torchvision>=0.26")
if missing:
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *missing], check=True)
"""
# The engine sets the rest (sphinx_recorded_gallery/pages/write_pages.py).
sphinx_gallery_conf = {
    "examples_dirs": "recipes_source",
    "gallery_dirs": "recipes",  # made by the build, not kept in git
    "within_subsection_order": "FileNameSortKey",
    "first_notebook_cell": install_missing,
    "ignore_pattern": r"(^|/)_\w+\.py$",
}

# Pages that moved, each with its new address relative to the old one: "old": "recipes/new.html".
# tests/site/published_pages.txt lists all that were ever published.
redirects = {
    "recipes/index": "../index.html#recipes",  # the front page lists the recipes
}
redirect_html_template_file = "_templates/redirect.html"

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = project
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["pages.css"]  # made by second_call/light_assets.py
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = ["_templates"]
# The header leads to every page; code has the room of a second navigation.
html_sidebars = {"**": []}
html_show_sourcelink = False  # shows generated reST, which helps nobody
html_copy_source = False
html_use_index = False  # there are no index entries
# How pages call the packages that a recipe was recorded with
recorded_gallery_package_names = {"torch": "PyTorch", "numpy": "NumPy", "triton": "Triton"}
# The current release, and the label of the page about what it changed, to which recipes link
second_call_releases = {"torch": ("2.15", "newer-pytorch")}
recorded_gallery_thumbnails = False  # nobody sees the list that has them
recorded_gallery_alt_required = True  # figures are described for those who cannot see them
recorded_gallery_trust_outputs = False  # recordings may come from anybody: their HTML only shows
second_call_answer_required = True  # a recipe begins with its answer
recorded_gallery_gpu_figures = (
    True  # who tries a recipe on a CPU may lack or refute what the text says
)
recorded_gallery_quantities = "second_call.quantities:list_site_quantities"  # beside the engine's
recorded_gallery_shown_keys = "second_call.charts.keys:find_keys"  # what charts show
recorded_gallery_text_checks = "second_call.prose_checks:check_texts"  # no figure without a source
# What a page may load: files of the site and nothing else, and no script or style inside a page.
# MAINTAINING.md says what a host can send in addition; https://www.w3.org/TR/CSP3/
second_call_content_security_policy = "; ".join(
    [
        "default-src 'self'",  # Firefox fetches the next recipe ahead, which no other rule allows
        "object-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",  # small pictures inside of style sheets
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
    ]
)
# The order of recipes wherever there is one; a build tells which one it lacks.
second_call_recipes = [
    "where_time_goes",
    "compiling_optimizer",
    "regional_compilation",
    "compile_modes",
    "token_generation",
    "varying_sizes",
    "cuda_graphs",
    "memory",
    "saved_models",
]
second_call_preview = "_static/preview.png"  # shown with links to pages that have no figure
# What Sphinx, Sphinx-Gallery and the theme add to pages or publish beside them, and no page uses
second_call_unused_assets = [
    "scripts/*",  # _static/site.js does what is used of them
    "styles/*",  # _static/theme.css has the rules that pages need
    "vendor/**/*.*",
    "webpack-macros.html",
    "basic.css",  # _static/theme.css has the rules that pages need
    "documentation_options.js",
    "language_data.js",
    "searchtools.js",
    "theme.css",  # a part of pages.css
    "recorded_gallery.css",  # and this
    "pygments.css",
    "doctools.js",
    "sphinx_highlight.js",
    "translations.js",
    "sg-tags.js",
    "sg_gallery.css",
    "sg_gallery-binder.css",
    "sg_gallery-dataframe.css",
    "sg_gallery-rendered-html.css",
    "binder_badge_logo.svg",
    "broken_example.png",
    "jupyterlite_badge_logo.svg",
    "no_image.png",
    "file.png",
    "minus.png",
    "plus.png",
]
html_theme_options = {
    "back_to_top_button": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,  # arrow keys scroll wide tables and code
    "article_header_start": ["parents"],
    "navbar_center": ["site-nav"],
    "navbar_persistent": ["search-button"],
    "navbar_end": ["language-switcher", "color-mode"],
    "article_footer_items": ["recipe-foot", "neighbours"],
    # the first page and the results need the room
    "secondary_sidebar_items": {"**": ["page-toc", "recipes-nav"], "index": [], "results": []},
    "footer_start": ["copyright"],
    "footer_end": ["about"],
    # The theme asks the network whether a newer version of the documentation exists; there is one.
    "show_version_warning_banner": False,
}

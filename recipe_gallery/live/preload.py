"""What the process that builds of `live` are forked from imports, so that they need not."""

import signal
from contextlib import suppress
from importlib import import_module

from ..project import code_digest

# Ctrl-C ends it and its builds without a word; Python would tell where they were.
signal.signal(signal.SIGINT, signal.SIG_DFL)

code_digest()  # of the code that runs: what is edited from now on counts after a restart
_NAMES = """
babel.dates bs4 jupytext matplotlib.pyplot pydata_sphinx_theme sphinx.builders.html sphinx.search
sphinx.environment.collectors.toctree sphinx.transforms.post_transforms.code
sphinx.transforms.post_transforms.images sphinx_gallery.gen_gallery recipe_gallery.live.build
recipe_gallery.locations recipe_gallery.pages recipe_gallery.search
recipe_gallery.translate recipe_gallery.translate.translation_status
recipe_gallery.pages.measurements.roles
"""
_builtin = import_module("sphinx.application").builtin_extensions
for _name in (*_builtin, *_NAMES.split()):  # a theme, and what it needs, may not be installed
    with suppress(ImportError):
        import_module(_name)

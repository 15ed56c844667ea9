"""One build for `live`, in a process that has imported whatever a build needs."""

import contextlib
import importlib
import io
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path

# Not used here: a build imports them, which takes longer than all the rest of a small one.
import babel.dates  # noqa: F401
import jupytext  # noqa: F401
import sphinx.builders.html
import sphinx.environment.collectors.toctree
import sphinx.search
import sphinx.transforms.post_transforms.code
import sphinx.transforms.post_transforms.images  # noqa: F401
import sphinx_gallery.gen_gallery  # noqa: F401
from sphinx.application import Sphinx
from sphinx.util.console import strip_colors
from sphinx.util.docutils import docutils_namespace, patch_docutils

from .. import direction, locations, pages, translate  # noqa: F401
from ..errors import GalleryError, describe_error
from .marks import MarkMessages

# What a build imports where it is installed: Sphinx-Gallery, and a theme and what that needs
for _name in ("matplotlib.pyplot", "bs4", "pydata_sphinx_theme"):
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)


def build_once(root: Path, build: Path, language: str, keep: Sequence[str] = ()) -> list[str]:
    """Build one language in this process; return the warnings, a line each.

    Pages whose catalogs ``keep`` names are translated as they were when these were good.
    Raises ``GalleryError`` if there is no page to show.
    """
    os.chdir(root)  # errors name files relative to it
    logging.disable(logging.INFO)  # thousands of lines that nobody sees would be put together
    warnings = io.StringIO()
    try:
        with patch_docutils(root), docutils_namespace():
            app = Sphinx(
                srcdir=root,
                confdir=root,
                outdir=build / "html" / language,
                doctreedir=build / "doctrees" / language,
                buildername="html",
                # an index of the search takes longer than a build; that of the first one stays
                confoverrides={
                    "language": language,
                    "recipe_gallery_keep_search_index": True,
                    "recipe_gallery_keep_catalogs": list(keep),
                },
                status=None,
                warning=warnings,
            )
            app.add_transform(MarkMessages)
            safe = (e.parallel_read_safe and e.parallel_write_safe for e in app.extensions.values())
            if all(safe):  # else Sphinx would say so after each save
                app.parallel = os.cpu_count() or 1
            app.build()
    except Exception as error:  # whatever half a file leads to; the next save mends it
        raise GalleryError(describe_error(error)) from None
    finally:
        logging.disable(logging.NOTSET)
    text = strip_colors(warnings.getvalue())
    root_in_front = re.compile(rf"^((?:WARNING|ERROR): )?{re.escape(str(root))}/", re.MULTILINE)
    return root_in_front.sub(r"\1", text).splitlines()

"""One build for `live`, in a process that has all modules of a build imported: preload.py."""

import io
import logging
import os
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.console import strip_colors
from sphinx.util.docutils import docutils_namespace, patch_docutils

from ..errors import GalleryError, describe_error
from ..hooks import Priority, add_transform
from ..project import load_project, name_locale_folders
from .messages import mark_messages


def build_once(root: Path, build: Path, language: str) -> list[str]:
    """Build one language in this process; return the warnings, a line each.

    Raises ``GalleryError`` if there is no page to show.
    """
    os.chdir(root)  # errors name files relative to it
    logging.disable(logging.INFO)  # else thousands of unseen lines would be formatted
    warnings = io.StringIO()
    try:
        locale_dirs = name_locale_folders(load_project(root).config)
        with patch_docutils(root), docutils_namespace():
            app = Sphinx(
                srcdir=root,
                confdir=root,
                outdir=build / "html" / language,
                doctreedir=build / "doctrees" / language,
                buildername="html",
                # Sphinx itself must not read catalogs, see project.locale_option.
                confoverrides={
                    "language": language,
                    "locale_dirs": [],
                    "recorded_gallery_locale_dirs": locale_dirs,
                },
                status=None,
                warning=warnings,
            )
            add_transform(app, mark_messages, Priority.MARK_MESSAGES)
            app.build()
    except Exception as error:  # such as from an incomplete file; the next save mends it
        raise GalleryError(describe_error(error)) from None
    finally:
        logging.disable(logging.NOTSET)
    text = strip_colors(warnings.getvalue())
    root_in_front = re.compile(rf"^((?:WARNING|ERROR): )?{re.escape(str(root))}/", re.MULTILINE)
    return root_in_front.sub(r"\1", text).splitlines()

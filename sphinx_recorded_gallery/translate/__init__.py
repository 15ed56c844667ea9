"""Sets up translations of pages.

The other modules of this package extract the catalogs of a site and update, check and load them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import GalleryError
from ..hooks import Priority, add_recipe_transform, add_transform
from ..project import CORE, add_extension, name_locale_folders

if TYPE_CHECKING:  # slow to import, and commands come through here
    from sphinx.application import Sphinx
    from sphinx.config import Config


def setup(app: Sphinx) -> dict[str, Any]:
    """Translate pages from checked catalogs."""
    from . import transforms
    from .loading import load_labels

    description = add_extension(app, __name__)
    app.add_config_value("recorded_gallery_locale_dirs", [], "env", list)  # from locale_dirs
    app.connect("config-inited", _take_over_catalogs, priority=Priority.TAKE_OVER_CATALOGS)
    app.connect("config-inited", load_labels, priority=Priority.LOAD_LABELS)
    app.connect("builder-inited", _add_builders_transforms)
    add_transform(app, transforms.add_comments, Priority.ADD_COMMENTS)
    return description


def _take_over_catalogs(_app: Sphinx, config: Config) -> None:
    """Hide the catalogs from Sphinx, which would show them unchecked; loading.py loads them.

    Raises ``GalleryError`` if conf.py asks for catalogs that this extension does not support.
    """
    if config.gettext_compact:
        text = f"{__name__} needs a catalog for each page"
        remedy = "write gettext_compact = False, then run: recorded-gallery update-po"
        raise GalleryError(f"conf.py: {text}", remedy=remedy)
    if config.gettext_additional_targets:
        text = f"conf.py: {__name__} does not support gettext_additional_targets"
        raise GalleryError(text, remedy="remove that setting")
    # Commands hide them from the start, see project.locale_option.
    config.recorded_gallery_locale_dirs = name_locale_folders(config)
    config.locale_dirs = []
    config.gettext_auto_build = False
    # The checks of catalogs cover this, and Sphinx would also warn of translated terms.
    config.suppress_warnings = [*config.suppress_warnings, "i18n.inconsistent_references"]


def _add_builders_transforms(app: Sphinx) -> None:
    from . import transforms

    makes_templates = app.builder.name == "gettext"
    if f"{CORE}.measurements" in app.extensions:
        add_recipe_transform(app, transforms.add_names, Priority.ADD_COMMENTS)
        if not makes_templates:
            app.connect("recorded-gallery-name", transforms.find_name)
    if makes_templates:  # they keep the helpers of comments
        from . import pot

        app.connect("build-finished", pot.annotate_pots)
    else:
        add_transform(app, transforms.prepare_translation, Priority.PREPARE_TRANSLATION)
        add_transform(app, transforms.strip_added_nodes, Priority.TAKE_OUT)
        add_transform(app, transforms.mark_untranslated, Priority.MARK_UNTRANSLATED)
        add_transform(app, transforms.write_comments, Priority.WRITE_COMMENTS)

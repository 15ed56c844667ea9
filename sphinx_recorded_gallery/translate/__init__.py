"""Catalogs of a site: extracted, updated, checked, compiled and shown on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..hooks import Priority, add_recipe_transform, add_transform
from ..languages import set_languages

if TYPE_CHECKING:  # slow to import, and commands come through here
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Let pages be translated from catalogs that are fit for readers."""
    from . import transforms
    from .loading import load_labels

    app.add_config_value("recorded_gallery_languages", {}, "env", dict)  # from languages.toml
    app.add_config_value("recorded_gallery_locale_dirs", [], "env", list)  # from locale_dirs
    app.connect("config-inited", set_languages, priority=Priority.READ_LANGUAGES)
    app.connect("config-inited", load_labels, priority=Priority.LOAD_LABELS)
    app.connect("builder-inited", _add_builders_transforms)
    add_transform(app, transforms.add_comments, Priority.ADD_COMMENTS)
    add_recipe_transform(app, transforms.add_names, Priority.ADD_COMMENTS)


def _add_builders_transforms(app: Sphinx) -> None:
    if app.builder.name == "gettext":  # templates keep the helpers of comments
        from . import pot

        app.connect("build-finished", pot.name_kinds)
    else:
        from . import transforms

        app.connect("recorded-gallery-name", transforms.find_name)

        add_transform(app, transforms.prepare_translation, Priority.PREPARE_TRANSLATION)
        add_transform(app, transforms.take_out_new, Priority.TAKE_OUT)
        add_transform(app, transforms.mark_untranslated, Priority.MARK_UNTRANSLATED)
        add_transform(app, transforms.write_comments, Priority.WRITE_COMMENTS)

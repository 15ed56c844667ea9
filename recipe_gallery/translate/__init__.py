"""Catalogs of a site: extracted, updated, checked, compiled and shown on its pages."""

from sphinx.application import Sphinx

from .. import Priority


def setup(app: Sphinx) -> None:
    """Let pages be translated from catalogs that are fit for readers."""
    from . import comment_nodes, kinds, translation

    app.add_config_value("recipe_gallery_languages", {}, "env", dict)  # from languages.toml
    app.connect("config-inited", translation.set_languages, priority=Priority.READ_LANGUAGES)
    app.connect("config-inited", translation.compile_catalogs, priority=Priority.COMPILE_CATALOGS)
    app.connect("env-get-outdated", translation.pages_with_lost_catalogs)
    app.connect("env-get-outdated", translation.pages_with_old_labels)
    app.connect("env-check-consistency", translation.report_missing)
    app.connect("builder-inited", _add_builders_transforms)
    app.add_transform(comment_nodes.AddComments)
    app.connect("doctree-resolved", kinds.note_kinds)
    app.connect("build-finished", kinds.write_kinds)


def _add_builders_transforms(app: Sphinx) -> None:
    from . import comment_nodes, kinds, translation

    if app.builder.name == "gettext":  # catalogs keep the helpers of comments
        app.add_transform(kinds.LocateInRecipes)
    else:
        app.add_transform(translation.PrepareTranslation)
        app.add_transform(translation.MarkUntranslated)
        app.add_transform(comment_nodes.WriteComments)

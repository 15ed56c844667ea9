"""Recorded recipes: a Sphinx extension that renders galleries from recordings, and a command line.

See the design in README.md; the modules are named for what they do or hold.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Wire the extension into Sphinx."""
    # Imported here so that the command line works where Sphinx's HTML part does not.
    from . import mathml, provenance, replay, results

    app.setup_extension("sphinx_gallery.gen_gallery")
    app.setup_extension("sphinx_markdown_builder")
    app.add_config_value("recordings_dir", "recordings", "env", str)
    mathml.setup_math(app)
    app.connect("config-inited", replay.check_config, priority=5)
    app.connect("builder-inited", replay.install, priority=5)
    app.add_transform(provenance.AddRecipeHeader)
    app.add_node(
        provenance.recipe_actions,
        html=(provenance.visit_actions, None),
        latex=(provenance.skip, None),
        text=(provenance.skip, None),
    )
    app.add_node(
        provenance.provenance,
        html=(provenance.visit_provenance, provenance.depart_provenance),
        latex=(provenance.skip, None),
        text=(provenance.skip, None),
    )
    app.add_directive("recorded-results", results.RecordedResults)
    app.connect("env-get-outdated", results.outdated_pages)
    app.connect("doctree-resolved", provenance.link_downloads)
    app.connect("doctree-resolved", _write_downloads, priority=550)
    return {"version": "0.1.0", "parallel_read_safe": True, "parallel_write_safe": True}


def _write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    # Imported where a page is written: notebooks take longer to import than an unchanged site
    # takes to look at.
    from .notebooks import write_downloads

    write_downloads(app, doctree, docname)

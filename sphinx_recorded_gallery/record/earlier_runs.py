"""What a page's run measured with one release stays measured when another release is recorded."""

from pathlib import Path

from nbformat import NotebookNode

from ..errors import GalleryError
from ..measurements.replicates import Replicate
from ..measurements.rows import read_rows
from ..recipes.recipe import Recipe
from ..recipes.recording import compare, read_recording
from ..recipes.releases import find_release


def read_earlier_run(
    path: Path, recipe: Recipe, notebook: NotebookNode, package: str
) -> Replicate | None:
    """Return the run at ``path`` as a replicate, if ``notebook`` measured another release.

    ``package`` is the one whose releases are compared. None if there is no run of this code and
    this release of measurements, or if what is there cannot be read: it is replaced then.
    """
    if not package:
        return None
    try:
        earlier = read_recording(path, recipe.name)
        rows = read_rows(earlier.notebook, path)
    except GalleryError:
        return None
    facts = earlier.facts
    if not rows or not facts.get("host") or not compare(recipe, earlier).is_current:
        return None
    release = find_release(facts["versions"], package)
    if release == find_release(notebook.metadata.recording["versions"], package):
        return None
    names = "host", "device", "versions", "commit", "modified", "recorded", "seconds"
    return Replicate(
        fingerprint=recipe.replicate_fingerprint,
        replicate=0,
        rows=rows,
        **{name: facts[name] for name in names},
    )

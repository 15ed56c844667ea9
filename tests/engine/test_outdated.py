"""Pages are read again when something that they show of another file has changed."""

import warnings

from gallery import Gallery

EXTENSION = """
import sys
from pathlib import Path

from recipe_gallery.outdated import watch

def first_word(env, name):
    return Path(env.srcdir, name).read_text().split()[0]

def read(app, docname, text):
    if docname == "index":
        watch(app.env, first_word, "shown.txt")

def setup(app):
    sys.path.remove(app.confdir.as_posix())
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
"""


def test_a_page_is_read_again_only_when_what_it_watches_is_another(gallery: Gallery) -> None:
    (gallery.root / "watching.py").write_text(EXTENSION)
    conf = gallery.root / "conf.py"
    gallery.add_extension("watching")
    conf.write_text(f"import sys\nsys.path.insert(0, {str(gallery.root)!r})\n{conf.read_text()}")
    shown = gallery.root / "shown.txt"
    shown.write_text("one two")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "index" in gallery.build().read
        shown.write_text("one three")
        assert gallery.build().read == []
        shown.write_text("four")
        assert gallery.build().read == ["index"]
    # Sphinx 11 removes env.app, so that nothing may be found by it.
    assert not [each for each in told if "BuildEnvironment.app" in str(each.message)]

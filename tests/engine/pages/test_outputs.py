"""What a page shows of a recording: printed text, and pictures with their thumbnail."""

import hashlib
import re

import pytest
from PIL import Image

from sphinx_recorded_gallery.pages import write_pages as pages
from tests.helpers.gallery import Gallery

THREE = '''
"""
Three
=====

Text.
"""

# sphinx_gallery_thumbnail_number = {number}
from PIL import Image
from IPython.display import display

# sphinx_gallery_alt = "Red"
# sphinx_gallery_alt = "Green"
# sphinx_gallery_alt = "Blue"
for colour in ("red", "green", "blue"):
    display(Image.new("RGB", (40, 28), colour))

# %%
# More.

print("    only\\n    indented")

# %%
# And more.

print("   indented\\n   likewise  \\n:field: no\\n.. note:: no\\n\\x0cend")
'''
RED, GREEN, BLUE = (255, 0, 0), (0, 128, 0), (0, 0, 255)


def three(number: int) -> str:
    return THREE.replace("{number}", str(number))


def thumbnail(gallery: Gallery) -> object:
    with Image.open(gallery.root / "recipes/images/thumb/sphx_glr_three_thumb.png") as image:
        return image.convert("RGB").getpixel((image.width // 2, image.height // 2))


def test_a_thumbnail_is_of_the_picture_with_its_number(gallery: Gallery) -> None:
    gallery.add("three", three(1))
    for number, colour in ((1, RED), (2, GREEN), (-1, BLUE), (-3, RED)):
        gallery.write("three", three(number))
        assert gallery.build("dummy").warnings == ""
        assert thumbnail(gallery) == colour
    gallery.write("three", three(1).replace('"red"', '"black"'))  # its cell has changed
    gallery.build("dummy")
    assert thumbnail(gallery) not in (RED, GREEN, BLUE)
    assert not [*gallery.root.glob("recipes/images/*.png")]


def test_hidden_pictures_are_no_thumbnails(gallery: Gallery) -> None:
    hidden = '# sphinx_gallery_plumbing = True\ndisplay(Image.new("RGB", (40, 28), "black"))\n'
    first = '# sphinx_gallery_alt = "Red"'
    text = three(1).replace(first, f"# %%\n\n{hidden}\n# %%\n\n{first}")
    gallery.add("three", text)
    assert gallery.build().warnings == ""
    assert thumbnail(gallery) == RED
    assert len([*gallery.root.glob("recipes/images/*.png")]) == 3


def test_a_build_that_ends_behind_the_pictures_leaves_no_old_thumbnail(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery.add("three", three(1))
    gallery.build("dummy")
    generate = pages.generate_gallery_rst

    def end(_app: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pages, "generate_gallery_rst", end)
    gallery.add("three", three(1).replace('("red", "green", "blue")', '("blue", "green", "red")'))
    with pytest.raises(KeyboardInterrupt):
        gallery.build("dummy")
    monkeypatch.setattr(pages, "generate_gallery_rst", generate)
    gallery.build("dummy")
    assert thumbnail(gallery) == BLUE


def test_printed_text_is_as_it_was(gallery: Gallery) -> None:
    gallery.add("three", three(1))
    page = gallery.build().page("recipes/three")
    texts = [
        re.sub("<[^>]*>", "", each.partition("<pre>")[2].partition("</pre>")[0])
        for each in page.split("sphx-glr-script-out")[1:]
    ]
    assert texts[0] == "    only\n    indented\n"
    text = texts[1]
    assert text.startswith("   indented\n   likewise  \n:field: no\n.. note:: no"), text


def test_pages_that_sphinx_gallery_made_by_running(gallery: Gallery) -> None:
    gallery.add("three", three(1))
    folder = gallery.root / "recipes"
    folder.mkdir()
    code = (gallery.recipes / "three.py").read_text()
    (folder / "three.py").write_text(code)
    (folder / "three.rst").write_text("Old\n===\n")
    (folder / "three.py.md5").write_text(hashlib.md5(code.encode()).hexdigest())
    page = gallery.build().page("recipes/three")
    assert "Old" not in page
    assert "indented" in page


STREAMS = '''
"""
Streams
=======

Text.
"""
import sys

print("first")
print("second, an error", end="", file=sys.stderr)
print("third")
'''


def test_output_and_errors_stand_in_one_box(gallery: Gallery) -> None:
    gallery.add("streams", STREAMS)
    page = gallery.build().page("recipes/streams")
    assert page.count("sphx-glr-script-out") == 1
    assert "first\nsecond, an error\nthird\n</pre>" in page


def test_sphinx_search_is_spared_words_that_nobody_types(gallery: Gallery) -> None:
    blocks = "".join(f"\n::\n\n   {word} printed\n" for word in ("y" * 10_000, "quokka"))
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}{blocks}")
    words = (gallery.build().out / "searchindex.js").read_text(encoding="utf-8")
    assert "quokka" in words
    assert "yyyyy" not in words

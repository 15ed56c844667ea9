"""Which values of cells a page shows, as ``capture_repr`` and ``ignore_repr_types`` say.

They choose among what was recorded: nothing is recorded anew for them.
"""

import json
import re
from html import unescape

import pytest

from tests.helpers.gallery import SETTINGS, Gallery

VALUES = '''
"""
Values
======

Text.
"""


class Rich:
    """Has three forms."""

    def __repr__(self):
        return "as repr"

    def __str__(self):
        return "as str"

    def _repr_html_(self):
        return "<b>as html</b>"


Rich()

# %%
# A number.

print("printed")
6 * 7

# %%
# A picture.

from PIL import Image

Image.new("RGB", (40, 28), "red")

# %%
# A figure that is open, too.

import matplotlib.pyplot as plt

figure = plt.figure()
figure
'''


def set_conf(gallery: Gallery, **settings: object) -> None:
    gallery.configure(sphinx_gallery_conf=SETTINGS["sphinx_gallery_conf"] | settings)


def shown(gallery: Gallery) -> list[str]:
    """Return what the page shows below its cells, pictures as the letter P."""
    build = gallery.build()
    assert build.warnings == ""
    page = build.page("recipes/values")
    outputs = re.findall(
        r'<div class="recorded-html"[^>]*>(.*?)</div>|<div class="sphx-glr-script-out[^>]*>'
        r"(.*?)</pre>|(<img [^>]*sphx-glr-single-img)",
        page,
        re.DOTALL,
    )
    texts = [unescape(re.sub("<[^>]+>", "", html or out)).strip() for html, out, _img in outputs]
    return [text or "P" for text in texts]


@pytest.mark.parametrize(
    ("conf", "line", "outputs"),
    [
        ({}, "", ["as html", "printed", "42", "P", "<Figure size 640x480 with 0 Axes>", "P"]),
        ({"capture_repr": ()}, "", ["printed", "P"]),
        ({}, "# sphinx_gallery_capture_repr = ()", ["printed", "P"]),
        ({"capture_repr": ("__str__",)}, "", ["as str", "printed", "42"]),
        ({"capture_repr": ["__repr__", "_repr_html_"]}, "", ["as repr", "printed", "42"]),
        ({"capture_repr": ("_repr_html_",)}, "", ["as html", "printed", "P"]),
        ({"ignore_repr_types": "Rich|int"}, "", ["printed", "P", "<Figure"]),
        ({"capture_repr": ()}, "# sphinx_gallery_capture_repr = ['__repr__']", ["as repr"]),
        ({"capture_repr": ()}, "# sphinx_gallery_capture_repr_block = ('__str__',)", ["as str"]),
        ({}, "# sphinx_gallery_ignore_repr_types = r'int$'", ["as html", "printed", "42", "P"]),
    ],
)
def test_settings_choose_among_what_was_recorded(
    gallery: Gallery, conf: dict[str, object], line: str, outputs: list[str]
) -> None:
    gallery.add("values", VALUES)
    gallery.write("values", VALUES.replace("\n\nclass", f"\n{line}\nclass"))
    set_conf(gallery, **conf)
    page = shown(gallery)
    assert [text[: len(start)] for text, start in zip(page, outputs, strict=False)] == outputs


def test_repr_is_what_python_prints(gallery: Gallery) -> None:
    """IPython prints some values in its own way, and breaks long ones into lines."""
    gallery.add("values", '"""\nValues\n======\n"""\nint, [*range(40)]\n')
    set_conf(gallery, capture_repr=("__repr__",))
    assert shown(gallery) == [repr((int, [*range(40)]))]


def test_a_notebook_shows_what_its_page_shows(gallery: Gallery) -> None:
    gallery.add("values", VALUES)
    set_conf(gallery, capture_repr=())
    build = gallery.build()
    notebook = json.loads((build.out / "recipes/values.ipynb").read_text())
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert [output["output_type"] for output in outputs] == ["stream", "display_data"]


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("capture_repr = ('_repr_png_',)", "a tuple of _repr_html_, __repr__, __str__"),
        ("capture_repr_block = 3", "a tuple of _repr_html_, __repr__, __str__"),
        ("ignore_repr_types = '('", "a pattern of Python's re"),
    ],
)
def test_a_value_that_cannot_be_used_is_told(gallery: Gallery, line: str, needs: str) -> None:
    gallery.add("values", VALUES)
    gallery.write("values", VALUES.replace("\n\nclass", f"\n# sphinx_gallery_{line}\nclass"))
    assert f"needs {needs}" in gallery.build().warnings

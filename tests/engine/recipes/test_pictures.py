"""Which pictures can be opened."""

import base64
import io

import pytest
from PIL import Image

from recipe_gallery.recipes.pictures import decode_picture, open_picture


def draw(kind: str) -> bytes:
    file = io.BytesIO()
    Image.radial_gradient("L").resize((40, 30)).save(file, kind)
    return file.getvalue()


PNG, JPEG = draw("PNG"), draw("JPEG")


def encode(content: bytes) -> str:
    return base64.encodebytes(content).decode()  # in lines, as IPython writes it


@pytest.mark.parametrize(("mime", "content"), [("image/png", PNG), ("image/jpeg", JPEG)])
def test_a_whole_picture_is_what_was_drawn(mime: str, content: bytes) -> None:
    for text in (encode(content), encode(content).replace("\n", "")):
        assert decode_picture(mime, text) == content
        open_picture(mime, text)


@pytest.mark.parametrize(
    ("mime", "data", "told"),
    [
        ("image/png", f"*{encode(PNG)}", "is not base64"),
        ("image/png", encode(PNG[:-200]), "cannot be shown"),
        ("image/jpeg", encode(JPEG[:-200]), "cannot be shown"),
    ],
)
def test_what_cannot_be_opened_is_told(mime: str, data: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        open_picture(mime, data)


def test_a_picture_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 500)
    with pytest.raises(ValueError, match="cannot be shown: Image size"):
        open_picture("image/png", encode(PNG))

"""Which pictures can be opened."""

import base64
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from recipe_gallery.recipes.pictures import decode_picture, open_picture


def draw(kind: str, size: tuple[int, int] = (40, 30)) -> bytes:
    file = io.BytesIO()
    Image.radial_gradient("L").resize(size).save(file, kind)
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
        ("image/png", encode(PNG[:-200]), "is damaged"),
        ("image/jpeg", encode(JPEG[:-200]), "is damaged"),
    ],
)
def test_what_cannot_be_opened_is_told(mime: str, data: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        open_picture(mime, data)


def test_a_picture_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    for size in ((40, 30), (400, 300)):  # Pillow only warns of the first
        with pytest.raises(ValueError, match="has more than 1,000 pixels"):
            open_picture("image/png", encode(draw("PNG", size)))


@given(st.integers(0, len(PNG) - 1), st.binary(min_size=1, max_size=3))
def test_a_damaged_picture_is_opened_or_told(place: int, other: bytes) -> None:
    problem = "is opened"
    try:
        open_picture("image/png", encode(PNG[:place] + other + PNG[place + len(other) :]))
    except ValueError as error:
        problem = str(error)
    assert problem.startswith(("is ", "has "))

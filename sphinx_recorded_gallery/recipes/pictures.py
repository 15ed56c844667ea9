"""Pictures in outputs: whether they can be opened, before anything has to show them."""

import base64
import binascii
import io

import imagesize

from .mime_types import PICTURES
from .sanitize import read_svg

SUFFIXES = PICTURES  # of their files
MOST_PIXELS = 100_000_000  # browsers and Pillow refuse much larger ones
# How a file begins, and what stands at its end
_ENDS = {
    "image/png": (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
    "image/jpeg": (b"\xff\xd8", b"\xff\xd9"),
}


class TooLargeError(ValueError):
    """A picture with more pixels than browsers show."""


def decode_picture(mime: str, data: str) -> bytes:
    """Return what a file of the picture holds; raise ``ValueError`` for what is no base64."""
    if mime == "image/svg+xml":
        return data.encode()
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error:
        raise ValueError("is not base64") from None


def check_picture(mime: str, data: str) -> None:
    """Raise ``ValueError``, which says why, for what no page can show as a picture.

    It looks at the beginning and the end alone, which a build can do for each.
    """
    if mime == "image/svg+xml":
        read_svg(data)
        return
    content = decode_picture(mime, data)
    kind = mime.partition("/")[2].upper()
    begin, end = _ENDS[mime]
    if not content.startswith(begin):
        raise ValueError(f"is no {kind}")
    if end not in content:
        raise ValueError(f"cannot be shown: the {kind} is cut")
    try:
        width, height = imagesize.get(io.BytesIO(content))
    except Exception as error:  # of many kinds, as of struct
        raise ValueError(f"cannot be shown: {error}") from None
    size = f"{width:,} x {height:,} pixels"
    if width < 1 or height < 1:
        raise ValueError(f"cannot be shown: it has {size}")
    if width * height > MOST_PIXELS:
        most = f"at most {MOST_PIXELS // 1_000_000} million"
        raise TooLargeError(f"cannot be shown: it has {size}, of {most}")


def open_picture(mime: str, data: str) -> None:
    """Open a picture; raise ``ValueError``, which says why, if that is not possible."""
    check_picture(mime, data)
    if mime == "image/svg+xml":
        return
    # slow to import, and only needed where something is recorded
    from PIL import Image

    kind = mime.partition("/")[2].upper()
    try:
        with Image.open(io.BytesIO(decode_picture(mime, data)), formats=[kind]) as image:
            image.load()
    except Exception as error:  # of many kinds: each decoder has its own
        raise ValueError(f"cannot be shown: {error}") from None

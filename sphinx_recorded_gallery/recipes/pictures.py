"""Check that pictures in outputs can be opened, before anything shows them."""

import base64
import binascii
import io

import imagesize

from .sanitize import read_svg

MOST_PIXELS = 100_000_000  # browsers and Pillow refuse much larger ones
# The bytes that a file begins with, and those that mark its end. The latter may stand anywhere:
# programs append data of their own, which browsers ignore.
_MARKS = {
    "image/png": (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
    "image/jpeg": (b"\xff\xd8", b"\xff\xd9"),
    "image/gif": (b"GIF8", b";"),
    "image/webp": (b"RIFF", b"WEBP"),  # it has no mark of its end
}


class TooLargeError(ValueError):
    """A picture with more pixels than browsers show."""


def decode_picture(mime: str, data: str) -> bytes:
    """Return the contents of a picture's file; raise ``ValueError`` if it is not base64."""
    if mime == "image/svg+xml":
        return data.encode()
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error:
        raise ValueError("is not base64") from None


def check_picture(mime: str, data: str) -> None:
    """Raise ``ValueError`` with the reason if a page cannot show a picture.

    Only the marks of beginning and end and the size are checked, which is fast enough for every
    build.
    """
    if mime == "image/svg+xml":
        read_svg(data)
        return
    content = decode_picture(mime, data)
    kind = mime.partition("/")[2].upper()
    begin, end = _MARKS[mime]
    if not content.startswith(begin):
        raise ValueError(f"is not a {kind}")
    if end not in content:
        raise ValueError(f"cannot be shown: the {kind} is cut off")
    try:
        width, height = imagesize.get(io.BytesIO(content))
    except Exception as error:  # of many kinds, such as of struct
        raise ValueError(f"cannot be shown: {error}") from None
    size = f"{width:,} x {height:,} pixels"
    if width < 1 or height < 1:
        raise ValueError(f"cannot be shown: it has {size}")
    if width * height > MOST_PIXELS:
        most = f"at most {MOST_PIXELS // 1_000_000} million"
        raise TooLargeError(f"cannot be shown: it has {size}, of {most}")


def open_picture(mime: str, data: str) -> None:
    """Open a picture; raise ``ValueError`` with the reason if that is not possible."""
    check_picture(mime, data)
    if mime == "image/svg+xml":
        return
    # slow to import, and only needed for recording
    from PIL import Image

    kind = mime.partition("/")[2].upper()
    try:
        with Image.open(io.BytesIO(decode_picture(mime, data)), formats=[kind]) as image:
            image.load()
    except Exception as error:  # of many kinds: each decoder has its own
        raise ValueError(f"cannot be shown: {error}") from None

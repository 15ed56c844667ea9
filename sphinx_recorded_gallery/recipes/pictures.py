"""Pictures in outputs: whether they can be opened, before anything has to show them."""

import base64
import binascii
import io

from .sanitize import read_svg

SUFFIXES = {"image/svg+xml": ".svg", "image/png": ".png", "image/jpeg": ".jpg"}


def decode_picture(mime: str, data: str) -> bytes:
    """Return what a file of the picture holds; raise ``ValueError`` for what is no base64."""
    if mime == "image/svg+xml":
        return data.encode()
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error:
        raise ValueError("is not base64") from None


def open_picture(mime: str, data: str) -> None:
    """Open a picture; raise ``ValueError``, which says why, if that is not possible."""
    if mime == "image/svg+xml":
        read_svg(data)
        return
    content = decode_picture(mime, data)
    # slow to import, and only needed where something is recorded
    from PIL import Image, UnidentifiedImageError

    kind = mime.partition("/")[2].upper()
    try:
        with Image.open(io.BytesIO(content), formats=[kind]) as image:
            image.load()
    except UnidentifiedImageError:
        raise ValueError(f"is no {kind}") from None
    except Exception as error:  # of many kinds: each decoder has its own; or it is too large
        raise ValueError(f"cannot be shown: {error}") from None

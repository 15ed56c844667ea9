"""The forms of an output that pages show, or read measurements from.

Programs that show notebooks know many others, some of which load what they show from an address, or
run it.
"""

# What recipes publish for programs, under MIME types that begin so; notebooks leave it out.
PUBLISHED_MIME = "application/vnd.recorded-gallery."
PICTURES = {"image/svg+xml": ".svg", "image/png": ".png", "image/jpeg": ".jpg"}  # and their files
SHOWN = ("text/html", *PICTURES, "text/markdown", "text/latex", "text/plain")


def is_shown(mime: str) -> bool:
    """Return whether a page shows outputs in this form, or reads measurements from it."""
    return mime in SHOWN or mime.startswith(PUBLISHED_MIME)

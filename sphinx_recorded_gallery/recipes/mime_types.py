"""The forms of an output that pages show, or read measurements from.

Other programs for notebooks know many more, some of which load contents from an address or run
code.
"""

# Start of the MIME types of data that recipes publish for programs; notebooks leave these out
PUBLISHED_MIME = "application/vnd.recorded-gallery."
PICTURES = {
    "image/svg+xml": ".svg",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
SHOWN = ("text/html", *PICTURES, "text/markdown", "text/latex", "text/plain")


def is_shown(mime: str) -> bool:
    """Return whether a page shows outputs in this form, or reads measurements from it."""
    return mime in SHOWN or mime.startswith(PUBLISHED_MIME)

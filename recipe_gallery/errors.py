"""The one exception for mistakes a person can mend; its text is shown without a traceback."""


class GalleryError(Exception):
    """What was wrong, where, and what to do about it, in one or two lines."""

"""Labels of the site, such as headings of tables: messages that no page has."""

from sphinx.locale import get_translation

_translate = get_translation("second_call")


def _(text: str) -> str:
    """Return a label in the reader's language, for a page that is being made.

    Sphinx's own returns a proxy before a build has begun, which is no string.
    """
    return str(_translate(text))

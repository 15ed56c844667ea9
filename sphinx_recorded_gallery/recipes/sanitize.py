"""HTML and SVG of outputs without what could do more than show a result.

So they are read where a gallery does not trust its recordings (``recorded_gallery_trust_outputs``).
A recording may come from a stranger's pull request, and HTML from any library. Only elements and
attributes that are known to be harmless are kept: no script, no style, no address that a browser
would load, nothing that leaves its box. nh3 does it, which parses as browsers do and is kept up by
the ammonia project; lxml's cleaner works from lists of what is bad, bleach is no longer developed.
"""

import re
from collections import Counter
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import nh3
from docutils.utils.math.latex2mathml import tex2mathml

from .latex import Formula, split_latex
from .mime_types import is_shown

_MATH = "math mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup"
_MATH += " msup mtable mtd mtext mtr munder munderover semantics"
# Beside text: landmarks would be those of the page, maps need names of the page.
_NOT_OF_TEXT = "area article aside footer header hgroup map nav rtc"
_TAGS = nh3.ALLOWED_TAGS - {*_NOT_OF_TEXT.split()} | set(
    f"font label meter progress {_MATH}".split()
)
_ATTRIBUTES = {
    "*": "aria-hidden aria-label class dir hidden lang role title",
    "a": "href",
    "col": "align span width",
    "colgroup": "align span width",
    "details": "open",
    "div": "align",
    "font": "color face size",
    "img": "alt src height width",
    "math": "display",
    "meter": "high low max min optimum value",
    "mo": "fence form largeop separator stretchy",
    "mstyle": "displaystyle mathvariant scriptlevel",
    "mi": "mathvariant",
    "mspace": "height width",
    "ol": "reversed start type",
    "p": "align",
    "progress": "max value",
    "table": "align border cellpadding cellspacing width",
    "td": "abbr align colspan headers height rowspan scope valign width",
    "th": "abbr align colspan headers height rowspan scope valign width",
    "time": "datetime",
    "tr": "align valign",
}
_DROPPED_WITH_TEXT = {"annotation", "annotation-xml", "script", "style", "svg", "template", "title"}
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,", re.IGNORECASE)
# Those of content: others would make landmarks of the page, dialogs, buttons, or speak up.
_ROLES = "cell columnheader definition figure group img list listitem math none note presentation"
_ROLES += " row rowgroup rowheader table term"
_LINK = re.compile(r"https?://|mailto:|[\w./-]*(?:[?#]|\Z)", re.IGNORECASE)


def _keep(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute, or None to leave it out."""
    if name == "src" and not _PICTURE.match(value):
        return None
    if name == "role" and value not in _ROLES.split():
        return None
    return None if name == "href" and not _LINK.match(value) else value


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    attributes={tag: {*names.split()} for tag, names in _ATTRIBUTES.items()},
    attribute_filter=_keep,
    clean_content_tags=_DROPPED_WITH_TEXT,
    url_schemes={"data", "http", "https", "mailto"},
)
_NAMES = re.compile(r"<[a-z][\w-]*|(?<=[\s'\"])[a-z][\w:-]*\s*=", re.IGNORECASE)
_VISIBLE = re.compile(r"<(?:img [^<>]*src=|hr|meter|progress)|(?:\A|>)[^<>]*[^\s<>]")
# Of pandas' tables, of which nothing is lost without them.
_UNTOLD = ' style="text-align: right;"'
_SVG, _XHTML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xhtml}"
_CSS_LOADS = re.compile(r"url\((?!\s*['\"]?#)|@import|\\|image-set|src\(", re.IGNORECASE)

MOST_NESTED = 500  # elements of HTML inside each other
_FEW_ELEMENTS = 2_000  # that nh3 reads in no time, however they are nested
_VOID = "area base br col embed hr img input link meta source track wbr"
_ENDS_BY_ITSELF = "colgroup dd dt li p tbody td tfoot th thead tr"
_NOT_COUNTED = {*_VOID.split(), *_ENDS_BY_ITSELF.split()}


def sanitize(data: dict[str, Any]) -> None:
    """Leave out of an output, in place, what could do more than show it.

    Only the forms that a page shows are kept. HTML of which nothing is left to see goes as well, so
    that a page shows another form of the output. Raises ``ValueError`` if its SVG cannot be read,
    or its HTML is nested too deeply.
    """
    for mime in [mime for mime in data if not is_shown(mime)]:
        del data[mime]
    if "text/latex" in data and not is_safe_latex(data["text/latex"]):
        data["text/plain"] = data.pop("text/latex")  # says more than the name of a class
    if "text/html" in data:
        data["text/html"] = clean_html(data["text/html"])
        if not _VISIBLE.search(data["text/html"]):
            del data["text/html"]
    if "image/svg+xml" in data:
        data["image/svg+xml"] = clean_svg(data["image/svg+xml"])


def sanitize_for_notebook(data: dict[str, Any]) -> None:
    """Turn what a notebook would do more with than a page, in place, into text: Markdown.

    It may hold HTML and pictures of other hosts, and each program reads it in its own way.
    """
    if "text/markdown" in data:
        data["text/plain"] = data.pop("text/markdown")


def is_safe_latex(latex: str) -> bool:
    """Return whether LaTeX only shows words and formulas.

    Words hold no command; formulas hold only what ``is_formula`` lets pass. A text without
    delimiters may be one formula.
    """
    pieces = split_latex(latex)
    if not any(isinstance(piece, Formula) for piece in pieces):
        return is_formula(latex)
    for piece in pieces:
        if isinstance(piece, Formula):
            is_safe = is_formula(piece.tex)
        else:
            is_safe = "\\" not in piece.text and "<" not in piece.text
        if not is_safe:
            return False
    return True


def is_formula(tex: str) -> bool:
    """Return whether LaTeX is one formula of commands that do nothing but show it.

    docutils' converter knows only such commands: no links, styles or definitions.
    """
    if re.search(r"<[a-zA-Z/!?]", tex):  # a tag where the output is shown as HTML
        return False
    try:
        tex2mathml(tex.replace(r"\displaystyle", "").strip())
    except Exception:  # of many kinds, beside its own: it was made for what authors write
        return False
    return True


def clean_html(html: str) -> str:
    """Return HTML that shows something and does nothing else, each element closed.

    Raises ``ValueError`` if it is nested too deeply.
    """
    ensure_flat(html)
    return _CLEANER.clean(html)


class _Depth(HTMLParser):
    """Measures how deeply elements are nested, and rather too much where they are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self.deepest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go one element deeper."""
        if tag not in _NOT_COUNTED:
            self._open.append(tag)
            self.deepest = max(self.deepest, len(self._open))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go one element deeper: HTML knows no ``<div/>``."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Go back where this is the innermost element; else browsers disagree with guesses."""
        if self._open and self._open[-1] == tag:
            self._open.pop()


def ensure_flat(html: str) -> None:
    """Raise ``ValueError`` for HTML that is nested so deeply that cleaning it takes minutes."""
    if html.count("<") <= _FEW_ELEMENTS:
        return
    parser = _Depth()
    parser.feed(html)
    if parser.deepest > MOST_NESTED:
        text = (
            f"its HTML has more than {MOST_NESTED} elements inside each other that are not closed"
        )
        raise ValueError(text)


def find_left_out(data: dict[str, Any]) -> list[str]:
    """Return what ``sanitize`` leaves out of an output, as its author knows it.

    Raises ``ValueError`` if its SVG cannot be read, or its HTML is nested too deeply.
    """
    found = [mime for mime in data if not is_shown(mime)]
    if "text/latex" in data and not is_safe_latex(data["text/latex"]):
        found.append("LaTeX that is more than a formula")
    html = data.get("text/html", "").replace(_UNTOLD, "")
    before, after = (Counter(_NAMES.findall(each.lower())) for each in (html, clean_html(html)))
    names = before - after - Counter({"<html": 1, "<head": 1, "<body": 1})
    found += [f"{name}>" if name[0] == "<" else name for name in names]
    if "image/svg+xml" in data:
        found += [f"{what} in SVG" for what in _clean_tree(read_svg(data["image/svg+xml"]))]
    return list(dict.fromkeys(found))


def clean_svg(svg: str) -> str:
    """Return SVG that draws something and does nothing else; the same text if it did before.

    Raises ``ValueError`` if it cannot be read.
    """
    root = read_svg(svg)
    # Definitions of a document type and instructions are lost when it is written again.
    if not (list(_clean_tree(root)) or "<!ENTITY" in svg or "<?xml-stylesheet" in svg):
        return svg
    ElementTree.register_namespace("", _SVG[1:-1])
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ElementTree.tostring(root, encoding="unicode")


def read_svg(svg: str) -> ElementTree.Element:
    """Return the elements of a drawing; raise ``ValueError`` if it cannot be read."""
    try:
        root = ElementTree.fromstring(svg)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"is no SVG: {error}") from None
    if root.tag != f"{_SVG}svg":
        raise ValueError("is no SVG: it begins with another element, or has no xmlns")
    return root


def _clean_tree(root: ElementTree.Element) -> Iterable[str]:
    """Take out of a tree what is not harmless, and tell it."""
    for parent in root.iter():
        for name, value in list(parent.attrib.items()):
            local = name.rpartition("}")[2].lower()
            is_address = local in ("href", "src", "base")
            if (
                local.startswith("on")
                or (is_address and not value.startswith("#") and not _PICTURE.match(value))
                or (_CSS_LOADS.search(value) and not is_address)
            ):
                del parent.attrib[name]
                yield f"{local}="
        for child in list(parent):
            local = str(child.tag).rpartition("}")[2].lower()
            target = child.get("attributeName", "").strip().rpartition(":")[2].lower()
            if (
                local in ("script", "foreignobject", "handler", "iframe")
                or str(child.tag).startswith(_XHTML)
                or (local == "style" and _CSS_LOADS.search("".join(child.itertext())))
                or target == "href"
                or target.startswith("on")
            ):
                parent.remove(child)
                yield f"<{local}>"

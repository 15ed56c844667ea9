"""Sanitize HTML and SVG of outputs, so that they can only show a result.

This is done where a gallery does not trust its recordings (``recorded_gallery_trust_outputs``). A
recording may come from a stranger's pull request, and HTML from any library. Only elements and
attributes known to be harmless are kept: no script, no style, no address that a browser would load,
nothing that leaves its box. nh3 parses as browsers do and is maintained by the ammonia project;
lxml's cleaner only removes what it lists as bad, and bleach is no longer developed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import nh3
from docutils.utils.math.latex2mathml import tex2mathml

from .latex import Formula, split_latex
from .mime_types import is_shown

_MATH = "math mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup"
_MATH += " msup mtable mtd mtext mtr munder munderover semantics"
# Elements that do not belong to a text: landmarks would be those of the page, maps need its names.
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
# Roles of content; others would be landmarks of the page, dialogs, buttons or announcements.
_ROLES = "cell columnheader definition figure group img list listitem math none note presentation"
_ROLES += " row rowgroup rowheader table term"
_LINK = re.compile(r"https?://|mailto:|[\w./-]*(?:[?#]|\Z)", re.IGNORECASE)


def _keep(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute, or None to leave it out."""
    if name == "src" and not _PICTURE.match(value):
        return None
    if name == "role" and value not in _ROLES.split():
        return None
    if name == "href" and not _LINK.match(value):
        return None
    return value


_CLEANER = nh3.Cleaner(
    tags=_TAGS,
    attributes={tag: {*names.split()} for tag, names in _ATTRIBUTES.items()},
    attribute_filter=_keep,
    clean_content_tags=_DROPPED_WITH_TEXT,
    url_schemes={"data", "http", "https", "mailto"},
)
_NAMES = re.compile(r"<[a-z][\w-]*|(?<=[\s'\"])[a-z][\w:-]*\s*=", re.IGNORECASE)
_VISIBLE = re.compile(r"<(?:img [^<>]*src=|hr|meter|progress)|(?:\A|>)[^<>]*[^\s<>]")
# In tables of pandas, which lose nothing without it
_NOT_REPORTED = ' style="text-align: right;"'
_SVG, _XHTML = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xhtml}"
_CSS_LOADS = re.compile(r"url\((?!\s*['\"]?#)|@import|\\|image-set|src\(", re.IGNORECASE)
_USED = re.compile(r"url\(\s*['\"]?#([^'\")\s]+)")

MOST_DRAWN = 10_000_000  # elements of a drawing, each as often as it is used
MOST_NESTED = 500  # elements of HTML inside each other
_FEW_ELEMENTS = 2_000  # nh3 is fast for these, however they are nested
_VOID = "area base br col embed hr img input link meta source track wbr"
_ENDS_BY_ITSELF = "colgroup dd dt li p tbody td tfoot th thead tr"
_NOT_COUNTED = {*_VOID.split(), *_ENDS_BY_ITSELF.split()}


def sanitize(data: dict[str, Any]) -> None:
    """Remove from an output, in place, everything that could do more than show it.

    Only the forms that a page shows are kept. HTML without visible contents is removed, so that a
    page shows another form of the output. Raises ``ValueError`` if its SVG cannot be read, or if
    its HTML is nested too deeply.
    """
    for mime in [mime for mime in data if not is_shown(mime)]:
        del data[mime]
    if "text/latex" in data and not is_safe_latex(data["text/latex"]):
        data["text/plain"] = data.pop("text/latex")  # more useful than the name of a class
    if "text/html" in data:
        data["text/html"] = clean_html(data["text/html"])
        if not _VISIBLE.search(data["text/html"]):
            del data["text/html"]
    if "image/svg+xml" in data:
        data["image/svg+xml"] = clean_svg(data["image/svg+xml"])


def sanitize_for_notebook(data: dict[str, Any]) -> None:
    """Turn Markdown, in place, into plain text, since notebooks do more with it than pages.

    It may hold HTML and pictures of other hosts, and each program interprets it differently.
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
    """Return HTML that can only show something, with each element closed.

    Raises ``ValueError`` if it is nested too deeply.
    """
    ensure_flat(html)
    return _CLEANER.clean(html)


class _Depth(HTMLParser):
    """Measures how deeply elements are nested; unclosed elements may count too much."""

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
        """Go one element deeper: in HTML, ``<div/>`` does not close itself."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Go back if this is the innermost element; else browsers repair it in their own ways."""
        if self._open and self._open[-1] == tag:
            self._open.pop()


def ensure_flat(html: str) -> None:
    """Raise ``ValueError`` for HTML that is nested so deeply that cleaning would take minutes."""
    if html.count("<") <= _FEW_ELEMENTS:
        return
    parser = _Depth()
    parser.feed(html)
    if parser.deepest > MOST_NESTED:
        raise ValueError(
            f"its HTML has more than {MOST_NESTED} unclosed elements inside each other"
        )


def find_left_out(data: dict[str, Any]) -> list[str]:
    """Return what ``sanitize`` removes from an output, in words for its author.

    Raises ``ValueError`` if its SVG cannot be read, or its HTML is nested too deeply.
    """
    left_out = [mime for mime in data if not is_shown(mime)]
    if "text/latex" in data and not is_safe_latex(data["text/latex"]):
        left_out.append("LaTeX that is more than a formula")
    html = data.get("text/html", "").replace(_NOT_REPORTED, "")
    before = Counter(_NAMES.findall(html.lower()))
    after = Counter(_NAMES.findall(clean_html(html).lower()))
    for name in before - after - Counter({"<html": 1, "<head": 1, "<body": 1}):
        left_out.append(f"{name}>" if name[0] == "<" else name)
    if "image/svg+xml" in data:
        root = read_svg(data["image/svg+xml"])
        _ensure_few_elements(root)
        for part in _clean_tree(root):
            left_out.append(f"{part} in SVG")
    return list(dict.fromkeys(left_out))


def clean_svg(svg: str) -> str:
    """Return SVG that can only draw something; harmless SVG is returned unchanged.

    Raises ``ValueError`` if it cannot be read.
    """
    root = read_svg(svg)
    _ensure_few_elements(root)
    removed_parts = list(_clean_tree(root))
    # Writing it again removes definitions of entities and instructions.
    if not removed_parts and "<!ENTITY" not in svg and "<?xml-stylesheet" not in svg:
        return svg
    ElementTree.register_namespace("", _SVG[1:-1])
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ElementTree.tostring(root, encoding="unicode")


def read_svg(svg: str) -> ElementTree.Element:
    """Return the elements of a drawing; raise ``ValueError`` if it cannot be read."""
    try:
        root = ElementTree.fromstring(svg)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"is not SVG: {error}") from None
    if root.tag != f"{_SVG}svg":
        raise ValueError("is not SVG: it begins with another element, or has no xmlns")
    return root


def _ensure_few_elements(root: ElementTree.Element) -> None:
    """Raise ``ValueError`` for a drawing of elements that use others many times.

    A few lines could draw billions of elements, and the browser of a reader would hang.
    """
    targets: dict[str, ElementTree.Element] = {}
    for element in root.iter():
        targets.setdefault(element.get("id", ""), element)
    counts: dict[ElementTree.Element, int] = {}  # 0 while an element is counted: it uses itself

    def count(element: ElementTree.Element) -> int:
        if element not in counts:
            counts[element] = 0
            used = [targets[name] for name in _find_used(element) if name in targets]
            counts[element] = 1 + sum(map(count, [*element, *used]))
        return counts[element]

    try:
        drawn = count(root)
    except RecursionError:
        raise ValueError("its elements stand inside each other too deeply") from None
    if drawn > MOST_DRAWN:
        raise ValueError(f"it draws more than {MOST_DRAWN // 1_000_000} million elements")


def _find_used(element: ElementTree.Element) -> Iterator[str]:
    """Yield the ids of other elements that an element draws or is drawn with."""
    for name, value in element.attrib.items():
        if name.rpartition("}")[2] == "href" and value.startswith("#"):
            yield value[1:]
        yield from _USED.findall(value)


def _clean_tree(root: ElementTree.Element) -> Iterable[str]:
    """Remove harmful attributes and elements from a tree; yield their names."""
    for parent in root.iter():
        for name, value in list(parent.attrib.items()):
            local_name = name.rpartition("}")[2].lower()
            if _is_harmful_attribute(local_name, value):
                del parent.attrib[name]
                yield f"{local_name}="
        for child in list(parent):
            local_name = str(child.tag).rpartition("}")[2].lower()
            if _is_harmful_element(local_name, child):
                parent.remove(child)
                yield f"<{local_name}>"


def _is_harmful_attribute(name: str, value: str) -> bool:
    """Return whether an attribute runs a script, or makes a browser load something."""
    if name.startswith("on"):
        return True
    if name in ("href", "src", "base"):
        return not value.startswith("#") and not _PICTURE.match(value)
    return bool(_CSS_LOADS.search(value))


def _is_harmful_element(name: str, element: ElementTree.Element) -> bool:
    """Return whether an element runs a script, loads something, or animates such an attribute."""
    if name in ("script", "foreignobject", "handler", "iframe"):
        return True
    if str(element.tag).startswith(_XHTML):
        return True
    if name == "style" and _CSS_LOADS.search("".join(element.itertext())):
        return True
    animated = element.get("attributeName", "").strip().rpartition(":")[2].lower()
    return animated == "href" or animated.startswith("on")

"""The direction of writing: of HTML, of style sheets, and marks that translations may hold."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from .languages import Language, current_language

# Letters that nobody sees, one of each direction: they put punctuation beside a Latin name where it
# belongs. What reorders text without being a letter is refused in all languages.
_MARKS = "\u200e\u200f"
_JOINERS = "\u200c\u200d"  # with them, Persian and Hindi tell words from others
_JOINING_SCRIPTS = frozenset(
    {"Beng", "Deva", "Gujr", "Guru", "Knda", "Mlym", "Orya", "Sinh", "Taml", "Telu"}
)
# Written from left to right in all languages; a block of code with its button
_CODE = re.compile(r'(?:code|kbd|math|pre|samp)\b|div class="highlight[" ]')
_FIGURE = 'span class="measured'  # its unit may be a word of the language
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<(?=[a-z])(?P<tag>(?P<name>\w+)[^<>]*)", re.DOTALL)
_LANG = re.compile(r'\slang="([^"]*)"')
_SIDES = {"left": "start", "right": "end"}
# Margins and the like with a value for each side, which ends in that for the left one
_FOUR_SIDES = re.compile(
    r"(?<=[{;\s])(margin|padding|inset|border)(-width|-style|-color|):\s*([^;{}]+?)\s*(!important)?(?=[;}])"
)
_VALUE = re.compile(r"(?:[^\s()]|\((?:[^()]|\([^()]*\))*\))+")


def marks_of(language: Language) -> str:
    """Return the invisible characters that a language needs."""
    joins = language.is_rtl or language.script in _JOINING_SCRIPTS
    return (_MARKS if language.is_rtl else "") + (_JOINERS if joins else "")


def write_directions(html: str, languages: Mapping[str, Language]) -> str:
    """Return a page with ``dir`` where the direction of text is not that of the text around it.

    ``languages`` has those of the project by their tags; code goes from left to right in each.
    """
    page = re.search(r'<html\b[^<>]*\slang="([^"]*)"', html)
    own = languages.get(page[1]) if page else None
    page_is_rtl = own is not None and own.is_rtl

    def write(found: re.Match[str]) -> str:
        tag, direction = found["tag"] or "", ""
        lang = _LANG.search(tag)
        language = languages.get(lang[1]) if lang else None
        if language:
            direction = "rtl" if language.is_rtl else "ltr" if page_is_rtl else ""
        elif page_is_rtl:
            direction = "ltr" if _CODE.match(tag) else "auto" if tag.startswith(_FIGURE) else ""
        if not direction or re.search(r"\sdir=", tag):
            return found[0]
        return f'<{found["name"]} dir="{direction}"{tag.removeprefix(found["name"])}'

    return _TAG.sub(write, html)


def direct_pages(app: Sphinx) -> None:
    """Let pages say the direction of their text, in any theme, if it is not the same for all."""
    languages = {each.tag: each for each in app.config.recipe_gallery_languages.values()}
    if app.builder.format != "html" or not any(each.is_rtl for each in languages.values()):
        return
    render = app.builder.templates.render

    def render_directed(template: str, context: dict[str, Any]) -> str:
        return write_directions(render(template, context), languages)

    app.builder.templates.render = render_directed


def mirror_styles(app: Sphinx, exception: Exception | None) -> None:
    """Let the theme's styles follow the direction, in a build of a language from right to left."""
    if exception or app.builder.format != "html" or not current_language(app.config).is_rtl:
        return
    for path in Path(app.outdir, "_static").rglob("*.css"):
        css = path.read_text(encoding="utf-8")
        path.write_text(mirror(css), encoding="utf-8")


def mirror(css: str) -> str:
    """Return a style sheet in which what was left stands where lines begin, at the right.

    What is from left to right inside, such as code, keeps its left.
    """
    css = _FOUR_SIDES.sub(_split_sides, css)
    for side, end in _SIDES.items():
        css = re.sub(rf"(?<=[{{;\s])(margin|padding|border)-{side}\b", rf"\1-inline-{end}", css)
        css = re.sub(rf"(?<=[{{;\s]){side}(?=\s*:)", f"inset-inline-{end}", css)
        css = re.sub(rf"(text-align\s*:\s*){side}\b", rf"\1{end}", css)
        css = re.sub(rf"((?:float|clear)\s*:\s*){side}\b", rf"\1inline-{end}", css)
        for row, above in (("top", "start"), ("bottom", "end")):
            css = css.replace(f"border-{row}-{side}-radius", f"border-{above}-{end}-radius")
    # A panel that slides in; there is no word for the direction of writing here.
    sliding = r"(?<=[{;\s])translate:\s*(-?)(?=100%[;}])"
    return re.sub(sliding, lambda found: "translate:" if found[1] else "translate:-", css)


def _split_sides(found: re.Match[str]) -> str:
    name, part, values, important = found.groups("")
    sides = _VALUE.findall(values)
    if len(sides) != 4 or sides[1] == sides[3]:
        return found[0]
    top, right, bottom, left = sides
    block, inline = f"{name}-block{part}", f"{name}-inline{part}"
    return f"{block}:{top} {bottom}{important};{inline}:{left} {right}{important}"

"""Style sheets and scripts as they are published: without comments and spaces for their authors.

A first visit loads all of them; without comments they weigh a fifth less on their way to readers.
Notices of licences stay. The style sheets of a page are one file: a browser waits for one answer
before it draws, and what they have in common is compressed once.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

_STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|url\([^\"')]*\)"
_COMMENT = r"/\*(?s:.*?)\*/"
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|{_COMMENT}")
_STRING_OR_SPACE = re.compile(rf"{_STRING}|{_COMMENT}|\s*[{{}};,]\s*|\s+")
# The space behind the name of a property; one that stands for an empty value stays
_STRING_OR_NAME = re.compile(rf"{_STRING}|{_COMMENT}|(?<=[{{;])(-?-?[a-z][\w-]*): (?![;}}])")
_NOTICE = re.compile(r"licen[cs]e|copyright|BSD", re.IGNORECASE)
_COMMENT_LINE = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
# Comments and texts, so that a mark of one inside of the other counts for nothing
_TEXT_OF_SCRIPT = re.compile(r"//.*|`[^`]*`|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)

STYLE = "pages.css"
ENGINE_STYLE = "recorded_gallery.css"


def shorten_templates(app: Sphinx) -> None:
    """Leave out the empty lines that the statements of templates stand in."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        environment = app.builder.templates.environment
        environment.trim_blocks = environment.lstrip_blocks = True


def join_styles(app: Sphinx) -> None:
    """Write the one style sheet of pages, which Sphinx publishes with its other static files.

    It has the theme's rules, then those of the engine, and last those of the site.
    """
    if app.builder.format != "html":
        return
    own = Path(app.confdir, "_static")
    engine = [Path(each) for each in app.config.html_static_path if each.endswith(ENGINE_STYLE)]
    sheets = [own / "theme.css", *engine, own / "site.css"]
    texts = [lighten_style(path.read_text(encoding="utf-8")) for path in sheets if path.exists()]
    joined = Path(app.doctreedir, STYLE)
    joined.parent.mkdir(parents=True, exist_ok=True)
    joined.write_text("".join(texts), encoding="utf-8")
    app.config.html_static_path.append(str(joined))


def lighten_assets(app: Sphinx, exception: Exception | None) -> None:
    """Rewrite the style sheets and scripts of a finished build."""
    if exception or app.builder.name != "html":
        return
    for path in sorted(Path(app.outdir, "_static").glob("*")):
        change = {".css": lighten_style, ".js": lighten_script}.get(path.suffix)
        if change:
            text = path.read_text(encoding="utf-8")
            path.write_text(change(text), encoding="utf-8")


def lighten_style(css: str) -> str:
    """Return a style sheet without comments, and with no more space than it needs."""

    def drop_comment(found: re.Match[str]) -> str:
        is_kept = not found[0].startswith("/*") or _NOTICE.search(found[0])
        return found[0] if is_kept else " "

    def shorten_space(found: re.Match[str]) -> str:
        is_kept = found[0][0] in "\"'u/"
        return found[0] if is_kept else found[0].strip() or " "

    def join_name(found: re.Match[str]) -> str:
        return f"{found[1]}:" if found[1] else found[0]

    css = _STRING_OR_COMMENT.sub(drop_comment, css)
    css = _STRING_OR_SPACE.sub(shorten_space, css).strip() + "\n"
    return _STRING_OR_NAME.sub(join_name, css)


def lighten_script(script: str) -> str:
    """Return a script without indents, and without the lines that are comments alone.

    One with a text of several lines stays as it is: a line of that may look like a comment.
    """
    texts = _TEXT_OF_SCRIPT.findall(script)
    if any(text.startswith("`") and "\n" in text for text in texts):
        return script
    return _INDENT.sub("", _COMMENT_LINE.sub("", script))

"""What an author's own HTML holds that notebooks leave out or that asks another host."""

import re
from html.parser import HTMLParser

# What Jupyter leaves out of Markdown
_LEFT_OUT = {"base", "embed", "iframe", "link", "math", "meta", "object", "script", "style", "svg"}
_LOADED = {"data", "poster", "src", "srcset"}


class _Finder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, None] = {}  # in order, each once

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LEFT_OUT:
            self.found[f"<{tag}>"] = None
        for name, value in attrs:
            address = re.sub(r"[\s\0-\x1f]", "", value or "")
            if name.startswith("on"):
                self.found[f"{name}="] = None
            elif re.match(r"(?:java|vb)script:", address, re.IGNORECASE):
                self.found[f"a script in {name}="] = None
            elif name in _LOADED and re.match(r"(?:https?:)?//", address, re.IGNORECASE):
                self.found[f"what is loaded from {address.split('/')[2]}"] = None


def find_unsafe(html: str) -> list[str]:
    """Return what runs a program, asks another host, or is not shown by Jupyter."""
    finder = _Finder()
    finder.feed(html)
    finder.close()
    return list(finder.found)

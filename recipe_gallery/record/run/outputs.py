"""Clean what a kernel printed: what a reader wants, and the same bytes for the same results."""

import re
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode

# What is cut out or replaced: what changes with every run and what a terminal would not show.
# Paths start after a space or quote and are bounded, or long lines would take quadratic time.
_REPLACED = {
    # ECMA-48 escape sequences: colours and cursor moves, window titles, the rest
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]": "",
    r"\r+$": "",
    r"^[^\n]*\r": "",  # it starts the line again: progress bars leave only their last state
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]": "",
    r"(?<![^\s'\"(<])[^\s'\"]{0,300}?/ipykernel_\d+/\d+\.py": "<cell>",  # IPython's file for a cell
    r"\b0x[0-9a-fA-F]{6,}\b": "0x...",
    r"(?<![^\s'\"(<])/[^\s:'\"]{0,300}?/(?:site|dist)-packages/": "",
}
_REPLACEMENTS = [(re.compile(old, re.MULTILINE), new) for old, new in _REPLACED.items()]
_TABLE_STYLE = re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL)


class Cleaner:
    """Cleans the outputs of one recipe's cells."""

    def __init__(self, *, hidden: Iterable[Path], drop: Iterable[re.Pattern[str]] = ()) -> None:
        """Cut folders off that are ``hidden``; leave out lines that begin like one of ``drop``."""
        self._paths = [(f"{path}/", "") for folder in hidden for path in (folder.resolve(), folder)]
        self._paths += [(f"{Path.home()}/", "~/")]
        self._drop = tuple(drop)

    def clean_text(self, text: str) -> str:
        """Return text as a reader would see it in a terminal that shows no colours."""
        for pattern, replacement in _REPLACEMENTS:
            text = pattern.sub(replacement, text)
        for path, replacement in self._paths:
            text = text.replace(path, replacement)
        return text

    def clean_outputs(self, outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
        """Return the outputs of one cell, each one cleaned.

        Writes to one stream that follow each other are joined; what a figure separates stays apart.
        """
        joined: list[NotebookNode] = []
        for output in outputs:
            if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
                joined[-1].text += output.text
            else:
                joined.append(output)
        for output in joined:
            if output.output_type == "stream":
                lines = self.clean_text(output.text).splitlines(keepends=True)
                output.text = "".join(
                    line for line in lines if not any(each.match(line) for each in self._drop)
                )
            elif output.output_type == "error":
                output.evalue = self.clean_text(output.evalue)
                output.traceback = [self.clean_text(line) for line in output.traceback]
            else:
                output.pop("transient", None)
                for mime, value in output.data.items():
                    if mime.startswith("text/") and isinstance(value, str):
                        output.data[mime] = _TABLE_STYLE.sub("", self.clean_text(value))
        return [each for each in joined if each.output_type != "stream" or each.text.strip()]

"""Clean what a kernel printed: what a reader wants, and the same bytes for the same results."""

import re
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode

# ECMA-48 escape sequences: colours and cursor moves, window titles, the rest.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[@-Z\\-_]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Names that change with every run: IPython's file for a cell, addresses, the place of a package.
# They start after a space or quote and are bounded, or long lines would take quadratic time.
_KERNEL_FILE = re.compile(r"(?<![^\s'\"(<])[^\s'\"]{0,300}?/ipykernel_\d+/\d+\.py")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_SITE_PACKAGES = re.compile(r"(?<![^\s'\"(<])/[^\s:'\"]{0,300}?/(?:site|dist)-packages/")
_TABLE_STYLE = re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL)


class Cleaner:
    """Cleans the outputs of one recipe's cells."""

    def __init__(self, *, hidden: Iterable[Path], drop: Iterable[re.Pattern[str]] = ()) -> None:
        """Cut folders off that are ``hidden``; leave out lines that begin like one of ``drop``."""
        self._paths = [(f"{path}/", "") for folder in hidden for path in (folder.resolve(), folder)]
        self._paths += [(str(Path.home()) + "/", "~/")]
        self._drop = tuple(drop)

    def clean_text(self, text: str) -> str:
        """Return text as a reader would see it in a terminal that shows no colours."""
        text = _ANSI.sub("", text).replace("\r\n", "\n")
        # A carriage return starts the line again: progress bars leave only their last state.
        if "\r" in text:
            lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
            text = "\n".join(lines)
        text = _CONTROL.sub("", text)
        text = _KERNEL_FILE.sub("<cell>", text)
        text = _ADDRESS.sub("0x...", text)
        text = _SITE_PACKAGES.sub("", text)
        for path, replacement in self._paths:
            text = text.replace(path, replacement)
        return text

    def clean_outputs(self, outputs: list[NotebookNode]) -> list[NotebookNode]:
        """Return the outputs of one cell, neighbouring writes merged and each one cleaned."""
        cleaned = []
        for output in _merge_neighbours(outputs):
            if output.output_type == "stream":
                output.text = self._drop_lines(self.clean_text(output.text))
                if not output.text.strip():
                    continue
            elif output.output_type == "error":
                output.evalue = self.clean_text(output.evalue)
                output.traceback = [self.clean_text(line) for line in output.traceback]
            else:
                output.pop("transient", None)
                for mime, value in output.data.items():
                    if mime.startswith("text/") and isinstance(value, str):
                        output.data[mime] = _TABLE_STYLE.sub("", self.clean_text(value))
            cleaned.append(output)
        return cleaned

    def _drop_lines(self, text: str) -> str:
        return "".join(
            line
            for line in text.splitlines(keepends=True)
            if not any(pattern.match(line) for pattern in self._drop)
        )


def _merge_neighbours(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Join writes to one stream that follow each other; what a figure separates stays apart."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if (
            last is not None
            and output.output_type == last.output_type == "stream"
            and output.name == last.name
        ):
            last.text += output.text
        else:
            merged.append(output)
    return merged

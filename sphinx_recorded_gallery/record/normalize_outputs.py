"""Clean what a kernel printed: what a reader wants, and the same bytes for the same results."""

import html
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

# A path begins here, and not in the middle of another one, of an address or of a word.
_BEGIN = r"(?:(?<![A-Za-z0-9_./~@%+\\$}*-])|(?<=file://)|(?<=[\s'\"]-[A-Za-z])|(?<=\\[nrt]))"
_END = r"(?![\w-]|\.\w)"
_PATH = re.compile(rf"{_BEGIN}/[^\s'\"<>:;,|()]+")
_CELL = re.compile(r"\A.*/ipykernel_\d+/\d+\.py")  # IPython's file for a cell
_LIBRARY = re.compile(r"\A.*/(?:(?:site|dist)-packages|lib/python3\.\d+)/")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_IN_HTML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_STYLE = re.compile(r"<style scoped>[^<]*</style>\s*")  # pandas puts it before each table
# Control sequences of ECMA-48 in their 7-bit and 8-bit forms; no part can begin inside of another,
# or long texts would take quadratic time.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?P<move>[@-~])"
    # window titles, links, graphics
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"  # character sets, keypads and others
)
_ERASE = "\v"  # what stands for the sequence that erases the rest of a line
# What a folder has to be called by to be told apart: others are of no machine.
_COMMON = {"", "/", "/usr", "/usr/local", "/opt", "/tmp", "/var/tmp"}
_SHORTEST_SECRET = 8  # characters; shorter values may well be words


def render(text: str) -> str:
    """Return text as a terminal without colours shows it: bars end up at their last state."""
    if not _CONTROL.search(text):
        return text
    text = _SEQUENCE.sub(lambda found: _ERASE if found["move"] == "K" else "", text)
    return "\n".join(_render_line(line) for line in text.split("\n"))


def _render_line(line: str) -> str:
    if not _CONTROL.search(line):
        return line
    shown: list[str] = []
    column = 0
    for char in line:
        if char == "\r":
            column = 0
        elif char == "\b":
            column = max(column - 1, 0)
        elif char == _ERASE:
            del shown[column:]
        elif not _CONTROL.match(char):
            shown[column : column + 1] = [char]
            column += 1
    return "".join(shown)


class Cleaner:
    """Cleans the outputs of one recipe's cells."""

    def __init__(
        self, *, hidden: Iterable[Path], secrets: Iterable[str] = (), temporary: Path | None = None
    ) -> None:
        """Prepare to clean.

        Folders that are ``hidden`` are cut off; ``temporary`` is the recipe's own folder of
        temporary files. Values that are ``secrets`` become stars, if they have 8 characters at
        least.
        """
        places = {
            os.path.expanduser("~"): "~",
            sys.prefix: "...",
            str(temporary or tempfile.gettempdir()): "/tmp",
            **{str(folder): "" for folder in hidden},
        }
        # where links lead as well: systems tell of folders in both ways
        places = {os.path.realpath(old): new for old, new in places.items() if old} | places
        self._places = {old: new for old, new in places.items() if old not in _COMMON}
        self._folders = re.compile(
            f"{_BEGIN}(?P<folder>{_any_of(self._places)})(?:(?P<slash>/)|{_END})"
        )
        long = {each for each in secrets if len(each) >= _SHORTEST_SECRET}
        secret = re.compile(_any_of(long | {html.escape(each) for each in long}))
        self._hide_secrets = partial(secret.sub, "***")

    def clean_text(self, text: str) -> str:
        """Return text as a reader would see it in a terminal that shows no colours."""
        text = text.encode(errors="backslashreplace").decode()  # as Python itself shows no Unicode
        return self._shorten(render(text), "<cell>")

    def clean_outputs(self, outputs: Sequence[NotebookNode]) -> Sequence[NotebookNode]:
        """Clean the outputs of one cell, in place, and return them."""
        for output in outputs:
            if output.output_type == "stream":
                output.text = self.clean_text(output.text)
            elif output.output_type == "error":
                output.evalue = self.clean_text(output.evalue)
                output.traceback = [self.clean_text(line) for line in output.traceback]
            else:
                output.pop("transient", None)
                output.metadata = _each_string(output.metadata, self._name_places)
                for name, text in output.metadata.get("recorded_gallery", {}).items():
                    output.metadata["recorded_gallery"][name] = self.clean_text(text)
                output.data = {
                    mime: self._clean_data(mime, value) for mime, value in output.data.items()
                }
        return outputs

    def _clean_data(self, mime: str, value: Any) -> Any:
        """Return what an object is shown as, under one MIME type."""
        if mime.startswith("text/") and isinstance(value, str):
            if mime == "text/plain":
                return self.clean_text(value)
            cell = html.escape("<cell>") if mime == "text/html" else "<cell>"
            return _STYLE.sub("", self._shorten(_NOT_IN_HTML.sub("", value), cell))
        # base64 has slashes, and no places
        clean = self._name_places if mime.endswith(("json", "xml")) else self._hide_secrets
        return _each_string(value, clean)

    def _name_places(self, text: str) -> str:
        """Return text without secrets, and with folders of this machine as readers know them."""

        def replace_folder(found: re.Match[str]) -> str:
            new = self._places[found["folder"]]
            return f"{new}/" if new and found["slash"] else new or ("" if found["slash"] else ".")

        return self._folders.sub(replace_folder, self._hide_secrets(text))

    def _shorten(self, text: str, cell: str) -> str:
        """Return text without what is of this machine or changes with every run."""

        def shorten_path(found: re.Match[str]) -> str:
            return _LIBRARY.sub("", _CELL.sub(cell, found[0], count=1), count=1)

        return _ADDRESS.sub("0x...", self._name_places(_PATH.sub(shorten_path, text)))


def join_streams(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Return outputs in which a bar stands once, where it was drawn last.

    A bar goes back to the start of its line, also when something else was printed in between.
    What is printed to the same stream without anything in between becomes one output.
    """
    last_of_stream: dict[str, NotebookNode] = {}
    for output in (output for output in outputs if output.output_type == "stream"):
        before = last_of_stream.get(output.name)
        is_unfinished = before is not None and not before.text.endswith("\n")
        if before is not None and is_unfinished and output.text.startswith("\r"):
            before.text = before.text[: before.text.rfind("\n") + 1]
        last_of_stream[output.name] = output
    joined: list[NotebookNode] = []
    for output in outputs:
        is_stream = output.output_type == "stream"
        if is_stream and not output.text:
            continue
        if is_stream and joined and joined[-1].get("name") == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def drop_lines(outputs: Iterable[NotebookNode], patterns: Sequence[str]) -> list[NotebookNode]:
    """Return outputs without printed lines that fit one of the patterns, and without blank ones."""
    kept = []
    for output in outputs:
        if output.output_type == "stream":
            output.text = "".join(
                line
                for line in output.text.splitlines(keepends=True)
                if not any(fnmatchcase(line.rstrip("\n"), pattern) for pattern in patterns)
            )
        if output.output_type != "stream" or output.text.strip():
            kept.append(output)
    return kept


def _each_string(value: Any, clean: Callable[[str], str]) -> Any:
    """Return a JSON value with each of its strings cleaned, the names in it, too."""
    if isinstance(value, dict):
        return {clean(name): _each_string(each, clean) for name, each in value.items()}
    if isinstance(value, list):
        return [_each_string(each, clean) for each in value]
    return clean(value) if isinstance(value, str) else value


def _any_of(values: Iterable[str]) -> str:
    """Return a pattern of any of the values, the longest that fits; without any, of nothing."""
    return "|".join(sorted(map(re.escape, values), key=len, reverse=True)) or r"(?!)"

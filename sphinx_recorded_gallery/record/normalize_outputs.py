"""Normalize the outputs of a kernel, so that equal results are equal bytes on every machine.

Readers see text as a terminal shows it, without folders, addresses and secrets of the machine.
"""

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

# The start of a path, not the middle of a path, an address or a word
_BEGIN = r"(?:(?<![A-Za-z0-9_./~@%+\\$}*-])|(?<=file://)|(?<=[\s'\"]-[A-Za-z])|(?<=\\[nrt]))"
_END = r"(?![\w-]|\.\w)"
_PATH = re.compile(rf"{_BEGIN}/[^\s'\"<>:;,|()]+")
# At least a folder and a file; not an address, and not a folder that many machines have
_ABSOLUTE = re.compile(
    rf"{_BEGIN}/(?!(?:bin|dev|etc|lib|lib64|opt|proc|sys|usr|var)/)[A-Za-z_][\w.-]*/\w[^\s'\"<>:;,|()]*"
)
_CELL = re.compile(r"\A.*/ipykernel_\d+/\d+\.py")  # IPython's file for a cell
_LIBRARY = re.compile(r"\A.*/(?:(?:site|dist)-packages|lib/python3\.\d+)/")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_IN_HTML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_STYLE = re.compile(r"<style scoped>[^<]*</style>\s*")  # pandas puts it before each table
# Control sequences of ECMA-48 in their 7-bit and 8-bit forms. No part can begin inside another one;
# otherwise long texts would take quadratic time.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?P<move>[@-~])"
    # window titles, links, graphics
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"  # character sets, keypads and others
)
_ERASE = "\v"  # replaces the sequence that erases the rest of a line
# Folders that exist on many machines, and are shown
_COMMON = {"", "/", "/usr", "/usr/local", "/opt", "/tmp", "/var/tmp"}
_LONGEST_SIZE = 5  # digits of the width of a picture
_SHORTEST_SECRET = 8  # characters; shorter values may be ordinary words


def render(text: str) -> str:
    """Return text as a terminal without colours shows it: progress bars in their last state."""
    if not _CONTROL.search(text):
        return text
    text = _SEQUENCE.sub(_keep_erasing, text)
    return "\n".join(_render_line(line) for line in text.split("\n"))


def _keep_erasing(sequence: re.Match[str]) -> str:
    """Return the replacement of a control sequence; only erasing sequences affect text."""
    return _ERASE if sequence["move"] == "K" else ""


def _render_line(line: str) -> str:
    """Return a line as a terminal shows it after its control characters."""
    if not _CONTROL.search(line):
        return line
    columns: list[str] = []  # the character in each column
    position = 0
    for char in line:
        if char == "\r":
            position = 0
        elif char == "\b":
            position = max(position - 1, 0)
        elif char == _ERASE:
            del columns[position:]
        elif not _CONTROL.match(char):
            columns[position : position + 1] = [char]
            position += 1
    return "".join(columns)


class OutputNormalizer:
    """Normalizes the outputs of one recipe's cells."""

    def __init__(
        self,
        *,
        hidden: Iterable[Path],
        secrets: Iterable[str] = (),
        temporary: Path | None = None,
        python_path: str = "",
    ) -> None:
        """Prepare the replacements.

        ``hidden`` folders, and those in ``python_path``, the value of the kernel's PYTHONPATH, are
        removed from paths. ``temporary`` is the recipe's own folder for temporary files.
        ``secrets`` become stars unless they are shorter than ``_SHORTEST_SECRET``.
        """
        replacements = dict.fromkeys(_list_folders(python_path), "")
        # After those of PYTHONPATH: the home folder becomes a tilde even if it is among them.
        replacements[os.path.expanduser("~")] = "~"
        replacements[sys.prefix] = "..."
        replacements[str(temporary or tempfile.gettempdir())] = "/tmp"
        for folder in hidden:
            replacements[str(folder)] = ""
        # If a folder is a link, programs may print its name or its target.
        self._replacements: dict[str, str] = {}
        for name, replacement in replacements.items():
            if name:
                self._replacements[os.path.realpath(name)] = replacement
        self._replacements |= replacements
        for name in _COMMON:
            self._replacements.pop(name, None)
        folder_pattern = f"(?P<folder>{_any_of(self._replacements)})"
        self._folders = re.compile(f"{_BEGIN}{folder_pattern}(?:(?P<slash>/)|{_END})")
        long_secrets = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        escaped_secrets = {html.escape(secret) for secret in long_secrets}
        secret_pattern = re.compile(_any_of(long_secrets | escaped_secrets))
        self._hide_secrets = partial(secret_pattern.sub, "***")

    def clean_text(self, text: str) -> str:
        """Return text as a terminal without colours would show it."""
        # Python, too, prints characters that cannot be encoded like this.
        text = text.encode(errors="backslashreplace").decode()
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
                self._clean_display(output)
        return outputs

    def _clean_display(self, output: NotebookNode) -> None:
        """Clean, in place, an output that holds forms of an object by MIME type."""
        output.pop("transient", None)
        output.metadata = _map_strings(output.metadata, self._replace_folders)
        for mime, facts in output.metadata.items():
            if mime.startswith("image/") and isinstance(facts, dict):
                _clean_size(facts)
        own_metadata = output.metadata.get("recorded_gallery", {})
        for name, text in own_metadata.items():
            own_metadata[name] = self.clean_text(text)
        output.data = {mime: self._clean_data(mime, form) for mime, form in output.data.items()}

    def _clean_data(self, mime: str, form: Any) -> Any:
        """Return the form of an object under one MIME type, cleaned."""
        if mime == "text/plain" and isinstance(form, str):
            return self.clean_text(form)
        if mime.startswith("text/") and isinstance(form, str):
            cell = html.escape("<cell>") if mime == "text/html" else "<cell>"
            return _STYLE.sub("", self._shorten(_NOT_IN_HTML.sub("", form), cell))
        if mime.endswith(("json", "xml")):
            return _map_strings(form, self._replace_folders)
        # Slashes of base64 do not belong to paths.
        return _map_strings(form, self._hide_secrets)

    def _replace_folders(self, text: str) -> str:
        """Return text without secrets and with folders replaced by the names that readers know."""

        def replace_folder(match: re.Match[str]) -> str:
            slash = match["slash"] or ""
            replacement = self._replacements[match["folder"]]
            if replacement:
                return replacement + slash
            return "" if slash else "."

        return self._folders.sub(replace_folder, self._hide_secrets(text))

    def _shorten(self, text: str, cell: str) -> str:
        """Return text without details that differ between machines or runs.

        ``cell`` is the name to show for the file that IPython makes for a cell.
        """

        def shorten_path(match: re.Match[str]) -> str:
            path = _CELL.sub(cell, match[0], count=1)
            return _LIBRARY.sub("", path, count=1)

        text = _PATH.sub(shorten_path, text)
        return _ADDRESS.sub("0x...", self._replace_folders(text))


def _clean_size(facts: dict[str, Any]) -> None:
    """Turn the size of a picture into numbers; leave out others, such as "50%".

    ``Image(..., width="500")`` passes on whatever an author writes.
    """
    for name in ("width", "height"):
        value = facts.pop(name, None)
        if isinstance(value, int | float):
            facts[name] = value
        digits = str(value).strip().removesuffix("px")
        if digits.isdecimal() and len(digits) <= _LONGEST_SIZE:
            facts[name] = int(digits)


def _list_folders(python_path: str) -> list[str]:
    """Return the absolute folders in a value of PYTHONPATH, as written and as Python shows them.

    Python resolves ``..`` in the paths of modules. Relative folders lie in the folder of the run.
    """
    folders = []
    for entry in python_path.split(os.pathsep):
        if os.path.isabs(entry):
            folders += [str(Path(entry)), os.path.normpath(entry)]
    return folders


def find_absolute_paths(notebook: NotebookNode) -> dict[int, str]:
    """Return the first absolute path that each cell of a recording prints, by its number.

    What libraries write to the error stream is left out: no author can change it.
    """
    paths: dict[int, str] = {}
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.outputs:
            text = output.get("data", {}).get("text/plain", "")
            if output.output_type == "stream" and output.name == "stdout":
                text = output.text
            match = _ABSOLUTE.search(text)
            if match:
                paths.setdefault(number, match[0])
    return paths


def join_streams(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Return outputs in which each progress bar appears once, where it was drawn last.

    A bar is drawn anew from the start of its line, even if something else was printed in between.
    Consecutive outputs of one stream become one output.
    """
    outputs = list(outputs)
    last_of_stream: dict[str, NotebookNode] = {}
    for output in outputs:
        if output.output_type != "stream":
            continue
        previous = last_of_stream.get(output.name)
        if previous is not None and output.text.startswith("\r"):
            line_start = previous.text.rfind("\n") + 1
            previous.text = previous.text[:line_start]  # all of it if its last line is complete
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
    """Return outputs without printed lines that match a pattern, and without blank streams.

    In patterns, ``*``, ``?`` and ``[...]`` are wildcards as in names of files.
    """

    def is_kept(line: str) -> bool:
        text = line.rstrip("\n")
        return not any(fnmatchcase(text, pattern) for pattern in patterns)

    kept_outputs = []
    for output in outputs:
        if output.output_type == "stream":
            lines = output.text.splitlines(keepends=True)
            output.text = "".join(filter(is_kept, lines))
            if not output.text.strip():
                continue
        kept_outputs.append(output)
    return kept_outputs


def _map_strings(value: Any, clean: Callable[[str], str]) -> Any:
    """Return a JSON value with all its strings cleaned, including the names of members."""
    if isinstance(value, dict):
        return {clean(name): _map_strings(member, clean) for name, member in value.items()}
    if isinstance(value, list):
        return [_map_strings(item, clean) for item in value]
    if isinstance(value, str):
        return clean(value)
    return value


def _any_of(values: Iterable[str]) -> str:
    """Return a pattern for any of the values, the longest first; without values it fits nothing."""
    longest_first = sorted(map(re.escape, values), key=len, reverse=True)
    return "|".join(longest_first) or r"(?!)"

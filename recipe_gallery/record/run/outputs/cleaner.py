"""Clean what a kernel printed: what a reader wants, and the same bytes for the same results."""

import getpass
import html
import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .terminal import render

# A path begins here, and not in the middle of another one, of an address or of a word.
_BEGIN = r"(?:(?<![A-Za-z0-9_./~@%+\\$}*-])|(?<=file://)|(?<=[\s'\"]-[A-Za-z])|(?<=\\[nrt]))"
_END = r"(?![\w-]|\.\w)"
_PATH = re.compile(rf"{_BEGIN}/[^\s'\"<>:;,|()]+")
_CELL = re.compile(r"\A.*/ipykernel_\d+/\d+\.py")  # IPython's file for a cell
_LIBRARY = re.compile(r"\A.*/(?:(?:site|dist)-packages|lib/python3\.\d+)/")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# What a folder has to be called by to be told apart: others are of no machine.
_COMMON = {"", "/", "/usr", "/usr/local", "/opt", "/tmp", "/var/tmp"}
_SHORTEST_SECRET = 8  # characters; shorter values may well be words


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What is of the machine and the person that record, and not of the result."""

    home: str
    prefix: str  # of this Python's environment
    temporary: str
    host: str
    user: str

    @classmethod
    def find(cls) -> "Machine":
        """Return what is known of this machine; what is not known is empty."""

        def ask(function: Callable[[], object]) -> str:
            try:
                return str(function())
            except (OSError, KeyError, ImportError, RuntimeError):
                return ""  # a user without an entry or a home, as in some containers

        return cls(
            home=ask(Path.home),
            prefix=sys.prefix,
            temporary=ask(tempfile.gettempdir),
            host=ask(socket.gethostname),
            user=ask(getpass.getuser),
        )


class Cleaner:
    """Cleans the outputs of one recipe's cells."""

    def __init__(
        self,
        *,
        hidden: Iterable[Path],
        drop: Iterable[re.Pattern[str]] = (),
        secrets: Iterable[str] = (),
        machine: Machine | None = None,
    ) -> None:
        """Prepare to clean.

        Folders that are ``hidden`` are cut off. Lines that begin like one of ``drop`` are left out.
        Values that are ``secrets`` become stars, if they have 8 characters or more.
        """
        self._machine = machine or Machine.find()
        self._drop = tuple(drop)
        places = {self._machine.home: "~", self._machine.prefix: "..."}
        places[self._machine.temporary] = "/tmp"
        places |= {str(folder): "" for folder in hidden}
        # where links lead as well: systems tell of folders in both ways
        places = {os.path.realpath(old): new for old, new in places.items() if old} | places
        self._places = {old: new for old, new in places.items() if old not in _COMMON}
        self._folders = re.compile(
            f"{_BEGIN}(?P<folder>{_any_of(self._places)})(?:(?P<slash>/)|{_END})"
        )
        long = {each for each in secrets if len(each) >= _SHORTEST_SECRET}
        self._secrets = re.compile(_any_of(long | {html.escape(each) for each in long}))
        self._host = _host_pattern(self._machine)

    def clean_text(self, text: str) -> str:
        """Return text as a reader would see it in a terminal that shows no colours."""
        return self._shorten(render(text), "<cell>")

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
                output.metadata = _each_string(output.metadata, self._name_places)
                output.data = {
                    mime: self._clean_data(mime, value) for mime, value in output.data.items()
                }
        return [each for each in joined if each.output_type != "stream" or each.text.strip()]

    def _clean_data(self, mime: str, value: Any) -> Any:
        """Return what an object is shown as, under one MIME type."""
        if mime == "text/plain" and isinstance(value, str):
            return self.clean_text(value)
        if mime.startswith("text/") and isinstance(value, str):
            cell = html.escape("<cell>") if mime == "text/html" else "<cell>"
            return _without_styles(self._shorten(_CONTROL.sub("", value), cell))
        # base64 has slashes, and no places
        clean = self._name_places if mime.endswith(("json", "xml")) else self._hide_secrets
        return _each_string(value, clean)

    def _hide_secrets(self, text: str) -> str:
        return self._secrets.sub("***", text)

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

        text = self._name_places(_PATH.sub(shorten_path, text))
        text = self._host.sub(lambda found: "user@host" if found["user"] else "host", text)
        return _ADDRESS.sub("0x...", text)


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


def _host_pattern(machine: Machine) -> re.Pattern[str]:
    """Return what finds the name of the machine, if it is one that no text has by chance."""
    if not re.fullmatch(r"(?=.*[A-Za-z])(?=.*\d)[\w.-]{8,}", machine.host):
        return re.compile(r"(?P<user>)(?!)")
    user = re.escape(machine.user) or r"(?!)"
    return re.compile(rf"(?<![\w.-])(?P<user>{user}@)?{re.escape(machine.host)}(?![\w-])")


def _without_styles(text: str) -> str:
    """Return HTML without the styles that pandas puts before each table."""
    kept, *others = text.split("<style scoped>")
    parts = [kept]
    for other in others:
        style, end, rest = other.partition("</style>")
        parts.append(rest.lstrip() if end else f"<style scoped>{style}")
    return "".join(parts)

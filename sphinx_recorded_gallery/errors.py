"""Errors as people see them: one line with place, fault and remedy."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import traceback
from pathlib import Path

from docutils.utils import SystemMessage
from sphinx.errors import SphinxError

_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)  # as git marks it

# Control characters, marks of direction, and characters that look like line breaks: fewer than
# those that translate/hidden_characters.py finds in a translation
_UNSAFE_IN_TERMINAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Return an untrusted text for a terminal: invisible characters become ``<U+001B>``."""
    return _UNSAFE_IN_TERMINAL.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def visible_line(text: str) -> str:
    """Return an untrusted text as one line for a terminal.

    The name of a file may hold a line break, and a workflow obeys lines such as ``::error::``.
    """
    return visible(text).replace("\n", "<U+000A>")


class GalleryError(SphinxError):
    """A mistake that a person can correct; shown as one line, without a traceback.

    ``path`` and ``line`` (counted from 1) are its place, ``text`` says what is wrong and ``remedy``
    what to do. ``str()`` puts them together: ``path:line: text; remedy``. It is one of Sphinx's
    errors, so that a failing build prints this line, too.
    """

    category = "error"

    def __init__(
        self, text: str, *, path: Path | None = None, line: int | None = None, remedy: str = ""
    ) -> None:
        super().__init__(text)
        self.text = text
        self.path = path
        self.line = line
        self.remedy = remedy

    def __str__(self) -> str:
        return self.describe()

    def describe(self, root: Path | None = None) -> str:
        """Return the line; paths below ``root`` are shown relative to it."""
        place = ""
        if self.path:
            path = self.path
            if root and path.is_relative_to(root):
                path = path.relative_to(root)
            name = visible_line(str(path))
            place = f"{name}:{self.line}: " if self.line else f"{name}: "
        line = f"{place}{self.text}"
        if self.remedy:
            line += f"; {self.remedy}"
        return visible(line)


def not_utf8(path: Path, data: bytes) -> GalleryError | None:
    """Return the error of a file that is not UTF-8, which Python tells without file and line.

    ``data`` is what the file holds. Returns None if it is UTF-8.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
        line = data.count(b"\n", 0, error.start) + 1
        return GalleryError(text, path=path, line=line, remedy="save the file in UTF-8")
    return None


def null_byte(path: Path, text: str, first_line: int = 1) -> GalleryError | None:
    """Return the error of a null byte in a text, of which Python does not tell the line.

    ``text`` begins in ``first_line`` of the file. Returns None if it has none.
    """
    before, byte, _behind = text.partition("\0")
    if not byte:
        return None
    line = first_line + before.count("\n")
    return GalleryError("a null byte", path=path, line=line, remedy="remove it, or save in UTF-8")


def merge_conflict(path: Path, text: str, first_line: int = 1) -> GalleryError | None:
    """Return the error of a conflict that git has marked in a text and nobody has resolved.

    ``text`` begins in ``first_line`` of the file. Returns None if it has none.
    """
    conflict = _CONFLICT.search(text)
    if conflict is None:
        return None
    line = first_line + text.count("\n", 0, conflict.start())
    remedy = "keep one side and remove the lines of git"
    return GalleryError("an unresolved merge conflict", path=path, line=line, remedy=remedy)


def describe_error(error: BaseException, name: str = "") -> str:
    """Return an error as one line, with paths relative to the current folder.

    ``name`` is put before errors that do not name their place themselves. An unforeseen error is a
    defect: its traceback is saved in a file that the line names.
    """
    inner = getattr(error, "orig_exc", None)
    if isinstance(inner, Exception) and not isinstance(inner, ImportError):
        error = inner  # raised in a listener; Sphinx's own text only names the listener
    before = ""
    if name and not isinstance(error, GalleryError):
        before = f"{name}: "
    if isinstance(error, OSError):
        file_name = error.filename2 or error.filename
        path = Path(file_name) if isinstance(file_name, str) else None
        text = error.strerror or str(error) or type(error).__name__
        error = GalleryError(text, path=path, remedy="mend it and run the command again")
    if isinstance(error, GalleryError):
        return before + error.describe(Path.cwd())
    text = visible(" ".join(str(error).split()))
    text = text.removeprefix(
        f"{__name__}.GalleryError: "
    )  # added when another process read the page
    if isinstance(error, SphinxError | SystemMessage):
        return before + text
    place = ""
    frames = traceback.extract_tb(error.__traceback__)
    if frames:
        place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}"
    with tempfile.NamedTemporaryFile(
        "w", prefix="recorded-gallery-", suffix=".log", errors="backslashreplace", delete=False
    ) as file:
        traceback.print_exception(error, file=file)
    unexpected = f"unexpected {type(error).__name__}{place}: {text}"
    return f"{before}{unexpected}; please report it with {file.name}"


def suggest(command: str, argument: str = "", *options: str) -> str:
    """Return a command for a person to type: ``recorded-gallery record adding --force``.

    ``argument`` is quoted, so that the line can be pasted into a shell whatever a file is called;
    ``options`` are not. The program is named as it was started, and ``--root`` is repeated. The
    command line keeps both in environment variables, which the builds that it starts inherit.
    """
    program = os.environ.get("RECORDED_GALLERY_PROGRAM", "recorded-gallery")
    root = os.environ.get("RECORDED_GALLERY_ROOT", ".")
    root_option = [] if root == "." else ["--root", shlex.quote(root)]
    words = [program, command, *options, *root_option]
    if argument.startswith("-"):  # a name that looks like an option
        words += ["--", shlex.quote(argument)]
    elif argument:
        words.insert(2, shlex.quote(argument))
    return " ".join(words)


def suggest_record(name: str = "", *options: str, on_gpu: bool | None = None) -> str:
    """Return the command that records an example on a suitable device.

    ``on_gpu`` is the device of its current recording; None if there is no recording. Then the GPU
    is chosen if the project asks for it and NVIDIA's driver is installed.
    """
    default = os.environ.get("RECORDED_GALLERY_DEVICE")  # set by the command line
    if on_gpu is None:
        on_gpu = default == "gpu" and has_driver()
    device = "gpu" if on_gpu else "cpu"
    if default and device != default:
        options = (*options, f"--device {device}")
    return suggest("record", name, *options)


def suggest_recording_again(name: str, *, on_gpu: bool) -> str:
    """Return the remedy for a stale recording; ``on_gpu`` tells where it was made."""
    remedy = f"run: {suggest_record(name, on_gpu=on_gpu)}"
    if on_gpu and not has_driver():
        return f"on a machine with a GPU, {remedy}"
    return remedy


def has_driver() -> bool:
    """Return whether NVIDIA's driver is installed; asking it for GPUs would take longer."""
    return shutil.which("nvidia-smi") is not None

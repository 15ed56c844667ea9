"""Errors as people see them: one line that says what is wrong, where, and what to do."""

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

# What a terminal obeys, what turns the direction of writing, and what only looks like a line break
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Return a text of others, such as of a catalog, as it may be printed: ``<U+001B>``."""
    return _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def visible_line(text: str) -> str:
    """Return a text of others as one line: in a workflow, GitHub obeys lines such as ``::error::``.

    A name of a file can hold a line break.
    """
    return visible(text).replace("\n", "<U+000A>")


class GalleryError(SphinxError):
    """A mistake that a person can mend; shown as one line, without a traceback.

    ``path`` and ``line`` (counted from 1) say where it is, ``text`` what is wrong and ``remedy``
    what to do. ``str()`` puts them together: ``path:line: text; remedy``. It is one of Sphinx's
    errors, so that a build that ends in it prints this line, too.
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
            shown = self.path
            if root and shown.is_relative_to(root):
                shown = shown.relative_to(root)
            name = visible_line(str(shown))
            place = f"{name}:{self.line}: " if self.line else f"{name}: "
        return visible(f"{place}{self.text}" + (f"; {self.remedy}" if self.remedy else ""))


def describe_error(error: BaseException, name: str = "") -> str:
    """Return what went wrong in one line, paths relative to the current folder.

    ``name`` says with what, where the error does not say so itself. An error that nobody foresaw is
    a defect: its traceback is kept in a file that the line names.
    """
    inner = getattr(error, "orig_exc", None)
    if isinstance(inner, Exception) and not isinstance(inner, ImportError):
        error = inner  # of a hook; Sphinx's text around it names the hook only
    before = f"{name}: " if name and not isinstance(error, GalleryError) else ""
    if isinstance(error, OSError):
        named = error.filename2 or error.filename
        path = Path(named) if isinstance(named, str) else None
        text = error.strerror or str(error) or type(error).__name__
        error = GalleryError(text, path=path, remedy="mend it and run the command again")
    if isinstance(error, GalleryError):
        return before + error.describe(Path.cwd())
    text = visible(" ".join(str(error).split()))
    text = text.removeprefix(f"{__name__}.GalleryError: ")  # of a page that another process read
    if isinstance(error, SphinxError | SystemMessage):
        return before + text
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    with tempfile.NamedTemporaryFile(
        "w", prefix="recorded-gallery-", suffix=".log", errors="backslashreplace", delete=False
    ) as file:
        traceback.print_exception(error, file=file)
    unexpected = f"unexpected {type(error).__name__}{place}: {text}"
    return f"{before}{unexpected}; please report it with {file.name}"


def suggest(command: str, argument: str = "", *options: str) -> str:
    """Return what a person should type: ``recorded-gallery record adding --force``.

    ``argument`` is quoted, so the line can be pasted into a shell whatever the name of a stranger's
    recipe is; ``options`` are not. The program is named as it was started, and the folder given as
    ``--root`` is repeated. The command line keeps both in variables, which
    the builds that it starts see, too.
    """
    program = os.environ.get("RECORDED_GALLERY_PROGRAM", "recorded-gallery")
    root = os.environ.get("RECORDED_GALLERY_ROOT", ".")
    given = [] if root == "." else ["--root", shlex.quote(root)]
    if argument.startswith("-"):  # a name, no option
        return " ".join([program, command, *options, *given, "--", shlex.quote(argument)])
    named = shlex.quote(argument) if argument else ""
    return " ".join(filter(None, [program, command, named, *options, *given]))


def suggest_record(name: str = "", *options: str, on_gpu: bool | None = None) -> str:
    """Return the command that records an example on a device where it can.

    ``on_gpu`` tells which device made its recording; None if there is none. Then the GPU is chosen
    where the project asks for it and NVIDIA's driver is installed.
    """
    default = os.environ.get("RECORDED_GALLERY_DEVICE")  # kept by the command line
    if on_gpu is None:
        on_gpu = default == "gpu" and has_driver()
    device = "gpu" if on_gpu else "cpu"
    if default and device != default:
        options = (*options, f"--device {device}")
    return suggest("record", name, *options)


def has_driver() -> bool:
    """Tell whether NVIDIA's driver is installed; asking it for GPUs would take a while."""
    return shutil.which("nvidia-smi") is not None

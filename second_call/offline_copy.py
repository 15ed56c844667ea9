"""A zip of the built pages of a language, for readers without a connection.

The pages load nothing from elsewhere, so they look the same when they are opened from a folder.
Only the links to the other languages lead nowhere there.
"""

from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sphinx.application import Sphinx

_SUFFIX = ".zip"
_DATE = (1980, 1, 1, 0, 0, 0)  # of every file, so that the same pages make the same zip


def describe_copy(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Give templates ``offline_copy``, the address of the zip from a page."""
    if app.builder.name == "html":
        context["offline_copy"] = context["pathto"](name_copy(app), 1)


def write_copy(app: Sphinx, exception: Exception | None) -> None:
    """Write the zip beside the pages, after everything else that a reader opens."""
    if exception or app.builder.name != "html":
        return
    folder = name_copy(app).removesuffix(_SUFFIX)
    with ZipFile(app.outdir / name_copy(app), "w", ZIP_DEFLATED) as copy:
        for path in _list_files(app):
            name = f"{folder}/{path.relative_to(app.outdir).as_posix()}"
            info = ZipInfo(name, _DATE)
            info.compress_type = ZIP_DEFLATED
            copy.writestr(info, path.read_bytes())


def name_copy(app: Sphinx) -> str:
    """Return the name of the zip, such as second-call-ko.zip."""
    project = app.config.project.lower().replace(" ", "-")
    return f"{project}-{app.config.language}{_SUFFIX}"


def _list_files(app: Sphinx) -> list[Path]:
    """Return the files of the built pages, without the zip and what only Sphinx reads."""
    files = []
    for path in sorted(Path(app.outdir).rglob("*")):
        is_sphinxs_own = path.name.startswith(".") or path.is_relative_to(app.doctreedir)
        is_zip = path.name == name_copy(app)
        if path.is_file() and not path.is_symlink() and not is_sphinxs_own and not is_zip:
            files.append(path)
    return files

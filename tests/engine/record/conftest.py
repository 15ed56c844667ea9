import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.record.explain_failure import UndefinedNameError
from sphinx_recorded_gallery.record.gpu_facts import VISIBLE, Gpu
from sphinx_recorded_gallery.record.kernel import Run
from tests.helpers.gallery import Gallery


@pytest.fixture
def _run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run cells in this process: for tests of what comes before and after, a kernel is too slow.

    It keeps what is printed and what `display` is given, and tells errors as a kernel does.
    """

    async def execute(run: Run, on_cell: Callable[[int], None]) -> NotebookNode:
        notebook = nbformat.v4.new_notebook()
        names: dict[str, Any] = {"__file__": run.recipe.path.name}
        cells = run.recipe.cells
        with monkeypatch.context() as patch:
            patch.chdir(run.folder / "work")
            patch.setattr(os, "environ", dict(run.environment))
            for cell in cells:
                on_cell(cell.number)
                node = nbformat.v4.new_code_cell(cell.code)
                notebook.cells.append(node)
                shown = node.outputs
                patch.setattr("IPython.display.display", lambda data, raw, to=shown: show(data, to))
                printed = io.StringIO()
                try:
                    with contextlib.redirect_stdout(printed):
                        exec(cell.code, names)
                except Exception as error:
                    place = f"cell {cell.number} of {len(cells)}"
                    text = f"{place} failed: {type(error).__name__}: {error}"
                    kind = UndefinedNameError if isinstance(error, NameError) else GalleryError
                    raise kind(
                        text,
                        path=run.recipe.path,
                        line=cell.line,
                        remedy="mend the example\n    the traceback",
                    ) from None
                if text := printed.getvalue():
                    shown.append(nbformat.v4.new_output("stream", name="stdout", text=text))
        return notebook

    def show(data: dict[str, Any], outputs: list[NotebookNode]) -> None:
        outputs.append(nbformat.v4.new_output("display_data", data))

    monkeypatch.setattr(Run, "execute", execute)


@pytest.fixture
def check(gallery: Gallery, capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, str]]:
    """Runs `check`; returns its status and what it printed."""

    def run() -> tuple[int, str]:
        folders = ["--root", str(gallery.root), "--recordings-folder", str(gallery.recordings)]
        status = main(["check", *folders])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


@pytest.fixture
def _own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no other test, of this run or another, from the GPU that a test pretends to have."""
    monkeypatch.setattr(Gpu, "lock", property(lambda gpu: tmp_path / f"{gpu.identity}.lock"))


PutTool = Callable[[str], Path]


@pytest.fixture
def put_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PutTool:
    """Puts a shell script in the place of nvidia-smi; returns where it keeps what it is asked.

    No tool of this machine is found, and no GPU is chosen.
    """
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("sh", "sleep", "cat", "touch"):
        (folder / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv(VISIBLE, raising=False)

    def put(script: str) -> Path:
        asked = folder / "asked"
        program = folder / "nvidia-smi"
        program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n{script}\n')
        program.chmod(0o755)
        return asked

    return put

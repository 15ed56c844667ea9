"""Recordings: executed notebooks, one per recipe, and whether they still fit their recipe.

A recording is a notebook of code cells with outputs. Under ``metadata.recording`` it carries what
the recipe's code was (fingerprints) and how it was run (provenance).
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..project import GalleryError, suggest
from .recipe import Cell, Recipe

if TYPE_CHECKING:
    from nbformat import NotebookNode

SCHEMA = 1
# What recipes publish for programs, under MIME types that begin so; notebooks leave it out.
PUBLISHED_MIME = "application/vnd.recipe-gallery."


@dataclass(frozen=True, kw_only=True)
class Recording:
    """An executed notebook that was read and found whole."""

    path: Path
    notebook: NotebookNode

    @property
    def facts(self) -> dict[str, Any]:
        """Fingerprints and provenance of the whole recording."""
        facts: dict[str, Any] = self.notebook.metadata.recording
        return facts

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU ran it."""
        return bool(self.facts["device"].get("gpu"))

    @property
    def device_name(self) -> str:
        """The GPU that ran it, or else the CPU."""
        device = self.facts["device"]
        return str(device.get("gpu") or device["cpu"])

    @property
    def recorded(self) -> datetime:
        """When it was made."""
        return datetime.fromisoformat(self.facts["recorded"])

    def published(self, mime: str) -> list[Any]:
        """Return the JSON values that the recipe displayed under a MIME type, in order."""
        return find_published(self.notebook, mime)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How a recording stands to the recipe as it is now."""

    recorded: dict[int, NotebookNode]  # recorded cell by the number of the recipe's cell
    changed: tuple[Cell, ...]  # cells of the recipe with no recording of the same code
    removed: int  # recorded cells that the recipe no longer has
    inputs: tuple[str, ...]  # declared input files that changed

    @property
    def is_current(self) -> bool:
        """Whether code and inputs are those that were recorded."""
        return not (self.changed or self.removed or self.inputs)

    def describe(self) -> str:
        """Say what differs, for a person who has to decide whether to record again."""
        parts = []
        if self.changed:
            cells = [f"{cell.number} (line {cell.line})" for cell in self.changed]
            more = f" and {len(cells) - 5} more" if len(cells) > 5 else ""
            parts.append(f"changed code in cell {', '.join(cells[:5])}{more}")
        if self.removed:
            parts.append(f"{self.removed} recorded cell(s) no longer in the recipe")
        if self.inputs:
            parts.append("changed input " + ", ".join(self.inputs))
        return "; ".join(parts)


def read_recording(path: Path, name: str = "") -> Recording:
    """Read the recording of the recipe ``name``; without one, of a recipe called as the file.

    Raises ``GalleryError`` if the file is damaged or something else.
    """
    again = f"run: {suggest('record', name or path.stem, '--force')}"
    remedy = f"restore it from git or {again}"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        remedy = f"run: {suggest('record', name or path.stem)}"
        raise GalleryError("no recording", path=path, remedy=remedy) from None
    except (OSError, UnicodeDecodeError) as error:
        raise GalleryError(f"cannot be read: {error}", path=path, remedy=remedy) from None
    import nbformat  # slow to import, and not needed where nothing changed

    try:
        notebook = nbformat.v4.reads_json(text)
        _check_cells(notebook["cells"])
        facts = notebook.metadata["recording"]
        if facts["schema"] != SCHEMA:
            text = f"recorded in format {facts['schema']}, this version reads {SCHEMA}"
            raise GalleryError(text, path=path, remedy=again)
        its_own = facts["recipe"].rpartition("/")[2] == path.stem
        if not its_own or facts["recipe"] != (name or facts["recipe"]):
            remedy = f"name it {facts['recipe']}.ipynb or {again}"
            raise GalleryError(
                f"holds the recording of {facts['recipe']!r}", path=path, remedy=remedy
            )
        _check_facts(facts)
        if len(facts["cells"]) != len(notebook.cells):
            raise GalleryError("cells are missing from this recording", path=path, remedy=remedy)
    except json.JSONDecodeError:
        text = "not a whole notebook (invalid JSON)"
        raise GalleryError(text, path=path, remedy=remedy) from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise GalleryError("not a recording made here", path=path, remedy=remedy) from None
    return Recording(path=path, notebook=notebook)


def compare(recipe: Recipe, recording: Recording) -> Comparison:
    """Match the recipe's cells with the recorded ones, in order, by their code alone."""
    now = [cell.fingerprint for cell in recipe.cells]
    then = list(recording.facts["cells"])
    recorded = {}
    for block in difflib.SequenceMatcher(a=now, b=then, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            number = recipe.cells[block.a + offset].number
            recorded[number] = recording.notebook.cells[block.b + offset]
    inputs_then, inputs_now = recording.facts["inputs"], recipe.inputs
    return Comparison(
        recorded=recorded,
        changed=tuple(cell for cell in recipe.cells if cell.number not in recorded),
        removed=len(then) - len(recorded),
        inputs=tuple(
            name
            for name in sorted(inputs_then.keys() | inputs_now.keys())
            if inputs_then.get(name) != inputs_now.get(name)
        ),
    )


def _check_cells(cells: list[NotebookNode]) -> None:
    """Raise an error unless pages and notebooks can be made from these cells.

    What was written is valid by nbformat's schema; checking that again for every page would take
    longer than making the page.
    """
    for cell in cells:
        if cell["cell_type"] != "code":
            raise ValueError(cell["cell_type"])
        _ = cell["metadata"], cell["source"], cell["execution_count"]
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                _ = output["name"], "".join(output["text"])
            elif output["output_type"] == "error":
                _ = output["ename"], output["evalue"], "".join(output["traceback"])
            else:
                _ = output["data"].items(), output["metadata"].items()


def _check_facts(facts: dict[str, Any]) -> None:
    """Raise an error unless all that is told of a recording is there and of the right kind."""
    for name, kind in (("device", dict), ("versions", dict), ("inputs", dict), ("cells", list)):
        if not isinstance(facts[name], kind):
            raise TypeError(name)
    for name in ("commit", "modified"):
        _ = facts[name]
    _ = facts["device"]["cpu"], facts["device"]["cores"]
    datetime.fromisoformat(facts["recorded"])
    float(facts["seconds"])


def find_published(notebook: NotebookNode, mime: str) -> list[Any]:
    """Return the JSON values that cells of ``notebook`` displayed under a MIME type, in order."""
    return [
        output["data"][mime]
        for cell in notebook.cells
        for output in cell.outputs
        if mime in output.get("data", {})
    ]

"""Recordings: executed notebooks, one per recipe, and what makes one stale.

A recording is a notebook of code cells with outputs. Under ``metadata.recording`` it carries what
the recipe's code was (fingerprints) and how it was run (provenance). Hashes tell a changed
byte. A recording may come from a stranger: unless a gallery trusts those that it has, what is read
is harmless on a page.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GalleryError, suggest
from .pictures import SUFFIXES, read_picture
from .recipe import Cell, Recipe

if TYPE_CHECKING:
    from nbformat import NotebookNode

SCHEMA = 1
# What recipes publish for programs, under MIME types that begin so; notebooks leave it out.
PUBLISHED_MIME = "application/vnd.recipe-gallery."

# What has to be there, and of which type it is, for a page to be made.
_FACTS: dict[str, Any] = {"device": dict, "versions": dict, "inputs": dict, "cells": list}
_FACTS |= {"recorded": str, "seconds": int | float, "commit": object, "modified": object}
_CELL = {"metadata": dict, "source": str, "execution_count": object, "outputs": list}
_DATA = {"data": dict, "metadata": dict}
_OUTPUTS: dict[str, dict[str, Any]] = {
    "stream": {"name": str, "text": str},
    "error": {"ename": str, "evalue": str, "traceback": list},
}


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
        return name_device(self.facts["device"])

    def find_broken_picture(self) -> str:
        """Return which picture cannot be opened, and why, or "". It takes 10 ms a picture."""
        for number, data in find_data(self.notebook):
            for mime in SUFFIXES.keys() & data.keys():
                try:
                    read_picture(mime, data[mime])
                except ValueError as error:
                    return f"the picture of cell {number} {error}"
        return ""

    @property
    def recorded(self) -> datetime:
        """When it was made."""
        return datetime.fromisoformat(self.facts["recorded"])


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
        # Of a cell that changed, what was recorded is not in the recipe either: that is told.
        if (gone := self.removed - len(self.changed)) > 0:
            cells_are = "cell is" if gone == 1 else "cells are"
            parts.append(f"{gone} recorded {cells_are} no longer in the recipe")
        if self.inputs:
            parts.append("changed input " + ", ".join(self.inputs))
        return "; ".join(parts)


def read_recording(
    path: Path, name: str = "", former: str = "", *, trusted: bool = False
) -> Recording:
    """Read the recording of the recipe ``name``; without one, of a recipe called as the file.

    A recording may also hold the name ``former``, by which the recipe was called before. Where it
    is not ``trusted``, what it shows is made harmless.
    Raises ``GalleryError`` if the file is damaged or something else.
    """
    again = f"run: {suggest('record', name or path.stem, '--force')}"

    def wrong(text: str, remedy: str = "") -> GalleryError:
        return GalleryError(text, path=path, remedy=remedy or advise(name or path.stem))

    if path.exists() and not path.is_file():  # reading a pipe would never end
        raise wrong("not a file", f"remove it and {again}")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise wrong("no recording", f"run: {suggest('record', name or path.stem)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise wrong(f"cannot be read: {error}") from None
    import nbformat  # slow to import, and not needed where nothing changed

    from .harmless import make_harmless, read_svg
    from .hashes import take_hash

    try:
        notebook = nbformat.v4.reads_json(text)
        facts = notebook.metadata["recording"]
        schema, recipe = facts["schema"], facts["recipe"]
        if schema != SCHEMA:
            raise wrong(f"recorded in format {schema}, this version reads {SCHEMA}", again)
        if recipe not in (name or recipe, former) or recipe.rpartition("/")[2] != path.stem:
            raise wrong(f"holds the recording of {recipe!r}", f"name it {recipe}.ipynb or {again}")
        if change := take_hash(notebook):
            raise wrong(change)
        _check(notebook, facts, text)
        if len(facts["cells"]) != len(notebook.cells):
            raise wrong("cells are missing from this recording")
        for number, data in find_data(notebook):
            try:
                if not trusted:
                    make_harmless(data)
                elif "image/svg+xml" in data:
                    read_svg(data["image/svg+xml"])
            except ValueError as error:
                raise wrong(f"the picture of cell {number} {error}") from None
    except json.JSONDecodeError:
        if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE):
            keep = "keep that of one side: git checkout --ours or --theirs, and this file; or "
            keep += again
            raise wrong("a conflict that git left here", keep) from None
        raise wrong("not a whole notebook (invalid JSON)") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise wrong("not a recording made here") from None
    return Recording(path=path, notebook=notebook)


def advise(name: str) -> str:
    """Return what to do about a damaged recording of the recipe ``name``."""
    return f"restore it from git or run: {suggest('record', name, '--force')}"


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
    inputs = {**inputs_then, **inputs_now}
    return Comparison(
        recorded=recorded,
        changed=tuple(cell for cell in recipe.cells if cell.number not in recorded),
        removed=len(then) - len(recorded),
        inputs=tuple(
            name for name in sorted(inputs) if inputs_then.get(name) != inputs_now.get(name)
        ),
    )


def _check(notebook: NotebookNode, facts: dict[str, Any], text: str) -> None:
    """Raise an error unless pages and notebooks can be made from what was read.

    What was written is valid by nbformat's schema; checking that again for every page would take
    longer than making the page.
    """
    _require(facts, _FACTS)
    device = facts["device"]
    _require(device, {"cpu": object, "cores": object})
    names = device.get("gpu"), device["cpu"], facts.get("host")
    if not all(str(each).isprintable() for each in names):  # they are told on terminals, too
        raise ValueError(names)
    if datetime.fromisoformat(facts["recorded"]).tzname() != "UTC":  # others compare with none
        raise ValueError(facts["recorded"])
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            raise ValueError(cell["cell_type"])
        _require(cell, _CELL)
        for output in cell["outputs"]:
            _require(output, _OUTPUTS.get(output["output_type"], _DATA))
            for mime, value in output.get("data", {}).items():
                if not (isinstance(value, str) or mime.endswith("json")):
                    raise TypeError(mime)
    if "\\ud" in text or "\\uD" in text:  # half of a character, perhaps, which no page can hold
        json.dumps(notebook, ensure_ascii=False).encode()


def find_data(notebook: NotebookNode) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what is displayed, by MIME type, with the number of its cell."""
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.outputs:
            if "data" in output:
                yield number, output.data


def _require(values: dict[str, Any], kinds: dict[str, Any]) -> None:
    for name, kind in kinds.items():
        if not isinstance(values[name], kind):
            raise TypeError(name)


def name_device(device: Mapping[str, Any]) -> str:
    """Return what ran a recipe: the GPU, or else the CPU."""
    return str(device.get("gpu") or device["cpu"])

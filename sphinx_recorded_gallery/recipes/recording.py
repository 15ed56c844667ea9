"""Recordings: executed notebooks, one per recipe, and what makes one stale.

A recording is a notebook of code cells with outputs. Under ``metadata.recording`` it carries what
the recipe's code was (fingerprints) and how it was run (provenance). A hash guards against
accidents: a merge gone wrong, a tool that rewrites notebooks, a broken disk. Who wants to forge a
recording can compute it, too; against that only the history in git helps. A recording may come from
a stranger: unless a gallery trusts those that it has, what is read is harmless on a page.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic_files import ensure_regular_file
from ..errors import GalleryError, suggest_record, visible
from .mime_types import PICTURES
from .recipe import Cell, Recipe

if TYPE_CHECKING:
    from nbformat import NotebookNode

SCHEMA = 1


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

    @property
    def recorded(self) -> datetime:
        """When it was made."""
        return datetime.fromisoformat(self.facts["recorded"])

    def name_versions(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the versions of Python and packages, by the names that readers see.

        ``names`` has these by the names that packages are installed under.
        """
        names = {"python": "Python", **names}
        versions = self.facts["versions"].items()
        return {names.get(package, package): version for package, version in versions}

    def describe_versions(self, names: Mapping[str, str]) -> str:
        """Return the versions that are known, such as ``Python 3.11.9, NumPy 2.4.1``."""
        versions = self.name_versions(names)
        return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


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
        own = [cell for cell in self.changed if cell.inlined is None]
        if own:
            cells = ", ".join(f"{cell.number} (line {cell.line})" for cell in own)
            parts.append(f"changed code in cell {cells}")
        for cell in self.changed:
            if cell.inlined:  # the recipe itself may be as it was
                module = cell.inlined.path.name
                place = f"cell {cell.number} (line {cell.line})"
                parts.append(f"changed code in {module}, imported in {place}")
        if (gone := self.removed - len(self.changed)) > 0:
            parts.append(f"recorded cells that are no longer in the recipe: {gone}")
        if self.inputs:
            parts.append("changed input " + ", ".join(self.inputs))
        return "; ".join(parts)


def read_recording(path: Path, name: str = "", *, trusted: bool = False) -> Recording:
    """Read the recording of the recipe ``name``; without one, of a recipe called as the file.

    Where it is not ``trusted``, what it shows is made harmless. Raises ``GalleryError`` if the file
    is damaged or something else.
    """
    again = f"run: {suggest_record(name or path.stem, '--force')}"

    def wrong(text: str, remedy: str = f"restore it from git or {again}") -> GalleryError:
        return GalleryError(text, path=path, remedy=remedy)

    try:
        ensure_regular_file(path)
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise wrong("no recording", f"run: {suggest_record(name or path.stem)}") from None
    except (OSError, UnicodeDecodeError) as error:
        if path.is_dir():
            raise wrong("a folder is in its place", f"move it away and {again}") from None
        raise wrong(f"cannot be read: {getattr(error, 'strerror', error)}") from None
    import nbformat  # slow to import, and not needed where nothing changed

    from .sanitize import sanitize  # slow to import, too

    try:
        notebook = nbformat.v4.reads_json(text)
        facts = notebook.metadata["recording"]
        schema, recipe = facts["schema"], facts["recipe"]
        if type(schema) is not int or type(recipe) is not str:
            raise wrong("not a recording made here")
        if schema != SCHEMA:
            raise wrong(f"recorded in format {schema:.0f}, this version reads {SCHEMA}", again)
        # its folder may be another by now, as where a second gallery came: its code tells
        if recipe.rpartition("/")[2] != path.stem:
            raise wrong(f"holds the recording of {recipe!r}", f"name it {recipe}.ipynb or {again}")
        sealed = facts.pop("hash", "")
        if sealed != digest(notebook):
            changed = "was changed after it was recorded"
            raise wrong(changed if sealed else "carries no hash of what it holds")
        try:
            check_recording(notebook)
        except GalleryError as error:
            raise wrong(error.text) from None
        for number, data in () if trusted else find_data(notebook):
            try:
                sanitize(data)
            except ValueError as error:
                raise wrong(f"an output of cell {number} cannot be shown: {error}") from None
    except json.JSONDecodeError:
        if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE):
            keep = (
                f"keep that of one side: git checkout --ours or --theirs, and this file; or {again}"
            )
            raise wrong("a conflict that git left here", keep) from None
        raise wrong("not a whole notebook (invalid JSON)") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise wrong("not a recording made here") from None
    return Recording(path=path, notebook=notebook)


def check_recording(notebook: NotebookNode) -> None:
    """Raise ``GalleryError`` for a notebook that is not as recordings are.

    Who knows how can compute the hash of any. Pages rely on what this has looked at: types of all
    that they show, dates, texts that UTF-8 can hold, and pictures.
    """
    from .pictures import check_picture  # slow to import

    _check(notebook, "")
    facts = notebook.metadata["recording"]
    check_run(facts)
    if len(facts["cells"]) != len(notebook.cells):
        raise GalleryError("cells are missing from this recording")
    try:
        json.dumps(notebook, ensure_ascii=False).encode()
    except ValueError as error:
        raise GalleryError(f"not as a recording is: {error!s:.200}") from None
    for number, data in find_data(notebook):
        for mime in PICTURES.keys() & data.keys():
            try:
                check_picture(mime, data[mime])
            except ValueError as error:
                raise GalleryError(f"a picture of cell {number}, {mime}, {error}") from None


def check_run(facts: Mapping[str, Any]) -> None:
    """Raise ``GalleryError`` for provenance that no recorder writes, also of a replicate."""
    _check(facts, "run")
    try:
        datetime.fromisoformat(facts["recorded"])
        if not math.isfinite(facts["seconds"]):
            raise ValueError("seconds are no number")
    except ValueError as error:
        raise GalleryError(f"not as a recording is: {error!s:.200}") from None


def _check(value: object, name: str) -> None:
    """Raise ``GalleryError`` for what is not as the schema, or a definition of it, has it."""
    from fastjsonschema import JsonSchemaValueException  # slow to import

    try:
        _validator(name)(value)
    except JsonSchemaValueException as error:
        said = visible(error.message.removeprefix("data.").removeprefix("data "))
        raise GalleryError(f"not as a recording is: {said:.200}") from None


@cache
def _validator(name: str) -> Callable[[object], object]:
    import fastjsonschema  # slow to import, as is what it makes

    path = Path(__file__).with_name("recorded_notebook.schema.json")
    schema = json.loads(path.read_text(encoding="utf-8"))
    if name:
        schema = {"definitions": schema["definitions"], "$ref": f"#/definitions/{name}"}
    validate: Callable[[object], object] = fastjsonschema.compile(schema)
    return validate


def seal(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook as it is read from a file, with its hash."""
    import nbformat

    sealed = nbformat.v4.reads_json(nbformat.v4.writes_json(notebook))
    sealed.metadata.recording.pop("hash", None)
    sealed.metadata.recording["hash"] = digest(sealed)
    return sealed


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of a value of JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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


def find_data(notebook: NotebookNode) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what is displayed, by MIME type, with the number of its cell."""
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.outputs:
            if "data" in output:
                yield number, output.data


def name_device(device: Mapping[str, Any]) -> str:
    """Return what ran a recipe: the GPU, or else the CPU."""
    return visible(str(device.get("gpu") or device["cpu"]))

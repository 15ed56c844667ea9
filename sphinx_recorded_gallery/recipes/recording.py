"""Recordings: executed notebooks, one per recipe, and how they become stale.

A recording is a notebook of code cells with outputs. ``metadata.recording`` holds fingerprints of
the code and the provenance of the run. A hash guards against accidents: a failed merge, a tool that
rewrites notebooks, a broken disk. A forger can compute it, too; against that, only the history in
git helps. A recording may come from a stranger. A gallery that does not trust its recordings
(``recorded_gallery_trust_outputs = False``; the default is True) gets them sanitized when they are
read.
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
    """An executed notebook that was read and checked."""

    path: Path
    notebook: NotebookNode

    @property
    def facts(self) -> dict[str, Any]:
        """Fingerprints and provenance of the whole recording."""
        facts: dict[str, Any] = self.notebook.metadata.recording
        return facts

    @property
    def on_gpu(self) -> bool:
        """Whether it was made on a GPU."""
        return bool(self.facts["device"].get("gpu"))

    @property
    def device_name(self) -> str:
        """The GPU that it was made on, or else the CPU."""
        return name_device(self.facts["device"])

    @property
    def recorded(self) -> datetime:
        """The time at which it was made."""
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
    """A recording compared with the recipe as it is now."""

    recorded: dict[int, NotebookNode]  # recorded cell by the number of the recipe's cell
    changed: tuple[Cell, ...]  # cells of the recipe with no recording of the same code
    removed: int  # recorded cells in whose place the recipe has none, not even a changed one
    inputs: tuple[str, ...]  # declared input files that changed

    @property
    def is_current(self) -> bool:
        """Whether code and inputs have not changed since."""
        return not (self.changed or self.removed or self.inputs)

    def describe_as_stale(self) -> str:
        """Return that the recording is stale, and what differs: the problem of a page."""
        return f"stale recording: {self.describe()}"

    def describe(self) -> str:
        """Return the differences, for a person who decides whether to record again."""
        parts = []
        own_places = []
        module_parts = []
        for cell in self.changed:
            place = f"{cell.number} (line {cell.line})"
            if cell.inlined:  # the recipe itself may be unchanged
                module = cell.inlined.path.name
                module_parts.append(f"changed code in {module}, imported in cell {place}")
            else:
                own_places.append(place)
        if own_places:
            parts.append(f"changed code in cell {', '.join(own_places)}")
        parts += module_parts
        if self.removed:
            parts.append(f"recorded cells that the example no longer has: {self.removed}")
        if self.inputs:
            parts.append("changed input " + ", ".join(self.inputs))
        return "; ".join(parts)


def read_recording(path: Path, name: str = "", *, trusted: bool = False) -> Recording:
    """Return the recording of the recipe ``name``, by default of one named like the file.

    Unless it is ``trusted``, its outputs are sanitized. Raises ``GalleryError`` if the file is
    damaged or not a recording.
    """
    again = f"run: {suggest_record(name or path.stem, '--force')}"

    def damage(text: str, remedy: str = f"restore it from git or {again}") -> GalleryError:
        return GalleryError(text, path=path, remedy=remedy)

    try:
        ensure_regular_file(path)
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise damage("no recording", f"run: {suggest_record(name or path.stem)}") from None
    except (OSError, UnicodeDecodeError) as error:
        if path.is_dir():
            raise damage("a folder is in its place", f"move it away and {again}") from None
        raise damage(f"cannot be read: {getattr(error, 'strerror', error)}") from None
    import nbformat  # slow to import, and not needed where nothing changed

    from .sanitize import sanitize  # slow to import, too

    try:
        notebook = nbformat.v4.reads_json(text)
        facts = notebook.metadata["recording"]
        schema, recipe = facts["schema"], facts["recipe"]
        if type(schema) is not int or type(recipe) is not str:
            raise damage("not a recording made here")
        if schema != SCHEMA:
            raise damage(f"recorded in format {schema!s:.20}, this version reads {SCHEMA}", again)
        # Its folder may have changed, for example since there is a second gallery.
        if recipe.rpartition("/")[2] != path.stem:
            remedy = f"if the example was renamed, {again}; else name this file {recipe}.ipynb"
            raise damage(f"holds the recording of {recipe!r}", remedy)
        sealed = facts.pop("hash", "")
        if sealed != digest(notebook):
            if not sealed:
                raise damage("has no hash of its contents")
            raise damage("was changed after it was recorded")
        try:
            check_recording(notebook)
        except GalleryError as error:
            raise damage(error.text) from None
        if not trusted:
            for number, data in find_data(notebook):
                try:
                    sanitize(data)
                except ValueError as error:
                    text = f"an output of cell {number} cannot be shown: {error}"
                    raise damage(text) from None
    except json.JSONDecodeError:
        if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE):
            remedy = f"keep one side: git checkout --ours (or --theirs) and this file; or {again}"
            raise damage("an unresolved merge conflict", remedy) from None
        raise damage("not a whole notebook (invalid JSON)") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise damage("not a recording made here") from None
    return Recording(path=path, notebook=notebook)


def check_recording(notebook: NotebookNode) -> None:
    """Raise ``GalleryError`` for a notebook that is not a valid recording.

    A valid hash is no proof, since anybody can compute it. Pages rely on what is checked here: the
    types of all that they show, dates, texts that UTF-8 can encode, and pictures.
    """
    from .pictures import check_picture  # slow to import

    _check(notebook, "")
    facts = notebook.metadata["recording"]
    check_run(facts)
    if len(facts["cells"]) != len(notebook.cells):
        raise GalleryError("cells are missing in this recording")
    try:
        json.dumps(notebook, ensure_ascii=False).encode()
    except ValueError as error:
        raise GalleryError(f"not a valid recording: {error!s:.200}") from None
    for number, data in find_data(notebook):
        for mime in PICTURES.keys() & data.keys():
            try:
                check_picture(mime, data[mime])
            except ValueError as error:
                raise GalleryError(f"a picture of cell {number}, {mime}, {error}") from None


def check_run(facts: Mapping[str, Any]) -> None:
    """Raise ``GalleryError`` for invalid provenance of a recording or a replicate."""
    _check(facts, "run")
    try:
        datetime.fromisoformat(facts["recorded"])
        if not math.isfinite(facts["seconds"]):
            raise ValueError("seconds are not a number")
    except ValueError as error:
        raise GalleryError(f"not a valid recording: {error!s:.200}") from None


def _check(value: object, name: str) -> None:
    """Raise ``GalleryError`` for a value that violates the schema, or a definition of it."""
    from fastjsonschema import JsonSchemaValueException  # slow to import

    try:
        _validator(name)(value)
    except JsonSchemaValueException as error:
        reason = visible(error.message.removeprefix("data.").removeprefix("data "))
        raise GalleryError(f"not a valid recording: {reason:.200}") from None


@cache
def _validator(name: str) -> Callable[[object], object]:
    import fastjsonschema  # slow to import

    path = Path(__file__).with_name("recording.schema.json")
    schema = json.loads(path.read_text(encoding="utf-8"))
    if name:
        schema = {"definitions": schema["definitions"], "$ref": f"#/definitions/{name}"}
    validate: Callable[[object], object] = fastjsonschema.compile(schema)
    return validate


def seal(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook as it will be read from a file, with its hash."""
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
    """Match the cells of a recipe with the recorded ones, in order, by their code."""
    current_code = [cell.fingerprint for cell in recipe.cells]
    recorded_code = list(recording.facts["cells"])
    matcher = difflib.SequenceMatcher(a=current_code, b=recorded_code, autojunk=False)
    recorded = {}
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            number = recipe.cells[block.a + offset].number
            recorded[number] = recording.notebook.cells[block.b + offset]
    recorded_inputs = recording.facts["inputs"]
    current_inputs = recipe.hash_inputs()
    changed_inputs = []
    for name in sorted({**recorded_inputs, **current_inputs}):
        if recorded_inputs.get(name) != current_inputs.get(name):
            changed_inputs.append(name)
    return Comparison(
        recorded=recorded,
        changed=tuple(cell for cell in recipe.cells if cell.number not in recorded),
        removed=_count_removed(matcher),
        inputs=tuple(changed_inputs),
    )


def _count_removed(matcher: difflib.SequenceMatcher[str]) -> int:
    """Return how many recorded cells have no cell of the recipe in their place."""
    removed = 0
    for _tag, current_start, current_end, recorded_start, recorded_end in matcher.get_opcodes():
        surplus = (recorded_end - recorded_start) - (current_end - current_start)
        removed += max(0, surplus)  # a changed cell stands in the place of a recorded one
    return removed


def find_data(notebook: NotebookNode) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of the cell and the data by MIME type of each displayed output."""
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.outputs:
            if "data" in output:
                yield number, output.data


def name_device(device: Mapping[str, Any]) -> str:
    """Return the name of the GPU, or else of the CPU."""
    return visible(str(device.get("gpu") or device["cpu"]))

"""Replicates: what fresh processes measured, one line each in ``recordings/<name>.jsonl``.

Lines are only ever appended, on any machine, and git unites those of two branches. Lines of other
code (another fingerprint) are stale and ignored. Each carries a hash, so that a changed byte is
told with its number; as in a recording, the hash guards against accidents, not against forgery.
"""

import json
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from .files import append_line, tell_unwritten
from .hashes import digest
from .recording import name_device
from .rows import Published, parse, require_unique

SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class Replicate:
    """One fresh process that ran a recipe, and what it published."""

    fingerprint: str  # Recipe.replicate_fingerprint
    replicate: int  # its number, from 1; RECIPE_REPLICATE
    host: str  # a hash of the machine's identity
    device: dict[str, Any]  # gpu (unless it was a CPU), cpu, cores and more
    clocks: dict[str, Any]  # SM clock, power, temperature, as far as they are known
    versions: dict[str, str]
    commit: str | None
    modified: bool  # there were uncommitted changes
    recorded: str  # in ISO 8601
    seconds: float
    published: Published = field(default_factory=Published)
    hash: str = field(default="", compare=False)  # of the line that it was read from

    @property
    def device_name(self) -> str:
        """The GPU that ran it, or else the CPU."""
        return name_device(self.device)

    @property
    def line(self) -> str:
        """What stands in the file, without the line break."""
        facts = {name: getattr(self, name) for name in _FACTS}
        value = {"schema": SCHEMA, **facts, **self.published.as_json()}
        return json.dumps({**value, "hash": digest(value)}, sort_keys=True, allow_nan=False)


_FACTS = [each.name for each in fields(Replicate) if each.name not in ("published", "hash")]


@dataclass(frozen=True, kw_only=True)
class Replicates:
    """The lines of a file."""

    current: tuple[Replicate, ...] = ()  # of the fingerprint asked for, in the file's order
    stale: int = 0  # how many are of other code
    unfinished: bool = False  # a process was killed while it wrote the last one; it is ignored


def replicates_path(recording: Path) -> Path:
    """Return where the replicates of a recording ``recordings/<name>.ipynb`` lie."""
    return recording.with_suffix(".jsonl")


def read_replicates(path: Path, fingerprint: str) -> Replicates:
    """Return the replicates in a file; none if there is no file.

    Without a ``fingerprint`` that of the newest line is taken. A line that is there twice counts
    once. Raises ``GalleryError`` that names a damaged line.
    """
    if path.exists() and not path.is_file():  # reading a pipe would never end
        raise GalleryError("not a file", path=path, remedy="remove it")
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Replicates()
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None
    found: dict[str, Replicate] = {}
    unfinished = bool(lines[-1]) and not _is_finished(lines[-1])
    for number, line in enumerate(lines[:-1] if unfinished else lines, 1):
        if line.strip():
            try:
                replicate = _read_line(line)
            except ValueError as error:
                remedy = "restore the line from git, or remove it"
                raise GalleryError(str(error), path=path, line=number, remedy=remedy) from None
            found[replicate.hash] = replicate
    if found and not fingerprint:
        fingerprint = max(found.values(), key=lambda each: each.recorded).fingerprint
    current = tuple(each for each in found.values() if each.fingerprint == fingerprint)
    return Replicates(current=current, stale=len(found) - len(current), unfinished=unfinished)


def append(path: Path, replicate: Replicate) -> None:
    """Append a replicate to a file; it is on the disk when this returns.

    What a killed process left of a line is dropped. Raises ``GalleryError`` if it cannot be
    written; it tells where the line is kept instead.
    """
    line = replicate.line
    try:
        append_line(path, line, _is_finished)
    except OSError as error:
        data = line.encode() + b"\n"
        raise tell_unwritten(error, path, data, "the line", "append {} to {}") from None


def _is_finished(line: bytes) -> bool:
    """Tell whether only the line break is missing from the last line of a file."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_line(line: bytes) -> Replicate:
    """Return the replicate of a line; raise ``ValueError`` that says what is wrong."""
    if re.match(rb"<{7}|={7}|>{7}|\|{7}", line):
        raise ValueError("a conflict that git left here: keep the lines of both sides")
    try:
        value = json.loads(line)
        if value["schema"] != SCHEMA:
            raise ValueError(f"in format {value['schema']!r:.20}, this version reads {SCHEMA}")
        sealed = value.pop("hash")
        if sealed != digest(value):
            raise ValueError("was changed after it was recorded")
        facts = {name: value[name] for name in _FACTS}
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("not a whole line (invalid JSON)") from None
    except (KeyError, TypeError, AttributeError):
        raise ValueError("not the line of a replicate") from None
    published = parse({name: value.get(name, []) for name in ("rows", "claims")})
    require_unique(published.rows, published.claims)
    return Replicate(**facts, published=published, hash=sealed)

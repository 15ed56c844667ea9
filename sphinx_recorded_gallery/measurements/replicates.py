"""Replicates: what fresh processes measured, one line each in ``recordings/<name>.jsonl``.

Lines are only ever appended, on any machine, and git unites those of two branches. Lines of other
code (another fingerprint) are stale and ignored. Each carries a hash, so that a changed byte is
told with its number; as in a recording, the hash guards against accidents, not against forgery.
"""

import json
import re
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from ..atomic_files import ensure_regular_file
from ..errors import GalleryError
from ..recipes.recording import check_run, digest, name_device
from ..recipes.releases import find_release
from .rows import Row, parse, require_unique

SCHEMA = 1
_CONFLICT = re.compile(rb"<{7}|={7}|>{7}|\|{7}")  # as git marks it


@dataclass(frozen=True, kw_only=True)
class Process:
    """What one fresh process of a recipe published."""

    replicate: int  # its number, RECIPE_REPLICATE; 0 is the run that the page shows
    host: str  # a hash of the machine's identity
    rows: tuple[Row, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)  # of packages, and of more

    @cached_property
    def by_key(self) -> dict[str, Row]:
        """What it measured, by the keys of its rows."""
        return {row.key: row for row in self.rows}

    @property
    def title(self) -> str:
        """How a person is told of it."""
        who = f"replicate {self.replicate}" if self.replicate else "the run of the page"
        return f"{who} on host {self.host}" if self.host else who


@dataclass(frozen=True, kw_only=True)
class Replicate(Process):
    """A process beside that of the page, as a line tells it."""

    fingerprint: str  # Recipe.replicate_fingerprint
    device: dict[str, Any]  # gpu (unless it was a CPU), cpu, cores and more
    commit: str | None
    modified: bool  # there were uncommitted changes
    recorded: str  # in ISO 8601
    seconds: float
    hash: str = field(default="", compare=False)  # of the line that it was read from

    @property
    def device_name(self) -> str:
        """The GPU that ran it, or else the CPU."""
        return name_device(self.device)

    def find_place(self, package: str) -> tuple[str, str, str]:
        """Return host, device and release, which are told apart by the version of ``package``."""
        return self.host, self.device_name, find_release(self.versions, package)

    @property
    def line(self) -> str:
        """What stands in the file, without the line break."""
        facts = {name: getattr(self, name) for name in _FACTS}
        value = {"schema": SCHEMA, **facts, "rows": [row.as_json for row in self.rows]}
        return json.dumps({**value, "hash": digest(value)}, sort_keys=True, allow_nan=False)


_FACTS = [each.name for each in fields(Replicate) if each.name not in ("rows", "hash")]


def replicates_path(recording: Path) -> Path:
    """Return where the replicates of a recording ``recordings/<name>.ipynb`` lie."""
    return recording.with_suffix(".jsonl")


def read_replicates(path: Path, fingerprint: str) -> tuple[tuple[Replicate, ...], int]:
    """Return the replicates of a fingerprint in a file, in its order, and how many are of others.

    Without a ``fingerprint`` that of the newest line is taken, without a file there are none. A
    line that is there twice counts once. Raises ``GalleryError`` that names a damaged line.
    """
    try:
        ensure_regular_file(path)
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return (), 0
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None
    found: dict[str, Replicate] = {}
    for number, line in enumerate(lines, 1):
        if _CONFLICT.match(line):
            remedy = "keep the lines of both sides and remove those that git added"
            text = "a conflict that git left here"
            raise GalleryError(text, path=path, line=number, remedy=remedy)
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
    return current, len(found) - len(current)


def _read_line(line: bytes) -> Replicate:
    """Return the replicate of a line; raise ``ValueError`` that says what is wrong."""
    try:
        value = json.loads(line)
        if type(value["schema"]) is not int or value["schema"] != SCHEMA:
            raise ValueError(f"in format {value['schema']!r:.20}, this version reads {SCHEMA}")
        sealed = value.pop("hash")
        if sealed != digest(value):
            raise ValueError("was changed after it was recorded")
        check_run(value)
        facts = {name: value[name] for name in _FACTS}
        if type(facts["replicate"]) is not int or type(facts["fingerprint"]) is not str:
            raise ValueError("not the line of a replicate")
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("not a whole line (invalid JSON)") from None
    except (KeyError, TypeError, AttributeError):
        raise ValueError("not the line of a replicate") from None
    except GalleryError as error:
        raise ValueError(error.text) from None
    rows = parse({"rows": value.get("rows", [])})
    require_unique(rows)
    return Replicate(**facts, rows=rows, hash=sealed)

"""Replicates: measurements of fresh processes, one line each in ``recordings/<name>.jsonl``.

Lines are only ever appended, on any machine, and git merges those of two branches. Lines of other
code (with another fingerprint) are stale and ignored. Each line carries a hash, which reveals a
changed byte. As in a recording, the hash guards against accidents, not against forgery.
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

SCHEMA = 1  # with another number, all lines that are recorded are refused
_CONFLICT = re.compile(rb"<{7}|={7}|>{7}|\|{7}")  # as git marks it


@dataclass(frozen=True, kw_only=True)
class Process:
    """The measurements that one fresh process of a recipe published."""

    replicate: int  # RECIPE_REPLICATE; 0 is the run that the page shows
    host: str  # a hash of the machine's identity
    rows: tuple[Row, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)  # of packages, and of Python

    @cached_property
    def by_key(self) -> dict[str, Row]:
        """Its rows by key."""
        return {row.key: row for row in self.rows}

    def describe(self, release: str = "") -> str:
        """Return its name in messages: the page's run with 2.11 on host 1f2e.

        Pages of several releases have had a run each, so ``release`` says which one it is.
        """
        description = "the page's run"
        if self.replicate:
            description = f"replicate {self.replicate}"
        if release:
            description += f" with {release}"
        if self.host:
            description += f" on host {self.host}"
        return description


@dataclass(frozen=True, kw_only=True)
class Replicate(Process):
    """A process other than that of the page, as a line records it."""

    fingerprint: str  # Recipe.replicate_fingerprint
    device: dict[str, Any]  # gpu (if one was used), cpu, cores and more
    commit: str | None
    modified: bool  # there were uncommitted changes
    recorded: str  # in ISO 8601
    seconds: float
    hash: str = field(default="", compare=False)  # of its line

    @property
    def device_name(self) -> str:
        """The GPU that it used, or else the CPU."""
        return name_device(self.device)

    def find_place(self, package: str) -> tuple[str, str, str]:
        """Return host, device and release; the version of ``package`` is the release."""
        return self.host, self.device_name, find_release(self.versions, package)

    @property
    def line(self) -> str:
        """Its line in the file, without the line break."""
        facts = {name: getattr(self, name) for name in _FACTS}
        value = {"schema": SCHEMA, **facts, "rows": [row.as_json for row in self.rows]}
        return json.dumps({**value, "hash": digest(value)}, sort_keys=True, allow_nan=False)


_FACTS = [attribute.name for attribute in fields(Replicate)]
_FACTS.remove("rows")
_FACTS.remove("hash")


def replicates_path(recording: Path) -> Path:
    """Return the path of the replicates of a recording ``recordings/<name>.ipynb``."""
    return recording.with_suffix(".jsonl")


def read_replicates(path: Path, fingerprint: str) -> tuple[tuple[Replicate, ...], int]:
    """Return the replicates with a fingerprint in the order of a file, and the number of others.

    An empty ``fingerprint`` stands for that of the newest line. Without a file there are no
    replicates. A line that occurs twice counts once. Raises ``GalleryError`` for a damaged line.
    """
    replicates = read_all_replicates(path)
    if replicates and not fingerprint:
        newest = max(replicates, key=lambda replicate: replicate.recorded)
        fingerprint = newest.fingerprint
    current = [replicate for replicate in replicates if replicate.fingerprint == fingerprint]
    return tuple(current), len(replicates) - len(current)


def read_all_replicates(path: Path) -> list[Replicate]:
    """Return the replicates of a file, whatever code they ran; none without a file.

    Raises ``GalleryError`` for a damaged line.
    """
    try:
        ensure_regular_file(path)
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None
    by_hash: dict[str, Replicate] = {}
    for number, line in enumerate(lines, 1):
        if _CONFLICT.match(line):
            text = "an unresolved merge conflict"
            remedy = "keep the lines of both sides and remove those that git added"
            raise GalleryError(text, path=path, line=number, remedy=remedy)
        if line.strip():
            try:
                replicate = _read_line(line)
            except ValueError as error:
                remedy = "restore the line from git, or remove it"
                raise GalleryError(str(error), path=path, line=number, remedy=remedy) from None
            by_hash[replicate.hash] = replicate
    return list(by_hash.values())


def _read_line(line: bytes) -> Replicate:
    """Return the replicate of a line; raise ``ValueError`` with the reason if there is none."""
    try:
        value = json.loads(line)
        # True == 1, and a bool is an int: so types are compared.
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

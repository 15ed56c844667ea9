"""Hashes that recordings and lines of replicates carry, so that a changed byte is told.

They guard against accidents: a merge gone wrong, a tool that rewrites notebooks, a broken disk. Who
wants to forge a recording can compute them, too; against that only the history in git helps.
"""

import hashlib
import json
from typing import Any

_NAME = "hash"  # in `metadata.recording` of a notebook


def seal(notebook: Any) -> Any:
    """Return the notebook as it is read from a file, with its hash."""
    import nbformat  # slow to import, and lines of replicates have a hash, too

    sealed = nbformat.v4.reads_json(nbformat.v4.writes_json(notebook))
    facts = sealed.metadata.setdefault("recording", nbformat.NotebookNode())
    facts.pop(_NAME, None)
    facts[_NAME] = digest(sealed)
    return sealed


def take_hash(notebook: Any) -> str:
    """Take the hash out of a notebook that was read; return what does not fit it, or ""."""
    found = notebook["metadata"]["recording"].pop(_NAME, None)
    if found is None:
        return "carries no hash of what it holds"
    return "" if found == digest(notebook) else "was changed after it was recorded"


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of a value of JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

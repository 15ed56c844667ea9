"""Hashes that a recording carries, so that a changed byte is told with its cell.

They guard against accidents: a merge gone wrong, a tool that rewrites notebooks, a broken disk. Who
wants to forge a recording can compute them, too; against that only the history in git helps.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

_NAME = "hash"  # in `metadata.recording` of each cell and of the notebook


def seal(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook as it is read from a file, with its hashes."""
    import nbformat  # slow to import, and lines of replicates have a hash, too
    from nbformat import NotebookNode

    sealed = nbformat.v4.reads_json(nbformat.v4.writes_json(notebook))
    for cell in sealed.cells:
        facts = cell.metadata.setdefault("recording", NotebookNode())
        facts.pop(_NAME, None)
        facts[_NAME] = digest(cell)
    facts = sealed.metadata.setdefault("recording", NotebookNode())
    facts.pop(_NAME, None)
    facts[_NAME] = _digest_rest(sealed, [cell.metadata.recording[_NAME] for cell in sealed.cells])
    return sealed


def take_hashes(notebook: NotebookNode) -> str:
    """Take the hashes out of a notebook that was read; return what does not fit them, or "".

    They tell of the file, so they have no place in what is made from it.
    """
    facts = notebook["metadata"]["recording"]
    cells = list(notebook["cells"])
    hashes = [_take(cell) for cell in cells]
    whole = facts.pop(_NAME, None)
    if whole is None and not any(hashes):
        return "carries no hash of its outputs"
    for number, (cell, found) in enumerate(zip(cells, hashes, strict=True), 1):
        if found != digest(cell):
            return f"cell {number} was changed after it was recorded"
    if whole != _digest_rest(notebook, hashes):
        return "the facts beside its cells were changed after it was recorded"
    return ""


def _take(cell: Any) -> Any:
    try:
        return cell["metadata"]["recording"].pop(_NAME, None)
    except (AttributeError, KeyError, TypeError):
        return None  # damaged, so that no hash could fit


def _digest_rest(notebook: NotebookNode, hashes: list[Any]) -> str:
    """Return the hash of all but the cells; of these it holds number and order."""
    return digest({**notebook, "cells": hashes})


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of a value of JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

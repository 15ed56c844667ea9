"""The values of cells that a page shows: ``capture_repr`` and ``ignore_repr_types``.

A recording holds every value of a cell's last expression. These settings of Sphinx-Gallery only
select what a page shows of it, so changing them needs no new recording.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF

from ..errors import GalleryError

METHODS = ("_repr_html_", "__repr__", "__str__")  # those that Sphinx-Gallery knows
_FACTS = {"__repr__": "repr", "__str__": "str"}  # recorded where IPython prints another text
_MIME_TYPES = {"_repr_html_": "text/html", "__repr__": "text/plain", "__str__": "text/plain"}


@dataclass(frozen=True, kw_only=True)
class Capture:
    """The selection of values that a page shows."""

    methods: tuple[str, ...] | None = None  # None for the richest form, as in Jupyter
    ignored_types: str = ""  # a pattern of types whose values are not shown

    def choose(self, outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
        """Return the outputs of a cell, with its value in the selected form or left out."""
        chosen = []
        for output in outputs:
            form: NotebookNode | None = output
            if output.output_type == "execute_result":
                form = self._choose_form(output)
            if form is not None:
                chosen.append(form)
        return chosen

    def _choose_form(self, output: NotebookNode) -> NotebookNode | None:
        """Return a value in the first form that the gallery shows; None if it shows none."""
        facts = _read_facts(output)
        if self.ignored_types and re.search(self.ignored_types, facts.get("type", "")):
            return None
        if self.methods is None:
            return output
        for method in self.methods:
            mime = _MIME_TYPES[method]
            if mime in output.data:
                data = {mime: output.data[mime]}
                if method in _FACTS:
                    data[mime] = facts.get(_FACTS[method], data[mime])
                if "text/plain" in output.data:  # for formats that have no HTML
                    data.setdefault("text/plain", output.data["text/plain"])
                return NotebookNode({**output, "data": NotebookNode(data)})
        return None


JUPYTER = Capture()


def _read_facts(output: NotebookNode) -> dict[str, str]:
    """Return the recorded facts about a value; nothing if they are invalid."""
    facts = output.metadata.get("recorded_gallery")
    if not isinstance(facts, dict):
        return {}
    return {name: value for name, value in facts.items() if isinstance(value, str)}


def read_capture(settings: Mapping[str, Any]) -> Capture:
    """Return the selection of ``sphinx_gallery_conf``; raise ``GalleryError`` if it is invalid."""
    default = DEFAULT_GALLERY_CONF["capture_repr"]
    methods = settings.get("capture_repr", default)
    if not is_capture_repr(methods):
        text = f"conf.py: sphinx_gallery_conf: capture_repr = {methods!r} is not a tuple of methods"
        raise GalleryError(text, remedy=f"choose among: {', '.join(METHODS)}")
    ignored = settings.get("ignore_repr_types", "")
    if not is_pattern(ignored):
        text = f"conf.py: sphinx_gallery_conf: ignore_repr_types = {ignored!r} is not a pattern"
        raise GalleryError(text, remedy="write a regular expression of Python")
    is_default = tuple(methods) == default
    return Capture(methods=None if is_default else tuple(methods), ignored_types=ignored)


def is_capture_repr(value: object) -> bool:
    """Return whether a value is valid for ``capture_repr``."""
    return isinstance(value, tuple | list) and all(method in METHODS for method in value)


def is_pattern(value: object) -> bool:
    """Return whether a value is a regular expression."""
    try:
        re.compile(value)  # type: ignore[call-overload]
    except (re.error, TypeError):
        return False
    return isinstance(value, str)

"""What names in examples led to when they ran, for code links and mini-galleries.

Sphinx-Gallery looks at the objects of the examples that it runs. No build does that here, so it is
given what the recorder has seen of them.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sphinx_gallery import backreferences

from ..errors import GalleryError
from ..recipes.find_recipes import GalleryFile
from ..recipes.recorded_recipe import RecordedPage, load_recorded
from ..recipes.recording import Recording

# A name as the code has it, what it leads to, whether that is an attribute of a class, or a class
Name = tuple[str, str, bool, bool]


def read_names(recording: Recording) -> list[Name]:
    """Return the names that a recording knows; nothing where it holds something else."""
    recorded = recording.facts.get("names", {})
    names: list[Name] = []
    if not isinstance(recorded, Mapping):
        return names
    for name, targets in recorded.items():
        with suppress(TypeError, ValueError):  # not as they are recorded
            for full_name, is_attribute, is_class in targets:
                if _is_full_name(full_name, is_attribute=bool(is_attribute)):
                    names.append((str(name), full_name, bool(is_attribute), bool(is_class)))
    return names


def _is_full_name(name: object, *, is_attribute: bool) -> bool:
    """Return whether a name begins with a module; that of an attribute has a class, too.

    Sphinx-Gallery names files after it, so that each part has to be a name in Python.
    """
    if not isinstance(name, str):
        return False
    parts = name.split(".")
    least_parts = 3 if is_attribute else 2
    return len(parts) >= least_parts and all(part.isidentifier() for part in parts)


@contextmanager
def give_names(files: Iterable[GalleryFile], recordings: Path) -> Iterator[None]:
    """Let Sphinx-Gallery know, as long as it writes pages, what names in their code led to."""
    known: dict[str, list[Name]] = {}
    for file in files:
        with suppress(GalleryError, SyntaxError, OSError, ValueError):
            page = load_recorded(file, recordings)
            if file.links_code and isinstance(page, RecordedPage):
                tree = ast.parse(file.path.read_bytes())
                known[ast.dump(tree)] = read_names(page.recording)

    class NameFinder(backreferences.NameFinder):
        recorded: tuple[Name, ...] = ()

        def visit(self, node: ast.AST) -> Any:
            if isinstance(node, ast.Module):
                self.recorded = tuple(known.get(ast.dump(node), ()))
            return super().visit(node)

        def get_mapping(self) -> list[tuple[str, str, bool, bool, bool]]:
            """Return what was recorded, then the rest: the first that leads anywhere is a link."""
            is_module = False
            recorded = [(*name, is_module) for name in self.recorded]
            return recorded + list(super().get_mapping())

    with patch.object(backreferences, "NameFinder", NameFinder):
        yield

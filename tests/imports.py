"""Who imports whom in the packages, and what must not be; `make lint` runs it.

A room is a folder of the engine, a module of it beside the folders, or the site. What sets up the
engine, its ``__init__``, is a room called ``setup``. Exits with 1, and
prints which room imports which, where an import has the wrong direction.
"""

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENGINE, SITE = "sphinx_recorded_gallery", "second_call"
SETUP, API = "setup", "api"
COMMANDS = ("__main__", "commands", SETUP)  # they may import every room, and no room them
# What a room may import of the other rooms; the modules beside them are for all but the site, which
# has the API alone.
ALLOWED = {
    "recipes": set(),
    "pages": {"recipes"},
    "measurements": {"recipes", "pages"},
    "record": {"recipes", "measurements"},
    "translate": {"recipes", "measurements"},
    "live": {"recipes", "pages", "translate"},
    "search": {"recipes", "pages", "translate"},
    API: {"recipes", "measurements", "pages", "translate"},
    SITE: {API},
}


def find_modules(root: Path) -> dict[str, Path]:
    """Return the modules of both packages by name."""
    paths = [path for package in (ENGINE, SITE) for path in sorted((root / package).rglob("*.py"))]
    names = [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, paths, strict=True)}


def find_imports(name: str, modules: dict[str, Path]) -> set[str]:
    """Return the modules of both packages that a module imports, anywhere in its text."""
    path = modules[name]
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            names = [f"{source}.{alias.name}" for alias in node.names]
            found |= {name if name in modules else source for name in names}
    return (found & set(modules)) - {name}


def room_of(module: str) -> str:
    """Return the folder or module of the engine that a module belongs to, or the site."""
    package, _, inside = module.partition(".")
    return SITE if package == SITE else inside.split(".")[0] or SETUP


def find_rooms(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Return the rooms that each room imports."""
    rooms: dict[str, set[str]] = {room_of(module): set() for module in modules}
    for module in modules:
        rooms[room_of(module)] |= {room_of(name) for name in find_imports(module, modules)}
    return {room: imported - {room} for room, imported in sorted(rooms.items())}


def _may_import(room: str, target: str) -> bool:
    if room == target:
        return True
    if room == SITE or target in (*COMMANDS, SITE, "record"):
        return target in ALLOWED.get(room, ())
    return room not in ALLOWED or target not in ALLOWED or target in ALLOWED[room]


def find_problems() -> Iterator[str]:
    """Tell imports that have the wrong direction, and cycles of rooms."""
    modules = find_modules(ROOT)
    for module in modules:
        room = room_of(module)
        for imported in sorted(find_imports(module, modules)):
            target = room_of(imported)
            if room not in COMMANDS and not _may_import(room, target):
                yield f"{modules[module].relative_to(ROOT)}: must not import {imported}"
    try:
        TopologicalSorter(find_rooms(modules)).prepare()
    except CycleError as error:
        yield f"rooms in a cycle: {' -> '.join(reversed(error.args[1]))}"


if __name__ == "__main__":
    if problems := "\n".join(find_problems()):
        for room, imported in find_rooms(find_modules(ROOT)).items():
            print(f"{room:<15} imports {', '.join(sorted(imported)) or 'no other room'}")
        sys.exit(problems)

"""The packages use of libraries only what those promise, and what private_hooks.toml names."""

import ast
import tomllib
from collections.abc import Iterator

from gallery import ROOT

MOST = 12
TABLE = ROOT / "tests/private_hooks.toml"


def private_names(source: str) -> Iterator[str]:
    """Yield the names with an underscore that a module takes from others."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (each for each in module.split(".") if each.startswith("_"))
                yield from (each.name for each in names if each.name.startswith("_"))
            case ast.Attribute(value=value, attr=name) if name.startswith("_"):
                own = isinstance(value, ast.Name) and value.id in ("self", "cls")
                if not own and not name.endswith("__") and name != "_exit":
                    yield name
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=name), *_]
            ):
                if str(name).startswith("_") and not str(name).endswith("__"):
                    yield str(name)


def test_the_list_of_hooks_is_whole_and_short() -> None:
    hooks = tomllib.loads(TABLE.read_text(encoding="utf-8"))["hook"]
    known = {name for hook in hooks for name in hook["names"] if name.startswith("_")}
    found = set()
    for package in ("sphinx_recorded_gallery", "second_call"):
        for path in (ROOT / package).rglob("*.py"):
            if "record" not in path.relative_to(ROOT).parts:
                found |= set(private_names(path.read_text(encoding="utf-8")))
    found -= {"__future__", "__version__"}
    assert found == known
    assert len(hooks) <= MOST

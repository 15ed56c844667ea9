"""The packages use of libraries only what those promise, and what private_hooks.toml names."""

import ast
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.gallery import ROOT

HOOKS = tomllib.loads((ROOT / "tests/private_hooks.toml").read_text(encoding="utf-8"))["hook"]
# of Python's own, which cannot be left otherwise
EXIT = "_exit"


def private_names(source: str) -> Iterator[str]:
    """Yield the names with an underscore that a module takes from others."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (part for part in module.split(".") if part.startswith("_"))
                yield from (alias.name for alias in names if alias.name.startswith("_"))
            case ast.Attribute(value=value, attr=name) if name.startswith("_"):
                own = isinstance(value, ast.Name) and value.id in ("self", "cls")
                if not own and not name.endswith("__") and name != EXIT:
                    yield name
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=name), *_]
            ):
                if str(name).startswith("_") and not str(name).endswith("__"):
                    yield str(name)


def test_what_is_private_is_in_the_list() -> None:
    listed = {name for hook in HOOKS for name in hook["names"]}
    found = set()
    for package in ("sphinx_recorded_gallery", "second_call"):
        for path in (ROOT / package).rglob("*.py"):
            found |= set(private_names(path.read_text(encoding="utf-8")))
    assert found - {"__future__", "__version__"} <= listed


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["names"][0])
def test_what_is_in_the_list_is_used_where_it_says(hook: dict[str, Any]) -> None:
    assert hook.keys() == {"library", "names", "where", "why", "without", "patch"}
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in hook["where"]]
    missing = [name for name in hook["names"] if not any(name in text for text in texts)]
    assert missing == []
    unused = [
        file
        for file, text in zip(hook["where"], texts, strict=True)
        if not any(re.search(re.escape(name), text) for name in hook["names"])
    ]
    assert unused == []

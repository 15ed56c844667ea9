"""Calls of ``bench.compare`` whose sizes or variants the harness cannot read, or ignore each other.

Python tells the first from inside of the harness, and nobody the second. ``recorded-gallery check``
tells the author, and ``make record`` before it records.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sphinx_gallery.py_source_parser import Block

from sphinx_recorded_gallery.api import GalleryError

_NO_DICTIONARIES: dict[type[ast.expr], str] = {
    ast.List: "a list",
    ast.ListComp: "a list",
    ast.Tuple: "a tuple",
    ast.Set: "a set",
    ast.Lambda: "a function",
}
_EXAMPLE = 'write what a size counts, and a list: sizes=("millions", [1, 4, 16])'


def find_wrong_sizes(path: Path, blocks: Sequence[Block]) -> Iterator[GalleryError]:
    """Yield the calls in a recipe, of which ``blocks`` are, that have wrong sizes.

    Only what is written down is looked at: a list, a tuple, a dictionary, or a name of one.
    """
    assigned: defaultdict[str, list[ast.expr]] = defaultdict(list)  # values by names
    calls: list[tuple[int, ast.Call]] = []
    for line, node in _walk(blocks):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id].append(node.value)
        elif isinstance(node, ast.Call) and _is_compare(node):
            calls.append((line, node))
    for line, call in calls:
        sizes = _look_up(_find_argument(call, 2, "sizes"), assigned)
        if sizes is None:
            continue
        text = _describe_sizes(sizes)
        if text:
            yield GalleryError(text, path=path, line=line, remedy=_EXAMPLE)
        elif isinstance(_look_up(_find_argument(call, 1, "variants"), assigned), ast.Dict):
            yield GalleryError(
                "these variants are the same for each of the sizes",
                path=path,
                line=line,
                remedy="hand over a function of the size that returns them, without calling it",
            )


def find_wrong_variants(path: Path, blocks: Sequence[Block]) -> Iterator[GalleryError]:
    """Yield the functions in a recipe that make variants to compare, and return no dictionary.

    Only functions are looked at that have one definition, and returns that are written down.
    """
    functions: defaultdict[str, list[tuple[int, ast.FunctionDef]]] = defaultdict(list)
    names: dict[str, None] = {}  # of functions that are handed over, or called for that
    for line, node in _walk(blocks):
        if isinstance(node, ast.FunctionDef):
            functions[node.name].append((line, node))
        elif isinstance(node, ast.Call) and _is_compare(node):
            variants = _find_argument(node, 1, "variants")
            maker = variants.func if isinstance(variants, ast.Call) else variants
            if isinstance(maker, ast.Name):
                names[maker.id] = None
    for name in names:
        if len(functions[name]) != 1:
            continue
        [(line, function)] = functions[name]
        kind = _describe_returns(function)
        if kind:
            yield GalleryError(
                f"{name} returns {kind}, and no variants to compare",
                path=path,
                line=line,
                remedy='return a dictionary of functions: {"eager": lambda: step(x)}',
            )


def _walk(blocks: Sequence[Block]) -> Iterator[tuple[int, ast.stmt | ast.expr]]:
    """Yield the statements and expressions in the code of a recipe, with lines of its file."""
    for block in blocks:
        if block.type != "code":
            continue
        for node in ast.walk(ast.parse(block.content)):
            if isinstance(node, ast.stmt | ast.expr):
                yield block.lineno + node.lineno - 1, node


def _describe_returns(function: ast.FunctionDef) -> str:
    """Return what a function returns in place of a dictionary; empty if it may return one."""
    values = []
    nodes: list[ast.AST] = [*function.body]
    for node in nodes:  # it grows while it is read
        if isinstance(node, ast.Return) and node.value:
            values.append(node.value)
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            return "a generator"
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            nodes += ast.iter_child_nodes(node)
    if not values:
        return "nothing"
    for value in values:
        for kind, word in _NO_DICTIONARIES.items():
            if isinstance(value, kind):
                return word
    return ""


def _is_compare(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "compare"


def _find_argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """Return an argument of a call by its place or its name; None if it is left out."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if len(call.args) > place else None


def _look_up(value: ast.expr | None, assigned: Mapping[str, Sequence[ast.expr]]) -> ast.expr | None:
    """Return what a name stands for, None if it has several values; anything else as it is."""
    if not isinstance(value, ast.Name):
        return value
    values = assigned.get(value.id, [])
    return values[0] if len(values) == 1 else None


def _describe_sizes(sizes: ast.expr) -> str:
    """Return what is wrong with sizes; empty if nothing is, or if they are put together."""
    if isinstance(sizes, ast.Constant):
        return "" if sizes.value is None else f"{sizes.value!r} stands alone as sizes"
    if not isinstance(sizes, ast.List | ast.Tuple):
        return ""
    counted = sizes.elts[0] if sizes.elts else None
    if len(sizes.elts) != 2:
        return f"sizes have {len(sizes.elts)} parts, and not two"
    values = sizes.elts[1]
    if isinstance(counted, ast.Constant) and not isinstance(counted.value, str):
        return f"sizes do not begin with a word, but with {counted.value!r}"
    if isinstance(values, ast.Constant):
        return f"the values of sizes are no list, but {values.value!r}"
    return ""

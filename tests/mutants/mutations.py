"""What is changed in a module to see whether tests notice: one place, one way at a time."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

# in source text, so that all else stays as it is written
OPERATORS = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A module with one change."""

    file: str  # below the root
    line: int
    change: str  # "before -> after", the lines that differ
    functions: frozenset[int]  # first lines of the functions around it; of all, if it is in none
    text: str  # of the changed module

    @property
    def key(self) -> tuple[str, int, str]:
        """Name the mutant."""
        return self.file, self.line, self.change


class _Source:
    """A module's text, in which parts are replaced by their place in the tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        lengths = [len(line.encode()) for line in text.splitlines(keepends=True)]
        self.starts = [0]
        for length in lengths:
            self.starts.append(self.starts[-1] + length)
        self.bytes = text.encode()

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def get(self, node: ast.AST) -> str:
        start, stop = self.span(node)
        return self.bytes[start:stop].decode()

    def replace(self, start: int, stop: int, new: str) -> str:
        return (self.bytes[:start] + new.encode() + self.bytes[stop:]).decode()


def find(path: Path, name: str) -> list[Mutant]:
    """Return all mutants of a module."""
    source = _Source(path.read_text(encoding="utf-8"))
    tree = ast.parse(source.text)
    functions = [
        (each.lineno, each.end_lineno or 0, _first_line(each))
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    mutants = {}
    for start, stop, new in _changes(tree, source):
        text = source.replace(start, stop, new)
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        line = source.bytes[:start].count(b"\n") + 1
        around = {first for begin, end, first in functions if begin <= line <= end}
        change = f"{_show(source.bytes[start:stop].decode())} -> {_show(new)}"
        change = f"{_line(source.text, line)} : {change}"
        mutants[line, change] = Mutant(
            file=name,
            line=line,
            change=change,
            functions=frozenset(around or {first for *_place, first in functions}),
            text=text,
        )
    return list(mutants.values())


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the line that code objects name: of the first decorator, if there is one."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _line(text: str, number: int) -> str:
    return text.splitlines()[number - 1].strip()


def _show(text: str) -> str:
    return " ".join(text.split())


def _changes(tree: ast.Module, source: _Source) -> Iterator[tuple[int, int, str]]:
    """Yield start and stop, in bytes, and what to write instead."""
    left_out = _texts_for_readers_of_code(tree)
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        match node:
            case ast.Compare(ops=[operator], left=left, comparators=[right]):
                yield from _swap(operator, source.span(left)[1], source.span(right)[0], source)
            case ast.BinOp(op=operator, left=left, right=right):
                yield from _swap(operator, source.span(left)[1], source.span(right)[0], source)
            case ast.BoolOp(op=operator, values=values):
                for left, right in pairwise(values):
                    yield from _swap(operator, source.span(left)[1], source.span(right)[0], source)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield *source.span(node), f"({source.get(operand)})"
            case ast.Constant(value=bool() as value):
                yield *source.span(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield *source.span(node), str(value + 1)
            case ast.Constant(value=str() as value) if value:
                yield *source.span(node), repr("XX" + value)
            case ast.Constant(value=str()):
                yield *source.span(node), repr("XX")
            case ast.JoinedStr():
                start, stop = source.span(node)
                quote = source.bytes[start:stop].index(b'"')
                if source.bytes[start + quote : start + quote + 3] != b'"""':
                    yield start + quote + 1, start + quote + 1, "XX"
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield *source.span(test), f"(not ({source.get(test)}))"
            case ast.comprehension(ifs=[test, *_others]):
                yield *source.span(test), "True"
            case ast.Return(value=ast.expr() as value):
                if not (isinstance(value, ast.Constant) and value.value is None):
                    yield *source.span(value), "None"
            case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
                yield *source.span(node), "pass"
            case ast.AugAssign() | ast.Raise() | ast.Delete():
                yield *source.span(node), "pass"
            case ast.Continue():
                yield *source.span(node), "break"
            case ast.Break():
                yield *source.span(node), "continue"
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
                yield *source.span(node), "pass"


def _swap(
    operator: ast.AST, start: int, stop: int, source: _Source
) -> Iterator[tuple[int, int, str]]:
    if type(operator) not in OPERATORS:
        return
    before, after = OPERATORS[type(operator)]
    between = source.bytes[start:stop].decode()
    if between.count(before) == 1 and "#" not in between:
        at = start + between.encode().index(before.encode())
        yield at, at + len(before.encode()), after


def _texts_for_readers_of_code(tree: ast.Module) -> set[int]:
    """Return what no test can be about: types, docstrings, imports; parts of f-strings."""
    left_out: set[int] = set()

    def leave_out(node: ast.AST | None) -> None:
        left_out.update(id(each) for each in ast.walk(node) if node) if node else None

    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                leave_out(node.returns)
            case ast.arg():
                leave_out(node.annotation)
            case ast.AnnAssign():
                leave_out(node.annotation)
            case ast.JoinedStr():
                left_out.update(
                    id(part) for each in node.values for part in ast.walk(each)
                )  # without places of their own before Python 3.12
            case ast.Expr(value=ast.Constant(value=str())):
                leave_out(node)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                leave_out(node)
            case ast.Call(func=ast.Name(id="dataclass" | "TypeVar" | "cast")):
                leave_out(node)
    return left_out

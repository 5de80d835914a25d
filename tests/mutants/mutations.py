"""Small changes of a source that a test should notice: where they may be planted, and the source with one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
}  # fmt: skip
SUMS: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
WORDS: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


@dataclass(frozen=True)
class Mutation:
    """Bytes `begin` to `end` of a source become `new`."""

    line: int
    kind: str
    begin: int
    end: int
    new: str

    def planted(self, source: bytes) -> bytes:
        return source[: self.begin] + self.new.encode() + source[self.end :]


def mutations(source: bytes) -> list[Mutation]:
    """Those inside of functions, in the order of the text."""
    places = _Places(source)
    found: dict[tuple[int, int, str], Mutation] = {}
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for statement in _without_docstring(function.body):
                for one in _in_statement(statement, places):
                    found[one.begin, one.end, one.new] = one
    return sorted(found.values(), key=lambda one: (one.begin, one.end, one.new))


class _Places:
    """Where nodes stand in the source, in bytes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def begin(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def replaced(self, node: ast.expr | ast.stmt, kind: str, new: str) -> Mutation:
        return Mutation(node.lineno, kind, self.begin(node), self.end(node), new)

    def between(self, left: ast.expr, right: ast.expr, kind: str, words: tuple[str, str]) -> Iterator[Mutation]:
        """The operator between two operands, unless something else stands there, too."""
        begin, end = self.end(left), self.begin(right)
        text = self.source[begin:end].decode()
        if text.strip("() \n") == words[0]:
            yield Mutation(right.lineno, kind, begin, end, text.replace(*words, 1))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    return body[1:] if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else body


def _in_statement(statement: ast.stmt, places: _Places) -> Iterator[Mutation]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Continue | ast.Break | ast.Raise) or _is_call(statement):
        yield places.replaced(statement, "statement deleted", "pass")
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield from _in_statement(child, places)
        elif isinstance(child, ast.expr):
            yield from _in_expression(child, places)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            for inner in child.body:
                yield from _in_statement(inner, places)


def _is_call(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _in_expression(root: ast.expr, places: _Places) -> Iterator[Mutation]:
    inside_texts = {part for node in ast.walk(root) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(root):
        if node not in inside_texts:
            yield from _of_node(node, places)


def _of_node(node: ast.AST, places: _Places) -> Iterator[Mutation]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from places.between(left, right, "comparison flipped", COMPARISONS[type(op)])
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            yield from places.between(left, right, "sign flipped", SUMS[type(op)])
        case ast.BoolOp(op=op, values=[left, right]):
            yield from places.between(left, right, "and/or exchanged", WORDS[type(op)])
        case ast.Constant(value=bool() as value):
            yield places.replaced(node, "constant changed", str(not value))
        case ast.Constant(value=int() as value):
            yield places.replaced(node, "constant changed", str(value + 1))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield places.replaced(node, "not left out", f"({places.source[places.begin(operand) : places.end(operand)].decode()})")

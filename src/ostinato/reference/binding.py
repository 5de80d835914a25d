"""What expressions see of a match in the making: the rows mapped so far, and their physical neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ostinato.algebra.query import Definition, MatchQuery, Union, When
from ostinato.expr.nodes import Aggregate, Anchor, Classifier, Nav
from ostinato.expr.values.evaluate import evaluate
from ostinato.reference.aggregates import aggregate
from ostinato.reference.stream import Row, value_at


@dataclass(frozen=True)
class Binding:
    """`mapped` are (index into `partition`, variable) in row order; `number` is that of the match. `whole` holds the rows of the whole
    match where `mapped` ends with the row for which a measure is computed; `unions` are names for several variables."""

    partition: list[Row]
    mapped: tuple[tuple[int, str], ...]
    number: int
    whole: tuple[tuple[int, str], ...] | None = None
    unions: tuple[Union, ...] = ()

    def rows_of(self, variable: str | None, final: bool = False) -> list[int]:
        members = next((union.members for union in self.unions if union.name == variable), (variable,))
        return [index for index, name in (self._whole if final else self.mapped) if variable is None or name in members]

    @property
    def _whole(self) -> tuple[tuple[int, str], ...]:
        return self.mapped if self.whole is None else self.whole

    def pick(self, variable: str | None, anchor: Anchor, offset: int, final: bool = False) -> int | None:
        """The `offset`-th row of a variable from its first, or back from its last."""
        rows = self.rows_of(variable, final)
        if offset >= len(rows):
            return None
        return rows[offset] if anchor is Anchor.FIRST else rows[-1 - offset]

    def variable_at(self, index: int) -> str | None:
        """In the whole match, also where `mapped` has not come so far."""
        return dict(self._whole).get(index)


class AtMatch:
    """The context of an expression over a match."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding

    def field(self, name: str) -> Any:
        raise AssertionError(f"column {name} stands outside of any row")

    def nav(self, node: Nav) -> Any:
        index = self.binding.pick(node.variable, node.anchor, node.offset, node.final)
        if index is None or not 0 <= index + node.shift < len(self.binding.partition):
            return None
        return evaluate(node.body, AtRow(self.binding, index + node.shift))

    def aggregate(self, node: Aggregate) -> Any:
        rows = self.binding.rows_of(node.variable, node.final)
        current = self.binding.mapped[-1][0] if self.binding.mapped else None
        if node.before:
            rows = [index for index in rows if index != current]
        if node.body is None:
            return len(rows)
        return aggregate(node.function, [evaluate(node.body, AtRow(self.binding, index)) for index in rows])

    def match_number(self) -> int:
        return self.binding.number

    def classifier(self, node: Classifier) -> str | None:
        index = self.binding.pick(node.variable, node.anchor, node.offset, node.final)
        return None if index is None else self.binding.variable_at(index)


class AtRow(AtMatch):
    """The context of a row expression, at one row of the partition."""

    def __init__(self, binding: Binding, index: int) -> None:
        super().__init__(binding)
        self.index = index

    def field(self, name: str) -> Any:
        return value_at(self.binding.partition[self.index].values, name)

    def classifier(self, node: Classifier) -> str | None:
        """Of the row itself; null for a row outside the match."""
        return self.binding.variable_at(self.index)


def admits(query: MatchQuery, variable: str, binding: Binding) -> bool:
    """Whether the last row of the binding, provisionally mapped to the variable, may stay there."""
    definition = query.definition(variable)
    first = len(binding.rows_of(variable)) == 1
    return _has_type(query, definition, binding) and holds(definition, binding, {When.EACH, When.FIRST if first else When.LATER})


def _has_type(query: MatchQuery, definition: Definition, binding: Binding) -> bool:
    if query.type_column is None or definition.event_type is None:
        return True
    return bool(value_at(binding.partition[binding.mapped[-1][0]].values, query.type_column) == definition.event_type)


def may_leave(query: MatchQuery, variable: str, binding: Binding) -> bool:
    """Whether the conditions about a finished variable hold."""
    return holds(query.definition(variable), binding, {When.LEAVING})


def holds(definition: Definition, binding: Binding, when: set[When]) -> bool:
    """Three-valued logic: unknown does not satisfy."""
    return all(evaluate(condition.expr, AtMatch(binding)) is True for condition in definition.conditions if condition.when in when)

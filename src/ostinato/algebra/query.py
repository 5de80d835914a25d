"""A query: one pattern over one stream, with the policies that give it a meaning. Every language lowers to this."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ostinato.algebra.parts import Part
from ostinato.algebra.pattern import Negation, Pattern, negations_of
from ostinato.algebra.policies import MatchOrder, NullKeys, Output, RowsPerMatch, Selection, Skip, Ties
from ostinato.base.span import Span
from ostinato.expr.nodes import Expr
from ostinato.expr.typing.schema import Schema


class When(Enum):
    """At which binding of its variable a condition is checked."""

    EACH = "each"  # every row mapped to the variable
    FIRST = "first"  # the first row of the variable only
    LATER = "later"  # from its second row on
    # When the run begins an element after this one, and when it is reported while in this one or before it. An element that was
    # left empty is left all the same: its LEN is 0, everything else about it null.
    LEAVING = "leaving"


@dataclass(frozen=True)
class Condition:
    """Must be true (not unknown) for the row to be mapped. The row is already the last of its variable when this is evaluated."""

    expr: Expr
    when: When = When.EACH
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Definition:
    """What may be mapped to a variable, or is negated under its name. `event_type` restricts rows to those whose type column has this
    value."""

    variable: str
    conditions: tuple[Condition, ...] = ()
    event_type: str | None = None


class Unit(Enum):
    TIME = "time"  # in the unit of the time column: that of its type, or an integer's own; of dates in microseconds
    EVENTS = "events"  # events of the partition from first to last, inclusive


LONGEST = 2**62  # a window; times are nearer to 0 than that, so that no sum and no difference of them leaves 64 bits


@dataclass(frozen=True)
class Within:
    length: int
    unit: Unit = Unit.TIME


@dataclass(frozen=True)
class Measure:
    """An output column computed from a match."""

    name: str
    expr: Expr


@dataclass(frozen=True)
class Union:
    """A name for the rows of several variables (SUBSET), in expressions and in AFTER MATCH SKIP."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class OrderKey:
    column: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class MatchQuery:
    """`stream` is the name under which rows arrive; `schema` its columns. `time` is the event-time column (the leading ORDER BY
    column), None where rows are ordered but have no usable time. `order` holds all ordering columns, `time` first.
    `measures` None: the default output (match_id, start_ts, end_ts, a column per variable). Under the output `aggregates` the measures
    hold aggregates alone, over the events bound to their variable in all matches; COUNT without variable and body counts matches."""

    stream: str
    schema: Schema
    pattern: Pattern
    definitions: tuple[Definition, ...]
    selection: Selection
    time: str | None = None
    order: tuple[OrderKey, ...] = ()
    partition: tuple[str, ...] = ()
    null_keys: NullKeys = NullKeys.GROUP
    within: Within | None = None
    skip: Skip = Skip.PAST_LAST_ROW
    skip_to: str | None = None  # the variable or union of TO_FIRST and TO_LAST
    rows_per_match: RowsPerMatch = RowsPerMatch.ONE
    timeouts: bool = False  # partial matches that their window ended are reported too; a last column `timed_out` tells which are
    unions: tuple[Union, ...] = ()
    output: Output = Output.ALL
    ties: Ties = Ties.ORDER
    type_column: str | None = None
    kleene: tuple[str, ...] = ()  # variables reported as a list in the default output
    shown: tuple[str, ...] | None = None  # the variables of the default output, in its order; None: all, in the order of the text
    listed: MatchOrder = MatchOrder.COMPLETION
    measures: tuple[Measure, ...] | None = None
    measured_partition: bool = False  # put the partition columns before the measures (ISO ONE ROW PER MATCH)
    parts: tuple[Part, ...] = ()  # the streams that are read as one, where it is not one alone
    stream_number: str | None = None  # the column that tells which of the parts an event is of, from 0 on; no expression knows it

    @property
    def negations(self) -> tuple[Negation, ...]:
        """In the order of the text; only patterns of the run-based selections have some."""
        return negations_of(self.pattern)

    def constants(self, part: Part) -> dict[str, str | int]:
        """What all rows of a part have in columns that its stream lacks."""
        found: dict[str, str | int] = {}
        if self.type_column is not None and part.event_type is not None:
            found[self.type_column] = part.event_type
        if self.stream_number is not None:
            found[self.stream_number] = self.parts.index(part)
        return found

    def members(self, name: str) -> tuple[str, ...]:
        """The variables that a name in an expression stands for."""
        return next((union.members for union in self.unions if union.name == name), (name,))

    def names_of(self, variable: str) -> frozenset[str]:
        """All names under which expressions know the rows of a variable: its own, and those of its unions."""
        return frozenset((variable, *(union.name for union in self.unions if variable in union.members)))

    def definition(self, variable: str) -> Definition:
        for definition in self.definitions:
            if definition.variable == variable:
                return definition
        return Definition(variable)

"""What must not happen in the gaps of a match."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.column_code import ColumnCode
from ostinato.program.measure_code import MeasureCode


@dataclass(frozen=True)
class EventPoint:
    """A row that the conditions of negated events look at: the event bound to item `item` of the negation, moved by `shift` rows."""

    item: int
    shift: int


@dataclass(frozen=True)
class NegatedEvent:
    """A row is a negated event if bit `bit` holds (-1: any row) and `test` is true (None: nothing more is asked). `test` has one
    result and is evaluated over (match, row) pairs; its inputs are "match:M" (result M of the negation's `given`), "event:E:COLUMN"
    (stream column COLUMN at `points[E]`) and "there:E" (whether there is such a row). `join` is an equality that `test` implies: this
    column of the row and this result of `given`."""

    bit: int
    test: ColumnCode | None = None
    points: tuple[EventPoint, ...] = ()
    join: tuple[str, int] | None = None


@dataclass(frozen=True)
class Negation:
    """Kills a match whose gap here holds rows for `items`, in this order and by the program's selection. The gap lies behind the rows of
    the variables with numbers below `before`. `leads` and `trails`: it can stand before the first or behind the last row of a match.
    `given` computes what the tests want of the match. `chained`: a test looks at an earlier item."""

    before: int
    items: tuple[NegatedEvent, ...]
    leads: bool
    trails: bool
    given: MeasureCode
    chained: bool = False

    @property
    def is_static(self) -> bool:
        """Whether its events are known by their rows alone."""
        return all(item.test is None for item in self.items)

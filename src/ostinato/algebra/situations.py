"""Situations: what lasts while a condition holds, and patterns of them. TPStream's algebra.

A situation is an interval [start, end) of positive length. It is derived from events, as a longest run of them, in the order (time, row),
that satisfy a condition, and ends at the first event that does not; or it is given, as a row that has a start and an end. Times, durations
and bounds are in the unit of the time column, as that of `Within`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.allen import Constraint
from ostinato.algebra.parts import Part
from ostinato.algebra.policies import Latency, NullKeys
from ostinato.algebra.query import Measure, OrderKey, Within
from ostinato.expr.nodes import Expr
from ostinato.expr.typing.schema import Schema

START, END, DETECTED = "start_ts", "end_ts", "detected_ts"  # the columns of a result beside its measures
SITUATION = "situation"  # and of a situation that is a result by itself: the name of its definition


@dataclass(frozen=True)
class Duration:
    """How long a situation lasts, both included; None: no bound."""

    at_least: int | None = None
    at_most: int | None = None


@dataclass(frozen=True)
class SituationDefinition:
    """`condition` reaches the current event by `current(...)`, earlier ones by `Nav(None, LAST, 0, -n, body)`: the n-th before it among
    the events that the definition reads, of its partition. It must be true, not unknown.

    `sources` are the streams, by the names of the parts, whose events it reads: all others are not there for it, and end nothing. Empty:
    all. `start` is the column of starts where situations are given: each row that satisfies the condition is one, from there to its
    time. One that has no start, or starts behind its end, is an error in the data; one of zero length is none."""

    name: str
    condition: Expr
    duration: Duration = Duration()
    sources: tuple[str, ...] = ()
    start: str | None = None


@dataclass(frozen=True)
class Situations:
    """The situations of a stream, or of several `parts` merged by time, in each partition of its events. What these fields have in common
    with a `MatchQuery` means the same."""

    stream: str
    schema: Schema
    time: str
    definitions: tuple[SituationDefinition, ...]
    partition: tuple[str, ...] = ()
    null_keys: NullKeys = NullKeys.GROUP
    order: tuple[OrderKey, ...] = ()
    parts: tuple[Part, ...] = ()
    type_column: str | None = None
    stream_number: str | None = None

    def constants(self, part: Part) -> dict[str, str | int]:
        """What all rows of a part have in columns that its stream lacks."""
        found: dict[str, str | int] = {}
        if self.type_column is not None and part.event_type is not None:
            found[self.type_column] = part.event_type
        if self.stream_number is not None:
            found[self.stream_number] = self.parts.index(part)
        return found

    def definition(self, name: str) -> SituationDefinition:
        return next(definition for definition in self.definitions if definition.name == name)


@dataclass(frozen=True)
class SituationStream:
    """Each situation that has ended is an event: `situation`, the name of its definition, the columns of the partition, `start_ts`,
    `end_ts`, then the measures. They are those of `MatchIntervals`; an aggregate over the events of no name is over those of the situation,
    whichever it is, and one by a name is over no events where the situation is another one. Events are in the order of their ends, then of
    partitions by their key values (nulls last), then of definitions, then of starts."""

    situations: Situations
    measures: tuple[Measure, ...] = ()

    @property
    def time(self) -> str:
        """The column by which results are events in time."""
        return END


@dataclass(frozen=True)
class MatchIntervals:
    """A match is one situation per definition, of one partition, which satisfy all constraints and last together at most `within`.

    Measures reach the events of a situation by its name: `Aggregate(function, name, body)`, which leaves nulls out, `Aggregate("count",
    name, None)`, which counts events, and `Nav(name, FIRST | LAST, 0, 0, body)`, which is `first` and `last`: nulls count. Constants and
    scalar functions may stand around them. A result has the measures, then `start_ts` (the least start), `end_ts` (the greatest end,
    null while one is open) and `detected_ts`; results are in the order of detection, then of partitions by their key values (nulls last),
    then of starts in the order of the definitions."""

    situations: Situations
    constraints: tuple[Constraint, ...]
    within: Within | None = None
    latency: Latency = Latency.EARLIEST
    measures: tuple[Measure, ...] = ()

    @property
    def time(self) -> str:
        """The column by which results are events in time."""
        return DETECTED

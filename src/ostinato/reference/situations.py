"""Situations by definition: longest runs of events that satisfy a condition, or rows that last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.algebra.situations import END, SITUATION, START, Duration, SituationDefinition, Situations, SituationStream
from ostinato.base.errors import DataError
from ostinato.expr.times.nanoseconds import nanos_of_time
from ostinato.expr.types import Kind
from ostinato.expr.values.evaluate import evaluate
from ostinato.reference.binding import AtMatch, Binding
from ostinato.reference.stream import Row, partitions, rank, value_at

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Situation:
    """What is known of one at some moment: `end` None is still open. `events` are indexes into the partition; the first of them tells
    situations of a definition apart. Times are in ticks, `began` and `ended` as they stand in the input."""

    name: str
    start: int
    end: int | None
    events: tuple[int, ...]
    began: Any
    ended: Any = None

    @property
    def first(self) -> int:
        return self.events[0]


def merged(situations: Situations, streams: Mapping[str, Rows]) -> Rows:
    """The rows of these streams as those of the one that is read."""
    if not situations.parts:
        return streams[situations.stream]
    found: Rows = []
    for part in situations.parts:
        empty = dict.fromkeys(situations.schema.names) | situations.constants(part)
        found += [empty | {name: row[own] for own, name in part.columns} for row in streams[part.stream]]
    return found


def ticks(situations: Situations, value: Any) -> int:
    """A time in the unit of durations and windows."""
    if value is None:
        raise DataError(f"column {situations.time} is null, so the row has no place in time")
    type_ = situations.schema.type_of(situations.time)
    return value if type_.kind is Kind.INT else nanos_of_time(value) * type_.ticks // 1000


@dataclass(frozen=True)
class Events:
    """The events of a partition, in order, and which of them satisfy which definition."""

    situations: Situations
    rows: list[Row]
    times: list[int]
    satisfied: dict[str, list[bool | None]]  # None: the definition does not read the event

    @classmethod
    def of(cls, situations: Situations, rows: list[Row]) -> Events:
        times = [ticks(situations, value_at(row.values, situations.time)) for row in rows]
        return cls(situations, rows, times, {one.name: _satisfied(situations, one, rows) for one in situations.definitions})

    def known(self, definition: SituationDefinition, now: int) -> list[Situation]:
        """Its situations after all events up to a time, with no regard to durations."""
        read = [i for i, holds in enumerate(self.satisfied[definition.name]) if holds is not None and self.times[i] <= now]
        found = self._given(definition, read) if definition.start is not None else self._derived(definition, read)
        return [situation for situation in found if situation.end is None or situation.end > situation.start]

    def _given(self, definition: SituationDefinition, read: list[int]) -> list[Situation]:
        return [self._row(definition, i) for i in read if self.satisfied[definition.name][i]]

    def _row(self, definition: SituationDefinition, i: int) -> Situation:
        assert definition.start is not None
        began = value_at(self.rows[i].values, definition.start)
        start, end = ticks(self.situations, began), self.times[i]
        if start > end:
            raise DataError(f"a row of {definition.name} ends before it starts")
        return Situation(definition.name, start, end, (i,), began, self._time(i))

    def _derived(self, definition: SituationDefinition, read: list[int]) -> list[Situation]:
        found: list[Situation] = []
        run: list[int] = []
        for i in read:
            if self.satisfied[definition.name][i]:
                run.append(i)
            elif run:
                found.append(Situation(definition.name, self.times[run[0]], self.times[i], tuple(run), self._time(run[0]), self._time(i)))
                run = []
        if run:
            found.append(Situation(definition.name, self.times[run[0]], None, tuple(run), self._time(run[0])))
        return found

    def _time(self, i: int) -> Any:
        return value_at(self.rows[i].values, self.situations.time)


def _satisfied(situations: Situations, definition: SituationDefinition, rows: list[Row]) -> list[bool | None]:
    """PREV counts the events that the definition reads, and no others."""
    read = [i for i, row in enumerate(rows) if _reads(situations, definition, row)]
    own = [rows[i] for i in read]
    found: list[bool | None] = [None] * len(rows)
    for place, i in enumerate(read):
        found[i] = evaluate(definition.condition, AtMatch(Binding(own, ((place, definition.name),), 0))) is True
    return found


def _reads(situations: Situations, definition: SituationDefinition, row: Row) -> bool:
    if not definition.sources or situations.stream_number is None:
        return True
    return situations.parts[row.values[situations.stream_number]].stream in definition.sources


def lasts(duration: Duration, situation: Situation, now: int) -> bool:
    """Whether it meets the constraint, however long it may go on: what is still open ends later than now."""
    if situation.end is None:
        return duration.at_most is None and (duration.at_least is None or now - situation.start >= duration.at_least)
    length = situation.end - situation.start
    return (duration.at_least or 0) <= length and (duration.at_most is None or length <= duration.at_most)


def situation_rows(query: SituationStream, rows: Rows) -> Rows:
    """What a query returns whose results are the situations themselves, over the rows of the stream that it reads."""
    found = []
    for partition in partitions(query.situations, rows):
        events = Events.of(query.situations, partition)
        key = tuple(rank(value, nulls_low=False) for value in partition[0].key or ())
        for number, definition in enumerate(query.situations.definitions):
            for one in events.known(definition, events.times[-1]):
                if one.end is not None and lasts(definition.duration, one, one.end):
                    found.append(((one.end, key, number, one.start), _event(query, events, one)))
    return [row for _, row in sorted(found, key=lambda item: item[0])]


def _event(query: SituationStream, events: Events, one: Situation) -> dict[str, Any]:
    context = AtMatch(Binding(events.rows, tuple((index, one.name) for index in one.events), 0))
    first = events.rows[one.first].values
    return (
        {SITUATION: one.name}
        | {column: value_at(first, column) for column in query.situations.partition}
        | {START: one.began, END: one.ended}
        | {measure.name: evaluate(measure.expr, context) for measure in query.measures}
    )

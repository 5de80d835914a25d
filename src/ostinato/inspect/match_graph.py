"""The graph of one compressed value: how many matches there are, and which one is the n-th."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ostinato.inspect.ordered_paths import OrderedPaths

UNION = -1
NOTHING = -1


@dataclass(frozen=True)
class Found:
    """A match: numbers of its events, and of the variables that they stand under."""

    events: tuple[int, ...]
    variables: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """All matches that one event completes."""

    roots: tuple[int, ...]
    first_event: int


class MatchGraph:
    def __init__(self, value: pa.StructScalar) -> None:
        self._events: pa.StructArray = value["events"].values
        self._variables = [(variable["name"], variable["list"]) for variable in value["variables"].as_py()]
        self._time: str | None = value["time"].as_py()
        self.event, self.variable, self.before, self.other, self._roots, self._from = (
            _numbers(value[name]) for name in ("node_event", "node_variable", "node_before", "node_other", "root_node", "root_from")
        )

    @cached_property
    def _groups(self) -> list[Group]:
        by_event: dict[int, list[int]] = {}
        first: dict[int, int] = {}
        for root, allowed in zip(self._roots, self._from, strict=True):
            by_event.setdefault(self.event[root], []).append(root)
            first[self.event[root]] = allowed
        return [Group(tuple(by_event[event]), first[event]) for event in sorted(by_event)]

    @cached_property
    def newest(self) -> list[int]:
        """Per node the latest event with which a way back from it can end."""
        found: list[int] = []
        for event, before, other in zip(self.event, self.before, self.other, strict=True):
            if event == UNION:
                found.append(max(found[before], found[other]))
            else:
                found.append(event if before == NOTHING else found[before])
        return found

    @cached_property
    def counts(self) -> list[int]:
        """How many matches each group has. Where no start is too old, one pass over the graph tells for all."""
        ways: list[int] = []
        oldest: list[int] = []
        for event, before, other in zip(self.event, self.before, self.other, strict=True):
            if event == UNION:
                ways.append(ways[before] + ways[other])
                oldest.append(min(oldest[before], oldest[other]))
            else:
                ways.append(1 if before == NOTHING else ways[before])
                oldest.append(event if before == NOTHING else oldest[before])
        return [
            sum(ways[root] for root in group.roots)
            if all(oldest[root] >= group.first_event for root in group.roots)
            else OrderedPaths(self, group.roots, group.first_event).count
            for group in self._groups
        ]

    @property
    def count(self) -> int:
        return sum(self.counts)

    def matches(self, skipped: int = 0) -> Iterator[Found]:
        """In order, the first ones left out."""
        for group, count in zip(self._groups, self.counts, strict=True):
            if skipped >= count:
                skipped -= count
                continue
            for events, variables in OrderedPaths(self, group.roots, group.first_event).paths(skipped):
                yield Found(events, variables)
            skipped = 0

    def row(self, number: int, found: Found) -> dict[str, Any]:
        events = [self._event_row(event) for event in found.events]
        row: dict[str, Any] = {"match_id": number, "start_ts": self._time_of(events[0]), "end_ts": self._time_of(events[-1])}
        for place, (name, is_list) in enumerate(self._variables):
            own = [event for event, variable in zip(events, found.variables, strict=True) if variable == place]
            row[name] = own if is_list else (own[0] if own else None)
        return row

    def _event_row(self, event: int) -> dict[str, Any]:
        return self._events[event].as_py()

    def _time_of(self, event: dict[str, Any]) -> Any:
        return event["seq" if self._time is None else self._time]

    def table(self, first: int, matches: Iterable[Found]) -> pa.Table:
        """Rows numbered from `first` on."""
        listed = list(matches)
        lengths = np.array([len(found.events) for found in listed], np.int64)
        events = np.array([event for found in listed for event in found.events], np.int64)
        variables = np.array([variable for found in listed for variable in found.variables], np.int64)
        owner = np.repeat(np.arange(len(listed)), lengths)
        ends = np.cumsum(lengths)
        times = self._events.field("seq" if self._time is None else self._time)
        columns = {
            "match_id": pa.array(np.arange(first, first + len(listed)), pa.int64()),
            "start_ts": times.take(pa.array(events[ends - lengths], pa.int64())),
            "end_ts": times.take(pa.array(events[ends - 1], pa.int64())),
        }
        for place, (name, is_list) in enumerate(self._variables):
            chosen = variables == place
            columns[name] = self._column(events[chosen], owner[chosen], len(listed), is_list)
        return pa.table(columns)

    def _column(self, events: np.ndarray, owner: np.ndarray, count: int, is_list: bool) -> pa.Array:
        if is_list:
            offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])
            return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), self._events.take(pa.array(events, pa.int64())))
        single = np.full(count, NOTHING, np.int64)
        single[owner] = events
        return self._events.take(pa.array(single, pa.int64(), mask=single == NOTHING))


def _numbers(listed: pa.ListScalar) -> list[int]:
    return listed.values.to_pylist() if listed.is_valid else []

"""By which columns the rows of a graph may be divided: those that go through all of its operators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ostinato.expr.types import Type
from ostinato.program.analysis.carried_columns import key_columns
from ostinato.program.input import Source
from ostinato.program.pattern import Pattern
from ostinato.program.program import Program
from ostinato.tasks.division import dividing_keys, is_row_by_row, why_not_by_key
from ostinato.tasks.outside_streams import OutsideStream, outside_streams, own_names

ONE_ROW = ("count", "aggregates")  # outputs that say one thing about all matches


@dataclass(frozen=True)
class StreamKey:
    """A column of a stream, and the type in which its values are compared."""

    column: str
    type: Type


@dataclass(frozen=True)
class Part:
    """Streams whose rows may meet in one of the operators that they feed. `keys` are those of each stream, equally many: rows that differ
    in them never meet. None, with the reason: all rows of these streams have to be in one place."""

    streams: tuple[int, ...]
    keys: tuple[tuple[StreamKey, ...], ...]
    not_by_key: str | None


class GraphDivision:
    """`streams` are those from outside; `parts` tells how the rows of each are divided."""

    def __init__(self, program: Program, rows_anywhere: bool = False) -> None:
        """`rows_anywhere`: queries whose matches are single rows go wherever others send the rows; for hosts that keep them in order of
        time there."""
        self._program = program
        self.streams = outside_streams(program)
        self._dividing = _without_feeds(self.streams, _row_by_row(program, self.streams)) if rows_anywhere else self.streams
        self._keys = _Keys(program, self._dividing)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(self._part(inputs) for inputs in _connected(self._program, self._dividing))

    def keys_of(self, stream: int) -> tuple[StreamKey, ...]:
        part = next(part for part in self.parts if stream in part.streams)
        return part.keys[part.streams.index(stream)]

    def common_keys(self, number: int) -> tuple[str, ...]:
        """The columns by which all operators that read an input are keyed."""
        return self._keys.common(number)

    @property
    def is_keyed(self) -> bool:
        """Whether there is anything to divide."""
        return any(any(part.keys) for part in self.parts)

    def _part(self, inputs: frozenset[int]) -> Part:
        numbers = tuple(n for n, stream in enumerate(self._dividing) if any(number in inputs for number, _ in stream.feeds))
        keys = self._keys
        last = max(inputs)  # the farthest downstream: the way up from there is the only one
        followed = [found for column in keys.common(last) if (found := keys.followed(last, column)) is not None]
        own = tuple(tuple(keys.own_key(number, found) for found in followed) for number in numbers)
        return Part(numbers, own, None if followed else keys.why_none(inputs))


class _Keys:
    def __init__(self, program: Program, streams: tuple[OutsideStream, ...]) -> None:
        self._program = program
        self._streams = streams
        self._common = [self._keys_of_readers(number) for number in range(len(program.inputs))]

    def common(self, number: int) -> tuple[str, ...]:
        """The columns by which all operators that read an input are keyed."""
        return self._common[number]

    def _keys_of_readers(self, number: int) -> tuple[str, ...]:
        read = [self._divisible(operator.body) for operator in self._program.operators if number in operator.ports]
        return tuple(name for name in self._program.inputs[number].key_names if all(name in keys for keys in read))

    def _divisible(self, pattern: Pattern) -> tuple[str, ...]:
        alone = len(self._program.results) == 1
        return () if pattern.output in ONE_ROW and not (alone and pattern.output == "count") else dividing_keys(pattern)

    def followed(self, number: int, column: str) -> dict[int, str] | None:
        """The same key in all inputs that are connected with one; None if it does not reach all of them."""
        found = {number: column}
        waiting = [number]
        while waiting:
            number = waiting.pop()
            for other, columns in self._neighbours(number, found[number]):
                usable = [name for name in columns if self._usable(other, name, found[number], number)]
                if not usable or (other in found and found[other] not in usable):
                    return None
                if other not in found:
                    found[other] = usable[0]
                    waiting.append(other)
        return found

    def _usable(self, other: int, name: str, column: str, number: int) -> bool:
        return name in self.common(other) and _compared(self.type_of(other, name)) == _compared(self.type_of(number, column))

    def type_of(self, number: int, name: str) -> Type:
        return next(column.type for column in self._program.inputs[number].columns if column.name == name)

    def _neighbours(self, number: int, column: str) -> list[tuple[int, list[str]]]:
        """Inputs that meet the rows of one, and the columns in which they have what it has in `column`."""
        return [*self._upstream(number, column), *self._downstream(number, column), *self._beside(number, column)]

    def _upstream(self, number: int, column: str) -> list[tuple[int, list[str]]]:
        return [
            (self._program.operators[source.operator].ports[0], self._shown(number, source, column))
            for source in self._program.inputs[number].sources
            if source.operator >= 0
        ]

    def _downstream(self, number: int, column: str) -> list[tuple[int, list[str]]]:
        return [
            (target, [name for name in reads.key_names if self._shown(target, source, name) == [column]])
            for target, reads in enumerate(self._program.inputs)
            for source in reads.sources
            if source.operator >= 0 and number in self._program.operators[source.operator].ports
        ]

    def _beside(self, number: int, column: str) -> list[tuple[int, list[str]]]:
        """Those that read the same streams from outside. A stream without the column has rows for all keys: then nothing is divided."""
        found = []
        for stream in self._streams:
            for own in [self._own_name(n, source, column) for n, source in stream.feeds if n == number]:
                for other, source in stream.feeds:
                    names = self._program.inputs[other].key_names
                    found.append((other, [name for name in names if own is not None and self._own_name(other, source, name) == own]))
        return found

    def _own_name(self, number: int, source: int | None, column: str) -> str | None:
        reads = self._program.inputs[number]
        own = own_names(reads, Source(reads.stream) if source is None else reads.sources[source]).get(column)
        return None if own is None else own.name

    def _shown(self, number: int, source: Source, column: str) -> list[str]:
        """The key of the operator that an input has in a column. Where it may be null in some matches, it has to be in no partition."""
        published = next((own for own, name in source.columns if name == column), None if source.columns else column)
        key, always = key_columns(self._program.operators[source.operator].body).get(published or "", ("", False))
        return [key] if key and (always or self._program.inputs[number].null_keys == "never") else []

    def own_key(self, stream: int, found: dict[int, str]) -> StreamKey:
        number, source = self._streams[stream].feeds[0]
        name = self._own_name(number, source, found[number])
        assert name is not None
        return StreamKey(name, self.type_of(number, found[number]))

    def why_none(self, inputs: frozenset[int]) -> str:
        for operator in self._program.operators:
            if operator.ports[0] in inputs and not self._divisible(operator.body):
                reason = why_not_by_key(operator.body) or f"OUTPUT {operator.body.output} says one thing about all matches"
                return f"{operator.name}: {reason}" if operator.name else reason
        return "no key goes through all queries: all have to be keyed by the same column, and events have to return it"


def _compared(type_: Type) -> Type:
    """What tells values of keys apart: not how wide a column is."""
    return replace(type_, bits=64, signed=True, precision=0)


def _row_by_row(program: Program, streams: tuple[OutsideStream, ...]) -> frozenset[int]:
    """Inputs to whose readers it does not matter which rows are with which; of streams that others read as well."""
    read = {source.operator for reads in program.inputs for source in reads.sources}
    free = set(range(len(program.inputs)))
    for number, operator in enumerate(program.operators):
        upstream = any(source.operator >= 0 for source in operator.body.reads.sources)
        if number in read or upstream or not is_row_by_row(operator.body):
            free -= set(operator.ports)
    for stream in streams:
        if all(number in free for number, _ in stream.feeds):
            free -= {number for number, _ in stream.feeds}
    return frozenset(free)


def _without_feeds(streams: tuple[OutsideStream, ...], inputs: frozenset[int]) -> tuple[OutsideStream, ...]:
    return tuple(replace(stream, feeds=tuple(feed for feed in stream.feeds if feed[0] not in inputs)) for stream in streams)


def _connected(program: Program, streams: tuple[OutsideStream, ...]) -> list[frozenset[int]]:
    """Inputs in groups: those that read the same stream, and those that read what others return."""
    links = [{number for number, _ in stream.feeds} for stream in streams]
    for target, reads in enumerate(program.inputs):
        links += [{target, *program.operators[source.operator].ports} for source in reads.sources if source.operator >= 0]
    groups: list[set[int]] = []
    for link in links:
        met = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link] + [set().union(link, *met)]
    return [frozenset(group) for group in groups]

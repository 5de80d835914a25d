"""How rows are divided where the queries change while they come: not by what the queries have in common now, but as was settled at the
beginning. Queries that come later have to go by it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ostinato.base.errors import UnknownNameError, UnsupportedError
from ostinato.program.program import Program
from ostinato.tasks.division import is_row_by_row
from ostinato.tasks.graph_division import GraphDivision, Part, StreamKey
from ostinato.tasks.outside_streams import OutsideStream, outside_streams


@dataclass(frozen=True)
class FixedDivision:
    """`streams` are numbered as they were at the beginning, with all of their columns; `keys` are those by which each is divided, none
    where all of its rows are in one place."""

    streams: tuple[OutsideStream, ...]
    keys: tuple[tuple[StreamKey, ...], ...]

    @property
    def is_keyed(self) -> bool:
        return any(self.keys)

    def fed(self, program: Program) -> tuple[OutsideStream, ...]:
        """The streams, with those of a program's inputs that each of them feeds now."""
        read = {stream.name.lower(): stream.feeds for stream in outside_streams(program)}
        return tuple(replace(stream, feeds=read.get(stream.name.lower(), ())) for stream in self.streams)

    def check(self, program: Program) -> None:
        """Refuse a query whose rows would not meet."""
        division = GraphDivision(program)
        numbers = [self._number(stream) for stream in division.streams]
        for part in () if _goes_anywhere(program) else division.parts:
            self._check_keys(part, [numbers[number] for number in part.streams])

    def _number(self, stream: OutsideStream) -> int:
        for number, known in enumerate(self.streams):
            if known.name.lower() == stream.name.lower():
                if known.time.lower() != stream.time.lower():
                    raise UnsupportedError(
                        f"the query goes by {stream.time!r} of stream {stream.name!r}, and this stream of Spark goes by {known.time!r}",
                        hint="a stream of Spark has one watermark: start one of its own for such queries",
                    )
                return number
        names = ", ".join(known.name for known in self.streams)
        raise UnknownNameError(f"the stream of Spark does not read {stream.name!r}", hint=f"it reads {names}; see keys= and rule_log=")

    def _check_keys(self, part: Part, numbers: list[int]) -> None:
        wanted = {len(self.keys[number]) for number in numbers}
        for place in range(max(wanted)):
            fixed = [self.keys[number][place : place + 1] for number in numbers]
            types = {key.type for keys in fixed for key in keys}
            found = [column for column in zip(*part.keys, strict=True) if [(key.column,) for key in column] == _columns(fixed)]
            if len(wanted) > 1 or not found or len(types) > 1:
                keys = " and ".join(", ".join(key.column for key in self.keys[number]) or "nothing" for number in numbers)
                raise UnsupportedError(
                    f"rows of the stream are divided by {keys}, and the query does not keep to it",
                    detail=part.not_by_key,
                    hint="pass fewer keys= when the stream is begun, or start another stream for such queries",
                )


def _goes_anywhere(program: Program) -> bool:
    (body, *steps) = [operator.body for operator in program.operators]
    return not steps and is_row_by_row(body)


def _columns(keys: list[tuple[StreamKey, ...]]) -> list[tuple[str, ...]]:
    return [tuple(key.column for key in own) for own in keys]

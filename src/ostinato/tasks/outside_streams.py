"""The streams that a program reads from outside, as hosts hand over their rows: each once, however many inputs read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ostinato.program.input import Column, Input, Source
from ostinato.program.program import Program
from ostinato.runtime.rows.stream_form import own_columns
from ostinato.runtime.session.graph import Feed


@dataclass(frozen=True)
class OutsideStream:
    """`reads` has what is read of it, in its own columns and by its own time; `feeds` are those who read it. A stream that is read by two
    of its columns as times is two of these: it has come as far as each of them says."""

    reads: Input
    feeds: tuple[Feed, ...]

    @property
    def name(self) -> str:
        return self.reads.stream

    @property
    def time(self) -> str:
        return self.reads.time_name


def outside_streams(program: Program) -> tuple[OutsideStream, ...]:
    """In an order that does not depend on that of the queries."""
    found: dict[tuple[str, str], OutsideStream] = {}
    for number, reads in enumerate(program.inputs):
        for place, source in outside_sources(reads):
            own = _own_input(reads, source)
            known = found.setdefault((own.stream.lower(), own.time_name.lower()), OutsideStream(own, ()))
            whole = replace(known.reads, columns=_united(known.reads.columns, own.columns))
            found[own.stream.lower(), own.time_name.lower()] = OutsideStream(whole, (*known.feeds, (number, place)))
    return tuple(found[key] for key in sorted(found))


def outside_sources(reads: Input) -> list[tuple[int | None, Source]]:
    """Those of an input that are fed from outside, by their numbers."""
    if not reads.sources:
        return [(None, Source(reads.stream))]
    return [(number, source) for number, source in enumerate(reads.sources) if source.operator < 0]


def own_names(reads: Input, source: Source) -> Mapping[str, Column]:
    """What the columns of an input are called in one of its streams; what the stream has not is not there."""
    return own_columns(source, reads.columns) if source.columns else {column.name: column for column in reads.columns}


def _own_input(reads: Input, source: Source) -> Input:
    named = own_names(reads, source)
    columns = _united((), tuple(named.values()))
    time = columns.index(named[reads.time_name]) if reads.time >= 0 else -1
    return Input(source.stream, columns, time=time, order=((time, False, False),) if time >= 0 else ())


def _united(one: tuple[Column, ...], other: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple({column.name: column for column in (*other, *one)}[name] for name in dict.fromkeys(c.name for c in (*one, *other)))

"""Which operators read which inputs, and what they hand on to inputs that read them."""

from __future__ import annotations

from ostinato.program.analysis.output_times import is_decided_at_once, output_times, published_time
from ostinato.program.input import Input
from ostinato.program.program import Program
from ostinato.program.tree import TreePattern
from ostinato.runtime.rows.reorder import NEVER
from ostinato.runtime.rows.stream_form import unknown_stream, which_stream


class Edge:
    """From an operator to one of the sources of an input. `delay`: by how much its events can be older than the watermark of its own input;
    None: nothing is known, and they wait until the end. `by_rows`: they are decided by rows alone, not by time in partitions that get none.
    `ticks`: how many units of the target's times one of its own has."""

    def __init__(self, target: int, source: int, delay: int | None, by_rows: bool, ticks: int) -> None:
        self.target = target
        self.source = source
        self.delay = delay
        self.by_rows = by_rows
        self._ticks = ticks

    def watermark(self, before: int) -> int:
        """What the operator's own one says about its events."""
        assert self.delay is not None
        return min(max((before - self.delay) * self._ticks, NEVER + 1), -(NEVER + 1))


def edges(program: Program, ordered: bool) -> list[list[Edge]]:
    """Per operator. `ordered`: a nested pattern holds its matches back until nothing can come before them, which rows alone do not say."""
    found: list[list[Edge]] = [[] for _ in program.operators]
    for target, reads in enumerate(program.inputs):
        for number, source in enumerate(reads.sources):
            if source.operator >= 0:
                pattern = program.operators[source.operator].body
                delay = output_times(pattern, in_order=True).get(published_time(program, target, source))
                ticks = 1 if delay is None else reads.columns[reads.time].type.ticks // pattern.reads.columns[pattern.reads.time].type.ticks
                by_rows = is_decided_at_once(pattern) and not (ordered and isinstance(pattern, TreePattern))
                found[source.operator].append(Edge(target, number, delay, by_rows, ticks))
    return found


def readers_of(program: Program) -> list[list[int]]:
    """Per input, the operators that read it."""
    found: list[list[int]] = [[] for _ in program.inputs]
    for number, operator in enumerate(program.operators):
        for port in operator.ports:
            found[port].append(number)
    return found


def read_operators(program: Program) -> set[int]:
    """Those whose results are rows of others, which get them in the order of completion: so simultaneous ones have one order."""
    return {source.operator for reads in program.inputs for source in reads.sources if source.operator >= 0}


def outside_streams(program: Program) -> list[str]:
    return list(dict.fromkeys(stream for reads in program.inputs for stream, _ in outside(reads)))


def targets(program: Program, stream: str | None) -> list[tuple[int, int | None]]:
    """The inputs that read a stream from outside, and as which of their sources. None: it is the one stream there is."""
    streams = outside_streams(program)
    if stream is None:
        if len(program.inputs) == 1:
            return [(0, None)]
        if len(streams) > 1:
            raise which_stream(streams)
        stream = streams[0]
    found = [
        (number, source) for number, reads in enumerate(program.inputs) for name, source in outside(reads) if name.lower() == stream.lower()
    ]
    if not found:
        raise unknown_stream(stream, streams)
    return found


def outside(reads: Input) -> list[tuple[str, int | None]]:
    """The streams from outside that an input reads, and their numbers among its sources."""
    if not reads.sources:
        return [(reads.stream, None)]
    return [(source.stream, number) for number, source in enumerate(reads.sources) if source.operator < 0]

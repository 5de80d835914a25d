"""The contract between compiling and executing: a graph of operators, as plain values; everything a worker needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ostinato.program.input import Input
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.intervals import IntervalPattern
from ostinato.program.pattern import EventPattern, Pattern, RowPattern
from ostinato.program.tree import TreePattern

VERSION = 13

Body = RowPattern | EventPattern | TreePattern | InstanceAutomaton | IntervalPattern


@dataclass(frozen=True)
class Operator:
    """One step of a graph. `ports` are the numbers of the inputs that it reads; its results are a stream called `name`, which inputs of
    later operators may read. The body says what the operator does; it sees the columns that it reads, not all of those that are there."""

    name: str
    ports: tuple[int, ...]
    body: Body


@dataclass(frozen=True)
class Result:
    """What is handed out: the stream of an operator, under the name of a query."""

    query: str
    operator: int


@dataclass(frozen=True)
class Program:
    """`inputs` hold what their operators read together: rows are read, put in order, numbered and stored once for all of them. Operators
    stand behind those whose results they read."""

    inputs: tuple[Input, ...]
    operators: tuple[Operator, ...]
    results: tuple[Result, ...]
    version: int = VERSION

    @property
    def body(self) -> Body:
        """That of the operator with the one result."""
        (result,) = self.results
        return self.operators[result.operator].body


def alone(pattern: Pattern, query: str = "") -> Program:
    """A pattern over streams from outside, as a program."""
    assert isinstance(pattern, Body)
    return Program((pattern.reads,), (Operator(query, (0,), pattern),), (Result(query, 0),))


def program_of(operators: tuple[tuple[str, Body], ...], results: tuple[Result, ...]) -> Program:
    """Operators that read the same streams in the same order by the same keys share an input."""
    inputs: list[Input] = []
    numbers: dict[object, int] = {}
    placed = []
    for name, body in operators:
        shared = sharing(body.reads)
        if shared in numbers:
            inputs[numbers[shared]] = joined(inputs[numbers[shared]], body.reads)
        else:
            numbers[shared] = len(inputs)
            inputs.append(body.reads)
        placed.append(Operator(name, (numbers[shared],), body))
    return Program(tuple(inputs), tuple(placed), results)


def sharing(reads: Input) -> object:
    """Equal for inputs whose rows may be stored once."""
    sources = tuple((source.stream.lower(), source.constants, source.operator) for source in reads.sources)
    order = tuple((reads.columns[column].name, descending, nulls_first) for column, descending, nulls_first in reads.order)
    numbered = reads.columns[reads.stream_number].name if reads.stream_number >= 0 else ""
    return reads.stream.lower(), sources, reads.time_name, order, numbered, reads.key_names, _form(reads), reads.shape


def _form(reads: Input) -> object:
    """Merged streams have columns by other names: only those with all of them alike are shared."""
    return tuple(source.columns for source in reads.sources) if len(reads.sources) > 1 else ()


def joined(one: Input, other: Input) -> Input:
    """With the columns of both. A row matters if it does to one of them."""
    known = {column.name for column in one.columns}
    columns = (*one.columns, *(column for column in other.columns if column.name not in known))
    sources = tuple(
        replace(a, columns=tuple(dict.fromkeys((*a.columns, *b.columns)))) for a, b in zip(one.sources, other.sources, strict=True)
    )
    prefilters = tuple(dict.fromkeys((one.prefilter, other.prefilter)))
    prefilter = "" if "" in prefilters else prefilters[0] if len(prefilters) == 1 else f"({prefilters[0]}) OR ({prefilters[1]})"
    null_keys = one.null_keys if one.null_keys == other.null_keys else "group"  # those that want none leave them out by themselves
    return replace(one, columns=columns, sources=sources, null_keys=null_keys, prefilter=prefilter)

"""Programs of several queries: put together, and taken apart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ostinato.program.program import Body, Operator, Program, Result, joined, sharing

NO_QUERIES = Program((), (), ())
STEP = "#"  # between the name of a query and the number of a step of it before the last


def with_query(program: Program, query: str, own: Program, joinable: Collection[int]) -> Program:
    """`own` is the program of one query alone. It joins inputs that read the same streams in the same order by the same keys, of those that
    are `joinable`; otherwise it gets one of its own."""
    inputs, operators = list(program.inputs), list(program.operators)
    first, last = len(operators), own.results[-1].operator
    for number, operator in enumerate(own.operators):
        body = _moved(operator.body, first)
        reads = body.reads
        port = next(
            (n for n in range(len(inputs)) if (n in joinable or n >= len(program.inputs)) and sharing(inputs[n]) == sharing(reads)), -1
        )
        if port >= 0:
            inputs[port] = joined(inputs[port], reads)
        else:
            port = len(inputs)
            inputs.append(reads)
        name = query if number == last else f"{query}{STEP}{number}"
        operators.append(Operator(name, (port,), body))
    return Program(tuple(inputs), tuple(operators), (*program.results, Result(query, first + last)))


def _moved(body: Body, first: int) -> Body:
    """As it reads behind `first` other operators; the same body where it reads none of them."""
    if all(source.operator < 0 for source in body.reads.sources):
        return body
    sources = (replace(source, operator=source.operator + first if source.operator >= 0 else -1) for source in body.reads.sources)
    return replace(body, reads=replace(body.reads, sources=tuple(sources)))


def without_query(program: Program, query: str) -> Program:
    """Inputs that nobody reads any more are gone; those that are left keep the columns that they have."""
    gone = _steps(program, query)
    kept = [number for number in range(len(program.operators)) if number not in gone]
    number_of = {old: new for new, old in enumerate(kept)} | {-1: -1}
    ports = sorted({port for number in kept for port in program.operators[number].ports})
    port_of = {old: new for new, old in enumerate(ports)}

    def moved(operator: Operator) -> Operator:
        reads = operator.body.reads
        sources = tuple(replace(source, operator=number_of[source.operator]) for source in reads.sources)
        body = replace(operator.body, reads=replace(reads, sources=sources))
        return Operator(operator.name, tuple(port_of[port] for port in operator.ports), body)

    inputs = []
    for port in ports:
        reads = program.inputs[port]
        inputs.append(replace(reads, sources=tuple(replace(one, operator=number_of[one.operator]) for one in reads.sources)))
    results = tuple(Result(result.query, number_of[result.operator]) for result in program.results if result.query != query)
    return Program(tuple(inputs), tuple(moved(program.operators[number]) for number in kept), results)


def query_in(program: Program, query: str) -> Program:
    """The program of one of the queries, as if it were alone."""
    for other in [result.query for result in program.results if result.query != query]:
        program = without_query(program, other)
    alone = [replace(operator, body=operator.body) for operator in program.operators]
    return with_query(NO_QUERIES, query, Program(program.inputs, tuple(alone), (Result(query, len(alone) - 1),)), ())


def _steps(program: Program, query: str) -> set[int]:
    prefix = query + STEP
    return {
        number
        for number, operator in enumerate(program.operators)
        if operator.name == query or (operator.name.startswith(prefix) and operator.name[len(prefix) :].isdigit())
    }

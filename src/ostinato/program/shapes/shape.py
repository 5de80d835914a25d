"""Queries of one shape: equal programs up to constants in conditions, whatever language they came from. One body stands for all of them;
evaluating it is a join of the stream with a table of constants, a row per query, and then one ordinary pattern, keyed by the query and its
own keys."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ostinato.base.errors import StateError
from ostinato.expr.types import INT, Kind
from ostinato.expr.user_function import UserFunction
from ostinato.expr.values.casts import limit
from ostinato.program import serde
from ostinato.program.analysis.concerned_rows import why_not_shared
from ostinato.program.expansion import PARAMETER, expanded
from ostinato.program.functions_used import functions_of
from ostinato.program.input import Column
from ostinato.program.program import Body, Operator, Program, Result, alone
from ostinato.program.query_graphs import with_query
from ostinato.program.shapes.parameters import Parameters
from ostinato.program.verification.verify import verify_pattern


@dataclass(frozen=True)
class Shape:
    """`name` is equal for equal bodies. The body reads its constants as columns, see `Input.parameters`."""

    name: str
    body: Body

    @property
    def parameters(self) -> tuple[Column, ...]:
        return self.body.reads.parameters

    @cached_property
    def narrow(self) -> tuple[tuple[int, range], ...]:
        """The constants that are no larger than their type, by their numbers."""
        types = [column.type for column in self.parameters]
        return tuple((number, limit(type_)) for number, type_ in enumerate(types) if type_.kind is Kind.INT and type_.bits < INT.bits)

    @cached_property
    def functions(self) -> dict[str, UserFunction]:
        """Of users, that it calls. The name of a shape tells their names and signatures alone."""
        return functions_of(self.body)


@dataclass(frozen=True)
class Shaped:
    """A query as a row of its shape's table; or why it is none."""

    shape: Shape | None
    constants: tuple[Any, ...] = ()
    why_not: str = ""


def shaped(program: Program) -> Shaped:
    """`program` is that of one query alone."""
    if len(program.operators) > 1:
        return Shaped(None, why_not="it has several steps")
    body = program.operators[0].body
    if any(column.name.startswith(PARAMETER) for column in body.reads.columns):
        return Shaped(None, why_not=f"a column is called {PARAMETER}")
    parameters = Parameters()
    plain = parameters.without_constants(body)
    reads = replace(plain.reads, parameters=tuple(parameters.columns), prefilter="")
    plain = replace(plain, reads=reads)
    name = hashlib.sha256(serde.dumps(alone(plain))).hexdigest()[:24]
    found = replace(plain, reads=replace(reads, shape=name))
    if not parameters.columns:
        return Shaped(None, why_not="it has no constants")
    try:
        whole = verify_pattern(expanded(found))
    except StateError as error:
        return Shaped(None, why_not=f"its constants decide more than values: {error.message}")
    reason = why_not_shared(whole)
    return Shaped(None, why_not=reason) if reason else Shaped(Shape(name, found), tuple(parameters.values))


def program_of_shape(shape: Shape, queries: bytes, name: str) -> Program:
    """An operator for queries of a shape, over an input of its own. `queries` is the table of constants."""
    reads = replace(shape.body.reads, queries=queries)
    return Program((reads,), (Operator(name, (0,), shape.body),), (Result(name, 0),))


def with_part(program: Program, name: str, own: Program) -> Program:
    """With a query, or with all queries of a shape; `own` is its program alone."""
    if not is_shape(name):
        return with_query(program, name, own, range(len(program.inputs)))
    (operator,) = own.operators
    placed = Operator(operator.name, (len(program.inputs),), operator.body)
    result = Result(operator.name, len(program.operators))
    return Program((*program.inputs, *own.inputs), (*program.operators, placed), (*program.results, result))


def operator_name(shape: str, number: int = 0) -> str:
    """No query is called like this. `number`: of several operators for queries of the same shape."""
    return f"#{shape}~{number}" if number else f"#{shape}"


def is_shape(name: str) -> bool:
    return name.startswith("#")

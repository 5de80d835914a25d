"""A compiled query: what every stage made of it, and the sessions that run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from ostinato.algebra import text as algebra_text
from ostinato.algebra.event_streams import EventQuery
from ostinato.algebra.query import MatchQuery
from ostinato.algebra.situations import MatchIntervals, SituationStream
from ostinato.base.errors import OstinatoError, UnsupportedError
from ostinato.inspect.explain import automaton_svg, automaton_text, plan_text
from ostinato.kernels._jit import prepare
from ostinato.program.disassemble import disassemble
from ostinato.program.input import Source
from ostinato.program.pattern import Pattern
from ostinato.program.program import Body, Program, Result, program_of
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.output.output_schema import output_schema
from ostinato.runtime.session.given_times import Lateness, lateness_units
from ostinato.runtime.session.session import Session
from ostinato.runtime.session.session_options import NOT_GIVEN, NotGiven

AnyQuery = MatchQuery | EventQuery | MatchIntervals | SituationStream
STAGES = ("syntax", "algebra", "automaton", "plan", "program")


@dataclass(frozen=True)
class Around:
    """The SQL around the clauses of a statement: its text, with the name of a relation in the place of each, and what it returns."""

    sql: str
    schema: pa.Schema


@dataclass(frozen=True)
class Query:
    """`syntax` is the canonical text of the query in its own language; `rewritten` is the algebra after the rules in `applied`.
    `composite` names the events that it returns, where the text does; `upstream` are earlier queries of the same text, in order, whose
    events are streams for it. `warning` says what can outgrow any memory. A SQL statement is the query of its last clause: `upstream` are
    the clauses before it, `around` is what stands around them, unless it is no more than one clause."""

    text: str
    language: str
    syntax: str
    algebra: AnyQuery
    rewritten: AnyQuery
    applied: tuple[str, ...]
    pattern: Pattern
    composite: str | None = None
    upstream: tuple[Query, ...] = ()
    warning: str | None = None
    around: Around | None = None

    def explain(self, stage: str = "plan", format: str = "text") -> str:
        """The canonical text of a stage: syntax, algebra, automaton, plan or program. The automaton of an event pattern also as a
        picture, with `format="svg"`."""
        if format not in ("text", "svg"):
            raise OstinatoError(f'there is no format "{format}"', hint="the formats are text and svg")
        if format == "svg":
            if stage != "automaton":
                raise OstinatoError(f'stage "{stage}" is not drawn', hint='only "automaton" has the format svg')
            return automaton_svg(self.algebra)
        if self.upstream or self.around:
            return self._explain_parts(stage)
        if stage not in STAGES:
            raise OstinatoError(f'there is no stage "{stage}"', hint=f"the stages are {', '.join(STAGES)}")
        if stage == "syntax":
            return self.syntax
        if stage == "algebra":
            return algebra_text.to_text(self.algebra)
        if stage == "automaton":
            return automaton_text(self.algebra, self.pattern)
        if stage == "plan":
            return plan_text(self.rewritten, self.pattern, self.applied) + (f"warning: {self.warning}\n" if self.warning else "")
        return disassemble(self.pattern)

    @property
    def parts(self) -> tuple[Query, ...]:
        """The queries of the text, or the clauses of the statement, each by itself."""
        return (*self.upstream, replace(self, upstream=(), around=None))

    def _explain_parts(self, stage: str) -> str:
        shown = [query.explain(stage) for query in self.parts]
        kind = "query" if self.around is None else "clause"
        if len(shown) > 1:
            shown = [f"-- {kind} {number} of {len(shown)}\n{text}" for number, text in enumerate(shown, 1)]
        if self.around is not None and stage == "plan":
            shown[-1] += f"around the clauses: {' '.join(self.around.sql.split())}\n"
        return "\n\n".join(shown)

    @property
    def output_schema(self) -> pa.Schema:
        return output_schema(self.pattern) if self.around is None else self.around.schema

    @cached_property
    def program(self) -> Program:
        """The queries of the text as a graph: what one publishes is a stream for those after it."""
        published: dict[str, int] = {}
        operators: list[tuple[str, Body]] = []
        for part in self.parts:
            operators.append((part.composite or "", _reading(part.pattern, published)))
            if part.composite is not None:
                published[part.composite.lower()] = len(operators) - 1
        return program_of(tuple(operators), (Result("", len(operators) - 1),))

    def open(
        self,
        *,
        budget: Budget | None = None,
        lateness: Lateness | NotGiven | None = NOT_GIVEN,
        ordered: bool | None = None,
        late: str | None = None,
        snapshot: bytes | None = None,
        threads: int | None = None,
    ) -> Session:
        """A session to push batches to; see `runtime.session.session.Session`. `lateness` is a number in the unit of the time column, or
        for times a timedelta or a text such as "5 minutes"; 0 unless it is said. `late="keep"` keeps rows that come too late for
        `take_late`. A snapshot carries what was said; what is said again has to be the same, but for the budget. The first session ever
        on a machine compiles the kernels that it needs. `threads`: how many may derive and match situations beside one another, None: as
        many as there are processors and are worth it; nothing that is found depends on it."""
        if self.around is not None:
            raise UnsupportedError(
                "A session runs one clause, and there is SQL around it",
                hint="Run the statement with ost.sql, or open a session for a clause of it: query.parts[0].open()",
            ).within(self.text)
        told: dict[str, Any] = {"budget": budget, "lateness": lateness_in_units(lateness, self.program), "ordered": ordered, "late": late}
        told["threads"] = threads
        session = Session(self.program, snapshot=snapshot, **told)
        prepare()
        return session


def lateness_in_units(lateness: Lateness | NotGiven | None, program: Program) -> int | NotGiven | None:
    """In the unit of the streams' times, which is one."""
    if lateness is None or isinstance(lateness, NotGiven):
        return lateness
    outside = [reads for reads in program.inputs if not reads.sources or any(source.operator < 0 for source in reads.sources)]
    units = {lateness_units(lateness, reads) for reads in outside}
    if len(units) > 1 or (units not in ({0}, set()) and len({reads.columns[reads.time].type.ticks for reads in outside}) > 1):
        hint = "Cast them to one type of time"
        raise UnsupportedError("The streams have times of different units, and there is one lateness for all", hint=hint)
    return units.pop() if units else 0


def _reading(pattern: Pattern, published: Mapping[str, int]) -> Body:
    """The pattern, where its streams come from other operators told so."""
    assert isinstance(pattern, Body)
    reads = pattern.reads
    sources = reads.sources or (Source(reads.stream),)
    if not any(source.stream.lower() in published for source in sources):
        return pattern
    placed = tuple(replace(source, operator=published.get(source.stream.lower(), -1)) for source in sources)
    return replace(pattern, reads=replace(reads, sources=placed))

"""A compiled query: what every stage made of it, and the sessions that run it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ostinato.algebra import text as algebra_text
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import OstinatoError
from ostinato.kernels._jit import prepare
from ostinato.plan.explain import automaton_svg, automaton_text, plan_text
from ostinato.program.disassemble import disassemble
from ostinato.program.program import Program
from ostinato.runtime.budget import Budget
from ostinato.runtime.session import Session

STAGES = ("syntax", "algebra", "automaton", "plan", "program")


@dataclass(frozen=True)
class Query:
    """`syntax` is the canonical text of the query in its own language; `rewritten` is the algebra after the rules in `applied`."""

    text: str
    language: str
    syntax: str
    algebra: MatchQuery
    rewritten: MatchQuery
    applied: tuple[str, ...]
    program: Program

    def explain(self, stage: str = "plan", format: str = "text") -> str:
        """The canonical text of a stage: syntax, algebra, automaton, plan or program. The automaton of an event pattern also as a
        picture, with `format="svg"`."""
        if format not in ("text", "svg"):
            raise OstinatoError(f'there is no format "{format}"', hint="the formats are text and svg")
        if format == "svg":
            if stage != "automaton":
                raise OstinatoError(f'stage "{stage}" is not drawn', hint='only "automaton" has the format svg')
            return automaton_svg(self.algebra)
        if stage == "syntax":
            return self.syntax
        if stage == "algebra":
            return algebra_text.to_text(self.algebra)
        if stage == "automaton":
            return automaton_text(self.algebra, self.program)
        if stage == "plan":
            return plan_text(self.rewritten, self.program, self.applied)
        if stage == "program":
            return disassemble(self.program)
        raise OstinatoError(f'there is no stage "{stage}"', hint=f"the stages are {', '.join(STAGES)}")

    @property
    def output_schema(self) -> pa.Schema:
        return Session(self.program).schema

    def open(
        self, *, budget: Budget | None = None, lateness: int | None = 0, ordered: bool = False, snapshot: bytes | None = None
    ) -> Session:
        """A session to push batches to; see `runtime.session.Session`. The first one ever on a machine compiles the kernels."""
        prepare()
        return Session(self.program, budget=budget, lateness=lateness, ordered=ordered, snapshot=snapshot)

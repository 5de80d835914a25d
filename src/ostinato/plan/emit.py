"""Algebra to program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import MatchQuery, Unit, When
from ostinato.automata.nfa import construct
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Expr
from ostinato.expr.types import Kind
from ostinato.plan.classify import classify, type_test
from ostinato.plan.elements import PlacedElement, element_graph
from ostinato.plan.hidden_rows import hidden_rows
from ostinato.plan.input import emit_input
from ostinato.plan.measures import MeasureEmitter
from ostinato.plan.negation import emit_negations
from ostinato.plan.pushdown import pushdown
from ostinato.plan.row_predicates import RowEmitter
from ostinato.plan.scalar.scalar_code import ScalarPlan
from ostinato.program.code_inputs import code_inputs, measure_columns, negation_columns
from ostinato.program.elements import Element, Transition
from ostinato.program.measure_code import MeasureCode
from ostinato.program.negation import Negation
from ostinato.program.ordered_nfa import OrderedNfa, VariableTest
from ostinato.program.pattern import EventPattern, RowPattern
from ostinato.program.scalar_code import ScalarCode
from ostinato.program.verification.verify import verify_pattern

MICROSECONDS_PER_DAY = 86_400_000_000
MAX_VARIABLES = 250  # a row's variable is one byte


class Emitter:
    """Emits one query; used once."""

    def __init__(self, query: MatchQuery) -> None:
        self._query = query
        self._variables = variables_of(query.pattern)
        self._hidden = hidden_rows(query.pattern)
        if len(self._variables) + len(self._hidden.copies) > MAX_VARIABLES:
            raise UnsupportedError(f"a pattern may have at most {MAX_VARIABLES} variables, those inside and outside of exclusions counted")
        self._rows = RowEmitter()
        names = (*self._variables, *self._hidden.copies, *(union.name for union in query.unions))
        self._numbers = {name: i for i, name in enumerate(names)}
        self._scalar = ScalarPlan(query.names_of, self._rows.slot)
        self._classified = {
            name: (*type_test(query, query.definition(name)), *classify(query.definition(name), query.names_of(name)))
            for name in self._variables
        }

    @property
    def dynamic(self) -> bool:
        return any(not c.columnar for parts in self._classified.values() for c in parts)

    def emit_rows(self, evaluation: str, reason: str) -> RowPattern:
        query = self._query
        tests, nfa = self._automaton()
        common = self._common(evaluation, reason, ())
        return verify_pattern(RowPattern(
            **common,
            nfa=nfa,
            tests=_settled_tests(tests, common["scalar"]),
            hidden=tuple(self._numbers[original] for original in self._hidden.copies.values()),
            unions=tuple(tuple(self._numbers[member] for member in union.members) for union in query.unions),
            skip=query.skip.value,
            skip_to=-1 if query.skip_to is None else self._numbers[query.skip_to],
            rows_per_match=query.rows_per_match.value,
            timeouts=query.timeouts,
        ))  # fmt: skip

    def emit_events(self, evaluation: str, reason: str) -> EventPattern:
        query = self._query
        elements, initial = self._elements()
        negations = emit_negations(query, self._variables, self._rows)
        common = self._common(evaluation, reason, negations)
        return verify_pattern(EventPattern(
            **common,
            selection=query.selection.value,
            elements=_settled_elements(elements, common["scalar"]),
            initial=initial,
            negations=negations,
            output=query.output.value,
            ties=query.ties.value,
            prefilter_bits=self._prefilter_bits(elements, negations),
            merging=query.output is not Output.TIMEOUTS,  # of runs that were followed as one, some may be matches
        ))  # fmt: skip

    def _common(self, evaluation: str, reason: str, negations: tuple[Negation, ...]) -> dict[str, Any]:
        """What both kinds of patterns have; called when everything else has been emitted."""
        query = self._query
        scalar, registers = self._scalar.finish()
        rows, bits, slots = self._rows.finish()
        measures = MeasureCode((), None) if query.output is Output.COUNT else MeasureEmitter(query, self._numbers).emit()
        shifts = self._rows.shifts | {point.shift for point in measures.points} | _shifts(negations)
        used = {*code_inputs(rows), *measure_columns(measures), *(c for n in negations for c in negation_columns(n))}
        return {
            "reads": emit_input(query, used, pushdown(query)),
            "evaluation": evaluation,
            "reason": reason,
            "variables": (*self._variables, *self._hidden.copies.values()),
            "within": window_of(query),
            "within_unit": "time" if query.within is None else query.within.unit.value,
            "rows": rows,
            "bits": bits,
            "slots": slots,
            "look_back": -min(shifts),
            "look_ahead": max(shifts),
            "scalar": scalar,
            "registers": registers,
            "measures": measures,
            "kleene": tuple(name in query.kleene for name in (*self._variables, *self._hidden.copies.values())),
        }

    def _columnar(self, variable: str, *whens: When) -> list[Expr]:
        return [c.expr for c in self._classified[variable] if c.columnar and c.when in whens]

    def _dynamic(self, variable: str, *whens: When) -> list[Expr]:
        return [c.expr for c in self._classified[variable] if not c.columnar and c.when in whens]

    def _elements(self) -> tuple[tuple[Element, ...], tuple[Transition, ...]]:
        graph = element_graph(self._query.pattern)
        return tuple(self._element(c) for c in graph.elements), graph.initial.transitions

    def _automaton(self) -> tuple[tuple[VariableTest, ...], OrderedNfa]:
        tests = {name: self._test(name) for name in self._variables}
        copies = (tests[original] for original in self._hidden.copies.values())
        nfa = construct(self._hidden.pattern, self._numbers)
        if self._query.timeouts and (nfa.looks_at_start or nfa.looks_at_end):
            raise UnsupportedError("an anchor (^ or $) is not offered together with SHOW TIMEOUT MATCHES", hint="leave one of them out")
        return (*tests.values(), *copies), nfa

    def _element(self, element: PlacedElement) -> Element:
        name = element.variable
        leaving = [c.expr for c in self._classified[name] if c.when is When.LEAVING]
        return Element(
            variable=self._numbers[name],
            at_least=element.at_least,
            repeats=element.repeats,
            first_bit=self._rows.bit(self._columnar(name, When.EACH, When.FIRST)),
            later_bit=self._rows.bit(self._columnar(name, When.EACH, When.LATER)),
            first_block=self._scalar.block(name, self._dynamic(name, When.EACH, When.FIRST), "first"),
            later_block=self._scalar.block(name, self._dynamic(name, When.EACH, When.LATER), "later") if element.repeats else -1,
            leaving_block=self._scalar.block(name, leaving, "leaving"),
            transitions=element.after.transitions,
            completes=element.after.completes,
            passed_at_end=element.after.passed,
        )

    def _test(self, name: str) -> VariableTest:
        others = [c for c in self._classified[name] if c.when is not When.EACH]
        if others:
            raise UnsupportedError("a row pattern's conditions hold for every row of a variable", span=others[0].expr.span)
        return VariableTest(
            self._rows.bit(self._columnar(name, When.EACH)), self._scalar.block(name, self._dynamic(name, When.EACH), "each")
        )

    def _prefilter_bits(self, elements: tuple[Element, ...], negations: tuple[Negation, ...]) -> tuple[int, ...]:
        """Rows with none of these bits cannot take part: only where events may be skipped and none is counted."""
        query = self._query
        if query.selection not in (Selection.NEXT, Selection.ANY) or (query.within is not None and query.within.unit is Unit.EVENTS):
            return ()
        bits = {bit for c in elements for bit in ((c.first_bit, c.later_bit) if c.repeats else (c.first_bit,))}
        bits |= {item.bit for negation in negations for item in negation.items}
        return () if -1 in bits else tuple(sorted(bits))


def window_of(query: MatchQuery) -> int:
    """The window in the unit of the time column: dates are counted in days."""
    if query.within is None:
        return -1
    dated = query.within.unit is Unit.TIME and query.time is not None and query.schema.type_of(query.time).kind is Kind.DATE
    return query.within.length // MICROSECONDS_PER_DAY if dated else query.within.length


def _shifts(negations: tuple[Negation, ...]) -> set[int]:
    of_matches = {point.shift for negation in negations for point in negation.given.points}
    return of_matches | {point.shift for negation in negations for item in negation.items for point in item.points}


def _settled_tests(tests: tuple[VariableTest, ...], scalar: ScalarCode) -> tuple[VariableTest, ...]:
    return tuple(replace(test, block=settled(test.block, scalar)) for test in tests)


def _settled_elements(elements: tuple[Element, ...], scalar: ScalarCode) -> tuple[Element, ...]:
    return tuple(
        replace(
            element,
            first_block=settled(element.first_block, scalar),
            later_block=settled(element.later_block, scalar),
            leaving_block=settled(element.leaving_block, scalar),
        )
        for element in elements
    )


def settled(block: int, scalar: ScalarCode) -> int:
    """A block that turned out empty is no block."""
    if block < 0:
        return -1
    start, end = scalar.blocks[block]
    return block if start < end else -1

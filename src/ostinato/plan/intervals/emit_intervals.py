"""Patterns of situations to programs: a predicate for each definition, and what its situations carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from ostinato.algebra.allen import Constraint, Relation
from ostinato.algebra.policies import Latency
from ostinato.algebra.situations import DETECTED, END, SITUATION, START, MatchIntervals, SituationDefinition, SituationStream
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Call, Case, Expr, Field, Literal, Nav, current, type_of
from ostinato.expr.types import BOOL, STRING, Kind
from ostinato.plan.classify import conjuncts
from ostinato.plan.column_code import ColumnBuilder
from ostinato.plan.input import emit_input
from ostinato.plan.intervals.carried_values import CarriedValues, is_of_situation
from ostinato.plan.row_predicates import RowEmitter
from ostinato.program.analysis.search_cost import first_orders
from ostinato.program.code_inputs import code_inputs
from ostinato.program.intervals import RELATIONS, AllowedRelation, IntervalConstraint, IntervalPattern, SituationTest
from ostinato.program.measure_code import MeasureCode
from ostinato.program.verification.interval_check import MOST_DEFINITIONS
from ostinato.program.verification.verify import verify_pattern

EXACT_KEYS = (Kind.INT, Kind.STRING, Kind.BOOL, Kind.DATE, Kind.TIMESTAMP)


class IntervalEmitter:
    """Emits one query; used once."""

    def __init__(self, query: MatchIntervals | SituationStream) -> None:
        self._query = query
        self._match = query if isinstance(query, MatchIntervals) else None  # None: situations are results by themselves
        self._situations = query.situations
        self._names = tuple(definition.name for definition in query.situations.definitions)
        self._rows = RowEmitter()
        if len(self._names) > MOST_DEFINITIONS:
            raise UnsupportedError(f"a pattern may have at most {MOST_DEFINITIONS} situations", hint="split the query")

    def emit(self) -> IntervalPattern:
        match, situations = self._match, self._situations
        bits = [self._bits(definition) for definition in situations.definitions]
        starts = [self._start(definition) for definition in situations.definitions]
        carried = CarriedValues(self._names, self._rows, self._leaves())
        measures = self._measures(carried)
        rows, count, slots = self._rows.finish()
        constraints = () if match is None else tuple(map(self._constraint, match.constraints))
        return verify_pattern(IntervalPattern(
            reads=emit_input(situations, {*code_inputs(rows), *self._numbered()}, None),
            evaluation="intervals",
            reason=_reason(match),
            variables=self._names,
            within=-1 if match is None or match.within is None else match.within.length,
            rows=rows,
            bits=count,
            slots=slots,
            look_back=-min(self._rows.shifts),
            scalar=carried.code,
            registers=carried.described(),
            measures=measures,
            definitions=tuple(
                SituationTest(holds, reads, block, _length(one.duration.at_least), _length(one.duration.at_most), start)
                for one, (holds, reads), block, start in zip(situations.definitions, bits, carried.blocks, starts, strict=True)
            ),
            constraints=constraints,
            owners=carried.owners,
            orders=first_orders(len(self._names), constraints),
            latency=(Latency.FINAL if match is None else match.latency).value,
            each=match is None,
        ))  # fmt: skip

    def _numbered(self) -> tuple[str, ...]:
        """The column that tells streams apart, also where one alone is read."""
        number = self._situations.stream_number
        return () if number is None else (number,)

    def _bits(self, definition: SituationDefinition) -> tuple[int, int]:
        """That of the rows that satisfy it, and that of those it reads."""
        read = self._is_read(definition)
        conditions = list(conjuncts(definition.condition))
        if read is None:
            return self._rows.bit(conditions), -1
        for node in definition.condition.walk():
            if isinstance(node, Nav) and node.shift:
                raise UnsupportedError(
                    f"PREV in {definition.name} would skip the events of other streams, which is not evaluated here",
                    hint="Partition by plain columns, and write IS TRUE behind a condition that BETWEEN follows",
                    span=node.span,
                )
        return self._rows.bit([read, *conditions]), self._rows.bit([read])

    def _start(self, definition: SituationDefinition) -> int:
        """The slot with the start of each situation, where they are given."""
        if definition.start is None:
            return -1
        return self._rows.slot(current(Field(definition.start, type=self._situations.schema.type_of(definition.start))))

    def _is_read(self, definition: SituationDefinition) -> Expr | None:
        """The condition that a row is of one of its sources; None: all rows are."""
        situations = self._situations
        read = [part.event_type for part in situations.parts if part.stream in definition.sources]
        if not definition.sources or situations.type_column is None or len(read) == len(situations.parts):
            return None
        stream = current(Field(situations.type_column, type=STRING))
        tests: list[Expr] = [Call("eq", (stream, Literal(name, type=STRING)), type=BOOL) for name in read]
        return reduce(lambda left, right: Call("or", (left, right), type=BOOL), tests)

    def _leaves(self) -> Iterator[Expr]:
        """What measures ask of situations, each of one definition."""

        def below(expr: Expr) -> Iterator[Expr]:
            if self._key_value(expr) is not None:
                return
            if is_of_situation(expr):
                yield from self._by_definition(expr)
            else:
                for child in expr.children():
                    yield from below(child)

        for measure in self._query.measures:
            yield from below(measure.expr)

    def _key_value(self, expr: Expr) -> str | None:
        """The key that all events of a match have in common: nothing has to be carried. Doubles that are one key may differ (0.0, -0.0)."""
        if self._match is None or not self._match.constraints or not is_of_situation(expr):
            return None
        body = expr.body if isinstance(expr, Nav) or (isinstance(expr, Aggregate) and expr.function in ("min", "max")) else None
        is_key = isinstance(body, Field) and body.name in self._situations.partition and type_of(body).kind in EXACT_KEYS
        return body.name if isinstance(body, Field) and is_key and type_of(expr) == type_of(body) else None

    def _by_definition(self, leaf: Expr) -> tuple[Expr, ...]:
        """What is asked of the situation, whichever it is, is asked of each definition."""
        assert isinstance(leaf, Aggregate | Nav)
        names = self._names if leaf.variable is None else (leaf.variable,)
        return tuple(replace(leaf, variable=name) for name in names)

    def _measures(self, carried: CarriedValues) -> MeasureCode:
        code = ColumnBuilder()

        def resolve(expr: Expr) -> int | None:
            key = self._key_value(expr)
            if key is not None:
                return code.input(f"partition:{key}", type_of(expr))
            if expr is _WHICH:
                return code.input("situation", STRING)
            if not is_of_situation(expr):
                return None
            leaves = self._by_definition(expr)
            if len(leaves) > 1:
                return code.add(self._chosen(leaves), resolve)
            number, type_ = carried.register(leaves[0])
            return code.input(f"register:{number}", type_)

        time = self._situations.schema.type_of(self._situations.time)
        shown = [code.add(measure.expr, resolve) for measure in self._query.measures]
        names = tuple(measure.name for measure in self._query.measures)
        if self._match is not None:
            times = [code.input(name, time) for name in ("start", "end", "detected")]
            return MeasureCode((*names, START, END, DETECTED), code.finish([*shown, *times]))
        keys = self._situations.partition
        first = [code.input("situation", STRING)]
        first += [code.input(f"partition:{key}", self._situations.schema.type_of(key)) for key in keys]
        first += [code.input(name, time) for name in ("start", "detected")]  # one is known when it ends
        return MeasureCode((SITUATION, *keys, START, END, *names), code.finish([*first, *shown]))

    def _chosen(self, leaves: tuple[Expr, ...]) -> Case:
        """The one of the definition that the situation is of."""
        tests = (Call("eq", (_WHICH, Literal(name, type=STRING)), type=BOOL) for name in self._names)
        return Case(tuple(zip(tests, leaves, strict=True)), None, type=type_of(leaves[0]))

    def _constraint(self, constraint: Constraint) -> IntervalConstraint:
        allowed = []
        for related in constraint.allowed:
            bounds = () if related.bounds is None else (True, related.bounds.least, related.bounds.most)
            allowed.append(AllowedRelation(_NUMBERS[related.relation], *bounds))
        return IntervalConstraint(self._names.index(constraint.first), self._names.index(constraint.second), tuple(allowed))


_WHICH = Field(SITUATION, type=STRING)  # which definition a situation is of
_NUMBERS = {relation: RELATIONS.index(relation.value) for relation in Relation}


def _length(bound: int | None) -> int:
    return -1 if bound is None else bound


def _reason(query: MatchIntervals | None) -> str:
    if query is None:
        return "situations are derived row by row"
    when = "as soon as nothing can refute a match" if query.latency.value == "earliest" else "when the last of a match has ended"
    return f"situations are kept in the order of their times and joined {when}"

"""Nested patterns to program."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.algebra.pattern import Pattern, Repetition, Variable, parts_of, variables_of
from ostinato.algebra.policies import MatchOrder, Output
from ostinato.algebra.query import MatchQuery, Unit, When
from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Anchor, Expr, Nav, type_of
from ostinato.plan.classify import Classified, PredicateClass, classify, predicate_class, type_test
from ostinato.plan.emit import MAX_VARIABLES, settled, window_of
from ostinato.plan.input import emit_input
from ostinato.plan.measures import MeasureEmitter
from ostinato.plan.pushdown import rows_of_variables
from ostinato.plan.row_predicates import RowEmitter
from ostinato.plan.scalar.scalar_code import ScalarPlan
from ostinato.plan.tree.branches import Bound, NegatedWay, Nest, Way, named_in, ways_of
from ostinato.plan.tree.equality_keys import drop_equalities, equal_fields, keyed
from ostinato.plan.tree.running_conditions import guarded
from ostinato.program.code_inputs import code_inputs, measure_columns
from ostinato.program.measure_code import MeasureCode
from ostinato.program.scalar_code import ScalarCode
from ostinato.program.tree import Branch, Group, Limit, NegatedBranch, TreePattern, TreeTest, TreeVariable
from ostinato.program.verification.verify import verify_pattern


class TreeEmitter:
    """Emits one query; used once."""

    def __init__(self, query: MatchQuery, by_key: bool) -> None:
        self._ways = ways_of(query.pattern)
        shown = variables_of(query.pattern)
        self._kleene = frozenset(_repeated(query.pattern))
        self._query = keyed(query, self._ways, self._kleene) if by_key else query
        if self._query is not query:
            for way in self._ways:
                drop_equalities(self._query.partition[0], way)
        if query.listed is MatchOrder.INTERVAL:
            self._query = guarded(self._query, self._ways)
        negated = [name for way in self._ways for name in _negated_in(way)]
        self._names = (*shown, *dict.fromkeys(negated))
        if len(self._names) > MAX_VARIABLES:
            raise UnsupportedError(f"a pattern may have at most {MAX_VARIABLES} variables")
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._shown = shown
        self._rows = RowEmitter()
        self._scalar = ScalarPlan(query.names_of, self._rows.slot)
        self._local: dict[str, list[Expr]] = {name: [] for name in self._names}
        self._tests: list[TreeTest] = []
        self._test_numbers: dict[str, int] = {}
        for way in self._ways:
            self._push_inward(way)

    def emit(self, evaluation: str, reason: str) -> TreePattern:
        query = self._query
        branches = tuple(map(self._branch, self._ways))
        tree = tuple(map(self._variable, self._names))
        measures = MeasureCode((), None) if query.output is Output.COUNT else MeasureEmitter(query, self._numbers).emit()
        scalar, registers = self._scalar.finish()
        rows, bits, slots = self._rows.finish()
        return verify_pattern(TreePattern(
            reads=emit_input(query, {*code_inputs(rows), *measure_columns(measures)}, rows_of_variables(query, self._local)),
            evaluation=evaluation,
            reason=reason,
            variables=self._shown,
            within=window_of(query),
            within_unit="time" if query.within is None else query.within.unit.value,
            rows=rows,
            bits=bits,
            slots=slots,
            scalar=scalar,
            registers=registers,
            measures=measures,
            kleene=tuple(name in query.kleene for name in self._shown),
            tree=tuple(self._settled(variable, scalar) for variable in tree),
            negated=self._names[len(self._shown) :],
            tests=tuple(self._tests),
            branches=branches,
            output=query.output.value,
            shown=None if query.shown is None else tuple(self._numbers[name] for name in query.shown),
            prefilter_bits=self._prefilter_bits(tree),
        ))  # fmt: skip

    @staticmethod
    def _settled(variable: TreeVariable, scalar: ScalarCode) -> TreeVariable:
        first, later = settled(variable.first_block, scalar), settled(variable.later_block, scalar)
        return TreeVariable(variable.bit, first, later, variable.repeats)

    def _push_inward(self, way: Way) -> None:
        """Conditions about one event alone are known by its row; not those of an alternative, about an event outside of it."""
        for condition in tuple(way.conditions):
            names = tuple(named_in(condition))
            if len(names) == 1 and condition in way.own and self._is_columnar(condition, names[0]):
                only = names[0]
                if condition not in self._local[only]:
                    self._local[only].append(condition)
                way.conditions.remove(condition)
        for negated in way.negations:
            self._push_inward(negated.way)

    def _is_columnar(self, condition: Expr, name: str) -> bool:
        if name in self._kleene:
            return False
        return predicate_class(condition, frozenset((name,)), When.EACH) is not PredicateClass.DYNAMIC

    def _variable(self, name: str) -> TreeVariable:
        definition = self._query.definition(name)
        parts: tuple[Classified, ...] = (*type_test(self._query, definition), *classify(definition))
        each = [part.expr for part in parts if part.columnar and part.when is When.EACH]
        bit = self._rows.bit([*each, *self._local[name]])
        others = [part for part in parts if not (part.columnar and part.when is When.EACH) and part.when is not When.LEAVING]
        first = [part.expr for part in others if part.when in (When.EACH, When.FIRST)]
        later = [part.expr for part in others if part.when in (When.EACH, When.LATER)]
        repeats = name in self._kleene
        first_block = self._scalar.block(name, first, "first")
        return TreeVariable(bit, first_block, self._scalar.block(name, later, "later") if repeats else -1, repeats)

    def _branch(self, way: Way, around: frozenset[str] = frozenset()) -> Branch:
        leaving = [part.expr for name in way.variables for part in classify(self._query.definition(name)) if part.when is When.LEAVING]
        return Branch(
            variables=self._of(way.variables),
            follows=tuple((self._numbers[a], self._numbers[b]) for a, b in way.follows),
            tests=tuple(dict.fromkeys(self._test(condition, way) for condition in (*way.conditions, *leaving))),
            negations=tuple(self._negation(negated, around | {*way.variables}) for negated in way.negations),
            groups=tuple(map(self._group, way.nests)),
        )

    def _negation(self, negated: NegatedWay, around: frozenset[str]) -> NegatedBranch:
        running = [condition.expr for name in negated.way.variables for condition in self._query.definition(name).conditions]
        asked = frozenset[str]().union(*map(named_in, running)) & around
        branch = self._branch(negated.way, around)
        return NegatedBranch(branch, self._limit(negated.left), self._limit(negated.right), tuple(sorted(self._of(tuple(asked)))))

    def _limit(self, bound: Bound) -> Limit:
        if not bound.variables:
            self._check_window()
        return Limit(self._of(bound.variables), bound.includes)

    def _check_window(self) -> None:
        within = self._query.within
        if within is None or within.unit is Unit.EVENTS:
            raise UnsupportedError("A negation at an end of the pattern needs a window of time", hint="Add WITHIN with a length of time")

    def _group(self, nest: Nest) -> Group:
        return Group(self._of(nest.variables), tuple(map(self._group, nest.nests)))

    def _of(self, names: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(self._numbers[name] for name in names)

    def _test(self, condition: Expr, way: Way) -> int:
        names = sorted(named_in(condition), key=self._numbers.__getitem__)
        key = f"{condition!r}"
        if key not in self._test_numbers:
            self._test_numbers[key] = len(self._tests)
            block = self._scalar.block(names[0] if names else way.variables[0], [condition], "leaving")
            self._tests.append(TreeTest(block, tuple(self._numbers[name] for name in names), self._equal(condition)))
        return self._test_numbers[key]

    def _equal(self, condition: Expr) -> tuple[tuple[int, int], tuple[int, int]] | None:
        found = equal_fields(condition)
        if found is None or self._kleene & {found[0][0], found[1][0]}:
            return None
        one, other = (
            (self._numbers[name], self._rows.slot(Nav(None, Anchor.LAST, 0, 0, field, type=type_of(field)))) for name, field in found
        )
        return one, other

    def _prefilter_bits(self, tree: tuple[TreeVariable, ...]) -> tuple[int, ...]:
        within = self._query.within
        bits = {variable.bit for variable in tree}
        return () if -1 in bits or (within is not None and within.unit is Unit.EVENTS) else tuple(sorted(bits))


def _negated_in(way: Way) -> list[str]:
    found: list[str] = []
    for negated in way.negations:
        found += [*negated.way.variables, *_negated_in(negated.way)]
    return found


def _repeated(pattern: Pattern) -> Iterator[str]:
    """Variables that may take several events, negated ones too."""
    if isinstance(pattern, Repetition):
        if pattern.at_most is None and isinstance(pattern.item, Variable):
            yield pattern.item.name
    else:
        for item in parts_of(pattern):
            yield from _repeated(item)

"""What a nested pattern says, branch by branch: which events stand before which, which conditions hold, and in which intervals what must
not be."""

from __future__ import annotations

from dataclasses import dataclass, field

from ostinato.algebra.pattern import Conjunction, Empty, Negation, Pattern, Repetition, Sequence, Variable, Where, variables_of
from ostinato.base.errors import UnsupportedError
from ostinato.expr.fold import fold
from ostinato.expr.nodes import Aggregate, Expr, Literal, Nav
from ostinato.plan.tree.alternatives import left_out, ways_through


@dataclass(frozen=True)
class Bound:
    """One end of an interval, by names; see `program.tree.Limit`."""

    variables: tuple[str, ...] = ()
    includes: bool = False


WINDOW = Bound()
HOLDS = Literal(True)


@dataclass(frozen=True)
class Nest:
    """The variables of a nested expression."""

    variables: tuple[str, ...]
    nests: tuple[Nest, ...] = ()


@dataclass
class Way:
    """One way through the alternatives; see `program.tree.Branch`. `empty` are the members that select nothing on it, and around it. `own`
    are those of the conditions that stand around all variables they speak of: they hold wherever these are bound, on every way."""

    variables: tuple[str, ...]
    empty: frozenset[str] = frozenset()
    follows: list[tuple[str, str]] = field(default_factory=list)
    conditions: list[Expr] = field(default_factory=list)
    own: list[Expr] = field(default_factory=list)
    negations: list[NegatedWay] = field(default_factory=list)
    nests: tuple[Nest, ...] = ()


@dataclass(frozen=True)
class NegatedWay:
    way: Way
    left: Bound
    right: Bound


def named_in(expr: Expr) -> frozenset[str]:
    """The variables that a condition speaks of."""
    return frozenset(node.variable for node in expr.walk() if isinstance(node, Nav | Aggregate) and node.variable is not None)


def counting_none(condition: Expr, empty: frozenset[str]) -> Expr:
    """The condition where these members select nothing: they have no events to count."""

    def counted(expr: Expr) -> Expr:
        if isinstance(expr, Aggregate) and expr.function == "count" and expr.variable in empty:
            return Literal(0, span=expr.span, type=expr.type)
        return expr.map_children(counted)

    return fold(counted(condition)) if named_in(condition) & empty else condition


def ways_of(
    pattern: Pattern,
    around: frozenset[str] = frozenset(),
    empty: frozenset[str] = frozenset(),
    left: Bound = WINDOW,
    right: Bound = WINDOW,
) -> tuple[Way, ...]:
    """`around` are variables of the expressions around a negated one, which are bound when it is looked at, `empty` members there that
    select nothing; `left` and `right` are its constraint window."""
    return tuple(_way(one, around, empty, left, right) for one in ways_through(pattern) if variables_of(one))


def _way(pattern: Pattern, around: frozenset[str], empty: frozenset[str], left: Bound, right: Bound) -> Way:
    way = Way(variables_of(pattern), empty | left_out(pattern))
    nests = _Walk(way, around | frozenset(way.variables)).walk(pattern, left, right)
    way.nests = nests[0].nests if len(nests) == 1 and nests[0].variables == way.variables else nests
    return way


class _Walk:
    def __init__(self, way: Way, bound: frozenset[str]) -> None:
        self._way = way
        self._bound = bound

    def walk(self, pattern: Pattern, left: Bound, right: Bound) -> tuple[Nest, ...]:
        """Note what a part of the pattern says; returns what is nested in it, itself included if it has several variables."""
        match pattern:
            case Variable() | Repetition() | Empty():
                return ()
            case Where(item, conditions):
                asked = [(condition, counting_none(condition, self._way.empty)) for condition in conditions]
                self._way.conditions += [now for _, now in asked if named_in(now) <= self._bound and now != HOLDS]
                self._way.own += [condition for condition, _ in asked if named_in(condition) <= {*variables_of(item)}]
                return self.walk(item, left, right)
            case Sequence(items):
                return self._nested(pattern, self._sequence(items, left, right))
            case Conjunction(items):
                return self._nested(pattern, self._conjunction(items, left, right))
        raise UnsupportedError("A negation stands in SEQ or AND", span=pattern.span if isinstance(pattern, Negation) else None)

    @staticmethod
    def _nested(pattern: Pattern, inside: list[Nest]) -> tuple[Nest, ...]:
        variables = variables_of(pattern)
        return (Nest(variables, tuple(inside)),) if len(variables) > 1 else tuple(inside)

    def _sequence(self, items: tuple[Pattern, ...], left: Bound, right: Bound) -> list[Nest]:
        found: list[Nest] = []
        held = [variables_of(item) for item in items]  # none: a negation, or what was left empty
        for place, item in enumerate(items):
            before = next((Bound(names) for names in reversed(held[:place]) if names), left)
            after = next((Bound(names) for names in held[place + 1 :] if names), right)
            if isinstance(item, Negation):
                self._negation(item, before, after)
                continue
            if held[place] and before is not left:
                self._way.follows += [(earlier, later) for earlier in before.variables for later in held[place]]
            found += self.walk(item, before, after)
        return found

    def _conjunction(self, items: tuple[Pattern, ...], left: Bound, right: Bound) -> list[Nest]:
        found: list[Nest] = []
        extent = Bound(tuple(name for item in items for name in variables_of(item)), includes=True)
        for item in items:
            if not isinstance(item, Negation):
                found += self.walk(item, left, right)
            elif extent.variables:
                self._negation(item, extent, extent)
        return found

    def _negation(self, negation: Negation, left: Bound, right: Bound) -> None:
        ways = ways_of(negation.item, self._bound, self._way.empty, left, right)
        self._way.negations += [NegatedWay(way, left, right) for way in ways]

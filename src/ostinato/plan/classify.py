"""The class of a predicate decides its price: what looks at the current row and its physical neighbours alone is evaluated as a
column, once per batch; the rest is code over the registers of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from ostinato.algebra.query import Condition, Definition, MatchQuery, When
from ostinato.expr.nodes import Aggregate, Anchor, Call, Classifier, Expr, Field, Literal, MatchNumber, Nav, current
from ostinato.expr.types import BOOL, STRING


class PredicateClass(Enum):
    STATIC = "static"
    NEIGHBOUR = "neighbour"
    DYNAMIC = "dynamic"


def conjuncts(expr: Expr) -> Iterable[Expr]:
    """The parts of a conjunction, left to right."""
    if isinstance(expr, Call) and expr.name == "and":
        for arg in expr.args:
            yield from conjuncts(arg)
    else:
        yield expr


def is_current_row(nav: Nav, names: frozenset[str]) -> bool:
    """Whether the navigation starts at the row whose binding is being decided; `names` are those of its variable."""
    return nav.anchor is Anchor.LAST and nav.offset == 0 and (nav.variable is None or nav.variable in names)


def predicate_class(expr: Expr, names: frozenset[str], when: When) -> PredicateClass:
    if when is When.LEAVING:
        return PredicateClass.STATIC if isinstance(expr, Literal) else PredicateClass.DYNAMIC
    found = PredicateClass.STATIC
    for node in expr.walk():
        if isinstance(node, Aggregate | MatchNumber | Classifier):
            return PredicateClass.DYNAMIC
        if isinstance(node, Nav):
            if not is_current_row(node, names):
                return PredicateClass.DYNAMIC
            if node.shift:
                found = PredicateClass.NEIGHBOUR
    return found


@dataclass(frozen=True)
class Classified:
    """A conjunct of a variable's definition."""

    expr: Expr
    when: When
    kind: PredicateClass

    @property
    def columnar(self) -> bool:
        return self.kind is not PredicateClass.DYNAMIC


def classify(definition: Definition, names: frozenset[str] = frozenset()) -> tuple[Classified, ...]:
    """`names`: further ones of the variable, such as its unions."""
    known = names | {definition.variable}
    return tuple(
        Classified(part, condition.when, predicate_class(part, known, condition.when))
        for condition in definition.conditions
        for part in conjuncts(condition.expr)
    )


def type_test(query: MatchQuery, definition: Definition) -> tuple[Classified, ...]:
    """That the row is of the event type, where the definition asks for one."""
    if definition.event_type is None or query.type_column is None:
        return ()
    kind = Field(query.type_column, type=query.schema.type_of(query.type_column))
    test = Call("eq", (current(kind), Literal(definition.event_type, type=STRING)), type=BOOL)
    return (Classified(test, When.EACH, PredicateClass.STATIC),)


def condition(expr: Expr, when: When = When.EACH) -> Condition:
    return Condition(expr, when, expr.span)

"""The formulas on the edges: steps 2 to 6 of the paper's section 3.2.

Conjuncts stand on the edge of their last identifier; ignore edges follow from the selection strategy; the window is checked on the edge to
F (basic) and then pushed to every edge that consumes an event; a proceed edge is constrained to events that begin what follows."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.policies import Selection, Ties
from ostinato.algebra.query import Definition, MatchQuery, Unit, When
from ostinato.expr.text import literal_text, name_text
from ostinato.expr.types import Kind as TypeKind
from ostinato.inspect.automaton.duration import duration_text
from ostinato.inspect.automaton.identifiers import conjunct_text
from ostinato.inspect.automaton.structure import FINAL, Edge, Kind, State, Structure, current_name, first_name

FALSE = "False"
TRUE = "True"
AND, OR, NOT = " ∧ ", " ∨ ", "¬"


@dataclass(frozen=True)
class Formula:
    """`name` without its mark; `basic` as the clauses of the query give it, `pushed` after the optimisations, None where they leave it."""

    name: str
    basic: str
    pushed: str | None = None

    @property
    def effective(self) -> str:
        """How other formulas call it: with a star where the optimisations have changed it."""
        return f"θ*{self.name}" if self.pushed is not None else f"θ{self.name}"


class Formulas:
    """The formulas of one query's automaton."""

    def __init__(self, query: MatchQuery, structure: Structure) -> None:
        self._query = query
        self._structure = structure
        self._kleene = frozenset(c.variable for c in structure.graph.elements if c.repeats)
        # what is selected first whenever it is selected at all
        self._openers = [first_name(structure.element(number)) for number in structure.state(structure.start).waits_for]
        entries = structure.graph.initial.transitions
        self.first = first_name(structure.element(entries[0].target)) if len(entries) == 1 else "first"

    def of(self, edge: Edge) -> Formula:
        if edge.kind is Kind.BEGIN:
            return self.begin(edge)
        if edge.kind is Kind.TAKE:
            name = f"{edge.source}_take"
            basic = self._take(edge.source)
            return Formula(name, _all(basic), self._pushed(name, edge.source))
        if edge.kind is Kind.IGNORE:
            return self._ignore(edge)
        return self._proceed(edge)

    def begin(self, edge: Edge) -> Formula:
        """Named after the element, since it is the same wherever the element begins."""
        element = self._structure.element(edge.element or 0)
        event = first_name(element)
        conjuncts = self._begin(edge.element or 0)
        started = edge.element not in self._structure.state(self._structure.start).waits_for
        window = self._window(event) if started else []
        if edge.target == FINAL:
            return Formula(f"{event}_begin", _all(conjuncts + window))
        return Formula(f"{event}_begin", _all(conjuncts), self._pushed(f"{event}_begin", event) if started else None)

    def _begin(self, number: int) -> list[str]:
        element = self._structure.element(number)
        definition = self._query.definition(element.variable)
        whens = (When.EACH, When.FIRST) if element.repeats else (When.EACH, When.FIRST, When.LEAVING)
        return self._conjuncts(definition, first_name(element), whens)

    def _take(self, state: str) -> list[str]:
        element = self._structure.element(self._structure.state(state).inside or 0)
        return self._conjuncts(self._query.definition(element.variable), current_name(element), (When.EACH, When.LATER))

    def _conjuncts(self, definition: Definition, event: str, whens: tuple[When, ...]) -> list[str]:
        query, found = self._query, []
        if definition.event_type is not None and query.type_column is not None:
            found.append(f"{event}.{name_text(query.type_column)} = {literal_text(definition.event_type)}")
        found += self.partition(event)
        if query.ties is Ties.EPOCH and query.time is not None and event not in self._openers:
            found.append(f"{event}.{name_text(query.time)} > previous.{name_text(query.time)}")
        conditions = [condition.expr for condition in definition.conditions if condition.when in whens]
        return found + [conjunct_text(expr, definition.variable, event, self._kleene) for expr in conditions]

    def partition(self, event: str) -> list[str]:
        """The equivalence test in its canonical form."""
        if event in self._openers:
            return []
        return [f"{event}.{name_text(column)} = {self.first}.{name_text(column)}" for column in self._query.partition]

    def _finished(self, edge: Edge) -> list[str]:
        """Conjuncts about what is complete when the edge is followed."""
        found = []
        for number in edge.finished:
            element = self._structure.element(number)
            event = self._last(number) if element.repeats else first_name(element)
            conditions = [c.expr for c in self._query.definition(element.variable).conditions if c.when is When.LEAVING]
            found += [conjunct_text(expr, element.variable, event, self._kleene) for expr in conditions]
        return found

    def _window(self, event: str) -> list[str]:
        within = self._query.within
        if within is None:
            return []
        if within.unit is Unit.EVENTS:
            scope = " of the partition" if self._query.partition else ""
            return [f"events from {self.first} to {event}{scope} ≤ {within.length}"]
        time = name_text(self._query.time or "")
        return [f"{event}.{time} ≤ {self.first}.{time} + {self._length(within.length)}"]

    def _length(self, length: int) -> str:
        query = self._query
        own = None if query.time is None else query.schema.type_of(query.time)
        if own is not None and own.kind is TypeKind.INT:
            return str(length)
        return duration_text(length * 1000 // (1 if own is None else own.ticks))

    def _pushed(self, name: str, event: str) -> str | None:
        window = self._window(event)
        return _all([f"θ{name}", *window]) if window else None

    def _ignore(self, edge: Edge) -> Formula:
        state = self._structure.state(edge.source)
        basic, name = self._ignorable(state), f"{_place(edge.source)}_ignore"
        pushed = None if basic == FALSE else self._pushed(name, self._offered(state))
        return Formula(name, basic, pushed)

    def _ignorable(self, state: State) -> str:
        if self._query.selection is Selection.ANY:
            return TRUE
        if self._query.selection is Selection.PARTITION and self._query.partition:
            return _not([self.partition(self._offered(state))])
        if self._query.selection is not Selection.NEXT:
            return FALSE
        return _not([self._begin(number) for number in state.waits_for] or [self._take(state.name)])

    def _offered(self, state: State) -> str:
        return "event" if len(state.waits_for) > 1 else state.name

    def _proceed(self, edge: Edge) -> Formula:
        others = [e for e in self._structure.edges_from(edge.source) if e.kind is Kind.PROCEED]
        name = f"{_place(edge.source)}_proceed" + (f"→{edge.target}" if len(others) > 1 else "")
        finished = self._finished(edge)
        if edge.target == FINAL:
            inside = self._structure.state(edge.source).inside
            window = self._window("last" if inside is None else self._last(inside))
            return Formula(name, _all(finished + window))
        begun = [self.begin(e).effective for e in self._structure.edges_from(edge.target) if e.kind is Kind.BEGIN]
        begins = begun[0] if len(begun) == 1 else f"({OR.join(begun)})"
        if finished:
            return Formula(name, _all(finished), _all([f"θ{name}", begins]))
        stuck = self._stuck(edge.source)
        return Formula(name, TRUE, OR.join([*begun, stuck] if stuck else begun))

    def _stuck(self, source: str) -> str | None:
        """The paper's exception: with neither take nor ignore the next state may decide. It has no other transition than to begin
        either."""
        own = [self.of(e).effective for e in self._structure.edges_from(source) if e.kind in (Kind.TAKE, Kind.IGNORE)]
        inside = self._structure.state(source).inside
        return None if inside is None else f"({AND.join(NOT + formula for formula in own)})"

    def _last(self, number: int) -> str:
        name = name_text(self._structure.element(number).variable)
        return f"{name}[{name}.LEN]"


def _place(state: str) -> str:
    return f"({state})" if " | " in state else state


def _all(conjuncts: list[str]) -> str:
    return AND.join(conjuncts) if conjuncts else TRUE


def _not(alternatives: list[list[str]]) -> str:
    """Of a conjunction, or of a choice of them."""
    if any(not conjuncts for conjuncts in alternatives):
        return FALSE
    shown = [_all(conjuncts) for conjuncts in alternatives]
    return f"{NOT}({OR.join(shown) if len(shown) == 1 else OR.join(f'({text})' for text in shown)})"

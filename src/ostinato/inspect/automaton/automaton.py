"""The automaton of a query: its structure with the formula of every edge, and what its negations forbid."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.algebra.policies import Selection
from ostinato.algebra.query import MatchQuery
from ostinato.base.errors import UnsupportedError
from ostinato.expr.text import literal_text, name_text
from ostinato.inspect.automaton.formulas import AND, TRUE, Formula, Formulas
from ostinato.inspect.automaton.identifiers import conjunct_text
from ostinato.inspect.automaton.structure import FINAL, Edge, Structure, structure_of
from ostinato.plan.gaps import Gap, gaps_of


@dataclass(frozen=True)
class NegationAtState:
    """Events that must not lie where `state` waits: a match is complete first, then its gaps are looked at."""

    state: str
    place: str
    names: tuple[str, ...]
    formulas: tuple[str, ...]

    @property
    def shown(self) -> str:
        return f"~({', '.join(self.names)})"


@dataclass(frozen=True)
class EventAutomaton:
    query: MatchQuery
    structure: Structure
    formulas: tuple[tuple[Edge, Formula], ...]
    negations: tuple[NegationAtState, ...]

    def formula(self, edge: Edge) -> Formula:
        return next(formula for known, formula in self.formulas if known == edge)


def event_automaton(query: MatchQuery) -> EventAutomaton:
    if query.selection is Selection.PREFERRED:
        raise UnsupportedError("a row pattern has no automaton with take and ignore edges", hint="its own is printed as text")
    structure = structure_of(query.pattern)
    formulas = Formulas(query, structure)
    shown = tuple((edge, formulas.of(edge)) for edge in structure.edges)
    return EventAutomaton(query, structure, shown, tuple(_negation(gap, query, structure, formulas) for gap in gaps_of(query.pattern)))


def _negation(gap: Gap, query: MatchQuery, structure: Structure, formulas: Formulas) -> NegationAtState:
    state = _waiting_at(gap.position, structure)
    before = gap.position == 0
    place = "before the match" if before else ("after the match" if state == FINAL else f"before {state}")
    names = tuple(map(name_text, gap.negated))
    kleene = frozenset(c.variable for c in structure.graph.elements if c.repeats)
    texts = []
    for name, item in zip(names, map(query.definition, gap.negated), strict=True):
        parts = []
        if item.event_type is not None and query.type_column is not None:
            parts.append(f"{name}.{name_text(query.type_column)} = {literal_text(item.event_type)}")
        parts += [f"{name}.{name_text(column)} = {formulas.first}.{name_text(column)}" for column in query.partition]
        parts += [conjunct_text(condition.expr, item.variable, name, kleene) for condition in item.conditions]
        texts.append(AND.join(parts) or TRUE)
    return NegationAtState(state, place, names, tuple(texts))


def _waiting_at(position: int, structure: Structure) -> str:
    """The state in which a run waits behind that many elements."""
    from_here = [state for state in structure.states if state.waits_for and min(state.waits_for) >= position]
    return from_here[0].name if from_here else FINAL

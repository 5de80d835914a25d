"""States and edges of the automaton (NFAb) of an event pattern: step 1 of the paper's section 3.2.

A state is a place where a run waits: for the event that begins an element (`b`, `a[1]`; several where alternatives may follow), or
inside a list (`a[i]`). The paper's patterns have singleton and `+` elements only; `*` and `?` add edges that pass an element by. Since
a run moves on only by beginning something, such an edge leads straight to the element that begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ostinato.algebra.pattern import Pattern
from ostinato.expr.text import name_text
from ostinato.plan.elements import After, ElementGraph, PlacedElement, element_graph

FINAL = "F"


class Kind(Enum):
    BEGIN = "begin"
    TAKE = "take"
    IGNORE = "ignore"
    PROCEED = "proceed"


@dataclass(frozen=True)
class State:
    """`waits_for` are the elements that may begin here; a state inside a list waits for none. `inside` is the element of a list."""

    name: str
    waits_for: tuple[int, ...] = ()
    inside: int | None = None


@dataclass(frozen=True)
class Edge:
    """`element` is the one that the edge binds an event to; `finished` are the elements about which the edge must know that they
    are complete: of a proceed edge the list that it leaves, and what it passes by."""

    kind: Kind
    source: str
    target: str
    element: int | None = None
    finished: tuple[int, ...] = ()


@dataclass(frozen=True)
class Structure:
    """`elements` are named as in the query; states stand in the order of the pattern, the final one last."""

    graph: ElementGraph
    states: tuple[State, ...]
    edges: tuple[Edge, ...]
    start: str

    def element(self, number: int) -> PlacedElement:
        return self.graph.elements[number]

    def state(self, name: str) -> State:
        return next(state for state in self.states if state.name == name)

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.source == name)


def structure_of(pattern: Pattern) -> Structure:
    builder = _Builder(element_graph(pattern))
    start = builder.waiting(builder.graph.initial)
    return Structure(builder.graph, (*builder.in_order(), State(FINAL)), tuple(builder.edges), start)


def first_name(element: PlacedElement) -> str:
    """The event that begins an element."""
    return f"{name_text(element.variable)}[1]" if element.repeats else name_text(element.variable)


def current_name(element: PlacedElement) -> str:
    """An event that a list takes."""
    return f"{name_text(element.variable)}[i]"


@dataclass
class _Builder:
    graph: ElementGraph
    states: dict[str, State] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def waiting(self, after: After) -> str:
        """The state of a run behind which `after` may follow; F if nothing may."""
        nearest = tuple(begin.target for begin in after.transitions if begin.nearest)
        if not nearest:
            return FINAL
        name = " | ".join(first_name(self.graph.elements[number]) for number in nearest)
        if name not in self.states:
            self.states[name] = State(name, waits_for=nearest)
            for number in nearest:
                self.edges.append(Edge(Kind.BEGIN, name, self._begun(number), number))
            self._passing_by(name, after)
            if after is not self.graph.initial:
                self.edges.append(Edge(Kind.IGNORE, name, name))
        return name

    def _begun(self, number: int) -> str:
        element = self.graph.elements[number]
        return self._inside(number) if element.repeats else self.waiting(element.after)

    def _inside(self, number: int) -> str:
        element = self.graph.elements[number]
        name = current_name(element)
        if name not in self.states:
            self.states[name] = State(name, inside=number)
            self.edges += [Edge(Kind.TAKE, name, name, number), Edge(Kind.IGNORE, name, name)]
            following = self.waiting(element.after)
            if following != FINAL:
                self.edges.append(Edge(Kind.PROCEED, name, following, finished=(number,)))
            self._passing_by(name, element.after, number)
        return name

    def _passing_by(self, name: str, after: After, *left: int) -> None:
        """Edges over elements that are left empty, and to F where nothing mandatory follows."""
        for passed in dict.fromkeys(begin.passed for begin in after.transitions if begin.passed):
            target = self.waiting(self.graph.elements[passed[-1]].after)
            self.edges.append(Edge(Kind.PROCEED, name, target, finished=(*left, *passed)))
        if after.completes and after is not self.graph.initial:
            self.edges.append(Edge(Kind.PROCEED, name, FINAL, finished=(*left, *after.passed)))

    def in_order(self) -> list[State]:
        def place(state: State) -> tuple[int, bool]:
            return (min(state.waits_for), False) if state.inside is None else (state.inside, True)

        return sorted(self.states.values(), key=place)

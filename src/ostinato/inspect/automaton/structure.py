"""States and edges of the automaton (NFAb) of an event pattern: step 1 of the paper's section 3.2.

A state is a place where a run waits: for the event that begins a component (`b`, `a[1]`; several where alternatives may follow), or
inside a list (`a[i]`). The paper's patterns have singleton and `+` components only; `*` and `?` add edges that pass a component by. Since
a run moves on only by beginning something, such an edge leads straight to the component that begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ostinato.algebra.pattern import Pattern
from ostinato.expr.text import name_text
from ostinato.plan.components import After, ComponentGraph, PlacedComponent, component_graph

FINAL = "F"


class Kind(Enum):
    BEGIN = "begin"
    TAKE = "take"
    IGNORE = "ignore"
    PROCEED = "proceed"


@dataclass(frozen=True)
class State:
    """`waits_for` are the components that may begin here; a state inside a list waits for none. `inside` is the component of a list."""

    name: str
    waits_for: tuple[int, ...] = ()
    inside: int | None = None


@dataclass(frozen=True)
class Edge:
    """`component` is the one that the edge binds an event to; `finished` are the components about which the edge must know that they
    are complete: of a proceed edge the list that it leaves, and what it passes by."""

    kind: Kind
    source: str
    target: str
    component: int | None = None
    finished: tuple[int, ...] = ()


@dataclass(frozen=True)
class Structure:
    """`components` are named as in the query; states stand in the order of the pattern, the final one last."""

    graph: ComponentGraph
    states: tuple[State, ...]
    edges: tuple[Edge, ...]
    start: str

    def component(self, number: int) -> PlacedComponent:
        return self.graph.components[number]

    def state(self, name: str) -> State:
        return next(state for state in self.states if state.name == name)

    def edges_from(self, name: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.source == name)


def structure_of(pattern: Pattern) -> Structure:
    builder = _Builder(component_graph(pattern))
    start = builder.waiting(builder.graph.entry)
    return Structure(builder.graph, (*builder.in_order(), State(FINAL)), tuple(builder.edges), start)


def first_name(component: PlacedComponent) -> str:
    """The event that begins a component."""
    return f"{name_text(component.variable)}[1]" if component.repeats else name_text(component.variable)


def current_name(component: PlacedComponent) -> str:
    """An event that a list takes."""
    return f"{name_text(component.variable)}[i]"


@dataclass
class _Builder:
    graph: ComponentGraph
    states: dict[str, State] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def waiting(self, after: After) -> str:
        """The state of a run behind which `after` may follow; F if nothing may."""
        nearest = tuple(begin.target for begin in after.begins if begin.nearest)
        if not nearest:
            return FINAL
        name = " | ".join(first_name(self.graph.components[number]) for number in nearest)
        if name not in self.states:
            self.states[name] = State(name, waits_for=nearest)
            for number in nearest:
                self.edges.append(Edge(Kind.BEGIN, name, self._begun(number), number))
            self._passing_by(name, after)
            if after is not self.graph.entry:
                self.edges.append(Edge(Kind.IGNORE, name, name))
        return name

    def _begun(self, number: int) -> str:
        component = self.graph.components[number]
        return self._inside(number) if component.repeats else self.waiting(component.after)

    def _inside(self, number: int) -> str:
        component = self.graph.components[number]
        name = current_name(component)
        if name not in self.states:
            self.states[name] = State(name, inside=number)
            self.edges += [Edge(Kind.TAKE, name, name, number), Edge(Kind.IGNORE, name, name)]
            following = self.waiting(component.after)
            if following != FINAL:
                self.edges.append(Edge(Kind.PROCEED, name, following, finished=(number,)))
            self._passing_by(name, component.after, number)
        return name

    def _passing_by(self, name: str, after: After, *left: int) -> None:
        """Edges over components that are left empty, and to F where nothing mandatory follows."""
        for passed in dict.fromkeys(begin.passed for begin in after.begins if begin.passed):
            target = self.waiting(self.graph.components[passed[-1]].after)
            self.edges.append(Edge(Kind.PROCEED, name, target, finished=(*left, *passed)))
        if after.completes and after is not self.graph.entry:
            self.edges.append(Edge(Kind.PROCEED, name, FINAL, finished=(*left, *after.passed)))

    def in_order(self) -> list[State]:
        def place(state: State) -> tuple[int, bool]:
            return (min(state.waits_for), False) if state.inside is None else (state.inside, True)

        return sorted(self.states.values(), key=place)

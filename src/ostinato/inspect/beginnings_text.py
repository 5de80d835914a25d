"""Which queries of a program begin alike, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.beginnings.alike import shared_beginnings
from ostinato.program.beginnings.beginning import Beginning
from ostinato.program.instances import InstanceAutomaton
from ostinato.program.program import Program
from ostinato.program.query_graphs import STEP


def beginnings_text(program: Program) -> str:
    """A line for each beginning that is followed once for several of them."""
    readers: dict[int, list[tuple[str, InstanceAutomaton]]] = {}
    for operator in program.operators:
        if isinstance(operator.body, InstanceAutomaton):
            readers.setdefault(operator.ports[0], []).append((operator.name.partition(STEP)[0], operator.body))
    lines = []
    for own in readers.values():
        for beginning in shared_beginnings([automaton for _, automaton in own]):
            lines += list(_lines(beginning, [name for name, _ in own]))
    return "".join(f"{line}\n" for line in lines)


def _lines(beginning: Beginning, names: list[str]) -> Iterator[str]:
    states = beginning.continuations[0].states
    how_far = "the first event and the next" if states == 1 else f"the first {states + 1} events"
    yield f"{', '.join(sorted(names[number] for number in beginning.members))}: begin alike, {how_far} are followed as one"
    for one in beginning.continuations:
        if isinstance(one.of, Beginning):
            yield from _lines(one.of, names)

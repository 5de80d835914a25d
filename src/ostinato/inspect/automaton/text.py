"""The automaton as text, in the three parts of the paper's Fig. 2."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.inspect.automaton.automaton import EventAutomaton
from ostinato.inspect.automaton.formulas import Formula
from ostinato.inspect.automaton.structure import FINAL


def to_text(automaton: EventAutomaton) -> str:
    return "\n".join(_lines(automaton)) + "\n"


def _lines(automaton: EventAutomaton) -> Iterator[str]:
    yield f"(a) structure, {automaton.query.selection.value}"
    yield from _structure(automaton)
    formulas = distinct_formulas(automaton)
    yield "(b) formulas on edges"
    yield from _aligned([(f"θ{f.name}", f.basic) for f in formulas])
    pushed = [(f"θ*{f.name}", f.pushed) for f in formulas if f.pushed is not None]
    if pushed:
        yield "(c) formulas after optimisation: the window on every edge, proceed only to what can begin"
        yield from _aligned(pushed)
    if automaton.negations:
        yield "(d) negations, checked when a match is complete"
        yield from _aligned(negation_lines(automaton))


def negation_lines(automaton: EventAutomaton) -> list[tuple[str, str]]:
    return [
        (f"θ{name}_absent", f"{text}   {negation.shown} {negation.place}")
        for negation in automaton.negations
        for name, text in zip(negation.names, negation.formulas, strict=True)
    ]


def distinct_formulas(automaton: EventAutomaton) -> list[Formula]:
    """Each once: an element that may begin in several states has the same formula in all of them."""
    found: dict[str, Formula] = {}
    for state in automaton.structure.states:
        for edge in automaton.structure.edges_from(state.name):
            formula = automaton.formula(edge)
            found.setdefault(formula.name, formula)
    return list(found.values())


def _structure(automaton: EventAutomaton) -> Iterator[str]:
    structure = automaton.structure
    width = max(len(state.name) for state in structure.states)
    for state in structure.states:
        mark = ">" if state.name == structure.start else " "
        edges = ", ".join(f"{edge.kind.value} -> {edge.target}" for edge in structure.edges_from(state.name))
        negated = "".join(f"   [{negation.shown}]" for negation in automaton.negations if negation.state == state.name)
        yield f"  {mark} {state.name:{width}}  {'a match' if state.name == FINAL else edges}{negated}"


def _aligned(pairs: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(name) for name, _ in pairs)
    return (f"    {name:{width}} = {text}" for name, text in pairs)

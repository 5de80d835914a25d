"""Following the moves of an ordered automaton from best to worst finds the sequence that the definition prefers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.algebra.pattern import Pattern, variables_of
from ostinato.automata.nfa import construct
from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, OrderedNfa
from ostinato.reference.preferred import Attempt, Mapped, sequences
from ostinato.testing.patterns import patterns

NAMES = ("A", "B", "C")
Allowed = list[frozenset[str]]
allowed_rows = st.lists(st.frozensets(st.sampled_from(NAMES)), max_size=7)


def preferred(pattern: Pattern, rows: Allowed) -> str | None:
    def extend(mapped: Mapped, variable: str) -> bool:
        return len(mapped) < len(rows) and variable in rows[len(mapped)]

    found = next(sequences(pattern, (), Attempt(0, extend, len(rows))), None)
    return None if found is None else "".join(name for _, name, _ in found)


def followed(nfa: OrderedNfa, names: tuple[str, ...], rows: Allowed) -> str | None:
    failed: set[tuple[int, int]] = set()

    def walk(state: int, row: int) -> str | None:
        if (state, row) in failed:
            return None
        for variable, target in nfa.transitions_of(state):
            if (variable, target) == ACCEPT or ((variable, target) == ACCEPT_AT_END and row == len(rows)):
                return ""
            if variable >= 0 and row < len(rows) and names[variable] in rows[row]:
                rest = walk(target, row + 1)
                if rest is not None:
                    return names[variable] + rest
        failed.add((state, row))
        return None

    return walk(nfa.start_of_partition, 0)


@settings(max_examples=400, deadline=None)
@given(patterns(NAMES, max_leaves=6, anchors=True), allowed_rows)
def test_automaton_prefers_what_the_definition_prefers(pattern: Pattern, rows: Allowed) -> None:
    names = variables_of(pattern)
    nfa = construct(pattern, {name: number for number, name in enumerate(names)})
    assert followed(nfa, names, rows) == preferred(pattern, rows)

"""An automaton as text: a line per state, its transitions best first."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.program.ordered_nfa import ACCEPT, ACCEPT_AT_END, OrderedNfa

ACCEPTING = {ACCEPT: "accept", ACCEPT_AT_END: "accept at $"}


def to_text(nfa: OrderedNfa, variables: Sequence[str]) -> str:
    """`state: VARIABLE -> target, ...`; `accept` ends the match before the next row, `accept at $` if there is none. Attempts begin in
    the state marked `>`, at the first row of a partition in the one marked `^`, if there is one."""
    lines = []
    for state in range(len(nfa.first) - 1):
        shown = ", ".join(
            ACCEPTING.get(transition) or f"{variables[transition[0]]} -> {transition[1]}" for transition in nfa.transitions_of(state)
        )
        mark = ">" if state == nfa.start else "^" if state == nfa.start_of_partition else " "
        lines.append(f"{mark}{state}: {shown or 'no transition'}")
    return "\n".join(lines)

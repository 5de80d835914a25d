"""An automaton as text: a line per state, its moves best first."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.program.program import OrderedNfa


def to_text(nfa: OrderedNfa, variables: Sequence[str]) -> str:
    """`state: VARIABLE -> target, ...`; `accept` ends the match before the next row."""
    lines = []
    for state in range(len(nfa.first) - 1):
        moves = nfa.moves[nfa.first[state] : nfa.first[state + 1]]
        shown = ", ".join("accept" if variable < 0 else f"{variables[variable]} -> {target}" for variable, target in moves)
        lines.append(f"{'>' if state == nfa.start else ' '}{state}: {shown or 'no move'}")
    return "\n".join(lines)

"""The printed listing of an automaton with instances."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.program.instances import InstanceAutomaton, InstanceState


def instance_lines(automaton: InstanceAutomaton) -> Iterator[str]:
    where = "at the time of the event" if automaton.start < 0 else f"at row.{automaton.start}"
    target = "state 0" if automaton.states else "a result"
    yield f"begin: {_rows(automaton.begin.bit)}, starting {where}, to {target}{_by(automaton.begin.block)}"
    for number, state in enumerate(automaton.states):
        yield f"state {number}: {_relevant(state)}" + (f", at most {state.within} behind the start" if state.within >= 0 else "")
        if state.repeats:
            yield f"  rebind to state {number}{_by(state.rebind)}"
        behind = f"state {number + 1}" if number + 1 < len(automaton.states) else "a result"
        yield f"  forward to {behind}{_by(state.forward)}"


def _relevant(state: InstanceState) -> str:
    parts = [_rows(state.bit)]
    parts += [f"row.{state.slot} equal to r{state.register}, by which instances are found"] if state.slot >= 0 else []
    parts += [f"block {state.relevant}"] if state.relevant >= 0 else []
    return "relevant is " + " with ".join(parts)


def _rows(bit: int) -> str:
    return f"bit {bit}" if bit >= 0 else "any row"


def _by(block: int) -> str:
    return f" by block {block}" if block >= 0 else ""

"""Automata whose instances carry values, as Cayuga has them: one state per step of a chain of events that last.

An event that begins makes an instance, which waits in the first state. There it meets the events of the state's stream. The *filter* edge
lets those pass that are not relevant. A relevant one uses the instance up, at the end of its epoch, and leads along the *forward* edge to
an instance in the next state, or to a result behind the last; where steps are repeated, along the *rebind* edge to an instance in the same
state before that. Instances carry registers and their times, never rows."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.program.pattern import Pattern


@dataclass(frozen=True)
class Forward:
    """An edge along which an instance goes on: rows with this bit (-1: all of them), where the block holds. It gives the new instance its
    registers."""

    bit: int
    block: int


@dataclass(frozen=True)
class InstanceState:
    """Where instances wait for a relevant event: a row with this bit, which the `relevant` block tests against the instance. Where it
    `repeats`, the block `rebind` makes of both the instance that waits here for the next one, and `forward` goes on from that. `slot` and
    `register`: a relevant row and its instance are equal in these, by which instances are found; -1: they are all looked at. `within`: how
    long the events of a result last at the most, -1 if nothing says so. Blocks are -1 where there is nothing to test or to change."""

    bit: int
    relevant: int
    forward: int
    repeats: bool = False
    rebind: int = -1
    slot: int = -1
    register: int = -1
    within: int = -1


@dataclass(frozen=True)
class InstanceAutomaton(Pattern):
    """`evaluation` is "instances". `begin` makes an instance of an event; without states it is a result. `start` is the slot with the start
    of an event, -1: events do not last. Measures read "register:R" of the instances behind the last state, "start" and "end"."""

    begin: Forward = Forward(-1, -1)
    states: tuple[InstanceState, ...] = ()
    start: int = -1
    prefilter_bits: tuple[int, ...] = ()  # rows with none of these bits cannot matter

    @property
    def is_timed(self) -> bool:
        return True

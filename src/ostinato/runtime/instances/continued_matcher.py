"""An automaton whose beginning is followed elsewhere, for several of them at once: it goes on with what that hands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ostinato.program.beginnings.beginning import Continuation
from ostinato.program.instances import InstanceAutomaton
from ostinato.runtime.instances.begun_before import BegunBefore
from ostinato.runtime.instances.instance_matcher import InstanceMatcher
from ostinato.runtime.limits.budget import Budget
from ostinato.runtime.matches.finished_instances import FinishedInstances
from ostinato.runtime.rows.string_pool import StringPool

State = dict[str, np.ndarray]  # as matchers are saved
STATE = 1  # column of instances in a saved state, see `InstanceStore`


class Follows(Protocol):
    """Whoever follows a beginning."""

    matcher: Any


class ContinuedMatcher(InstanceMatcher):
    """Its state is that of the whole automaton: what it shares shows neither in a snapshot nor in what is begun."""

    def __init__(self, continuation: Continuation, beginning: Follows, budget: Budget, strings: StringPool) -> None:
        """`beginning` is fed before it, with the same rows and the same keys or more."""
        super().__init__(continuation.automaton, budget, strings, goes_on=True)
        self._own = continuation
        self._beginning = beginning
        self._begun = BegunBefore(len(beginning.matcher.automaton.registers))

    def take_over(self, found: FinishedInstances) -> None:
        """What the beginning hands on; the next call goes on with it."""
        self._begun.add(found)

    def idle(self, keys: np.ndarray) -> np.ndarray:
        return super().idle(keys) & self._beginning.matcher.idle(keys)

    @property
    def shared(self) -> int:
        """See `SharesBeginning`."""
        before = self._beginning.matcher
        followed: int = before.metrics()["instances"]
        return followed + (before.shared if isinstance(before, ContinuedMatcher) else 0)

    def state(self) -> State:
        own, before = super().state(), self._beginning.matcher.state()
        own["instances"][:, STATE] += self._own.states
        count = len(before["instances"])
        found = {"instances": np.concatenate((before["instances"], own["instances"])), "read": own["read"]}
        for name in ("registers", "register_valid"):
            whole = np.zeros((count + len(own[name]), own[name].shape[1]), own[name].dtype)
            whole[count:] = own[name]
            for register, place in self._own.registers:
                whole[:count, register] = before[name][:, place]
            found[name] = whole
        return found | {"counters": before["counters"] + own["counters"]}

    def load(self, state: State) -> None:
        """The part of it that lies behind the beginning."""
        behind = state["instances"][:, STATE] >= self._own.states
        own = {name: state[name][behind] for name in ("instances", "registers", "register_valid")}
        own["instances"][:, STATE] -= self._own.states
        super().load({**state, **own})


def beginning_state(automaton: InstanceAutomaton, continued: Sequence[tuple[Continuation, State]]) -> State | None:
    """The state of a beginning, from those of the whole automata that begin so; None: they have not begun the same."""
    common = set.intersection(*({place for _, place in own.registers} for own, _ in continued))
    parts = [_in_order(own, state, common) for own, state in continued]
    first = parts[0]["instances"]
    if any(not np.array_equal(first, part["instances"]) for part in parts[1:]):
        return None
    known = np.zeros(len(automaton.registers), np.bool_)
    registers, flags = np.zeros((len(first), len(known)), np.int64), np.zeros((len(first), len(known)), np.uint8)
    for (own, _), part in zip(continued, parts, strict=True):
        for register, place in own.registers:
            values, valid = part["registers"][:, register], part["register_valid"][:, register]
            if known[place] and not _are_same(values, valid, registers[:, place], flags[:, place]):
                return None
            registers[:, place], flags[:, place], known[place] = values, valid, True
    state = continued[0][1]
    own_state = {"instances": first, "registers": registers, "register_valid": flags}
    return {**own_state, "counters": np.zeros_like(state["counters"]), "read": state["read"]}


def _are_same(values: np.ndarray, valid: np.ndarray, others: np.ndarray, others_valid: np.ndarray) -> bool:
    return np.array_equal(valid, others_valid) and np.array_equal(values[valid > 0], others[valid > 0])


def _in_order(own: Continuation, state: State, common: set[int]) -> State:
    """What is begun in the first states, in the order of what all of them know of it: those of which this is the same cannot be told
    apart while they are in the beginning."""
    before = np.flatnonzero(state["instances"][:, STATE] < own.states)
    instances, registers, valid = (state[name][before] for name in ("instances", "registers", "register_valid"))
    shown = [register for place, register in sorted((place, register) for register, place in own.registers) if place in common]
    by_value = [np.where(valid[:, register] > 0, registers[:, register], 0) for register in shown]
    order = np.lexsort((*by_value, *(valid[:, register] for register in shown), *instances.T))
    return {"instances": instances[order], "registers": registers[order], "register_valid": valid[order]}

"""Automata that could not have been compiled are refused; those that were go through bytes unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program import serde
from ostinato.program.instances import Forward, InstanceAutomaton, InstanceState
from ostinato.program.program import alone
from ostinato.program.verification.verify import verify_pattern

SCHEMA = pa.schema([("start_ts", pa.int64()), ("end_ts", pa.int64()), ("k", pa.int64()), ("p", pa.float64())])
TEXT = """SELECT k_1, p, n FROM FILTER {DUR < 9} ((SELECT k, p, 0 AS n FROM t) FOLD {$2.k = $.k AND $2.p > $.p, TRUE, $.n + 1 AS n} t)"""


def compiled() -> InstanceAutomaton:
    found = ost.compile(TEXT, {"t": SCHEMA}, language="cel", without=("equality_key",)).pattern
    assert isinstance(found, InstanceAutomaton)
    return found


def test_bytes_and_back() -> None:
    automaton = compiled()
    assert serde.loads(serde.dumps(alone(automaton))).body == automaton
    assert automaton.start >= 0 and automaton.states[0].slot >= 0 and automaton.states[0].repeats


def state(**changed: object) -> Callable[[InstanceAutomaton], InstanceAutomaton]:
    return lambda automaton: replace(automaton, states=(_changed(automaton.states[0], changed),))


def _changed(one: InstanceState, changed: dict[str, object]) -> InstanceState:
    return replace(one, **changed)  # type: ignore[arg-type]


def float_slot(automaton: InstanceAutomaton) -> InstanceAutomaton:
    number = next(n for n, type_ in enumerate(automaton.slots) if type_.kind.value == "double")
    return state(slot=number)(automaton)


FORGED: dict[str, Callable[[InstanceAutomaton], InstanceAutomaton]] = {
    "states with known bits": state(bit=64),
    "states with known blocks": state(relevant=99),
    "both sides of an equality": state(register=-1),
    "an equality of known values": state(slot=99),
    "an equality of values that are held alike": float_slot,
    "an edge back for what it changes": state(repeats=False),
    "a length of events that fits 64 bits": state(within=1 << 62),
    "a known bit to begin with": lambda automaton: replace(automaton, begin=Forward(64, -1)),
    "a known block to begin with": lambda automaton: replace(automaton, begin=Forward(-1, 99)),
    "a known slot for starts": lambda automaton: replace(automaton, start=99),
    "a known evaluation": lambda automaton: replace(automaton, evaluation="runs"),
    "at most 250 states": lambda automaton: replace(automaton, states=automaton.states * 251),
    "known bits to filter by": lambda automaton: replace(automaton, prefilter_bits=(77,)),
}


@pytest.mark.parametrize("needed", FORGED)
def test_what_could_not_have_been_compiled_is_refused(needed: str) -> None:
    with pytest.raises(ost.StateError, match=f"it needs {needed}"):
        verify_pattern(FORGED[needed](compiled()))

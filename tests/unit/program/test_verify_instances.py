"""Automata that could not have been compiled are refused; those that were go through bytes unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.expr.types import INT
from ostinato.program import serde
from ostinato.program.instances import Forward, InstanceAutomaton, InstanceState
from ostinato.program.program import alone
from ostinato.program.scalar_code import ColumnCall
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


MADE = "SELECT c FROM (SELECT k, p, '' AS c FROM t) FOLD {$2.k = $.k, TRUE, $.c || CAST($2.p AS VARCHAR) AS c} (SELECT k, p FROM t)"


def forged_call(**changed: object) -> InstanceAutomaton:
    automaton = ost.compile(MADE, {"t": SCHEMA}, language="cel").pattern
    assert isinstance(automaton, InstanceAutomaton)
    (call,) = automaton.scalar.functions
    assert isinstance(call, ColumnCall)
    return replace(automaton, scalar=replace(automaton.scalar, functions=(replace(call, **changed),)))  # type: ignore[arg-type]


def test_columns_that_scalar_code_calls() -> None:
    automaton = forged_call()
    assert serde.loads(serde.dumps(alone(automaton))).body == automaton
    (call,) = automaton.scalar.functions
    assert isinstance(call, ColumnCall)
    other = (call.takes[0], INT)
    for changed in ({"takes": ()}, {"takes": call.takes[:1]}, {"takes": other}, {"columns": replace(call.columns, results=(0, 1))}):
        with pytest.raises(ost.StateError):
            verify_pattern(forged_call(**changed))


def test_nobody_else_calls_columns() -> None:
    runs = ost.compile("PATTERN SEQ(t a, t b) WHERE b.p > a.p RETURN a.k", {"t": SCHEMA}, time="end_ts").pattern
    with pytest.raises(ost.StateError, match="columns that automata with instances call"):
        verify_pattern(replace(runs, scalar=replace(runs.scalar, functions=forged_call().scalar.functions)))

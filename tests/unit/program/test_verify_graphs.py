"""The verifier refuses graphs whose parts do not fit one another."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program import serde
from ostinato.program.input import Input
from ostinato.program.program import Program, Result, alone
from ostinato.program.verification.verify import verify

SCHEMA = pa.schema([("ts", pa.int64()), ("kind", pa.string()), ("k", pa.int64())])
TEXT = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 RETURN P(a.k); PATTERN SEQ(P p, C c) WHERE [k]"


def program(text: str = TEXT) -> Program:
    return ost.compile(text, {"t": SCHEMA}, type_by="kind").program


GRAPH = program()
FIRST, SECOND = GRAPH.operators
OUTSIDE, FED = GRAPH.inputs
COUNT = alone(ost.compile("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 OUTPUT count", {"t": SCHEMA}, type_by="kind").pattern)


def reading(**changed: object) -> Program:
    """The second operator reads something else of the first, and so does its input."""
    return over(replace(FED, sources=(FED.sources[0], replace(FED.sources[1], **changed))))


def over(reads: Input) -> Program:
    return replace(GRAPH, inputs=(OUTSIDE, reads), operators=(FIRST, replace(SECOND, body=replace(SECOND.body, reads=reads))))


BROKEN = {
    "version": (replace(GRAPH, version=1), "a known version"),
    "no result": (replace(GRAPH, results=()), "results with names of their own"),
    "two results of one name": (replace(GRAPH, results=(Result("", 0), Result("", 1))), "results with names of their own"),
    "the result of nothing": (replace(GRAPH, results=(Result("", 2),)), "results of known operators"),
    "a negative result": (replace(GRAPH, results=(Result("", -1),)), "results of known operators"),
    "no port": (replace(GRAPH, operators=(FIRST, replace(SECOND, ports=()))), "operators that read one known input each"),
    "two ports": (replace(GRAPH, operators=(FIRST, replace(SECOND, ports=(0, 1)))), "operators that read one known input each"),
    "an unknown port": (replace(GRAPH, operators=(FIRST, replace(SECOND, ports=(2,)))), "operators that read one known input each"),
    "a negative port": (replace(GRAPH, operators=(FIRST, replace(SECOND, ports=(-1,)))), "operators that read one known input each"),
    "another's port": (replace(GRAPH, operators=(FIRST, replace(SECOND, ports=(0,)))), "operators that read what their input has"),
    "an input that nobody reads": (replace(GRAPH, inputs=(*GRAPH.inputs, OUTSIDE)), "inputs that are read"),
    "an input without a column": (
        replace(GRAPH, inputs=(replace(OUTSIDE, columns=tuple(replace(one, name=one.name + "_") for one in OUTSIDE.columns)), FED)),
        "operators that read what their input has",
    ),
    "its own results": (reading(operator=1), "operators behind those whose results they read"),
    "results of nothing": (reading(operator=7), "operators behind those whose results they read"),
    "a negative operator": (reading(operator=-2), "operators behind those whose results they read"),
    "inputs the other way round": (
        replace(GRAPH, inputs=(FED, OUTSIDE), operators=(replace(FIRST, ports=(1,)), replace(SECOND, ports=(0,)))),
        "inputs behind those of the operators that they read",
    ),
    "a count as events": (
        replace(GRAPH, inputs=(COUNT.inputs[0], FED), operators=(replace(FIRST, body=COUNT.body), SECOND)),
        "operators with events for those that read them",
    ),
    "events without a time": (over(replace(FED, time=-1)), "times of the events"),
    "a constant of another type": (reading(constants=(("k", "x"),)), "constants of the types of their columns"),
    "a constant that does not fit": (reading(constants=(("k", 1 << 63),)), "constants that fit their columns"),
}


def test_a_compiled_graph_is_accepted_and_survives_being_bytes() -> None:
    assert verify(GRAPH) is GRAPH
    assert [source.operator for source in FED.sources] == [-1, 0]
    again = serde.loads(serde.dumps(GRAPH))
    assert again == GRAPH and verify(again) is again


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_graph_is_refused(name: str) -> None:
    broken, expected = BROKEN[name]
    with pytest.raises(ost.StateError, match=expected):
        verify(broken)
    with pytest.raises(ost.StateError):
        ost.Session(broken)

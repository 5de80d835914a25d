"""Equalities by which an event finds the runs that it may join."""

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.program.analysis.joins import join_of

INTEGERS = ("ts", "x", "y")
SCHEMA = pa.schema([*((name, pa.int64()) for name in INTEGERS), ("kind", pa.string()), ("w", pa.float64()), ("s", pa.string())])


def compiled(pattern, conditions, selection="skip_till_any_match"):
    names = ", ".join(part.split()[-1] for part in pattern.split(","))
    text = f"PATTERN SEQ({pattern}) WHERE {selection}({names}) {{ {conditions} }} WITHIN 10"
    return ost.compile(text, {"events": SCHEMA}, type_by="kind", strategy="runs").pattern


JOINED = ["b.x = a.y", "a.y = b.x", "b.w = a.w", "b.s = a.s", "b.x + 1 = a.y", "b.x = a.w", "b.x = a.y and b.w > a.w"]


@pytest.mark.parametrize("condition", JOINED)
def test_an_equality_of_a_value_with_a_register_joins(condition):
    found = compiled("A a, B b", condition)
    join = join_of(found, 0)
    assert join is not None and list(join.slots) == [1]
    assert found.registers[join.register].name == "last(a, 0)"


@pytest.mark.parametrize("condition", ["b.x > a.x", "b.x = a.x or b.y = a.y", "b.x = a.x + a.y", "b.x = 3"])
def test_what_is_no_such_equality_does_not(condition):
    assert join_of(compiled("A a, B b", condition), 0) is None


def test_the_register_that_most_moves_have_in_common():
    found = compiled("A a, B+ b[], C c", "b[1].x = a.y and b[i].x = b[i-1].y and c.x = b[b.LEN].y and c.w = a.w")
    join = join_of(found, 1)
    assert join is not None and sorted(join.slots) == [1, 2]
    assert found.registers[join.register].name == "last(b, 0)"


def test_a_move_that_is_open_to_every_row_makes_an_index_useless():
    text = "PATTERN SEQ(Events a, Events+ b[], Events c) WHERE skip_till_any_match(a, b[], c) { b[1].x = a.x and c.x = a.x } WITHIN 9"
    found = ost.compile(text, {"events": SCHEMA}, strategy="runs").pattern
    assert join_of(found, 0) is not None
    assert join_of(found, 1) is None  # b[i] may be anything


def test_explain_says_it():
    text = "PATTERN SEQ(A a, B b) WHERE %s(a, b) { b.x = a.y } WITHIN 10"
    shown = ost.compile(text % "skip_till_any_match", {"events": SCHEMA}, type_by="kind").explain()
    assert "runs in a wait by the value of last(a, 0)" in shown
    assert "equivalent runs: followed as one" in shown
    shown = ost.compile(text % "partition_contiguity", {"events": SCHEMA}, type_by="kind", without=("merging",)).explain()
    assert "wait by" not in shown
    assert "equivalent runs: each followed by itself" in shown

"""Programs survive being bytes, and damaged or foreign bytes are refused."""

import datetime as dt
import itertools
import json
import zlib
from decimal import Decimal

import pytest

from ostinato.base.errors import StateError
from ostinato.expr.types import BOOL, FLOAT, INT, STRING, TIMESTAMP_TZ, decimal
from ostinato.program import serde
from ostinato.program.column_code import ColumnCode, ColumnOp
from ostinato.program.input import Column, Input
from ostinato.program.measure_code import MeasureCode, Point
from ostinato.program.ordered_nfa import OrderedNfa, VariableTest
from ostinato.program.pattern import RowPattern
from ostinato.program.program import Program, alone
from ostinato.program.verification.verify import verify


def program() -> Program:
    literals = (1, -1.5, float("inf"), "ünï'\"", True, None, Decimal("1.50"), dt.date(2026, 2, 3), dt.timedelta(days=1, microseconds=7),
                dt.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC))  # fmt: skip
    ops = tuple(ColumnOp("literal", (), STRING, (value,)) for value in literals)
    return alone(RowPattern(
        Input("t", (Column("x", decimal(9, 2)), Column("ts", TIMESTAMP_TZ)), time=1, order=((1, False, True),)), "scan", "because", ("A",),
        rows=ColumnCode((*ops, ColumnOp("input", (), BOOL, ("x",))), (len(ops),)), bits=1, nfa=OrderedNfa((0, 1, 2), ((0, 1), (-1, -1))),
        tests=(VariableTest(0, -1),), measures=MeasureCode(("m",), ColumnCode((ColumnOp("input", (), INT, ("match_number",)),), (0,)),
                                                          (Point(-1, "LAST", 0, -1),)), slots=(), kleene=(False,),
    ))  # fmt: skip


def test_round_trip_is_exact_and_deterministic():
    data = serde.dumps(program())
    assert serde.loads(data) == program()
    assert serde.dumps(serde.loads(data)) == data


@pytest.mark.parametrize("data", [b"", b"nothing", b"OSTP\x00\x01", serde.dumps(program())[:-5]])
def test_damaged_bytes_are_refused(data):
    with pytest.raises(StateError):
        serde.loads(data)


def _leaves(value):
    """Every place in a JSON value: the container and the key."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from _leaves(item)


def test_bytes_with_something_else_anywhere_are_refused_or_harmless():
    data = serde.dumps(program())
    places = len(list(_leaves(json.loads(zlib.decompress(data[6:])))))
    refused = 0
    for number, wrong in itertools.product(range(places), (None, "x", 7, [], {}, -1, 2**70)):
        plain = json.loads(zlib.decompress(data[6:]))
        container, key = list(_leaves(plain))[number]
        container[key] = wrong
        try:
            verify(serde.loads(data[:6] + zlib.compress(json.dumps(plain).encode(), 1)))
        except StateError:
            refused += 1
    assert refused > 5 * places


def test_another_format_is_named():
    data = serde.dumps(program())
    with pytest.raises(StateError, match="format 99"):
        serde.loads(data[:4] + (99).to_bytes(2, "big") + data[6:])


def test_what_a_program_cannot_hold_is_an_error():
    code = ColumnCode((ColumnOp("literal", (), FLOAT, (object(),)),), ())
    broken = RowPattern(Input("t", (Column("x", FLOAT),)), "scan", "", (), rows=code)
    with pytest.raises(TypeError):
        serde.dumps(alone(broken))

"""A text of many queries costs as much for each of them as a short one: what is called is counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import UnknownNameError

STOCK = pa.schema([("ts", pa.int64()), ("name", pa.string()), ("price", pa.int64())])


def cel(number: int, reads: str) -> str:
    condition = f"$2.name = $1.name AND $2.price > $1.price + {number}"
    return f"SELECT name, price FROM {reads} NEXT {{{condition}}} stock PUBLISH R{number}"


def sase(number: int, reads: str) -> str:
    condition = f"a.name = b.name AND b.price > a.price + {number}"
    return f"PATTERN SEQ({reads} a, stock b) WHERE {condition} WITHIN 100 RETURN R{number}(a.name AS name, b.price AS price)"


def neel(number: int, reads: str) -> str:
    members = f"{reads} a, stock b, a.name = b.name, b.price > a.price + {number}"
    return f"PATTERN SEQ({members}) WITHIN 100 RETURN R{number}(a.name AS name, b.price AS price)"


def in_turn(number: int, reads: str) -> str:
    return (cel, sase)[number % 2](number, reads)


def chain(query: Callable[[int, str], str], count: int) -> str:
    """Each reads what the one before it returns."""
    return "; ".join(query(number, f"R{number - 1}" if number else "stock") for number in range(count))


def beside(count: int) -> str:
    """None reads another one."""
    return "; ".join([*(cel(number, "stock") for number in range(count)), "FROM R0"])


def calls(text: str, language: str | None = None) -> int:
    """Functions that are called while a text is compiled, of Python and of C."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        program = ost.compile(text, {"stock": STOCK}, language=language).program
    finally:
        sys.setprofile(before)
    assert len(program.operators) >= 1
    return counted


TEXTS: dict[str, tuple[Callable[[int], str], str | None]] = {
    "CEL": (lambda count: chain(cel, count), None),
    "CEL, beside each other": (beside, "cel"),
    "SASE+": (lambda count: chain(sase, count), None),
    "NEEL": (lambda count: chain(neel, count), None),
    "in turn": (lambda count: chain(in_turn, count), None),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_twice_as_many_queries_are_twice_the_work(kind):
    text, language = TEXTS[kind]
    calls(text(4), language)  # what is remembered from here on
    ten, twenty, forty = (calls(text(count), language) for count in (10, 20, 40))
    assert forty - twenty <= 2.02 * (twenty - ten)


def test_all_streams_are_named_where_one_is_not_there():
    text = chain(cel, 3) + "; FROM R2 NEXT R9"
    with pytest.raises(UnknownNameError) as error:
        ost.compile(text, {"stock": STOCK})
    assert error.value.detail == "Streams: stock, R0, R1, R2"

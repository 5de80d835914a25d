"""Patterns of situations that could not have been compiled are refused; those that were go through bytes unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato.base.errors import StateError
from ostinato.program import serde
from ostinato.program.disassemble import disassemble
from ostinato.program.intervals import RELATIONS, AllowedRelation, IntervalConstraint, IntervalPattern, inverse_of
from ostinato.program.program import alone
from ostinato.program.verification.verify import verify_pattern

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("f", pa.bool_()), ("p", pa.float64())])
TEXT = """FROM t PARTITION BY k DEFINE A AS f AT LEAST 2, B AS p > PREV(p), C AS NOT f
    PATTERN A overlaps[1, 4];meets B AND C before A WITHIN 9 RETURN avg(A.p) AS a, first(B.p) AS b"""


def compiled() -> IntervalPattern:
    found = ost.compile(TEXT, {"t": SCHEMA}, language="tpstream").pattern
    assert isinstance(found, IntervalPattern)
    return found


def test_bytes_and_back() -> None:
    pattern = compiled()
    assert serde.loads(serde.dumps(alone(pattern))).body == pattern
    assert pattern.look_back == 1 and pattern.definitions[0].at_least == 2 and set(pattern.owners) == {0, 1}


def test_the_order_begins_with_what_leaves_the_fewest() -> None:
    assert compiled().orders == ((0, 1, 2), (1, 0, 2), (2, 0, 1))


def test_the_listing_names_definitions_and_relations() -> None:
    listing = disassemble(compiled())
    assert "situation A: rows with bit 0 by block 0, at least 2; then B, C" in listing
    assert "A overlaps[1, 4]; meets B" in listing and "reported as soon as it is certain" in listing


def test_inverses() -> None:
    assert [RELATIONS[inverse_of(n)] for n in range(4)] == ["after", "met by", "overlapped by", "started by"]


def definition(**changed: int) -> Callable[[IntervalPattern], IntervalPattern]:
    return lambda pattern: replace(pattern, definitions=(replace(pattern.definitions[0], **changed), *pattern.definitions[1:]))


def constraint(*allowed: AllowedRelation, first: int = 0, second: int = 1) -> Callable[[IntervalPattern], IntervalPattern]:
    return lambda pattern: replace(pattern, constraints=(IntervalConstraint(first, second, allowed),))


BEFORE = AllowedRelation(0)
FORGED: dict[str, Callable[[IntervalPattern], IntervalPattern]] = {
    "definitions with known bits": definition(bit=-1),
    "definitions with known blocks": definition(block=99),
    "durations that fit 64 bits": definition(at_most=1 << 62),
    "known slots for starts": definition(start=99),
    "starts that are times": definition(start=0),
    "blocks that change registers of their own definition": definition(block=1),
    "constraints of known definitions": constraint(BEFORE, second=3),
    "constraints between two definitions": constraint(BEFORE, second=0),
    "relations that a constraint allows": constraint(),
    "known relations": constraint(AllowedRelation(13)),
    "bounds of what can be bounded": constraint(AllowedRelation(1, True, 0, 1)),
    "bounds that fit 64 bits": constraint(AllowedRelation(0, True, 0, 1 << 62)),
    "orders of all definitions": lambda pattern: replace(pattern, orders=((0, 1, 1), (1, 0, 2), (2, 0, 1))),
    "an order for every definition": lambda pattern: replace(pattern, orders=()),
    "a definition for every register": lambda pattern: replace(pattern, owners=()),
    "registers of known definitions": lambda pattern: replace(pattern, owners=(7,) * len(pattern.owners)),
    "a known latency": lambda pattern: replace(pattern, latency="never"),
    "a known evaluation": lambda pattern: replace(pattern, evaluation="runs"),
    "1 to 32 definitions": lambda pattern: replace(pattern, definitions=()),
}

EACH = "FROM t PARTITION BY k DEFINE A AS f, B AS p > PREV(p) RETURN avg(p) AS a, first(B.p) AS b"
FORGED_EACH: dict[str, Callable[[IntervalPattern], IntervalPattern]] = {
    "situations by themselves": lambda pattern: replace(pattern, latency="earliest"),
    "situations by themselves,": lambda pattern: replace(pattern, constraints=compiled().constraints[:1]),
    "situations by themselves with names of their own": lambda pattern: replace(pattern, variables=("A", "A")),
    "operations in measures that fit": lambda pattern: replace(pattern, each=False),
}


def each() -> IntervalPattern:
    found = ost.compile(EACH, {"t": SCHEMA}, language="tpstream").pattern
    assert isinstance(found, IntervalPattern) and found.each
    return found


def test_situations_by_themselves() -> None:
    pattern = each()
    assert serde.loads(serde.dumps(alone(pattern))).body == pattern
    assert "each is reported when it has ended" in disassemble(pattern)


@pytest.mark.parametrize("expected", FORGED_EACH)
def test_what_is_refused_of_them(expected: str) -> None:
    with pytest.raises(StateError, match=expected.rstrip(",")):
        verify_pattern(FORGED_EACH[expected](each()))


@pytest.mark.parametrize("expected", FORGED)
def test_what_is_refused(expected: str) -> None:
    with pytest.raises(StateError, match=expected):
        verify_pattern(FORGED[expected](compiled()))

"""Conditions compiled to scalar code and run against small matches, bound row by row."""

import datetime
import statistics

import numpy as np
import pytest

from ostinato.base.errors import UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Case, Cast, Classifier, Field, Literal, MatchNumber, Nav, current
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, INTERVAL, NULL, STRING, TIMESTAMP, decimal
from ostinato.kernels._jit import at_first_call
from ostinato.kernels.scalar.scalar import NOT_TRUE, TRUE, Interpreter
from ostinato.kernels.scalar.scalar import evaluate as inner_evaluate
from ostinato.plan.scalar.scalar_code import ScalarPlan

evaluate = at_first_call(inner_evaluate)

X = Field("x", type=INT)
F = Field("f", type=FLOAT)
S = Field("s", type=STRING)


def last(variable, body=X, offset=0, shift=0):
    return Nav(variable, Anchor.LAST, offset, shift, body, type=body.type)


def first(variable, body=X, offset=0):
    return Nav(variable, Anchor.FIRST, offset, 0, body, type=body.type)


def call(name, *args, type=BOOL):
    return Call(name, args, type=type)


def lit(value, type=INT):
    return Literal(value, type=type)


def aggregate(function, variable, body=X, type=INT, before=False):
    return Aggregate(function, variable, body, before, type=type)


class Bench:
    """Binds rows one after the other; a block per (variable, kind)."""

    def __init__(self, conditions):
        """`conditions`: (variable, kind) -> list of expressions; variables without conditions have blocks too."""
        self.slots = {}
        self.plan = ScalarPlan(lambda name: frozenset((name,)), self.slot_of)
        keys = [(v, k) for v in ("a", "b") for k in ("first", "later", "each", "leaving")]
        self.blocks = {key: self.plan.block(key[0], conditions.get(key, []), key[1]) for key in keys}
        self.code, self.registers = self.plan.finish()
        self.machine = Interpreter(self.code)
        self.words = {text: number for number, text in enumerate(self.code.strings)}
        self.values = np.array([[0 for r in self.registers] or [0]], np.int64)
        self.valid = np.array([[r.counter for r in self.registers] or [0]], np.uint8)

    def slot_of(self, nav):
        assert (nav.variable, nav.anchor, nav.offset) == (None, Anchor.LAST, 0)
        return self.slots.setdefault((repr(nav.body), nav.shift), (len(self.slots), nav.body))[0]

    def bind(self, variable, kind, row):
        number = self.blocks[variable, kind]
        if number < 0:
            return True
        values = [self.coded(value_at(body, row)) for _, body in self.slots.values()]
        slots = np.array([[v or 0 for v in values] or [0]], np.int64)
        valid = np.array([[v is not None for v in values] or [0]], np.uint8)
        order = sorted(self.words)
        ranks = np.array([order.index(text) for text in self.words] or [0])
        self.machine.bind(np.arange(len(self.code.strings)), ranks)
        m, (start, end) = self.machine, self.code.blocks[number]
        status = evaluate(m.code, start, end, m.scratch, m.scratch_valid, m.ranks, slots, valid, 0, self.values, self.valid, 0, 0)
        assert status in (TRUE, NOT_TRUE)
        return status == TRUE

    def coded(self, value):
        if isinstance(value, str):
            return self.words.setdefault(value, len(self.words))
        return int(np.float64(value).view(np.int64)) if isinstance(value, float) else value


def value_at(body, row):
    """What the columns would compute for a row."""
    if isinstance(body, Literal):
        return body.value
    if isinstance(body, Field):
        return row.get(body.name)
    args = [value_at(arg, row) for arg in body.args]
    if body.name == "is_null":
        return int(args[0] is None)
    if None in args:
        return None
    return int({"eq": lambda: args[0] == args[1], "not": lambda: not args[0]}[body.name]())


def holds(condition, bound, variable, kind, row):
    """Whether `condition` holds when `row` is bound to `variable` after the rows `bound` [(variable, row)]."""
    bench = Bench({(variable, kind): [condition]})
    seen = set()
    for number, (name, values) in enumerate(bound):
        own = "later" if name in seen else "first"
        if (name, own) == (variable, kind):
            own = "each"
        seen.add(name)
        assert bench.bind(name, own, values), number
    return bench.bind(variable, kind, row)


ROWS = [("a", {"x": 5}), ("a", {"x": 7}), ("a", {"x": None}), ("b", {"x": 2})]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (last("a"), None),
        (last("a", offset=1), 7),
        (last("a", offset=2), 5),
        (last("a", offset=3), None),
        (last("b"), 9),
        (last("b", offset=1), 2),
        (last(None, offset=1), 2),
        (last(None, offset=3), 7),
        (first("a"), 5),
        (first("a", offset=1), 7),
        (first("b"), 2),
        (first("b", offset=1), 9),
        (first("b", offset=2), None),
        (first(None), 5),
        (first(None, offset=3), 2),
        (first(None, offset=4), 9),
        (first(None, offset=5), None),
        (aggregate("count", "a", None), 3),
        (aggregate("count", "a"), 2),
        (aggregate("count", None, None), 5),
        (aggregate("count", None, None, before=True), 4),
        (aggregate("sum", "a"), 12),
        (aggregate("sum", "b"), 11),
        (aggregate("sum", "b", before=True), 2),
        (aggregate("min", None), 2),
        (aggregate("max", "b", before=True), 2),
        (aggregate("max", "b"), 9),
        (aggregate("first", "a"), 5),
        (aggregate("last", "a"), 7),
    ],
)
def test_looking_back(value, wanted):
    same = call("is_null", value) if wanted is None else call("eq", value, lit(wanted))
    for kind in ("later", "each"):
        assert holds(same, ROWS, "b", kind, {"x": 9}), kind
        assert not holds(call("not", same), ROWS, "b", kind, {"x": 9}), kind


def test_first_binding_of_a_variable_is_its_first_row():
    assert holds(call("eq", first("b"), lit(9)), ROWS[:3], "b", "first", {"x": 9})
    assert holds(call("is_null", first("b", offset=1)), ROWS[:3], "b", "first", {"x": 9})
    assert holds(call("eq", aggregate("sum", "b"), lit(9)), ROWS[:3], "b", "first", {"x": 9})
    assert holds(call("is_null", aggregate("sum", "b", before=True)), ROWS[:3], "b", "first", {"x": 9})


def test_leaving_looks_at_the_run_as_it_stands():
    assert holds(call("eq", last("b"), lit(2)), ROWS, "b", "leaving", {"x": 9})
    assert holds(call("eq", aggregate("count", "a", None), lit(3)), ROWS, "b", "leaving", {"x": 9})
    assert holds(call("eq", first(None), lit(5)), ROWS, "b", "leaving", {"x": 9})
    assert Bench({}).blocks["a", "leaving"] == -1


def test_averages_and_deviations():
    rows = [("a", {"f": v}) for v in (1.5, 2.25, None, 10.0)]
    values = [1.5, 2.25, 10.0]
    average, deviation = aggregate("avg", "a", F, FLOAT), aggregate("stddev", "a", F, FLOAT)
    near = [
        call("lt", call("abs", call("sub", value, lit(wanted, FLOAT), type=FLOAT), type=FLOAT), lit(1e-9, FLOAT))
        for value, wanted in ((average, statistics.mean(values)), (deviation, statistics.stdev(values)))
    ]
    assert holds(call("and", *near), rows, "b", "first", {})
    assert holds(call("is_null", deviation), rows[:1], "b", "first", {})
    assert holds(call("is_null", average), [], "b", "first", {})
    assert holds(call("eq", aggregate("avg", "a", X, FLOAT), lit(6)), ROWS, "b", "first", {})


def test_strings_compare_by_code_and_order_by_rank():
    rows = [("a", {"s": "pear"}), ("a", {"s": "apple"})]
    assert holds(call("eq", last("a", S), lit("apple", STRING)), rows, "b", "first", {"s": "fig"})
    assert holds(call("lt", last("a", S), current(S)), rows, "b", "first", {"s": "fig"})
    assert holds(call("eq", aggregate("max", "a", S, STRING), lit("pear", STRING)), rows, "b", "first", {"s": "fig"})
    assert holds(call("in", last("a", S), lit("apple", STRING), lit("kiwi", STRING)), rows, "b", "first", {"s": "fig"})
    assert holds(call("eq", Classifier(None, Anchor.LAST, 1, type=STRING), lit("a", STRING)), rows, "b", "first", {"s": "fig"})


@pytest.mark.parametrize(
    "condition",
    [
        call("eq", call("add", last("a"), current(X), type=INT), lit(12)),
        call("eq", call("mod", last("a"), lit(4), type=INT), lit(1)),
        call("eq", call("div", last("a"), lit(2), type=FLOAT), lit(2.5, FLOAT)),
        call("gt", call("mul", last("a"), lit(1.5, FLOAT), type=FLOAT), current(X)),
        call("eq", call("mul", last("a"), Literal("1.50", type=decimal(3, 2)), type=decimal(38, 2)), Literal("7.5", type=decimal(2, 1))),
        call("eq", call("neg", last("a"), type=INT), lit(-5)),
        call("distinct", last("a"), last("b", offset=3)),
        call("is_false", call("eq", last("a"), lit(4))),
        call("eq", call("sign", call("sub", last("a"), current(X), type=INT), type=INT), lit(-1)),
        call("eq", call("greatest", last("a"), current(X), last("b", offset=3), type=INT), lit(7)),
        call("eq", call("least", last("b", offset=3), last("a"), current(X), type=INT), lit(5)),
        call("eq", call("round", call("div", last("a"), current(X), type=FLOAT), type=FLOAT), lit(1.0, FLOAT)),
        call("eq", call("floor", call("add", last("a"), current(X), type=INT), type=INT), lit(12)),
        call("gt", call("power", last("a"), current(X), type=FLOAT), lit(78124.0, FLOAT)),
        call("lt", call("ln", call("add", last("a"), current(X), type=INT), type=FLOAT), lit(2.5, FLOAT)),
        call("eq", call("coalesce", last("b", offset=4), last("a"), type=INT), lit(5)),
        call("or", call("is_null", last("a")), call("gt", current(X), last("a"))),
        call("eq", Case(((call("gt", last("a"), lit(9)), lit(1)), (call("gt", last("a"), lit(4)), lit(2))), lit(3), type=INT), lit(2)),
        call("eq", Cast(call("add", last("a"), current(X), type=INT), FLOAT, type=FLOAT), lit(12.0, FLOAT)),
        call("is_null", call("gt", Literal(None, type=NULL), last("a"))),
    ],
)
def test_functions_of_several_rows(condition):
    assert holds(condition, [("a", {"x": 5})], "b", "first", {"x": 7})


def test_times():
    at = Field("t", type=TIMESTAMP)
    day = Field("d", type=DATE)
    bound = [("a", {"t": 1_000_000, "d": 1})]
    gap = call("sub", current(at), last("a", at), type=INTERVAL)
    assert holds(call("eq", gap, lit(datetime.timedelta(seconds=2), INTERVAL)), bound, "b", "first", {"t": 3_000_000})
    seconds = call("epoch", gap, type=FLOAT)
    assert holds(call("eq", seconds, lit(2.0, FLOAT)), bound, "b", "first", {"t": 3_000_000})
    moment = datetime.datetime(1970, 1, 1, 0, 0, 1)
    assert holds(call("eq", last("a", at), lit(moment, TIMESTAMP)), bound, "b", "first", {"t": 0})
    assert holds(call("gt", last("a", day), last("a", at)), bound, "b", "first", {"t": 0})
    assert holds(call("eq", last("a", day), lit(datetime.date(1970, 1, 2), DATE)), bound, "b", "first", {"t": 0})


def test_shifted_values_are_slots_of_the_row_they_are_bound_with():
    bench = Bench({("b", "first"): [call("gt", current(X), last("a", shift=-1))]})
    assert sorted(shift for _, shift in bench.slots) == [-1, 0]


def test_functions_that_only_columns_know_are_taken_at_their_row():
    upper = call("eq", call("upper", last("a", S), type=STRING), current(S))
    bench = Bench({("b", "first"): [upper]})
    assert any("upper" in text for text, _ in bench.slots)
    price = Field("price", type=decimal(9, 2))
    bench = Bench({("b", "first"): [call("eq", call("floor", last("a", price), type=decimal(9, 0)), lit(3))]})
    assert any("floor" in text for text, _ in bench.slots)


def test_what_cannot_be_computed_is_refused_with_a_hint():
    both = call("starts_with", last("a", S), current(S))
    for condition in (both, call("eq", MatchNumber(type=INT), lit(1)), call("eq", last("a"), lit(2**70))):
        with pytest.raises(UnsupportedError) as caught:
            Bench({("b", "first"): [condition]})
        assert caught.value.hint


def test_nothing_to_test_or_remember_is_an_empty_block():
    bench = Bench({})
    assert all(start == end for start, end in bench.code.blocks)
    assert bench.registers == ()

"""The table of functions is closed: every part of the system handles every member."""

from __future__ import annotations

import pytest
from tests.property.row_expressions import CALLS, FIELDS, SCHEMA

from ostinato.expr.nodes import Call, Field
from ostinato.expr.reading.parse import parse_expression
from ostinato.expr.text import to_text
from ostinato.expr.typing.functions import FUNCTIONS, SPELLINGS, resolve
from ostinato.expr.typing.infer import infer
from ostinato.expr.typing.schema import Schema
from ostinato.expr.values.evaluate import HANDLED, evaluate
from ostinato.kernels.vectors.functions import LENIENT, STRICT

SAMPLES = {name: kinds for calls in CALLS.values() for name, kinds in calls} | {"date_trunc": ("'day'", "ts")}


class Nulls:
    def field(self, name: str) -> None:
        return None


def sample(name: str) -> Call:
    fields = tuple(Field(FIELDS[kind][0]) if kind in FIELDS else parse_expression(kind) for kind in SAMPLES[name])
    return Call(name, fields)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_is_handled_everywhere(name):
    expr = infer(sample(name), SCHEMA)
    assert expr.type is not None
    assert name in HANDLED
    assert name in STRICT or name in LENIENT
    evaluate(expr, Nulls())
    assert infer(parse_expression(to_text(expr)), SCHEMA) == expr


def test_nothing_is_handled_that_is_not_in_the_table():
    assert set(FUNCTIONS) == HANDLED == set(STRICT) | set(LENIENT)
    assert not set(STRICT) & set(LENIENT)


def test_spellings_are_lower_case_and_resolve():
    for spelling, function in SPELLINGS.items():
        assert spelling == spelling.lower()
        args = tuple(Field("x") for _ in range(function.least))
        assert resolve(spelling.upper(), args) == Call(function.name, args)


def test_an_empty_schema_has_no_columns():
    assert Schema(()).find("a") is None

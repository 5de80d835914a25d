"""A filter that the host may apply before rows reach the engine, as SQL text that Spark and DuckDB read alike.

Only where the selection may skip events and none is counted: a row that satisfies no element's conditions on the row alone can
never be selected. Conditions that look elsewhere, or that the engines might compute differently, are left out, which only makes the
filter weaker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ostinato.algebra.pattern import variables_of
from ostinato.algebra.policies import Output, Selection
from ostinato.algebra.query import Definition, MatchQuery, Unit, When
from ostinato.expr.nodes import Call, Expr, Field, Literal, Nav
from ostinato.expr.types import Kind
from ostinato.plan.classify import PredicateClass, classify, type_test
from ostinato.plan.gaps import gaps_of

_COMPARISONS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LOGIC = {"and": " AND ", "or": " OR "}


def pushdown(query: MatchQuery) -> str | None:
    """None: every row matters."""
    if query.selection not in (Selection.NEXT, Selection.ANY) or query.output is Output.NONOVERLAPPING and query.measures is None:
        return None
    negated = [name for gap in gaps_of(query.pattern) for name in gap.negated]
    return rows_of_variables(query, dict.fromkeys((*variables_of(query.pattern), *negated), ()))


def rows_of_variables(query: MatchQuery, further: Mapping[str, Sequence[Expr]]) -> str | None:
    """What every row of one of these variables satisfies, be it selected or negated; `further` are conditions on its row that do not stand
    in its definition. None: every row matters."""
    if query.within is not None and query.within.unit is Unit.EVENTS:
        return None
    return rows_with_one_of((_conditions(query, query.definition(name), own) for name, own in further.items()), query.partition)


def rows_with_one_of(alternatives: Iterable[Sequence[Expr]], keys: Sequence[str]) -> str | None:
    """Rows that satisfy one of these conjunctions, as far as it can be said, and have all keys. None: every row may."""
    parts = [[text for expr in conditions if (text := _text(expr)) is not None] for conditions in alternatives]
    if not parts or not all(parts):
        return None
    present = "".join(f" AND {_name(column)} IS NOT NULL" for column in keys)
    text = "(" + " OR ".join(dict.fromkeys("(" + " AND ".join(part) + ")" for part in parts)) + ")" + present
    return None if "${" in text else text  # Spark would put a setting or the environment there


def _conditions(query: MatchQuery, definition: Definition, further: Sequence[Expr]) -> list[Expr]:
    """What every row of a variable satisfies: its type, and the conditions that hold for each of its rows."""
    parts = (*type_test(query, definition), *classify(definition))
    return [*(part.expr for part in parts if part.when is When.EACH and part.kind is PredicateClass.STATIC), *further]


def _text(expr: Expr, negated: bool = False) -> str | None:
    """None: not said in this small common language."""
    if isinstance(expr, Nav):
        return _text(expr.body, negated)
    if isinstance(expr, Field):
        return _name(expr.name) if expr.type is not None and expr.type.kind in (Kind.INT, Kind.STRING, Kind.BOOL, Kind.FLOAT) else None
    if isinstance(expr, Literal):
        return _literal(expr.value)
    if not isinstance(expr, Call):
        return None
    args = [text for arg in expr.args if (text := _text(arg, negated or expr.name == "not")) is not None]
    if len(args) < len(expr.args):
        return None
    if expr.name in _COMPARISONS:
        return f"{args[0]} {_COMPARISONS[expr.name]} {args[1]}" if _agreed(expr, negated) else None
    if expr.name in _LOGIC:
        return "(" + _LOGIC[expr.name].join(args) + ")"
    if expr.name == "not":
        return f"NOT ({args[0]})"
    if expr.name in ("is_null", "is_not_null"):
        return f"{args[0]} IS {'NOT ' if expr.name == 'is_not_null' else ''}NULL"
    return None


def _agreed(comparison: Call, negated: bool) -> bool:
    """Spark and DuckDB hold NaN equal to itself and above every number, here it compares as IEEE says: their comparison lets more
    rows through, unless it is negated or an inequality of two columns."""
    if not any(arg.type is not None and arg.type.kind is Kind.FLOAT for arg in comparison.args):
        return True
    return not negated and (comparison.name != "ne" or any(isinstance(arg, Literal) for arg in comparison.args))


def _literal(value: object) -> str | None:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.17e}" if math.isfinite(value) else None
    return _string(value) if isinstance(value, str) else None


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _string(text: str) -> str | None:
    """Backslashes mean something in Spark's strings and nothing in DuckDB's."""
    return None if "\\" in text else "'" + text.replace("'", "''") + "'"

"""The table of operators and functions: canonical name, spellings in queries, number of arguments, and the rule for their types."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ostinato.base.errors import QuerySyntaxError, UnknownNameError, UnsupportedError
from ostinato.base.span import Span
from ostinato.expr.nodes import AGGREGATES, Call, Case, Expr, Literal
from ostinato.expr.types import BOOL, INT, STRING
from ostinato.expr.typing import registered
from ostinato.expr.typing import signatures as s

MANY = 1_000_000


@dataclass(frozen=True)
class Function:
    """`spellings` are what a query may call it by (lower case); operators have none."""

    name: str
    least: int
    most: int
    rule: s.Rule
    spellings: tuple[str, ...] = ()


def _operators(rule: s.Rule, count: int, *names: str) -> tuple[Function, ...]:
    return tuple(Function(name, count, count, rule) for name in names)


_ALL = (
    Function("and", 2, MANY, s.booleans),
    Function("or", 2, MANY, s.booleans),
    *_operators(s.booleans, 1, "not", "is_true", "is_false"),
    *_operators(s.null_test, 1, "is_null", "is_not_null"),
    *_operators(s.comparison, 2, "eq", "ne", "lt", "le", "gt", "ge", "distinct"),
    Function("in", 2, MANY, s.comparison),
    *_operators(s.sum_of, 2, "add", "sub"),
    *_operators(s.product, 2, "mul"),
    *_operators(s.doubles, 2, "div"),
    *_operators(s.signed, 1, "neg"),
    Function("mod", 2, 2, s.remainder, ("mod",)),
    Function("abs", 1, 1, s.signed, ("abs",)),
    Function("sign", 1, 1, s.sign, ("sign", "signum")),
    Function("ceil", 1, 1, s.whole, ("ceil", "ceiling")),
    Function("floor", 1, 1, s.whole, ("floor",)),
    Function("round", 1, 2, s.rounded, ("round",)),
    Function("sqrt", 1, 1, s.doubles, ("sqrt",)),
    Function("exp", 1, 1, s.doubles, ("exp",)),
    Function("ln", 1, 1, s.doubles, ("ln",)),
    Function("log10", 1, 1, s.doubles, ("log10",)),
    Function("power", 2, 2, s.doubles, ("power", "pow")),
    Function("greatest", 1, MANY, s.same, ("greatest",)),
    Function("least", 1, MANY, s.same, ("least",)),
    Function("coalesce", 1, MANY, s.same, ("coalesce", "ifnull", "nvl")),
    Function("concat", 1, MANY, s.strings(STRING), ("concat",)),
    Function("upper", 1, 1, s.strings(STRING), ("upper", "ucase")),
    Function("lower", 1, 1, s.strings(STRING), ("lower", "lcase")),
    Function("reverse", 1, 1, s.strings(STRING), ("reverse",)),
    Function("trim", 1, 2, s.strings(STRING), ("trim", "btrim")),
    Function("ltrim", 1, 2, s.strings(STRING), ("ltrim",)),
    Function("rtrim", 1, 2, s.strings(STRING), ("rtrim",)),
    Function("replace", 3, 3, s.strings(STRING), ("replace",)),
    Function("length", 1, 1, s.strings(INT), ("length", "len", "char_length", "character_length")),
    Function("strpos", 2, 2, s.strings(INT), ("strpos", "instr")),
    Function("starts_with", 2, 2, s.strings(BOOL), ("starts_with", "startswith")),
    Function("ends_with", 2, 2, s.strings(BOOL), ("ends_with", "endswith")),
    Function("contains", 2, 2, s.strings(BOOL), ("contains",)),
    Function("like", 2, 3, s.like),
    Function("substring", 2, 3, s.string_then_integers, ("substring", "substr")),
    Function("left", 2, 2, s.string_then_integers, ("left",)),
    Function("right", 2, 2, s.string_then_integers, ("right",)),
    Function("year", 1, 1, s.calendar_part, ("year",)),
    Function("quarter", 1, 1, s.calendar_part, ("quarter",)),
    Function("month", 1, 1, s.calendar_part, ("month",)),
    Function("week", 1, 1, s.calendar_part, ("week", "weekofyear", "week_of_year")),
    Function("day", 1, 1, s.calendar_part, ("day", "dayofmonth", "day_of_month")),
    Function("day_of_week", 1, 1, s.calendar_part, ("day_of_week", "isodow")),
    Function("day_of_year", 1, 1, s.calendar_part, ("day_of_year", "dayofyear")),
    Function("hour", 1, 1, s.clock_part, ("hour",)),
    Function("minute", 1, 1, s.clock_part, ("minute",)),
    Function("second", 1, 1, s.clock_part, ("second",)),
    Function("epoch", 1, 1, s.epoch, ("epoch",)),
    Function("epoch_us", 1, 1, s.epoch, ("epoch_us",)),
    Function("epoch_ns", 1, 1, s.epoch, ("epoch_ns",)),
    Function("date_trunc", 2, 2, s.truncation, ("date_trunc",)),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
SPELLINGS: dict[str, Function] = {spelling: function for function in _ALL for spelling in function.spellings}
CONDITIONALS = ("if", "iff", "nullif")

AMBIGUOUS = {
    "log": "ln (natural) or log10: engines disagree on what log means",
    "dayofweek": "day_of_week: Monday is 1",
    "dow": "day_of_week: Monday is 1",
    "now": "a constant: a query must give the same matches whenever it runs",
    "current_timestamp": "a constant: a query must give the same matches whenever it runs",
    "random": "a column computed outside: a query must give the same matches whenever it runs",
}


def resolve(name: str, args: tuple[Expr, ...], span: Span | None = None) -> Expr:
    """A call as a query spells it, as a tree over canonical names."""
    spelling = name.lower()
    if spelling in CONDITIONALS:
        return _conditional(spelling, args, span)
    added = registered.find(spelling)
    if added is not None:
        check_count(Function(added.name, len(added.takes), len(added.takes), s.as_declared(added)), len(args), span)
        return Call(added.name, args, added, span=span)
    if spelling not in SPELLINGS:
        raise _unknown(spelling, name, span)
    function = SPELLINGS[spelling]
    check_count(function, len(args), span, name)
    return Call(function.name, args, span=span)


def _conditional(name: str, args: tuple[Expr, ...], span: Span | None) -> Case:
    count = 2 if name == "nullif" else 3
    if len(args) != count:
        raise QuerySyntaxError(f"`{name}` takes {count} arguments, not {len(args)}", span=span)
    if name == "nullif":
        return Case(((Call("eq", args, span=span), Literal(None, span=span)),), args[0], span=span)
    return Case(((args[0], args[1]),), args[2], span=span)


def check_count(function: Function, given: int, span: Span | None, name: str | None = None) -> None:
    if function.least <= given <= function.most:
        return
    wanted = str(function.least)
    if function.most >= MANY:
        wanted = f"at least {wanted}"
    elif function.most > function.least:
        wanted = f"{wanted} to {function.most}"
    noun = "argument" if wanted == "1" else "arguments"
    raise QuerySyntaxError(f"`{name or function.name}` takes {wanted} {noun}, not {given}", span=span)


def is_taken(name: str) -> bool:
    """Whether the name means something already, or is kept free because it means different things elsewhere."""
    spelling = name.lower()
    return any(spelling in names for names in (FUNCTIONS, SPELLINGS, CONDITIONALS, AGGREGATES, AMBIGUOUS))


def _unknown(spelling: str, name: str, span: Span | None) -> Exception:
    if spelling in AGGREGATES:
        return UnsupportedError(f"The aggregate {name} cannot stand here", hint="Aggregates go over the rows of a match", span=span)
    if spelling in AMBIGUOUS:
        return UnsupportedError(f"The function {name} is not offered", hint=f"Use {AMBIGUOUS[spelling]}", span=span)
    close = get_close_matches(spelling, [*SPELLINGS, *CONDITIONALS, *AGGREGATES, *registered.names()], 1)
    return UnknownNameError(f"There is no function {name}", hint=f"Did you mean {close[0]}?" if close else None, span=span)

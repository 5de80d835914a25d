"""What each reference means in the algebra, and what is said about queries that mean nothing."""

import pytest

from ostinato.algebra.pattern import Alternation, Empty, Repetition, Sequence, Variable
from ostinato.algebra.policies import NullKeys, Selection, Skip
from ostinato.algebra.query import MatchQuery, OrderKey, Unit, Within
from ostinato.base.errors import OstinatoError, QuerySyntaxError, TypeMismatchError, UnknownNameError, UnsupportedError
from ostinato.expr.nodes import Aggregate, Anchor, Call, Classifier, Expr, Field, Literal, MatchNumber, Nav
from ostinato.expr.types import BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP, Kind
from ostinato.expr.typing.schema import Schema
from ostinato.lang.sql.lower import lower
from ostinato.lang.sql.parse import parse_clause

SCHEMA = Schema(
    (("sym", STRING), ("ts", TIMESTAMP), ("n", INT), ("price", FLOAT), ("Größe", INT), ("day", DATE), ("up", BOOL), ("x y", INT))
)


def lowered(text: str) -> MatchQuery:
    return lower(parse_clause(text), SCHEMA, "ticks")


def measure(text: str) -> Expr:
    query = lowered(f'MEASURES {text} AS m PATTERN (A B+ "low"*) DEFINE A AS TRUE')
    assert query.measures is not None
    return query.measures[0].expr


def test_whole_clause():
    query = lowered("""
        PARTITION BY SYM ORDER BY TS, n DESC NULLS FIRST
        MEASURES A.price AS first_price ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A (B | ())+? c{2,3}) WITHIN INTERVAL '1' SECOND
        DEFINE A AS up, C AS price > 1""")
    assert query.stream == "ticks"
    assert query.pattern == Sequence(
        (Variable("A"), Repetition(Alternation((Variable("B"), Empty())), 1, None, False), Repetition(Variable("C"), 2, 3))
    )
    assert (query.selection, query.skip, query.null_keys) == (Selection.PREFERRED, Skip.TO_NEXT_ROW, NullKeys.GROUP)
    assert (query.time, query.partition) == ("ts", ("sym",))
    assert query.order == (OrderKey("ts"), OrderKey("n", True, True))
    assert query.within == Within(1_000_000, Unit.TIME)
    assert query.measured_partition
    assert [m.name for m in query.measures or ()] == ["first_price"]
    assert [d.variable for d in query.definitions] == ["A", "C"]
    condition = query.definition("C").conditions[0].expr
    assert condition.type is not None and condition.type.kind is Kind.BOOL


def at(variable, anchor, offset, shift, body) -> Nav:
    return Nav(variable, anchor, offset, shift, body)


F, L = Anchor.FIRST, Anchor.LAST
PRICE, N = Field("price"), Field("n")

MEASURES = [
    ("price", at(None, L, 0, 0, PRICE)),
    ("A.price", at("A", L, 0, 0, PRICE)),
    ("a.PRICE", at("A", L, 0, 0, PRICE)),
    ('"low".größe', at("low", L, 0, 0, Field("Größe"))),
    ('A."x y"', at("A", L, 0, 0, Field("x y"))),
    ("FIRST(A.n)", at("A", F, 0, 0, N)),
    ("first(n, 2)", at(None, F, 2, 0, N)),
    ("LAST(B.n, 1)", at("B", L, 1, 0, N)),
    ("FINAL LAST(n)", at(None, L, 0, 0, N)),
    ("RUNNING FIRST(n)", at(None, F, 0, 0, N)),
    ("LAST(A.n + A.n)", at("A", L, 0, 0, Call("add", (N, N)))),
    ("PREV(n)", at(None, L, 0, -1, N)),
    ("NEXT(B.n, 3)", at("B", L, 0, 3, N)),
    ("PREV(n, 0)", at(None, L, 0, 0, N)),
    ("PREV(COALESCE(n, 0))", at(None, L, 0, -1, Call("coalesce", (N, Literal(0))))),
    ("PREV(FIRST(A.n, 1), 2)", at("A", F, 1, -2, N)),
    ("NEXT(LAST(n))", at(None, L, 0, 1, N)),
    ("NEXT(FINAL LAST(n))", at(None, L, 0, 1, N)),
    ("A.n + n", Call("add", (at("A", L, 0, 0, N), at(None, L, 0, 0, N)))),
    ("COUNT(*)", Aggregate("count", None, None)),
    ("COUNT(b.*)", Aggregate("count", "B", None)),
    ('COUNT("low".*)', Aggregate("count", "low", None)),
    ("FINAL COUNT(A.n)", Aggregate("count", "A", N)),
    ("COUNT(1)", Aggregate("count", None, Literal(1))),
    ("SUM(B.n * B.n)", Aggregate("sum", "B", Call("mul", (N, N)))),
    ("avg(price)", Aggregate("avg", None, PRICE)),
    ("stddev_samp(price)", Aggregate("stddev", None, PRICE)),
    ("MAX(A.n) - MIN(A.n)", Call("sub", (Aggregate("max", "A", N), Aggregate("min", "A", N)))),
    ("MATCH_NUMBER()", MatchNumber()),
    ("CLASSIFIER()", Classifier()),
    ("CLASSIFIER(B)", Classifier("B")),
    ("FIRST(CLASSIFIER(), 1)", Classifier(None, F, 1)),
    ("LAST(CLASSIFIER(B), 1)", Classifier("B", L, 1)),
    ("PREV(CLASSIFIER())", Nav(None, L, 0, -1, Classifier())),
    ("NEXT(FIRST(CLASSIFIER(B), 1), 2)", Nav("B", F, 1, 2, Classifier())),
    ("upper(CLASSIFIER())", Call("upper", (Classifier(),))),
]


@pytest.mark.parametrize(("text", "expr"), MEASURES)
def test_measures(text, expr):
    assert measure(text) == expr


TIMES = [("ts", "ts"), ("n", "n"), ("day", "day"), ("ts DESC", None), ("sym", None), ("price", None), ("sym, ts", None)]


@pytest.mark.parametrize(("order", "time"), TIMES)
def test_time_column(order, time):
    assert lowered(f"ORDER BY {order} MEASURES n AS n PATTERN (A) DEFINE A AS TRUE").time == time


def test_rows_without_order_by_come_in_input_order():
    query = lowered("MEASURES n AS n PATTERN (A) DEFINE A AS TRUE")
    assert (query.order, query.time) == ((), None)


def test_a_column_ordered_twice_counts_once():
    assert lowered("ORDER BY n, N DESC MEASURES n AS m PATTERN (A) DEFINE A AS TRUE").order == (OrderKey("n"),)


def test_integer_windows_have_the_unit_of_the_column():
    assert lowered("ORDER BY n MEASURES n AS m PATTERN (A) WITHIN 7 DEFINE A AS TRUE").within == Within(7)


def test_partition_columns_alone_are_a_result():
    assert lowered("PARTITION BY sym PATTERN (A) DEFINE A AS TRUE").measures == ()


NESTING = "Only PREV(FIRST(...)), PREV(LAST(...)), NEXT(FIRST(...)) and NEXT(LAST(...)) nest"
VARIABLES = 'The pattern has A, B, "low"; columns are qualified by them alone'
ONE_VARIABLE = "CLASSIFIER takes at most a pattern variable"
BEFORE = "FINAL stands only before FIRST, LAST and aggregates"

# expression, kind, marked text, message, hint
MEASURE_ERRORS = [
    ("prise", UnknownNameError, "prise", "There is no column prise", "Did you mean price?"),
    ("A.prise", UnknownNameError, "A.prise", "There is no column prise", "Did you mean price?"),
    ("lo.n", UnknownNameError, "lo.n", "There is no pattern variable lo", 'Did you mean "low"?'),
    (
        "ticks.n",
        UnknownNameError,
        "ticks.n",
        "There is no pattern variable ticks",
        VARIABLES,
    ),
    ("low.n", UnknownNameError, "low.n", "There is no pattern variable low", 'Did you mean "low"?'),
    ("a.b.n", UnknownNameError, "a.b.n", "There is no column b.n", "Did you mean n?"),
    ("FIRST(PREV(n))", QuerySyntaxError, "PREV(n)", "PREV cannot stand inside FIRST here", NESTING),
    ("PREV(PREV(n))", QuerySyntaxError, "PREV(n)", "PREV cannot stand inside PREV here", NESTING),
    ("PREV(n + LAST(n))", QuerySyntaxError, "LAST(n)", "LAST cannot stand inside PREV here", NESTING),
    ("SUM(LAST(n))", QuerySyntaxError, "LAST(n)", "LAST cannot stand inside SUM here", NESTING),
    ("LAST(SUM(n))", QuerySyntaxError, "SUM(n)", "SUM cannot stand inside LAST here", NESTING),
    ("LAST(FINAL LAST(n))", QuerySyntaxError, "FINAL LAST(n)", "FINAL cannot stand inside LAST here", NESTING),
    ("FIRST(1)", QuerySyntaxError, "FIRST(1)", "FIRST needs a column", "Write FIRST(x) or FIRST(A.x)"),
    (
        "LAST(A.n + B.n)",
        QuerySyntaxError,
        "B.n",
        "LAST mixes rows of different variables",
        "Qualify all its columns with the same variable, or none; split it into several LAST otherwise",
    ),
    (
        "SUM(A.n + n)",
        QuerySyntaxError,
        "n",
        "SUM mixes rows of different variables",
        "Qualify all its columns with the same variable, or none; split it into several SUM otherwise",
    ),
    ("PREV()", QuerySyntaxError, "PREV()", "PREV takes an expression and, if you like, an offset", "PREV(x, 2)"),
    ("PREV(n, n)", QuerySyntaxError, "n", "The offset of PREV must be a whole number", "PREV(x, 2)"),
    ("PREV(n, -1)", QuerySyntaxError, "-1", "The offset of PREV cannot be negative", "Use NEXT"),
    ("LAST(n, 9999999)", UnsupportedError, "9999999", "The offset of LAST is too large", "At most 1000000"),
    ("SUM(*)", QuerySyntaxError, "SUM(*)", "Only COUNT takes a star, not SUM", "SUM(x)"),
    ("upper(*)", QuerySyntaxError, "upper(*)", "Only COUNT takes a star, not UPPER", None),
    ("MAX(n, 2)", QuerySyntaxError, "MAX(n, 2)", "MAX takes one expression", "MAX(x); of two values use least or greatest"),
    ("COUNT(DISTINCT n)", UnsupportedError, "COUNT(DISTINCT n)", "COUNT(DISTINCT ...) is not offered yet", "Aggregates take every row"),
    ("CLASSIFIER(n + 1)", QuerySyntaxError, "CLASSIFIER(n + 1)", ONE_VARIABLE, "CLASSIFIER() or CLASSIFIER(A)"),
    ("CLASSIFIER(Z)", UnknownNameError, "Z", "There is no pattern variable Z", VARIABLES),
    ("MATCH_NUMBER(1)", QuerySyntaxError, "MATCH_NUMBER(1)", "MATCH_NUMBER takes no argument", "MATCH_NUMBER()"),
    ("FINAL upper(sym)", QuerySyntaxError, "FINAL upper(sym)", BEFORE, "Write FINAL LAST(...)"),
    ("SUM(sym)", TypeMismatchError, "SUM(sym)", "SUM takes numbers, not string", None),
]


@pytest.mark.parametrize(("text", "kind", "marked", "message", "hint"), MEASURE_ERRORS, ids=[e[0] for e in MEASURE_ERRORS])
def test_measure_errors(text, kind, marked, message, hint):
    check(f'MEASURES {text} AS m PATTERN (A B+ "low"*) DEFINE A AS TRUE', kind, marked, message, hint)


CLAUSE_ERRORS = [
    (
        "MEASURES n AS m PATTERN (A) SUBSET A = (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "A",
        "`A` is already the name of a variable of the pattern",
        "Give the union another name",
    ),
    (
        "MEASURES n AS m PATTERN (A) SUBSET U = (A), U = (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "U",
        "`U` is already the name of another union",
        "Give the union another name",
    ),
    (
        "MEASURES n AS m PATTERN (A) SUBSET U = (B) DEFINE A AS TRUE",
        UnknownNameError,
        "B",
        "There is no pattern variable B",
        "A union is made of variables of the pattern: A",
    ),
    (
        "MEASURES n AS m PATTERN (A) SUBSET U = (A) DEFINE U AS TRUE",
        UnknownNameError,
        "U",
        "`U` is a union, and unions are not defined",
        "Use it in PATTERN, or remove its definition; the pattern has A",
    ),
    (
        "MEASURES n AS m AFTER MATCH SKIP TO Z PATTERN (A) DEFINE A AS TRUE",
        UnknownNameError,
        "Z",
        "There is no pattern variable Z",
        "The pattern has A; columns are qualified by them alone",
    ),
    (
        "MEASURES n AS m ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A {- A -}) DEFINE A AS TRUE",
        QuerySyntaxError,
        "{- A -}",
        "An exclusion cannot stand beside WITH UNMATCHED ROWS",
        "Without WITH UNMATCHED ROWS it is not shown; with it, leave the braces out",
    ),
    (
        "MEASURES n AS up ALL ROWS PER MATCH PATTERN (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "up",
        "`up` is already the name of a column that is shown",
        "Give the measure another name",
    ),
    (
        "MEASURES n AS m PATTERN (PERMUTE(A, A, A, A, A, A, A, A, A)) DEFINE A AS TRUE",
        UnsupportedError,
        "PERMUTE(A, A, A, A, A, A, A, A, A)",
        "PERMUTE has too many orders",
        "List fewer items, or describe the rows by conditions",
    ),
    ("PARTITION BY symb PATTERN (A) DEFINE A AS TRUE", UnknownNameError, "symb", "There is no column symb", "Did you mean sym?"),
    (
        "PARTITION BY sym, SYM PATTERN (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "SYM",
        "`SYM` stands twice in PARTITION BY",
        "Name each column once",
    ),
    (
        "PATTERN (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "PATTERN (A)",
        "The result would have no columns",
        "Add MEASURES, such as MEASURES COUNT(*) AS length",
    ),
    (
        "MEASURES n AS m, n AS M PATTERN (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "M",
        "`M` is already the name of another measure",
        "Give the measure another name",
    ),
    (
        "PARTITION BY sym MEASURES n AS sym PATTERN (A) DEFINE A AS TRUE",
        QuerySyntaxError,
        "sym",
        "`sym` is already the name of a PARTITION BY column",
        "Give the measure another name",
    ),
    (
        "MEASURES n AS m PATTERN (A) DEFINE B AS TRUE",
        UnknownNameError,
        "B",
        "`B` is defined, but not in the pattern",
        "Use it in PATTERN, or remove its definition; the pattern has A",
    ),
    (
        "MEASURES n AS m PATTERN (A) DEFINE A AS TRUE, a AS up",
        QuerySyntaxError,
        "a",
        "`A` is defined twice",
        "Join the conditions with AND",
    ),
    (
        "MEASURES n AS m PATTERN (A) DEFINE A AS n + 1",
        TypeMismatchError,
        "n + 1",
        "The condition of `A` is an integer, not a boolean",
        "DEFINE takes a condition, such as price > 10",
    ),
    (
        "MEASURES n AS m PATTERN (A) DEFINE A AS FINAL LAST(up)",
        QuerySyntaxError,
        "FINAL LAST(up)",
        "FINAL cannot stand in DEFINE",
        "Leave FINAL out: a condition sees the match up to its own row",
    ),
    (
        "MEASURES n AS m PATTERN (A) WITHIN 5 DEFINE A AS TRUE",
        QuerySyntaxError,
        "WITHIN 5",
        "WITHIN needs a time to measure, but there is no ORDER BY",
        "ORDER BY a timestamp or integer column, ascending, first",
    ),
    (
        "ORDER BY ts DESC MEASURES n AS m PATTERN (A) WITHIN INTERVAL '5' DAY DEFINE A AS TRUE",
        QuerySyntaxError,
        "WITHIN INTERVAL '5' DAY",
        "WITHIN needs a time to measure, but the first ORDER BY column is descending",
        "ORDER BY a timestamp or integer column, ascending, first",
    ),
    (
        "ORDER BY sym MEASURES n AS m PATTERN (A) WITHIN 5 DEFINE A AS TRUE",
        QuerySyntaxError,
        "WITHIN 5",
        "WITHIN needs a time to measure, but the first ORDER BY column is a string",
        "ORDER BY a timestamp or integer column, ascending, first",
    ),
    (
        "ORDER BY ts MEASURES n AS m PATTERN (A) WITHIN 5 DEFINE A AS TRUE",
        TypeMismatchError,
        "WITHIN 5",
        "WITHIN a number, but the time column `ts` is a timestamp",
        "Write WITHIN INTERVAL '5' MINUTE",
    ),
    (
        "ORDER BY n MEASURES n AS m PATTERN (A) WITHIN INTERVAL '5' DAY DEFINE A AS TRUE",
        TypeMismatchError,
        "WITHIN INTERVAL '5' DAY",
        "WITHIN an interval, but the time column `n` is an integer",
        "Write WITHIN and a number, in the unit of `n`",
    ),
]


@pytest.mark.parametrize(("text", "kind", "marked", "message", "hint"), CLAUSE_ERRORS, ids=[e[0] for e in CLAUSE_ERRORS])
def test_clause_errors(text, kind, marked, message, hint):
    check(text, kind, marked, message, hint)


def check(text, kind, marked, message, hint):
    with pytest.raises(OstinatoError) as caught:
        lowered(text)
    error = caught.value
    assert (type(error), error.message, error.hint) == (kind, message, hint)
    assert error.span is not None
    assert text[error.span.start : error.span.end] == marked


def test_errors_show_the_place_in_the_whole_statement():
    text = "SELECT *\nFROM ticks MATCH_RECOGNIZE (MEASURES A.prise AS p\n PATTERN (A) DEFINE A AS TRUE)"
    offset = text.index("MEASURES")
    with pytest.raises(UnknownNameError) as caught:
        lower(parse_clause(text[offset:-1], offset), SCHEMA)
    assert str(caught.value.within(text)) == (
        "There is no column prise (line 2, column 38)\n"
        "   2 | FROM ticks MATCH_RECOGNIZE (MEASURES A.prise AS p\n"
        "     |                                      ^^^^^^^\n"
        "Hint: Did you mean price?"
    )

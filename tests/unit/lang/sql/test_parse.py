"""Trees of clauses, and what is said about clauses that cannot be parsed."""

from datetime import timedelta

import pytest

from ostinato.algebra.policies import RowsPerMatch
from ostinato.base.errors import OstinatoError, QuerySyntaxError, UnsupportedError
from ostinato.expr.nodes import Call, Literal
from ostinato.expr.unresolved import RawCall, RawColumn
from ostinato.lang.sql.parse import parse_clause
from ostinato.lang.sql.syntax import (
    DefineItem,
    Edge,
    Hidden,
    InOrder,
    MatchRecognize,
    MeasureItem,
    Name,
    NoRows,
    OneOf,
    OrderItem,
    Permuted,
    Repeated,
    RowVariable,
    RunningOrFinal,
    SkipTree,
    SubsetItem,
    WithinTree,
)

A, B, C = (RowVariable(Name(name)) for name in "ABC")


def column(*parts: str) -> RawColumn:
    return RawColumn(parts, (False,) * len(parts))


def test_every_part():
    text = """
        PARTITION BY p, "Q q"
        ORDER BY ts DESC NULLS FIRST, seq ASC
        MEASURES FINAL LAST(A.x) - 1 AS d, count(a.*) AS "n"
        ONE ROW PER MATCH SHOW EMPTY MATCHES
        AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A b+)
        WITHIN INTERVAL '5' MINUTE
        DEFINE A AS x > PREV(x), "b" AS TRUE"""
    assert parse_clause(text) == MatchRecognize(
        pattern=InOrder((A, Repeated(B, 1, None))),
        definitions=(
            DefineItem(Name("A"), Call("gt", (column("x"), RawCall("PREV", (column("x"),))))),
            DefineItem(Name("b"), Literal(True)),
        ),
        partition=(Name("p"), Name("Q q")),
        order=(OrderItem(Name("ts"), True, True), OrderItem(Name("seq"))),
        measures=(
            MeasureItem(Call("sub", (RunningOrFinal(True, RawCall("LAST", (column("A", "x"),))), Literal(1))), Name("d")),
            MeasureItem(RawCall("count", (), True, "A"), Name("n")),
        ),
        skip=SkipTree(to_next_row=True),
        within=WithinTree(timedelta(minutes=5)),
    )


def test_least():
    assert parse_clause("PATTERN (A) DEFINE A AS TRUE") == MatchRecognize(A, (DefineItem(Name("A"), Literal(True)),))


def test_spans_count_from_the_offset():
    tree = parse_clause("PATTERN (A) WITHIN 5 DEFINE A AS TRUE", 100)
    assert (tree.span.start, tree.pattern_span.start, tree.pattern_span.end) == (100, 100, 111)
    assert tree.within is not None and tree.within.span.start == 112
    assert tree.definitions[0].span.start == 128


PATTERNS = [
    ("A", A),
    ("a", A),
    ('"a"', RowVariable(Name("a"))),
    ("(A)", A),
    ("()|A", OneOf((NoRows(), A))),
    ("A B C", InOrder((A, B, C))),
    ("A (B C)", InOrder((A, InOrder((B, C))))),
    ("A B | C | ()", OneOf((InOrder((A, B)), C, NoRows()))),
    ("A*", Repeated(A, 0, None)),
    ("A+?", Repeated(A, 1, None, False)),
    ("A?", Repeated(A, 0, 1)),
    ("A??", Repeated(A, 0, 1, False)),
    ("A{3}", Repeated(A, 3, 3)),
    ("A{2,}", Repeated(A, 2, None)),
    ("A{,4}", Repeated(A, 0, 4)),
    ("A{2,4}?", Repeated(A, 2, 4, False)),
    ("(A|B){2} C", InOrder((Repeated(OneOf((A, B)), 2, 2), C))),
    ("(A?)*", Repeated(Repeated(A, 0, 1), 0, None)),
    ("Größe", RowVariable(Name("GRÖSSE"))),
    ("^ A $", InOrder((Edge(True), A, Edge(False)))),
    ("A {- B+ | C -}? C", InOrder((A, Repeated(Hidden(OneOf((Repeated(B, 1, None), C))), 0, 1), C))),
    ("PERMUTE(A, B C | A, (B))+", Repeated(Permuted((A, OneOf((InOrder((B, C)), A)), B)), 1, None)),
    ("permute", RowVariable(Name("PERMUTE"))),
    ("match initial", InOrder((RowVariable(Name("MATCH")), RowVariable(Name("INITIAL"))))),
]


@pytest.mark.parametrize(("text", "tree"), PATTERNS)
def test_pattern(text, tree):
    assert parse_clause(f"PATTERN ({text}) DEFINE A AS TRUE").pattern == tree


ROWS = [
    ("", RowsPerMatch.ONE),
    ("ONE ROW PER MATCH", RowsPerMatch.ONE),
    ("ONE ROW PER MATCH SHOW EMPTY MATCHES", RowsPerMatch.ONE),
    ("ALL ROWS PER MATCH", RowsPerMatch.ALL),
    ("ALL ROWS PER MATCH SHOW EMPTY MATCHES", RowsPerMatch.ALL),
    ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", RowsPerMatch.ALL_BUT_EMPTY),
    ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", RowsPerMatch.ALL_AND_UNMATCHED),
]


@pytest.mark.parametrize(("text", "rows"), ROWS)
def test_rows_per_match(text, rows):
    assert parse_clause(f"{text} PATTERN (A) DEFINE A AS TRUE").rows.rows is rows


SKIPPED = [
    ("PAST LAST ROW", SkipTree()),
    ("TO NEXT ROW", SkipTree(to_next_row=True)),
    ("TO b", SkipTree(to=Name("B"))),
    ("TO FIRST b", SkipTree(to=Name("B"), to_first=True)),
    ('TO LAST "b"', SkipTree(to=Name("b"))),
    ("TO last", SkipTree(to=Name("LAST"))),
]


@pytest.mark.parametrize(("text", "skip"), SKIPPED)
def test_skip(text, skip):
    assert parse_clause(f"AFTER MATCH SKIP {text} PATTERN (A) DEFINE A AS TRUE").skip == skip


def test_subset():
    tree = parse_clause('PATTERN (A B) WITHIN 5 SUBSET u = (A, "b"), V = (A) DEFINE A AS TRUE')
    assert tree.subsets == (SubsetItem(Name("U"), (Name("A"), Name("b"))), SubsetItem(Name("V"), (Name("A"),)))


ORDER = "The order is PARTITION BY, ORDER BY, MEASURES, ... PER MATCH, AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE"
SKIPS = "AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, or TO LAST A"
BOUNDS = "Write {n}, {n,}, {,m} or {n,m}"
PLAIN = "Compute the value in a subquery before MATCH_RECOGNIZE, and leave out the table's name"

# text, the words that are marked, message, hint
SYNTAX_ERRORS = [
    ("", "", "Expected PATTERN, found the end of the clause", ORDER),
    ("PATTERN ()", "()", "The pattern is empty", "Name the variables: PATTERN (A B+)"),
    ("PATTERN (A", "", "Expected `)`, found the end of the clause", "Variables are separated by blanks, alternatives by |"),
    ("PATTERN A", "A", "Expected `(`, found `A`", "PATTERN (A B+)"),
    ("PATTERN (A || B)", "||", "Expected `)`, found `||`", "Variables are separated by blanks, alternatives by |"),
    ("PATTERN (A | )", ")", "Expected a pattern variable, found `)`", "An alternative without rows is written ()"),
    ("PATTERN (A, B)", ",", "Expected a pattern variable, found `,`", "Variables are separated by blanks"),
    ("PATTERN (* A)", "*", "Expected a pattern variable, found `*`", "A quantifier stands after what it repeats: A+"),
    ("PATTERN (A 5)", "5", "Expected a pattern variable, found `5`", None),
    ("PATTERN (A+*)", "*", "Two quantifiers in a row", "Put parentheses around the inner one: (A+)?"),
    ("PATTERN (A{3,2})", "{3,2}", "The upper bound is below the lower one", "Write {2,3}"),
    ("PATTERN (A{0})", "{0}", "A quantifier must allow at least one row", "Leave the variable out, or write ()"),
    ("PATTERN (A{,})", "}", "Expected a number, found `}`", BOUNDS),
    ("PATTERN (A{1.5})", "1.5", "Expected a whole number, found `1.5`", BOUNDS),
    ("PATTERN (A{x})", "x", "Expected a whole number, found `x`", BOUNDS),
    ("PATTERN (A) ORDER BY x", "ORDER", "ORDER stands in the wrong place, or twice", ORDER),
    ("ORDER BY x PARTITION BY y", "PARTITION", "PARTITION stands in the wrong place, or twice", ORDER),
    ("ORDER BY x ORDER BY y", "ORDER", "ORDER stands in the wrong place, or twice", ORDER),
    (
        "PATTERN (A)",
        "",
        "Expected DEFINE, found the end of the clause",
        "Every query has a DEFINE; a variable that any row may take is DEFINE A AS TRUE",
    ),
    ("PATTERN (A) DEFINE A AS x > 1 B AS y", "B", "Expected the end of the clause, found `B`", "Definitions are separated by commas"),
    ("PATTERN (A) DEFINE A x > 1", "x", "Expected AS, found `x`", "DEFINE A AS condition"),
    ("PATTERN (A) DEFINE 'A' AS x", "'A'", "Expected a pattern variable, found `'A'`", None),
    ("MEASURES x PATTERN (A)", "PATTERN", "Expected AS, found `PATTERN`", "Every measure has a name: expression AS name"),
    ("MEASURES x AS 'a' PATTERN (A)", "'a'", "Expected the name of the measure, found `'a'`", None),
    ("ONE ROW MATCH PATTERN (A)", "MATCH", "Expected PER, found `MATCH`", "ONE ROW PER MATCH"),
    ("ONE ROW PER MATCH SHOW ALL", "ALL", "Expected EMPTY, found `ALL`", "SHOW EMPTY MATCHES"),
    ("ALL ROWS MATCH PATTERN (A)", "MATCH", "Expected PER, found `MATCH`", "ALL ROWS PER MATCH"),
    ("ALL ROWS PER MATCH WITH ALL", "ALL", "Expected UNMATCHED, found `ALL`", "WITH UNMATCHED ROWS"),
    ("AFTER MATCH SKIP TO 1 PATTERN (A)", "1", "Expected NEXT ROW, or a pattern variable, found `1`", None),
    ("PATTERN (A {- B )", ")", "Expected `-`, found `)`", "An exclusion is closed by -}"),
    ("PATTERN (A {- B - C)", "C", "Expected `}`, found `C`", "An exclusion is closed by -}"),
    ("PATTERN (PERMUTE(A B)", "", "Expected `)`, found the end of the clause", "Variables are separated by blanks, alternatives by |"),
    ("PATTERN (PERMUTE(A, ))", ")", "Expected a pattern variable, found `)`", "An alternative without rows is written ()"),
    ("PATTERN (A) SUBSET U (A)", "(", "Expected `=`, found `(`", "SUBSET U = (A, B)"),
    ("PATTERN (A) SUBSET U = A", "A", "Expected `(`, found `A`", "SUBSET U = (A, B)"),
    ("AFTER MATCH SKIP PATTERN (A)", "PATTERN", "Expected TO or PAST, found `PATTERN`", SKIPS),
    ("AFTER MATCH SKIP PAST NEXT ROW PATTERN (A)", "NEXT", "Expected LAST, found `NEXT`", SKIPS),
    (
        "PATTERN (A) WITHIN x DEFINE A AS TRUE",
        "x",
        "Expected an interval, found `x`",
        "WITHIN INTERVAL '5' MINUTE, or WITHIN 300 for an integer time column",
    ),
    ("PATTERN (A) WITHIN 1.5 DEFINE A AS TRUE", "1.5", "Expected a whole number or an interval, found `1.5`", "WITHIN INTERVAL '5' MINUTE"),
    ("PARTITION BY 1 PATTERN (A)", "1", "Expected a column, found `1`", None),
    ("ORDER BY x NULLS PATTERN (A)", "PATTERN", "Expected FIRST or LAST, found `PATTERN`", None),
]

UNSUPPORTED = [
    (
        "ONE ROW PER MATCH OMIT EMPTY MATCHES PATTERN (A)",
        "OMIT EMPTY MATCHES",
        "ONE ROW PER MATCH shows empty matches",
        "Filter them outside, for example by a measure COUNT(*) AS length and WHERE length > 0",
    ),
    ("PARTITION BY t.p() PATTERN (A)", "t.p(", "PARTITION BY and ORDER BY take plain columns here", PLAIN),
    ("ORDER BY x + 1 PATTERN (A)", "x +", "PARTITION BY and ORDER BY take plain columns here", PLAIN),
    ("PATTERN (A{2000000})", "{2000000}", "The bound is too large", "At most 1000000"),
]


@pytest.mark.parametrize(("text", "marked", "message", "hint"), SYNTAX_ERRORS, ids=[e[0] for e in SYNTAX_ERRORS])
def test_syntax_errors(text, marked, message, hint):
    check_error(text, QuerySyntaxError, marked, message, hint)


@pytest.mark.parametrize(("text", "marked", "message", "hint"), UNSUPPORTED, ids=[e[0] for e in UNSUPPORTED])
def test_unsupported(text, marked, message, hint):
    check_error(text, UnsupportedError, marked, message, hint)


def check_error(text, kind, marked, message, hint):
    with pytest.raises(OstinatoError) as caught:
        parse_clause(text)
    error = caught.value
    assert (type(error), error.message, error.hint) == (kind, message, hint)
    assert error.span is not None
    assert text[error.span.start : error.span.end] == marked


def test_deep_patterns_are_refused():
    with pytest.raises(UnsupportedError, match="nested too deeply"):
        parse_clause("PATTERN (" + "(" * 2000 + "A" + ")" * 2000 + ") DEFINE A AS TRUE")

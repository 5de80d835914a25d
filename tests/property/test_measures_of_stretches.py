"""Measures that are read from the edges of matches, and from where variables end, are those of the reference."""

import random

import pyarrow as pa
import pytest

import ostinato as ost
from ostinato import reference
from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.lang.sql import lower, parse_clause, split_statement

PATTERNS = """
A B+ C; A? B* C?; A B*? C+; (A | B) C+; A+ B* C*; (A B)+ C?; A B? A? C; A+? {- B+ -} C; A* (B | C); ^ A* B C? $
""".strip().split("; ")
MEASURES = """
FIRST({v}.x); LAST({v}.x); FIRST({v}.x, 1); LAST({v}.x, 1); PREV(LAST({v}.x)); NEXT(FIRST({v}.x), 2); COUNT({v}.*); COUNT({v}.x); SUM({v}.x)
""".strip().split("; ")
VARIABLES = ("A", "B", "C", "S")


def statement(generator, pattern, rows_per_match):
    shown = [generator.choice(MEASURES).format(v=generator.choice(VARIABLES)) for _ in range(generator.randint(1, 4))]
    measures = ", ".join(f"{measure} AS m{number}" for number, measure in enumerate(["COUNT(*)", *shown]))
    skip = generator.choice(("PAST LAST ROW", "TO NEXT ROW"))
    return (
        f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measures} {rows_per_match} AFTER MATCH SKIP {skip}"
        f" PATTERN ({pattern}) SUBSET S = (B, C) DEFINE A AS v < 4, B AS v > 1, C AS v > 2)"
    )


def random_rows(generator):
    count = generator.randint(1, 14)
    return pa.table(
        {
            "k": pa.array([generator.randint(0, 1) for _ in range(count)]),
            "ts": pa.array(range(count), pa.int64()),
            "v": pa.array([generator.choice((0, 1, 2, 3, 4, 5, None)) for _ in range(count)], pa.int64()),
            "x": pa.array([generator.choice((7, 11, 13, None)) for _ in range(count)], pa.int64()),
        }
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_measures(pattern):
    generator = random.Random(pattern)
    for _ in range(12):
        text = statement(generator, pattern, generator.choice(("ONE ROW PER MATCH", "ONE ROW PER MATCH", "ALL ROWS PER MATCH")))
        table = random_rows(generator)
        clause = split_statement(text).clauses[0]
        query = lower(parse_clause(clause.body, clause.offset), usable_schema(table.schema), "t")
        expected = reference.output(query, table.to_pylist())
        assert sorted(map(str, ost.sql(text, t=table))) == sorted(map(str, expected)), f"{text}\n{table.to_pylist()}"

"""Random SQL texts through the embedded host give what the reference gives."""

import random

import pytest
from tests.property.sql_texts import random_statement

import ostinato as ost
from ostinato import reference
from ostinato.base.errors import DataError
from ostinato.compiler import compile
from ostinato.expr.typing.arrow_types import usable_schema
from ostinato.lang.sql import lower, parse_clause, render, split_statement

BLOCKS, EACH = 6, 25


def rows_of(table_rows):
    rounded = ({name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()} for row in table_rows)
    return sorted(map(str, rounded))


def outcome(run, *args):
    """The rows, or the error that a match brings about (AFTER MATCH SKIP to nowhere)."""
    try:
        return rows_of(run(*args))
    except DataError as error:
        return error.message.split(",")[0]


def run_embedded(text, table):
    return ost.sql(text, t=table)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_host_gives_what_the_reference_gives(block):
    for seed in range(block * EACH, (block + 1) * EACH):
        check(seed)


def check(seed: int) -> None:
    text, table = random_statement(seed)
    clause = split_statement(text).clauses[0]
    tree = parse_clause(clause.body, clause.offset)
    assert parse_clause(render(tree)) == tree, text
    query = lower(tree, usable_schema(table.schema), "t")
    expected = outcome(reference.output, query, table.to_pylist())
    found = outcome(run_embedded, text, table)
    assert found == expected, f"seed {seed}: {text}\n{table.to_pylist()}"


@pytest.mark.parametrize("block", range(2))
def test_rows_may_come_in_any_pieces_and_sessions_may_be_restored_in_between(block):
    checked = 0
    for seed in range(block * 1000, block * 1000 + 60):
        text, table = random_statement(seed)
        query = compile(text, {"t": table.schema})
        if query.algebra.time is None or len(query.algebra.order) > 1:
            continue  # rows of a stream come in order of time
        table = table.sort_by(query.algebra.time)
        assert outcome(in_pieces, query, table, seed) == outcome(run_embedded, text, table), f"seed {seed}: {text}"
        checked += 1
    assert checked > 10


def in_pieces(query, table, seed):
    rng = random.Random(seed)
    session = query.open(lateness=0)
    found, at = [], 0
    while at < table.num_rows:
        size = rng.randint(1, 3)
        found += session.push(table.slice(at, size)).to_pylist()
        at += size
        if rng.random() < 0.5:
            session = query.open(lateness=0, snapshot=session.snapshot())
    return found + session.close().to_pylist()

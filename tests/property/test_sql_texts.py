"""Random SQL texts through the embedded host give what the reference gives."""

import pytest
from tests.property.sql_texts import random_statement

import ostinato as ost
from ostinato import reference
from ostinato.expr.arrow_types import usable_schema
from ostinato.lang.sql import cut, lower, parse_clause, render

BLOCKS, EACH = 6, 25


def rows_of(table_rows):
    rounded = ({name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()} for row in table_rows)
    return sorted(map(str, rounded))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_host_gives_what_the_reference_gives(block):
    for seed in range(block * EACH, (block + 1) * EACH):
        check(seed)


def check(seed: int) -> None:
    text, table = random_statement(seed)
    clause = cut(text).clauses[0]
    tree = parse_clause(clause.body, clause.offset)
    assert parse_clause(render(tree)) == tree, text
    expected = reference.output(lower(tree, usable_schema(table.schema), "t"), table.to_pylist())
    found = ost.sql(text, t=table)
    assert rows_of(found) == rows_of(expected), f"seed {seed}: {text}\n{table.to_pylist()}"

"""What DuckDB is asked to run on behalf of a text is one query: nothing that writes, attaches, sets or installs."""

from __future__ import annotations

import re

import duckdb

from ostinato.base.errors import QuerySyntaxError
from ostinato.hosts.confined.connection import tree_of
from ostinato.lang.sql import Spliced
from ostinato.lang.sql.statement import read_statement

QUERIES = ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE")
NODE = re.compile(r'(?<!\\)"type":"(\w+_NODE)"')
EXPLAIN = re.compile(r"\s*EXPLAIN\b(\s+ANALYZE\b)?(\s*\([^()]*\))?", re.IGNORECASE)


def check_is_query(connection: duckdb.DuckDBPyConnection, query: Spliced) -> None:
    """By DuckDB's own parser: how we cut the text into words plays no part in it."""
    if _is_query(connection, query.text):
        return
    first = read_statement(query.text, "duckdb").words[0]
    raise QuerySyntaxError(
        f"{first.upper} is no query",
        hint="Write SELECT ...; store its result with to_arrow(), to_pandas() or to_polars()",
        span=query.origin(first.span.start).to(query.origin(first.span.end - 1)),
    )


def _is_query(connection: duckdb.DuckDBPyConnection, text: str) -> bool:
    statements = connection.extract_statements(text)
    if len(statements) != 1:
        return False
    if statements[0].type == duckdb.StatementType.SELECT:
        # WITH takes statements that write, too. A tree may be too deep for a JSON parser, so it is not made
        return set(NODE.findall(tree_of(connection, text))) <= set(QUERIES)
    if statements[0].type != duckdb.StatementType.EXPLAIN:
        return False
    explained = EXPLAIN.match(text)  # EXPLAIN ANALYZE executes what it explains
    return explained is not None and _is_query(connection, text[explained.end() :])

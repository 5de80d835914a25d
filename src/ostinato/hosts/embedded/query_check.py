"""What DuckDB is asked to run on behalf of a text is one query: nothing that writes, attaches, sets or installs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb

from ostinato.base.errors import QuerySyntaxError
from ostinato.lang.sql import Spliced
from ostinato.lang.sql.statement import read_statement

QUERIES = ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE")
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
        tree = parsed(connection, text)
        return tree is None or all(_reads(part) for part in dictionaries_in(tree))
    if statements[0].type != duckdb.StatementType.EXPLAIN:
        return False
    explained = EXPLAIN.match(text)  # EXPLAIN ANALYZE executes what it explains
    return explained is not None and _is_query(connection, text[explained.end() :])


def _reads(part: dict[str, Any]) -> bool:
    """WITH takes statements that write, too."""
    kind = part.get("type")
    return not isinstance(kind, str) or not kind.endswith("_NODE") or kind in QUERIES


def parsed(connection: duckdb.DuckDBPyConnection, text: str) -> dict[str, Any] | None:
    """The tree of a SELECT, as DuckDB's own parser sees it; None for any other statement, or several."""
    tree = json.loads(connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchall()[0][0])
    return tree if isinstance(tree, dict) and not tree.get("error") and len(tree["statements"]) == 1 else None


def dictionaries_in(tree: object) -> Iterator[dict[str, Any]]:
    """All of them, without recursion: the author decides how deep they are nested."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part

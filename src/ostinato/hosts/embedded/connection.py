"""DuckDB as the embedded host uses it."""

from __future__ import annotations

import os
import tempfile

import duckdb


def open_connection() -> duckdb.DuckDBPyConnection:
    """A database in memory that spills to the temporary directory, sees no Python variables, and says where errors are."""
    connection = duckdb.connect(":memory:")
    spill = os.path.join(tempfile.gettempdir(), f"ostinato-{os.getpid()}")
    connection.execute(f"SET temp_directory = '{spill.replace(chr(39), chr(39) * 2)}'")
    connection.execute("SET enable_progress_bar = false")  # it would be printed into the output of whoever calls
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET errors_as_json = true")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def relation(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.DuckDBPyRelation:
    """The rows of a query, without the copy that `execute` makes."""
    try:
        return connection.sql(query)
    except duckdb.Error:
        connection.execute(query)  # fails alike, but says where
        raise

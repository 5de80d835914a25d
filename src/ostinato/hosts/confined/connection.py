"""DuckDB without access to anything but what it is given."""

from __future__ import annotations

import duckdb

CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,
    "python_scan_all_frames": False,
    "temp_directory": "",
}
SETTINGS = (
    "SET enable_progress_bar = false",  # it would be printed into the output of whoever calls
    "SET python_enable_replacements = false",
    "SET errors_as_json = true",
    "SET TimeZone = 'UTC'",
)


def closed_connection(memory: int) -> duckdb.DuckDBPyConnection:
    """A database in memory: no files (it does not spill), no network, no extensions, and nothing of it can be changed."""
    connection = duckdb.connect(":memory:", config=CLOSED | {"memory_limit": f"{memory}B"})
    for setting in (*SETTINGS, "SET lock_configuration = true"):
        connection.execute(setting)
    return connection


def relation(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.DuckDBPyRelation:
    """The rows of a query, without the copy that `execute` makes."""
    try:
        return connection.sql(query)
    except duckdb.Error:
        connection.execute(query)  # fails alike, but says where
        raise


def tree_of(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """A SELECT as DuckDB's own parser sees it, in JSON; of anything else an error in JSON, or one that says where the text is no SQL."""
    connection.extract_statements(text)
    return str(connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchall()[0][0])
